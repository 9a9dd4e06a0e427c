//! Rules about more load than a service can bear.

use crate::found;

/// Four workers of 25 ms and 50 requests per second, which wait for 200 ms and make four attempts. (After
/// PierreZ/moonpool, issue 193.)
const STORM: &str = r#"
    clients.web = { arrivals = { constant = { rate = 50 } }, calls.svc = { timeout = "200ms", retry = "p" } }
    services.svc = { workers = 4, service_time = "25ms" }
    retries.p = { max_attempts = 4 }
"#;

fn said(rule: &str, set: &[&str]) -> Vec<(String, String)> {
    found(rule, STORM, set).into_iter().map(|finding| (finding.message, finding.figure)).collect()
}

/// 4 x 50 = 200 is more than 160, 3 x 50 = 150 is not; and only what is worked on in vain keeps a service down.
#[test]
fn attempts_times_rate_is_held_against_the_capacity() {
    let found = said("metastable", &[]);
    assert_eq!(found.len(), 1);
    let (message, figure) = &found[0];
    assert_eq!(
        message,
        "`services.svc` is a metastable candidate: it can do 160 per second, and all attempts of all requests are 4 x \
         50 = 200"
    );
    assert_eq!(
        figure,
        "once everybody has waited in vain, 200 attempts per second keep `svc` busy for nobody, whatever it was that \
         began it; below 40 requests per second it comes back by itself"
    );
    let rate = |rate: u32| format!("clients.web.arrivals.constant.rate={rate}");
    assert_eq!(said("metastable", &[&rate(39)]), []);
    assert_eq!(said("metastable", &[&rate(40)]).len(), 1, "at its very capacity nothing that waits becomes less");
    assert_eq!(said("metastable", &[&rate(160)]), [], "too much even without retries is another fault");
    for put_right in [
        "retries.p.max_attempts=3",
        "retries.p.budget={ token_bucket = { max = 10, per_success = 0.1 } }",
        r#"services.svc.queue.drop="deadline_aware""#,
        r#"services.svc.queue.order="lifo""#,
        "services.svc.queue.limit=20",
        r#"clients.web.calls.svc.timeout="none""#,
        r#"retries.p.retry_on=["refused"]"#,
        r#"clients.web.calls.svc.total_timeout="200ms""#,
        r#"clients.web.calls.svc.breaker={ trip = { consecutive = 5 }, open_for = "5s" }"#,
    ] {
        assert_eq!(said("metastable", &[put_right]), [], "{put_right}");
    }
    let still_there =
        [r#"services.svc.queue.drop="expired""#, "services.svc.queue.limit=40", r#"services.svc.cancel="queued""#];
    for still_there in still_there {
        assert_eq!(said("metastable", &[still_there]).len(), 1, "{still_there}");
    }
}

/// Four workers of 25 ms can do 160 per second.
#[test]
fn what_is_asked_must_be_done() {
    let overloaded = |rate: u32, set: &[&str]| {
        let rate = format!("clients.web.arrivals.constant.rate={rate}");
        said("overloaded", &set.iter().copied().chain([rate.as_str()]).collect::<Vec<_>>())
    };
    assert_eq!(overloaded(159, &[]), []);
    let [(message, figure)] = &overloaded(200, &[])[..] else { panic!("it is overloaded") };
    assert_eq!(message, "`services.svc` can do 160 per second, and 200 are asked of it even if nothing fails");
    assert_eq!(figure, "with each such second 40 more wait");
    assert_eq!(overloaded(160, &[])[0].1, "what has once begun to wait never becomes less");
    let limiter = "services.svc.limiter={ token_bucket = { rate = 150, burst = 1 } }";
    for turns_away in ["services.svc.queue.limit=10", "services.svc.max_in_flight=10"] {
        assert_eq!(overloaded(200, &[turns_away])[0].1, "of each such second 40 are turned away in the end");
    }
    assert_eq!(overloaded(200, &[limiter])[0].1, "of each such second 50 are turned away in the end");
    assert_eq!(said("overloaded", &["clients.web.arrivals={ burst = {} }"]), [], "nobody knows at what rate");
}

/// A gateway of 100 workers that wait 400 ms for a database can do 100 / 0.402 = 249 per second, and gets up to 300.
/// Whoever is behind 148 others is answered after 1 s.
#[test]
fn a_worker_that_waits_for_others_is_busy() {
    let text = r#"
        clients.web.arrivals.constant.rate = 150
        clients.web.calls.gw = { timeout = "1s", total_timeout = "3s", retry = "r" }
        services.gw = { workers = 100, service_time = "2ms", calls.db = { timeout = "900ms" } }
        services.db.service_time = "400ms"
        retries.r = { max_attempts = 2, backoff = { fixed = "100ms" }, jitter = "full" }
    "#;
    let said = |rule: &str, set: &[&str]| {
        let found = found(rule, text, set);
        found.into_iter().map(|finding| (finding.path, finding.message, finding.figure)).collect::<Vec<_>>()
    };
    let found = said("metastable", &[]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].1.contains("it can do at most 249 per second, and all attempts of all requests are 2 x 150 = 300")
    );
    assert!(found[0].2.ends_with("below 124 requests per second it may come back by itself"), "{found:?}");
    let found = said("unbounded-fifo", &[]);
    assert_eq!(found.len(), 1);
    assert!(found[0].2.starts_with("once more than 148 attempts wait,"), "{found:?}");
    for put_right in ["services.gw.workers=121", "services.gw.queue.limit=148"] {
        assert_eq!(said("metastable", &[put_right]), [], "{put_right}");
    }
    assert_eq!(said("unbounded-fifo", &["services.gw.queue.limit=1"]), []);
    // 2 ms before its deadline is too late for what takes 402 ms.
    let aware = said("unbounded-fifo", &[r#"services.gw.queue.drop="deadline_aware""#]);
    assert!(aware[0].1.ends_with("`deadline_aware` leaves no time for the calls that it makes"), "{aware:?}");
}

/// The work of a service done by another one, for which its workers wait.
#[test]
fn a_service_in_two_is_as_metastable() {
    let halves = r#"
        clients.web = { arrivals = { constant = { rate = 50 } }, calls.svc = { timeout = "200ms", retry = "p" } }
        services.svc = { workers = 4, calls.db = { timeout = "1s" } }
        services.db.service_time = "25ms"
        retries.p = { max_attempts = 4 }
    "#;
    for rule in ["metastable", "unbounded-fifo"] {
        let [whole, halves] = [STORM, halves].map(|text| found(rule, text, &[]).swap_remove(0));
        assert_eq!(halves.path, whole.path, "{rule}");
        assert_eq!(halves.message.replace("can do at most", "can do"), whole.message, "{rule}");
        assert_eq!(halves.figure.replace("may come", "comes"), whole.figure, "{rule}");
    }
}

/// What the database gets in the place of a cache that is down goes away when that is back: 3 x 40 are below 160,
/// though with the requests of the cache it would be 3 x 40 + 3 x 40.
#[test]
fn standing_in_for_others_is_no_retry() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 40 } }, calls.app = {} }
        services.app.calls.cache.if_failed = "spare"
        services.app.calls.spare = { to = "db", timeout = "200ms", retry = "p" }
        services.app.calls.db = { timeout = "200ms", retry = "p" }
        services.cache = {}
        services.db = { workers = 4, service_time = "25ms" }
        retries.p = { max_attempts = 3 }
    "#;
    assert_eq!(found("metastable", text, &[]), []);
    let four = found("metastable", text, &["clients.web.arrivals.constant.rate=54"]);
    assert!(four[0].message.ends_with("all attempts of all requests are 3 x 54 = 162"), "{four:?}");
}

/// 28 that wait and 25 ms of service are 200 ms: just what the caller waits for. One more is too many.
#[test]
fn a_queue_is_held_against_the_patience_of_callers() {
    let found = said("unbounded-fifo", &[]);
    assert_eq!(found.len(), 1);
    let (message, figure) = &found[0];
    assert_eq!(
        message,
        "the queue of `services.svc` is first in, first out and has no limit, while `web->svc` waits for 200 ms and \
         tries again"
    );
    assert_eq!(
        figure,
        "once more than 28 attempts wait, what `svc` serves is given up before it is done; at 50 per second a stall of \
         580 ms is enough"
    );
    let limit = |limit: u32| said("unbounded-fifo", &[&format!("services.svc.queue.limit={limit}")]);
    assert_eq!(limit(28), []);
    assert!(limit(29)[0].0.contains("holds what takes 206.3 ms"), "{:?}", limit(29));
    let expired = said("unbounded-fifo", &[r#"services.svc.queue.drop="expired""#]);
    assert!(expired[0].0.ends_with("and dropping what has expired alone need not cure it"), "{expired:?}");
    for put_right in [
        "retries.p.max_attempts=3",
        "services.svc.max_in_flight=32",
        r#"services.svc.queue.drop="deadline_aware""#,
        r#"services.svc.queue.drop={ codel = { target = "5ms", interval = "100ms" } }"#,
        r#"services.svc.queue.order="adaptive_lifo""#,
        r#"services.svc.workers="unlimited""#,
        r#"services.svc.service_time="300ms""#,
        "retries.p.max_attempts=1",
    ] {
        assert_eq!(said("unbounded-fifo", &[put_right]), [], "{put_right}");
    }
}

/// Eight clients that come together make 32 attempts at most, which four workers do in 200 ms.
#[test]
fn a_few_clients_do_not_fill_a_queue() {
    let burst = |count: u32| {
        let set = ["clients.web.arrivals={ burst = {} }".to_owned(), format!("clients.web.count={count}")];
        said("unbounded-fifo", &[&set[0], &set[1]])
    };
    assert_eq!(burst(8), []);
    assert_eq!(burst(9)[0].1, "once more than 28 attempts wait, what `svc` serves is given up before it is done");
}

/// 32 clients that go on and on have one attempt each to be waited for, and those are done within 200 ms;
/// after each that they have given up another one follows. What such an attempt becomes further down counts.
#[test]
fn clients_that_wait_for_their_turn_do_not_fill_a_queue() {
    let closed = |count: u32, more: &[&str]| {
        let set = [r#"clients.web.arrivals={ closed = { think = "10ms" } }"#, &format!("clients.web.count={count}")];
        let set: Vec<&str> = set.into_iter().chain(more.iter().copied()).collect();
        said("unbounded-fifo", &set).len()
    };
    for attempts in ["retries.p.max_attempts=4", r#"retries.p={ max_attempts = "unlimited", backoff = "none" }"#] {
        assert_eq!([closed(32, &[attempts]), closed(33, &[attempts])], [0, 1], "{attempts}");
    }
    let text = STORM.replace("services.svc =", "services.svc.calls.db.copies = 2\nservices.db =");
    let below = |count: u32| {
        let set = [r#"clients.web.arrivals={ closed = { think = "10ms" } }"#, &format!("clients.web.count={count}")];
        found("unbounded-fifo", &text, &set).len()
    };
    assert_eq!([below(16), below(17)], [0, 1]);
}

/// Every request is hedged when everything is slow: 32 become 64. (After Azure/azure-sdk-for-rust, issue 4896.)
#[test]
fn hedges_without_a_cap_double_what_is_sent() {
    let text = r#"
        [clients.app]
        count = 32
        arrivals = { burst = {} }
        calls.api = { hedge = { after = "100ms" }, timeout = "1s" }
        [services]
        api = { instances = 2, service_time = "50ms" }
    "#;
    let figures = |set: &[&str]| {
        let found = found("hedge-without-cap", text, set);
        found.into_iter().map(|finding| (finding.path, finding.figure)).collect::<Vec<_>>()
    };
    let at = "clients.app.calls.api.hedge".to_owned();
    let figure = "when all of `api` is slow, 32 attempts of `app->api` at once become 64";
    assert_eq!(figures(&[]), [(at, figure.to_owned())]);
    let rate = figures(&["clients.app.arrivals={ constant = { rate = 30 } }", "clients.app.calls.api.hedge.copies=2"]);
    assert!(rate[0].1.ends_with("the 30 attempts per second of `app->api` become 90"), "{rate:?}");
    assert_eq!(figures(&["clients.app.calls.api.hedge.in_flight=8"]), []);
    assert_eq!(figures(&[r#"clients.app.calls.api.timeout="100ms""#]), [], "it is given up before that");
    assert_eq!(figures(&["clients.app.count=1"]), []);
}

/// Four servers of 100 per second each, and 300 that come: one may be ejected, two may not.
#[test]
fn ejection_leaves_enough_to_do_what_comes_in() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 300 } }, calls.api = {} }
        services.api = { instances = 4, workers = 2, service_time = "20ms" }
    "#;
    let with = |share: &str, set: &[&str]| {
        let ejection = format!("services.api.ejection={{ max_share = {share} }}");
        let set: Vec<&str> = set.iter().copied().chain([ejection.as_str()]).collect();
        let found = found("ejection-may-empty-pool", text, &set);
        found.into_iter().map(|finding| (finding.message, finding.figure)).collect::<Vec<_>>()
    };
    let pair = |message: &str, figure: &str| [(message.to_owned(), figure.to_owned())];
    assert_eq!(with("0.25", &[]), []);
    assert_eq!(
        with("0.5", &[]),
        pair(
            "`services.api` may eject 2 of its 4 servers",
            "with 2 ejected, 2 servers have 300 requests per second to do, and can do 200"
        )
    );
    assert_eq!(
        with("1.0", &[]),
        pair(
            "`services.api` may eject all of its 4 servers",
            "with 3 ejected, 1 server has 300 requests per second to do, and can do 100"
        )
    );
    assert_eq!(with("0.5", &["clients.web.arrivals.constant.rate=200"]), []);
    assert_eq!(with("0.5", &["clients.web.arrivals.constant.rate=401"]), [], "too much for all of them");
    assert_eq!(with("1.0", &["clients.web.arrivals={ burst = {} }"]).len(), 1, "whatever comes");
    assert_eq!(with("0.75", &[r#"services.api.workers="unlimited""#]), [], "those that are left can do anything");
    assert_eq!(with("1.0", &["services.api.instances=1"]), []);
}
