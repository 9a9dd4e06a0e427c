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

fn within(call: &str, policy: &str, failing: Failing, limit: Span) -> Course {
    let plan = plan(call, policy);
    Course::of(&plan, CallId(0), failing, limit)
}

fn course(call: &str, policy: &str, failing: Failing) -> Course {
    within(call, policy, failing, Span::UNLIMITED)
}

/// The latest starts, and the latest end.
fn latest(course: &Course) -> (Vec<f64>, Option<f64>, Over) {
    (course.starts.iter().map(|start| start.latest.as_s()).collect(), course.given_up.map(Span::as_s), course.over)
}

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// A timeout of 1.5 s and waits of 1, 2 and 4 s: 4 x 1.5 + 7 = 13 s.
#[test]
fn the_worst_case_is_the_timeouts_and_the_waits() {
    let policy = r#"max_retries = 3, backoff = { exponential = { base = "1s", factor = 2.0 } }"#;
    for failing in [Failing::Silently, Failing::Anyhow(Span::UNLIMITED)] {
        let course = course(r#", timeout = "1500ms""#, policy, failing);
        assert_eq!(latest(&course), (vec![0.0, 2.5, 6.0, 11.5], Some(13.0), Over::Exhausted));
        assert_eq!((course.fewest, course.most), (Some(4), Some(4)));
    }
}

/// Per-try and total timeouts (after istio/istio, issues 21137 and 13167), by hand.
#[test]
fn totals_cut_tries_and_leave_no_room_for_others() {
    let seven = Failing::Late(Span::from_s(7));
    let half = Failing::Late(ms(500));
    let four = "max_attempts = 4";
    let none = course(r#", total_timeout = "2s""#, four, seven);
    assert_eq!(latest(&none), (vec![0.0], Some(2.0), Over::Deadline));
    for attempts in [4, 10] {
        let policy = format!(r#"max_attempts = {attempts}, backoff = {{ fixed = "25ms" }}"#);
        let tries = course(r#", total_timeout = "2s", timeout = "500ms""#, &policy, seven);
        assert_eq!(latest(&tries), (vec![0.0, 0.525, 1.05, 1.575], Some(2.0), Over::Deadline));
    }
    let two = "max_attempts = 2";
    let cut = course(r#", total_timeout = "10s", timeout = "200ms""#, two, half);
    assert_eq!(latest(&cut), (vec![0.0, 0.2], Some(0.4), Over::Exhausted));
    let answered = course(r#", total_timeout = "10s""#, two, half);
    assert_eq!(latest(&answered), (vec![0.0, 0.5], Some(1.0), Over::Exhausted));
    let long = course(r#", timeout = "3s""#, four, seven);
    assert_eq!(latest(&long), (vec![0.0, 3.0, 6.0, 9.0], Some(12.0), Over::Exhausted));
}

/// 250 ms for attempts of 60 ms with waits from [0, 20), [0, 40), [0, 80) ms, if there are 60 ms for an attempt: at
/// best four fit, at worst three. The third ends after 180 to 240 ms: a fourth fits if it begins after 190 ms at the
/// latest, and then ends with the time.
#[test]
fn the_latest_end_is_where_a_wait_can_bring_it() {
    let policy = r#"max_attempts = 5, min_attempt = "60ms", cap = "200ms", jitter = "full",
                    backoff = { exponential = { base = "20ms", factor = 2.0 } }"#
        .replace('\n', " ");
    let call = r#", total_timeout = "250ms""#;
    let all = course(call, &policy, Failing::Late(ms(60)));
    assert_eq!((all.fewest, all.most, all.given_up), (Some(3), Some(4), Some(ms(250))));
    assert_eq!(all.starts[2], Start { earliest: ms(120), latest: ms(180) });
    assert_eq!(all.starts[3], Start { earliest: ms(180), latest: ms(190) });
    // What it inherits counts as its own: the second one begins at 70 ms at the latest, the third one has no room.
    let inherited = within(call, &policy, Failing::Late(ms(60)), ms(130));
    assert_eq!((inherited.fewest, inherited.most, inherited.given_up), (Some(1), Some(2), Some(ms(130))));
    // Without jitter there is nothing to choose: 60, 20, 60, 40, 60 ms, and 80 more do not fit.
    let fixed = course(call, &policy.replace(r#"jitter = "full","#, ""), Failing::Late(ms(60)));
    assert_eq!((fixed.fewest, fixed.most, fixed.given_up), (Some(3), Some(3), Some(ms(240))));
}

/// A wait of a second does not fit into half a second; one that may be a second fits if it is shorter.
#[test]
fn a_wait_that_may_fit_makes_the_limit_the_end() {
    let call = r#", total_timeout = "500ms""#;
    let fixed = r#"max_attempts = 2, backoff = { fixed = "1s" }"#;
    let ends = |policy: &str| {
        let course = course(call, policy, Failing::Late(ms(100)));
        (course.fewest, course.most, course.given_up, course.over)
    };
    assert_eq!(ends(fixed), (Some(1), Some(1), Some(ms(100)), Over::Deadline));
    let jitter = format!("{fixed}, jitter = \"full\"");
    assert_eq!(ends(&jitter), (Some(1), Some(2), Some(ms(500)), Over::Exhausted));
}

/// Ten minutes, five times as long each time, without a cap: attempts at 10, 60, 310, 1,560 and 7,810 minutes. (After
/// matrix-org/synapse, issue 14513.)
#[test]
fn uncapped_backoff_grows_beyond_any_outage() {
    let policy = r#"max_attempts = "unlimited", backoff = { exponential = { base = "10m", factor = 5.0 } }"#;
    let course = course("", policy, Failing::Refused);
    let minutes: Vec<f64> = course.starts[..6].iter().map(|start| start.latest.as_s() / 60.0).collect();
    assert_eq!(minutes, [0.0, 10.0, 60.0, 310.0, 1_560.0, 7_810.0]);
    assert_eq!((course.given_up, course.over, course.most), (None, Over::Never, None));
}

#[test]
fn without_answer_and_timeout_a_call_is_never_over() {
    let course = course("", "max_attempts = 3", Failing::Silently);
    assert_eq!((latest(&course), course.most), ((vec![0.0], None, Over::Never), Some(1)));
}

/// 5,000 attempts of 1 ms each end after 5 s, and where there are 2 s after 2,000.
#[test]
fn more_than_a_few_attempts_are_followed_to_the_end() {
    let failing = Failing::Late(ms(1));
    let all = course("", "max_attempts = 5000", failing);
    assert_eq!((all.most, all.given_up, all.over), (Some(5_000), Some(ms(5_000)), Over::Exhausted));
    assert_eq!(all.starts.len(), 256);
    let unlimited = r#"max_attempts = "unlimited""#;
    let cut = course(r#", total_timeout = "2s""#, unlimited, failing);
    assert_eq!(
        (cut.fewest, cut.most, cut.given_up, cut.over),
        (Some(2_000), Some(2_000), Some(ms(2_000)), Over::Deadline)
    );
    let endless = course("", unlimited, failing);
    assert_eq!((endless.most, endless.given_up, endless.over), (None, None, Over::Never));
}

/// Where the attempts are too many to be followed that is said, and no end is made up: neither of the four billion
/// attempts of one policy, nor where the waits may be so short that there is always time for another.
#[test]
fn what_is_not_followed_to_the_end_says_so() {
    let many = course("", "max_attempts = 4294967294", Failing::Late(ms(1)));
    assert_eq!((many.fewest, many.most, many.given_up, many.over), (None, None, None, Over::NotFollowed));
    assert_eq!(many.starts.len(), 256);
    let policy = r#"max_attempts = "unlimited", jitter = "full", backoff = { fixed = "1s" }"#;
    let may_be_short = course(r#", total_timeout = "10s""#, policy, Failing::Refused);
    assert_eq!((may_be_short.fewest, may_be_short.most), (Some(11), None));
    assert_eq!((may_be_short.given_up, may_be_short.over), (Some(ms(10_000)), Over::NotFollowed));
}

#[test]
fn a_policy_that_does_not_retry_the_error_makes_one_attempt() {
    let only = |kinds: &str| format!("max_attempts = 3, retry_on = [{kinds}]");
    let call = r#", timeout = "1s""#;
    let attempts = |kinds: &str, failing| course(call, &only(kinds), failing).most;
    assert_eq!(attempts("\"refused\"", Failing::Silently), Some(1));
    assert_eq!(attempts("\"refused\"", Failing::Refused), Some(3));
    assert_eq!(attempts("\"timeout\"", Failing::Silently), Some(3));
    assert_eq!(attempts("\"timeout\"", Failing::Refused), Some(1));
    // What is later than the timeout is a timeout.
    assert_eq!(attempts("\"unavailable\"", Failing::Late(ms(1_000))), Some(3));
    assert_eq!(attempts("\"unavailable\"", Failing::Late(ms(1_001))), Some(1));
    assert_eq!(course(call, &only("\"refused\""), Failing::Silently).over, Over::NotRetryable);
    // However it fails, there may be an error just before the timeout, which is retried.
    let anyhow = course(call, &only("\"refused\""), Failing::Anyhow(Span::UNLIMITED));
    assert_eq!((anyhow.most, anyhow.given_up), (Some(3), Some(ms(3_000))));
}

#[test]
fn a_deadline_that_is_past_leaves_no_attempt() {
    let course = within("", "max_attempts = 3", Failing::Refused, Span::ZERO);
    assert_eq!((course.fewest, course.most, course.given_up), (Some(0), Some(0), Some(Span::ZERO)));
    assert_eq!((course.starts, course.over), (Vec::new(), Over::Deadline));
}

/// The way of 5 ms is there each time; whoever finds nobody waits for 200 ms, and for a way of 300 ms likewise.
#[test]
fn ways_take_their_time() {
    let two = "max_attempts = 2";
    let ends = |call: &str, failing| course(call, two, failing).given_up;
    let call = r#", timeout = "1s", connect_timeout = "200ms", network = "5ms""#;
    assert_eq!(ends(call, Failing::Refused), Some(ms(20)));
    assert_eq!(ends(call, Failing::Unreachable), Some(ms(400)));
    assert_eq!(ends(call, Failing::Silently), Some(ms(2_000)));
    assert_eq!(ends(&call.replace("5ms", "300ms"), Failing::Refused), Some(ms(400)));
    let random = r#", network = { uniform = { min = "5ms", max = "8ms", step = "1ms" } }"#;
    let random = course(random, two, Failing::Refused);
    assert_eq!((random.starts[1].earliest, random.given_up), (ms(10), Some(ms(28))));
}

/// Copies are sent every 10 ms as long as none before them has failed: one answer of 10 ms has no hedge, one of 11 ms
/// has two, the last of which is answered after 31 ms. Nobody answers a silent one, and whoever finds nobody is found
/// out 200 ms after the last copy.
#[test]
fn an_attempt_fails_with_its_last_copy() {
    let call = r#", timeout = "1s", connect_timeout = "200ms", hedge = { after = "10ms", copies = 2 }"#;
    let ends = |failing| course(call, "max_attempts = 1", failing).given_up;
    assert_eq!(ends(Failing::Late(ms(10))), Some(ms(10)));
    assert_eq!(ends(Failing::Late(ms(11))), Some(ms(31)));
    assert_eq!(ends(Failing::Silently), Some(ms(1_000)));
    assert_eq!(ends(Failing::Unreachable), Some(ms(220)));
}

#[test]
fn a_wait_without_a_bound_has_no_latest_end() {
    let policy =
        r#"max_attempts = 2, backoff = { fixed = "1s" }, jitter = { add = { exponential = { mean = "1s" } } }"#;
    let unbounded = course("", policy, Failing::Refused);
    assert_eq!((unbounded.fewest, unbounded.most), (Some(1), Some(2)));
    assert_eq!((unbounded.given_up, unbounded.over), (None, Over::Exhausted));
}

/// What stops at a limit that is reached at once is not followed to it attempt by attempt.
#[test]
fn an_end_is_known_as_soon_as_the_limit_is_reached() {
    let plan = plan("", r#"max_attempts = "unlimited", jitter = "full", backoff = { fixed = "100ms" }"#);
    assert_eq!(Course::latest_end(&plan, CallId(0), ms(20_000)), (Ok(ms(20_000)), 1));
    // Waits of up to 100 ms, and attempts of up to 900 ms.
    let timeout = r#", timeout = "900ms""#;
    let plan = self::plan(timeout, r#"max_attempts = "unlimited", jitter = "full", backoff = { fixed = "100ms" }"#);
    assert_eq!(Course::latest_end(&plan, CallId(0), ms(20_000)), (Ok(ms(20_000)), 21));
}

#[test]
fn what_has_no_latest_end_says_why() {
    let why = |call: &str, policy: &str| {
        let plan = plan(call, policy);
        Course::latest_end(&plan, CallId(0), Span::UNLIMITED).0
    };
    let tail =
        r#"max_attempts = 3, backoff = { fixed = "10ms" }, jitter = { add = { exponential = { mean = "10ms" } } }"#;
    let timeout = r#", timeout = "100us""#;
    assert_eq!(why(timeout, tail), Err(Endless::NoBound));
    assert_eq!(why(timeout, "max_attempts = 200000"), Err(Endless::NotFollowed));
    assert_eq!(why(timeout, r#"max_attempts = "unlimited", backoff = { fixed = "1s" }"#), Err(Endless::Never));
    assert_eq!(why("", "max_attempts = 3"), Err(Endless::Never), "an attempt may have no answer");
    assert_eq!(why(timeout, "max_attempts = 3"), Ok(Span::from_ns(300_000)));
}

/// Who retries nothing but timeouts waits for each of them; who retries nothing makes one attempt.
#[test]
fn attempts_at_most_are_those_that_the_errors_allow() {
    let most = |call: &str, policy: &str| {
        let plan = plan(call, &format!("max_attempts = 10, {policy}"));
        attempts_at_most(&plan, CallId(0), Span::UNLIMITED)
    };
    let call = r#", timeout = "100ms", total_timeout = "250ms""#;
    assert_eq!(most(call, r#"retry_on = ["timeout"]"#), Some(3));
    assert_eq!(most(call, r#"retry_on = ["timeout", "refused"]"#), Some(10));
    let connect = format!(r#"{call}, connect_timeout = "50ms""#);
    assert_eq!(most(&connect, r#"retry_on = ["timeout"]"#), Some(5));
    assert_eq!(most(call, "retry_on = []"), Some(1));
    assert_eq!(most(call, r#"retry_on = ["deadline", "throttled"]"#), Some(1), "no answer tells of those");
    assert_eq!(most(call, r#"backoff = { fixed = "200ms" }"#), Some(2));
    assert_eq!(most("", r#"backoff = { fixed = "200ms" }"#), Some(10));
}

/// With waits of 1 s and attempts of 500 ms retries begin after 1.5, 3 and 4.5 s: the last is not begun where that is
/// later than the policy allows, and an attempt that has begun lasts as long as it lasts.
#[test]
fn a_policy_ends_calls_with_time() {
    let late = |max_elapsed: &str, more: &str| {
        let policy = format!(r#"backoff = {{ fixed = "1s" }}, max_elapsed = "{max_elapsed}", {more}"#);
        course("", &policy, Failing::Late(ms(500)))
    };
    for attempts in ["max_attempts = 9", r#"max_attempts = "unlimited""#] {
        assert_eq!(latest(&late("4500ms", attempts)), (vec![0.0, 1.5, 3.0, 4.5], Some(5.0), Over::MaxElapsed));
        assert_eq!(latest(&late("4499ms", attempts)), (vec![0.0, 1.5, 3.0], Some(3.5), Over::MaxElapsed));
        assert_eq!(latest(&late("0s", attempts)), (vec![0.0], Some(0.5), Over::MaxElapsed));
    }
    assert_eq!(latest(&late("1h", "max_attempts = 2")), (vec![0.0, 1.5], Some(2.0), Over::Exhausted));
    // Waits that are drawn may leave time for more.
    let drawn = late("4s", r#"jitter = "full", max_attempts = 5"#);
    assert_eq!((drawn.fewest, drawn.most, drawn.given_up), (Some(3), Some(5), Some(ms(4_500))));
    // Without a wait and without an attempt that takes time no time passes.
    let policy = r#"max_attempts = "unlimited", max_elapsed = "1s""#;
    let at_once = course("", policy, Failing::Late(Span::ZERO));
    assert_eq!((at_once.most, at_once.over), (None, Over::NotFollowed));
    // The call's own limit, where that is sooner.
    let policy = r#"max_attempts = "unlimited", max_elapsed = "1h", backoff = { fixed = "1s" }"#;
    let limited = course(r#", total_timeout = "2s""#, policy, Failing::Late(ms(500)));
    assert_eq!(latest(&limited), (vec![0.0, 1.5], Some(2.0), Over::Deadline));
}

/// Nobody says when to come back: the first attempt is the last. Of those that may be told either may be.
#[test]
fn a_word_that_is_required_ends_calls_without_it() {
    let policy = r#"max_attempts = 3, retry_after = { required = true }"#;
    for failing in [Failing::Refused, Failing::Late(ms(5)), Failing::Silently, Failing::Anyhow(Span::UNLIMITED)] {
        let course = course(r#", timeout = "1s""#, policy, failing);
        assert_eq!((course.most, course.over), (Some(1), Over::NotRetryable), "{failing:?}");
    }
    let mut told = plan("", policy);
    told.services[0].capacity.limiter = crate::policy::Limiter::FixedWindow { limit: 1, every: Span::from_s(1) };
    told.services[0].capacity.retry_after = Some(Span::from_s(1));
    let course = Course::of(&told, CallId(0), Failing::Late(ms(5)), Span::UNLIMITED);
    assert_eq!((course.fewest, course.most), (Some(1), Some(3)));
}

/// A server that asks for more than the policy grants ends the call: some attempts may be told so, others nothing.
#[test]
fn a_word_that_is_too_long_may_end_calls() {
    let attempts = |policy: &str, failing| {
        let mut plan = plan(r#", timeout = "1s""#, policy);
        plan.services[0].capacity.limiter = crate::policy::Limiter::FixedWindow { limit: 1, every: Span::from_s(1) };
        plan.services[0].capacity.retry_after = Some(Span::from_s(60));
        let course = Course::of(&plan, CallId(0), failing, Span::UNLIMITED);
        (course.fewest, course.most)
    };
    let beyond =
        |beyond: &str| format!(r#"max_attempts = 3, retry_after = {{ at_most = "30s", beyond = "{beyond}" }}"#);
    let late = Failing::Late(ms(5));
    assert_eq!(attempts(&beyond("stop"), late), (Some(1), Some(3)));
    assert_eq!(attempts(&beyond("clamp"), late), (Some(3), Some(3)));
    assert_eq!(attempts(&beyond("ignore"), late), (Some(3), Some(3)));
    assert_eq!(attempts("max_attempts = 3", late), (Some(3), Some(3)));
    assert_eq!(attempts(&beyond("stop"), Failing::Silently), (Some(3), Some(3)), "nobody says anything");
}

/// Errors that throttle have waits of their own, which an attempt that is refused or finds nobody does not meet.
#[test]
fn only_what_may_be_throttled_waits_so_long() {
    let policy = r#"max_attempts = 2, backoff = { exponential = { base = "50ms", base_throttled = "1s" } }"#;
    let second = |failing| course("", policy, failing).starts[1];
    let start = |earliest, latest| Start { earliest: ms(earliest), latest: ms(latest) };
    assert_eq!(second(Failing::Refused), start(50, 50));
    assert_eq!(second(Failing::Late(Span::ZERO)), start(50, 1_000));
}
