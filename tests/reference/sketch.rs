//! A small plan in a few numbers: what the random plans are drawn as, and what a failing test prints.

use std::ops::Range;

use stormsim::dist::Dist;
use stormsim::failure::ErrorKind;
use stormsim::plan::{Arrivals, Cancel, Capacity, DeadlineRule, Effect, Effects, Guard, Hedge, Operations, Windows};
use stormsim::policy::{Backoff, Breaker, BudgetRule, CapOrder, Jitter, Refinement, ServerDelay, Throttle};
use stormsim::time::{Instant, Span};

/// A plan to be.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Client groups; at least one.
    pub groups: Vec<GroupSketch>,
    /// Services; at least one. Each calls only services after itself.
    pub services: Vec<ServiceSketch>,
    /// Whether servers and pools have no limits after all, nobody hears of a caller giving up, work has no side
    /// effects, and breakers, throttles, hedges, and faults that do more than to turn attempts away are left out.
    pub unlimited: bool,
    /// What all services do with work whose caller has given up; else what each of them does.
    pub cancel: Option<Cancel>,
    /// Retry policies; at least one.
    pub policies: Vec<PolicySketch>,
    /// Retry budgets.
    pub budgets: Vec<BudgetSketch>,
    /// Faults.
    pub faults: Vec<FaultSketch>,
    /// The horizon.
    pub horizon: Option<Instant>,
    /// The horizon of a plan that has no other and might wait for ever.
    pub last_horizon: Instant,
    /// From when on it is measured.
    pub warmup: Instant,
    /// Windows in which it is measured; repetitions are left out.
    pub windows: Vec<Range<Instant>>,
    /// The width of a bucket.
    pub bucket: Span,
}

/// A client group.
#[derive(Clone, Debug)]
pub struct GroupSketch {
    /// How many clients.
    pub clients: u32,
    /// When they may begin requests.
    pub window: Range<Instant>,
    /// When they do. They end.
    pub arrivals: Arrivals,
    /// What its clients make of their operations.
    pub operations: Operations,
    /// Its calls, at least one, each with the bound of its share; the bound of the last one is ignored.
    pub calls: Vec<(u64, CallSketch)>,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceSketch {
    /// Its own work.
    pub service_time: Dist,
    /// Its steps; those of the last service are ignored.
    pub steps: Vec<Vec<StepCallSketch>>,
    /// What it can do at once.
    pub capacity: Capacity,
    /// What its work does.
    pub effects: Effects,
}

/// A call of a service.
#[derive(Clone, Debug)]
pub struct StepCallSketch {
    /// The call.
    pub chain: ChainSketch,
    /// How many copies; at least 1.
    pub copies: u32,
    /// How many of them must succeed, modulo their number; 0 stands for all.
    pub required: u32,
    /// How likely it is made, as in a plan.
    pub probability: u64,
    /// Whether its failure is survived.
    pub optional: bool,
}

/// A call and what is made in its place when it has failed.
#[derive(Clone, Debug)]
pub struct ChainSketch {
    /// The call.
    pub call: CallSketch,
    /// Its fallback, the fallback of that, and so on.
    pub fallbacks: Vec<CallSketch>,
}

impl ChainSketch {
    /// All of its calls, in the order in which they would be made.
    pub fn calls(&self) -> impl Iterator<Item = &CallSketch> {
        std::iter::once(&self.call).chain(&self.fallbacks)
    }
}

/// The settings of a call.
#[derive(Clone, Debug)]
pub struct CallSketch {
    /// Which of the services it can reach, modulo their number.
    pub target: usize,
    /// Time on the way, each way.
    pub network: Dist,
    /// Limit of the way there.
    pub connect_timeout: Option<Span>,
    /// Limit of an attempt.
    pub timeout: Option<Span>,
    /// Limit of the call.
    pub total_timeout: Option<Span>,
    /// What its callee is told.
    pub deadline: DeadlineRule,
    /// Which of the policies, modulo their number.
    pub policy: usize,
    /// Which of the budgets, modulo their number, if there are any.
    pub budget: Option<usize>,
    /// The slots that its attempts need.
    pub pool: Option<PoolSketch>,
    /// What stops it while its callee keeps failing.
    pub breaker: Option<Guard<Breaker>>,
    /// What holds attempts back.
    pub throttle: Option<Guard<Throttle>>,
    /// The copies that are sent beside an attempt.
    pub hedge: Option<Hedge<Span>>,
    /// Whether a retry goes elsewhere.
    pub avoid_previous: bool,
}

/// Slots for attempts.
#[derive(Clone, Copy, Debug)]
pub struct PoolSketch {
    /// How many; at least 1.
    pub size: u32,
    /// How long an attempt waits for one.
    pub max_wait: Option<Span>,
}

/// A retry policy.
#[derive(Clone, Debug)]
pub struct PolicySketch {
    /// Attempts in all.
    pub max_attempts: u32,
    /// The nominal waits.
    pub backoff: Backoff,
    /// Their cap.
    pub cap: Option<Span>,
    /// Where it applies.
    pub cap_order: CapOrder,
    /// Their jitter.
    pub jitter: Jitter,
    /// What is tried again.
    pub retry_on: Vec<ErrorKind>,
    /// What few schedules have.
    pub refinement: Refinement,
    /// The base of an exponential backoff after errors that throttle, if it is another.
    pub base_throttled: Option<Span>,
    /// The shortest useful attempt.
    pub min_attempt: Span,
    /// How long after its call a retry begins at the latest.
    pub max_elapsed: Option<Span>,
    /// What it makes of a server's delay.
    pub server_delay: ServerDelay,
}

/// A retry budget. All calls that name it draw on it, whoever makes them.
#[derive(Clone, Copy, Debug)]
pub struct BudgetSketch {
    /// Its rule.
    pub rule: BudgetRule,
    /// Whether each client, or server, has a state of its own, by its number.
    pub by_instance: bool,
}

/// A fault. What its effect does not fit is left out of its targets; a fault of no targets, of the plan.
#[derive(Clone, Debug)]
pub struct FaultSketch {
    /// What it strikes.
    pub targets: Vec<TargetSketch>,
    /// Of services only so many servers.
    pub first_instances: u32,
    /// When.
    pub windows: Windows,
    /// What it does.
    pub effect: Effect,
}

/// What a fault strikes, modulo how many there are.
#[derive(Clone, Copy, Debug)]
pub enum TargetSketch {
    /// A service.
    Service(usize),
    /// A call.
    Call(usize),
    /// A group.
    Group(usize),
}
