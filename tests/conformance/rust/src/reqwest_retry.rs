//! reqwest-retry: what it tries again, how often, and after which waits.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use ::reqwest_retry::policies::ExponentialBackoff;
use ::reqwest_retry::{RetryDecision, RetryPolicy, RetryTransientMiddleware};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use serde_json::json;

use crate::measuring::{KINDS, Server, tell};

const PACKAGE: &str = "reqwest-retry";
const RETRIES: u32 = 3;
const CALLS: usize = 3;

/// Counts the retries of a policy, and leaves out its waits.
struct Counted {
    policy: ExponentialBackoff,
    retries: Arc<AtomicUsize>,
}

impl RetryPolicy for Counted {
    fn should_retry(&self, began: SystemTime, retries: u32) -> RetryDecision {
        match self.policy.should_retry(began, retries) {
            RetryDecision::Retry { .. } => {
                self.retries.fetch_add(1, Ordering::Relaxed);
                RetryDecision::Retry { execute_after: SystemTime::now() }
            }
            RetryDecision::DoNotRetry => RetryDecision::DoNotRetry,
        }
    }
}

pub async fn measure(mut server: Server) -> Result<(), Box<dyn Error>> {
    let mut retried = Vec::new();
    for kind in KINDS {
        let retries = Arc::new(AtomicUsize::new(0));
        let policy = ExponentialBackoff::builder().build_with_max_retries(RETRIES);
        let counted = Counted { policy, retries: Arc::clone(&retries) };
        // Whether it is an error in the end does not matter here.
        let _ = client(counted, kind)?.get(server.target(kind)).send().await;
        if retries.load(Ordering::Relaxed) > 0 {
            retried.push(kind);
        }
    }
    tell("reqwest-retry", PACKAGE, &json!({ "retried": retried, "tried": KINDS }));

    let mut calls = Vec::new();
    for _ in 0..CALLS {
        let bounds = (Duration::from_millis(100), Duration::from_secs(1800));
        let policy = ExponentialBackoff::builder().retry_bounds(bounds.0, bounds.1).build_with_max_retries(RETRIES);
        let _ = client(policy, "503")?.get(server.target("503")).send().await;
        calls.push(server.gaps().await?);
    }
    tell("reqwest-retry waiting", PACKAGE, &json!({ "attempts": calls[0].len() + 1, "gaps": calls }));
    Ok(())
}

/// A client with this policy. Its timeout is short where the server hangs, else not to be met on a busy machine.
fn client<P: RetryPolicy + Send + Sync + 'static>(
    policy: P,
    kind: &str,
) -> Result<ClientWithMiddleware, reqwest::Error> {
    let timeout = if kind == "hang" { Duration::from_millis(50) } else { Duration::from_secs(10) };
    let client = reqwest::Client::builder().no_proxy().timeout(timeout).build()?;
    Ok(ClientBuilder::new(client).with(RetryTransientMiddleware::new_with_policy(policy)).build())
}
