//! The hold operation of the heap as a benchmark, for those that measure something else beside it.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};

use crate::hold::HeapHold;

/// Pending events of the heap that everything is measured against.
const PENDING: u32 = 100_000;
/// Hold operations per sample.
const HOLDS: u64 = 100_000;

/// Holds at 10^5 pending.
pub fn heap(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("heap");
    group.throughput(Throughput::Elements(HOLDS));
    group.bench_function(BenchmarkId::new("hold", PENDING), |bencher| {
        let mut heap = HeapHold::new(PENDING);
        bencher.iter(|| {
            for _ in 0..HOLDS {
                black_box(heap.hold());
            }
        });
    });
    group.finish();
}
