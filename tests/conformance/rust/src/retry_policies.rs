//! retry-policies: its exponential backoff, with the jitter that is the default and with the other one.

use std::error::Error;
use std::time::{Duration, SystemTime};

use ::retry_policies::policies::ExponentialBackoff;
use ::retry_policies::{Jitter, RetryDecision, RetryPolicy};
use serde_json::json;

use crate::measuring::{SAMPLES, tell, windows};

const PACKAGE: &str = "retry-policies";
const RETRIES: u32 = 3;

pub fn measure() -> Result<(), Box<dyn Error>> {
    for (case, jitter) in [("retry-policies full", None), ("retry-policies bounded", Some(Jitter::Bounded))] {
        let builder = ExponentialBackoff::builder();
        let builder = jitter.into_iter().fold(builder, |builder, jitter| builder.jitter(jitter));
        let policy = builder.build_with_max_retries(RETRIES);
        let calls = (0..SAMPLES).map(|_| waits(&policy)).collect::<Result<Vec<_>, _>>()?;
        let attempts = calls[0].len() + 1;
        tell(case, PACKAGE, &json!({ "attempts": attempts, "sampled": true, "waits": windows(&calls) }));
    }
    Ok(())
}

/// The waits of one call.
fn waits(policy: &ExponentialBackoff) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut waits = Vec::new();
    while let Some(wait) = wait(policy, u32::try_from(waits.len())?)? {
        waits.push(wait);
    }
    Ok(waits)
}

/// The wait after so many retries.
fn wait(policy: &ExponentialBackoff, retries: u32) -> Result<Option<Duration>, Box<dyn Error>> {
    loop {
        let before = SystemTime::now();
        let decision = policy.should_retry(before, retries);
        // The answer is an instant, reckoned from a look at the clock in between. If that may have been long ago, the
        // question is asked once more.
        if before.elapsed()? > Duration::from_millis(1) {
            continue;
        }
        return Ok(match decision {
            RetryDecision::Retry { execute_after } => Some(execute_after.duration_since(before)?),
            RetryDecision::DoNotRetry => None,
        });
    }
}
