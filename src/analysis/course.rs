//! How a call goes when all of its attempts fail alike: when each begins, and when the call is given up.

use serde::{Serialize, Serializer};

use crate::failure::{ErrorKind, ErrorSet};
use crate::plan::{Call, Hedge, Plan};
use crate::policy::RetryPolicy;
use crate::time::Span;

/// The most attempts that are followed until the call is over.
const FOLLOWED: u64 = 100_000;

/// The most attempts of which it is told when they begin.
const TOLD: usize = 256;

/// How all attempts of a call fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// They are turned away at once with `refused`, which takes the way there and back.
    Refused,
    /// They are answered with an error that the policy retries, if it retries any, after this time: the ways included.
    Late(Span),
    /// They arrive and have no answer, so that only `timeout` ends them.
    Silently,
    /// They find nobody, so that `connect_timeout` ends them, or `timeout`.
    Unreachable,
    /// In any way, and at any time up to this: so it can last the longest.
    Anyhow(Span),
}

/// Why a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// All attempts were made.
    Exhausted,
    /// The next attempt does not fit into the time that is left, or that is over.
    Deadline,
    /// The policy does not try again after such an error.
    NotRetryable,
    /// It is not, as long as a run can be: an attempt has no answer and no timeout, or there is always another.
    Never,
    /// It was not followed beyond its first 100,000 attempts.
    NotFollowed,
}

/// The course of a call, over all waits that may be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
    /// How many attempts there are at least; none if there is always another, or they were not followed.
    pub fewest: Option<u64>,
    /// How many there are at most, likewise.
    pub most: Option<u64>,
    /// When each begins, the first 256.
    pub starts: Vec<Start>,
    /// When the call is given up at the latest; none if there is no such time, or it was not followed up to there.
    #[serde(rename = "given_up_s", serialize_with = "maybe_in_seconds")]
    pub given_up: Option<Span>,
    /// Why it is over where the waits are the shortest.
    pub over: Over,
}

/// When an attempt begins, if it is made, after its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Start {
    /// At the earliest.
    #[serde(rename = "earliest_s", serialize_with = "in_seconds")]
    pub earliest: Span,
    /// At the latest.
    #[serde(rename = "latest_s", serialize_with = "in_seconds")]
    pub latest: Span,
}

impl Course {
    /// Of a call that may last until `limit` ([`Span::UNLIMITED`] for ever), all of whose attempts fail like this.
    ///
    /// It follows the rules of the engine for one call by itself: nothing waits for a slot, no budget, breaker or
    /// throttle refuses, all hedges are sent, no server says when to come back.
    pub(crate) fn of(plan: &Plan, call: &Call, failing: Failing, limit: Span) -> Self {
        let policy = &plan.policies[call.policy.index()];
        let limit = limit.min(call.total_timeout.after);
        let mut walk = Walk { limit, reaches_limit: false, latest_end: Span::ZERO, fewest: None, starts: Vec::new() };
        if limit == Span::ZERO {
            return walk.over(0, Over::Deadline);
        }
        let attempt = Attempt::of(call, policy, failing);
        let is_endless = policy.max_attempts == u32::MAX;
        let mut ranges = policy.schedule.ranges();
        let mut start = Start { earliest: Span::ZERO, latest: Span::ZERO };
        for number in 1.. {
            let Some(ends) = walk.attempt(number, start, &attempt) else { return walk.cut(number) };
            if !attempt.is_retried {
                return walk.ended(ends.latest).over(number, Over::NotRetryable);
            }
            if number == u64::from(policy.max_attempts) && !is_endless {
                return walk.ended(ends.latest).over(number, Over::Exhausted);
            }
            if number == FOLLOWED || is_endless && !walk.has_deadline() && walk.starts.len() == TOLD {
                return walk.not_followed(is_endless);
            }
            let Some(range) = ranges.next() else { break };
            let next = Start { earliest: ends.earliest + range.shortest, latest: ends.latest + range.longest };
            match walk.fit(number, ends, next, policy.min_attempt) {
                Some(next) => start = next,
                None if is_endless && !walk.has_deadline() => return walk.not_followed(is_endless),
                None => return walk.cut(number),
            }
        }
        walk.not_followed(is_endless)
    }
}

fn in_seconds<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_s())
}

fn maybe_in_seconds<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    span.map(Span::as_s).serialize(serializer)
}

/// What is known of a call's course so far.
struct Walk {
    limit: Span,
    /// Whether an attempt may be under way at the limit, or when virtual time ends.
    reaches_limit: bool,
    /// When the call may have been given up so far, at the latest.
    latest_end: Span,
    /// The first attempt that may be the last.
    fewest: Option<u64>,
    starts: Vec<Start>,
}

impl Walk {
    fn has_deadline(&self) -> bool {
        self.limit < Span::LIMIT
    }

    /// An attempt starts; when it ends, unless the call is over before that in any case.
    fn attempt(&mut self, number: u64, start: Start, attempt: &Attempt) -> Option<Start> {
        if self.starts.len() < TOLD {
            self.starts.push(start);
        }
        let bound = self.limit.min(Span::LIMIT);
        let ends = Start { earliest: start.earliest + attempt.least, latest: start.latest + attempt.most };
        if ends.latest >= bound {
            self.reaches_limit = true;
            self.fewest.get_or_insert(number);
        }
        (ends.earliest < bound).then_some(Start { latest: ends.latest.min(bound), ..ends })
    }

    /// When the next attempt starts after one that has ended, as far as there is room for it; none if there is none.
    fn fit(&mut self, number: u64, ends: Start, next: Start, min_attempt: Span) -> Option<Start> {
        let room = match self.limit {
            limit if limit < Span::LIMIT => limit.as_ns().checked_sub(min_attempt.as_ns()).map(Span::from_ns),
            // Virtual time ends before that: nobody gives up, and nobody sees the attempt.
            _ => Some(Span::from_ns(Span::LIMIT.as_ns() - 1)),
        };
        if room.is_none_or(|room| next.latest > room) {
            self.fewest.get_or_insert(number);
            // It does not wait for what does not fit.
            self.latest_end = self.latest_end.max(ends.latest);
            self.reaches_limit |= !self.has_deadline();
        }
        let room = room.filter(|&room| next.earliest <= room)?;
        Some(Start { latest: next.latest.min(room), ..next })
    }

    fn ended(mut self, latest: Span) -> Self {
        self.latest_end = self.latest_end.max(latest);
        self
    }

    /// There is no time for more than these attempts.
    fn cut(self, attempts: u64) -> Course {
        let over = if self.has_deadline() { Over::Deadline } else { Over::Never };
        self.over(attempts, over)
    }

    fn over(self, most: u64, over: Over) -> Course {
        let given_up = if self.reaches_limit { self.limit } else { self.latest_end };
        Course {
            fewest: Some(self.fewest.unwrap_or(most)),
            most: Some(most),
            starts: self.starts,
            given_up: (given_up < Span::LIMIT).then_some(given_up),
            over,
        }
    }

    /// There are more attempts, perhaps always another.
    fn not_followed(self, is_endless: bool) -> Course {
        let is_over_at_limit = self.reaches_limit && self.has_deadline();
        let over = if is_endless && !self.has_deadline() { Over::Never } else { Over::NotFollowed };
        Course {
            fewest: self.fewest.filter(|_| self.has_deadline()),
            most: None,
            starts: self.starts,
            given_up: is_over_at_limit.then_some(self.limit),
            over,
        }
    }
}

/// How long an attempt lasts that fails, and whether it is tried again.
struct Attempt {
    least: Span,
    most: Span,
    is_retried: bool,
}

impl Attempt {
    fn of(call: &Call, policy: &RetryPolicy, failing: Failing) -> Self {
        let timeout = call.timeout.after;
        let retries_timeouts = policy.retry_on.contains(ErrorKind::Timeout);
        let retries_any = policy.retry_on != ErrorSet::EMPTY;
        // What ends up to the timeout with an error, and then with the timeout.
        let until_timeout = |least: Span, most: Span, retries_error: bool| {
            let is_error = least <= timeout && retries_error;
            let is_timeout = most > timeout && retries_timeouts;
            Self { least: least.min(timeout), most: most.min(timeout), is_retried: is_error || is_timeout }
        };
        let connect = call.connect_timeout.after;
        match failing {
            Failing::Refused => {
                let (least, most) = call.network.bounds();
                let most = most.unwrap_or(Span::UNLIMITED);
                if least > connect {
                    return Self::of(call, policy, Failing::Unreachable);
                }
                let retries_error = policy.retry_on.contains(ErrorKind::Refused);
                until_timeout(hedged(call, least + least), hedged(call, most.min(connect) + most), retries_error)
            }
            Failing::Late(after) => until_timeout(hedged(call, after), hedged(call, after), retries_any),
            Failing::Silently => Self { least: timeout, most: timeout, is_retried: retries_timeouts },
            Failing::Unreachable => {
                // Of two timers at one instant that of the hedge is the first.
                let hedge = call.hedge.as_ref().filter(|hedge| connect >= hedge.after.after);
                let lasts = (connect + hedge.map_or(Span::ZERO, last_sent)).min(timeout);
                Self { least: lasts, most: lasts, is_retried: retries_timeouts }
            }
            Failing::Anyhow(longest) => until_timeout(Span::ZERO, hedged(call, longest), retries_any),
        }
    }
}

/// How long an attempt lasts each of whose copies is answered with an error after this time: if the next is sent before
/// that, until the last is answered.
fn hedged(call: &Call, lasts: Span) -> Span {
    match &call.hedge {
        Some(hedge) if lasts > hedge.after.after => last_sent(hedge) + lasts,
        _ => lasts,
    }
}

/// How long after the attempt its last copy is sent.
fn last_sent(hedge: &Hedge) -> Span {
    Span::from_ns(hedge.after.after.as_ns().saturating_mul(u64::from(hedge.copies)).min(Span::LIMIT.as_ns()))
}

#[cfg(test)]
mod tests;
