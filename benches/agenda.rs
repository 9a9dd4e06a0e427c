//! The hold model, the classic measure of an event queue: take the first event, schedule one more, N pending all the
//! time.
//!
//! Each size runs on the agenda and on a plain binary heap of packed integers, one after the other in one process, so
//! that on a noisy machine the ratio of the two can be trusted where neither time can:
//!
//!     cargo bench --bench agenda
//!
//! The delays are exponential with a mean of one second: with N pending, events are 1/N seconds apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stormsim::dist::mix;
use stormsim::sim::agenda::{Agenda, Event};
use stormsim::time::{Instant, Span};

/// Operations between two looks at the clock. What is left of the run is long enough for all of them.
const HOLDS: u64 = 10_000;

/// A table of exponential delays, so that what is measured is the queue and not the logarithm.
struct Delays {
    ns: Vec<u64>,
    next: usize,
}

impl Delays {
    fn new() -> Self {
        let ns = (0..1 << 16).map(|n| {
            let uniform = (mix(1, n) >> 11) as f64 / (1_u64 << 53) as f64;
            (-libm::log(1.0 - uniform) * 1e9) as u64
        });
        Self { ns: ns.collect(), next: 0 }
    }

    fn next(&mut self) -> u64 {
        self.next = (self.next + 1) % (1 << 16);
        self.ns[self.next]
    }
}

fn hold(c: &mut Criterion) {
    let mut group = c.benchmark_group("hold");
    group.throughput(Throughput::Elements(HOLDS));
    for pending in [1_000, 100_000, 1_000_000_u32] {
        group.bench_function(BenchmarkId::new("agenda", pending), |b| {
            let mut delays = Delays::new();
            let mut agenda = Agenda::new(Instant::LIMIT, &[]);
            for index in 0..pending {
                agenda.schedule(Span::from_ns(delays.next()), Event::new(0, index));
            }
            let mut hold = || {
                let (event, sequence) = agenda.pop(|_, _| true).expect("as many are pending as ever");
                agenda.schedule(Span::from_ns(delays.next()), event);
                sequence
            };
            // Once around, so that the pending events lie as they do in the steady state.
            for _ in 0..pending {
                black_box(hold());
            }
            b.iter(|| {
                for _ in 0..HOLDS {
                    black_box(hold());
                }
            });
        });
        group.bench_function(BenchmarkId::new("binary_heap", pending), |b| {
            let mut delays = Delays::new();
            let mut sequence = 0_u128;
            let mut entry = |at_ns: u64, index: u32| {
                sequence += 1;
                Reverse((u128::from(at_ns) << 76) | (sequence << 32) | u128::from(index))
            };
            let mut heap = BinaryHeap::new();
            for index in 0..pending {
                heap.push(entry(delays.next(), index));
            }
            let mut hold = || {
                let Reverse(first) = heap.pop().expect("as many are pending as ever");
                heap.push(entry((first >> 76) as u64 + delays.next(), first as u32));
                first
            };
            for _ in 0..pending {
                black_box(hold());
            }
            b.iter(|| {
                for _ in 0..HOLDS {
                    black_box(hold());
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
