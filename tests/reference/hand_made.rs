//! Plans put together by hand.

use std::ops::Range;

use stormsim::dist::{Dist, name_key, probability};
use stormsim::failure::ErrorSet;
use stormsim::plan::{
    Arrivals, BudgetPool, BudgetUse, Call, CallId, Capacity, DeadlineRule, Effect, Effects, Fault, Group, GroupId,
    Guard, Hedge, Keys, Labels, Operations, Origin, Plan, PolicyId, Pool, Recovery, Service, ServiceId, Store, Target,
    Timeout, Windows,
};
use stormsim::policy::{Backoff, Breaker, BudgetRule, CapOrder, Jitter, RetryPolicy, Schedule, ServerDelay, Throttle};
use stormsim::time::{Instant, Span};

/// How one calls a service: without limits, without a retry and at once, unless it is said.
#[derive(Clone)]
pub struct Link {
    /// The call; its origin, step and key are those of its place in the plan.
    call: Call,
    policy: RetryPolicy,
    fallback: Option<Box<Link>>,
}

impl Link {
    /// A call of `target`.
    pub fn to(target: ServiceId) -> Self {
        let call = Call {
            key: 0,
            origin: Origin::Service(target),
            target,
            step: 0,
            copies: 1,
            required: 1,
            probability: u64::MAX,
            optional: false,
            fallback: None,
            network: Dist::ZERO,
            connect_timeout: Timeout::NONE,
            deadline: DeadlineRule::Keep,
            timeout: Timeout::NONE,
            total_timeout: Timeout::NONE,
            policy: PolicyId(u32::MAX),
            budget: None,
            pool: None,
            breaker: None,
            throttle: None,
            hedge: None,
            avoid_previous: false,
        };
        Self { call, policy: policy(1, 0), fallback: None }
    }

    /// With a limit on each attempt.
    pub fn timeout_ms(self, ms: u64) -> Self {
        Self { call: Call { timeout: limit(ms), ..self.call }, ..self }
    }

    /// With a limit on the whole call.
    pub fn total_timeout_ms(self, ms: u64) -> Self {
        Self { call: Call { total_timeout: limit(ms), ..self.call }, ..self }
    }

    /// With this long a way, there and back.
    pub fn network_ms(self, ms: u64) -> Self {
        Self { call: Call { network: Dist::Constant(Span::from_ms(ms)), ..self.call }, ..self }
    }

    /// With a limit on the way there.
    pub fn connect_timeout_ms(self, ms: u64) -> Self {
        Self { call: Call { connect_timeout: limit(ms), ..self.call }, ..self }
    }

    /// Telling its callee of its deadline.
    pub fn deadline(self, deadline: DeadlineRule) -> Self {
        Self { call: Call { deadline, ..self.call }, ..self }
    }

    /// With this many attempts in all, and the same wait before each retry.
    pub fn attempts(self, max_attempts: u32, wait_ms: u64) -> Self {
        Self { policy: RetryPolicy { min_attempt: self.policy.min_attempt, ..policy(max_attempts, wait_ms) }, ..self }
    }

    /// With no attempt that has less than this left of the total timeout.
    pub fn min_attempt_ms(self, ms: u64) -> Self {
        Self { policy: RetryPolicy { min_attempt: Span::from_ms(ms), ..self.policy }, ..self }
    }

    /// Doing this with what servers say about when to try again.
    pub fn server_delay(self, server_delay: ServerDelay) -> Self {
        Self { policy: RetryPolicy { server_delay, ..self.policy }, ..self }
    }

    /// With retries that a budget pays for.
    pub fn budget(self, budget: BudgetUse) -> Self {
        Self { call: Call { budget: Some(budget), ..self.call }, ..self }
    }

    /// With so many slots for each caller, for which an attempt waits so long at most.
    pub fn pool(self, size: u32, max_wait_ms: u64) -> Self {
        Self { call: Call { pool: Some(Pool { size, max_wait: limit(max_wait_ms) }), ..self.call }, ..self }
    }

    /// With a breaker that all callers share.
    pub fn breaker(self, rule: Breaker) -> Self {
        let breaker = Some(Box::new(Guard { rule, by_instance: false }));
        Self { call: Call { breaker, ..self.call }, ..self }
    }

    /// With a throttle that all callers share.
    pub fn throttle(self, rule: Throttle) -> Self {
        let throttle = Some(Box::new(Guard { rule, by_instance: false }));
        Self { call: Call { throttle, ..self.call }, ..self }
    }

    /// With so many hedges, after so long each; without a limit, and the losers are given up.
    pub fn hedge(self, after_ms: u64, copies: u32) -> Self {
        let in_flight = Capacity::NO_LIMIT;
        let hedge = Hedge { after: limit(after_ms), copies, in_flight, by_instance: false, cancel_losers: true };
        Self { call: Call { hedge: Some(hedge), ..self.call }, ..self }
    }

    /// With so many hedges under way at once.
    pub fn hedges_in_flight(self, in_flight: u32) -> Self {
        let hedge = self.call.hedge.map(|hedge| Hedge { in_flight, ..hedge });
        Self { call: Call { hedge, ..self.call }, ..self }
    }

    /// With losers of which nobody hears.
    pub fn keep_losers(self) -> Self {
        let hedge = self.call.hedge.map(|hedge| Hedge { cancel_losers: false, ..hedge });
        Self { call: Call { hedge, ..self.call }, ..self }
    }

    /// With retries that go elsewhere.
    pub fn avoid_previous(self) -> Self {
        Self { call: Call { avoid_previous: true, ..self.call }, ..self }
    }

    /// With so many copies, of which so many must succeed.
    pub fn copies(self, copies: u32, required: u32) -> Self {
        Self { call: Call { copies, required, ..self.call }, ..self }
    }

    /// Made this likely.
    pub fn probability(self, share: f64) -> Self {
        Self { call: Call { probability: probability(share), ..self.call }, ..self }
    }

    /// With a failure that is survived.
    pub fn optional(self) -> Self {
        Self { call: Call { optional: true, ..self.call }, ..self }
    }

    /// With a call in its place when it has failed.
    pub fn if_failed(self, fallback: Link) -> Self {
        Self { fallback: Some(Box::new(fallback)), ..self }
    }
}

/// So many attempts with the same wait between them.
fn policy(max_attempts: u32, wait_ms: u64) -> RetryPolicy {
    let backoff = Backoff::Fixed(Span::from_ms(wait_ms));
    RetryPolicy {
        max_attempts,
        schedule: Schedule::new(backoff, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None),
        retry_on: ErrorSet::RETRYABLE,
        min_attempt: Span::ZERO,
        server_delay: ServerDelay::IGNORE,
        throttled: None,
        max_elapsed: Span::UNLIMITED,
    }
}

/// A limit outside of any FIFO: the interpreter has none.
fn limit(ms: u64) -> Timeout {
    Timeout { after: Span::from_ms(ms), ..Timeout::NONE }
}

/// A plan in the making: services first, those that are called before those that call.
pub struct HandMade(pub Plan);

impl HandMade {
    /// A plan of nothing, with buckets of 100 ms.
    pub fn new() -> Self {
        Self(Plan {
            horizon: None,
            warmup: Instant::ZERO,
            windows: Vec::new(),
            bucket: Span::from_ms(100),
            recovery: Recovery::DEFAULT,
            groups: Vec::new(),
            services: Vec::new(),
            calls: Vec::new(),
            policies: Vec::new(),
            budgets: Vec::new(),
            faults: Vec::new(),
            steps: Vec::new(),
            step_calls: Vec::new(),
            timeouts: Vec::new(),
            labels: Labels::default(),
        })
    }

    /// Adds a service that works this long and then makes these calls, step by step.
    pub fn service(&mut self, name: &str, service_time_ms: u64, steps: &[&[Link]]) -> ServiceId {
        let id = ServiceId(self.0.services.len() as u32);
        let first_step = self.0.steps.len() as u32;
        for (step, &links) in steps.iter().enumerate() {
            let first_call = self.0.step_calls.len() as u32;
            for link in links {
                let call = self.call(Origin::Service(id), step as u32, name, link);
                self.0.step_calls.push(call);
            }
            self.0.steps.push(first_call..self.0.step_calls.len() as u32);
        }
        self.0.services.push(Service {
            service_time: Dist::Constant(Span::from_ms(service_time_ms)),
            steps: first_step..self.0.steps.len() as u32,
            capacity: Capacity::UNLIMITED,
            effects: Effects::NONE,
        });
        self.0.labels.services.push(name.to_owned());
        id
    }

    /// Limits what a service can do at once.
    pub fn limit(&mut self, service: ServiceId, capacity: Capacity) {
        self.0.services[service.index()].capacity = capacity;
    }

    /// Has a service write, and remember what it did if it has a store.
    pub fn writes(&mut self, service: ServiceId, store: Option<Store>) {
        self.0.services[service.index()].effects = Effects { writes: true, store };
    }

    /// Says what the clients of a group make of their operations.
    pub fn operations(&mut self, group: GroupId, keys: Keys, dead_letters: bool) {
        self.0.groups[group.index()].operations = Operations { keys, dead_letters };
    }

    /// Adds a group of clients that make these calls, chosen by the bounds before them.
    pub fn group(
        &mut self,
        name: &str,
        clients: u32,
        window: Range<Instant>,
        arrivals: Arrivals,
        links: &[(u64, Link)],
    ) -> GroupId {
        let id = GroupId(self.0.groups.len() as u32);
        let choices = links.iter().map(|(bound, link)| (*bound, self.call(Origin::Group(id), 0, name, link))).collect();
        let Range { start: from, end: until } = window;
        self.0.groups.push(Group {
            key: name_key(name),
            clients,
            arrivals,
            from,
            until,
            choices,
            operations: Operations::PLAIN,
        });
        self.0.labels.groups.push(name.to_owned());
        id
    }

    /// Adds a group of clients, each of which makes one request at `at` by one of these calls. They are chosen by
    /// the bounds before them.
    pub fn clients(&mut self, name: &str, clients: u32, at: Instant, links: &[(u64, Link)]) -> GroupId {
        self.group(name, clients, Instant::ZERO..Instant::LIMIT, Arrivals::Burst { at }, links)
    }

    /// Adds one client that makes one request at `at_ms`.
    pub fn client(&mut self, name: &str, at_ms: u64, link: Link) -> GroupId {
        self.clients(name, 1, Instant::ZERO + Span::from_ms(at_ms), &[(u64::MAX, link)])
    }

    /// Adds a fault of a service, active in `[from_ms, until_ms)`.
    pub fn fault(&mut self, target: ServiceId, from_ms: u64, until_ms: u64, effect: Effect) {
        self.fault_on(&[Target::Service(target)], from_ms, until_ms, effect);
    }

    /// Adds a fault, active in `[from_ms, until_ms)`, and returns it.
    pub fn fault_on(&mut self, targets: &[Target], from_ms: u64, until_ms: u64, effect: Effect) -> &mut Fault {
        let name = format!("fault{}", self.0.faults.len());
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        self.0.labels.faults.push(name.clone());
        self.0.faults.push(Fault {
            key: name_key(&name),
            targets: targets.to_vec(),
            first_instances: Capacity::NO_LIMIT,
            windows: Windows::Once(at(from_ms)..at(until_ms)),
            effect,
        });
        self.0.faults.last_mut().expect("it has just been added")
    }

    /// Adds a budget of one state.
    pub fn budget(&mut self, rule: BudgetRule) -> BudgetUse {
        self.0.budgets.push(BudgetPool { rule, states: 1 });
        BudgetUse { pool: self.0.budgets.len() as u32 - 1, by_instance: false }
    }

    fn call(&mut self, origin: Origin, step: u32, caller: &str, link: &Link) -> CallId {
        let fallback = link.fallback.as_ref().map(|fallback| self.call(origin, step, caller, fallback));
        let policy = PolicyId(self.0.policies.len() as u32);
        self.0.policies.push(link.policy.clone());
        let label = self.0.labels.services[link.call.target.index()].clone();
        let key = name_key(&label);
        self.0.labels.calls.push(format!("{caller}->{label}"));
        self.0.calls.push(Call { key, origin, step, policy, fallback, ..link.call.clone() });
        CallId(self.0.calls.len() as u32 - 1)
    }
}
