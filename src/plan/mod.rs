//! The compiled scenario: dense ids, resolved policies, no names to look up while it runs.
//!
//! A plan is immutable and shared by all replicas of its variant. Everything that was optional in the
//! scenario is resolved: "no timeout" is [`Span::UNLIMITED`], "no limit" the largest count. Names are
//! kept beside the model in [`Labels`], for reports only.

mod compile;

pub use compile::{CallDraft, Draft, FaultDraft, GroupDraft, ServiceDraft, compile};

use std::ops::Range;

use crate::dist::Dist;
use crate::failure::ErrorKind;
use crate::policy::RetryPolicy;
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
    /// The width of a bucket of the timeline; above zero.
    pub bucket: Span,
    /// Client groups.
    pub groups: Vec<Group>,
    /// Services.
    pub services: Vec<Service>,
    /// Calls: the edges of the (acyclic) call graph.
    pub calls: Vec<Call>,
    /// Retry policies.
    pub policies: Vec<RetryPolicy>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// The steps of all services' own work, see [`Service::steps`]: each is the range of `step_calls` that run in parallel.
    pub steps: Vec<Range<u32>>,
    /// The calls of the steps.
    pub step_calls: Vec<CallId>,
    /// The distinct constant timeouts, for the agenda; [`TimeoutId`] is the position.
    pub timeouts: Vec<Span>,
    /// The names, for reports.
    pub labels: Labels,
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
    /// Of the faults.
    pub faults: Vec<String>,
}

/// A group of identical clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Hash of its name, the root of its draws.
    pub key: u64,
    /// How many clients; request n belongs to client n mod `clients`.
    pub clients: u32,
    /// When its requests begin.
    pub arrivals: Arrivals,
    /// The calls one of which each request makes, with cumulative weights in units of 2^-64 (the last one is `u64::MAX`):
    /// a request takes the first call whose bound is not below its draw.
    pub choices: Vec<(u64, CallId)>,
}

/// When the requests of a group begin.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Every client makes one request at this instant, in the order of their numbers.
    Burst {
        /// When.
        at: Instant,
    },
}

/// A service: it works for its service time, makes its own calls step by step, and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Hash of its name.
    pub key: u64,
    /// Its own work, before its calls.
    pub service_time: Dist,
    /// The steps, one after another, as a range of [`Plan::steps`].
    pub steps: Range<u32>,
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
    /// Limit of one attempt; [`Span::UNLIMITED`] without one.
    pub timeout: Timeout,
    /// Limit of the whole call, attempts and waits; [`Span::UNLIMITED`] without one.
    pub total_timeout: Timeout,
    /// Its retry policy.
    pub policy: PolicyId,
}

/// A constant time limit and its place among [`Plan::timeouts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The limit; above zero.
    pub after: Span,
    /// Its FIFO; meaningless where `after` is [`Span::UNLIMITED`].
    pub id: TimeoutId,
}

impl Timeout {
    /// No limit.
    pub const NONE: Self = Self { after: Span::UNLIMITED, id: TimeoutId(u32::MAX) };
}

/// Something that goes wrong for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Hash of its name, for its draws.
    pub key: u64,
    /// The services it strikes.
    pub targets: Vec<ServiceId>,
    /// When: half-open windows, ascending, not touching. An open end is [`Instant::LIMIT`].
    pub windows: Vec<Range<Instant>>,
    /// What it does.
    pub effect: Effect,
}

/// What a fault does to attempts that arrive at its target within a window.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The attempt fails without work being done.
    Fail {
        /// How likely, in units of 2^-64: an attempt fails if its draw is below, or the bound is `u64::MAX`.
        probability: u64,
        /// With what.
        error: ErrorKind,
        /// How long until the error is returned.
        delay: Dist,
    },
    /// Turned away at once: `refused`.
    Refuse,
}

impl Plan {
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
