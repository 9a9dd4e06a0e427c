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
    /// A share of those that ended. As in Resilience4j, whatever ends may open the breaker: also a success, if with it
    /// there are as many as there must be. (Polly asks only after a failure.)
    Ratio {
        /// The share of what.
        of: Badness,
        /// In millionths, at least 1: as much or more opens it.
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

/// What a [`Trip`] has counted since the breaker was closed, by its kind.
#[derive(Clone, Debug)]
pub enum TripState {
    /// Failures in a row.
    Row(u32),
    /// Failures in the current one of the windows that follow each other.
    Fixed {
        /// When the first of them began.
        since: Instant,
        /// Which it is, from 0.
        window: u64,
        /// How many.
        failures: u32,
    },
    /// When the failures of the window were, the latest first.
    Sliding(VecDeque<Instant>),
    /// Which of the last that ended were bad, and how many were.
    Last(VecDeque<bool>, u32),
    /// All that ended of late, and the bad ones.
    Recent(Box<Slots<2>>),
}

impl Trip {
    /// Whether something that took so long is bad, having failed or not.
    pub fn is_bad(&self, has_failed: bool, took: Span) -> bool {
        match self {
            Self::Ratio { of: Badness::SlowerThan(limit), .. } => took > *limit,
            Self::Consecutive(_) | Self::Count { .. } | Self::Ratio { of: Badness::Failure, .. } => has_failed,
        }
    }

    /// Nothing counted yet by a breaker that was closed at `now`.
    pub fn start(&self, now: Instant) -> TripState {
        match self {
            Self::Consecutive(_) => TripState::Row(0),
            Self::Count { sliding: true, .. } => TripState::Sliding(VecDeque::new()),
            Self::Count { sliding: false, .. } => TripState::Fixed { since: now, window: 0, failures: 0 },
            Self::Ratio { over: Over::Calls(_), .. } => TripState::Last(VecDeque::new(), 0),
            Self::Ratio { over: Over::Time(_), .. } => TripState::Recent(Box::default()),
        }
    }

    /// Counts one more while the breaker is closed. Whether that opens it. `state` is one that this has started.
    pub fn count(&self, state: &mut TripState, is_bad: bool, now: Instant) -> bool {
        match (*self, state) {
            (Self::Consecutive(limit), TripState::Row(failures)) => {
                *failures = if is_bad { *failures + 1 } else { 0 };
                *failures >= limit
            }
            (Self::Count { failures: limit, window: length, .. }, TripState::Fixed { since, window, failures }) => {
                let number = now.since(*since).as_ns() / length.as_ns();
                if number != *window {
                    (*window, *failures) = (number, 0);
                }
                *failures += u32::from(is_bad);
                is_bad && *failures >= limit
            }
            (Self::Count { failures: limit, window, .. }, TripState::Sliding(failed_at)) if is_bad => {
                while failed_at.back().is_some_and(|&first| now.since(first) >= window) {
                    failed_at.pop_back();
                }
                failed_at.push_front(now);
                failed_at.len() >= limit as usize
            }
            (Self::Ratio { share, over: Over::Calls(calls), min_calls, .. }, TripState::Last(last, bad)) => {
                if last.len() >= calls as usize {
                    *bad -= u32::from(last.pop_front() == Some(true));
                }
                last.push_back(is_bad);
                *bad += u32::from(is_bad);
                last.len() >= min_calls as usize && is_share(i64::from(*bad), last.len() as i64, share)
            }
            (Self::Ratio { share, over: Over::Time(window), min_calls, .. }, TripState::Recent(slots)) => {
                // No window is so short that a tenth of it is nothing.
                let width = Span::from_ns((window.as_ns() / u64::from(TEN)).max(1));
                slots.add([1, i64::from(is_bad)], now, width, TEN);
                let [all, bad] = slots.sums(now, width, TEN);
                all >= i64::from(min_calls) && is_share(bad, all, share)
            }
            _ => false,
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

/// Whether `part` is at least this share, in millionths, of `all`. In whole numbers: 7 of 100 are 7 %.
fn is_share(part: i64, all: i64, share: u64) -> bool {
    i128::from(part) * 1_000_000 >= i128::from(all) * i128::from(share)
}
