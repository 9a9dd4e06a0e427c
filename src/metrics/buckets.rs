//! The timeline while it is being written: what each bucket adds to the running sums of every series.

use std::mem;

use crate::metrics::{Bucket, Timeline, TokenLevel};
use crate::plan::Plan;
use crate::time::{Instant, Span};

/// The most buckets a series may have.
const BUCKET_LIMIT: usize = 10_000_000;
/// Up to this many buckets of a series have their place from the start, if the end is known; then they are not moved
/// as the series grows. What is not written of it takes no memory.
const RESERVED: u64 = 4_096;

/// Closed buckets, and the current one.
#[derive(Debug)]
pub(super) struct Buckets {
    timeline: Timeline,
    /// The sums of every series at the start of the current bucket, or at the end of the one just closed: scenario,
    /// groups, calls, services.
    start: Vec<Bucket>,
    end: Instant,
    overfull: bool,
}

impl Buckets {
    /// The first bucket, before anything has happened.
    pub fn new(plan: &Plan) -> Self {
        let expected = plan.horizon.map_or(0, |horizon| horizon.as_ns().div_ceil(plan.bucket.as_ns()));
        let reserved = expected.min(RESERVED) as usize;
        let series = |count: usize| (0..count).map(|_| Vec::with_capacity(reserved)).collect();
        let timeline = Timeline {
            bucket: plan.bucket,
            scenario: Vec::with_capacity(reserved),
            groups: series(plan.groups.len()),
            calls: series(plan.calls.len()),
            services: series(plan.services.len()),
            tokens: plan.budgets.iter().map(|_| Vec::with_capacity(reserved)).collect(),
        };
        let start = vec![Bucket::default(); Self::series(plan)];
        Self { timeline, start, end: Instant::ZERO + plan.bucket, overfull: false }
    }

    /// How many series there are, but for those of tokens.
    pub fn series(plan: &Plan) -> usize {
        1 + plan.groups.len() + plan.calls.len() + plan.services.len()
    }

    /// Where the current bucket ends.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Whether a series has outgrown its limit.
    pub fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Closes the current bucket, at its end or that of the run, with the sums of then and the level of each budget.
    /// What is in `sums` afterwards means nothing.
    pub fn close(&mut self, sums: &mut Vec<Bucket>, levels: impl Iterator<Item = Option<u128>>) {
        let index = (self.end.as_ns() - 1) / self.timeline.bucket.as_ns();
        for ((series, sum), before) in all_series(&mut self.timeline).zip(&*sums).zip(&self.start) {
            let bucket = difference(index, sum, before);
            if !bucket.is_idle() {
                series.push(bucket);
                self.overfull |= series.len() > BUCKET_LIMIT;
            }
        }
        mem::swap(&mut self.start, sums);
        for (series, level) in self.timeline.tokens.iter_mut().zip(levels) {
            let last = series.last().map(|last| last.micro);
            series.extend(level.filter(|_| level != last).map(|micro| TokenLevel { index, micro }));
        }
    }

    /// The start of the bucket that holds `now`, if there are whole buckets between it and the current one.
    pub fn start_after_gap(&self, now: Instant) -> Option<Instant> {
        let width = self.timeline.bucket.as_ns();
        let start = Instant::from_ns(now.as_ns() / width * width);
        (start > self.end).then_some(start)
    }

    /// In the whole buckets between the one just closed and that which holds `now` nothing has happened, but levels have
    /// lasted: `sums` are those at the start that [`Buckets::start_after_gap`] gave, and mean nothing afterwards.
    pub fn fill_gap(&mut self, now: Instant, sums: &mut Vec<Bucket>) {
        let width = self.timeline.bucket.as_ns();
        let (first, current) = (self.end.as_ns() / width, now.as_ns() / width);
        for ((series, sum), before) in all_series(&mut self.timeline).zip(&*sums).zip(&self.start) {
            let buckets = u128::from(current - first);
            let level = |sum: u128, before: u128| (sum - before) / buckets;
            let lasting = Bucket {
                in_flight_ns: level(sum.in_flight_ns, before.in_flight_ns),
                queued_ns: level(sum.queued_ns, before.queued_ns),
                busy_ns: level(sum.busy_ns, before.busy_ns),
                ..Bucket::default()
            };
            if lasting.is_idle() {
                continue;
            }
            if series.len() as u64 + (current - first) > BUCKET_LIMIT as u64 {
                self.overfull = true;
                continue;
            }
            series.extend((first..current).map(|index| Bucket { index, ..lasting }));
        }
        mem::swap(&mut self.start, sums);
    }

    /// Begins the bucket that holds `now`, after those before it have been closed.
    pub fn begin(&mut self, now: Instant) {
        self.end = next_multiple(now, self.timeline.bucket);
    }

    /// All buckets.
    pub fn into_timeline(self) -> Timeline {
        self.timeline
    }
}

/// The series in the order of the sums.
fn all_series(timeline: &mut Timeline) -> impl Iterator<Item = &mut Vec<Bucket>> {
    std::iter::once(&mut timeline.scenario)
        .chain(&mut timeline.groups)
        .chain(&mut timeline.calls)
        .chain(&mut timeline.services)
}

fn difference(index: u64, sum: &Bucket, before: &Bucket) -> Bucket {
    Bucket {
        index,
        attempts: sum.attempts - before.attempts,
        retries: sum.retries - before.retries,
        succeeded: sum.succeeded - before.succeeded,
        failed: sum.failed - before.failed,
        timeouts: sum.timeouts - before.timeouts,
        budget_refused: sum.budget_refused - before.budget_refused,
        hedges: sum.hedges - before.hedges,
        in_flight_ns: sum.in_flight_ns - before.in_flight_ns,
        queued_ns: sum.queued_ns - before.queued_ns,
        busy_ns: sum.busy_ns - before.busy_ns,
    }
}

/// The first multiple of `width` after `now`.
pub(super) fn next_multiple(now: Instant, width: Span) -> Instant {
    Instant::from_ns((now.as_ns() / width.as_ns() + 1) * width.as_ns())
}
