//! Rules about what multiplies.

use std::fmt::Write;

use crate::found;

/// Attempts of 12 and 3 on two layers of a chain that rejects everything, and of 3, 4 and 3 on three. (After
/// microsoft/openaivec, issue 186.)
#[test]
fn layers_are_named_with_their_product() {
    let chain = |client: u32, wrapper: u32, sdk: u32| {
        format!(
            r#"
            clients.client = {{ arrivals = {{ burst = {{}} }}, calls.wrapper = {{ retry = "client" }} }}
            services.wrapper.calls.sdk = {{ retry = "wrapper" }}
            services.sdk.calls.api = {{ retry = "sdk" }}
            services.api = {{}}
            retries.client = {{ max_attempts = {client} }}
            retries.wrapper = {{ max_attempts = {wrapper} }}
            retries.sdk = {{ max_attempts = {sdk} }}
            "#
        )
    };
    let product = |client, wrapper, sdk| {
        let found = found("layered-retries", &chain(client, wrapper, sdk), &[]);
        found.into_iter().map(|finding| (finding.path, finding.message)).collect::<Vec<_>>()
    };
    let twice = "retries multiply along `wrapper->sdk`, `sdk->api`: 12 x 3 = 36 attempts";
    assert_eq!(product(1, 12, 3), [("services.wrapper.calls.sdk.retry".to_owned(), twice.to_owned())]);
    let thrice = "retries multiply along `client->wrapper`, `wrapper->sdk`, `sdk->api`: 3 x 4 x 3 = 36 attempts";
    assert_eq!(product(3, 4, 3), [("clients.client.calls.wrapper.retry".to_owned(), thrice.to_owned())]);
    assert_eq!(product(2, 2, 2), [], "three layers that each retry once are let be");
    assert_eq!(product(1, 1, 36), [], "one layer multiplies nothing");
}

/// Three layers of three are 27, and with budgets next to nothing: those without one count.
#[test]
fn layers_with_a_budget_multiply_nothing() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 10 } }, calls.a = { retry = "outer" } }
        services.a.calls.b.retry = "inner"
        services.b.calls.c.retry = "inner"
        services.c = {}
        retries.outer = { max_attempts = 3 }
        retries.inner = { max_attempts = 3 }
    "#;
    let messages = |set: &[&str]| -> Vec<String> {
        found("layered-retries", text, set).into_iter().map(|finding| finding.message).collect()
    };
    let budget =
        |policy: &str| format!("retries.{policy}.budget={{ token_bucket = {{ max = 10, per_success = 0.1 }} }}");
    let (outer, inner) = (budget("outer"), budget("inner"));
    assert!(messages(&[])[0].ends_with("3 x 3 x 3 = 27 attempts"));
    let two = messages(&[&outer]);
    assert_eq!(two, ["retries multiply along `a->b`, `b->c`: 3 x 3 = 9 attempts"]);
    assert_eq!(messages(&[&inner]), [""; 0], "one layer is left");
    assert_eq!(messages(&[&outer, &inner]), [""; 0]);
    // What is called ten times is not tried again: 2 x 2 are let be.
    let fan_out = ["retries.outer.max_attempts=2", "retries.inner.max_attempts=2", "services.b.calls.c.copies=10"];
    assert_eq!(messages(&fan_out), [""; 0]);
}

/// Of a chain of a hundred services not all are named.
#[test]
fn a_long_chain_is_cut_short() {
    let mut text = "retries.p.max_attempts = 3\nservices.s99 = {}\n\
                    clients.web = { arrivals = { burst = {} }, calls.s0 = { retry = \"p\" } }\n"
        .to_owned();
    for at in 0..99 {
        writeln!(text, "services.s{at}.calls.s{}.retry = \"p\"", at + 1).expect("a string takes anything");
    }
    let found = found("layered-retries", &text, &[]);
    assert_eq!(
        found[0].message,
        "retries multiply along `web->s0`, `s0->s1`, `s1->s2` and 97 more: 3 x 3 x 3 x 3 x 3 x 3 x 3 x 3 x ... = more \
         than 10^15 attempts"
    );
}

/// What the upper layer does not try again is not multiplied; an error that both retry is, and so is a timeout of the
/// upper one, which may come of the attempts beneath.
#[test]
fn a_layer_multiplies_only_what_it_tries_again() {
    let text = r#"
        clients.web = { arrivals = { constant = { rate = 10 } }, calls.app = { retry = "outer" } }
        services.app.calls.db = { timeout = "100ms", retry = "inner" }
        services.db = { service_time = "5ms" }
        retries.inner = { max_attempts = 3, backoff = { fixed = "20ms" } }
        retries.outer = { max_attempts = 3, backoff = { fixed = "20ms" }, retry_on = ["internal"] }
    "#;
    let count = |set: &[&str]| found("layered-retries", text, set).len();
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&[r#"retries.outer.retry_on=["internal", "unavailable"]"#]), 1);
    let times_out = r#"retries.outer.retry_on=["timeout"]"#;
    assert_eq!(count(&[times_out, r#"retries.inner.retry_on=["refused"]"#]), 0, "nothing of the outer one times out");
    let limited = r#"clients.web.calls.app.timeout="200ms""#;
    assert_eq!(count(&[times_out, r#"retries.inner.retry_on=["refused"]"#, limited]), 1);
    // One attempt fits into the time, whatever the policy allows.
    assert_eq!(count(&["retries.outer.retry_on=[\"unavailable\"]", "services.app.calls.db.total_timeout=\"10ms\""]), 0);
}

/// However many paths there are: eight diamonds in a row make 256 of them, and beside them two layers multiply. Of one
/// uppermost layer the worst way down is told, and each has its own.
#[test]
fn layers_are_found_beside_any_number_of_paths() {
    let mut text = "retries.p.max_attempts = 3\nservices.s8 = {}\nservices.db = {}\nservices.app.calls.db.retry = \"p\"\n\
                    services.app.calls.s8.retry = \"p\"\nservices.other.calls.db.retry = \"p\"\n\
                    clients.web = { arrivals = { burst = {} }, calls = { s0 = {}, app = { retry = \"p\" }, other = { retry = \"p\" } } }\n"
        .to_owned();
    for at in 0..8 {
        let next = at + 1;
        writeln!(text, "services.s{at}.calls = {{ l{next} = {{}}, r{next} = {{}} }}").expect("a string takes anything");
        writeln!(text, "services.l{next}.calls.s{next} = {{}}\nservices.r{next}.calls.s{next} = {{}}")
            .expect("likewise");
    }
    let found = found("layered-retries", &text, &[]);
    let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "retries multiply along `web->app`, `app->db`: 3 x 3 = 9 attempts",
            "retries multiply along `web->other`, `other->db`: 3 x 3 = 9 attempts",
        ]
    );
}
