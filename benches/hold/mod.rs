//! The hold model on a plain binary heap of packed integers: what every benchmark is measured against.
//!
//! Take the first event, schedule one more, N pending all the time. The delays are exponential with a mean of one
//! second: with N pending, events are 1/N seconds apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormsim::dist::mix;

/// A table of exponential delays, so that what is measured is the queue and not the logarithm.
pub struct Delays {
    ns: Vec<u64>,
    next: usize,
}

impl Delays {
    /// From the start of the table.
    pub fn new() -> Self {
        let ns = (0..1 << 16).map(|n| {
            let uniform = (mix(1, n) >> 11) as f64 / (1_u64 << 53) as f64;
            (-libm::log(1.0 - uniform) * 1e9) as u64
        });
        Self { ns: ns.collect(), next: 0 }
    }

    /// The next delay, in ns.
    pub fn next(&mut self) -> u64 {
        self.next = (self.next + 1) % (1 << 16);
        self.ns[self.next]
    }
}

/// A binary heap in the steady state of the hold model.
pub struct HeapHold {
    heap: BinaryHeap<Reverse<u128>>,
    delays: Delays,
    sequence: u128,
}

impl HeapHold {
    /// With so many events pending, which lie as they do in the steady state.
    pub fn new(pending: u32) -> Self {
        let mut model = Self { heap: BinaryHeap::new(), delays: Delays::new(), sequence: 0 };
        for index in 0..pending {
            model.push(0, index);
        }
        for _ in 0..pending {
            model.hold();
        }
        model
    }

    /// One hold operation.
    pub fn hold(&mut self) -> u128 {
        let Reverse(first) = self.heap.pop().expect("as many are pending as ever");
        self.push((first >> 76) as u64, first as u32);
        first
    }

    fn push(&mut self, now_ns: u64, index: u32) {
        self.sequence += 1;
        let at_ns = u128::from(now_ns + self.delays.next());
        self.heap.push(Reverse(at_ns << 76 | self.sequence << 32 | u128::from(index)));
    }
}
