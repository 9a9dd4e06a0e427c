//! Plans put together by hand, and stories as a reader would tell them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use stormsim::dist::{Dist, attempt_key, call_key, name_key, probability};
use stormsim::failure::ErrorSet;
use stormsim::plan::{
    Arrivals, BudgetPool, BudgetUse, Call, CallId, Capacity, DeadlineRule, Effect, Effects, Fault, Group, GroupId,
    Keys, Labels, Operations, Origin, Plan, PolicyId, Pool, Recovery, Service, ServiceId, Store, Target, Timeout,
    Windows,
};
use stormsim::policy::{Backoff, BudgetRule, CapOrder, Jitter, RetryPolicy, Schedule, ServerDelay};
use stormsim::sim::Note;
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

/// The story in words, a line per note. An attempt is known by its call, its copy if there are several, and its number,
/// so that stories in which several works make the same call are better not told this way. That work begins is not
/// told of services without limits: there it does as soon as it arrives.
pub fn in_words(plan: &Plan, notes: &[(Instant, Note)]) -> Vec<String> {
    let mut names = BTreeMap::new();
    let mut begin_at_once = BTreeSet::new();
    let mut lines = Vec::new();
    for &(at, note) in notes {
        match note {
            Note::Sent { call, attempt, key } => {
                let copy = copy_of(plan, call, attempt, key, names.keys().copied());
                names.insert(key, format!("{}{copy} #{attempt}", plan.labels.calls[call.index()]));
            }
            // Which attempt it was, nobody was told.
            Note::TurnedAway { call, key, .. } => {
                names.insert(key, plan.labels.calls[call.index()].clone());
            }
            Note::Arrived { service, key } if plan.services[service.index()].capacity.is_unlimited() => {
                begin_at_once.insert(key);
            }
            Note::Began { key } if begin_at_once.contains(&key) => continue,
            _ => {}
        }
        lines.push(format!("{} ms: {}", at.since(Instant::ZERO).as_ms(), sentence(plan, &names, note)));
    }
    lines
}

/// Which copy of a call an attempt belongs to: that with which one of the works so far has its key.
fn copy_of(plan: &Plan, call: CallId, attempt: u32, key: u64, works: impl Iterator<Item = u64>) -> String {
    let Call { key: label, copies, .. } = plan.calls[call.index()];
    if copies == 1 {
        return String::new();
    }
    let copy = works.flat_map(|work| (0..copies).map(move |copy| (work, copy)));
    let copy = copy.into_iter().find(|&(work, copy)| attempt_key(call_key(work, label, copy), attempt, 0) == key);
    format!(" copy {}", copy.expect("a call with copies is made by a work").1)
}

fn sentence(plan: &Plan, names: &BTreeMap<u64, String>, note: Note) -> String {
    match note {
        Note::RequestBegan { group, client, ordinal } => {
            format!("client {client} of {} begins request {ordinal}", plan.labels.groups[group.index()])
        }
        Note::Sent { key, .. } => format!("{} is sent", names[&key]),
        Note::Arrived { service, key } => {
            format!("{} arrives at {}", names[&key], plan.labels.services[service.index()])
        }
        Note::TurnedAway { key, error, .. } => format!("{} is turned away: {error}", names[&key]),
        Note::Placed { key, server } => format!("{} goes to server {server}", names[&key]),
        Note::Began { key } => format!("{} begins", names[&key]),
        Note::Recognised { key } => format!("{} is recognised", names[&key]),
        Note::Dropped { key } => format!("{} is dropped", names[&key]),
        Note::Cancelled { key } => format!("{} is cancelled", names[&key]),
        Note::Answered { key, result: Ok(()) } => format!("{} is answered", names[&key]),
        Note::Answered { key, result: Err(error) } => format!("{} is answered: {error}", names[&key]),
        Note::Answer { key, late: false } => format!("{} has its answer", names[&key]),
        Note::Answer { key, late: true } => format!("{} has its answer, too late", names[&key]),
        Note::TimedOut { key, error } => format!("{} is given up: {error}", names[&key]),
        Note::Abandoned { call, key } => {
            let call = &plan.labels.calls[call.index()];
            match names.get(&key) {
                Some(name) => format!("{call} is abandoned with {name}"),
                None => format!("{call} is abandoned before it is sent"),
            }
        }
        Note::Waiting { key, wait } => format!("{} failed, wait {} ms", names[&key], wait.as_ms()),
        Note::CallEnded { call, key, result } => {
            let call = &plan.labels.calls[call.index()];
            match result {
                Err((error, reason)) if !names.contains_key(&key) => {
                    format!("{call} fails without an attempt: {error}, {reason}")
                }
                Ok(()) => format!("{call} succeeds with {}", names[&key]),
                Err((error, reason)) => format!("{call} fails with {}: {error}, {reason}", names[&key]),
            }
        }
    }
}
