//! What is allowed for nothing.

use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "unused-allow",
    severity: Severity::Warning,
    finds: "A rule is allowed that finds nothing.",
    why: "What was allowed has been put right, or was never there. It would hide the next fault of its kind, for a reason \
          that was given for another.",
    instead: "take it out of `allow`",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 10 } }, calls.api = { timeout = "1s" } }
services.api = { service_time = "5ms" }
allow = [{ rules = ["hot-loop"], reason = "the loop is a test" }]
"#,
        good: &[],
    },
    check: Check::Allowed,
};
