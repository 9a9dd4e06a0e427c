//! What wrong servers, queues, limiters and pools are answered with, word for word. The snapshots are the specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

/// Every setting of finite servers and of pools, and nothing wrong.
const GOOD: &str = r#"version = 1
name = "finite"

[clients.web]
arrivals = { burst = {} }
calls.db = { pool = { size = 10, max_wait = "0s" }, avoid_previous = true }

[services.db]
instances = 2
balance = "least_loaded"
workers = 8
holds_worker = false
max_in_flight = 100
queue = { limit = 5, order = "lifo", drop = { codel = { target = "4ms", interval = "50ms" } } }
limiter = { fixed_window = { limit = 7, every = "1s" } }
contention = { knee = 4, slope = 0.5 }
cancel = "queued"

[variants.as-it-is]

[variants.other]
"services.db.limiter.token_bucket" = { rate = 3, burst = 2 }
"#;

const LIMITER: &str = "{ fixed_window = { limit = 7, every = \"1s\" } }";
const DROP: &str = "{ codel = { target = \"4ms\", interval = \"50ms\" } }";
const POOL: &str = "{ size = 10, max_wait = \"0s\" }";
const OTHER: &str = "\"services.db.limiter.token_bucket\" = { rate = 3, burst = 2 }";

fn errors_with(text: &str, overrides: &Overrides) -> String {
    match Scenario::parse("finite.toml", text, Path::new(""), overrides) {
        Ok(_) => panic!("nothing is wrong with:\n{text}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

/// The errors of `GOOD` with each of these texts, which it has exactly once, replaced.
fn errors(edits: &[(&str, &str)]) -> String {
    for (old, _) in edits {
        assert_eq!(GOOD.matches(old).count(), 1, "{old:?} must be there once");
    }
    let text = edits.iter().fold(GOOD.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    errors_with(&text, &Overrides::default())
}

/// The errors of each of these in place of `old`, one after another.
fn errors_of_each(old: &str, texts: &[&str]) -> String {
    texts.iter().map(|text| errors(&[(old, text)])).collect::<Vec<_>>().join("\n\n")
}

fn errors_of_flags(set: &[&str]) -> String {
    errors_with(GOOD, &Overrides { set: set.iter().map(|&text| text.to_owned()).collect(), ..Overrides::default() })
}

/// Without this every other test could pass on the mistakes of its own base.
#[test]
fn the_base_of_these_tests_is_good() {
    if let Err(diagnostics) = Scenario::parse("finite.toml", GOOD, Path::new(""), &Overrides::default()) {
        panic!("{diagnostics}");
    }
}

/// A zero may have been meant as "nothing" or as "no limit": each is told how to say that.
#[test]
fn zeros() {
    assert_snapshot!(errors(&[
        ("size = 10", "size = 0"),
        ("instances = 2", "instances = 0"),
        ("workers = 8", "workers = 0"),
        ("max_in_flight = 100", "max_in_flight = 0"),
        ("limit = 5", "limit = 0"),
        (DROP, "{ codel = { target = \"0s\", interval = \"0ms\" } }"),
        (LIMITER, "{ fixed_window = { limit = 0, every = \"0s\" } }"),
        (OTHER, "\"services.db.limiter.token_bucket\" = { rate = 0.0, burst = 0 }"),
    ]));
}

#[test]
fn numbers_beyond_their_range() {
    assert_snapshot!(errors(&[
        ("size = 10, max_wait = \"0s\"", "size = 2147483649, max_wait = \"-1s\""),
        ("instances = 2", "instances = 10001"),
        ("workers = 8", "workers = 2147483649"),
        ("max_in_flight = 100", "max_in_flight = 4294967295"),
        ("limit = 5", "limit = 268435457"),
        (LIMITER, "{ fixed_window = { limit = 2147483649, every = \"60d\" } }"),
        ("knee = 4, slope = 0.5", "knee = 2147483649, slope = -0.5"),
        (OTHER, "\"services.db.limiter.token_bucket\" = { rate = 1e10, burst = 2147483649 }"),
    ]));
}

#[test]
fn contention_that_is_none() {
    let texts = ["{}", "{ knee = -1, slope = inf }", "{ knee = 1.5, slope = nan }", "0.5", "\"nothing\""];
    assert_snapshot!(errors_of_each("{ knee = 4, slope = 0.5 }", &texts));
}

#[test]
fn queues_that_are_none() {
    let queue = format!("{{ limit = 5, order = \"lifo\", drop = {DROP} }}");
    assert_snapshot!(errors_of_each(
        &queue,
        &[
            "\"none\"",
            "100",
            "{ limit = \"none\", order = \"filo\", drop = \"none\" }",
            "{ limit = -1, order = { lifo = true }, drop = \"codel\" }",
            "{ drop = { codel = { target = 5, intervall = \"1s\" } } }",
        ]
    ));
}

#[test]
fn limiters_that_are_none() {
    assert_snapshot!(errors_of_each(
        LIMITER,
        &[
            "{ fixed_window = {} }",
            "{ token_bucket = {} }",
            "{ fixed_window = { limit = 7, every = \"1s\" }, token_bucket = { rate = 1, burst = 1 } }",
            "{ sliding_window = { limit = 7, every = \"1s\" } }",
            "{ fixed_window = { limit = 7, every = \"1s\", retry_after = 1 } }",
            "\"unlimited\"",
            "100",
        ]
    ));
}

#[test]
fn pools_that_are_none() {
    let texts = ["{}", "{ size = \"unlimited\" }", "{ sise = 5 }", "{ size = -5, max_wait = 5 }", "\"unlimited\"", "5"];
    assert_snapshot!(errors_of_each(POOL, &texts));
}

#[test]
fn words_that_are_none() {
    assert_snapshot!(errors(&[
        ("\"least_loaded\"", "\"least_busy\""),
        ("workers = 8", "workers = \"none\""),
        ("holds_worker = false", "holds_worker = \"no\""),
        ("\"queued\"", "true"),
        ("avoid_previous = true", "avoid_previous = 1"),
        (OTHER, "\"services.db.balance\" = \"shard\"\n\"services.db.cancel\" = \"none\""),
    ]));
}

#[test]
fn misspelt_keys() {
    assert_snapshot!(errors(&[
        ("max_wait", "max_wiat"),
        ("avoid_previous", "avoid_previus"),
        ("instances", "instance"),
        ("workers = 8", "wrokers = 8"),
        ("order", "ordre"),
        ("every", "evry"),
        ("slope", "slop"),
    ]));
}

/// The mistake of a variant is shown on its line.
#[test]
fn mistakes_of_a_variant() {
    let settings = r#""services.db.workers" = 0
"services.db.queue" = { limit = 0 }
"services.db.queue.drop.codel.target" = "0s"
"services.db.limiter.fixed_window.every" = "0s"
"services.db.limiter.fixed_window.retry_after" = "1s"
"services.db.contention.slope" = -1
"clients.web.calls.db.pool.size" = 0"#;
    assert_snapshot!(errors(&[(OTHER, settings)]));
}

/// That of a flag in the flag.
#[test]
fn mistakes_of_flags() {
    assert_snapshot!(errors_of_flags(&[
        "services.db.instances=0",
        "services.db.max_in_flight=0",
        "services.db.queue.limit=0",
        "services.db.limiter.token_bucket.rate=0",
        "services.db.contention={ slope = -1 }",
        "services.db.balance.random=1",
        "clients.web.calls.db.pool={ max_wait = \"soon\" }",
    ]));
}
