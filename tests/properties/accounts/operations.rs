//! What was done, and what nobody knows of, told from the notes of a run alone.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::{Outcome, ServiceTally};
use stormsim::plan::{Origin, Plan, ServiceId};
use stormsim::sim::Note;
use stormsim::time::Instant;

use super::lineage::Lineage;

/// What the notes tell of a request.
struct Request {
    group: usize,
    began: Instant,
    /// Its attempts at services that write which have not been answered in time.
    unanswered: u64,
    is_unknown: bool,
    is_dead_letter: bool,
}

/// What the notes tell of the attempts at a service.
#[derive(Default)]
struct Works {
    /// Those that its store knew about, and when.
    recognised: Vec<Instant>,
    /// Those that it worked on.
    began: BTreeSet<u64>,
    /// Those of them that were answered, not because of a crash.
    answered: BTreeSet<u64>,
}

/// Unknown requests and dead letters are those of the notes, group by group; recognised attempts and side effects,
/// service by service.
pub fn are_told(plan: &Plan, notes: &[(Instant, Note)], outcome: &Outcome, seed: u64) -> Result<(), TestCaseError> {
    let mut told = Told {
        plan,
        lineage: Lineage::new(plan, seed),
        requests: Vec::new(),
        places: BTreeMap::new(),
        works: plan.services.iter().map(|_| Works::default()).collect(),
    };
    for &(at, note) in notes {
        told.lineage.enter(note);
        told.enter(at, note);
    }
    told.close(outcome)
}

struct Told<'a> {
    plan: &'a Plan,
    lineage: Lineage<'a>,
    /// In the order in which they began.
    requests: Vec<Request>,
    /// By attempt, where it has arrived.
    places: BTreeMap<u64, ServiceId>,
    /// By service.
    works: Vec<Works>,
}

impl Told<'_> {
    fn enter(&mut self, at: Instant, note: Note) {
        match note {
            Note::RequestBegan { group, .. } => self.requests.push(Request {
                group: group.index(),
                began: at,
                unanswered: 0,
                is_unknown: false,
                is_dead_letter: false,
            }),
            Note::Sent { key, .. } if self.may_write(key) => self.request(key).unanswered += 1,
            Note::Answer { key, late: false } if self.may_write(key) => self.request(key).unanswered -= 1,
            Note::CallEnded { call, key, result: Err((_, reason)) } => {
                if let Origin::Group(group) = self.plan.calls[call.index()].origin {
                    let dead_letters = self.plan.groups[group.index()].operations.dead_letters;
                    let request = self.request(key);
                    request.is_unknown = request.unanswered > 0;
                    request.is_dead_letter = dead_letters && reason == StopReason::Exhausted;
                }
            }
            Note::Arrived { service, key } => _ = self.places.insert(key, service),
            Note::Recognised { key } => self.works_at(key).recognised.push(at),
            Note::Began { key } => _ = self.works_at(key).began.insert(key),
            // Nothing but a crash says so where no fault does, and no call.
            Note::Answered { key, result } if result != Err(ErrorKind::Reset) => {
                let works = self.works_at(key);
                if works.began.contains(&key) {
                    works.answered.insert(key);
                }
            }
            _ => {}
        }
    }

    fn may_write(&self, key: u64) -> bool {
        let target = self.plan.calls[self.lineage.of(key).id.index()].target;
        self.plan.services[target.index()].effects.writes
    }

    fn request(&mut self, key: u64) -> &mut Request {
        &mut self.requests[self.lineage.of(key).request]
    }

    fn works_at(&mut self, key: u64) -> &mut Works {
        &mut self.works[self.places[&key].index()]
    }

    fn close(&self, outcome: &Outcome) -> Result<(), TestCaseError> {
        for (index, tally) in outcome.groups.iter().enumerate() {
            let counted = |request: &&Request| request.group == index && request.began >= outcome.warmup;
            let count = |is: fn(&Request) -> bool| {
                self.requests.iter().filter(counted).filter(|request| is(request)).count() as u64
            };
            prop_assert_eq!(tally.unknown, count(|request| request.is_unknown));
            prop_assert_eq!(tally.dead_letters, count(|request| request.is_dead_letter));
        }
        for (index, tally) in outcome.services.iter().enumerate() {
            let recognised = self.works[index].recognised.iter().filter(|&&at| at >= outcome.warmup);
            prop_assert_eq!(tally.recognised, recognised.count() as u64);
            if outcome.warmup == Instant::ZERO {
                self.effects_are_told(index, tally)?;
            }
        }
        Ok(())
    }

    /// No note tells of a side effect. But what was answered after it had begun has had its own, and what never began
    /// has none. What is in between may be waiting for its calls: without any, it is being served, or was cut short.
    /// Each further side effect adds at most one to the duplicates.
    fn effects_are_told(&self, index: usize, tally: &ServiceTally) -> Result<(), TestCaseError> {
        let service = &self.plan.services[index];
        let Works { began, answered, .. } = &self.works[index];
        if !service.effects.writes {
            prop_assert_eq!((tally.executions, tally.duplicate_effects), (0, 0));
            return Ok(());
        }
        let most = if service.steps.is_empty() { answered } else { began };
        let executions = answered.len() as u64..=most.len() as u64;
        prop_assert!(executions.contains(&tally.executions), "{} of {executions:?}", tally.executions);
        let duplicates = self.duplicates(answered)..=self.duplicates(most);
        prop_assert!(duplicates.contains(&tally.duplicate_effects), "{} of {duplicates:?}", tally.duplicate_effects);
        Ok(())
    }

    fn duplicates(&self, executed: &BTreeSet<u64>) -> u64 {
        let operations: BTreeSet<u64> = executed.iter().map(|&key| self.lineage.of(key).operation).collect();
        (executed.len() - operations.len()) as u64
    }
}
