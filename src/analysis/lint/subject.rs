//! What rules look at: a variant's plan, with names for its parts and answers that many rules ask for.

use crate::analysis::holding::Holding;
use crate::analysis::ladder::{Paths, paths};
use crate::analysis::load::{ServiceLoad, loads};
use crate::analysis::worst_case::attempts_once;
use crate::plan::{Arrivals, Call, CallId, GroupId, Origin, Plan, PolicyId, ServiceId};
use crate::policy::RetryPolicy;
use crate::time::{Instant, Span};

/// A variant of a scenario.
pub struct Subject<'a> {
    /// What it means.
    pub plan: &'a Plan,
    /// The paths through its call graph.
    pub paths: Paths,
    /// What its services have to do.
    pub loads: Vec<ServiceLoad>,
    /// How long requests keep places of services.
    pub holding: Holding,
    /// By group and service: how many attempts arrive for one request while nothing fails.
    once: Vec<Vec<f64>>,
}

/// A retry policy that calls retry by.
pub struct Used<'a> {
    /// Which.
    pub id: PolicyId,
    /// The policy; it allows more than one attempt.
    pub policy: &'a RetryPolicy,
    /// The calls.
    pub calls: Vec<CallId>,
}

/// How many requests come to a service together, or in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crowd {
    /// Of clients that come at one instant, or each soon after its last request is over.
    pub clients: f64,
    /// In the busiest second of all others.
    pub per_second: f64,
}

impl<'a> Subject<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let groups = (0..plan.groups.len() as u32).map(GroupId);
        let once = groups.map(|group| attempts_once(plan, group)).collect();
        Self { plan, paths: paths(plan), loads: loads(plan), holding: Holding::of(plan), once }
    }

    /// All calls that somebody makes.
    pub fn calls(&self) -> impl Iterator<Item = (CallId, &'a Call)> {
        (0..).map(CallId).zip(&self.plan.calls)
    }

    /// The calls that may retry.
    pub fn retrying(&self) -> impl Iterator<Item = (CallId, &'a Call, &'a RetryPolicy)> {
        let plan = self.plan;
        self.calls().map(|(id, call)| (id, call, plan.policy_of(id))).filter(|(_, _, policy)| policy.max_attempts > 1)
    }

    /// The policies by which calls retry, in the order of the file.
    pub fn policies(&self) -> impl Iterator<Item = Used<'a>> {
        let plan = self.plan;
        let used = (0..).map(PolicyId).zip(&plan.policies).map(move |(id, policy)| {
            let calls = (0..).map(CallId).zip(&plan.calls).filter(|(_, call)| call.policy == id);
            Used { id, policy, calls: calls.map(|(id, _)| id).collect() }
        });
        used.filter(|used| used.policy.max_attempts > 1 && !used.calls.is_empty())
    }

    /// `caller->label`.
    pub fn call_name(&self, id: CallId) -> &'a str {
        &self.plan.labels.calls[id.index()]
    }

    /// The path of a call's table.
    pub fn call_path(&self, id: CallId) -> String {
        let label = self.call_name(id).split_once("->").map_or("", |(_, label)| label);
        match self.plan.calls[id.index()].origin {
            Origin::Group(group) => format!("clients.{}.calls.{label}", self.plan.labels.groups[group.index()]),
            Origin::Service(service) => format!("services.{}.calls.{label}", self.service_name(service)),
        }
    }

    /// The path of a policy's table.
    pub fn policy_path(&self, id: PolicyId) -> String {
        format!("retries.{}", self.plan.labels.policies[id.index()])
    }

    /// The name of a service.
    pub fn service_name(&self, id: ServiceId) -> &'a str {
        &self.plan.labels.services[id.index()]
    }

    /// The path of a service's table.
    pub fn service_path(&self, id: ServiceId) -> String {
        format!("services.{}", self.service_name(id))
    }

    /// The path of a client group's table.
    pub fn group_path(&self, id: GroupId) -> String {
        format!("clients.{}", self.plan.labels.groups[id.index()])
    }

    /// How many requests come to a service while nothing fails.
    pub fn crowd(&self, service: ServiceId) -> Crowd {
        let crowd = self.plan.groups.iter().zip(&self.once).fold(Crowd::default(), |sum, (group, once)| {
            let times = once[service.index()];
            let Crowd { clients, per_second } = Crowd::of(&group.arrivals, group.clients);
            Crowd { clients: sum.clients + times * clients, per_second: sum.per_second + times * per_second }
        });
        // Groups that come one after the other are never there together.
        let together = self.loads[service.index()].offered_rps.unwrap_or(f64::INFINITY);
        Crowd { per_second: crowd.per_second.min(together), ..crowd }
    }

    /// How long a call may take in all: its own limit, or what is left of its caller's at most; [`Span::UNLIMITED`]
    /// without a limit.
    pub fn time_limit(&self, id: CallId) -> Span {
        self.plan.calls[id.index()].total_timeout.after.min(self.paths.deadlines[id.index()])
    }
}

impl Crowd {
    /// How many requests of a group with these arrivals and so many clients.
    pub fn of(arrivals: &Arrivals, clients: u32) -> Self {
        let (clients, per_second) = match arrivals {
            Arrivals::Burst { .. } => (f64::from(clients), 0.0),
            // Those who think for long are not there when something fails: a second of it meets some of them.
            Arrivals::Closed { think, .. } => match think.mean_ns() / 1e9 {
                short if short <= 1.0 => (f64::from(clients), 0.0),
                long => (0.0, f64::from(clients) / long),
            },
            Arrivals::Periodic { every, offset } => match offset.bounds() {
                (least, Some(most)) if least == most => (f64::from(clients), 0.0),
                // Each has a moment of its own.
                (least, most) => {
                    let width = most.map_or(*every, |most| most - least);
                    (0.0, f64::from(clients) * (1.0 / width.as_s()).min(1.0))
                }
            },
            Arrivals::Constant { rate } => (0.0, *rate),
            Arrivals::Poisson(profile) => (0.0, profile.peak()),
            Arrivals::Trace(instants) => (0.0, densest(instants, Span::from_s(1)) as f64),
        };
        Self { clients, per_second }
    }

    /// How many may be waiting for the same moment after a second of trouble.
    pub fn after_a_second(self) -> f64 {
        self.clients + self.per_second
    }
}

/// The most of these instants, which ascend, that are within so much time, which is above zero.
pub fn densest(instants: &[Instant], time: Span) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (last, at) in instants.iter().enumerate() {
        while at.since(instants[first]) >= time {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_second_is_anywhere() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let second = Span::from_s(1);
        assert_eq!(densest(&[], second), 0);
        assert_eq!(
            densest(&[0, 900, 1_000, 1_500, 1_899, 1_900].map(at), second),
            4,
            "from 900 to 1,899 ms, and 1,900 not"
        );
    }
}
