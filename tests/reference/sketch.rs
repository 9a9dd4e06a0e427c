//! A small plan in a few numbers: what the random plans are drawn as, and what a failing test prints.

use stormsim::dist::{Dist, name_key};
use stormsim::failure::ErrorKind;
use stormsim::plan::{
    Arrivals, Call, CallId, Effect, Fault, Group, GroupId, Labels, Origin, Plan, PolicyId, Service, ServiceId, Timeout,
    TimeoutId,
};
use stormsim::policy::{Backoff, CapOrder, Jitter, RetryPolicy, Schedule};
use stormsim::time::{Instant, Span};

/// Most attempts, in all layers together, that one work may cause at worst; a step that would lead further is left
/// out of the plan. Room for two layers of four attempts (4 + 16) beneath the client's own call.
const MOST_ATTEMPTS: u64 = 20;

/// A plan to be.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Client groups; at least one.
    pub groups: Vec<GroupSketch>,
    /// Services; at least one. Each calls only services after itself.
    pub services: Vec<ServiceSketch>,
    /// Retry policies; at least one.
    pub policies: Vec<PolicySketch>,
    /// Faults.
    pub faults: Vec<FaultSketch>,
    /// The horizon.
    pub horizon: Option<Instant>,
    /// The width of a bucket.
    pub bucket: Span,
}

/// A client group.
#[derive(Clone, Debug)]
pub struct GroupSketch {
    /// How many clients.
    pub clients: u32,
    /// When all of them begin.
    pub at: Instant,
    /// Its calls, at least one, each with the bound of its share; the bound of the last one is ignored.
    pub calls: Vec<(u64, CallSketch)>,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceSketch {
    /// Its own work.
    pub service_time: Dist,
    /// Its steps, of one call each; those of the last service are ignored.
    pub steps: Vec<CallSketch>,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct CallSketch {
    /// Which of the services it can reach, modulo their number.
    pub target: usize,
    /// Limit of an attempt.
    pub timeout: Option<Span>,
    /// Limit of the call.
    pub total_timeout: Option<Span>,
    /// Which of the policies, modulo their number.
    pub policy: usize,
}

/// A retry policy.
#[derive(Clone, Debug)]
pub struct PolicySketch {
    /// Attempts in all.
    pub max_attempts: u32,
    /// The nominal waits.
    pub backoff: Backoff,
    /// Their cap.
    pub cap: Option<Span>,
    /// Where it applies.
    pub cap_order: CapOrder,
    /// Their jitter.
    pub jitter: Jitter,
    /// What is tried again.
    pub retry_on: Vec<ErrorKind>,
    /// The shortest useful attempt.
    pub min_attempt: Span,
}

/// A fault.
#[derive(Clone, Debug)]
pub struct FaultSketch {
    /// Which services, modulo their number.
    pub targets: Vec<usize>,
    /// Pauses and windows in turn, both above zero except for the first pause.
    pub windows: Vec<(Span, Span)>,
    /// Whether the last window never ends.
    pub open_ended: bool,
    /// What it does.
    pub effect: Effect,
}

impl Sketch {
    /// The plan.
    pub fn plan(&self) -> Plan {
        let mut edges = Edges::default();
        let groups =
            self.groups.iter().enumerate().map(|(index, group)| self.group(index, group, &mut edges)).collect();
        let most_attempts = self.most_attempts();
        let mut steps = Vec::new();
        let mut step_calls = Vec::new();
        let mut services = Vec::new();
        for (index, service) in self.services.iter().enumerate() {
            let first_step = steps.len() as u32;
            for (call, target) in self.steps_within_bounds(index, &most_attempts) {
                let before = step_calls.len() as u32;
                let origin = Origin::Service(ServiceId(index as u32));
                step_calls.push(edges.add(origin, target, call, self.policy_of(call)));
                steps.push(before..before + 1);
            }
            services.push(Service {
                key: name_key(&service_name(index)),
                service_time: service.service_time.clone(),
                steps: first_step..steps.len() as u32,
            });
        }
        Plan {
            horizon: self.horizon,
            bucket: self.bucket,
            groups,
            policies: self.policies.iter().map(PolicySketch::policy).collect(),
            faults: self.faults.iter().enumerate().map(|(index, fault)| self.fault(index, fault)).collect(),
            steps,
            step_calls,
            timeouts: edges.timeouts,
            labels: Labels {
                groups: (0..self.groups.len()).map(group_name).collect(),
                services: (0..services.len()).map(service_name).collect(),
                calls: (0..edges.calls.len()).map(call_name).collect(),
                faults: (0..self.faults.len()).map(fault_name).collect(),
            },
            services,
            calls: edges.calls,
        }
    }

    fn group(&self, index: usize, sketch: &GroupSketch, edges: &mut Edges) -> Group {
        let mut choices = Vec::new();
        for &(bound, call) in &sketch.calls {
            let target = call.target % self.services.len();
            let origin = Origin::Group(GroupId(index as u32));
            choices.push((bound, edges.add(origin, target, call, self.policy_of(call))));
        }
        choices.sort_unstable();
        choices.last_mut().expect("a group makes a call").0 = u64::MAX;
        let arrivals = Arrivals::Burst { at: sketch.at };
        Group { key: name_key(&group_name(index)), clients: sketch.clients, arrivals, choices }
    }

    fn fault(&self, index: usize, sketch: &FaultSketch) -> Fault {
        let mut targets: Vec<_> =
            sketch.targets.iter().map(|target| ServiceId((target % self.services.len()) as u32)).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut windows = Vec::new();
        let mut now = Instant::ZERO;
        for &(pause, lasts) in &sketch.windows {
            windows.push(now + pause..now + pause + lasts);
            now = now + pause + lasts;
        }
        if sketch.open_ended {
            windows.last_mut().expect("a fault has a window").end = Instant::LIMIT;
        }
        Fault { key: name_key(&fault_name(index)), targets, windows, effect: sketch.effect.clone() }
    }

    fn policy_of(&self, call: CallSketch) -> PolicyId {
        PolicyId((call.policy % self.policies.len()) as u32)
    }

    /// How many attempts a call causes at worst, if each of them causes `beneath` more.
    fn attempts_of(&self, call: CallSketch, beneath: u64) -> u64 {
        u64::from(self.policies[self.policy_of(call).index()].max_attempts) * (1 + beneath)
    }

    /// The calls of a service with their targets, in so far as they do not lead too far.
    fn steps_within_bounds(&self, caller: usize, most_attempts: &[u64]) -> Vec<(CallSketch, usize)> {
        let first = caller + 1;
        let reachable = self.services.len() - first;
        let mut attempts = 0;
        let mut kept = Vec::new();
        for &call in self.services[caller].steps.iter().filter(|_| reachable > 0) {
            let target = first + call.target % reachable;
            let more = self.attempts_of(call, most_attempts[target]);
            if attempts + more <= MOST_ATTEMPTS {
                attempts += more;
                kept.push((call, target));
            }
        }
        kept
    }

    /// How many attempts a work of each service causes at worst, itself not included.
    fn most_attempts(&self) -> Vec<u64> {
        let mut most = vec![0; self.services.len()];
        for service in (0..self.services.len()).rev() {
            let steps = self.steps_within_bounds(service, &most);
            most[service] = steps.into_iter().map(|(call, target)| self.attempts_of(call, most[target])).sum();
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

fn call_name(index: usize) -> String {
    format!("call{index}")
}

fn fault_name(index: usize) -> String {
    format!("fault{index}")
}

impl PolicySketch {
    fn policy(&self) -> RetryPolicy {
        let cap = self.cap.unwrap_or(Span::UNLIMITED);
        RetryPolicy {
            max_attempts: self.max_attempts,
            schedule: Schedule::new(self.backoff.clone(), cap, self.cap_order, self.jitter.clone()),
            retry_on: self.retry_on.iter().copied().collect(),
            min_attempt: self.min_attempt,
        }
    }
}

/// The calls of a plan as they are put together, with the distinct timeouts among them.
#[derive(Default)]
struct Edges {
    calls: Vec<Call>,
    timeouts: Vec<Span>,
}

impl Edges {
    fn add(&mut self, origin: Origin, target: usize, sketch: CallSketch, policy: PolicyId) -> CallId {
        let id = CallId(self.calls.len() as u32);
        let call = Call {
            key: name_key(&call_name(id.index())),
            origin,
            target: ServiceId(target as u32),
            timeout: self.timeout(sketch.timeout),
            total_timeout: self.timeout(sketch.total_timeout),
            policy,
        };
        self.calls.push(call);
        id
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
