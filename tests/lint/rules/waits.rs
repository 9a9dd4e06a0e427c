//! Rules about waits: what makes them differ, where they end, and who begins together.

use crate::found;

/// What a rule says of a scenario with these settings: of each finding the path, the message and the figure.
fn said(rule: &str, text: &str, set: &[&str]) -> Vec<[String; 3]> {
    let findings = found(rule, text, set).into_iter();
    findings.map(|finding| [finding.path, finding.message, finding.figure]).collect()
}

/// The figure of the only finding.
fn figure(rule: &str, text: &str, set: &[&str]) -> String {
    let said = said(rule, text, set);
    let [[_, _, figure]] = said.as_slice() else { panic!("{rule} says {said:?}") };
    figure.clone()
}

/// One closed-loop client without limit and wait, and 4.78 ms for an attempt that fails: 1 / 4.78 ms = 209 per second.
/// (After holon-run/holon, issue 2991.)
#[test]
fn a_hot_loop_is_as_fast_as_it_fails() {
    const LOOP: &str = r#"
        clients.agent = { arrivals = { closed = { think = "0s", requests = 1 } }, calls.server = { retry = "forever" } }
        services.server = {}
        retries.forever = { max_attempts = "unlimited" }
        faults.outage = { on = ["server"], until = "40s", effect = { fail = { delay = "4780us" } } }
    "#;
    let [path, message, figure] = &said("hot-loop", LOOP, &[])[0];
    assert_eq!(path, "retries.forever.max_attempts");
    assert_eq!(message, "`retries.forever` makes unlimited attempts with hardly a wait between them");
    let loop_of_one = "while `faults.outage` fails `agent->server`, one request makes 209 attempts per second";
    assert_eq!(figure, loop_of_one);
    assert_eq!(
        self::figure("hot-loop", LOOP, &["clients.agent.count=50"]),
        format!("{loop_of_one}, and 50 together 10,460")
    );
    // The way there and back, and no delay: 1 / 4 ms.
    let network = [r#"clients.agent.calls.server.network="2ms""#, r#"faults.outage.effect={ fail = {} }"#];
    let by_network = "while `faults.outage` fails `agent->server`, one request makes 250 attempts per second";
    assert_eq!(self::figure("hot-loop", LOOP, &network), by_network);
    // 12 times 5 ms with the wait of 220 us.
    let twelve = ["retries.forever.max_attempts=12", r#"retries.forever.backoff={ fixed = "220us" }"#];
    assert_eq!(
        self::figure("hot-loop", LOOP, &twelve),
        "while `faults.outage` fails `agent->server`, one request makes 12 attempts within 60 ms"
    );
}

#[test]
fn what_is_ended_by_something_else_is_no_hot_loop() {
    const LOOP: &str = r#"
        clients.agent = { arrivals = { constant = { rate = 5 } }, calls.server = { timeout = "1s", retry = "eager" } }
        services.server = { service_time = "5ms" }
        retries.eager = { max_attempts = 10 }
    "#;
    let count = |set: &[&str]| found("hot-loop", LOOP, set).len();
    assert_eq!(count(&[]), 1);
    assert_eq!(count(&["retries.eager.max_attempts=9"]), 0);
    assert_eq!(count(&[r#"retries.eager.backoff={ fixed = "9ms" }"#]), 1);
    assert_eq!(count(&[r#"retries.eager.backoff={ fixed = "10ms" }"#]), 0);
    assert_eq!(count(&[r#"retries.eager.backoff={ exponential = { base = "1ms" } }"#]), 0, "128 ms and 256 ms at last");
    assert_eq!(count(&[r#"retries.eager.retry_on=["timeout"]"#]), 0, "after a second each");
    assert_eq!(count(&["retries.eager.budget={ ratio_of_requests = { ratio = 0.1 } }"]), 0);
    let breaker = r#"clients.agent.calls.server.breaker={ trip = { consecutive = 5 }, open_for = "5s" }"#;
    assert_eq!(count(&[breaker]), 0);
    let retried = r#"retries.eager.retry_on=["unavailable", "breaker_open"]"#;
    assert_eq!(count(&[breaker, retried]), 1, "the open breaker is asked over and over");
}

/// Three quarters of 1,000 clients make one call, the others another, both by one policy.
const TWO_CALLS: &str = r#"
    clients.fleet.count = 1000
    clients.fleet.arrivals = { burst = {} }
    clients.fleet.calls.read = { to = "api", timeout = "1s", retry = "policy", weight = 3 }
    clients.fleet.calls.write = { to = "api", timeout = "1s", retry = "policy", weight = 1 }
    services.api = { service_time = "5ms" }
    retries.policy = { max_retries = 2, backoff = { exponential = { base = "1s" } } }
"#;

/// What comes back together is what failed together, and not all that the group makes.
#[test]
fn a_herd_has_those_who_make_the_call() {
    assert_eq!(
        figure("no-jitter", TWO_CALLS, &[]),
        "the 750 requests that fail together at `fleet->read` are back together 1 s later"
    );
    let first_at_once = [r#"retries.policy.backoff={ explicit = ["0s", "3s"] }"#];
    assert_eq!(
        figure("no-jitter", TWO_CALLS, &first_at_once),
        "the 750 requests that fail together at `fleet->read` are back together 3 s later"
    );
    let offset = r#"{ uniform = { min = "0s", max = "50s" } }"#;
    let spread = format!(r#"clients.fleet.arrivals={{ periodic = {{ every = "50s", offset = {offset} }} }}"#);
    assert_eq!(
        figure("no-jitter", TWO_CALLS, &[&spread]),
        "of the 15 requests per second at `fleet->read` those that one stall or restart fails together are back \
         together 1 s later"
    );
    let silent = |set: &str| found("no-jitter", TWO_CALLS, &[set]).is_empty();
    assert!(silent(r#"retries.policy.jitter={ spread = 0.01 }"#), "however little, there is jitter");
    assert!(!silent(r#"retries.policy.jitter={ spread = 0.0 }"#), "none is none");
    assert!(!silent(r#"retries.policy.jitter={ add = "100ms" }"#), "what is the same for all spreads nobody");
    assert!(silent(r#"retries.policy.backoff={ decorrelated = { base = "1s" } }"#));
    assert!(!silent(r#"retries.policy.backoff={ decorrelated = { base = "1s", factor = 1.0 } }"#));
    assert!(silent(r#"retries.policy.backoff="none""#));
    assert!(silent("clients.fleet.count=1"));
}

/// 5,000 clients come back within 500 ms, 1,000 in each 100 ms, and the callee does 100 of them in that time.
#[test]
fn jitter_is_held_against_what_the_callee_can_do() {
    const FLEET: &str = r#"
        clients.fleet = { count = 5000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
        services.api = { service_time = "10ms", workers = 10, queue = { limit = 100 } }
        retries.policy = { max_retries = 3, backoff = { fixed = "500ms" }, jitter = "full" }
    "#;
    let [[path, message, figure]] = said("narrow-jitter", FLEET, &[]).try_into().expect("one finding");
    assert_eq!(path, "retries.policy.jitter");
    assert_eq!(message, "`retries.policy` spreads the first retries over 500 ms, but `api` needs 5 s for all of them");
    assert_eq!(
        figure,
        "the 5,000 requests that fail together at `fleet->api` come back with 1,000 in each 100 ms on average; `api` \
         can do 100"
    );
    let count = |set: &[&str]| found("narrow-jitter", FLEET, set).len();
    assert_eq!(
        count(&[r#"retries.policy.backoff={ fixed = "4999ms" }"#]),
        0,
        "one is too many, and waits in the queue"
    );
    assert_eq!(count(&[r#"retries.policy.backoff={ fixed = "4890ms" }"#]), 1, "110 are too many for 100 places");
    assert_eq!(count(&[r#"retries.policy.backoff={ fixed = "4910ms" }"#]), 0, "90 are not, and wait for 90 ms");
    assert_eq!(count(&[r#"retries.policy.jitter="none""#]), 0, "`no-jitter` says that");
    assert_eq!(count(&[r#"services.api.workers="unlimited""#]), 0, "there is no capacity");
    // In an endless queue they all wait, 4.5 s at most.
    let endless = r#"services.api.queue={ limit = "unlimited" }"#;
    assert_eq!(count(&[endless]), 1, "for longer than the timeout");
    assert_eq!(count(&[endless, r#"clients.fleet.calls.api.timeout="5s""#]), 0);
    assert_eq!(count(&[r#"clients.fleet.arrivals={ constant = { rate = 5000 } }"#]), 0, "nobody comes together");
}

/// Base 500 ms, factor 2, +-50 %, cap 5 s after the jitter. (Resilience4j's rule.)
const CUT: &str = r#"
    clients.fleet = { count = 1000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
    services.api = { service_time = "5ms" }
    [retries.policy]
    max_retries = 6
    backoff = { exponential = { base = "500ms", factor = 2.0 } }
    jitter = { spread = 0.5 }
    cap = "5s"
    cap_order = "after_jitter"
"#;

/// Before retry 5 the window is [4 s, 12 s), of which 7/8 are above 5 s; before retry 6 all of it is.
#[test]
fn a_cap_after_the_jitter_makes_a_herd() {
    let [[path, message, figure]] = said("jitter-lost-at-cap", CUT, &[]).try_into().expect("one finding");
    assert_eq!(path, "retries.policy.cap_order");
    assert_eq!(message, "`retries.policy` cuts its jitter off at the cap of 5 s");
    assert_eq!(
        figure,
        "before retry 5 87.5 % of the waits are exactly 5 s, before retry 6 100 %; of 1,000 requests that fail \
         together then at `fleet->api` 875 are back together 5 s later"
    );
    let count = |set: &[&str]| found("jitter-lost-at-cap", CUT, set).len();
    assert_eq!(count(&["retries.policy.max_retries=5"]), 1);
    assert_eq!(count(&["retries.policy.max_retries=4"]), 0, "a quarter of [2 s, 6 s) is at the cap");
    assert_eq!(count(&[r#"retries.policy.cap_order="both""#]), 1, "half of the window around the cap");
    assert_eq!(count(&[r#"retries.policy.cap_order="both""#, r#"retries.policy.jitter="full""#]), 0);
    assert_eq!(count(&[r#"retries.policy.cap_order="before_jitter""#]), 0);
    assert_eq!(count(&[r#"retries.policy.jitter={ spread = 0.0 }"#]), 0, "there is nothing to lose");
    assert_eq!(count(&["clients.fleet.count=1"]), 0, "one is no herd");
    // The shortest waits before retry 5 are 0.25, 0.5, 1 and 2 s, and 4 s for its own.
    assert_eq!(count(&[r#"clients.fleet.calls.api.total_timeout="7750ms""#]), 1);
    assert_eq!(count(&[r#"clients.fleet.calls.api.total_timeout="7749ms""#]), 0, "no call comes to retry 5");
}

/// 10,000 clients are told to come back in 60 s. (After electric-sql/electric, issue 4322.)
#[test]
fn a_word_of_the_server_replaces_jitter() {
    const TOLD: &str = r#"
        clients.fleet = { count = 10000, arrivals = { burst = {} }, calls.server = { retry = "obedient" } }
        services.server = {}
        [retries.obedient]
        max_retries = 3
        backoff = { fixed = "32s" }
        jitter = "full"
        retry_after = { rule = "floor" }
        [faults.restart]
        on = ["server"]
        until = "50s"
        effect = { fail = { error = "rate_limited", retry_after = "60s" } }
    "#;
    let said_of = |set: &[&str]| said("retry-after-replaces-jitter", TOLD, set);
    let [[path, message, figure]] = said_of(&[]).try_into().expect("one finding");
    assert_eq!(path, "retries.obedient.retry_after");
    assert_eq!(
        message,
        "`retries.obedient` waits exactly as long as `server` says, 60 s: the server's delay replaces the jitter"
    );
    assert_eq!(
        figure,
        "the 10,000 requests that are turned away together at `fleet->server` are back in one 100 ms, 60 s later"
    );
    for max in ["6s", "30s"] {
        let jitter = format!(r#"{{ rule = "replace", jitter = {{ uniform = {{ min = "0s", max = "{max}" }} }} }}"#);
        assert!(said_of(&[&format!("retries.obedient.retry_after={jitter}")]).is_empty(), "up to {max} on top");
    }
    let count = |set: &str| said_of(&[set]).len();
    assert_eq!(count(r#"retries.obedient.retry_after.rule="replace""#), 1);
    assert_eq!(count(r#"retries.obedient.retry_after="none""#), 0);
    assert_eq!(count(r#"retries.obedient.backoff={ fixed = "61s" }"#), 0, "some draw more than the server asks for");
    assert_eq!(count(r#"retries.obedient.retry_after.at_most="31s""#), 0, "the server's delay is cut below 32 s");
    let stops = r#"retries.obedient.retry_after={ at_most = "31s", beyond = "stop" }"#;
    assert_eq!(count(stops), 0, "nobody comes back");
    assert_eq!(count(r#"retries.obedient.retry_on=["timeout"]"#), 0, "who is turned away is not tried again");
    assert_eq!(count(r#"clients.fleet.arrivals={ constant = { rate = 10000 } }"#), 0, "they come one by one again");
}

/// 600 timers. (After apache/openwhisk-package-alarms, issue 196.)
const TIMERS: &str = r#"
    clients.timers.count = 600
    clients.timers.arrivals = { periodic = { every = "60s", offset = "0s" } }
    clients.timers.calls.job = { retry = "none" }
    services.job = { service_time = "50ms" }
    retries.jittered = { max_retries = 3, backoff = { exponential = { base = "10s" } }, jitter = "full", cap = "60s" }
"#;
const WHOLE_SECONDS: &str =
    r#"clients.timers.arrivals.periodic.offset={ uniform = { min = "0s", max = "60s", step = "1s" } }"#;

#[test]
fn what_begins_on_the_minute_begins_together() {
    let [[path, message, figure]] = said("synchronised-start", TIMERS, &[]).try_into().expect("one finding");
    assert_eq!(path, "clients.timers.arrivals.periodic.offset");
    assert_eq!(message, "all 600 clients of `clients.timers` begin at the same instant");
    assert_eq!(figure, "600 first attempts in one 100 ms, every 60 s");
    let jittered = r#"clients.timers.calls.job.retry="jittered""#;
    assert_eq!(
        self::figure("synchronised-start", TIMERS, &[jittered]),
        "600 first attempts in one 100 ms, every 60 s; the jitter of their retries does not move them"
    );
    let count = |set: &str| found("synchronised-start", TIMERS, &[set]).len();
    assert_eq!(count(r#"clients.timers.arrivals.periodic.offset={ uniform = { min = "0s", max = "60s" } }"#), 0);
    assert_eq!(count(WHOLE_SECONDS), 0, "`quantised-jitter` says that");
    assert_eq!(count("clients.timers.count=1"), 0);
    assert_eq!(count(r#"clients.timers.arrivals={ burst = {} }"#), 0, "no schedule");
    // 300 workers at 50 ms do 600 within 100 ms.
    assert_eq!(count("services.job.workers=299"), 1);
    assert_eq!(count("services.job.workers=300"), 0);
}

/// 600 timers on 60 seconds are ten each.
#[test]
fn whole_seconds_are_few_moments() {
    let [[path, message, figure]] = said("quantised-jitter", TIMERS, &[WHOLE_SECONDS]).try_into().expect("one finding");
    assert_eq!(path, "clients.timers.arrivals.periodic.offset");
    assert_eq!(message, "the offsets of `clients.timers` are 1 s apart: 60 in a period");
    assert_eq!(figure, "of its 600 clients 10 begin at the same instant on average");
    let count = |set: &[&str]| found("quantised-jitter", TIMERS, set).len();
    let offset = |step| {
        format!(
            r#"clients.timers.arrivals.periodic.offset={{ uniform = {{ min = "0s", max = "2s", step = "{step}" }} }}"#
        )
    };
    assert_eq!(count(&[&offset("100ms")]), 1);
    assert_eq!(count(&[&offset("99ms")]), 0, "those of one value are not apart from those of the next");
    assert_eq!(count(&[WHOLE_SECONDS, "clients.timers.count=60"]), 0, "one at a time");
    // 0 to 59 s are, in a period of 8 s, eight moments; in one of 1,500 ms three: 0, 500 and 1,000 ms.
    let moments = |every: &str| {
        let [[_, message, _]] =
            said("quantised-jitter", TIMERS, &[WHOLE_SECONDS, every]).try_into().expect("one finding");
        message
    };
    let eight = moments(r#"clients.timers.arrivals.periodic.every="8s""#);
    assert!(eight.ends_with(" 8 in a period"), "{eight}");
    let three = moments(r#"clients.timers.arrivals.periodic.every="1500ms""#);
    assert!(three.ends_with(" 3 in a period"), "{three}");
    assert_eq!(count(&[WHOLE_SECONDS, "services.job.workers=5"]), 0, "ten within 100 ms");
    assert_eq!(count(&[WHOLE_SECONDS, "services.job.workers=4"]), 1);
}

/// 1,000 clients, and waits of 1 to 5 whole seconds.
#[test]
fn added_jitter_of_few_values_is_a_few_herds() {
    const GRID: &str = r#"
        clients.fleet = { count = 1000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
        services.api = { service_time = "5ms" }
        [retries.policy]
        max_retries = 2
        backoff = { fixed = "1s" }
        jitter = { add = { uniform = { min = "0s", max = "5s", step = "1s" } } }
        retry_after = { jitter = { uniform = { min = "0s", max = "8s", step = "2s" } }, rule = "ignore" }
        [faults.restart]
        on = ["api"]
        until = "10s"
        effect = { fail = { error = "rate_limited", retry_after = "20s" } }
    "#;
    let [[path, message, figure]] = said("quantised-jitter", GRID, &[]).try_into().expect("one finding");
    assert_eq!(
        (path.as_str(), message.as_str()),
        ("retries.policy.jitter", "`retries.policy.jitter` takes 5 values, 1 s apart")
    );
    assert_eq!(
        figure,
        "of the 1,000 requests that fail together at `fleet->api` 200 come back at the same instant on average, at \
         each value"
    );
    let full = r#"retries.policy.jitter="full""#;
    let told = r#"retries.policy.retry_after.rule="floor""#;
    let [[path, message, _]] = said("quantised-jitter", GRID, &[full, told]).try_into().expect("one finding");
    assert_eq!(path, "retries.policy.retry_after.jitter");
    assert_eq!(message, "`retries.policy.retry_after.jitter` takes 4 values, 2 s apart");
    let unsaid = r#"faults.restart.effect={ fail = { error = "rate_limited" } }"#;
    assert!(found("quantised-jitter", GRID, &[full, told, unsaid]).is_empty(), "nobody says when to come back");
}

/// A wait of 600 ms of a second is more than half; and so is what full jitter may draw of 600 ms.
#[test]
fn a_wait_is_held_against_all_the_time_there_is() {
    const CALL: &str = r#"
        clients.web.arrivals = { constant = { rate = 10 } }
        clients.web.calls.api = { timeout = "300ms", total_timeout = "1s", retry = "slow" }
        services.api = { service_time = "5ms" }
        retries.slow = { max_retries = 2, backoff = { fixed = "600ms" } }
    "#;
    let [[path, message, figure]] = said("long-wait", CALL, &[]).try_into().expect("one finding");
    assert_eq!(path, "clients.web.calls.api.total_timeout");
    assert_eq!(message, "`web->api` may wait 600 ms before retry 1, and has 1 s in all");
    assert_eq!(figure, "such a wait is 60 % of the call's time, and leaves 400 ms at most for all of its attempts");
    let count = |set: &[&str]| found("long-wait", CALL, set).len();
    assert_eq!(count(&[r#"retries.slow.backoff={ fixed = "500ms" }"#]), 0);
    assert_eq!(count(&[r#"retries.slow.jitter="full""#]), 1);
    assert_eq!(count(&[r#"clients.web.calls.api.total_timeout="none""#]), 0);
    assert_eq!(count(&[r#"retries.slow.backoff={ fixed = "1001ms" }"#]), 0, "never begun");
    // With 400 ms for each attempt the next one does not fit.
    assert_eq!(count(&[r#"retries.slow.min_attempt="200ms""#]), 1);
    assert_eq!(count(&[r#"retries.slow.min_attempt="201ms""#]), 0);
    // 0.5, 0.5 and then 0.6 s: on average there is no time left for the third when it comes.
    let third = r#"retries.slow.backoff={ explicit = ["500ms", "500ms", "600ms"] }"#;
    assert_eq!(count(&["retries.slow.max_retries=3", third]), 0);
}

#[test]
fn a_deadline_that_is_passed_on_is_a_time_limit() {
    const CHAIN: &str = r#"
        clients.web.arrivals = { constant = { rate = 10 } }
        clients.web.calls.app = { timeout = "1s", propagate_deadline = true }
        services.app.calls.db = { timeout = "300ms", retry = "slow" }
        services.db = { service_time = "5ms" }
        retries.slow = { max_retries = 2, backoff = { fixed = "600ms" }, jitter = "equal" }
    "#;
    let [[path, message, _]] = said("long-wait", CHAIN, &[]).try_into().expect("one finding");
    assert_eq!(path, "services.app.calls.db.retry");
    assert_eq!(message, "`app->db` may wait 600 ms before retry 1, and has 1 s in all, by its caller's deadline");
}

/// Ten minutes, fivefold each time, and an outage of 1,600 minutes: the fifth wait, of 6,250 minutes (4.34 days), is
/// under way at its end. (After matrix-org/synapse, issue 14513.)
#[test]
fn the_worst_lag_is_the_last_wait() {
    const PATIENT: &str = r#"
        clients.one = { arrivals = { burst = {} }, calls.peer = { retry = "patient" } }
        services.peer = {}
        retries.patient = { max_attempts = "unlimited", backoff = { exponential = { base = "10m", factor = 5.0 } } }
        faults.outage = { on = ["peer"], until = "1600m", effect = "refuse" }
    "#;
    let long = r#"horizon="20000m""#;
    let [[path, message, figure]] = said("uncapped-backoff", PATIENT, &[long]).try_into().expect("one finding");
    assert_eq!(path, "retries.patient.backoff");
    assert_eq!(message, "the waits of `retries.patient` grow without a cap");
    assert_eq!(figure, "after an outage of 26.67 h a client waits for retry 5: the worst lag is that wait, 4.34 d");
    // An attempt at 1,560 minutes, and none before 7,810.
    let figure_of = |set: &[&str]| self::figure("uncapped-backoff", PATIENT, set);
    let ends = |at: &str| figure_of(&[long, &format!(r#"faults.outage.until="{at}""#)]);
    assert!(ends("1560m").ends_with("for retry 4: the worst lag is that wait, 20.83 h"), "{}", ends("1560m"));
    assert!(ends("1561m").ends_with("for retry 5: the worst lag is that wait, 4.34 d"), "{}", ends("1561m"));
    let never = r#"faults.outage.effect={ fail = { probability = 0.5 } }"#;
    let slow = r#"retries.patient.backoff={ exponential = { base = "1s" } }"#;
    assert_eq!(
        figure_of(&[long, never, slow]),
        "retry 18 waits for more than a day: after an outage the worst lag is the last wait",
        "2^17 s are 131,072"
    );
    let linear = r#"retries.patient.backoff={ linear = { step = "100s" } }"#;
    assert!(figure_of(&[long, never, linear]).starts_with("retry 37 waits for more than an hour:"), "3,700 s");
    let count = |set: &[&str]| found("uncapped-backoff", PATIENT, &[&[long], set].concat()).len();
    assert_eq!(count(&[r#"retries.patient.cap="60m""#]), 0);
    assert_eq!(count(&[r#"clients.one.calls.peer.total_timeout="1h""#]), 0);
    assert_eq!(count(&[r#"retries.patient.backoff={ fixed = "10m" }"#]), 0, "it does not grow");
    assert_eq!(count(&[r#"retries.patient.backoff={ linear = { step = "900ms" } }"#]), 0, "57.6 s at the 64th");
    assert_eq!(count(&[r#"retries.patient.backoff={ linear = { step = "1s" } }"#]), 1);
}

/// A limit on attempts limits the last wait: 1, 2, 4, ... 64 s are seven retries.
#[test]
fn the_last_wait_that_is_allowed_counts() {
    const FEW: &str = r#"
        clients.one = { arrivals = { burst = {} }, calls.peer = { timeout = "1s", retry = "patient" } }
        services.peer = { service_time = "5ms" }
        retries.patient = { max_retries = 7, backoff = { exponential = { base = "1s" } }, jitter = "full" }
    "#;
    assert_eq!(
        figure("uncapped-backoff", FEW, &[]),
        "the last retry waits up to 64 s: that is the worst lag after an outage"
    );
    assert!(found("uncapped-backoff", FEW, &["retries.patient.max_retries=6"]).is_empty(), "32 s");
}

/// gRPC's waits are up to 20 % longer than the cap, those of cenkalti/backoff 50 %.
#[test]
fn jitter_after_the_cap_is_longer_than_it() {
    let before = r#"retries.policy.cap_order="before_jitter""#;
    assert_eq!(
        said("jitter-exceeds-cap", CUT, &[before]),
        [[
            "retries.policy.jitter".to_owned(),
            "`retries.policy` may wait longer than its cap of 5 s".to_owned(),
            "the wait before retry 5 may be 7.5 s, 50 % more than 5 s".to_owned(),
        ]]
    );
    let twenty = figure("jitter-exceeds-cap", CUT, &[before, "retries.policy.jitter={ spread = 0.2 }"]);
    assert_eq!(twenty, "the wait before retry 5 may be 6 s, 20 % more than 5 s");
    let endless = r#"retries.policy.jitter={ add = { exponential = { mean = "1s" } } }"#;
    let endless = figure("jitter-exceeds-cap", CUT, &[before, endless]);
    assert_eq!(endless, "what is added to the wait before retry 1 has no upper bound");
    let count = |set: &[&str]| found("jitter-exceeds-cap", CUT, set).len();
    assert_eq!(count(&[]), 0, "the cap is the last word");
    assert_eq!(count(&[before, "retries.policy.jitter={ spread = 0.1 }"]), 0, "a tenth is let be");
    assert_eq!(count(&[before, r#"retries.policy.jitter="full""#]), 0);
    assert_eq!(count(&[before, "retries.policy.max_retries=3"]), 0, "2 s and half of it are below the cap");
}
