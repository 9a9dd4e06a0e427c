//! Jitter over less time than the callee needs for everybody.
//!
//! It looks at the first retry that is not `immediate`, when all that fail together come back together. It is silent
//! where nobody comes together, where the callee has no limit of its own, and where there is no jitter at all
//! (`no-jitter` says that) or the cap, the floor or the server takes it away (so do `jitter-lost-at-cap` and
//! `retry-after-replaces-jitter`). And where those who are too many find room in a queue and are served before they
//! give up: then nothing fails again.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::waits::{AT_ONCE, done_at_once, has_jitter, told};
use crate::analysis::lint::words;
use crate::plan::{CallId, Capacity};
use crate::policy::Limiter;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "narrow-jitter",
    severity: Severity::Warning,
    finds: "Jitter spreads those who fail together over less time than their callee needs to serve them.",
    why: "Jitter makes a rate of a crowd: clients divided by the width of the window. If that is more than the callee \
          can do, the retries fail for the same reason as the first attempts did. The width that is needed is clients \
          divided by capacity, whatever looks generous for one client. Of 3,000 clients that come back between one and \
          two seconds after they lost their server, about 300 come in each 100 ms (kubernetes/kubernetes, issue \
          87794).",
    instead: "widen the first wait to at least clients divided by capacity, with `jitter = \"full\"`",
    example: Example {
        bad: r#"
clients.fleet = { count = 5000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
services.api = { service_time = "10ms", workers = 10, queue = { limit = 100 } }
retries.policy = { max_retries = 3, backoff = { fixed = "500ms" }, jitter = "full" }
"#,
        good: &[r#"retries.policy.backoff={ fixed = "10s" }"#],
    },
    check: Check::Variant(check),
};

/// How a crowd comes back.
struct Narrow {
    call: CallId,
    clients: f64,
    capacity_rps: f64,
    width_s: f64,
}

impl Narrow {
    /// How long the callee needs for all of them.
    fn needed_s(&self) -> f64 {
        self.clients / self.capacity_rps
    }

    /// How many are waiting when the last of them has come.
    fn too_many(&self) -> f64 {
        self.clients - self.capacity_rps * self.width_s
    }
}

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for used in subject.policies() {
        let all = used.calls.iter().filter_map(|&call| narrow(subject, &used, call));
        let Some(worst) = all.max_by(|one, other| one.needed_s().total_cmp(&other.needed_s())) else { continue };
        let path = subject.policy_path(used.id);
        let callee = subject.service_name(subject.plan.calls[worst.call.index()].target);
        let [width, needed] = [worst.width_s, worst.needed_s()].map(words::seconds);
        let at_once = worst.clients * (AT_ONCE.as_s() / worst.width_s).min(1.0);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["jitter", "backoff"],
            message: format!(
                "`{path}` spreads the first retries over {width}, but `{callee}` needs {needed} for all of them"
            ),
            figure: format!(
                "the {} requests that fail together at `{}` come back with {} in each 100 ms on average; `{callee}` can \
                 do {}",
                words::count(worst.clients),
                subject.call_name(worst.call),
                words::count(at_once),
                words::count(done_at_once(worst.capacity_rps)),
            ),
        });
    }
}

/// What comes back by this call, if that is too much.
fn narrow(subject: &Subject<'_>, used: &Used<'_>, call: CallId) -> Option<Narrow> {
    let schedule = &used.policy.schedule;
    let first = schedule.refinement().immediate.checked_add(1).filter(|first| *first < used.policy.max_attempts)?;
    let wait = schedule.ranges().nth(first as usize - 1)?;
    let is_cut = schedule.share_at_cap(first).is_some_and(|share| share >= 0.5) || schedule.is_lost_at_floor(first);
    if !has_jitter(schedule) || is_cut || wait.longest >= Span::LIMIT || told(subject, call).is_some() {
        return None;
    }
    let width_s = (wait.longest - wait.shortest).as_s();
    let capacity_rps = subject.plan.services[subject.plan.calls[call.index()].target.index()].capacity_rps()?;
    let found = Narrow { call, clients: subject.made(call).clients, capacity_rps, width_s };
    let is_narrow = found.clients >= 2.0 && width_s > 0.0 && width_s < found.needed_s();
    (is_narrow && !are_served(subject, &found)).then_some(found)
}

/// Whether those who are too many wait in a queue, and not for too long.
fn are_served(subject: &Subject<'_>, found: &Narrow) -> bool {
    let call = &subject.plan.calls[found.call.index()];
    let service = &subject.plan.services[call.target.index()];
    let Capacity { limiter, max_in_flight, queue, instances, .. } = &service.capacity;
    let room = f64::from(queue.limit) * f64::from(*instances);
    let has_room = queue.limit == Capacity::NO_LIMIT || found.too_many() <= room;
    let is_let_in = *limiter == Limiter::Unlimited && *max_in_flight == Capacity::NO_LIMIT;
    let patience_s = call.timeout.after.min(subject.time_limit(found.call)).as_s();
    let lasts_s = found.too_many() / found.capacity_rps + service.service_time.mean_ns() / 1e9;
    is_let_in && has_room && lasts_s <= patience_s
}
