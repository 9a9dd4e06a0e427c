//! What is allowed in the file.

use std::path::Path;

use stormsim::scenario::{Overrides, Scenario};

use crate::linted;

/// Two policies without jitter.
const TWO: &str = r#"
[clients.fleet]
count = 100
arrivals = { burst = {} }
calls.api = { timeout = "1s", total_timeout = "9s", retry = "one" }
calls.other = { to = "api", timeout = "1s", total_timeout = "9s", retry = "two" }
[services.api]
service_time = "5ms"
[retries.one]
max_retries = 1
backoff = { fixed = "1s" }
[retries.two]
max_retries = 1
backoff = { fixed = "2s" }
"#;

/// The findings with their paths and reasons.
fn judged(allow: &str) -> Vec<(String, String, Option<String>)> {
    let linted = linted(&format!("{TWO}{allow}"), &[]);
    let findings = linted.findings.into_iter().filter(|it| ["no-jitter", "unused-allow"].contains(&it.rule));
    findings.map(|finding| (finding.rule.to_owned(), finding.path, finding.allowed)).collect()
}

fn finding(rule: &str, path: &str, reason: Option<&str>) -> (String, String, Option<String>) {
    (rule.to_owned(), path.to_owned(), reason.map(str::to_owned))
}

#[test]
fn a_rule_is_allowed_everywhere_or_at_a_path() {
    let one = |reason| finding("no-jitter", "retries.one.backoff", reason);
    let two = |reason| finding("no-jitter", "retries.two.backoff", reason);
    assert_eq!(judged(""), [one(None), two(None)]);
    let everywhere = "[[allow]]\nrules = [\"no-jitter\"]\nreason = \"a test\"\n";
    assert_eq!(judged(everywhere), [one(Some("a test")), two(Some("a test"))]);
    let at = "[[allow]]\nrules = [\"no-jitter\"]\nreason = \"a test\"\nat = \"retries.two\"\n";
    assert_eq!(judged(at), [one(None), two(Some("a test"))]);
    // A path is no beginning of a word.
    let elsewhere = at.replace("retries.two", "retries.tw");
    assert_eq!(judged(&elsewhere), [one(None), two(None), finding("unused-allow", "allow", None)]);
    let idle = linted(&format!("{TWO}{elsewhere}"), &[]).findings.pop().expect("what is allowed comes last");
    assert_eq!(idle.message, "`no-jitter` is allowed at `retries.tw`, but it finds nothing");
    assert_eq!(idle.figure, "the file has no `retries.tw`");
    // In one variant only.
    let variants = "[variants.a]\n[variants.b]\n";
    let in_a = everywhere.replace("\"a test\"", "\"a test\"\nvariants = [\"a\"]");
    let found = judged(&format!("{variants}{in_a}"));
    assert_eq!(found, [one(Some("a test")), one(None), two(Some("a test")), two(None)]);
    // The first reason counts; the second is for nothing only if it allows nothing.
    let twice = format!("{everywhere}{at}");
    assert_eq!(judged(&twice), [one(Some("a test")), two(Some("a test"))]);
}

/// What is wrong with a list of what is allowed is said wherever the file is read, not only by `lint`.
#[test]
fn what_is_allowed_has_rules_that_exist_and_a_reason() {
    let errors = |allow: &str| {
        let text = format!("version = 1\nname = \"example\"\n{TWO}{allow}");
        let wrong = Scenario::parse("example", &text, Path::new(""), &Overrides::default()).expect_err("it is wrong");
        wrong.iter().map(|error| error.in_a_line()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(
        [
            errors("[[allow]]\nrules = [\"no-jiter\"]\nreason = \"a test\"\n"),
            errors("[[allow]]\nrules = [\"no-jitter\"]\n"),
            errors("[[allow]]\nrules = [\"no-jitter\"]\nreason = \" \"\n"),
            errors("[[allow]]\nreason = \"a test\"\n"),
            errors("[[allow]]\nrules = [\"unused-allow\"]\nreason = \"a test\"\n"),
            errors("[[allow]]\nrules = [\"no-jitter\"]\nreason = \"a test\"\nat = \"retries two\"\n"),
            errors("[variants.v]\nallow = []\n"),
            errors("[variants.fixed]\n[[allow]]\nrules = [\"no-jitter\"]\nreason = \"a test\"\nvariants = [\"fix\"]\n"),
            errors("[[allow]]\nrules = \"no-jitter\"\nreason = \"a test\"\n"),
        ]
        .join("\n")
    );
}

/// What differs is told for each: here the crowds that one policy serves.
#[test]
fn variants_of_which_something_else_is_said_are_told_apart() {
    let variants = "[variants.few]\n[variants.many]\n\"clients.fleet.count\" = 500\n[variants.as-many]\n\"clients.fleet.count\" = 500\n";
    let linted = linted(&format!("{TWO}{variants}"), &[]);
    let found = linted.findings.iter().filter(|it| it.rule == "no-jitter" && it.path == "retries.one.backoff");
    let found: Vec<_> = found.map(|it| (it.figure.contains("250"), it.variants.join(", "))).collect();
    assert_eq!(found, [(false, "few".to_owned()), (true, "many, as-many".to_owned())]);
}

/// A fault that only some variants have names them, and a setting of a variant is where the variant says it.
#[test]
fn what_is_in_some_variants_only_names_them() {
    let variants = "[variants.fixed]\n[variants.later]\n\"retries.one.backoff\" = { fixed = \"3s\" }\n\
                    [variants.full]\n\"retries.one.jitter\" = \"full\"\n\"retries.two.jitter\" = \"full\"\n";
    let linted = linted(&format!("{TWO}{variants}"), &[]);
    let found: Vec<_> = linted.findings.iter().filter(|it| it.rule == "no-jitter").collect();
    let found: Vec<_> =
        found.iter().map(|it| (it.path.as_str(), it.position.unwrap().line, it.variants.join(", "))).collect();
    assert_eq!(
        found,
        [
            ("retries.one.backoff", 14, "fixed".to_owned()),
            ("retries.two.backoff", 17, "fixed, later".to_owned()),
            ("retries.one.backoff", 20, "later".to_owned()),
        ]
    );
}
