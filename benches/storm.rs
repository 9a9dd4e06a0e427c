//! The retry storm of 1,000 to 1,000,000 clients that fail at the same instant and retry four times with full jitter,
//! beside the hold operation of a plain binary heap at 10^5 pending in the same process.
//!
//! The time per event of the engine divided by that of the heap can be compared between machines, and between runs on a
//! busy one; the times themselves cannot.

#[path = "hold/beside.rs"]
mod beside;
mod hold;

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stormsim::plan::Plan;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;

/// The variant `full-jitter` of the bundled scenario, with this many clients.
fn storm(clients: u32) -> Plan {
    let overrides = Overrides {
        set: vec![format!("clients.fleet.count={clients}")],
        variant: Some("full-jitter".to_owned()),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Path::new("scenarios/backoff.toml"), &overrides).expect("the scenario is right");
    scenario.variants()[0].1.clone()
}

fn storms(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("storm");
    group.sample_size(10);
    for clients in [1_000, 10_000, 100_000, 1_000_000] {
        let plan = storm(clients);
        group.throughput(Throughput::Elements(simulate(&plan, 42, 0).events));
        group.bench_with_input(BenchmarkId::new("events", clients), &plan, |bencher, plan| {
            bencher.iter(|| black_box(simulate(plan, 42, 0)));
        });
    }
    group.finish();
}

criterion_group!(benches, beside::heap, storms);
criterion_main!(benches);
