//! Where rules were once silent, or cried wolf: each beside what a run makes of the same scenario.

use std::path::Path;

use stormsim::metrics::Outcome;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;

use crate::found;

/// The figures of what a rule finds.
fn figures(rule: &str, text: &str, set: &[&str]) -> Vec<String> {
    found(rule, text, set).into_iter().map(|finding| finding.figure).collect()
}

/// What a run of it comes to.
fn run(text: &str, set: &[&str]) -> Outcome {
    let text = format!("version = 1\nname = \"example\"\nhorizon = \"60s\"\n{text}");
    let set = set.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse("example", &text, Path::new(""), &Overrides { set, ..Overrides::default() });
    let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
    simulate(&scenario.variants()[0].1, 1, 0)
}

/// Payments are noted in a ledger, and only what was turned away is tried again.
const DOOR: &str = r#"
clients.shop.arrivals = { constant = { rate = 100 } }
clients.shop.calls.payments.retry = "door"
services.payments = { service_time = "5ms", writes = true }
services.ledger = {}
retries.door = { max_attempts = 3, backoff = { fixed = "50ms" }, retry_on = ["refused", "overloaded", "rate_limited"] }
"#;

/// What is turned away was not done, unless by what the service calls, or by a fault that strikes after the work.
#[test]
fn what_is_turned_away_further_down_was_done() {
    let calls = "services.payments.calls.ledger={}";
    let full = |at: &str| {
        format!(r#"faults.full={{ on = ["{at}"], until = "9s", effect = {{ fail = {{ error = "overloaded" }} }} }}"#)
    };
    let after =
        r#"faults.full={ on = ["payments"], until = "9s", effect = { fail = { error = "overloaded", work = true } } }"#;
    let other =
        r#"faults.full={ on = ["payments"], until = "9s", effect = { fail = { error = "invalid", work = true } } }"#;
    let [at_door, below] = [full("payments"), full("ledger")];
    for (set, is_found) in
        [(vec![at_door.as_str()], false), (vec![calls, &below], true), (vec![after], true), (vec![other], false)]
    {
        assert_eq!(!figures("retry-writes", DOOR, &set).is_empty(), is_found, "{set:?}");
        assert_eq!(run(DOOR, &set).services[0].duplicate_effects > 0, is_found, "{set:?}");
    }
}

/// Errors that come at once are tried again after 5 s, which is longer than the store knows them.
#[test]
fn a_store_may_forget_before_errors_are_tried_again() {
    let text = r#"
clients.shop.idempotency = "key"
clients.shop.arrivals = { constant = { rate = 10 } }
clients.shop.calls.payments = { timeout = "1s", retry = "again" }
services.payments = { service_time = "5ms", writes = true, idempotency_store = { ttl = "1s" } }
retries.again = { max_attempts = 2, backoff = { fixed = "5s" }, retry_on = ["unavailable"] }
faults.after = { on = ["payments"], until = "9s", effect = { fail = { error = "unavailable", work = true } } }
"#;
    let kept = r#"services.payments.idempotency_store.ttl="10s""#;
    for (set, is_found) in [(&[][..], true), (&[kept][..], false)] {
        assert_eq!(!figures("retry-writes", text, set).is_empty(), is_found, "{set:?}");
        assert_eq!(run(text, set).services[0].duplicate_effects > 0, is_found, "{set:?}");
    }
}

/// A client that tries again at once.
const EAGER: &str = r#"
clients.agent = { arrivals = { closed = { think = "1s" } }, calls.api = { timeout = "1s", retry = "eager" } }
services.api = {}
retries.eager = { max_attempts = "unlimited" }
faults.outage = { on = ["api"], from = "10s", until = "40s", effect = { fail = { delay = "5ms" } } }
"#;

fn breaker(position: &str) -> String {
    format!(
        r#"clients.agent.calls.api.breaker={{ trip = {{ consecutive = 5 }}, open_for = "5s", position = "{position}" }}"#
    )
}

/// Only a breaker that is asked before each attempt ends a loop of attempts: 30 s of 5 ms each are 6,000 of them.
#[test]
fn a_breaker_outside_lets_a_loop_go_on() {
    for (position, is_found) in [("outside", true), ("inside", false)] {
        let set = [&*breaker(position)];
        assert_eq!(!figures("hot-loop", EAGER, &set).is_empty(), is_found, "{position}");
        assert_eq!(run(EAGER, &set).all_calls.attempts > 6_000, is_found, "{position}");
    }
}

/// Nor does it end a storm of timeouts, once every client has a call under way.
#[test]
fn a_breaker_outside_lets_a_storm_go_on() {
    let text = r#"
clients.web = { count = 100, arrivals = { closed = { think = "1s" } }, calls.db = { timeout = "100ms", retry = "again" } }
services.db = { workers = 4, service_time = "25ms" }
retries.again = { max_attempts = "unlimited", backoff = { fixed = "50ms" } }
"#;
    let breaker =
        r#"clients.web.calls.db.breaker={ trip = { consecutive = 5 }, open_for = "5s", position = "outside" }"#;
    let inside = breaker.replace("outside", "inside");
    assert_eq!(figures("unbounded-fifo", text, &[breaker]).len(), 1);
    assert_eq!(figures("unbounded-fifo", text, &[&inside]), [""; 0]);
    assert_eq!(figures("unbounded-fifo", text, &[breaker, "retries.again.max_attempts=5"]), [""; 0], "calls end");
}

/// Calls that go on until they succeed do not fail with what is tried again.
#[test]
fn calls_that_never_end_are_never_counted() {
    let outside = breaker("outside");
    let calls = r#"clients.agent.calls.api.breaker.counts="calls""#;
    let counted = |kind: &str| format!("clients.agent.calls.api.breaker.failure_on=[\"{kind}\"]");
    let [unavailable, internal] = ["unavailable", "internal"].map(counted);
    let bug = r#"faults.outage.effect={ fail = { error = "internal" } }"#;
    let limit = "retries.eager.max_attempts=50";
    for (set, is_found) in [
        (vec![calls, &unavailable], true),
        (vec![calls, &internal, bug], false),
        (vec![r#"clients.agent.calls.api.breaker.counts="attempts""#, &unavailable], false),
        (vec![calls, &unavailable, limit], false),
    ] {
        let set: Vec<&str> = [&*outside].into_iter().chain(set).collect();
        assert_eq!(!figures("breaker-never-opens", EAGER, &set).is_empty(), is_found, "{set:?}");
        assert_eq!(run(EAGER, &set).calls[0].protection.breaker_opened == 0, is_found, "{set:?}");
    }
}

/// A loop is not hot if its callee says when to come back and is heard, nor if there is time for a few attempts only.
#[test]
fn a_loop_that_is_slowed_down_is_not_hot() {
    let told = r#"faults.outage.effect={ fail = { error = "rate_limited", delay = "5ms", retry_after = "10s" } }"#;
    let heard = r#"retries.eager.retry_after={ rule = "floor" }"#;
    let most = |set: &[&str]| run(EAGER, set).all_calls.attempts;
    assert_eq!(figures("hot-loop", EAGER, &[told]).len(), 1, "nobody listens");
    assert_eq!(figures("hot-loop", EAGER, &[told, heard]), [""; 0]);
    assert!(most(&[told]) > 6_000 && most(&[told, heard]) < 100);
    let few = r#"clients.agent.calls.api.total_timeout="40ms""#;
    let many = r#"clients.agent.calls.api.total_timeout="60ms""#;
    assert_eq!(figures("hot-loop", EAGER, &[few]), [""; 0], "8 attempts of 5 ms");
    assert_eq!(
        figures("hot-loop", EAGER, &[many]),
        ["while `faults.outage` fails `agent->api`, one request makes 12 attempts within 60 ms"]
    );
}

/// Of two callers one passes a deadline on: the calls made for it may end with it.
#[test]
fn one_deadline_is_enough_for_a_breaker_to_open() {
    let text = r#"
clients.a = { arrivals = { constant = { rate = 10 } }, calls.b = { timeout = "100ms", propagate_deadline = true } }
clients.z = { arrivals = { constant = { rate = 10 } }, calls.b = { timeout = "10s" } }
services.b.calls.c.timeout = "2s"
services.b.calls.c.breaker = { trip = { consecutive = 1 }, open_for = "1s", failure_on = ["deadline"] }
services.c = {}
faults.slow = { on = ["c"], from = "10s", until = "20s", effect = { slow = { add = "300ms" } } }
"#;
    let kept = "clients.a.calls.b.propagate_deadline=false";
    for (set, never) in [(&[][..], false), (&[kept][..], true)] {
        assert_eq!(!figures("breaker-never-opens", text, set).is_empty(), never, "{set:?}");
        let opened: u64 = run(text, set).calls.iter().map(|call| call.protection.breaker_opened).sum();
        assert_eq!(opened == 0, never, "{set:?}");
        let by_one = figures("breaker-opens-on-one-call", text, set);
        assert_eq!(by_one.is_empty(), never, "one rule does not say what the other says is not so: {set:?}");
    }
}

/// One caller, one call after another, with up to five attempts that spread over 1.5 s.
const SPREAD: &str = r#"
clients.app.arrivals = { closed = { think = "1ms" } }
clients.app.calls.server.timeout = "1s"
clients.app.calls.server.retry = "policy"
clients.app.calls.server.breaker = { trip = { count = { failures = 6, window = "1s" } }, open_for = "5s" }
services.server = {}
retries.policy = { max_attempts = 5, backoff = { exponential = { base = "100ms" } } }
faults.down = { on = ["server"], from = "10s", effect = { fail = { delay = "10ms" } } }
"#;

/// Calls that end after one attempt follow on each other faster than a call's attempts do.
#[test]
fn a_window_is_filled_by_calls_that_end_early() {
    let bug = r#"faults.down.effect={ fail = { error = "internal", delay = "10ms" } }"#;
    let budget = "retries.policy.budget={ token_bucket = { max = 10, per_success = 0.1 } }";
    for (set, never) in [(&[][..], true), (&[bug][..], false), (&[budget][..], false)] {
        assert_eq!(!figures("breaker-window-short", SPREAD, set).is_empty(), never, "{set:?}");
        assert_eq!(run(SPREAD, set).calls[0].protection.breaker_opened == 0, never, "{set:?}");
    }
}

/// Three tokens are four attempts.
#[test]
fn a_budget_keeps_one_call_from_opening_a_breaker() {
    let text = r#"
clients.app.arrivals = { burst = {} }
clients.app.calls.server.retry = "policy"
clients.app.calls.server.breaker = { trip = { count = { failures = 6, window = "10s" } }, open_for = "5s" }
services.server = {}
retries.policy = { max_attempts = 8, backoff = { fixed = "50ms" } }
faults.down = { on = ["server"], effect = { fail = {} } }
"#;
    let tokens = |max: u32| format!("retries.policy.budget={{ token_bucket = {{ max = {max}, per_success = 0.1 }} }}");
    for (max, is_found) in [(3, false), (4, false), (5, true), (6, true)] {
        let set = [&*tokens(max)];
        assert_eq!(!figures("breaker-opens-on-one-call", text, &set).is_empty(), is_found, "{max}");
        assert_eq!(run(text, &set).calls[0].protection.breaker_opened > 0, is_found, "{max}");
    }
    let five = found("breaker-opens-on-one-call", text, &[&tokens(5)]).swap_remove(0);
    assert!(five.message.ends_with("and a call makes 6 before its budget refuses one"), "{}", five.message);
    let at_once = "retries.policy.budget={ concurrency = { share = 0.2, minimum = 1 } }";
    assert_eq!(figures("breaker-opens-on-one-call", text, &[at_once]).len(), 1, "one after another are granted");
}

/// Room for 500 x 3 retries at once: 800 per second take it up if each takes 1.875 s. A reserve of 10 tokens every 10 s
/// in each of 500 states are 500 per second.
#[test]
fn budgets_that_come_back_are_not_used_up() {
    let text = r#"
clients.fleet = { count = 500, arrivals = { constant = { rate = 400 } }, calls.api = { timeout = "1s", retry = "sdk" } }
services.api = { workers = 10, service_time = "20ms" }
retries.sdk = { max_attempts = 3, backoff = { exponential = { base = "100ms" } }, jitter = "full" }
"#;
    let figure = |budget: &str, set: &[&str]| {
        let budget = format!("retries.sdk.budget={{ {budget} }}");
        let set: Vec<&str> = set.iter().copied().chain([budget.as_str()]).collect();
        figures("budget-floor", text, &set).swap_remove(0)
    };
    let concurrency = "concurrency = { share = 0.2, minimum = 3 }";
    assert_eq!(
        figure(concurrency, &[]),
        "an outage of `api` asks for up to 800 retries per second, and as long as it lasts there is room for all of \
         them at once, unless one takes longer than 1.875 s, its wait included; `api` can do 500 per second"
    );
    let closed = [r#"clients.fleet.arrivals={ closed = { think = "0s" } }"#, "clients.fleet.count=600"];
    assert_eq!(
        figure(concurrency, &closed),
        "in an outage of `api`, and as long as it lasts, 600 retries may be under way at once; `api` can do 500 per \
         second"
    );
    let windowed = r#"windowed_ratio = { ratio = 0.2, ttl = "10s", min_per_second = 1, deposit = "success" }"#;
    assert_eq!(
        figure(windowed, &[]),
        "an outage of `api` asks for up to 800 retries per second, and as long as it lasts 500 of them are granted for \
         nothing; `api` can do 500 per second"
    );
}

/// 100 per second, of which a twentieth fails: eight in a second come by chance in 12.8 % of the seconds.
#[test]
fn chance_opens_a_breaker_above_the_mean() {
    let text = r#"
clients.web.arrivals = { poisson = { rate = 100 } }
clients.web.calls.api.timeout = "1s"
clients.web.calls.api.breaker = { trip = { count = { failures = 8, window = "1s" } }, open_for = "5s" }
services.api = {}
faults.bad-host = { on = ["api"], effect = { fail = { probability = 0.05 } } }
"#;
    let trip = |trip: &str| format!("clients.web.calls.api.breaker.trip={{ {trip} }}");
    assert_eq!(
        figures("breaker-below-error-rate", text, &[]),
        ["in normal operation it opens by chance, every 12.81 s or more often in the mean, and then turns everything \
          away for 5 s"]
    );
    for (set, is_found) in [
        (r#"count = { failures = 8, window = "1s" }"#, true),
        (r#"count = { failures = 25, window = "1s" }"#, false),
        (r#"ratio = { failures = 0.1, calls = 50, min_calls = 50 }"#, true),
        (r#"ratio = { failures = 0.3, calls = 50, min_calls = 50 }"#, false),
    ] {
        let set = [&*trip(set)];
        assert_eq!(!figures("breaker-below-error-rate", text, &set).is_empty(), is_found, "{set:?}");
        // In 60 s, one in each 12.81 s: four of them at the least.
        let opened = run(text, &set).calls[0].protection.breaker_opened;
        assert_eq!(opened >= 4, is_found, "{set:?}: {opened}");
    }
}

/// A store knows what is done again by its key.
#[test]
fn only_a_store_that_gets_keys_spares_cancellation() {
    let text = r#"
clients.web = { arrivals = { constant = { rate = 100 } }, calls.db = { timeout = "100ms", total_timeout = "1s", retry = "again" } }
services.db = { workers = 16, service_time = { exponential = { mean = "40ms" } }, idempotency_store = { ttl = "1h" } }
retries.again = { max_attempts = 3, backoff = { fixed = "50ms" }, jitter = "full" }
"#;
    let keys = |keys: &str| figures("no-cancellation", text, &[&format!("clients.web.idempotency=\"{keys}\"")]).len();
    assert_eq!(figures("no-cancellation", text, &[]).len(), 1);
    assert_eq!([keys("key"), keys("key_per_attempt")], [0, 1]);
    // Further down a key of an attempt is the same for all attempts; but some clients may send none.
    let further = r#"
clients.web = { idempotency = "key_per_attempt", arrivals = { constant = { rate = 100 } }, calls.app = {} }
clients.job = { idempotency = "key", arrivals = { constant = { rate = 1 } }, calls.app = {} }
services.app.calls.db = { timeout = "100ms", total_timeout = "1s", retry = "again" }
services.db = { workers = 16, service_time = { exponential = { mean = "40ms" } }, idempotency_store = { ttl = "1h" } }
retries.again = { max_attempts = 3, backoff = { fixed = "50ms" }, jitter = "full" }
"#;
    assert_eq!(figures("no-cancellation", further, &[]), [""; 0]);
    assert_eq!(figures("no-cancellation", further, &[r#"clients.job.idempotency="none""#]).len(), 1);
}
