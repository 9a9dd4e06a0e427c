//! How a call goes when all of its attempts fail alike: when each begins, and when the call is given up.

use serde::{Serialize, Serializer};

use crate::plan::{Call, Plan};
use crate::policy::WaitRange;
use crate::time::Span;

/// The most attempts that are followed; more are those of a call without a limit.
const FOLLOWED: usize = 1_000;

/// How an attempt fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// With an error, after this time.
    After(Span),
    /// Without an answer, so that only a timeout ends it.
    Silently,
}

/// Which of the waits that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// The shortest: so there are as many attempts as can be.
    Shortest,
    /// The longest: so it takes as long as can be.
    Longest,
}

/// Why a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// All attempts were made.
    Exhausted,
    /// The next attempt does not fit into the time that is left, or that is over.
    Deadline,
    /// It is not: an attempt has no answer and no timeout, or there is always another.
    Never,
}

/// The course of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
    /// When each attempt begins, after the call; of a call that is never over the first thousand.
    #[serde(rename = "starts_s", serialize_with = "in_seconds")]
    pub starts: Vec<Span>,
    /// When the call is given up; none if it never is.
    #[serde(rename = "given_up_s", serialize_with = "maybe_in_seconds")]
    pub given_up: Option<Span>,
    /// Why.
    pub over: Over,
}

impl Course {
    /// Of a call that may last until `limit` ([`Span::UNLIMITED`] for ever), all of whose attempts fail like this.
    ///
    /// It follows the rules of the engine for one call by itself: nothing waits for a slot, no budget refuses, no server
    /// says when to come back.
    pub fn of(plan: &Plan, call: &Call, failing: Failing, waits: Waits, limit: Span) -> Self {
        let policy = &plan.policies[call.policy.index()];
        let limit = limit.min(call.total_timeout.after);
        let followed = policy.max_attempts.min(FOLLOWED as u32);
        let ranges = policy.schedule.ranges(followed.saturating_sub(1));
        let pick = |range: &WaitRange| match waits {
            Waits::Shortest => range.shortest,
            Waits::Longest => range.longest,
        };
        let mut starts = Vec::new();
        let mut now = Span::ZERO;
        let over = |starts, given_up, over| Self { starts, given_up, over };
        for attempt in 0..followed as usize {
            starts.push(now);
            let lasts = match failing {
                Failing::After(time) => time.min(call.timeout.after),
                Failing::Silently => call.timeout.after,
            };
            if lasts >= Span::LIMIT && limit >= Span::LIMIT {
                return over(starts, None, Over::Never);
            }
            now = now + lasts;
            if now >= limit {
                return over(starts, Some(limit), Over::Deadline);
            }
            let Some(range) = ranges.get(attempt) else { break };
            let wait = pick(range);
            if limit < Span::LIMIT && wait + policy.min_attempt > limit - now {
                return over(starts, Some(now), Over::Deadline);
            }
            now = now + wait;
            // Virtual time ends before that: nobody gives up, and nobody sees the attempt.
            if now >= Span::LIMIT {
                return over(starts, None, Over::Never);
            }
        }
        if policy.max_attempts as usize > FOLLOWED {
            return over(starts, None, Over::Never);
        }
        over(starts, Some(now), Over::Exhausted)
    }

    /// How many attempts there are.
    pub fn attempts(&self) -> usize {
        self.starts.len()
    }
}

pub(super) fn in_seconds<S: Serializer>(spans: &[Span], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(spans.iter().map(|span| span.as_s()))
}

pub(super) fn maybe_in_seconds<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    span.map(Span::as_s).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    /// The plan of one call with these settings and this policy.
    fn plan(call: &str, policy: &str) -> Plan {
        let text = format!(
            r#"
            version = 1
            name = "course"
            horizon = "20000m"
            clients.web = {{ arrivals = {{ burst = {{ at = "0s" }} }}, calls.api = {{ retry = "p" {call} }} }}
            services.api = {{}}
            retries.p = {{ {policy} }}
            "#
        );
        let scenario = Scenario::parse("course", &text, Path::new(""), &Overrides::default());
        scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone()
    }

    fn course(call: &str, policy: &str, failing: Failing) -> (Vec<f64>, Option<f64>, Over) {
        let plan = plan(call, policy);
        let course = Course::of(&plan, &plan.calls[0], failing, Waits::Longest, Span::UNLIMITED);
        (course.starts.iter().map(|span| span.as_s()).collect(), course.given_up.map(Span::as_s), course.over)
    }

    /// A timeout of 1.5 s and waits of 1, 2 and 4 s: 4 x 1.5 + 7 = 13 s.
    #[test]
    fn the_worst_case_is_the_timeouts_and_the_waits() {
        let policy = r#"max_retries = 3, backoff = { exponential = { base = "1s", factor = 2.0 } }"#;
        let expected = (vec![0.0, 2.5, 6.0, 11.5], Some(13.0), Over::Exhausted);
        assert_eq!(course(r#", timeout = "1500ms""#, policy, Failing::Silently), expected);
    }

    /// Per-try and total timeouts (after istio/istio, issues 21137 and 13167), by hand.
    #[test]
    fn totals_cut_tries_and_leave_no_room_for_others() {
        let seven = Failing::After(Span::from_s(7));
        let half = Failing::After(Span::from_ms(500));
        let four = "max_attempts = 4";
        let none = course(r#", total_timeout = "2s""#, four, seven);
        assert_eq!(none, (vec![0.0], Some(2.0), Over::Deadline));
        for attempts in [4, 10] {
            let policy = format!(r#"max_attempts = {attempts}, backoff = {{ fixed = "25ms" }}"#);
            let tries = course(r#", total_timeout = "2s", timeout = "500ms""#, &policy, seven);
            assert_eq!(tries, (vec![0.0, 0.525, 1.05, 1.575], Some(2.0), Over::Deadline));
        }
        let two = "max_attempts = 2";
        let cut = course(r#", total_timeout = "10s", timeout = "200ms""#, two, half);
        assert_eq!(cut, (vec![0.0, 0.2], Some(0.4), Over::Exhausted));
        let answered = course(r#", total_timeout = "10s""#, two, half);
        assert_eq!(answered, (vec![0.0, 0.5], Some(1.0), Over::Exhausted));
        let long = course(r#", timeout = "3s""#, four, seven);
        assert_eq!(long, (vec![0.0, 3.0, 6.0, 9.0], Some(12.0), Over::Exhausted));
    }

    /// 250 ms for attempts of 60 ms with waits from [0, 20), [0, 40), [0, 80) ms, if there are 60 ms for an attempt: at
    /// best four fit, at worst three.
    #[test]
    fn a_deadline_leaves_room_for_fewer_attempts_than_are_configured() {
        let policy = r#"max_attempts = 5, min_attempt = "60ms", cap = "200ms", jitter = "full",
                        backoff = { exponential = { base = "20ms", factor = 2.0 } }"#;
        let policy = policy.replace('\n', " ");
        let plan = plan(r#", total_timeout = "250ms""#, &policy);
        let failing = Failing::After(Span::from_ms(60));
        let with = |waits| Course::of(&plan, &plan.calls[0], failing, waits, Span::UNLIMITED);
        assert_eq!([Waits::Shortest, Waits::Longest].map(|waits| with(waits).attempts()), [4, 3]);
        assert_eq!(with(Waits::Longest).over, Over::Deadline);
        // What it inherits counts as its own.
        let inherited = Course::of(&plan, &plan.calls[0], failing, Waits::Shortest, Span::from_ms(130));
        assert_eq!((inherited.attempts(), inherited.given_up), (2, Some(Span::from_ms(120))));
    }

    /// Ten minutes, five times as long each time, without a cap: attempts at 10, 60, 310, 1,560 and 7,810 minutes. (After
    /// matrix-org/synapse, issue 14513.)
    #[test]
    fn uncapped_backoff_grows_beyond_any_outage() {
        let policy = r#"max_attempts = "unlimited", backoff = { exponential = { base = "10m", factor = 5.0 } }"#;
        let (starts, given_up, over) = course("", policy, Failing::After(Span::ZERO));
        let minutes: Vec<f64> = starts[..6].iter().map(|seconds| seconds / 60.0).collect();
        assert_eq!(minutes, [0.0, 10.0, 60.0, 310.0, 1_560.0, 7_810.0]);
        assert_eq!((given_up, over), (None, Over::Never));
    }

    #[test]
    fn without_answer_and_timeout_a_call_is_never_over() {
        assert_eq!(course("", "max_attempts = 3", Failing::Silently), (vec![0.0], None, Over::Never));
    }
}
