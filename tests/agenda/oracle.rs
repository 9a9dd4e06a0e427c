//! The oracle: what an agenda is supposed to do, said with one binary heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormsim::plan::TimeoutId;
use stormsim::sim::agenda::Event;
use stormsim::time::{Instant, Span};

const FAULT: u8 = 0;
const NORMAL: u8 = 1;
const TIMEOUT: u8 = 2;

/// Time in ns, class, sequence; then what the order does not look at: the kind and index of the event.
type Entry = (u64, u8, u64, u8, u32);

pub struct Oracle {
    pub now: Instant,
    pub dropped: bool,
    until: Instant,
    timeouts: Vec<Span>,
    made: u64,
    heap: BinaryHeap<Reverse<Entry>>,
}

impl Oracle {
    pub fn new(until: Instant, timeouts: &[Span]) -> Self {
        let timeouts = timeouts.to_vec();
        Self { now: Instant::ZERO, dropped: false, until, timeouts, made: 0, heap: BinaryHeap::new() }
    }

    pub fn schedule(&mut self, after: Span, event: Event) -> u64 {
        self.add(self.now + after, NORMAL, event)
    }

    pub fn schedule_at(&mut self, at: Instant, event: Event) -> u64 {
        self.add(at, NORMAL, event)
    }

    pub fn schedule_fault(&mut self, at: Instant, event: Event) -> u64 {
        self.add(at, FAULT, event)
    }

    pub fn arm(&mut self, timeout: TimeoutId, event: Event) -> u64 {
        self.add(self.now + self.timeouts[timeout.index()], TIMEOUT, event)
    }

    pub fn arm_at(&mut self, at: Instant, event: Event) -> u64 {
        self.add(at, TIMEOUT, event)
    }

    /// The next event and its sequence; `alive` is asked about timeouts.
    pub fn pop(&mut self, alive: impl Fn(Event, u64) -> bool) -> Option<(Event, u64)> {
        while let Some(Reverse((at, class, sequence, kind, index))) = self.heap.pop() {
            let event = Event::new(kind, index);
            if class != TIMEOUT || alive(event, sequence) {
                self.now = Instant::from_ns(at);
                return Some((event, sequence));
            }
        }
        None
    }

    /// Whether anything else happens at the present instant; `alive` is asked about timeouts.
    pub fn is_anything_due(&self, alive: impl Fn(Event, u64) -> bool) -> bool {
        self.heap.iter().any(|&Reverse((at, class, sequence, kind, index))| {
            at == self.now.as_ns() && (class != TIMEOUT || alive(Event::new(kind, index), sequence))
        })
    }

    fn add(&mut self, at: Instant, class: u8, event: Event) -> u64 {
        let sequence = self.made;
        self.made += 1;
        if at < self.until {
            self.heap.push(Reverse((at.as_ns(), class, sequence, event.kind(), event.index())));
        } else {
            self.dropped = true;
        }
        sequence
    }
}
