//! From a sketch to the plan that it stands for.

use stormsim::dist::name_key;
use stormsim::plan::{
    BudgetPool, BudgetUse, Call, CallId, Capacity, Effects, Group, GroupId, Hedge, Labels, Origin, Plan, PolicyId,
    Pool, Recovery, Service, ServiceId, Timeout, TimeoutId,
};
use stormsim::policy::{Backoff, RetryPolicy, Schedule};
use stormsim::time::Span;

use super::sketch::{
    CallSketch, ChainSketch, GroupSketch, PolicySketch, PoolSketch, ServiceSketch, Sketch, StepCallSketch,
};

/// Most attempts, in all layers together, that one work may cause at worst; a call that would lead further is left
/// out of the plan. Room for three copies of a call of four attempts with such a call beneath (3 x 4 x 5 = 60).
const MOST_ATTEMPTS: u64 = 64;

impl Sketch {
    /// The plan.
    pub fn plan(&self) -> Plan {
        let mut edges = Edges { sketch: self, calls: Vec::new(), timeouts: Vec::new() };
        let groups: Vec<_> =
            self.groups.iter().enumerate().map(|(index, group)| edges.add_group(index, group)).collect();
        let most_attempts = self.most_attempts();
        let mut steps = Vec::new();
        let mut step_calls = Vec::new();
        let mut services = Vec::new();
        for (index, service) in self.services.iter().enumerate() {
            let first_step = steps.len();
            for calls in self.steps_within_bounds(index, &most_attempts) {
                let before = step_calls.len() as u32;
                let step = (steps.len() - first_step) as u32;
                step_calls.extend(calls.into_iter().map(|call| edges.add_step_call(index, step, call)));
                steps.push(before..step_calls.len() as u32);
            }
            services.push(Service {
                service_time: service.service_time.clone(),
                steps: first_step as u32..steps.len() as u32,
                capacity: self.capacity(service),
                effects: if self.unlimited { Effects::NONE } else { service.effects },
            });
        }
        let mut windows = Vec::new();
        for window in &self.windows {
            if !windows.contains(window) {
                windows.push(window.clone());
            }
        }
        let mut plan = Plan {
            horizon: self.horizon,
            warmup: self.warmup,
            windows,
            bucket: self.bucket,
            recovery: Recovery::DEFAULT,
            groups,
            policies: self.policies.iter().map(PolicySketch::policy).collect(),
            budgets: self.budget_pools(&edges.calls),
            faults: Vec::new(),
            steps,
            step_calls,
            timeouts: edges.timeouts,
            labels: Labels {
                groups: (0..self.groups.len()).map(group_name).collect(),
                services: (0..services.len()).map(service_name).collect(),
                calls: (0..edges.calls.len()).map(call_name).collect(),
                policies: (0..self.policies.len()).map(policy_name).collect(),
                faults: Vec::new(),
            },
            services,
            calls: edges.calls,
        };
        self.add_faults(&mut plan);
        plan
    }

    fn capacity(&self, service: &ServiceSketch) -> Capacity {
        if self.unlimited {
            return Capacity::UNLIMITED;
        }
        Capacity { cancel: self.cancel.unwrap_or(service.capacity.cancel), ..service.capacity.clone() }
    }

    /// Each with a state for every client and server that draws on it.
    fn budget_pools(&self, calls: &[Call]) -> Vec<BudgetPool> {
        let states = |pool: usize| {
            let users = calls.iter().filter(|call| call.budget.is_some_and(|budget| budget.pool as usize == pool));
            let instances = users.map(|call| match call.origin {
                Origin::Group(group) => self.groups[group.index()].clients,
                Origin::Service(service) => self.capacity(&self.services[service.index()]).instances,
            });
            if self.budgets[pool].by_instance { instances.max().unwrap_or(1) } else { 1 }
        };
        let pools = self.budgets.iter().enumerate();
        pools.map(|(pool, sketch)| BudgetPool { rule: sketch.rule, states: states(pool) }).collect()
    }

    fn policy_of(&self, call: &CallSketch) -> PolicyId {
        PolicyId((call.policy % self.policies.len()) as u32)
    }

    /// The service that a call reaches. A client reaches all of them, a service those after itself; the last one none.
    fn target(&self, caller: Option<usize>, call: &CallSketch) -> usize {
        let first = caller.map_or(0, |service| service + 1);
        first + call.target % (self.services.len() - first)
    }

    fn hedge_of(&self, call: &CallSketch) -> Option<Hedge<Span>> {
        call.hedge.filter(|_| !self.unlimited)
    }

    /// How many attempts a call of a service causes at worst, given how many a work of each service causes.
    fn attempts_of(&self, caller: usize, call: &StepCallSketch, most_attempts: &[u64]) -> u64 {
        let attempts = call.chain.calls().map(|call| {
            let beneath = most_attempts[self.target(Some(caller), call)];
            let copies = 1 + self.hedge_of(call).map_or(0, |hedge| u64::from(hedge.copies));
            u64::from(self.policies[self.policy_of(call).index()].max_attempts) * copies * (1 + beneath)
        });
        u64::from(call.copies) * attempts.sum::<u64>()
    }

    /// The steps of a service, in so far as they do not lead too far.
    fn steps_within_bounds(&self, caller: usize, most_attempts: &[u64]) -> Vec<Vec<&StepCallSketch>> {
        if caller + 1 == self.services.len() {
            return Vec::new();
        }
        let mut attempts = 0;
        let mut fits = |call: &StepCallSketch| {
            let more = self.attempts_of(caller, call, most_attempts);
            let fits = attempts + more <= MOST_ATTEMPTS;
            attempts += if fits { more } else { 0 };
            fits
        };
        let steps = self.services[caller].steps.iter();
        let kept = steps.map(|step| step.iter().filter(|call| fits(call)).collect::<Vec<_>>());
        kept.filter(|step| !step.is_empty()).collect()
    }

    /// How many attempts a work of each service causes at worst, itself not included.
    fn most_attempts(&self) -> Vec<u64> {
        let mut most = vec![0; self.services.len()];
        for service in (0..self.services.len()).rev() {
            let calls = self.steps_within_bounds(service, &most).into_iter().flatten();
            most[service] = calls.map(|call| self.attempts_of(service, call, &most)).sum();
        }
        most
    }
}

fn group_name(index: usize) -> String {
    format!("group{index}")
}

fn service_name(index: usize) -> String {
    format!("service{index}")
}

fn policy_name(index: usize) -> String {
    format!("policy{index}")
}

fn call_name(index: usize) -> String {
    format!("call{index}")
}

impl PolicySketch {
    fn policy(&self) -> RetryPolicy {
        let throttled = match (&self.backoff, self.base_throttled) {
            (&Backoff::Exponential { factor, .. }, Some(base)) => {
                Some(Box::new(self.schedule(Backoff::Exponential { base, factor })))
            }
            _ => None,
        };
        RetryPolicy {
            max_attempts: self.max_attempts,
            schedule: self.schedule(self.backoff.clone()),
            retry_on: self.retry_on.iter().copied().collect(),
            min_attempt: self.min_attempt,
            server_delay: self.server_delay.clone(),
            throttled,
            max_elapsed: self.max_elapsed.unwrap_or(Span::UNLIMITED),
        }
    }

    fn schedule(&self, backoff: Backoff) -> Schedule {
        let cap = self.cap.unwrap_or(Span::UNLIMITED);
        Schedule::refined(backoff, cap, self.cap_order, self.jitter.clone(), self.refinement)
    }
}

/// The calls of a plan as they are put together, with the distinct timeouts among them.
struct Edges<'a> {
    sketch: &'a Sketch,
    calls: Vec<Call>,
    timeouts: Vec<Span>,
}

impl Edges<'_> {
    fn add_group(&mut self, index: usize, sketch: &GroupSketch) -> Group {
        let origin = Origin::Group(GroupId(index as u32));
        let mut choices: Vec<_> =
            sketch.calls.iter().map(|(bound, call)| (*bound, self.add(origin, 0, call))).collect();
        choices.sort_unstable();
        choices.last_mut().expect("a group makes a call").0 = u64::MAX;
        Group {
            key: name_key(&group_name(index)),
            clients: sketch.clients,
            arrivals: sketch.arrivals.clone(),
            from: sketch.window.start,
            until: sketch.window.end,
            choices,
            operations: sketch.operations,
        }
    }

    fn add_step_call(&mut self, caller: usize, step: u32, sketch: &StepCallSketch) -> CallId {
        let id = self.add_chain(Origin::Service(ServiceId(caller as u32)), step, &sketch.chain);
        let call = &mut self.calls[id.index()];
        call.copies = sketch.copies;
        call.required = match sketch.required % sketch.copies {
            0 => sketch.copies,
            some => some,
        };
        (call.probability, call.optional) = (sketch.probability, sketch.optional);
        id
    }

    /// Adds a call, and right after it its fallbacks, in the order in which they would be made.
    fn add_chain(&mut self, origin: Origin, step: u32, chain: &ChainSketch) -> CallId {
        let ids: Vec<CallId> = chain.calls().map(|call| self.add(origin, step, call)).collect();
        for pair in ids.windows(2) {
            self.calls[pair[0].index()].fallback = Some(pair[1]);
        }
        ids[0]
    }

    fn add(&mut self, origin: Origin, step: u32, sketch: &CallSketch) -> CallId {
        let caller = match origin {
            Origin::Group(_) => None,
            Origin::Service(service) => Some(service.index()),
        };
        let budgets = &self.sketch.budgets;
        let budget = sketch.budget.filter(|_| !budgets.is_empty()).map(|budget| budget % budgets.len());
        let call = Call {
            key: name_key(&call_name(self.calls.len())),
            origin,
            target: ServiceId(self.sketch.target(caller, sketch) as u32),
            step,
            copies: 1,
            required: 1,
            probability: u64::MAX,
            optional: false,
            fallback: None,
            network: sketch.network.clone(),
            connect_timeout: self.timeout(sketch.connect_timeout),
            deadline: sketch.deadline,
            timeout: self.timeout(sketch.timeout),
            total_timeout: self.timeout(sketch.total_timeout),
            policy: self.sketch.policy_of(sketch),
            budget: budget.map(|it| BudgetUse { pool: it as u32, by_instance: budgets[it].by_instance }),
            pool: sketch.pool.filter(|_| !self.sketch.unlimited).map(|pool| self.pool(pool)),
            breaker: sketch.breaker.clone().filter(|_| !self.sketch.unlimited).map(Box::new),
            throttle: sketch.throttle.clone().filter(|_| !self.sketch.unlimited).map(Box::new),
            hedge: self.sketch.hedge_of(sketch).map(|hedge| hedge.with(self.timeout(Some(hedge.after)))),
            avoid_previous: sketch.avoid_previous,
        };
        self.calls.push(call);
        CallId(self.calls.len() as u32 - 1)
    }

    fn pool(&mut self, sketch: PoolSketch) -> Pool {
        let max_wait = match sketch.max_wait {
            // A wait of no time has no timer.
            Some(Span::ZERO) => Timeout { after: Span::ZERO, ..Timeout::NONE },
            limit => self.timeout(limit),
        };
        Pool { size: sketch.size, max_wait }
    }

    fn timeout(&mut self, after: Option<Span>) -> Timeout {
        let Some(after) = after else { return Timeout::NONE };
        let known = self.timeouts.iter().position(|&timeout| timeout == after);
        let id = known.unwrap_or_else(|| {
            self.timeouts.push(after);
            self.timeouts.len() - 1
        });
        Timeout { after, id: TimeoutId(id as u32) }
    }
}
