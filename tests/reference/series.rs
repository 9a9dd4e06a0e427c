//! Counts over time, from plain lists of instants and of periods.

use std::collections::BTreeMap;
use std::ops::Range;

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
    /// Those of them that were hedges.
    pub hedges: Vec<Instant>,
    /// When something ended well.
    pub succeeded: Vec<Instant>,
    /// When something ended badly.
    pub failed: Vec<Instant>,
    /// When a caller gave up.
    pub timeouts: Vec<Instant>,
    /// When the budget of a call refused.
    pub budget_refused: Vec<Instant>,
    /// From when until when each was in flight.
    pub in_flight: Vec<Range<Instant>>,
    /// From when until when each waited for a worker, or for a slot.
    pub queued: Vec<Range<Instant>>,
    /// From when until when each had a worker.
    pub busy: Vec<Range<Instant>>,
}

impl Series {
    /// Sorted into buckets of this width; idle buckets are left out.
    pub fn into_buckets(self, width: Span) -> Vec<Bucket> {
        let mut buckets = Buckets { width: width.as_ns(), by_index: BTreeMap::new() };
        self.attempts.into_iter().for_each(|at| buckets.at(at).attempts += 1);
        self.retries.into_iter().for_each(|at| buckets.at(at).retries += 1);
        self.hedges.into_iter().for_each(|at| buckets.at(at).hedges += 1);
        self.succeeded.into_iter().for_each(|at| buckets.at(at).succeeded += 1);
        self.failed.into_iter().for_each(|at| buckets.at(at).failed += 1);
        self.timeouts.into_iter().for_each(|at| buckets.at(at).timeouts += 1);
        self.budget_refused.into_iter().for_each(|at| buckets.at(at).budget_refused += 1);
        self.in_flight.iter().for_each(|period| buckets.spread(period, |bucket| &mut bucket.in_flight_ns));
        self.queued.iter().for_each(|period| buckets.spread(period, |bucket| &mut bucket.queued_ns));
        self.busy.iter().for_each(|period| buckets.spread(period, |bucket| &mut bucket.busy_ns));
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

    /// Adds to `sum` of each bucket how much of the period lies within it.
    fn spread(&mut self, period: &Range<Instant>, sum: fn(&mut Bucket) -> &mut u128) {
        for index in period.start.as_ns() / self.width..=period.end.as_ns() / self.width {
            let bucket = Instant::from_ns(index * self.width)..Instant::from_ns((index + 1) * self.width);
            *sum(self.numbered(index)) += u128::from(time_within(&bucket, period).as_ns());
        }
    }
}

/// How much of a period lies within a window.
pub fn time_within(window: &Range<Instant>, period: &Range<Instant>) -> Span {
    period.end.min(window.end).since(period.start.max(window.start))
}

/// The most of these instants within one aligned 100 ms.
pub fn peak(instants: impl Iterator<Item = Instant>) -> u64 {
    let mut counts = BTreeMap::new();
    for at in instants {
        *counts.entry(at.as_ns() / 100_000_000).or_insert(0) += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// The largest number of periods that overlap within a window, and when it was first reached there; `(0,
/// Instant::ZERO)` without any. Those that have begun before the window are there from its start on. A period that
/// begins and ends within one event counts: it was there before it was gone.
pub fn most_at_once(window: &Range<Instant>, periods: &[(Moment, Option<Moment>)]) -> (u64, Instant) {
    let begins = periods.iter().map(|&(from, _)| (from, Change::Begin));
    let ends = periods.iter().filter_map(|&(_, until)| until.map(|until| (until, Change::End)));
    let mut changes: Vec<_> = begins.chain(ends).filter(|(moment, _)| moment.at < window.end).collect();
    changes.sort_unstable();
    let (before, within) = changes.split_at(changes.partition_point(|(moment, _)| moment.at < window.start));

    let mut now = before.iter().fold(0, |level, (_, change)| change.apply(level));
    let mut most = if now > 0 { (now, window.start) } else { (0, Instant::ZERO) };
    for (moment, change) in within {
        now = change.apply(now);
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

impl Change {
    fn apply(self, level: u64) -> u64 {
        match self {
            Self::Begin => level + 1,
            Self::End => level - 1,
        }
    }
}
