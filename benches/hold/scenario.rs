//! What a scenario costs per event.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;

/// Measures one replica of the file, from its first event to its last.
pub fn events(criterion: &mut Criterion, name: &str, file: &str) {
    let scenario = Scenario::load(Path::new(file), &Overrides::default()).expect("it is right");
    let plan = &scenario.variants()[0].1;
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group.throughput(Throughput::Elements(simulate(plan, 42, 0).events));
    group.bench_function(BenchmarkId::new("events", "60 s"), |bencher| {
        bencher.iter(|| black_box(simulate(plan, 42, 0)));
    });
    group.finish();
}
