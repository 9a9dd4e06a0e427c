//! Stories as a reader would tell them.

use std::collections::{BTreeMap, BTreeSet};

use stormsim::dist::{attempt_key, call_key};
use stormsim::plan::{Call, CallId, Plan};
use stormsim::sim::Note;
use stormsim::time::Instant;

/// The story in words, a line per note. An attempt is known by its call, its copy if there are several, and its number,
/// so that stories in which several works make the same call are better not told this way. That work begins is not
/// told of services without limits: there it does as soon as it arrives.
pub fn in_words(plan: &Plan, notes: &[(Instant, Note)]) -> Vec<String> {
    let mut names = BTreeMap::new();
    let mut begin_at_once = BTreeSet::new();
    let mut lines = Vec::new();
    for &(at, note) in notes {
        match note {
            Note::Sent { call, attempt, hedge, key } => {
                let copy = copy_of(plan, call, (attempt, hedge), key, names.keys().copied());
                let hedge = if hedge > 0 { format!(" hedge {hedge}") } else { String::new() };
                names.insert(key, format!("{}{copy} #{attempt}{hedge}", plan.labels.calls[call.index()]));
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
fn copy_of(
    plan: &Plan,
    call: CallId,
    (attempt, hedge): (u32, u32),
    key: u64,
    works: impl Iterator<Item = u64>,
) -> String {
    let Call { key: label, copies, .. } = plan.calls[call.index()];
    if copies == 1 {
        return String::new();
    }
    let copy = works.flat_map(|work| (0..copies).map(move |copy| (work, copy)));
    let copy = copy.into_iter().find(|&(work, copy)| attempt_key(call_key(work, label, copy), attempt, hedge) == key);
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
        Note::Outrun { key } => format!("{} is outrun", names[&key]),
        Note::Opened { call, .. } => format!("the breaker of {} opens", plan.labels.calls[call.index()]),
        Note::Ejected { service, server } => {
            format!("server {server} of {} is ejected", plan.labels.services[service.index()])
        }
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
