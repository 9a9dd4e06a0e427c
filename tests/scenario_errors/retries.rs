//! What waits that contradict each other are answered with, word for word. The snapshots are the specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

use crate::told;

const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
arrivals = { burst = {} }
calls.db = { retry = "patient" }

[services.db]

[retries.patient]
max_retries = 3
"#;

fn parsed(policy: &str) -> Result<Scenario, String> {
    let text = format!("{GOOD}{policy}\n");
    Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).map_err(|errors| errors.to_string())
}

/// Each of these policies: its place, what is wrong with it, and the way out, which every error must have.
fn told(policies: &[&str]) -> String {
    let answer = |policy: &&str| match parsed(policy) {
        Ok(_) => panic!("nothing is wrong with {policy}"),
        Err(errors) => format!("{policy}\n{}", told::briefly(&errors)),
    };
    policies.iter().map(answer).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn bounds_that_leave_no_wait() {
    assert_snapshot!(told(&[
        "backoff = { fixed = \"1s\" }\nfloor = \"3s\"\ncap = \"2s\"",
        "backoff = { fixed = \"1s\" }\ngranularity = \"0s\"",
        "backoff = { fixed = \"1s\" }\ngranularity = \"1ms\"\nfloor = \"1500us\"",
        "backoff = { fixed = \"1s\" }\ngranularity = \"1ms\"\ncap = \"500us\"",
        "backoff = { exponential = { base = \"900us\" } }\ngranularity = \"1ms\"",
        "backoff = { exponential = { base = \"50ms\", base_throttled = \"900us\" } }\ngranularity = \"1ms\"",
        "backoff = { explicit = [\"1s\", \"10us\"] }\ngranularity = \"1ms\"",
    ]));
}

/// What draws by itself has no jitter, and no floor but its own; only a window can be narrowed.
#[test]
fn what_has_no_window_is_not_narrowed() {
    assert_snapshot!(told(&[
        "backoff = { decorrelated_v2 = { base = \"2s\" } }\njitter = \"full\"",
        "backoff = { decorrelated = { base = \"2s\" } }\njitter = { upward = 0.5 }",
        "backoff = { decorrelated = { base = \"2s\" } }\nfloor = \"3s\"",
        "backoff = { decorrelated_v2 = { base = \"2s\" } }\nfloor = \"1s\"",
        "backoff = { decorrelated_v2 = { base = \"2s\" } }\ncap = \"5s\"\ncap_order = \"narrow\"",
        "backoff = { fixed = \"2s\" }\njitter = { add = \"1s\" }\ncap = \"5s\"\ncap_order = \"narrow\"",
        "backoff = { decorrelated_v2 = {} }",
        "backoff = { decorrelated_v2 = { base = \"2s\", factor = 3 } }",
        "backoff = { linear = { step = \"2s\", base_throttled = \"3s\" } }",
    ]));
}

#[test]
fn values_out_of_range() {
    assert_snapshot!(told(&[
        "immediate = -1",
        "immediate = \"once\"",
        "jitter = \"upward\"",
        "floor = 5",
        "max_elapsed = \"unlimited\"",
        "retry_after = { upward = \"50%\", required = \"yes\", over_own = 5 }",
    ]));
}

#[test]
fn words_of_other_tools() {
    assert_snapshot!(told(&[
        "maxElapsedTime = \"15m\"",
        "min_wait = \"1s\"",
        "backoff = { polly = { base = \"2s\" } }"
    ]));
}

/// A rule that listens to no server leaves nothing for these to be about.
#[test]
fn answers_to_servers_that_are_not_listened_to() {
    assert_snapshot!(told(&[
        "retry_after = { rule = \"ignore\", upward = 0.5, over_own = \"5s\", required = true }",
        "retry_after = { upward = 0.5, jitter = { uniform = { min = \"0s\", max = \"6s\" } } }",
    ]));
}

/// What changes nothing contradicts nothing.
#[test]
fn what_is_as_by_default_contradicts_nothing() {
    for policy in [
        "backoff = { decorrelated = { base = \"2s\" } }\nfloor = \"0s\"\ncap_order = \"narrow\"\ncap = \"5s\"",
        "backoff = { decorrelated_v2 = { base = \"2s\" } }\njitter = \"none\"\ncap = \"5s\"\ncap_order = \"both\"",
        "backoff = { fixed = \"1s\" }\nfloor = \"2s\"\ncap = \"2s\"\nimmediate = 9",
        "backoff = { fixed = \"0s\" }\ngranularity = \"1ms\"\nmax_elapsed = \"none\"",
        "retry_after = { rule = \"ignore\", upward = 0, over_own = \"unlimited\", required = false }",
    ] {
        if let Err(errors) = parsed(policy) {
            panic!("{policy}\n{errors}");
        }
    }
}
