//! Rules about time limits.

use crate::found;

/// What a rule says of a scenario, with these settings.
fn said(rule: &str, text: &str, set: &[&str]) -> Vec<String> {
    found(rule, text, set).into_iter().map(|finding| format!("{}; {}", finding.message, finding.figure)).collect()
}

const TOTAL: &str = r#"
clients.app = { arrivals = { burst = {} }, calls.server = { total_timeout = "2s", retry = "policy" } }
services.server = { service_time = "7s" }
retries.policy = { max_attempts = 4 }
"#;

/// A total of 2 s, four attempts and no limit per try. (After istio/istio, issue 21137.)
#[test]
fn a_try_that_may_take_the_whole_time_leaves_none_for_retries() {
    let uses_up = |set: &[&str]| said("try-uses-up-total", TOTAL, set);
    let plain = uses_up(&[]);
    assert_eq!(
        plain,
        [
            "`app->server` is allowed 4 attempts, but for what gets no answer retries can never run: no per-try limit below \
          the total of 2 s; a request that `server` does not answer is sent once and takes up to 2 s"
        ]
    );
    let timeout = |time: &str| format!(r#"clients.app.calls.server.timeout="{time}""#);
    assert_eq!(uses_up(&[&timeout("2s")]), plain, "an attempt that ends with its call leaves no time");
    assert_eq!(uses_up(&[&timeout("1999ms")]), [""; 0], "without a wait there is a millisecond for a second attempt");
    let wait = r#"retries.policy.backoff={ fixed = "200ms" }"#;
    let late = uses_up(&[&timeout("1900ms"), wait]);
    assert!(late.len() == 1 && late[0].contains("the per-try limit of 1.9 s leaves no room for another"), "{late:?}");
    assert_eq!(uses_up(&[&timeout("1800ms"), wait]), [""; 0], "a second attempt begins when the time is over");
    assert_eq!(uses_up(&[r#"retries.policy.retry_on=["unavailable"]"#]), [""; 0], "retries are for errors only");
    assert_eq!(uses_up(&[r#"clients.app.calls.server.connect_timeout="200ms""#]), [""; 0], "or for connections");
    assert_eq!(uses_up(&["retries.policy.max_attempts=1"]), [""; 0]);
}

const HANGING: &str = r#"
clients.web = { arrivals = { constant = { rate = 100 } }, calls.app = { timeout = "1s" } }
services.app = { workers = 64, instances = 2, calls.db = {} }
services.db = { service_time = "5ms" }
"#;

#[test]
fn something_must_end_an_attempt() {
    let endless = |set: &[&str]| said("no-timeout", HANGING, set);
    let plain = endless(&[]);
    assert_eq!(plain.len(), 1, "{plain:?}");
    assert!(plain[0].starts_with("`app->db` has no `timeout`, and there is no total time limit"), "{plain:?}");
    assert!(plain[0].ends_with("all workers of an instance of `app` are held for good by so many requests: 64"));
    let pool = endless(&["services.app.calls.db.pool={ size = 10 }"]);
    assert!(
        pool[0].ends_with("all slots of the pool of an instance of `app` are held for good by so many requests: 10")
    );
    let gives_back = endless(&["services.app.holds_worker=false"]);
    assert!(gives_back[0].ends_with("100 more requests wait for ever with each second"), "{gives_back:?}");
    assert_eq!(endless(&[r#"services.app.calls.db.connect_timeout="100ms""#]).len(), 1, "it was connected");
    for ended in [
        r#"services.app.calls.db.timeout="1s""#,
        r#"services.app.calls.db.total_timeout="1s""#,
        "clients.web.calls.app.propagate_deadline=true",
        r#"services.app.cancel="running""#,
    ] {
        assert_eq!(endless(&[ended]), [""; 0], "{ended}");
    }
    let above = endless(&[r#"services.app.cancel="running""#, r#"clients.web.calls.app.timeout="none""#]);
    assert_eq!(above.len(), 2, "nobody gives the caller up: {above:?}");
}

const PATIENT: &str = r#"
clients.app = { arrivals = { burst = {} }, calls.a = { timeout = "1500ms", retry = "patient" } }
services.a = { calls.b = { timeout = "100ms", retry = "twice" } }
services.b = {}
retries.patient = { max_retries = 3, backoff = { exponential = { base = "1s" } } }
retries.twice = { max_attempts = 2 }
"#;

/// 4 x 1.5 s and 7 s of waits are 13 s.
#[test]
fn the_number_of_attempts_is_no_time_limit() {
    let open = |set: &[&str]| said("no-total-timeout", PATIENT, set);
    assert_eq!(
        open(&[]),
        [
            "`app->a` makes 4 attempts, and there is no total time limit; a call whose attempts fail late takes up to 13 s, \
          and nobody has said that anybody waits so long: 4 attempts of 1.5 s each, and the waits"
        ],
        "what `a` calls has 200 ms of the 1.5 s that are waited for it"
    );
    assert_eq!(open(&[r#"clients.app.calls.a.total_timeout="20s""#]), [""; 0]);
    assert_eq!(open(&[r#"clients.app.on_exhausted="dead_letter""#]), [""; 0], "nobody waits for it");
    let inner = open(&[r#"clients.app.calls.a.timeout="none""#]);
    assert!(inner.len() == 1 && inner[0].contains("takes up to 200 ms, and"), "{inner:?}");
    let endless = open(&[r#"retries.patient.max_retries="unlimited""#]);
    assert!(endless[0].ends_with("nothing ends a call whose attempts fail"), "{endless:?}");
}

const LATE: &str = r#"
clients.gateway = { arrivals = { constant = { rate = 50 } }, calls.a = { timeout = "2s" } }
services.a = { calls.b = { timeout = "800ms" } }
services.b = { calls.c = { timeout = "300ms", retry = "thrice" } }
services.c = {}
retries.thrice = { max_attempts = 3 }
"#;

/// Three attempts of 300 ms are 900 ms, and A waits 800 ms for B.
#[test]
fn nobody_is_to_work_for_who_has_given_up() {
    let late = |set: &[&str]| said("timeout-above-caller", LATE, set);
    let plain = late(&[]);
    assert_eq!(
        plain,
        ["`b->c` takes up to 900 ms (3 attempts), but `a->b` gives its caller up after 800 ms; when `c` \
          answers late or not at all, each request keeps `b` at work for up to another 100 ms for nobody: at 50 per second up to 5 \
          at once that nobody waits for"]
    );
    for in_time in [
        "retries.thrice.max_attempts=2",
        r#"services.a.calls.b.timeout="900ms""#,
        r#"services.b.calls.c.total_timeout="800ms""#,
        r#"services.b.cancel="running""#,
        "services.a.calls.b.propagate_deadline=true",
        r#"services.b.calls.c.timeout="none""#,
    ] {
        assert_eq!(late(&[in_time]), [""; 0], "{in_time}");
    }
    assert_eq!(late(&[r#"services.b.service_time="1ms""#]).len(), 1);
    let endless = late(&[r#"retries.thrice={ max_attempts = "unlimited", backoff = { fixed = "1s" } }"#]);
    assert!(endless[0].ends_with("each request leaves `b` at work for ever"), "{endless:?}");
}

const TAIL: &str = r#"
clients.web = { arrivals = { constant = { rate = 100 } }, calls.db = { timeout = "100ms", retry = "thrice" } }
services.db = { service_time = { exponential = { mean = "50ms" } } }
retries.thrice = { max_attempts = 3 }
"#;

/// Of exponential times with a mean of 50 ms exp(-2) = 13.5 % are above 100 ms: 1 + 0.135 + 0.0183 attempts. One in a
/// hundred is above 230.3 ms.
#[test]
fn a_timeout_leaves_the_hundredth_answer_in() {
    let false_timeouts = |set: &[&str]| said("timeout-below-p99", TAIL, set);
    assert_eq!(
        false_timeouts(&[]),
        [
            "`web->db` waits 100 ms, and of the answers of `db` 13.5 % take longer though nothing is wrong; needless retries \
          per request: up to 0.154 in the mean; at 100 per second 15.4 more attempts"
        ]
    );
    let once = false_timeouts(&["retries.thrice.max_attempts=1"]);
    assert!(once[0].ends_with("of 100 requests per second 13.5 fail for nothing"), "{once:?}");
    let timeout = |time: &str| format!(r#"clients.web.calls.db.timeout="{time}""#);
    assert_eq!(false_timeouts(&[&timeout("230ms")]).len(), 1);
    assert_eq!(false_timeouts(&[&timeout("231ms")]), [""; 0]);
    let way = r#"clients.web.calls.db.network="1ms""#;
    assert_eq!(false_timeouts(&[&timeout("231ms"), way]).len(), 1, "there and back are 2 ms");
    assert_eq!(false_timeouts(&[&timeout("233ms"), way]), [""; 0]);
    assert_eq!(false_timeouts(&[r#"clients.web.calls.db.hedge={ after = "20ms" }"#]), [""; 0], "a copy may be faster");
    let constant = |time: &str| format!(r#"services.db.service_time="{time}""#);
    assert_eq!(false_timeouts(&[&constant("100ms")]), [""; 0], "an answer at the timeout is in time");
    assert!(false_timeouts(&[&constant("101ms")])[0].contains("100 % take longer"));
}

const ABANDONED: &str = r#"
clients.web = { arrivals = { constant = { rate = 10 } }, calls.db = { timeout = "200ms", retry = "thrice" } }
services.db = { workers = 8, instances = 2, service_time = { exponential = { mean = "40ms" } } }
retries.thrice = { max_attempts = 3 }
"#;

/// exp(-5) = 0.67 % of the service takes longer than 200 ms; of a mean of 28 ms 0.08 % does.
#[test]
fn work_that_is_sent_again_must_end() {
    let goes_on = |set: &[&str]| said("no-cancellation", ABANDONED, set);
    assert_eq!(
        goes_on(&[]),
        [
            "`web->db` gives up after 200 ms and tries again, but `db` does not learn of it and goes on; when it is slow, one \
          request may cost 3 times the service time for one answer, of 16 workers in all"
        ]
    );
    let queued = goes_on(&[r#"services.db.cancel="queued""#]);
    assert!(queued[0].contains("`db` ends only what it has not begun and goes on"), "{queued:?}");
    let fast = r#"services.db.service_time={ exponential = { mean = "28ms" } }"#;
    for harmless in [
        fast,
        r#"services.db.cancel="running""#,
        r#"services.db.queue={ drop = "deadline_aware" }"#,
        r#"services.db.workers="unlimited""#,
        r#"retries.thrice.retry_on=["unavailable"]"#,
        "retries.thrice.max_attempts=1",
    ] {
        assert_eq!(goes_on(&[harmless]), [""; 0], "{harmless}");
    }
    let store = r#"services.db.idempotency_store={ ttl = "1h" }"#;
    assert_eq!(goes_on(&[store, r#"clients.web.idempotency="key""#]), [""; 0], "what goes on is not done again");
    let slow = r#"faults.slow={ on = ["db"], from = "1s", effect = { slow = { factor = 2 } } }"#;
    let slowed = goes_on(&[fast, slow]);
    assert!(slowed.len() == 1 && slowed[0].contains("during `slow`, one request"), "{slowed:?}");
}

const NEVER: &str = r#"
clients.web = { arrivals = { burst = {} }, calls.api = { timeout = "50ms", total_timeout = "250ms", retry = "patient" } }
services.api = {}
retries.patient = { max_attempts = 5, backoff = { exponential = { base = "60ms" } } }
"#;

/// Attempts at 0, 60 and 180 ms; the next would be at 420 ms. With timeouts of 50 ms at 0 and 110 ms, and then at 280 ms.
#[test]
fn attempts_must_fit_into_the_time() {
    let never = |set: &[&str]| said("attempts-never-fit", NEVER, set);
    assert_eq!(
        never(&[]),
        ["`retries.patient` makes 5 attempts of `web->api`, of which at most 3 fit into 250 ms, and 2 if they get no \
          answer; attempt 4 would begin 420 ms after the call at the earliest, and the call is over after 250 ms"]
    );
    let useful = never(&[r#"retries.patient.min_attempt="100ms""#]);
    assert!(useful[0].contains("at most 2 fit into 250 ms"), "{useful:?}");
    assert!(useful[0].contains("180 ms after the call at the earliest, with 100 ms left for it"), "{useful:?}");
    assert_eq!(never(&["retries.patient.max_attempts=3"]), [""; 0]);
    assert_eq!(never(&[r#"retries.patient.jitter="full""#]), [""; 0], "waits may be zero");
    assert_eq!(never(&[r#"retries.patient.max_attempts="unlimited""#]), [""; 0], "the time is the limit");
    assert_eq!(never(&["retries.patient.max_attempts=4294967294"]), [""; 0], "as good as without a limit");
    let total = |time: &str| format!(r#"clients.web.calls.api.total_timeout="{time}""#);
    assert_eq!(never(&[&total("900ms")]), [""; 0], "at 900 ms the fifth is sent, though without time");
    assert_eq!(never(&[&total("899ms")]).len(), 1);
}
