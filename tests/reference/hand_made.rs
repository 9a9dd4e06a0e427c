//! Plans put together by hand, and stories as a reader would tell them.

use std::collections::BTreeMap;

use stormsim::dist::{Dist, name_key};
use stormsim::failure::ErrorSet;
use stormsim::plan::{
    Arrivals, Call, CallId, Effect, Fault, Group, GroupId, Labels, Origin, Plan, PolicyId, Service, ServiceId, Timeout,
    TimeoutId,
};
use stormsim::policy::{Backoff, CapOrder, Jitter, RetryPolicy, Schedule};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

/// How one calls a service: without limits and without a retry, unless it is said.
#[derive(Clone, Copy)]
pub struct Link {
    target: ServiceId,
    timeout: Option<Span>,
    total_timeout: Option<Span>,
    max_attempts: u32,
    wait: Span,
    min_attempt: Span,
}

impl Link {
    /// A call of `target`.
    pub fn to(target: ServiceId) -> Self {
        let (timeout, total_timeout) = (None, None);
        Self { target, timeout, total_timeout, max_attempts: 1, wait: Span::ZERO, min_attempt: Span::ZERO }
    }

    /// With a limit on each attempt.
    pub fn timeout_ms(self, ms: u64) -> Self {
        Self { timeout: Some(Span::from_ms(ms)), ..self }
    }

    /// With a limit on the whole call.
    pub fn total_timeout_ms(self, ms: u64) -> Self {
        Self { total_timeout: Some(Span::from_ms(ms)), ..self }
    }

    /// With this many attempts in all, and the same wait before each retry.
    pub fn attempts(self, max_attempts: u32, wait_ms: u64) -> Self {
        Self { max_attempts, wait: Span::from_ms(wait_ms), ..self }
    }

    /// With no attempt that has less than this left of the total timeout.
    pub fn min_attempt_ms(self, ms: u64) -> Self {
        Self { min_attempt: Span::from_ms(ms), ..self }
    }
}

/// A plan in the making: services first, those that are called before those that call.
pub struct HandMade(pub Plan);

impl HandMade {
    /// A plan of nothing, with buckets of 100 ms.
    pub fn new() -> Self {
        Self(Plan {
            horizon: None,
            bucket: Span::from_ms(100),
            groups: Vec::new(),
            services: Vec::new(),
            calls: Vec::new(),
            policies: Vec::new(),
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
        for &step in steps {
            let first_call = self.0.step_calls.len() as u32;
            for &link in step {
                let call = self.call(Origin::Service(id), name, link);
                self.0.step_calls.push(call);
            }
            self.0.steps.push(first_call..self.0.step_calls.len() as u32);
        }
        self.0.services.push(Service {
            key: name_key(name),
            service_time: Dist::Constant(Span::from_ms(service_time_ms)),
            steps: first_step..self.0.steps.len() as u32,
        });
        self.0.labels.services.push(name.to_owned());
        id
    }

    /// Adds a group of clients, each of which makes one request at `at` by one of these calls. They are chosen by
    /// the bounds before them.
    pub fn clients(&mut self, name: &str, clients: u32, at: Instant, links: &[(u64, Link)]) -> GroupId {
        let id = GroupId(self.0.groups.len() as u32);
        let choices = links.iter().map(|&(bound, link)| (bound, self.call(Origin::Group(id), name, link))).collect();
        self.0.groups.push(Group { key: name_key(name), clients, arrivals: Arrivals::Burst { at }, choices });
        self.0.labels.groups.push(name.to_owned());
        id
    }

    /// Adds one client that makes one request at `at_ms`.
    pub fn client(&mut self, name: &str, at_ms: u64, link: Link) -> GroupId {
        self.clients(name, 1, Instant::ZERO + Span::from_ms(at_ms), &[(u64::MAX, link)])
    }

    /// Adds a fault of a service, active in `[from_ms, until_ms)`.
    pub fn fault(&mut self, target: ServiceId, from_ms: u64, until_ms: u64, effect: Effect) {
        let name = format!("fault{}", self.0.faults.len());
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let windows = vec![at(from_ms)..at(until_ms)];
        self.0.faults.push(Fault { key: name_key(&name), targets: vec![target], windows, effect });
        self.0.labels.faults.push(name);
    }

    fn call(&mut self, origin: Origin, caller: &str, link: Link) -> CallId {
        let policy = PolicyId(self.0.policies.len() as u32);
        self.0.policies.push(RetryPolicy {
            max_attempts: link.max_attempts,
            schedule: Schedule::new(Backoff::Fixed(link.wait), Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None),
            retry_on: ErrorSet::RETRYABLE,
            min_attempt: link.min_attempt,
        });
        let label = self.0.labels.services[link.target.index()].clone();
        let call = Call {
            key: name_key(&label),
            origin,
            target: link.target,
            timeout: self.timeout(link.timeout),
            total_timeout: self.timeout(link.total_timeout),
            policy,
        };
        self.0.labels.calls.push(format!("{caller}->{label}"));
        self.0.calls.push(call);
        CallId(self.0.calls.len() as u32 - 1)
    }

    /// One FIFO per timeout is as good as one per distinct timeout; the interpreter has none.
    fn timeout(&mut self, after: Option<Span>) -> Timeout {
        let Some(after) = after else { return Timeout::NONE };
        self.0.timeouts.push(after);
        Timeout { after, id: TimeoutId(self.0.timeouts.len() as u32 - 1) }
    }
}

/// The story in words, a line per note. An attempt is known by its call and its number, so that stories in which a
/// call is made more than once at a time are better not told this way.
pub fn in_words(plan: &Plan, notes: &[(Instant, Note)]) -> Vec<String> {
    let mut names = BTreeMap::new();
    let mut lines = Vec::new();
    for &(at, note) in notes {
        if let Note::Sent { call, attempt, key } = note {
            names.insert(key, format!("{} #{attempt}", plan.labels.calls[call.index()]));
        }
        lines.push(format!("{} ms: {}", at.since(Instant::ZERO).as_ms(), sentence(plan, &names, note)));
    }
    lines
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
        Note::Answered { key, result: Ok(()) } => format!("{} is answered", names[&key]),
        Note::Answered { key, result: Err(error) } => format!("{} is answered: {error}", names[&key]),
        Note::Answer { key, late: false } => format!("{} has its answer", names[&key]),
        Note::Answer { key, late: true } => format!("{} has its answer, too late", names[&key]),
        Note::TimedOut { key, error } => format!("{} is given up: {error}", names[&key]),
        Note::Waiting { key, wait } => format!("{} failed, wait {} ms", names[&key], wait.as_ms()),
        Note::CallEnded { call, key, result } => {
            let call = &plan.labels.calls[call.index()];
            match result {
                Ok(()) => format!("{call} succeeds with {}", names[&key]),
                Err((error, reason)) => format!("{call} fails with {}: {error}, {reason}", names[&key]),
            }
        }
    }
}
