//! Rules about what is tried again, and what that does to the world.

use crate::found;

/// Waits of 100 and 200 ms, jitter between nothing and that.
#[test]
fn errors_that_come_again_cost_all_attempts() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 50 } }, calls.api = { retry = "p" } }
        services.api = {}
        retries.p = { max_attempts = 3, backoff = { exponential = { base = "100ms" } }, jitter = "full" }
    "#;
    let said = |set: &[&str]| {
        let found = found("retry-deterministic", text, set);
        found.into_iter().map(|finding| (finding.message, finding.figure)).collect::<Vec<_>>()
    };
    assert_eq!(said(&[]), [], "by default they are not retried");
    let retry_on = r#"retries.p.retry_on=["invalid", "timeout", "internal"]"#;
    let found = said(&[retry_on]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "`retries.p` retries on `internal`, `invalid`, with which the same request fails again");
    assert_eq!(
        found[0].1,
        "each such error of `web->api` costs up to 3 attempts and 300 ms of waiting, and fails all the same"
    );
    assert_eq!(said(&[retry_on, "retries.p.max_attempts=1"]), []);
}

/// A shop, by way of an API, at a ledger: two attempts of the shop, three of the API.
const CHAIN: &str = r#"
    clients.shop = { arrivals = { constant = { rate = 50 } }, calls.api = { timeout = "3s", retry = "twice" } }
    clients.reader = { arrivals = { constant = { rate = 50 } }, calls.cache = { timeout = "3s", retry = "twice" } }
    services.api = { calls.ledger = { timeout = "500ms", retry = "thrice" } }
    services.ledger = { service_time = "100ms", writes = true }
    services.cache = {}
    retries.twice = { max_attempts = 2, backoff = { fixed = "1s" } }
    retries.thrice = { max_attempts = 3 }
"#;

fn writes(set: &[&str]) -> Vec<(String, String)> {
    found("retry-writes", CHAIN, set).into_iter().map(|finding| (finding.message, finding.figure)).collect()
}

const STORE: &str = r#"services.ledger.idempotency_store={ ttl = "24h" }"#;
const KEYS: &str = r#"clients.shop.idempotency="key""#;

/// The product along the path, as far as the calls on it try again what may have been done.
#[test]
fn side_effects_multiply_along_the_path() {
    let said = |set: &[&str]| writes(set).into_iter().next();
    let (message, figure) = said(&[]).expect("nothing recognises what was done");
    assert_eq!(
        message,
        "`services.ledger` writes, and `shop->api`, `api->ledger` may try again what it has done, and it has no \
         `idempotency_store`"
    );
    assert_eq!(figure, "one request may have its side effect on `ledger` up to 6 times");
    let doors = r#"["refused", "overloaded", "rate_limited"]"#;
    let shop = format!("retries.twice.retry_on={doors}");
    let api = format!("retries.thrice.retry_on={doors}");
    let (message, figure) = said(&[&shop]).expect("the API still tries again");
    assert!(message.contains("and `shop->api`, `api->ledger` may"), "its last attempt is turned away: {message}");
    assert_eq!(figure, "one request may have its side effect on `ledger` up to 6 times");
    let invalid = r#"retries.twice.retry_on=["invalid"]"#;
    assert_eq!(said(&[&shop, &api]), None, "what was turned away was not done");
    assert_eq!(said(&[invalid, &api]), None, "nor is what the ledger takes for wrong");
    // Its own deadline ends a call; that of its callee's call is tried again.
    let deadlines = |policy: &str| format!("retries.{policy}.retry_on=[\"deadline\"]");
    assert_eq!(said(&[&shop, &deadlines("thrice")]), None);
    assert!(said(&[&deadlines("twice"), &api]).is_some());
    // Without a timeout nobody gives up; but a connection may break.
    let timeouts = [r#"services.api.calls.ledger.timeout="none""#, r#"retries.thrice.retry_on=["timeout"]"#];
    assert_eq!(said(&[&shop, timeouts[0], timeouts[1]]), None);
    let hedge = r#"services.api.calls.ledger.hedge={ after = "100ms", copies = 1 }"#;
    assert!(said(&[&shop, &api, hedge]).is_some(), "a hedge is done, too");
    assert_eq!(said(&["services.ledger.writes=false"]), None);
}

/// A store helps those who send it keys, of an operation, for as long as it keeps them.
#[test]
fn a_store_recognises_keys_of_operations() {
    let said = |set: &[&str]| writes(set).into_iter().map(|(message, _)| message).next();
    assert_eq!(said(&[STORE, KEYS]), None);
    assert!(said(&[STORE]).is_some_and(|message| message.ends_with("and its store gets no keys from `shop`")));
    assert!(said(&[KEYS]).is_some(), "keys that nobody remembers");
    assert_eq!(said(&[STORE, r#"clients.shop.idempotency="key_per_attempt""#]), None, "another rule says that");
    // The shop's second attempt comes 4 s after the first, the API's third 1 s.
    let kept = |ttl: &str| said(&[KEYS, &format!("services.ledger.idempotency_store={{ ttl = \"{ttl}\" }}")]);
    assert_eq!(kept("4s"), None);
    let message = kept("3s").expect("the shop comes back after 4 s");
    assert!(
        message.contains("`shop->api` may try again for up to 4 s what its store has forgotten after 3 s"),
        "{message}"
    );
    assert!(kept("900ms").is_some_and(|message| message.contains("`shop->api`, `api->ledger`")));
}

/// Four attempts within 25 s, of a store that forgets after 10 s: three are done, and two of them 20 s apart.
#[test]
fn what_a_store_has_forgotten_is_done_again() {
    let text = r#"
        clients.shop = { idempotency = "key", arrivals.burst = {}, calls.ledger = { timeout = "1s", retry = "p" } }
        services.ledger = { service_time = "100ms", writes = true, idempotency_store = { ttl = "10s" } }
        retries.p = { max_attempts = 4, backoff = { fixed = "7s" } }
    "#;
    let figure = |set: &[&str]| {
        let found = found("retry-writes", text, set);
        found.into_iter().next().map(|finding| finding.figure.replace("one request may have its side effect on ", ""))
    };
    assert_eq!(figure(&[]), Some("`ledger` up to 3 times".to_owned()), "the last one comes 24 s after the first");
    let wait = |time: &str| figure(&[&format!("retries.p.backoff.fixed=\"{time}\"")]);
    assert_eq!(wait("5600ms"), Some("`ledger` up to 2 times".to_owned()), "19.8 s");
    assert_eq!(wait("2300ms"), None, "9.9 s");
    assert_eq!(wait("20s"), Some("`ledger` up to 4 times".to_owned()), "each time");
    let ever = r#"retries.p.max_attempts="unlimited""#;
    assert_eq!(figure(&[ever]), Some("`ledger` any number of times".to_owned()));
    let limited = figure(&[ever, r#"clients.shop.calls.ledger.total_timeout="25s""#]);
    assert_eq!(limited, Some("`ledger` up to 3 times".to_owned()));
}

/// Keys of attempts are recognised only below the clients' own call; one key for all is taken for what came first.
#[test]
fn keys_are_of_operations() {
    let said = |set: &[&str]| {
        let found = found("key-per-attempt", CHAIN, set);
        found.into_iter().map(|finding| (finding.path, finding.figure)).collect::<Vec<_>>()
    };
    let per_attempt = r#"clients.shop.idempotency="key_per_attempt""#;
    let at = "clients.shop".to_owned();
    assert_eq!(
        said(&[STORE, per_attempt]),
        [(at.clone(), "what times out each time is done up to 2 times at `ledger`".to_owned())]
    );
    assert_eq!(said(&[per_attempt]), [], "there is no store");
    assert_eq!(said(&[STORE, KEYS]), []);
    assert_eq!(
        said(&[STORE, per_attempt, r#"clients.shop.calls.api.retry="none""#]),
        [],
        "then it is that of a request"
    );
    let reused = r#"clients.shop.idempotency="key_reused""#;
    let figure = "of the requests of a client `ledger` does one in 24 h, and answers all others with `invalid`";
    assert_eq!(said(&[STORE, reused]), [(at, figure.to_owned())]);
    assert_eq!(said(&[STORE, reused, "clients.shop.arrivals={ burst = {} }"]), [], "one request each");
    assert_eq!(said(&[STORE, r#"clients.reader.idempotency="key_per_attempt""#]), [], "the cache has no store");
}

/// A call to an API, which calls a database: its own breaker, pool and throttle, and those further down.
#[test]
fn refusals_by_ones_own_side_are_met_again() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 50 } }, calls.api = { timeout = "1s", retry = "p" } }
        services.api.calls.db = {}
        services.db = {}
        [retries.p]
        max_attempts = 3
        backoff = { fixed = "50ms" }
        retry_on = ["breaker_open", "pool_timeout", "throttled"]
    "#;
    let figures = |set: &[&str]| {
        let found = found("retry-local-refusals", text, set);
        found.into_iter().map(|finding| finding.figure).collect::<Vec<_>>()
    };
    assert_eq!(figures(&[]), [""; 0], "nothing makes such errors");
    let web = |setting: &str| figures(&[&format!("clients.web.calls.api.{setting}")]);
    assert_eq!(
        web(r#"breaker={ trip = { consecutive = 5 }, open_for = "5s" }"#),
        ["the breaker of `web->api` is open for 5 s: it refuses all 3 attempts of a call within 100 ms"]
    );
    assert_eq!(web(r#"breaker={ trip = { consecutive = 5 }, open_for = "50ms" }"#), [""; 0], "by then it is half-open");
    assert_eq!(web(r#"breaker={ trip = { consecutive = 5 }, open_for = "5s", position = "outside" }"#), [""; 0]);
    assert_eq!(
        web(r#"pool={ size = 10, max_wait = "200ms" }"#),
        ["a call of `web->api` waits up to 3 times 200 ms for a slot of its pool"]
    );
    assert_eq!(web(r#"pool={ size = 10 }"#), [""; 0], "whoever waits for ever is not turned away");
    // 1 - 0.9^3 = 0.271.
    assert_eq!(
        web(r#"throttle={ adaptive = { window = "2m" } }"#),
        ["when the throttle of `web->api` holds back 90 % of attempts, 27.1 % of calls are let through, as each may \
          ask 3 times"]
    );
    let below =
        r#"services.api.calls.db.breaker={ trip = { consecutive = 5 }, open_for = "5s", position = "outside" }"#;
    assert_eq!(
        figures(&[below]),
        ["`api` passes on what `api->db` is refused at once, and `web->api` makes 3 attempts of that"]
    );
    assert_eq!(figures(&[below, "services.api.calls.db.optional=true"]), [""; 0]);
}
