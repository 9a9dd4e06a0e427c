//! The hold model, the classic measure of an event queue; see [`hold`].
//!
//! Each size runs on the agenda and on a plain binary heap of packed integers, one after the other in one process, so
//! that on a noisy machine the ratio of the two can be trusted where neither time can:
//!
//!     cargo bench --bench agenda

#[path = "hold/agenda.rs"]
mod agenda_hold;
mod hold;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use agenda_hold::AgendaHold;
use hold::HeapHold;

/// Operations between two looks at the clock. What is left of the run is long enough for all of them.
const HOLDS: u64 = 10_000;

fn holds(c: &mut Criterion) {
    let mut group = c.benchmark_group("hold");
    group.throughput(Throughput::Elements(HOLDS));
    for pending in [1_000, 100_000, 1_000_000_u32] {
        group.bench_function(BenchmarkId::new("agenda", pending), |b| {
            let mut agenda = AgendaHold::new(pending);
            b.iter(|| {
                for _ in 0..HOLDS {
                    black_box(agenda.hold());
                }
            });
        });
        group.bench_function(BenchmarkId::new("binary_heap", pending), |b| {
            let mut heap = HeapHold::new(pending);
            b.iter(|| {
                for _ in 0..HOLDS {
                    black_box(heap.hold());
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, holds);
criterion_main!(benches);
