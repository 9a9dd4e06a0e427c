//! The compiled scenario: dense ids, resolved policies, no names to look up while it runs.
//!
//! A plan is immutable and shared by all replicas of its variant. Everything that was optional in the
//! scenario is resolved: "no timeout" is [`Span::UNLIMITED`], "no limit" the largest count. Names are
//! kept beside the model in [`Labels`], for reports only.

mod capacity;
mod compile;
mod draft;
mod fault;
mod operations;
mod profile;
mod protection;
mod surge;

pub use capacity::{Balance, Cancel, Capacity, Contention, DropRule, Order, Queue};
pub use compile::compile;
pub use draft::{
    BudgetDraft, CallDraft, Draft, FaultDraft, GroupDraft, PolicyDraft, PoolDraft, ServiceDraft, SharedBy, SharedOver,
    TargetDraft,
};
pub use fault::{Direction, Effect, Failure, Fault, Target, Windows, WindowsOfReplica, workers_left};
pub use operations::{Effects, InProgressRule, Keys, Operations, Store};
pub use profile::{Piece, Profile};
pub use protection::{Guard, Hedge};
pub use surge::Surge;

use std::ops::Range;

use crate::dist::Dist;
use crate::policy::{Breaker, BudgetRule, RetryPolicy, Throttle};
use crate::time::{Instant, Span};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A client group, in file order.
    GroupId
}
id! {
    /// A service, in file order.
    ServiceId
}
id! {
    /// A call of the call graph (an edge): the clients' first, then the services', in file order.
    CallId
}
id! {
    /// A retry policy, resolved. Each call has one; calls may share it.
    PolicyId
}
id! {
    /// A fault, in file order.
    FaultId
}
id! {
    /// One of the distinct constant timeouts of a plan; each has a FIFO of its own in the agenda.
    TimeoutId
}

/// What one variant of a scenario means. Build it with [`Scenario::variants`](crate::scenario::Scenario::variants).
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where the run ends, if not when arrivals are exhausted and no work is left. The horizon itself is not simulated.
    pub horizon: Option<Instant>,
    /// Request metrics cover requests that begin at or after this instant, flow metrics what happens from it on.
    pub warmup: Instant,
    /// Windows in which expectations measure, `[start, end)`; anywhere in the run, in any order, without repetition.
    pub windows: Vec<Range<Instant>>,
    /// The width of a bucket of the timeline; above zero.
    pub bucket: Span,
    /// When a fault counts as recovered from.
    pub recovery: Recovery,
    /// Client groups.
    pub groups: Vec<Group>,
    /// Services.
    pub services: Vec<Service>,
    /// Calls: the edges of the (acyclic) call graph.
    pub calls: Vec<Call>,
    /// Retry policies.
    pub policies: Vec<RetryPolicy>,
    /// Retry budgets: each is a pool of equal states.
    pub budgets: Vec<BudgetPool>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// The steps of all services' own work, see [`Service::steps`]: each is the range of `step_calls` that run in
    /// parallel.
    pub steps: Vec<Range<u32>>,
    /// The calls of the steps.
    pub step_calls: Vec<CallId>,
    /// The distinct constant timeouts, for the agenda; [`TimeoutId`] is the position.
    pub timeouts: Vec<Span>,
    /// The names, for reports.
    pub labels: Labels,
}

/// When a fault counts as recovered from: the first second from which on, for `hold`, as many requests succeed as
/// `share` of those that arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    /// How long; whole seconds, at least one.
    pub hold: Span,
    /// From 0 to 1.
    pub share: f64,
}

impl Recovery {
    /// 95 % for ten seconds.
    pub const DEFAULT: Self = Self { hold: Span::from_s(10), share: 0.95 };
}

/// Names by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Of the client groups.
    pub groups: Vec<String>,
    /// Of the services.
    pub services: Vec<String>,
    /// Of the calls: `caller->label`.
    pub calls: Vec<String>,
    /// Of the retry policies; `none` is that of calls which do not retry.
    pub policies: Vec<String>,
    /// Of the faults.
    pub faults: Vec<String>,
}

/// A group of identical clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Hash of its name, the root of its draws.
    pub key: u64,
    /// How many clients; request n of open arrivals belongs to client n mod `clients`.
    pub clients: u32,
    /// When its requests begin.
    pub arrivals: Arrivals,
    /// No request begins before this instant ...
    pub from: Instant,
    /// ... nor at this one or later.
    pub until: Instant,
    /// The calls one of which each request makes, with cumulative weights in units of 2^-64 (the last one is
    /// `u64::MAX`): a request takes the first call whose bound is not below its draw.
    pub choices: Vec<(u64, CallId)>,
    /// What its clients make of their operations.
    pub operations: Operations,
}

/// When the requests of a group begin. Rates are in requests/s of the whole group.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Every client makes one request at this instant, in the order of their numbers.
    Burst {
        /// When; within the group's window.
        at: Instant,
    },
    /// Request n (from 1) begins `round(n / rate)` after the start of the group's window.
    Constant {
        /// The rate; above zero.
        rate: f64,
    },
    /// A Poisson process with this rate over time.
    Poisson(Profile),
    /// At these instants, ascending. Those outside of the group's window are left out.
    Trace(Vec<Instant>),
    /// Each client once per period.
    Periodic {
        /// The period; above zero.
        every: Span,
        /// The first request of a client comes so long after the start of the group's window; drawn once per client.
        offset: Dist,
    },
    /// Each client begins at the start of the group's window and makes its next request after it has thought.
    Closed {
        /// Time between the end of a request and the client's next one.
        think: Dist,
        /// How many each client makes; `u64::MAX` without a limit.
        requests: u64,
    },
}

/// A service: it works for its service time, makes its own calls step by step, and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Its own work, before its calls.
    pub service_time: Dist,
    /// The steps, one after another, as a range of [`Plan::steps`].
    pub steps: Range<u32>,
    /// What it can do at once.
    pub capacity: Capacity,
    /// What its work does to the world.
    pub effects: Effects,
}

impl Service {
    /// How many arrivals per second it can serve in the long run: as many as it may work on at once, by its workers and
    /// `max_in_flight`, each for its mean service time under `contention`; and no more than its limiter lets in. None
    /// without a limit, or if a place is kept while the service waits for calls of its own: how many it can serve then
    /// is up to those that it calls.
    pub fn capacity_rps(&self) -> Option<f64> {
        let Capacity { instances, workers, holds_worker, max_in_flight, limiter, contention, .. } = &self.capacity;
        let keeps_worker = *holds_worker && *workers != Capacity::NO_LIMIT;
        if !self.steps.is_empty() && (keeps_worker || *max_in_flight != Capacity::NO_LIMIT) {
            return None;
        }
        let instances = f64::from(*instances);
        let in_flight = Some(*max_in_flight).filter(|&limit| limit != Capacity::NO_LIMIT).map(f64::from);
        let at_once = self.capacity.all_workers().map(|workers| workers as f64).into_iter().chain(in_flight);
        let mean_ns = self.service_time.mean_ns();
        let by_service = at_once.reduce(f64::min).filter(|_| mean_ns > 0.0).map(|at_once| {
            let above_knee = (at_once / instances - f64::from(contention.knee)).max(0.0);
            at_once * 1e9 / (mean_ns * (1.0 + contention.slope * above_knee))
        });
        let by_limiter = limiter.per_second().map(|limit| limit * instances);
        by_service.into_iter().chain(by_limiter).reduce(f64::min)
    }
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A client group.
    Group(GroupId),
    /// A service.
    Service(ServiceId),
}

/// A call of the call graph, with the settings of its caller's side.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Hash of its label, for the keys of its attempts.
    pub key: u64,
    /// Who makes it.
    pub origin: Origin,
    /// Who serves it.
    pub target: ServiceId,
    /// The step of its origin in which it runs, from 0; 0 for a client's call.
    pub step: u32,
    /// How many copies run in parallel; at least 1. A client's call is one copy, certain, required and without
    /// fallback: a request makes one call.
    pub copies: u32,
    /// How many of them must succeed; from 1 to `copies`.
    pub required: u32,
    /// How likely it is made at all, see [`probability`](crate::dist::probability).
    pub probability: u64,
    /// Whether its failure only marks its caller as degraded.
    pub optional: bool,
    /// The call made in its place when it has failed.
    pub fallback: Option<CallId>,
    /// Time on the way, once for the request and once for the answer.
    pub network: Dist,
    /// How long the request may be on its way until the connection counts as failed; [`Span::UNLIMITED`] without a
    /// limit.
    pub connect_timeout: Timeout,
    /// What the callee is told of the caller's deadline.
    pub deadline: DeadlineRule,
    /// Limit of one attempt; [`Span::UNLIMITED`] without one.
    pub timeout: Timeout,
    /// Limit of the whole call, attempts and waits; [`Span::UNLIMITED`] without one.
    pub total_timeout: Timeout,
    /// Its retry policy.
    pub policy: PolicyId,
    /// The budget that its retries draw on.
    pub budget: Option<BudgetUse>,
    /// The slots that its attempts need. Each instance of the caller has as many of its own.
    pub pool: Option<Pool>,
    /// What stops calling a callee that keeps failing.
    pub breaker: Option<Box<Guard<Breaker>>>,
    /// What holds back a share of the attempts.
    pub throttle: Option<Box<Guard<Throttle>>>,
    /// The copies that are sent beside a slow attempt.
    pub hedge: Option<Hedge>,
    /// Whether a retry or hedge goes to another server than the one that was picked before, if there is another.
    pub avoid_previous: bool,
}

impl Call {
    /// Whether anything is asked before it, or an attempt of it, is sent.
    pub fn is_guarded(&self) -> bool {
        self.breaker.is_some() || self.throttle.is_some()
    }
}

/// Slots for the attempts of a call, such as the connections of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// How many attempts may be under way at once; at least 1.
    pub size: u32,
    /// How long one waits for a slot at most; may be zero, [`Span::UNLIMITED`] without a limit.
    pub max_wait: Timeout,
}

/// What a caller tells its callee of its own deadline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeadlineRule {
    /// Nothing.
    Keep,
    /// The instant at which it will stop waiting, less this.
    PassLess(Span),
    /// The same, less this share of the time until then.
    PassLessShare(f64),
}

/// Budget states that follow one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetPool {
    /// The rule.
    pub rule: BudgetRule,
    /// How many states there are: one, or one per instance of the callers.
    pub states: u32,
}

/// Which state of which pool a call's retries draw on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// Position among [`Plan::budgets`].
    pub pool: u32,
    /// Whether each instance of the caller has a state of its own, numbered as the instances are; else all use state 0.
    pub by_instance: bool,
}

/// A constant time limit and its place among [`Plan::timeouts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The limit; above zero, unless it is said that it may be zero.
    pub after: Span,
    /// Its FIFO; meaningless where `after` is [`Span::UNLIMITED`] or zero.
    pub id: TimeoutId,
}

impl Timeout {
    /// No limit.
    pub const NONE: Self = Self { after: Span::UNLIMITED, id: TimeoutId(u32::MAX) };
}

impl Plan {
    /// Whether it has neither servers that can be overloaded or told apart, nor pools, guards or hedges, nor side effects,
    /// nor other budgets than token buckets, nor other faults than those that turn attempts away: nobody waits for
    /// anything but time.
    pub fn is_core(&self) -> bool {
        self.services.iter().all(|service| service.capacity.is_unlimited())
            && self.calls.iter().all(|call| call.pool.is_none() && !call.is_guarded() && call.hedge.is_none())
            && !self.tells_operations()
            && self.budgets.iter().all(|pool| matches!(pool.rule, BudgetRule::TokenBucket(_)))
            && self.faults.iter().all(Fault::only_turns_away)
    }

    /// How many instances make a call: the clients of its group, or the servers of its service.
    pub fn callers(&self, call: &Call) -> u32 {
        match call.origin {
            Origin::Group(group) => self.groups[group.index()].clients,
            Origin::Service(service) => self.services[service.index()].capacity.instances,
        }
    }

    /// Whether any answer may say when it is worth trying again.
    pub fn says_retry_after(&self) -> bool {
        self.services.iter().any(|service| service.capacity.retry_after.is_some())
            || self
                .faults
                .iter()
                .any(|fault| matches!(&fault.effect, Effect::Fail(failure) if failure.retry_after.is_some()))
    }

    /// Whether the state of each server of a service is kept: something is limited there, or done to it.
    pub fn keeps_servers(&self, service: ServiceId) -> bool {
        let is_done_to = |fault: &Fault| !fault.only_turns_away() && fault.targets.contains(&Target::Service(service));
        let Service { capacity, effects, .. } = &self.services[service.index()];
        !capacity.is_unlimited() || effects.store.is_some() || self.faults.iter().any(is_done_to)
    }

    /// Whether anybody asks which operation an attempt belongs to.
    pub fn tells_operations(&self) -> bool {
        self.services.iter().any(|service| service.effects != Effects::NONE)
    }

    /// The policy of a call.
    pub fn policy_of(&self, call: CallId) -> &RetryPolicy {
        &self.policies[self.calls[call.index()].policy.index()]
    }

    /// The steps of a service: for each the calls that run in parallel.
    pub fn steps_of(&self, service: ServiceId) -> impl ExactSizeIterator<Item = &[CallId]> {
        let Range { start, end } = self.services[service.index()].steps;
        self.steps[start as usize..end as usize]
            .iter()
            .map(|step| &self.step_calls[step.start as usize..step.end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Limiter;

    /// The capacity of a service of 12 ms, with so many steps of calls.
    fn capacity_rps(steps: u32, capacity: Capacity) -> Option<f64> {
        let capacity_rps = Service {
            service_time: Dist::Constant(Span::from_ms(12)),
            steps: 0..steps,
            capacity,
            effects: Effects::NONE,
        }
        .capacity_rps();
        // To a tenth per second.
        capacity_rps.map(|rate| (rate * 10.0).round() / 10.0)
    }

    /// 16 workers at 12 ms are 1,333 per second; with all of them at work each takes 1.8 times as long; six in flight
    /// are 500; a limiter lets less in.
    #[test]
    fn the_least_of_its_limits_is_the_capacity() {
        let workers = Capacity { workers: 8, instances: 2, ..Capacity::UNLIMITED };
        assert_eq!(capacity_rps(0, Capacity::UNLIMITED), None);
        assert_eq!(capacity_rps(0, workers.clone()), Some(1333.3));
        let contention = Contention { knee: 0, slope: 0.1 };
        assert_eq!(capacity_rps(0, Capacity { contention, ..workers.clone() }), Some(740.7));
        assert_eq!(capacity_rps(0, Capacity { max_in_flight: 6, ..workers.clone() }), Some(500.0));
        let limiter = Limiter::FixedWindow { limit: 10, every: Span::from_ms(100) };
        assert_eq!(capacity_rps(0, Capacity { limiter, ..workers }), Some(200.0));
    }

    /// Whoever keeps a place while others work for it can serve as many as they let it.
    #[test]
    fn a_place_that_is_kept_during_calls_has_no_capacity_of_its_own() {
        let workers = Capacity { workers: 16, ..Capacity::UNLIMITED };
        assert_eq!(capacity_rps(1, workers.clone()), None);
        let gives_back = Capacity { holds_worker: false, ..workers };
        assert_eq!(capacity_rps(1, gives_back.clone()), Some(1333.3));
        assert_eq!(capacity_rps(1, Capacity { max_in_flight: 100, ..gives_back }), None);
    }
}
