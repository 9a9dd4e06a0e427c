//! Plans side by side in one plan, and what a run of it tells of each of them.

use std::collections::BTreeSet;
use std::ops::Range;

use stormsim::dist::mix;
use stormsim::metrics::{CallTally, Outcome};
use stormsim::plan::{
    BudgetUse, Call, CallId, Fault, Group, GroupId, Hedge, Origin, Plan, PolicyId, Pool, Service, ServiceId, Target,
    Timeout, TimeoutId, Windows,
};
use stormsim::policy::BudgetRule;
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

/// The plan with other names: everything in it draws otherwise than its namesake.
pub fn renamed(mut plan: Plan) -> Plan {
    let keys = plan.groups.iter_mut().map(|group| &mut group.key);
    let keys = keys.chain(plan.calls.iter_mut().map(|call| &mut call.key));
    for key in keys.chain(plan.faults.iter_mut().map(|fault| &mut fault.key)) {
        *key = mix(*key, 1);
    }
    plan
}

/// A fault with only the first of its windows, if they come again and again: every few nanoseconds of the days that the
/// other plan may run for are too many.
pub fn without_repetition(fault: Fault) -> Fault {
    let windows = match fault.windows {
        Windows::Repeated { first, .. } => Windows::Once(first),
        windows => windows,
    };
    Fault { windows, ..fault }
}

/// Both plans as one; the things of the second come after those of the first. Horizon, warmup, windows and bucket are
/// those of the first.
pub fn side_by_side(first: &Plan, second: &Plan) -> Plan {
    let mut both = first.clone();
    for timeout in &second.timeouts {
        if !both.timeouts.contains(timeout) {
            both.timeouts.push(*timeout);
        }
    }
    let shift = Shift { past: first, timeouts: both.timeouts.clone() };
    both.groups.extend(second.groups.iter().map(|group| shift.group(group)));
    both.services.extend(second.services.iter().map(|service| shift.service(service)));
    both.calls.extend(second.calls.iter().map(|call| shift.call(call)));
    both.policies.extend(second.policies.iter().cloned());
    both.budgets.extend(second.budgets.iter().cloned());
    both.faults.extend(second.faults.iter().map(|fault| shift.fault(fault)));
    let step_calls = first.step_calls.len() as u32;
    both.steps.extend(second.steps.iter().map(|step| step.start + step_calls..step.end + step_calls));
    both.step_calls.extend(second.step_calls.iter().map(|&call| shift.call_id(call)));
    both.labels.groups.extend(second.labels.groups.iter().cloned());
    both.labels.services.extend(second.labels.services.iter().cloned());
    both.labels.calls.extend(second.labels.calls.iter().cloned());
    both.labels.faults.extend(second.labels.faults.iter().cloned());
    both
}

/// Renumbers what comes after the things of another plan.
struct Shift<'a> {
    past: &'a Plan,
    /// The timeouts of both.
    timeouts: Vec<Span>,
}

impl Shift<'_> {
    fn call_id(&self, CallId(id): CallId) -> CallId {
        CallId(id + self.past.calls.len() as u32)
    }

    fn service_id(&self, ServiceId(id): ServiceId) -> ServiceId {
        ServiceId(id + self.past.services.len() as u32)
    }

    fn timeout(&self, timeout: Timeout) -> Timeout {
        let place = self.timeouts.iter().position(|&after| after == timeout.after);
        // What is no limit, or no time at all, has no place.
        place.map_or(timeout, |place| Timeout { id: TimeoutId(place as u32), ..timeout })
    }

    fn group_id(&self, GroupId(id): GroupId) -> GroupId {
        GroupId(id + self.past.groups.len() as u32)
    }

    fn group(&self, group: &Group) -> Group {
        let choices = group.choices.iter().map(|&(bound, call)| (bound, self.call_id(call))).collect();
        Group { choices, ..group.clone() }
    }

    fn service(&self, service: &Service) -> Service {
        let steps = self.past.steps.len() as u32;
        Service { steps: service.steps.start + steps..service.steps.end + steps, ..service.clone() }
    }

    fn call(&self, call: &Call) -> Call {
        Call {
            origin: match call.origin {
                Origin::Group(id) => Origin::Group(self.group_id(id)),
                Origin::Service(id) => Origin::Service(self.service_id(id)),
            },
            target: self.service_id(call.target),
            fallback: call.fallback.map(|id| self.call_id(id)),
            connect_timeout: self.timeout(call.connect_timeout),
            timeout: self.timeout(call.timeout),
            total_timeout: self.timeout(call.total_timeout),
            policy: PolicyId(call.policy.0 + self.past.policies.len() as u32),
            pool: call.pool.map(|pool| Pool { max_wait: self.timeout(pool.max_wait), ..pool }),
            hedge: call.hedge.map(|hedge| Hedge { after: self.timeout(hedge.after), ..hedge }),
            budget: call.budget.map(|used| BudgetUse { pool: used.pool + self.past.budgets.len() as u32, ..used }),
            ..call.clone()
        }
    }

    fn fault(&self, fault: &Fault) -> Fault {
        let target = |target: &Target| match *target {
            Target::Service(id) => Target::Service(self.service_id(id)),
            Target::Call(id) => Target::Call(self.call_id(id)),
            Target::Group(id) => Target::Group(self.group_id(id)),
        };
        Fault { targets: fault.targets.iter().map(target).collect(), ..fault.clone() }
    }
}

/// Which things of two plans in one are those of one of them.
#[derive(Clone, Debug)]
pub struct Part {
    groups: Range<usize>,
    calls: Range<usize>,
    services: Range<usize>,
    budgets: Range<usize>,
}

impl Part {
    /// The things of the plan that comes first.
    pub fn first(plan: &Plan) -> Self {
        Self {
            groups: 0..plan.groups.len(),
            calls: 0..plan.calls.len(),
            services: 0..plan.services.len(),
            budgets: 0..plan.budgets.len(),
        }
    }

    /// The things of the plan that comes after another.
    pub fn after(first: &Plan, plan: &Plan) -> Self {
        let after = |first: usize, own: usize| first..first + own;
        Self {
            groups: after(first.groups.len(), plan.groups.len()),
            calls: after(first.calls.len(), plan.calls.len()),
            services: after(first.services.len(), plan.services.len()),
            budgets: after(first.budgets.len(), plan.budgets.len()),
        }
    }

    /// The notes that are about this part, with the ids that its plan has alone.
    pub fn notes(&self, notes: &[(Instant, Note)]) -> Vec<(Instant, Note)> {
        let own = |part: &Range<usize>, id: u32| part.contains(&(id as usize)).then(|| id - part.start as u32);
        let own_call = |CallId(id): CallId| own(&self.calls, id).map(CallId);
        let mut keys = BTreeSet::new();
        let mut own_note = |note: Note| match note {
            Note::RequestBegan { group, client, ordinal } => {
                own(&self.groups, group.0).map(|id| Note::RequestBegan { group: GroupId(id), client, ordinal })
            }
            Note::Sent { call, attempt, hedge, key } => own_call(call).map(|call| {
                keys.insert(key);
                Note::Sent { call, attempt, hedge, key }
            }),
            Note::Arrived { service, key } => {
                own(&self.services, service.0).map(|id| Note::Arrived { service: ServiceId(id), key })
            }
            Note::CallEnded { call, key, result } => own_call(call).map(|call| Note::CallEnded { call, key, result }),
            Note::TurnedAway { call, key, error } => own_call(call).map(|call| {
                keys.insert(key);
                Note::TurnedAway { call, key, error }
            }),
            Note::Opened { call, instance } => own_call(call).map(|call| Note::Opened { call, instance }),
            Note::Ejected { service, server } => {
                own(&self.services, service.0).map(|id| Note::Ejected { service: ServiceId(id), server })
            }
            Note::Abandoned { call, key } => own_call(call).map(|call| Note::Abandoned { call, key }),
            Note::Placed { key, .. }
            | Note::Began { key }
            | Note::Recognised { key }
            | Note::Dropped { key }
            | Note::Cancelled { key }
            | Note::Answered { key, .. }
            | Note::Answer { key, .. }
            | Note::TimedOut { key, .. }
            | Note::Outrun { key }
            | Note::Waiting { key, .. } => keys.contains(&key).then_some(note),
        };
        notes.iter().filter_map(|&(at, note)| Some((at, own_note(note)?))).collect()
    }

    /// Whether the counts of this part in a run of both are those of a run of its plan alone. What a window still holds
    /// at the end is no count: the end of a run of both may be later.
    pub fn has_outcome(&self, plan: &Plan, both: &Outcome, alone: &Outcome) -> bool {
        let forgets = |call: &Call| {
            let rule = call.budget.map(|used| &plan.budgets[used.pool as usize].rule);
            both.end != alone.end && matches!(rule, Some(BudgetRule::WindowedRatio(_)))
        };
        let counts = |calls: &[CallTally]| -> Vec<CallTally> {
            let of_call = |(tally, call): (&CallTally, &Call)| {
                let tokens_left = tally.tokens_left.filter(|_| !forgets(call));
                CallTally { tokens_left, ..tally.clone() }
            };
            calls.iter().zip(&plan.calls).map(of_call).collect()
        };
        both.groups[self.groups.clone()] == alone.groups[..]
            && counts(&both.calls[self.calls.clone()]) == counts(&alone.calls)
            && both.services[self.services.clone()] == alone.services[..]
            && both.timeline.groups[self.groups.clone()] == alone.timeline.groups[..]
            && both.timeline.calls[self.calls.clone()] == alone.timeline.calls[..]
            && both.timeline.services[self.services.clone()] == alone.timeline.services[..]
            && both.timeline.tokens[self.budgets.clone()] == alone.timeline.tokens[..]
    }
}
