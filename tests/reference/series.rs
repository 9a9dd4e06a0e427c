//! Counts over time, from plain lists of instants and of periods.

use std::collections::BTreeMap;

use stormsim::metrics::Bucket;
use stormsim::time::{Instant, Span};

use super::record::Moment;

/// Everything about one series of the timeline.
#[derive(Default)]
pub struct Series {
    /// When attempts were sent, or arrived.
    pub attempts: Vec<Instant>,
    /// Those of them that were retries.
    pub retries: Vec<Instant>,
    /// When something ended well.
    pub succeeded: Vec<Instant>,
    /// When something ended badly.
    pub failed: Vec<Instant>,
    /// When a caller gave up.
    pub timeouts: Vec<Instant>,
    /// From when until when each was in flight.
    pub in_flight: Vec<(Instant, Instant)>,
}

impl Series {
    /// Sorted into buckets of this width; idle buckets are left out.
    pub fn into_buckets(self, width: Span) -> Vec<Bucket> {
        let mut buckets = Buckets { width: width.as_ns(), by_index: BTreeMap::new() };
        self.attempts.into_iter().for_each(|at| buckets.at(at).attempts += 1);
        self.retries.into_iter().for_each(|at| buckets.at(at).retries += 1);
        self.succeeded.into_iter().for_each(|at| buckets.at(at).succeeded += 1);
        self.failed.into_iter().for_each(|at| buckets.at(at).failed += 1);
        self.timeouts.into_iter().for_each(|at| buckets.at(at).timeouts += 1);
        self.in_flight.into_iter().for_each(|(from, until)| buckets.spread(from, until));
        buckets.by_index.into_values().filter(|bucket| !bucket.is_idle()).collect()
    }
}

struct Buckets {
    width: u64,
    by_index: BTreeMap<u64, Bucket>,
}

impl Buckets {
    fn numbered(&mut self, index: u64) -> &mut Bucket {
        self.by_index.entry(index).or_insert(Bucket { index, ..Bucket::default() })
    }

    fn at(&mut self, at: Instant) -> &mut Bucket {
        self.numbered(at.as_ns() / self.width)
    }

    /// Adds to each bucket how much of `[from, until)` lies within it.
    fn spread(&mut self, from: Instant, until: Instant) {
        let (from, until) = (from.as_ns(), until.as_ns());
        for index in from / self.width..=until / self.width {
            let (start, end) = (index * self.width, (index + 1) * self.width);
            self.numbered(index).in_flight_ns += u128::from(until.min(end) - from.max(start));
        }
    }
}

/// The most of these instants within one aligned 100 ms.
pub fn peak(instants: impl Iterator<Item = Instant>) -> u64 {
    let mut counts = BTreeMap::new();
    for at in instants {
        *counts.entry(at.as_ns() / 100_000_000).or_insert(0) += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// The largest number of periods that overlap, and when it was first reached; `(0, Instant::ZERO)` without any.
/// A period that begins and ends within one event counts: it was there before it was gone.
pub fn most_at_once(periods: &[(Moment, Option<Moment>)]) -> (u64, Instant) {
    let begins = periods.iter().map(|&(from, _)| (from, Change::Begin));
    let ends = periods.iter().filter_map(|&(_, until)| until.map(|until| (until, Change::End)));
    let mut changes: Vec<_> = begins.chain(ends).collect();
    changes.sort_unstable();

    let (mut now, mut most) = (0, (0, Instant::ZERO));
    for (moment, change) in changes {
        match change {
            Change::Begin => now += 1,
            Change::End => now -= 1,
        }
        if now > most.0 {
            most = (now, moment.at);
        }
    }
    most
}

/// In this order within one event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Begin,
    End,
}
