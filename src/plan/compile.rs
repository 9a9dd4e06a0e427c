//! From resolved parts to a plan: dense ids, keys, shared tables.

use std::ops::Range;

use crate::dist::{Dist, name_key, probability};
use crate::plan::{
    Arrivals, Call, CallId, Effect, Fault, Group, GroupId, Labels, Origin, Plan, PolicyId, Service, ServiceId, Timeout,
    TimeoutId,
};
use crate::policy::RetryPolicy;
use crate::time::{Instant, Span};

/// Everything that a plan is made of, resolved and checked, in file order.
#[derive(Clone, Debug)]
pub struct Draft {
    /// See [`Plan::horizon`].
    pub horizon: Option<Instant>,
    /// See [`Plan::bucket`].
    pub bucket: Span,
    /// Client groups.
    pub groups: Vec<GroupDraft>,
    /// Services.
    pub services: Vec<ServiceDraft>,
    /// Retry policies; calls refer to them by position.
    pub policies: Vec<RetryPolicy>,
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
    /// Its calls, at least one.
    pub calls: Vec<CallDraft>,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceDraft {
    /// Its name.
    pub name: String,
    /// Its own work.
    pub service_time: Dist,
    /// Its calls, one after another.
    pub calls: Vec<CallDraft>,
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
    /// Limit of one attempt; above zero.
    pub timeout: Option<Span>,
    /// Limit of the whole call; above zero.
    pub total_timeout: Option<Span>,
    /// Its retry policy.
    pub policy: PolicyId,
}

/// A fault.
#[derive(Clone, Debug)]
pub struct FaultDraft {
    /// Its name.
    pub name: String,
    /// The services it strikes.
    pub targets: Vec<ServiceId>,
    /// When it is there.
    pub window: Range<Instant>,
    /// What it does.
    pub effect: Effect,
}

/// Puts a plan together.
pub fn compile(draft: Draft) -> Plan {
    let Draft { horizon, bucket, groups, services, policies, faults } = draft;
    let mut calls = Calls::default();
    let mut labels = Labels::default();
    let groups = groups.into_iter().enumerate().map(|(id, group)| {
        let weights: Vec<f64> = group.calls.iter().map(|call| call.weight).collect();
        let ids = calls.add(Origin::Group(GroupId(id as u32)), &group.name, group.calls);
        let key = name_key(&group.name);
        labels.groups.push(group.name);
        Group { key, clients: group.clients, arrivals: group.arrivals, choices: choices(&weights, ids) }
    });
    // Collected before the services, because the clients' calls come first.
    let groups: Vec<Group> = groups.collect();
    let (mut steps, mut step_calls) = (Vec::new(), Vec::new());
    let mut built = Vec::with_capacity(services.len());
    for (id, service) in services.into_iter().enumerate() {
        let first_step = steps.len() as u32;
        for call in calls.add(Origin::Service(ServiceId(id as u32)), &service.name, service.calls) {
            let at = step_calls.len() as u32;
            step_calls.push(call);
            steps.push(at..at + 1);
        }
        let key = name_key(&service.name);
        labels.services.push(service.name);
        built.push(Service { key, service_time: service.service_time, steps: first_step..steps.len() as u32 });
    }
    let faults = faults.into_iter().map(|fault| {
        let key = name_key(&fault.name);
        labels.faults.push(fault.name);
        Fault { key, targets: fault.targets, windows: vec![fault.window], effect: fault.effect }
    });
    let faults = faults.collect();
    labels.calls = calls.labels;
    Plan {
        horizon,
        bucket,
        groups,
        services: built,
        calls: calls.list,
        policies,
        faults,
        steps,
        step_calls,
        timeouts: calls.timeouts,
        labels,
    }
}

#[derive(Default)]
struct Calls {
    list: Vec<Call>,
    labels: Vec<String>,
    timeouts: Vec<Span>,
}

impl Calls {
    /// Adds the calls of one caller and returns their ids.
    fn add(&mut self, origin: Origin, caller: &str, calls: Vec<CallDraft>) -> impl Iterator<Item = CallId> + use<> {
        let first = self.list.len() as u32;
        for call in calls {
            let timeout = self.timeout(call.timeout);
            let total_timeout = self.timeout(call.total_timeout);
            let (key, target, policy) = (name_key(&call.label), call.target, call.policy);
            self.list.push(Call { key, origin, target, timeout, total_timeout, policy });
            self.labels.push(format!("{caller}->{}", call.label));
        }
        (first..self.list.len() as u32).map(CallId)
    }

    /// The limit with its place among the distinct ones.
    fn timeout(&mut self, after: Option<Span>) -> Timeout {
        let Some(after) = after else { return Timeout::NONE };
        let found = self.timeouts.iter().position(|&other| other == after);
        let id = found.unwrap_or_else(|| {
            self.timeouts.push(after);
            self.timeouts.len() - 1
        });
        Timeout { after, id: TimeoutId(id as u32) }
    }
}

/// Cumulative weights as bounds for draws: a draw takes the first call whose bound is not below it.
fn choices(weights: &[f64], calls: impl Iterator<Item = CallId>) -> Vec<(u64, CallId)> {
    // Relative to the largest weight, so that no sum overflows.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let total: f64 = weights.iter().map(|weight| weight / largest).sum();
    let mut sum = 0.0;
    let bounds = weights.iter().enumerate().map(|(i, weight)| {
        sum += weight / largest;
        // The bound itself is taken too: a share s of all draws are those from 0 to 2^64 s - 1.
        if i + 1 == weights.len() { u64::MAX } else { probability(sum / total).saturating_sub(1) }
    });
    bounds.zip(calls).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(weights: &[f64]) -> Vec<u64> {
        choices(weights, (0..).map(CallId)).into_iter().map(|(bound, _)| bound).collect()
    }

    /// Quarters of the 2^64 draws are exact in binary: the counts are 2^62, 2^62 and the remaining 2^63.
    #[test]
    fn bounds_split_the_draws_by_weight() {
        assert_eq!(bounds(&[1.0, 1.0, 2.0]), [(1 << 62) - 1, (1 << 63) - 1, u64::MAX]);
        assert_eq!(bounds(&[3.0]), [u64::MAX]);
    }

    /// The sum of two weights near the largest number would be infinite, and all shares with it zero.
    #[test]
    fn huge_weights_keep_their_proportions() {
        assert_eq!(bounds(&[f64::MAX, f64::MAX]), [(1 << 63) - 1, u64::MAX]);
    }
}
