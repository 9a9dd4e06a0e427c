//! Rules about what multiplies.

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
