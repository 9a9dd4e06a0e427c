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

const VERSION: &str = "0.5.3";
const RETRIES: usize = 6;

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
    for (case, cap) in [("tower backoff", Duration::from_secs(3600)), ("tower cap", Duration::from_millis(300))] {
        tell(case, VERSION, &json!({ "waits": windows(&calls(cap)) }));
    }
    tell("tower budget", VERSION, &json!({ "retries": granted(&TpsBudget::default(), 0) }));
    for ratio in [0.2, 0.3, 0.7, 2.0] {
        let budget = TpsBudget::new(Duration::from_secs(10), 0, ratio);
        tell(&format!("tower budget {ratio}"), VERSION, &json!({ "retries": granted(&budget, 10) }));
    }
}

/// The waits of as many calls as a sweep has numbers, with the jitter that is the default.
fn calls(cap: Duration) -> Vec<Vec<Duration>> {
    let mut maker = ExponentialBackoffMaker::new(Duration::from_millis(50), cap, 0.99, Sweep::default())
        .expect("the cap is above the least wait");
    (0..STEPS)
        .map(|_| {
            let mut backoff = maker.make_backoff();
            (0..RETRIES).map(|_| backoff.next_backoff().deadline() - Instant::now()).collect()
        })
        .collect()
}

/// How many retries a budget grants after so many deposits, of more than it can.
fn granted(budget: &TpsBudget, deposits: usize) -> usize {
    (0..deposits).for_each(|_| budget.deposit());
    (0..1000).filter(|_| budget.withdraw()).count()
}
