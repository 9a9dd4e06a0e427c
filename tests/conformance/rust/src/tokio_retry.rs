//! tokio-retry: its exponential backoff, whose base is also its factor.

use std::time::Duration;

use ::tokio_retry::Retry;
use ::tokio_retry::strategy::ExponentialBackoff;
use serde_json::json;
use tokio::time::Instant;

use crate::measuring::{tell, windows};

const PACKAGE: &str = "tokio-retry";

pub async fn measure() {
    for (case, backoff) in [
        ("tokio-retry base", ExponentialBackoff::from_millis(100)),
        ("tokio-retry factor", ExponentialBackoff::from_millis(2).factor(500)),
    ] {
        let mut instants = Vec::new();
        let failing = async || -> Result<(), ()> { Err(()) };
        let counted = || {
            instants.push(Instant::now());
            failing()
        };
        // Nothing but a failure can come of it.
        let _ = Retry::start(backoff.take(3), counted).await;
        let waits: Vec<Duration> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        tell(case, PACKAGE, &json!({ "attempts": instants.len(), "waits": windows(&[waits]) }));
    }
}
