//! How a call goes when all of its attempts fail alike: when each begins, and when the call is given up.

use serde::{Serialize, Serializer};

use crate::analysis::attempt::Attempt;
pub(crate) use crate::analysis::attempt::Failing;
use crate::analysis::servers::Asked;
use crate::plan::{CallId, Plan};
use crate::policy::RetryPolicy;
use crate::time::Span;

/// The most attempts that are followed until the call is over.
const FOLLOWED: u64 = 100_000;

/// The same for all calls of a plan together, if each is followed once: of very many calls each is followed less far.
const FOLLOWED_OF_ALL: u64 = 2_000_000;

/// The most attempts of which it is told when they begin.
const TOLD: usize = 256;

/// Why a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// All attempts were made.
    Exhausted,
    /// The next attempt does not fit into the time that is left, or that is over.
    Deadline,
    /// The next attempt would begin later after the call than the policy's `max_elapsed`.
    MaxElapsed,
    /// The policy does not try again after such an error.
    NotRetryable,
    /// It is not, as long as a run can be: an attempt has no answer and no timeout, or there is always another.
    Never,
    /// It was not followed so far: there are too many attempts.
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
    /// How many attempts were followed: up to 100,000, and fewer of each call where a scenario has more than 20.
    pub followed: u64,
}

/// Why there is no latest end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Endless {
    /// It ends, but its waits or ways may take any time.
    NoBound,
    /// It was not followed up to there: there are too many attempts.
    NotFollowed,
    /// It may last as long as a run can: an attempt has no answer and no timeout, or there is always another.
    Never,
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
    /// It follows the rules of the engine for one call by itself: nothing waits for a slot, and no budget, breaker or
    /// throttle refuses. Errors that are answered may say when to come back, or may not.
    pub(crate) fn of(plan: &Plan, id: CallId, failing: Failing, limit: Span) -> Self {
        Self::followed_until(plan, id, failing, limit, |_| false)
    }

    /// When a call is given up at the latest that may last until `limit`, however its attempts fail; and how many
    /// attempts were followed for that.
    pub(crate) fn latest_end(plan: &Plan, id: CallId, limit: Span) -> (Result<Span, Endless>, u64) {
        // What may last until its limit cannot last longer.
        let is_known = |walk: &Walk| walk.reaches_limit && walk.has_deadline();
        let course = Self::followed_until(plan, id, Failing::Anyhow(Span::UNLIMITED), limit, is_known);
        let call = &plan.calls[id.index()];
        let may_hang = call.timeout.after >= Span::LIMIT && limit.min(call.total_timeout.after) >= Span::LIMIT;
        let end = course.given_up.ok_or(match course.over {
            _ if may_hang => Endless::Never,
            Over::Never => Endless::Never,
            Over::NotFollowed => Endless::NotFollowed,
            Over::Exhausted | Over::Deadline | Over::MaxElapsed | Over::NotRetryable => Endless::NoBound,
        });
        (end, course.followed)
    }

    fn followed_until(
        plan: &Plan,
        id: CallId,
        failing: Failing,
        limit: Span,
        is_enough: impl Fn(&Walk) -> bool,
    ) -> Self {
        let policy = plan.policy_of(id);
        let limit = limit.min(plan.calls[id.index()].total_timeout.after);
        let mut walk = Walk::new(limit, policy);
        if limit == Span::ZERO {
            return walk.over(0, Over::Deadline);
        }
        let attempt = Attempt::of(plan, id, failing);
        let asked = Asked::of(plan, id).filter(|_| failing.may_ask());
        let is_endless = policy.max_attempts == u32::MAX;
        let followed = (FOLLOWED_OF_ALL / plan.calls.len() as u64).clamp(TOLD as u64, FOLLOWED);
        let mut ranges = policy.ranges_after(failing.errors());
        let mut start = Start { earliest: Span::ZERO, latest: Span::ZERO };
        let mut number = 0;
        loop {
            number += 1;
            let Some(ends) = walk.attempt(number, start, &attempt) else { return walk.cut(number) };
            if !attempt.is_retried {
                return walk.ended(ends.latest).over(number, Over::NotRetryable);
            }
            if number == u64::from(policy.max_attempts) && !is_endless {
                return walk.ended(ends.latest).over(number, Over::Exhausted);
            }
            let has_no_end = is_endless && !walk.is_timed() && walk.starts.len() == TOLD;
            if number == followed || has_no_end || is_enough(&walk) {
                return walk.not_followed(number, is_endless);
            }
            let Some(range) = ranges.next() else { return walk.not_followed(number, is_endless) };
            let (shortest, longest) =
                asked.map_or((range.shortest, range.longest), |asked| asked.widen(&range, policy));
            let next = Start { earliest: ends.earliest + shortest, latest: ends.latest + longest };
            match walk.fit(number, ends, next) {
                Ok(next) => start = next,
                Err(Over::Never) if is_endless => return walk.not_followed(number, is_endless),
                Err(over) => return walk.over(number, over),
            }
        }
    }
}

/// How many attempts a call makes at most that has so much time: as many as its policy allows, as it tries again after
/// any error, and as begin in its time. None without a limit.
pub(crate) fn attempts_at_most(plan: &Plan, id: CallId, limit: Span) -> Option<u32> {
    let allowed = plan.policy_of(id).max_attempts;
    let fitting = Course::of(plan, id, Failing::Anyhow(Span::UNLIMITED), limit).most;
    fitting.and_then(|most| u32::try_from(most).ok()).or((allowed != u32::MAX).then_some(allowed))
}

fn in_seconds<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_s())
}

fn maybe_in_seconds<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    span.map(Span::as_s).serialize(serializer)
}

/// What is known of a call's course so far.
struct Walk {
    /// How long the call may last.
    limit: Span,
    /// No attempt is begun that has less than this left of it.
    min_attempt: Span,
    /// No attempt after the first begins later than this.
    max_elapsed: Span,
    /// Whether an attempt may be under way at the limit, or when virtual time ends.
    reaches_limit: bool,
    /// When the call may have been given up so far, at the latest.
    latest_end: Span,
    /// The first attempt that may be the last.
    fewest: Option<u64>,
    starts: Vec<Start>,
}

impl Walk {
    fn new(limit: Span, policy: &RetryPolicy) -> Self {
        Self {
            limit,
            min_attempt: policy.min_attempt,
            max_elapsed: policy.max_elapsed,
            reaches_limit: false,
            latest_end: Span::ZERO,
            fewest: None,
            starts: Vec::new(),
        }
    }

    fn has_deadline(&self) -> bool {
        self.limit < Span::LIMIT
    }

    /// Whether the call comes to an end some time, if anything in it takes time.
    fn is_timed(&self) -> bool {
        self.limit.min(self.max_elapsed) < Span::LIMIT
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
        if attempt.is_last {
            self.fewest.get_or_insert(number);
        }
        (ends.earliest < bound).then_some(Start { latest: ends.latest.min(bound), ..ends })
    }

    /// When the next attempt starts after one that has ended, as far as there is room for it; if there is none, why.
    fn fit(&mut self, number: u64, ends: Start, next: Start) -> Result<Start, Over> {
        let (room, over) = match self.limit {
            limit if limit < Span::LIMIT => (limit.as_ns().checked_sub(self.min_attempt.as_ns()), Over::Deadline),
            // Virtual time ends before that: nobody gives up, and nobody sees the attempt.
            _ => (Some(Span::LIMIT.as_ns() - 1), Over::Never),
        };
        let room = room.map(Span::from_ns);
        let (room, over) = match room {
            Some(room) if self.max_elapsed < room => (Some(self.max_elapsed), Over::MaxElapsed),
            room => (room, over),
        };
        if room.is_none_or(|room| next.latest > room) {
            self.fewest.get_or_insert(number);
            // It does not wait for what does not fit.
            self.latest_end = self.latest_end.max(ends.latest);
            self.reaches_limit |= over == Over::Never;
        }
        let room = room.filter(|&room| next.earliest <= room).ok_or(over)?;
        Ok(Start { latest: next.latest.min(room), ..next })
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
            followed: most,
        }
    }

    /// There are more than these attempts, perhaps always another.
    fn not_followed(self, followed: u64, is_endless: bool) -> Course {
        let is_over_at_limit = self.reaches_limit && self.has_deadline();
        let over = if is_endless && !self.is_timed() { Over::Never } else { Over::NotFollowed };
        Course {
            fewest: self.fewest.filter(|_| self.is_timed()),
            most: None,
            starts: self.starts,
            given_up: is_over_at_limit.then_some(self.limit),
            over,
            followed,
        }
    }
}

#[cfg(test)]
mod tests;
