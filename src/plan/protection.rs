//! What callers protect their callees with, and themselves: breakers, throttles and hedges.

use crate::plan::Timeout;
use crate::time::Span;

/// A rule that is asked before anything is sent, and who shares a state of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard<R> {
    /// The rule.
    pub rule: R,
    /// Whether each instance of the caller has a state of its own, numbered as the instances are; else all share one.
    pub by_instance: bool,
}

/// Second copies of an attempt that is slow to be answered, sent beside it. `T` is the limit of its time: a [`Timeout`]
/// in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedge<T = Timeout> {
    /// The nth copy is sent n times this after the attempt was sent; above zero.
    pub after: T,
    /// How many at most; at least 1.
    pub copies: u32,
    /// How many may be under way at once, for all attempts of those that share: a copy that would be one more is left
    /// out. [`Capacity::NO_LIMIT`](crate::plan::Capacity::NO_LIMIT) without a limit.
    pub in_flight: u32,
    /// Whether that is so for each instance of the caller; else for all together.
    pub by_instance: bool,
    /// Whether those that are too late are given up, so that the callee may learn of it; else nobody hears.
    pub cancel_losers: bool,
}

impl Hedge<Span> {
    /// The same with its place among the constant timeouts.
    pub fn with(self, after: Timeout) -> Hedge {
        let Self { copies, in_flight, by_instance, cancel_losers, .. } = self;
        Hedge { after, copies, in_flight, by_instance, cancel_losers }
    }
}
