//! When a breaker opens.

use std::collections::VecDeque;

use crate::policy::slots::{Slots, TEN};
use crate::time::{Instant, Span};

/// What opens a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trip {
    /// So many failures in a row.
    Consecutive(u32),
    /// So many failures within a window.
    Count {
        /// How many; the one that makes them so many opens it.
        failures: u32,
        /// How long it is.
        window: Span,
        /// Whether it is the time before each failure, `(t - window, t]`; else one window follows the other from when
        /// the breaker was closed last.
        sliding: bool,
    },
    /// A share of those that ended.
    Ratio {
        /// The share of what.
        of: Badness,
        /// In millionths: as much or more opens it.
        share: u64,
        /// The share of which of them.
        over: Over,
        /// Fewer do not open it.
        min_calls: u32,
    },
}

/// What is bad about something that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Badness {
    /// That it failed.
    Failure,
    /// That it took longer than this.
    SlowerThan(Span),
}

/// Of what a share is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The last so many that ended.
    Calls(u32),
    /// Those that ended in so much time: in the current tenth of it, which begin at multiples of a tenth, and the nine
    /// before it, as in Hystrix and Polly.
    Time(Span),
}

/// What a [`Trip`] has counted since the breaker was closed.
#[derive(Clone, Debug, Default)]
pub struct TripState {
    /// When the breaker was closed.
    since: Instant,
    /// Failures in a row, or within the current one of the windows that follow each other.
    failures: u32,
    /// That window, from 0.
    window: u64,
    /// When the last failures were, as many as can matter.
    failed_at: VecDeque<Instant>,
    /// Which of the last that ended were bad.
    last: VecDeque<bool>,
    last_bad: u32,
    /// All that ended, and those of them that were bad.
    recent: Slots<2>,
}

impl Trip {
    /// Whether something that took so long is bad, having failed or not.
    pub fn is_bad(&self, has_failed: bool, took: Span) -> bool {
        match self {
            Self::Ratio { of: Badness::SlowerThan(limit), .. } => took > *limit,
            Self::Consecutive(_) | Self::Count { .. } | Self::Ratio { of: Badness::Failure, .. } => has_failed,
        }
    }

    /// Counts one more while the breaker is closed. Whether that opens it.
    pub fn count(&self, state: &mut TripState, is_bad: bool, now: Instant) -> bool {
        match *self {
            Self::Consecutive(limit) => {
                state.failures = if is_bad { state.failures + 1 } else { 0 };
                state.failures >= limit
            }
            Self::Count { failures, window, sliding: true } => {
                if is_bad {
                    state.failed_at.truncate(failures as usize - 1);
                    state.failed_at.push_front(now);
                }
                let is_within = |first: &Instant| now.since(*first) < window;
                is_bad && state.failed_at.get(failures as usize - 1).is_some_and(is_within)
            }
            Self::Count { failures, window, sliding: false } => {
                let number = now.since(state.since).as_ns() / window.as_ns();
                if number != state.window {
                    (state.window, state.failures) = (number, 0);
                }
                state.failures += u32::from(is_bad);
                is_bad && state.failures >= failures
            }
            Self::Ratio { share, over, min_calls, .. } => {
                let (all, bad) = state.ratio_with(over, is_bad, now);
                all >= i64::from(min_calls) && is_share(bad, all, share)
            }
        }
    }

    /// What the probes of a half-open breaker say: that it may close, that it must open, or nothing yet. A ratio is
    /// taken over all of them, any other failure is one too many.
    pub fn verdict(&self, succeeded: u32, failed: u32, probes: u32) -> Option<bool> {
        match *self {
            Self::Ratio { share, .. } => {
                let all = succeeded + failed;
                (all >= probes).then(|| !is_share(failed.into(), all.into(), share))
            }
            Self::Consecutive(_) | Self::Count { .. } if failed > 0 => Some(false),
            Self::Consecutive(_) | Self::Count { .. } => (succeeded >= probes).then_some(true),
        }
    }
}

impl TripState {
    /// The breaker is closed again.
    pub fn restart(&mut self, now: Instant) {
        (self.since, self.failures, self.window, self.last_bad) = (now, 0, 0, 0);
        self.failed_at.clear();
        self.last.clear();
        self.recent.clear();
    }

    /// Counts one more; how many there are, and how many of them are bad.
    fn ratio_with(&mut self, over: Over, is_bad: bool, now: Instant) -> (i64, i64) {
        match over {
            Over::Calls(calls) => {
                if self.last.len() as u64 >= u64::from(calls) {
                    self.last_bad -= u32::from(self.last.pop_front() == Some(true));
                }
                self.last.push_back(is_bad);
                self.last_bad += u32::from(is_bad);
                (self.last.len() as i64, self.last_bad.into())
            }
            Over::Time(window) => {
                // No window is so short that a tenth of it is nothing.
                let width = Span::from_ns((window.as_ns() / u64::from(TEN)).max(1));
                self.recent.add([1, i64::from(is_bad)], now, width, TEN);
                let [all, bad] = self.recent.sums(now, width, TEN);
                (all, bad)
            }
        }
    }
}

/// Whether `part` is at least this share, in millionths, of `all`. In whole numbers: 7 of 100 are 7 %.
fn is_share(part: i64, all: i64, share: u64) -> bool {
    i128::from(part) * 1_000_000 >= i128::from(all) * i128::from(share)
}
