//! What a text that is no TOML is answered with, word for word: TOML is not what the reader of these messages knows
//! best. The snapshots pin the words of the parser too, by which the way out is found.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

/// The start of a scenario with nothing wrong; each test adds its slip.
const START: &str =
    "version = 1\nname = \"shop\"\n[clients.web]\narrivals = { burst = {} }\ncalls.db = {}\n[services.db]\n";

fn errors(slips: &[&str]) -> String {
    let each = slips.iter().map(|slip| {
        let text = format!("{START}{slip}\n");
        match Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()) {
            Ok(_) => panic!("nothing is wrong with:\n{text}"),
            Err(errors) => errors.to_string(),
        }
    });
    each.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_start_is_good() {
    assert!(Scenario::parse("shop.toml", START, Path::new(""), &Overrides::default()).is_ok());
}

#[test]
fn missing_and_wrong_quotes() {
    assert_snapshot!(errors(&[
        "service_time = 5ms",
        "service_time = \u{201c}5ms\u{201d}",
        "service_time = \"5ms",
        "service_time = '5ms",
        "service_time = \"\"\"5ms",
        "service_time = none",
        "[faults.f]\non = [db]",
        "[services.api.calls.db]\noptional = True",
        "service_time = \"\\q\"",
    ]));
}

#[test]
fn what_is_open_and_not_closed() {
    assert_snapshot!(errors(&[
        "[services.db2",
        "[[expect]",
        "service_time = { exponential = { mean = \"5ms\" }",
        "call_order = [\"a\"",
        "[]",
        "[services db2]",
    ]));
}

/// The parser reads all that comes after the bracket as if it stood in it, and finds something wrong with every line:
/// that is told once, where the bracket is. What is wrong before it, or on its own line, is a mistake of its own.
#[test]
fn what_follows_from_an_open_bracket_is_not_told() {
    let after = "workers = 2\n[services.api]\ncalls.db = {}\n[faults.f]\non = [\"db\"]\neffect = \"refuse\"";
    let slips = [
        "service_time = { exponential = { mean = \"5ms\" }",
        "service_time = { exponential = { mean = \"5ms\"",
        "call_order = [\"a\",",
        "call_order = [\n  \"a\"",
        "cancel = = \"queued\"\nqueue = { limit = 5",
        "service_time = { exponential = { mean = 5ms }",
        "call_order = [\"a]",
    ];
    let texts = slips.map(|slip| format!("{slip}\n{after}"));
    assert_snapshot!(errors(&texts.each_ref().map(String::as_str)));
}

#[test]
fn decimal_commas() {
    assert_snapshot!(errors(&[
        "[faults.f]\non = [\"db\"]\neffect = { fail = { probability = 0,5 } }",
        "[[expect]]\nmetric = \"success_ratio\"\nat_least = 0,95",
        "[[expect]]\nmetric = \"attempts\"\nat_most = 10,000",
        "[[expect]]\nmetric = \"success_ratio\"\nat_least = \"99,9 %\"",
        "service_time = \"1,5ms\"",
        "service_time = \"1,500ms\"",
    ]));
}

#[test]
fn keys_values_and_what_is_between_them() {
    assert_snapshot!(errors(&[
        "service_time: \"5ms\"",
        "service_time \"5ms\"",
        "service_time",
        "service_time =",
        "service_time = = \"5ms\"",
        "= \"5ms\"",
        "{",
        "service_time = \"5ms\" // fast",
        "service_time = \"5ms\",",
        "service_time = \"5ms\" calls.x = {}",
        "service_time = { exponential = { mean: \"5ms\" } }",
        "call_order = [\"a\" \"b\"]",
        "call_order = [\"a\",,]",
        "service_time = { uniform = { min = \"1ms\" max = \"2ms\" } }",
    ]));
}

#[test]
fn numbers_that_toml_does_not_know() {
    let weight = |number: &str| format!("[clients.b.calls.db]\nweight = {number}");
    let slips = [".5", "5.", "05", "+-1"].map(weight);
    assert_snapshot!(errors(&slips.each_ref().map(String::as_str)));
}

#[test]
fn keys_that_are_there_already() {
    assert_snapshot!(errors(&[
        "service_time = \"1ms\"\nservice_time = \"2ms\"",
        "[clients.web]\ncount = 5",
        "calls.shop = { timeout = \"1s\" }\ncalls.shop.retry = \"none\"",
        "service_time = \"1ms\"\nservice_time.mean = \"2ms\"",
    ]));
}
