//! What the rules find: each in its own example, and the boundaries that matter.

mod bounds;
mod breakers;
mod budgets;
mod crowds;
mod errors;
mod layers;
mod load;
mod mended;
mod timeouts;
mod waits;

use stormsim::analysis::lint::RULES;
use stormsim::scenario::Severity;

/// Each rule finds something in its example, and nothing once that is put right; and no example is full of other errors.
#[test]
fn each_rule_fails_and_passes_its_example() {
    for rule in RULES {
        let found = |set: &[&str]| {
            let linted = rule.linted_example(set);
            let linted = linted.unwrap_or_else(|wrong| panic!("{}: {wrong}", rule.id));
            let (own, others): (Vec<_>, Vec<_>) = linted.findings.into_iter().partition(|it| it.rule == rule.id);
            let errors: Vec<_> = others.into_iter().filter(|other| other.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "the example of {} has other errors: {errors:#?}", rule.id);
            own
        };
        assert_eq!(found(&[]).len(), 1, "{} finds one thing in its example", rule.id);
        // What is allowed cannot be set by path: there is nothing to set in its place.
        if !rule.example.good.is_empty() {
            assert_eq!(found(rule.example.good), [], "{} finds nothing once it is put right", rule.id);
        }
    }
}

/// What is written about a rule is whole.
#[test]
fn each_rule_is_described() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(
            rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{}",
            rule.id
        );
        assert!(RULES[..at].iter().all(|other| other.id != rule.id), "{} is there twice", rule.id);
        assert!(rule.finds.ends_with('.') && rule.why.ends_with('.'), "{}: sentences end with a stop", rule.id);
        assert!(!rule.instead.ends_with('.') && rule.instead.starts_with(|c: char| c.is_lowercase()), "{}", rule.id);
        assert!(!rule.example.bad.trim().is_empty(), "{}", rule.id);
    }
}
