//! Everything that a plan is made of, resolved and checked, in file order.

use std::ops::Range;

use crate::dist::Dist;
use crate::plan::{
    Arrivals, Capacity, DeadlineRule, Effect, Effects, GroupId, Guard, Hedge, Operations, Origin, PolicyId, Recovery,
    ServiceId, Windows,
};
use crate::policy::{Breaker, BudgetRule, RetryPolicy, Throttle};
use crate::time::{Instant, Span};

/// A whole plan.
#[derive(Clone, Debug)]
pub struct Draft {
    /// See [`Plan::horizon`](crate::plan::Plan::horizon).
    pub horizon: Option<Instant>,
    /// See [`Plan::warmup`](crate::plan::Plan::warmup).
    pub warmup: Instant,
    /// See [`Plan::bucket`](crate::plan::Plan::bucket).
    pub bucket: Span,
    /// See [`Plan::recovery`](crate::plan::Plan::recovery).
    pub recovery: Recovery,
    /// Client groups.
    pub groups: Vec<GroupDraft>,
    /// Services.
    pub services: Vec<ServiceDraft>,
    /// Retry policies; calls refer to them by position.
    pub policies: Vec<PolicyDraft>,
    /// Faults.
    pub faults: Vec<FaultDraft>,
}

/// A client group.
#[derive(Clone, Debug)]
pub struct GroupDraft {
    /// Its name.
    pub name: String,
    /// How many clients.
    pub clients: u32,
    /// When its requests begin.
    pub arrivals: Arrivals,
    /// Requests begin in this window.
    pub window: Range<Instant>,
    /// Its calls, at least one.
    pub calls: Vec<CallDraft>,
    /// What its clients make of their operations.
    pub operations: Operations,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceDraft {
    /// Its name.
    pub name: String,
    /// Its own work.
    pub service_time: Dist,
    /// Its calls.
    pub calls: Vec<CallDraft>,
    /// The steps in which it makes them: positions among its calls. Fallbacks have no place in them.
    pub steps: Vec<Vec<usize>>,
    /// What it can do at once.
    pub capacity: Capacity,
    /// What its work does to the world.
    pub effects: Effects,
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallDraft {
    /// Its label within its caller.
    pub label: String,
    /// Who serves it.
    pub target: ServiceId,
    /// Its weight among the calls of a client group; finite, above zero.
    pub weight: f64,
    /// How many copies run in parallel; at least 1.
    pub copies: u32,
    /// How many of them must succeed; from 1 to `copies`.
    pub required: u32,
    /// How likely it is made at all; from 0 to 1.
    pub probability: f64,
    /// Whether its failure only marks its caller as degraded.
    pub optional: bool,
    /// The call made in its place when it has failed, as a position among the calls of its caller. No call is the
    /// fallback of two.
    pub fallback: Option<usize>,
    /// Time on the way, once for the request and once for the answer.
    pub network: Dist,
    /// Limit of the way to the callee; above zero.
    pub connect_timeout: Option<Span>,
    /// What the callee is told of the caller's deadline.
    pub deadline: DeadlineRule,
    /// Limit of one attempt; above zero.
    pub timeout: Option<Span>,
    /// Limit of the whole call; above zero.
    pub total_timeout: Option<Span>,
    /// Its retry policy.
    pub policy: PolicyId,
    /// The slots that its attempts need.
    pub pool: Option<PoolDraft>,
    /// What stops calling a callee that keeps failing.
    pub breaker: Option<Guard<Breaker>>,
    /// What holds back a share of the attempts.
    pub throttle: Option<Guard<Throttle>>,
    /// The copies that are sent beside a slow attempt.
    pub hedge: Option<Hedge<Span>>,
    /// Whether a retry goes to another server than the attempt before it.
    pub avoid_previous: bool,
}

impl CallDraft {
    /// For how many things each instance of its caller has a state of its own.
    pub fn states_per_caller(&self) -> u64 {
        let states = [
            self.pool.is_some(),
            self.breaker.as_ref().is_some_and(|guard| guard.by_instance),
            self.throttle.as_ref().is_some_and(|guard| guard.by_instance),
            self.hedge.is_some_and(|hedge| hedge.by_instance),
        ];
        states.into_iter().map(u64::from).sum()
    }
}

/// Slots for attempts.
#[derive(Clone, Copy, Debug)]
pub struct PoolDraft {
    /// How many; at least 1.
    pub size: u32,
    /// How long an attempt waits for one; none without a limit.
    pub max_wait: Option<Span>,
}

/// A retry policy with its budget.
#[derive(Clone, Debug)]
pub struct PolicyDraft {
    /// Its name.
    pub name: String,
    /// The policy.
    pub policy: RetryPolicy,
    /// What its retries draw on; none without a budget.
    pub budget: Option<BudgetDraft>,
}

/// A retry budget, and who shares a state of it.
#[derive(Clone, Copy, Debug)]
pub struct BudgetDraft {
    /// The rule.
    pub rule: BudgetRule,
    /// Which instances of a caller share.
    pub shared_by: SharedBy,
    /// Which calls of a caller share.
    pub shared_over: SharedOver,
}

/// Which instances of a caller share a budget's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBy {
    /// None: each client, or instance of a service, has its own.
    Instance,
    /// All.
    Group,
}

/// Which calls of a caller that have the same policy share a budget's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedOver {
    /// None: each call has its own.
    Call,
    /// Those to the same service.
    Target,
    /// All.
    Policy,
}

/// A fault.
#[derive(Clone, Debug)]
pub struct FaultDraft {
    /// Its name.
    pub name: String,
    /// What it strikes.
    pub targets: Vec<TargetDraft>,
    /// Of services only so many servers; [`Capacity::NO_LIMIT`] for all.
    pub first_instances: u32,
    /// When it is there.
    pub windows: Windows,
    /// What it does.
    pub effect: Effect,
}

/// What a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetDraft {
    /// A service.
    Service(ServiceId),
    /// A call of a client group or service, by its position among theirs.
    Call(Origin, usize),
    /// A client group.
    Group(GroupId),
}
