//! A minute of 10,000 requests per second through three tiers with queues, timeouts and retries, the last of which is
//! down for five seconds (`chain.toml`), beside the hold operation of a plain binary heap at 10^5 pending in the same
//! process.
//!
//! The time per event of the engine divided by that of the heap can be compared between machines, and between runs on a
//! busy one; the times themselves cannot.

#[path = "hold/beside.rs"]
mod beside;
mod hold;

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;

fn chain(criterion: &mut Criterion) {
    let scenario = Scenario::load(Path::new("benches/chain.toml"), &Overrides::default()).expect("it is right");
    let plan = &scenario.variants()[0].1;
    let mut group = criterion.benchmark_group("chain");
    group.sample_size(10);
    group.throughput(Throughput::Elements(simulate(plan, 42, 0).events));
    group.bench_function(BenchmarkId::new("events", "60 s"), |bencher| {
        bencher.iter(|| black_box(simulate(plan, 42, 0)));
    });
    group.finish();
}

criterion_group!(benches, beside::heap, chain);
criterion_main!(benches);
