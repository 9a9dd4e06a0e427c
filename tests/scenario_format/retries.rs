//! What a retry policy says about its waits.

use stormsim::plan::CallId;
use stormsim::policy::{Backoff, CapOrder, Jitter, Refinement, RetryPolicy, Schedule};
use stormsim::scenario::Overrides;
use stormsim::time::Span;

use crate::{SMALL, only_plan, parse, set};

/// The policy with these settings, each `key=value`.
fn policy(settings: &[&str]) -> RetryPolicy {
    let settings: Vec<String> = settings.iter().map(|setting| format!("retries.r.{setting}")).collect();
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    only_plan(&parse(SMALL, &set(&settings))).policy_of(CallId(0)).clone()
}

const BACKOFF: &str = r#"backoff={ exponential = { base = "1s" } }"#;

fn second() -> Backoff {
    Backoff::Exponential { base: Span::from_s(1), factor: 2.0 }
}

#[test]
fn every_key_of_the_waits_has_its_effect() {
    let schedule = |settings: &[&str]| policy(&[&[BACKOFF], settings].concat()).schedule;
    let uncapped =
        |refinement| Schedule::refined(second(), Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None, refinement);
    let none = Refinement::NONE;
    assert_eq!(schedule(&[]), uncapped(none));
    assert_eq!(schedule(&["immediate=2"]), uncapped(Refinement { immediate: 2, ..none }));
    assert_eq!(schedule(&["floor=3s"]), uncapped(Refinement { floor: Span::from_s(3), ..none }));
    assert_eq!(schedule(&["granularity=1ms"]), uncapped(Refinement { granularity: Span::from_ms(1), ..none }));
    let upward = schedule(&["jitter={ upward = 1.5 }", "cap=5s", "cap_order=narrow"]);
    let narrow = Schedule::new(second(), Span::from_s(5), CapOrder::Narrow, Jitter::Upward(1.5));
    assert_eq!(upward, narrow);
    let curve = policy(&[r#"backoff={ decorrelated_v2 = { base = "2s" } }"#]).schedule;
    let base = Span::from_s(2);
    let polly = Schedule::new(Backoff::DecorrelatedV2 { base }, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None);
    assert_eq!(curve, polly);
}

/// Everything but the base is the same after errors that throttle.
#[test]
fn a_base_after_throttling_is_another_schedule() {
    let other = policy(&[
        r#"backoff={ exponential = { base = "50ms", factor = 3, base_throttled = "1s" } }"#,
        "jitter=full",
        "cap=20s",
        "immediate=1",
    ]);
    let schedule = |base| {
        let backoff = Backoff::Exponential { base, factor: 3.0 };
        let refinement = Refinement { immediate: 1, ..Refinement::NONE };
        Schedule::refined(backoff, Span::from_s(20), CapOrder::BeforeJitter, Jitter::Full, refinement)
    };
    assert_eq!(other.schedule, schedule(Span::from_ms(50)));
    assert_eq!(other.throttled.as_deref(), Some(&schedule(Span::from_s(1))));
    assert_eq!(policy(&[BACKOFF]).throttled, None);
}

#[test]
fn a_policy_may_end_with_time() {
    assert_eq!(policy(&["max_elapsed=15m"]).max_elapsed, Span::from_s(900));
    assert_eq!(policy(&[]).max_elapsed, Span::UNLIMITED);
    let defaults = ["immediate=0", "floor=0s", "granularity=1ns", "max_elapsed=none", "cap_order=before_jitter"];
    let plain = only_plan(&parse(SMALL, &Overrides::default())).policy_of(CallId(0)).clone();
    assert_eq!(policy(&defaults), plain);
}
