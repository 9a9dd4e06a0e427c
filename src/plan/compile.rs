//! From a draft to a plan: dense ids, keys, shared tables.

use std::ops::Range;

use crate::dist::{name_key, probability};
use crate::plan::{
    BudgetDraft, BudgetPool, BudgetUse, Call, CallDraft, CallId, Draft, Fault, FaultDraft, Group, GroupDraft, GroupId,
    Labels, Origin, Plan, PolicyDraft, PolicyId, Pool, PoolDraft, Service, ServiceDraft, ServiceId, SharedBy,
    SharedOver, Target, TargetDraft, Timeout, TimeoutId,
};
use crate::time::{Instant, Span};

/// Puts a plan together. `windows` are those of [`Plan::windows`].
pub fn compile(draft: Draft, windows: Vec<Range<Instant>>) -> Plan {
    let Draft { horizon, warmup, bucket, recovery, groups, services, policies, faults } = draft;
    let mut calls = Calls { policies: &policies, ..Calls::default() };
    let mut labels = Labels::default();
    // The clients' calls come first.
    let groups = (0..).map(GroupId).zip(groups).map(|(id, group)| {
        labels.groups.push(group.name.clone());
        calls.add_group(id, group)
    });
    let groups: Vec<Group> = groups.collect();
    let services = (0..).map(ServiceId).zip(services).map(|(id, service)| {
        labels.services.push(service.name.clone());
        calls.add_service(id, service)
    });
    let services: Vec<Service> = services.collect();
    let faults = faults.into_iter().map(|FaultDraft { name, targets, first_instances, windows, effect }| {
        let key = name_key(&name);
        labels.faults.push(name);
        let targets = targets.into_iter().map(|target| calls.target(target)).collect();
        Fault { key, targets, first_instances, windows, effect }
    });
    let faults = faults.collect();
    labels.calls = calls.labels;
    labels.policies = policies.iter().map(|draft| draft.name.clone()).collect();
    Plan {
        horizon,
        warmup,
        windows,
        bucket,
        recovery,
        groups,
        services,
        calls: calls.list,
        budgets: calls.pools.into_iter().map(|(_, pool)| pool).collect(),
        faults,
        steps: calls.steps,
        step_calls: calls.step_calls,
        timeouts: calls.timeouts,
        labels,
        policies: policies.into_iter().map(|draft| draft.policy).collect(),
    }
}

/// The calls so far, and the tables that they share.
#[derive(Default)]
struct Calls<'a> {
    policies: &'a [PolicyDraft],
    list: Vec<Call>,
    labels: Vec<String>,
    steps: Vec<Range<u32>>,
    step_calls: Vec<CallId>,
    timeouts: Vec<Span>,
    pools: Vec<(PoolKey, BudgetPool)>,
}

/// What calls have in common that draw on one pool.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PoolKey {
    origin: Origin,
    policy: PolicyId,
    reach: Reach,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Call(CallId),
    Target(ServiceId),
    Policy,
}

impl Calls<'_> {
    /// What a fault strikes; all calls have been added.
    fn target(&self, target: TargetDraft) -> Target {
        match target {
            TargetDraft::Service(service) => Target::Service(service),
            TargetDraft::Group(group) => Target::Group(group),
            TargetDraft::Call(caller, position) => {
                let first = self.list.iter().position(|call| call.origin == caller);
                let first = first.expect("a caller whose call is struck makes calls");
                Target::Call(CallId((first + position) as u32))
            }
        }
    }

    fn add_group(&mut self, id: GroupId, group: GroupDraft) -> Group {
        let GroupDraft { name, clients, arrivals, window, calls, operations } = group;
        let weights: Vec<f64> = calls.iter().map(|call| call.weight).collect();
        let ids = self.add(Origin::Group(id), clients, &name, calls);
        let choices = choices(&weights, ids.map(CallId));
        Group { key: name_key(&name), clients, arrivals, from: window.start, until: window.end, choices, operations }
    }

    fn add_service(&mut self, id: ServiceId, service: ServiceDraft) -> Service {
        let ServiceDraft { name, service_time, calls, steps, capacity, effects } = service;
        let ids = self.add(Origin::Service(id), capacity.instances, &name, calls);
        let first_step = self.steps.len() as u32;
        for (step, calls) in (0..).zip(steps) {
            let start = self.step_calls.len() as u32;
            for position in calls {
                let call = CallId(ids.start + position as u32);
                self.step_calls.push(call);
                self.set_step(call, step);
            }
            self.steps.push(start..self.step_calls.len() as u32);
        }
        Service { service_time, steps: first_step..self.steps.len() as u32, capacity, effects }
    }

    /// A call and its fallbacks, of which no call is one twice, run in the same step.
    fn set_step(&mut self, call: CallId, step: u32) {
        let mut next = Some(call);
        while let Some(call) = next {
            self.list[call.index()].step = step;
            next = self.list[call.index()].fallback;
        }
    }

    /// Adds the calls of one caller, which has so many instances, and returns their ids.
    fn add(&mut self, origin: Origin, instances: u32, caller: &str, calls: Vec<CallDraft>) -> Range<u32> {
        let first = self.list.len() as u32;
        for call in calls {
            let id = CallId(self.list.len() as u32);
            self.labels.push(format!("{caller}->{}", call.label));
            let built = Call {
                key: name_key(&call.label),
                origin,
                target: call.target,
                step: 0,
                copies: call.copies,
                required: call.required,
                probability: probability(call.probability),
                optional: call.optional,
                fallback: call.fallback.map(|position| CallId(first + position as u32)),
                network: call.network,
                connect_timeout: self.timeout(call.connect_timeout),
                deadline: call.deadline,
                timeout: self.timeout(call.timeout),
                total_timeout: self.timeout(call.total_timeout),
                policy: call.policy,
                budget: self.budget(id, origin, call.target, call.policy, instances),
                pool: call.pool.map(|pool| self.pool(pool)),
                breaker: call.breaker.map(Box::new),
                throttle: call.throttle.map(Box::new),
                hedge: call.hedge.map(|hedge| hedge.with(self.timeout(Some(hedge.after)))),
                avoid_previous: call.avoid_previous,
            };
            self.list.push(built);
        }
        first..self.list.len() as u32
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

    fn pool(&mut self, pool: PoolDraft) -> Pool {
        // A wait of no time needs no timer.
        let max_wait = match pool.max_wait {
            Some(Span::ZERO) => Timeout { after: Span::ZERO, ..Timeout::NONE },
            limit => self.timeout(limit),
        };
        Pool { size: pool.size, max_wait }
    }

    /// The budget of a call, with the pool that it shares with the calls before it or else begins.
    fn budget(
        &mut self,
        call: CallId,
        origin: Origin,
        target: ServiceId,
        policy: PolicyId,
        instances: u32,
    ) -> Option<BudgetUse> {
        let BudgetDraft { rule, shared_by, shared_over } = self.policies[policy.index()].budget?;
        let reach = match shared_over {
            SharedOver::Call => Reach::Call(call),
            SharedOver::Target => Reach::Target(target),
            SharedOver::Policy => Reach::Policy,
        };
        let key = PoolKey { origin, policy, reach };
        let by_instance = shared_by == SharedBy::Instance;
        let found = self.pools.iter().position(|(other, _)| *other == key);
        let pool = found.unwrap_or_else(|| {
            let states = if by_instance { instances } else { 1 };
            self.pools.push((key, BudgetPool { rule, states }));
            self.pools.len() - 1
        });
        Some(BudgetUse { pool: pool as u32, by_instance })
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
