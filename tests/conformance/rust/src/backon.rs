//! backon: its exponential backoff, without and with jitter.

use std::time::Duration;

use ::backon::{BackoffBuilder, ExponentialBuilder, Retryable};
use serde_json::json;
use tokio::time::Instant;

use crate::measuring::{SAMPLES, tell, windows};

const PACKAGE: &str = "backon";

pub async fn measure() {
    let mut instants = Vec::new();
    let failing = async || -> Result<(), ()> { Err(()) };
    let counted = || {
        instants.push(Instant::now());
        failing()
    };
    // Nothing but a failure can come of it.
    let _ = counted.retry(ExponentialBuilder::default()).sleep(tokio::time::sleep).await;
    let waits: Vec<Duration> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
    tell("backon defaults", PACKAGE, &json!({ "attempts": instants.len(), "waits": windows(&[waits]) }));

    let long = ExponentialBuilder::default().with_max_times(8);
    tell("backon cap", PACKAGE, &json!({ "waits": windows(&[long.build().collect()]) }));

    let jittered = ExponentialBuilder::default().with_jitter();
    let seeded = |seed: usize| jittered.with_jitter_seed(seed as u64).build().collect();
    let calls: Vec<Vec<Duration>> = (0..SAMPLES).map(seeded).collect();
    tell("backon jitter", PACKAGE, &json!({ "sampled": true, "waits": windows(&calls) }));
}
