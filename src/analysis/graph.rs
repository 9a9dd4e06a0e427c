//! The call graph: who makes which calls, in what order, and how often.

use crate::plan::{Call, CallId, GroupId, Origin, Plan, ServiceId};

/// The calls of a plan by their callers, as far as requests of clients may come to make them.
pub(super) struct Graph {
    of_groups: Vec<Vec<CallId>>,
    of_services: Vec<Vec<CallId>>,
    /// By call: that which it is made in the place of.
    instead_of: Vec<Option<CallId>>,
}

impl Graph {
    pub fn of(plan: &Plan) -> Self {
        let mut graph = Self {
            of_groups: vec![Vec::new(); plan.groups.len()],
            of_services: vec![Vec::new(); plan.services.len()],
            instead_of: vec![None; plan.calls.len()],
        };
        for (id, call) in calls(plan) {
            if let Some(fallback) = call.fallback {
                graph.instead_of[fallback.index()] = Some(id);
            }
        }
        for (id, call) in calls(plan) {
            let never = plan.calls[graph.first_of(id).index()].probability == 0;
            match call.origin {
                _ if never => {}
                Origin::Group(group) => graph.of_groups[group.index()].push(id),
                Origin::Service(service) => graph.of_services[service.index()].push(id),
            }
        }
        graph.forget_unreached(plan);
        graph
    }

    /// Services that nobody calls make no calls.
    fn forget_unreached(&mut self, plan: &Plan) {
        let mut reached = vec![false; plan.services.len()];
        let mut next: Vec<CallId> = self.of_groups.iter().flatten().copied().collect();
        while let Some(id) = next.pop() {
            let target = plan.calls[id.index()].target.index();
            if !reached[target] {
                reached[target] = true;
                next.extend(&self.of_services[target]);
            }
        }
        for (calls, _) in self.of_services.iter_mut().zip(reached).filter(|(_, reached)| !reached) {
            calls.clear();
        }
    }

    /// The calls that a client group or a service may come to make, in the order of the file.
    pub fn made_by(&self, origin: Origin) -> &[CallId] {
        match origin {
            Origin::Group(group) => &self.of_groups[group.index()],
            Origin::Service(service) => &self.of_services[service.index()],
        }
    }

    /// The call that this one is made in the place of when that has failed.
    pub fn instead_of(&self, call: CallId) -> Option<CallId> {
        self.instead_of[call.index()]
    }

    /// The call that the work of the caller begins with, where this one is a fallback, or the fallback of one; else
    /// itself.
    pub fn first_of(&self, mut call: CallId) -> CallId {
        // No call is its own fallback in the end.
        while let Some(before) = self.instead_of(call) {
            call = before;
        }
        call
    }

    /// How many copies of a call are made each time: a fallback is made for each copy that has failed.
    pub fn copies(&self, plan: &Plan, call: CallId) -> u32 {
        plan.calls[self.first_of(call).index()].copies
    }

    /// All callers, those that call before those that are called: the graph has no cycles.
    pub fn callers_first(&self, plan: &Plan) -> Vec<Origin> {
        let mut waiting: Vec<usize> = vec![0; plan.services.len()];
        for call in self.of_groups.iter().chain(&self.of_services).flatten() {
            waiting[plan.calls[call.index()].target.index()] += 1;
        }
        let uncalled = (0..).map(ServiceId).zip(&waiting).filter(|(_, callers)| **callers == 0);
        let groups = (0..plan.groups.len() as u32).map(|id| Origin::Group(GroupId(id)));
        let mut order: Vec<Origin> = groups.chain(uncalled.map(|(id, _)| Origin::Service(id))).collect();
        let mut next = 0;
        while let Some(&origin) = order.get(next) {
            next += 1;
            for &call in self.made_by(origin) {
                let target = plan.calls[call.index()].target;
                waiting[target.index()] -= 1;
                if waiting[target.index()] == 0 {
                    order.push(Origin::Service(target));
                }
            }
        }
        order
    }
}

/// All calls of a plan with their ids.
pub(super) fn calls(plan: &Plan) -> impl Iterator<Item = (CallId, &Call)> {
    (0..).map(CallId).zip(&plan.calls)
}
