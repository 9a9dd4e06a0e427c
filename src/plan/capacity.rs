//! What a service can do at once: servers, workers, queues, limits; and what it does when a caller gives up.

use crate::policy::{Codel, Ejection, Limiter};
use crate::time::Span;

/// The limits of a service. Without any ([`Capacity::UNLIMITED`]) every arrival is worked on at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// How many identical servers there are; at least 1.
    pub instances: u32,
    /// Which of them an arrival goes to.
    pub balance: Balance,
    /// When the balancer sends nothing to a server for a while.
    pub ejection: Option<Ejection>,
    /// How many arrivals a server works on at once; at least 1, [`Capacity::NO_LIMIT`] without a limit.
    pub workers: u32,
    /// Whether a worker is kept until its arrival is answered; otherwise only for the service time.
    pub holds_worker: bool,
    /// Where arrivals wait for a worker; each server has one.
    pub queue: Queue,
    /// The most arrivals in progress at once, on all servers together; at least 1, [`Capacity::NO_LIMIT`] without a
    /// limit.
    pub max_in_flight: u32,
    /// What each server lets in over time.
    pub limiter: Limiter,
    /// When the limiter says that it is worth trying again; none if it does not say.
    pub retry_after: Option<Span>,
    /// How a server slows down as it works on more at once.
    pub contention: Contention,
    /// What becomes of work whose caller has given up.
    pub cancel: Cancel,
}

impl Capacity {
    /// A count that stands for "no limit".
    pub const NO_LIMIT: u32 = u32::MAX;

    /// One server without limits that hears of no caller giving up.
    pub const UNLIMITED: Self = Self {
        instances: 1,
        balance: Balance::RoundRobin,
        ejection: None,
        workers: Self::NO_LIMIT,
        holds_worker: true,
        queue: Queue { limit: Self::NO_LIMIT, order: Order::Fifo, drop_rule: DropRule::Never },
        max_in_flight: Self::NO_LIMIT,
        limiter: Limiter::Unlimited,
        retry_after: None,
        contention: Contention::NONE,
        cancel: Cancel::Ignore,
    };

    /// Whether it behaves like [`Capacity::UNLIMITED`]: what is said about queue, balancing and workers then matters to
    /// nothing.
    pub fn is_unlimited(&self) -> bool {
        self.instances == 1
            && self.ejection.is_none()
            && self.workers == Self::NO_LIMIT
            && self.max_in_flight == Self::NO_LIMIT
            && self.queue.drop_rule == DropRule::Never
            && self.limiter == Limiter::Unlimited
            && self.contention == Contention::NONE
            && self.cancel == Cancel::Ignore
    }

    /// The workers of all servers; none without a limit.
    pub fn all_workers(&self) -> Option<u64> {
        (self.workers != Self::NO_LIMIT).then(|| u64::from(self.workers) * u64::from(self.instances))
    }
}

/// How the balancer picks a server. "Load" is the number of arrivals in progress there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// Each in turn.
    RoundRobin,
    /// Any, all equally likely.
    Random,
    /// The one with the least load; of several the lowest.
    LeastLoaded,
    /// Of two different ones drawn at random the one with less load; the first drawn if they are equal.
    TwoChoices,
    /// The lowest.
    Primary,
    /// The one whose number is that of the copy of the call, modulo the number of servers.
    ByCopy,
}

/// Where arrivals wait for a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// How many may wait at a server; at least 1, [`Capacity::NO_LIMIT`] without a limit.
    pub limit: u32,
    /// Whose turn is next.
    pub order: Order,
    /// Who is discarded when its turn comes.
    pub drop_rule: DropRule,
}

/// Whose turn is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest.
    Fifo,
    /// The newest.
    Lifo,
    /// The newest when the queue has not been empty for [`Order::BUILDS_UP`], else the oldest.
    AdaptiveLifo,
}

impl Order {
    /// How long a queue must not have been empty until an adaptive one turns round (Maurer, "Fail at Scale", ACM Queue
    /// 2015).
    pub const BUILDS_UP: Span = Span::from_ms(100);
}

/// Who is discarded when its turn comes.
#[derive(Clone, Debug, PartialEq)]
pub enum DropRule {
    /// Nobody.
    Never,
    /// Whose deadline has passed.
    Expired,
    /// Who has less time left until its deadline than its service takes.
    DeadlineAware,
    /// Who has waited too long while the queue does not become short.
    Codel(Codel),
}

impl DropRule {
    /// Whether it asks for the deadlines of what waits.
    pub fn needs_deadlines(&self) -> bool {
        matches!(self, Self::Expired | Self::DeadlineAware)
    }
}

/// How a server slows down: the service time of what begins is multiplied by `1 + slope * (n - knee)`, where `n > knee`
/// is how many the server works on then, this one included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// So many at once do not slow each other down.
    pub knee: u32,
    /// What each further one adds, as a share of the service time; finite, at least 0.
    pub slope: f64,
}

impl Contention {
    /// However many.
    pub const NONE: Self = Self { knee: u32::MAX, slope: 0.0 };

    /// How long service takes that would take `alone` by itself, on a server that works on `at_once` with it.
    #[inline]
    pub fn stretch(self, alone: Span, at_once: u32) -> Span {
        if at_once <= self.knee {
            return alone;
        }
        Span::from_ns_f64(alone.as_ns() as f64 * self.factor(at_once))
    }

    /// How many times as long service takes on a server that works on `at_once` with it.
    #[inline]
    pub fn factor(self, at_once: u32) -> f64 {
        1.0 + self.slope * f64::from(at_once.saturating_sub(self.knee))
    }
}

/// What a service does with work that nobody waits for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cancel {
    /// It does not learn of it, and goes on.
    Ignore,
    /// It takes it out of its queue; what has begun goes on.
    Queued,
    /// It ends it at once, whatever it is doing, with all calls that it makes.
    Running,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knee 50, slope 0.02: the 51st takes 2 % longer, the 100th twice as long.
    #[test]
    fn contention_begins_above_the_knee() {
        let contention = Contention { knee: 50, slope: 0.02 };
        let at = |at_once| contention.stretch(Span::from_ms(100), at_once);
        assert_eq!([1, 50, 51, 100].map(at), [100, 100, 102, 200].map(Span::from_ms));
        assert_eq!([1, 50, 51, 100].map(|at_once| contention.factor(at_once)), [1.0, 1.0, 1.02, 2.0]);
        assert_eq!(Contention::NONE.stretch(Span::from_ms(5), u32::MAX), Span::from_ms(5));
    }
}
