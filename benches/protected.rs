//! The three tiers of the bench `chain` with a retry budget, a breaker and deadlines passed on at every call
//! (`protected.toml`), beside the hold operation of a plain binary heap at 10^5 pending in the same process.

#[path = "hold/beside.rs"]
mod beside;
mod hold;
#[path = "hold/scenario.rs"]
mod scenario;

use criterion::{Criterion, criterion_group, criterion_main};

fn protected(criterion: &mut Criterion) {
    scenario::events(criterion, "protected", "benches/protected.toml");
}

criterion_group!(benches, beside::heap, protected);
criterion_main!(benches);
