//! tower: its exponential backoff and its budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::tower::retry::backoff::{Backoff, ExponentialBackoffMaker, MakeBackoff};
use ::tower::retry::budget::{Budget, TpsBudget};
use ::tower::util::rng::Rng;
use serde_json::json;
use tokio::time::Instant;

use crate::measuring::{STEPS, tell, windows};

const PACKAGE: &str = "tower";

/// A random source that walks evenly from the least number above 0 to the largest below 1, over and over; its clones
/// walk together.
#[derive(Clone, Default)]
struct Sweep(Arc<AtomicUsize>);

impl Rng for Sweep {
    fn next_u64(&mut self) -> u64 {
        let step = self.0.fetch_add(1, Ordering::Relaxed) % STEPS;
        // tower makes 53 bits of it, and does not count on a zero.
        let least = 1 << 11;
        (u64::MAX / (STEPS as u64 - 1) * step as u64).max(least)
    }
}

pub fn measure() {
    let hour = 3_600_000;
    for (case, base, cap, retries) in
        [("tower backoff", 50, hour, 5), ("tower long backoff", 1600, hour, 1), ("tower cap", 50, 300, 6)]
    {
        let calls = calls(Duration::from_millis(base), Duration::from_millis(cap), retries);
        tell(case, PACKAGE, &json!({ "waits": windows(&calls) }));
    }
    tell("tower budget", PACKAGE, &json!({ "retries": granted(&TpsBudget::default(), 0) }));
    for ratio in [0.2, 0.3, 0.7, 2.0] {
        let budget = TpsBudget::new(Duration::from_secs(10), 0, ratio);
        tell(&format!("tower budget {ratio}"), PACKAGE, &json!({ "retries": granted(&budget, 10) }));
    }
}

/// The waits of as many calls as a sweep has numbers, with the jitter that is the default.
fn calls(base: Duration, cap: Duration, retries: usize) -> Vec<Vec<Duration>> {
    let mut maker =
        ExponentialBackoffMaker::new(base, cap, 0.99, Sweep::default()).expect("the cap is not below the base");
    (0..STEPS)
        .map(|_| {
            let mut backoff = maker.make_backoff();
            (0..retries).map(|_| backoff.next_backoff().deadline() - Instant::now()).collect()
        })
        .collect()
}

/// How many retries a budget grants after so many deposits, of more than it can.
fn granted(budget: &TpsBudget, deposits: usize) -> usize {
    (0..deposits).for_each(|_| budget.deposit());
    (0..1000).filter(|_| budget.withdraw()).count()
}
