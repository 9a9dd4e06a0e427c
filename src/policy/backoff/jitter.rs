//! What makes waits differ.

use crate::dist::{Dist, Purpose, below, draw};
use crate::time::Span;

/// What makes waits differ between clients. `x` is the nominal wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Jitter {
    /// `x`.
    None,
    /// `U(0, x)`.
    Full,
    /// `x / 2 + U(0, x / 2)`.
    Equal,
    /// `x * U(1 - s, 1 + s)`.
    Spread(
        /// s, in [0, 1].
        f64,
    ),
    /// `x * U(1, 1 + s)`.
    Upward(
        /// s, not negative.
        f64,
    ),
    /// `x` plus a sample.
    Add(Dist),
}

/// What jitter makes of a nominal wait.
pub(super) enum Around<'a> {
    /// Anything within a window, all alike.
    Window(Window),
    /// The wait and a sample.
    Added(&'a Dist),
}

/// Whole nanoseconds from `low` to below `high`; just `low` where these are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub low: Span,
    pub high: Span,
}

impl Jitter {
    /// A wait around `x`.
    #[inline(always)]
    pub(in crate::policy) fn apply(&self, x: Span, key: u64, purpose: Purpose) -> Span {
        match self.around(x) {
            // Not even a draw: there is nothing to choose from.
            Around::Window(window) if window.is_point() => window.low,
            Around::Window(window) => window.draw(key, purpose),
            Around::Added(dist) => x + dist.sample(key, purpose),
        }
    }

    /// Between which bounds a wait around `x` lies; up to [`Span::UNLIMITED`] where there is no upper one.
    pub fn bounds(&self, x: Span) -> (Span, Span) {
        match self.around(x) {
            Around::Window(Window { low, high }) => (low, high),
            Around::Added(dist) => {
                let (least, most) = dist.bounds();
                (x + least, most.map_or(Span::UNLIMITED, |most| x + most))
            }
        }
    }

    /// Whether it makes waits differ.
    pub fn spreads(&self) -> bool {
        match self {
            Self::None => false,
            Self::Full | Self::Equal => true,
            Self::Spread(share) | Self::Upward(share) => *share > 0.0,
            Self::Add(dist) => dist.bounds().1 != Some(dist.bounds().0),
        }
    }

    #[inline(always)]
    pub(super) fn around(&self, x: Span) -> Around<'_> {
        let (low, high) = match self {
            Self::None => (x, x),
            Self::Full => (Span::ZERO, x),
            Self::Equal => (Span::from_ns(x.as_ns() / 2), x),
            Self::Spread(share) => {
                let reach = part(x, *share).min(x);
                (x - reach, x + reach)
            }
            Self::Upward(share) => (x, x + part(x, *share)),
            Self::Add(dist) => return Around::Added(dist),
        };
        Around::Window(Window { low, high })
    }
}

fn part(x: Span, share: f64) -> Span {
    Span::from_ns_f64(x.as_ns() as f64 * share)
}

impl Window {
    #[inline(always)]
    pub fn draw(self, key: u64, purpose: Purpose) -> Span {
        self.low + Span::from_ns(below(draw(key, purpose), (self.high - self.low).as_ns()))
    }

    /// What of it is not below `floor`; just that, if nothing is.
    pub fn above(self, floor: Span) -> Self {
        Self { low: self.low.max(floor), high: self.high.max(floor) }
    }

    /// What of it is not above `cap`; just that, if nothing is.
    pub fn below(self, cap: Span) -> Self {
        Self { low: self.low.min(cap), high: self.high.min(cap) }
    }

    #[inline(always)]
    pub fn is_point(self) -> bool {
        self.low == self.high
    }
}
