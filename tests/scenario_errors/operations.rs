//! What wrong keys, dead letters, stores and writes are answered with, word for word. The snapshots are the
//! specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
arrivals = { burst = {} }
idempotency = "key"
on_exhausted = "dead_letter"
calls.payments = {}

[services.payments]
writes = true
idempotency_store = { ttl = "24h", in_progress = "refuse" }

[variants.as-it-is]

[variants.other]
"services.payments.idempotency_store.ttl" = "1h"
"#;

const STORE: &str = "{ ttl = \"24h\", in_progress = \"refuse\" }";

fn errors(text: &str, overrides: &Overrides) -> String {
    match Scenario::parse("shop.toml", text, Path::new(""), overrides) {
        Ok(_) => panic!("nothing is wrong with:\n{text}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

/// The errors of `GOOD` with each of these in place of `old`, which it has exactly once, one after another.
fn errors_of_each(old: &str, texts: &[&str]) -> String {
    assert_eq!(GOOD.matches(old).count(), 1, "{old:?} must be there once");
    let all: Vec<_> = texts.iter().map(|new| errors(&GOOD.replacen(old, new, 1), &Overrides::default())).collect();
    all.join("\n\n")
}

#[test]
fn the_base_of_these_tests_is_good() {
    if let Err(diagnostics) = Scenario::parse("shop.toml", GOOD, Path::new(""), &Overrides::default()) {
        panic!("{diagnostics}");
    }
}

#[test]
fn kinds_of_keys_that_are_none() {
    assert_snapshot!(errors_of_each("\"key\"", &["\"keys\"", "\"uuid\"", "true", "{ key = {} }"]));
}

#[test]
fn ways_out_that_are_none() {
    assert_snapshot!(errors_of_each("\"dead_letter\"", &["\"dead_letters\"", "\"none\"", "true"]));
}

/// A lifetime has no default: whether a day is long enough is up to the retries.
#[test]
fn stores_without_a_lifetime() {
    assert_snapshot!(errors_of_each(
        STORE,
        &[
            "{ in_progress = \"refuse\" }",
            "{}",
            "{ ttl = \"0s\" }",
            "{ ttl = \"none\" }",
            "{ ttl = 24 }",
            "{ ttl = \"-1h\" }"
        ]
    ));
}

#[test]
fn words_and_forms_that_are_none() {
    assert_snapshot!(errors_of_each(
        STORE,
        &[
            "{ ttl = \"24h\", in_progress = \"reject\" }",
            "{ ttl = \"24h\", in_progress = \"none\" }",
            "{ ttl = \"24h\", in_flight = \"wait\" }",
            "\"24h\"",
            "true",
            "\"unlimited\"",
        ]
    ));
    assert_snapshot!(errors_of_each("writes = true", &["writes = 1", "writes = \"none\"", "writes = \"charge\""]));
}

/// What belongs to the other side, or has another name here.
#[test]
fn keys_of_other_tools() {
    assert_snapshot!(errors_of_each(
        "idempotency = \"key\"",
        &["idempotency_key = \"stable\"", "idempotency_store = { ttl = \"24h\" }", "dead_letter_queue = true"]
    ));
    assert_snapshot!(errors_of_each(
        "writes = true",
        &["idempotency = \"key\"", "side_effects = true", "write = true"]
    ));
}

#[test]
fn mistakes_of_variants_and_flags_are_shown_where_they_are() {
    assert_snapshot!(errors_of_each(
        "\"services.payments.idempotency_store.ttl\" = \"1h\"",
        &[
            "\"services.payments.idempotency_store.ttl\" = \"0s\"",
            "\"clients.web.idempotency\" = \"per_attempt\"",
            "\"services.payments.idempotency_store\" = { lifetime = \"1h\" }",
        ]
    ));
    let set = |text: &str| errors(GOOD, &Overrides { set: vec![text.to_owned()], ..Overrides::default() });
    assert_snapshot!(
        [
            "services.payments.idempotency_store.ttl=0s",
            "clients.web.on_exhausted=dlq",
            "services.payments.idempotency_store=24h"
        ]
        .map(set)
        .join("\n\n")
    );
}
