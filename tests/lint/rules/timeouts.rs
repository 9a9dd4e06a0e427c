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
        ["`b->c` takes up to 900 ms (3 attempts), but `a->b` stops waiting after 800 ms; when `c` answers late or \
          not at all, each request keeps `b` at work for another 100 ms or more for nobody: at 50 per second 5 or more \
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
    let limit = |time: &str| late(&[&format!("services.a.calls.b.timeout=\"{time}\"")]).len();
    assert_eq!([limit("857ms"), limit("858ms")], [1, 0], "a twentieth of what it is waited for is slight");
    let endless = late(&[r#"retries.thrice={ max_attempts = "unlimited", backoff = { fixed = "1s" } }"#]);
    assert!(endless[0].ends_with("each request leaves `b` at work for ever"), "{endless:?}");
}

/// Without `timeout` in `retry_on` an attempt that gets no answer is the last one, after 1.9 s of 2 s; one that fails
/// just before that is tried again.
#[test]
fn silence_is_not_tried_again_by_all() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 50 } }, calls.gw = { timeout = "2s" } }
        services.gw.calls.db = { timeout = "1900ms", retry = "mesh" }
        services.db = {}
        retries.mesh = { max_attempts = 3, backoff = { fixed = "25ms" }, retry_on = ["unavailable", "reset"] }
    "#;
    let late = |set: &[&str]| said("timeout-above-caller", text, set);
    let errors = late(&[]);
    assert!(errors[0].contains("; when `db` answers late and with errors that are tried again, each"), "{errors:?}");
    let alone = late(&["retries.mesh.max_attempts=1", r#"services.gw.calls.db.timeout="2500ms""#]);
    assert!(alone[0].contains("; when `db` answers late or not at all, each"), "{alone:?}");
    assert_eq!(late(&[r#"retries.mesh.retry_on=[]"#]), [""; 0]);
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
    let hedge = |after: &str| false_timeouts(&[&format!("clients.web.calls.db.hedge={{ after = \"{after}\" }}")]).len();
    assert_eq!([hedge("99ms"), hedge("100ms")], [0, 1], "a copy may be faster, if it is sent");
    let constant = |time: &str| format!(r#"services.db.service_time="{time}""#);
    assert_eq!(false_timeouts(&[&constant("100ms")]), [""; 0], "an answer at the timeout is in time");
    assert_eq!(false_timeouts(&[&constant("101ms")]), [""; 0], "another rule says that it is never in time");
}

/// 5 ms of its own, 20 ms of a database and ways of 1 ms.
#[test]
fn somebody_must_be_fast_enough() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 100 } }, calls = {} }
        services.api = { service_time = "5ms", calls.db = {} }
        services.db = { service_time = { uniform = { min = "20ms", max = "80ms" } } }
        retries.thrice = { max_attempts = 3 }
    "#;
    let never = |timeout: &str, set: &[&str]| {
        let calls = format!(r#"calls.api = {{ timeout = "{timeout}", retry = "thrice", network = "1ms" }}"#);
        said("timeout-never-enough", &text.replace("calls = {}", &calls), set)
    };
    assert_eq!(
        never("26ms", &[]),
        ["`web->api` waits for 26 ms, and an answer of `api` takes 27 ms at least; of 100 requests per second none \
          is answered in time, and `api` works for all of them, 3 times each"]
    );
    assert_eq!(never("27ms", &[]), [""; 0], "an answer at the very end is in time");
    for sooner in ["services.api.calls.db.optional=true", "services.api.calls.db.probability=0.9"] {
        assert_eq!(never("26ms", &[sooner]), [""; 0], "{sooner}");
    }
    let passed_on = never("25ms", &["clients.web.calls.api.propagate_deadline=true"]);
    assert_eq!(passed_on.len(), 2);
    let inner = passed_on.iter().find(|said| said.starts_with("`api->db` waits for 19 ms that its caller has left"));
    assert!(inner.is_some(), "{passed_on:?}");
    let above = said("timeout-below-p99", TAIL, &[r#"services.db.service_time="101ms""#]);
    assert_eq!(above, [""; 0], "{above:?}");
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
    assert_eq!(never(&[&total("901ms")]), [""; 0], "a millisecond is left for the fifth");
    let at_the_end = never(&[&total("900ms")]);
    assert!(at_the_end[0].contains("at most 4 fit into 900 ms"), "{at_the_end:?}");
    assert!(
        at_the_end[0]
            .ends_with("attempt 5 begins 900 ms after the call at the earliest, when the call is over: it has no time")
    );
    assert_eq!(never(&[&total("899ms")]).len(), 1);
}
