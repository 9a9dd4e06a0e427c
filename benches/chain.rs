//! A minute of 10,000 requests per second through three tiers with queues, timeouts and retries, the last of which is
//! down for five seconds (`chain.toml`), beside the hold operation of a plain binary heap at 10^5 pending in the same
//! process.
//!
//! The time per event of the engine divided by that of the heap can be compared between machines, and between runs on a
//! busy one; the times themselves cannot.

#[path = "hold/beside.rs"]
mod beside;
mod hold;
#[path = "hold/scenario.rs"]
mod scenario;

use criterion::{Criterion, criterion_group, criterion_main};

fn chain(criterion: &mut Criterion) {
    scenario::events(criterion, "chain", "benches/chain.toml");
}

criterion_group!(benches, beside::heap, chain);
criterion_main!(benches);
