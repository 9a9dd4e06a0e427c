//! Rules about what holds retries back.

use crate::found;

/// Requests by the second, at a service that can do 160 of them, with this policy.
fn calls(policy: &str) -> String {
    format!(
        r#"
        [clients.web]
        count = 10
        arrivals = {{ constant = {{ rate = 50 }} }}
        calls.db = {{ timeout = "1s", retry = "p" }}
        [services.db]
        workers = 4
        service_time = "25ms"
        [retries]
        p = {{ {policy} }}
        "#
    )
}

/// Three attempts multiply 50 per second to 150; two do not call for a budget, and anything that holds them back does.
#[test]
fn three_attempts_ask_for_a_budget() {
    let figures = |policy: &str, set: &[&str]| -> Vec<String> {
        found("no-budget", &calls(policy), set).into_iter().map(|finding| finding.figure).collect()
    };
    assert_eq!(
        figures("max_attempts = 3", &[]),
        ["while `db` fails, what `web->db` sends there grows up to 3 times, from 50 to 150 attempts per second; \
          `db` can do 160 per second"]
    );
    assert_eq!(figures("max_attempts = 2", &[]), [""; 0]);
    let call = "clients.web.calls.db";
    let breaker = format!("{call}.breaker={{ trip = {{ consecutive = 5 }}, open_for = \"5s\" }}");
    let throttle = format!("{call}.throttle={{ adaptive = {{ window = \"2m\" }} }}");
    for held_back in [breaker.as_str(), throttle.as_str(), "retries.p.budget={ ratio_of_requests = { ratio = 0.1 } }"] {
        assert_eq!(figures("max_attempts = 3", &[held_back]), [""; 0], "{held_back}");
    }
    // Of ten attempts with half a second between them two fit.
    let set = [format!("{call}.total_timeout=\"600ms\"")];
    let wait = r#"max_attempts = 10, backoff = { fixed = "500ms" }"#;
    assert_eq!(figures(wait, &[&set[0]]), [""; 0]);
    assert_eq!(figures(wait, &[]).len(), 1);
    // The third attempt comes within ten seconds, or as late as that.
    for (step, finds) in [("3s", 1), ("4s", 0)] {
        let slow = format!(r#"max_attempts = 9, backoff = {{ linear = {{ step = "{step}" }} }}"#);
        assert_eq!(figures(&slow, &[]).len(), finds, "{step}");
    }
}

/// 50 per second that are each tried again for 3 s are 150; twelve clients are twelve.
#[test]
fn without_a_limit_of_attempts_others_matter() {
    let figure = |set: &[&str]| {
        let text = calls(r#"max_attempts = "unlimited", backoff = { fixed = "500ms" }, jitter = "full""#);
        let found = found("no-budget", &text, set);
        found.into_iter().next().map(|finding| finding.figure)
    };
    let figure = |set: &[&str]| figure(set).expect("nothing holds them back");
    assert_eq!(
        figure(&[]),
        "while `db` fails, `web->db` sends it more and more, without a limit; `db` can do 160 per second"
    );
    assert!(
        figure(&[r#"clients.web.calls.db.total_timeout="3s""#])
            .starts_with("while `db` fails, 150 requests of `web->db` at once are tried again and again, each for 3 s")
    );
    let closed = ["clients.web.count=12", r#"clients.web.arrivals={ closed = { think = "1s" } }"#];
    assert!(figure(&closed).starts_with(
        "while `db` fails, 12 requests of `web->db` at once are tried again and again, for as long as it fails"
    ));
}

/// One client is no storm; a burst is, and so are the calls of a service that clients come to.
#[test]
fn many_callers_ask_for_a_budget() {
    let burst = |count: u32, copies: u32| {
        let text = format!(
            r#"
            clients.fleet = {{ count = {count}, arrivals = {{ burst = {{}} }}, calls.app = {{}} }}
            services.app.calls.db = {{ retry = "p", copies = {copies}, probability = 0.5 }}
            services.db = {{}}
            retries.p = {{ max_attempts = 4 }}
            "#
        );
        found("no-budget", &text, &[]).into_iter().map(|finding| finding.figure).collect::<Vec<_>>()
    };
    assert_eq!(burst(2, 1), [""; 0], "half of two calls");
    assert_eq!(burst(100, 3), ["while `db` fails, 150 requests of `app->db` become 600 attempts, 4 times as many"]);
}

/// A fallback is made when another call has failed, and told of only if there is nothing else.
#[test]
fn a_fallback_is_made_while_two_fail() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 50 } }, calls.app = {} }
        services.app.calls.cache.if_failed = "spare"
        services.app.calls.spare = { to = "db", retry = "p" }
        services.app.calls.db.retry = "q"
        services.cache = {}
        services.db = {}
        retries.p = { max_attempts = 3 }
        retries.q = { max_attempts = 2 }
    "#;
    let figure = |set: &[&str]| found("no-budget", text, set).swap_remove(0).figure;
    let grows = "sends there grows up to 3 times, from 50 to 150 attempts per second";
    assert_eq!(figure(&[]), format!("while `app->cache` and `db` fail, what `app->spare` {grows}"));
    let both = figure(&[r#"services.app.calls.db.retry="p""#]);
    assert_eq!(both, format!("while `db` fails, what `app->db` {grows}"));
}

/// 32 instances of ten tokens are 320 retries, twice what the service can do in a second; 16 are just that.
#[test]
fn floors_add_up_over_instances() {
    let floor = |clients: u32, set: &[&str]| {
        let text = calls("max_attempts = 5, budget = { token_bucket = { max = 10, initial = 5, per_success = 0.1 } }");
        let count = format!("clients.web.count={clients}");
        let set: Vec<&str> = set.iter().copied().chain([count.as_str()]).collect();
        found("budget-floor", &text, &set).into_iter().next().map(|finding| (finding.message, finding.figure))
    };
    let (message, figure) = floor(32, &[]).expect("320 are more than 160");
    assert_eq!(
        message,
        "the budget of `retries.p` grants so many retries before anything has to succeed: 10 in each of 32 \
         states are 320"
    );
    assert_eq!(
        figure,
        "an outage of `db` asks for up to 200 retries per second, and 1.6 s of that are paid for before the first is \
         refused; `db` can do 160 per second"
    );
    assert_eq!(floor(16, &[]), None);
    assert!(floor(17, &[]).is_some());
    assert_eq!(floor(32, &["retries.p.shared_by=\"group\""]), None, "one state");
    // Three attempts are 150 per second, which it can do.
    assert_eq!(floor(32, &["retries.p.max_attempts=3"]), None);
    // Without a capacity it is held against the 500 requests of ten seconds.
    let unlimited = "services.db.workers=\"unlimited\"";
    assert_eq!(floor(50, &[unlimited]), None);
    assert!(floor(51, &[unlimited]).is_some());
    let slow_start = "retries.p.budget={ token_bucket = { max = 10, initial = 5, per_success = 0 } }";
    assert_eq!(floor(32, &[slow_start]), None, "nothing fills what is half full");
    // Of clients that come once each asks for four.
    let burst = "clients.web.arrivals={ burst = {} }";
    assert_eq!(floor(40, &[burst]), None);
    let (_, figure) = floor(41, &[burst]).expect("164 are more than 160");
    assert!(figure.contains("may bring 164 retries before one is refused"), "{figure}");
    assert_eq!(floor(1_000, &[burst, unlimited]), None);
}

/// Clients that think for 100 ms make 100 requests in ten seconds each, and those that do not think any number.
#[test]
fn floors_are_held_against_what_clients_ask_for() {
    let floor = |think: &str, tokens: u32| {
        let text = format!(
            r#"
            [clients.web]
            count = 10
            arrivals = {{ closed = {{ think = "{think}" }} }}
            calls.db.retry = "p"
            [services.db]
            [retries]
            p = {{ max_attempts = 3, budget = {{ token_bucket = {{ max = {tokens}, per_success = 1 }} }} }}
            "#
        );
        found("budget-floor", &text, &[]).len()
    };
    assert_eq!([floor("100ms", 100), floor("100ms", 101)], [0, 1]);
    assert_eq!(floor("0s", 1_000_000), 0);
}

/// Budgets of one caller that several of its calls share are a fault only if those go to different services.
#[test]
fn a_budget_for_different_callees_is_named_with_its_calls() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 50 } }, calls.app = {} }
        services.app.calls.read = { to = "db", retry = "p" }
        services.app.calls.write = { to = "db", retry = "p" }
        services.app.calls.cache.retry = "q"
        services.db = {}
        services.cache = {}
        retries.q = { max_attempts = 2 }
        [retries.p]
        max_attempts = 2
        budget = { grpc_throttle = { max_tokens = 10, token_ratio = 0.1 } }
        shared_over = "policy"
    "#;
    let shared = |set: &[&str]| {
        let found = found("budget-shared-unrelated", text, set);
        found.into_iter().map(|finding| (finding.path, finding.message, finding.figure)).collect::<Vec<_>>()
    };
    assert_eq!(shared(&[]), []);
    let same_policy = "services.app.calls.cache.retry=\"p\"";
    let found = shared(&[same_policy]);
    assert_eq!(found.len(), 1);
    let (path, message, figure) = &found[0];
    assert_eq!(path, "retries.p.shared_over");
    assert_eq!(
        message,
        "`app->read`, `app->write`, `app->cache` share a budget of `retries.p`, and go to different services"
    );
    assert_eq!(
        figure,
        "while `db` is down, 4 of its retries use up what there is; then an error of `app->cache` is final"
    );
    assert_eq!(shared(&[same_policy, "retries.p.shared_over=\"target\""]), []);
    assert_eq!(shared(&[same_policy, "retries.p.max_attempts=1"]), [], "who does not retry shares nothing");
}
