//! What is said to be the least and the most, against thousands of requests that draw their waits.

use std::path::Path;

use stormsim::analysis::Fate;
use stormsim::scenario::{Overrides, Scenario};

use crate::Both;

/// Requests of so many clients, all of whose attempts fail in this way, with these settings of the call and this
/// policy.
fn of_many(clients: u32, call: &str, policy: &str, more: &str) -> Both {
    let text = format!(
        "version = 1\nname = \"many\"\nreplicas = 1\nhorizon = \"1h\"\n[clients.app]\ncount = {clients}\n\
         arrivals = {{ burst = {{ at = \"50ms\" }} }}\ncalls.server = {{ retry = \"policy\" {call} }}\n\
         [services.server]\n{more}\n[retries.policy]\n{policy}\n"
    );
    let scenario = Scenario::parse("many", &text, Path::new(""), &Overrides::default());
    Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")))
}

const REFUSE: &str = "[faults.down]\non = [\"server\"]\neffect = \"refuse\"";

const LATE: &str = "[faults.down]\non = [\"server\"]\neffect = { fail = { delay = \"60ms\" } }";

const SILENT: &str = "[faults.down]\non = [\"app->server\"]\neffect = { loss = { probability = 1.0 } }";

const HOLE: &str = "[faults.down]\non = [\"app->server\"]\neffect = \"blackhole\"";

/// Calls, policies and faults, and which of the courses tells how they go.
const CASES: [(&str, &str, &str); 18] = [
    (", total_timeout = \"250ms\"", DEADLINE, LATE),
    (", total_timeout = \"250ms\"", DEADLINE, REFUSE),
    (", total_timeout = \"400ms\", timeout = \"90ms\"", DEADLINE, SILENT),
    (", total_timeout = \"400ms\", timeout = \"90ms\", connect_timeout = \"50ms\"", DEADLINE, HOLE),
    (", network = { uniform = { min = \"14ms\", max = \"15ms\" } }", "max_retries = 2", REFUSE),
    (", network = \"300ms\", connect_timeout = \"200ms\"", "max_retries = 2", REFUSE),
    ("", "max_retries = 3\nbackoff = { decorrelated = { base = \"10ms\" } }\ncap = \"60ms\"", REFUSE),
    ("", "max_retries = 3\nimmediate = 1\nfloor = \"15ms\"\njitter = \"full\"\nbackoff = { fixed = \"40ms\" }", REFUSE),
    ("", "max_retries = 2\njitter = { upward = 0.5 }\nbackoff = { linear = { step = \"40ms\" } }", REFUSE),
    ("", "max_retries = 1\ngranularity = \"1ms\"\njitter = \"full\"\nbackoff = { fixed = \"40ms\" }", REFUSE),
    ("", "max_retries = 1\nbackoff = { decorrelated_v2 = { base = \"20ms\" } }", REFUSE),
    ("", ELAPSED, LATE),
    (
        "",
        "max_retries = 1\ncap = \"50ms\"\ncap_order = \"narrow\"\njitter = { spread = 0.5 }\nbackoff = { fixed = \"60ms\" }",
        REFUSE,
    ),
    ("", "max_retries = 3\nretry_on = [\"unavailable\"]", REFUSE),
    (", timeout = \"90ms\"", "max_retries = 3\nretry_on = [\"unavailable\"]", SILENT),
    (", timeout = \"50ms\"", "max_retries = 3\nretry_on = [\"unavailable\"]", LATE),
    (", hedge = { after = \"25ms\", copies = 2 }", "max_retries = 1", LATE),
    (", connect_timeout = \"80ms\", hedge = { after = \"25ms\", copies = 2 }", "max_retries = 1", HOLE),
];

/// Retries that begin within 200 ms, and last for 60 ms more.
const ELAPSED: &str = "max_attempts = \"unlimited\"\nmax_elapsed = \"200ms\"\njitter = \"full\"\n\
                       backoff = { fixed = \"50ms\" }";

const DEADLINE: &str = "max_attempts = 5\nmin_attempt = \"30ms\"\njitter = \"full\"\n\
                        backoff = { exponential = { base = \"20ms\", factor = 2.0 } }";

/// No request makes fewer or more attempts than is said, and none takes longer. Of 20,000 some come near to that: of
/// waits that are uniform the longest 2 % are drawn often enough.
#[test]
fn no_request_is_outside_of_what_is_said() {
    const CLIENTS: u32 = 20_000;
    for (call, policy, fault) in CASES {
        let both = of_many(CLIENTS, call, policy, fault);
        let explained = both.call("base", "app->server");
        let course = match fault {
            REFUSE => &explained.refused,
            LATE => &explained.failing,
            SILENT => &explained.silent,
            _ => explained.unreachable.as_ref().expect("it has a connect timeout"),
        };
        let said = format!("{call} {policy} {fault}: {course:?}");
        let attempts = both.metric("base", "attempts") - both.metric("base", "hedges");
        let mean = attempts / f64::from(CLIENTS);
        let [fewest, most] = [course.fewest, course.most].map(|count| count.expect("it is followed") as f64);
        assert!(fewest <= mean && mean <= most, "{mean} {said}");
        assert!(fewest < most || mean == most, "{mean} {said}");
        let longest_ms = both.metric("base", "give_up_max_ms");
        let end_ms = course.given_up.expect("it has an end").as_ms();
        assert!(longest_ms <= end_ms && longest_ms >= 0.98 * end_ms, "{longest_ms} {said}");
        assert!(explained.worst_s.is_none_or(|worst| longest_ms <= worst * 1e3), "{longest_ms} {explained:?}");
    }
}

/// Peaks where waits are cut off by a deadline, begin in the middle of a window, are no whole milliseconds, or come
/// after ways. The densest window of a run has more by chance: one of up to ten candidates, up to four standard
/// deviations.
#[test]
fn peaks_are_those_of_runs() {
    const CLIENTS: u32 = 20_000;
    let cases = [
        (", total_timeout = \"250ms\"", DEADLINE),
        (", network = \"7ms\", total_timeout = \"400ms\"", DEADLINE),
        ("", "max_retries = 40\njitter = \"equal\"\nbackoff = { fixed = \"3333us\" }"),
        (", network = \"333us\"", "max_retries = 6\njitter = { spread = 0.3 }\nbackoff = { fixed = \"77700us\" }"),
        ("", "max_retries = 2\njitter = { add = { uniform = { min = \"0s\", max = \"170ms\" } } }"),
        (
            "",
            "max_retries = 3\nimmediate = 1\nfloor = \"90ms\"\njitter = \"full\"\nbackoff = { linear = { step = \"150ms\" } }",
        ),
        ("", "max_retries = 3\nmax_elapsed = \"350ms\"\njitter = { upward = 0.7 }\nbackoff = { fixed = \"130ms\" }"),
    ];
    for (call, policy) in cases {
        let both = of_many(CLIENTS, call, policy, REFUSE);
        let told = both.call("base", "app->server").retry_peak.expect("it has a simple form");
        let run = both.metric("base", "retry_peak");
        // A client that is there several times counts as often: at worst all of its retries together.
        let chance = (told * (told / f64::from(CLIENTS)).max(1.0)).sqrt();
        assert!(
            (told * 0.99 - 3.0 * chance..told * 1.01 + 4.0 * chance).contains(&run),
            "{call} {policy}: {told} {run}"
        );
    }
}

/// Who has worked for longer than it has time makes no attempt.
#[test]
fn who_has_no_time_makes_no_attempt() {
    let text = "version = 1\nname = \"late\"\nreplicas = 1\n[clients.app]\narrivals = { burst = { at = \"0s\" } }\n\
                calls.api = { timeout = \"300ms\", propagate_deadline = true, reserve = \"200ms\" }\n\
                [services.api]\nservice_time = \"150ms\"\ncalls.db = {}\n[services.db]\nservice_time = \"1ms\"\n";
    let scenario = Scenario::parse("late", text, Path::new(""), &Overrides::default());
    let both = Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")));
    let call = both.call("base", "api->db");
    assert_eq!((call.inherited_s, call.worst_s), (Some(0.0), Some(0.0)));
    assert_eq!((call.refused.most, call.silent.most, call.success.attempts), (Some(0), Some(0), Some(0)));
    let path = &both.explanation("base").paths[0];
    assert_eq!((path.attempts, path.hops[1].without_retries), (Some(0), Some(0)));
    assert_eq!(both.of_service("base", "db", "arrivals"), 0.0);
}

/// What takes an unknown time for an answer is given up at its timeout: so its caller's answer has a longest time.
#[test]
fn a_timeout_bounds_what_has_no_bound() {
    let text = "version = 1\nname = \"tail\"\nreplicas = 1\n\
                clients.app = { arrivals = { burst = { at = \"0s\" } }, calls.api = {} }\n\
                services.api = { service_time = \"10ms\", calls.db = { timeout = \"50ms\", retry = \"twice\" } }\n\
                services.db = { service_time = { exponential = { mean = \"1h\" } } }\n\
                retries.twice = { max_attempts = 2 }\n";
    let scenario = Scenario::parse("tail", text, Path::new(""), &Overrides::default());
    let both = Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")));
    assert_eq!(both.call("base", "app->api").answer_s, Some(0.11));
    assert_eq!(both.call("base", "api->db").answer_s, None);
    assert_eq!(both.call("base", "api->db").failing, both.call("base", "api->db").silent);
    assert_eq!(both.metric("base", "give_up_max_ms"), 110.0);
}

/// A scenario with these tables.
fn both(tables: &str) -> Both {
    let text = format!("version = 1\nname = \"tables\"\nreplicas = 1\nhorizon = \"1h\"\n{tables}");
    let scenario = Scenario::parse("tables", &text, Path::new(""), &Overrides::default());
    Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")))
}

/// The api is told 300 ms: then its call ends, and what would be made in its place has no time.
#[test]
fn an_answer_keeps_the_deadline_of_its_callee() {
    let both = both(
        "clients.app.arrivals = { burst = { at = \"0s\" } }\n\
         clients.app.calls.api = { timeout = \"1s\", propagate_deadline = true, reserve = \"700ms\" }\n\
         services.api.calls.db = { if_failed = \"spare\" }\nservices.api.calls.spare = { to = \"other\" }\n\
         services.db = {}\nservices.other = {}\n\
         faults.down = { on = [\"db\", \"other\"], effect = { fail = { delay = \"10s\" } } }\n",
    );
    assert_eq!(both.call("base", "app->api").answer_s, Some(0.3));
    assert_eq!(both.of_service("base", "api", "sojourn_mean_ms"), 300.0);
}

/// Three attempts, between which the server asks for a minute each time; and attempts that it lets come back sooner
/// than the policy would.
#[test]
fn a_server_may_ask_for_longer_or_shorter_waits() {
    let asks = |rule: &str, delay: &str, limit: &str| {
        let call = of_many(
            1,
            limit,
            &format!("max_attempts = 3\nbackoff = {{ fixed = \"600ms\" }}\nretry_after = {{ rule = \"{rule}\" }}"),
            &format!("[faults.full]\non = [\"server\"]\neffect = {{ fail = {{ retry_after = \"{delay}\" }} }}"),
        );
        let explained = call.call("base", "app->server").clone();
        (explained, call.metric("base", "attempts"), call.metric("base", "give_up_max_ms"))
    };
    let (longer, _, give_up_ms) = asks("floor", "60s", ", timeout = \"100ms\"");
    assert_eq!((longer.refused.given_up.map(|end| end.as_ms()), give_up_ms), (Some(120_000.0), 120_000.0));
    assert_eq!(longer.worst_s, Some(120.3));
    let (shorter, attempts, _) = asks("replace", "10ms", ", total_timeout = \"1s\"");
    assert_eq!((shorter.failing.fewest, shorter.failing.most, attempts), (Some(2), Some(3), 3.0));
    assert!(shorter.unfit.iter().all(|unfit| unfit.attempts_are == Fate::Silent), "{:?}", shorter.unfit);
}

/// What others are told matters to nobody who is not told it.
#[test]
fn an_error_elsewhere_says_nothing_to_a_call() {
    let both = both(
        "[clients.app]\narrivals = { burst = { at = \"0s\" } }\ncalls.db = { retry = \"p\", weight = 1 }\n\
         calls.limited = { weight = 1 }\n[services]\ndb = {}\nlimited = {}\n\
         [retries.p]\nmax_attempts = 3\nbackoff = { fixed = \"1s\" }\nretry_after = { rule = \"floor\" }\n\
         [faults.full]\non = [\"limited\"]\neffect = { fail = { retry_after = \"60s\" } }\n",
    );
    assert!(!both.call("base", "app->db").minds_servers);
}

/// Of two copies beside the first one may be left out, because another call's is under way: so the attempt is over
/// sooner, and more of them fit.
#[test]
fn hedges_that_are_left_out_leave_time_for_more_attempts() {
    let call = ", total_timeout = \"200ms\", hedge = { after = \"25ms\", copies = 2, in_flight = 1 }";
    let both = of_many(100, call, "max_attempts = 5", LATE);
    let course = &both.call("base", "app->server").failing;
    assert_eq!((course.fewest, course.most), (Some(2), Some(4)));
    let sent = both.metric("base", "attempts") - both.metric("base", "hedges");
    assert!((200.0..=400.0).contains(&sent) && sent > 200.0, "{sent}");
}

/// 30 ms are over before a hedge would be sent after 100 ms; one of two is sent before 150 ms are.
#[test]
fn hedges_are_only_sent_while_somebody_waits() {
    for (timeout, sent) in [("30ms", 0), ("100ms", 0), ("150ms", 1), ("201ms", 2)] {
        let call = format!(", timeout = \"{timeout}\", hedge = {{ after = \"100ms\", copies = 2 }}");
        let both = of_many(1, &call, "max_attempts = 1", SILENT);
        assert_eq!(both.explanation("base").paths[0].hops[0].hedges, sent, "{timeout}");
        assert_eq!(both.metric("base", "hedges"), f64::from(sent), "{timeout}");
    }
}

/// `aside` is called by nobody, and `never` by nobody who does: what they would tell the db does not matter.
#[test]
fn callers_that_nobody_calls_do_not_matter() {
    let both = both(
        "clients.app.arrivals = { burst = { at = \"0s\" } }\n\
         clients.app.calls.api = { timeout = \"300ms\", propagate_deadline = true }\n\
         services.api.calls = { db = { propagate_deadline = true }, never = { probability = 0.0 } }\n\
         services.never.calls.db = {}\nservices.aside.calls.db = {}\nservices.db.calls.disk = {}\n\
         services.disk = {}\nfaults.hole = { on = [\"db->disk\"], effect = \"blackhole\" }\n",
    );
    assert_eq!(both.call("base", "db->disk").inherited_s, Some(0.3));
    let ends: Vec<&str> =
        both.explanation("base").paths.iter().map(|path| path.hops.last().expect("a call").call.as_str()).collect();
    assert_eq!(ends, ["db->disk"]);
}

/// Who retries timeouts only and is refused at once makes one attempt, and three where nobody answers.
#[test]
fn attempts_are_counted_by_what_is_retried_and_has_time() {
    let timeouts = "max_attempts = 10\nretry_on = [\"timeout\"]";
    let both = of_many(1, ", timeout = \"100ms\", total_timeout = \"250ms\"", timeouts, SILENT);
    assert_eq!(both.call("base", "app->server").failing.most, Some(1));
    assert_eq!(both.explanation("base").paths[0].attempts, Some(3));
    assert_eq!(both.metric("base", "attempts"), 3.0);
    let waits = "max_attempts = 10\nbackoff = { fixed = \"200ms\" }";
    let both = of_many(1, ", total_timeout = \"250ms\"", waits, REFUSE);
    assert_eq!(both.explanation("base").services[0].clients[0].at_most, Some(2.0));
    assert_eq!(both.metric("base", "attempts"), 2.0);
}

/// A `slow` fault may make a service faster: so its calls may have more time left than without it.
#[test]
fn what_is_made_faster_leaves_more_time() {
    let both = both(
        "clients.app.arrivals = { burst = { at = \"0s\" } }\n\
         clients.app.calls.api = { timeout = \"300ms\", propagate_deadline = true }\n\
         services.api = { service_time = \"200ms\", calls.db = {} }\nservices.db = {}\n\
         faults.fast = { on = [\"api\"], effect = { slow = { factor = 0.5 } } }\n\
         faults.hole = { on = [\"api->db\"], effect = \"blackhole\" }\n",
    );
    assert_eq!(both.call("base", "api->db").inherited_s, Some(0.2));
}
