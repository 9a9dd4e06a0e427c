//! Jitter that a cap takes away again, or a floor.
//!
//! It is silent where no two requests can fail together, where the deadline lets no retry come to the cap, and about
//! decorrelated walks: how many of their waits are at the cap depends on all waits before.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Crowd, Subject, Used};
use crate::analysis::lint::waits::{busiest, has_jitter, most_reachable};
use crate::analysis::lint::words;
use crate::plan::CallId;
use crate::scenario::Severity;
use crate::time::Span;

/// So large a share at the cap is a herd.
const HERD: f64 = 0.5;

pub static RULE: Rule = Rule {
    id: "jitter-lost-at-cap",
    severity: Severity::Warning,
    finds: "The cap comes after the jitter, and from some retry on half or more of the waits are exactly the cap; or \
            jitter lies below the floor, and all waits are exactly that.",
    why: "Jitter around a wait that is far above the cap is cut off with it: everybody waits for the cap. That happens \
          late, when an outage has lasted for a while, and so to everybody who waits for its end. With 500 ms doubled, \
          50 % to both sides and a cap of 5 s afterwards 87.5 % of the fifth waits are 5 s, and all from the sixth on: \
          that is how the exponential random backoff of resilience4j/resilience4j reckons. The producer of \
          apache/kafka applies its cap both before and after a jitter of 20 % to both sides: in the end exactly half \
          of its waits are at the cap. A floor does the same to the first waits, if even the longest of them is below \
          it.",
    instead: "apply the cap first: `cap_order = \"before_jitter\"`, with `jitter = \"full\"` if no wait may exceed it; \
              and keep the floor below what is drawn",
    example: Example {
        bad: r#"
clients.fleet = { count = 1000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
services.api = { service_time = "5ms" }
[retries.policy]
max_attempts = 7
backoff = { exponential = { base = "500ms" } }
jitter = { spread = 0.5 }
cap = "5s"
cap_order = "after_jitter"
"#,
        good: &[r#"retries.policy.cap_order="before_jitter""#, r#"retries.policy.jitter="full""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for used in subject.policies() {
        let Some((call, crowd)) = busiest(subject, &used) else { continue };
        if !has_jitter(&used.policy.schedule) || crowd.after_a_second() < 2.0 {
            continue;
        }
        let retries = most_reachable(subject, &used).len() as u32;
        if let Some(hit) = lost_at_cap(subject, &used, retries, (call, crowd)) {
            findings.add(hit);
        }
        if let Some(hit) = lost_at_floor(subject, &used, retries, (call, crowd)) {
            findings.add(hit);
        }
    }
}

fn lost_at_cap(subject: &Subject<'_>, used: &Used<'_>, retries: u32, (call, crowd): (CallId, Crowd)) -> Option<Hit> {
    let schedule = &used.policy.schedule;
    let cap = schedule.cap().filter(|cap| *cap > Span::ZERO)?;
    let shares = (1..=retries).filter_map(|retry| Some((retry, schedule.share_at_cap(retry)?)));
    let herds: Vec<(u32, f64)> = shares.filter(|(_, share)| *share >= HERD).collect();
    let &(first, share) = herds.first()?;
    let (path, cap) = (subject.policy_path(used.id), words::time(cap));
    let part = words::share(share);
    let later = herds.iter().find(|(_, later)| *later > share);
    let later =
        later.map_or_else(String::new, |(retry, later)| format!(", before retry {retry} {}", words::share(*later)));
    let name = subject.call_name(call);
    let who = if crowd.clients >= 2.0 {
        let [all, back] = [crowd.clients, crowd.clients * share].map(words::count);
        format!("of {all} requests that fail together then at `{name}` {back} are back together {cap} later")
    } else {
        format!("those that fail together then at `{name}` are back together {cap} later")
    };
    Some(Hit {
        owner: path.clone(),
        keys: &["cap_order", "cap"],
        message: format!("`{path}` cuts its jitter off at the cap of {cap}"),
        figure: format!("before retry {first} {part} of the waits are exactly {cap}{later}; {who}"),
    })
}

fn lost_at_floor(subject: &Subject<'_>, used: &Used<'_>, retries: u32, (call, crowd): (CallId, Crowd)) -> Option<Hit> {
    let schedule = &used.policy.schedule;
    let first = (1..=retries).find(|&retry| schedule.is_lost_at_floor(retry))?;
    let (path, floor) = (subject.policy_path(used.id), words::time(schedule.refinement().floor));
    let name = subject.call_name(call);
    let all = if crowd.clients >= 2.0 {
        format!("all {} requests that fail together", words::count(crowd.clients))
    } else {
        "those that fail together".to_owned()
    };
    Some(Hit {
        owner: path.clone(),
        keys: &["floor"],
        message: format!("`{path}` raises its jitter to the floor of {floor}"),
        figure: format!(
            "before retry {first} all waits are exactly {floor}; {all} then at `{name}` are back together {floor} later"
        ),
    })
}
