//! What breakers, throttles, hedges and ejections did, told from the notes of a run alone.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stormsim::failure::ErrorKind;
use stormsim::metrics::{End, Outcome, ProtectionTally};
use stormsim::plan::Plan;
use stormsim::sim::Note;
use stormsim::time::Instant;

use super::copies::Copies;
use super::lineage::Lineage;

/// The counts of each call are those of the notes, and so are the ejections of each service.
pub fn is_told(plan: &Plan, notes: &[(Instant, Note)], outcome: &Outcome, seed: u64) -> Result<(), TestCaseError> {
    let mut told = Told {
        lineage: Lineage::new(plan, seed),
        copies: Copies::default(),
        hedged: BTreeMap::new(),
        calls: vec![ProtectionTally::default(); plan.calls.len()],
        ejections: vec![0; plan.services.len()],
    };
    for &(at, note) in notes {
        told.follow(plan, at, note);
        if at >= outcome.warmup {
            told.count(note);
        }
    }
    for (index, tally) in outcome.calls.iter().enumerate() {
        let left_out = tally.protection.hedges_left_out;
        let expected = ProtectionTally { hedges_left_out: left_out, ..told.calls[index] };
        prop_assert_eq!(tally.protection, expected, "of call {}", index);
        let due = told.hedges_due(plan, index, outcome);
        prop_assert!((due.0..=due.1).contains(&(expected.hedges + left_out)), "{expected:?}, but {due:?} were due");
    }
    let of_all = outcome.calls.iter().map(|tally| tally.protection.hedges_left_out).sum::<u64>();
    prop_assert_eq!(outcome.all_calls.protection.hedges_left_out, of_all);
    for (tally, &ejections) in outcome.services.iter().zip(&told.ejections) {
        prop_assert_eq!(tally.ejections, ejections);
    }
    Ok(())
}

/// An attempt of a hedged call.
struct Hedged {
    call: usize,
    sent: Instant,
    ended: Option<Instant>,
}

struct Told<'a> {
    lineage: Lineage<'a>,
    copies: Copies,
    /// By the key of the attempt.
    hedged: BTreeMap<u64, Hedged>,
    /// By call; without those that were left out, of which no note tells.
    calls: Vec<ProtectionTally>,
    /// By service.
    ejections: Vec<u64>,
}

impl Told<'_> {
    fn follow(&mut self, plan: &Plan, at: Instant, note: Note) {
        self.lineage.enter(note);
        if let Some(attempt) = self.copies.enter(&self.lineage, note)
            && let Some(hedged) = self.hedged.get_mut(&attempt)
        {
            hedged.ended = Some(at);
        }
        if let Note::Sent { call, hedge: 0, key, .. } = note
            && plan.calls[call.index()].hedge.is_some()
        {
            self.hedged.insert(key, Hedged { call: call.index(), sent: at, ended: None });
        }
    }

    fn count(&mut self, note: Note) {
        match note {
            Note::TurnedAway { call, key, error: ErrorKind::BreakerOpen } => {
                self.calls[call.index()].breaker_rejected += 1;
                let is_retry = self.lineage.of(key).number > 1;
                self.calls[call.index()].breaker_rejected_retries += u64::from(is_retry);
            }
            Note::TurnedAway { call, error: ErrorKind::Throttled, .. } => self.calls[call.index()].throttled += 1,
            // Without an attempt nothing else than its own breaker can have said so.
            Note::CallEnded { call, key, result: Err((ErrorKind::BreakerOpen, _)) } => {
                let is_rejected = self.lineage.of(key).number == 0;
                self.calls[call.index()].breaker_rejected += u64::from(is_rejected);
            }
            Note::Opened { call, .. } => self.calls[call.index()].breaker_opened += 1,
            Note::Sent { call, hedge: 1.., .. } => self.calls[call.index()].hedges += 1,
            Note::Answer { key, late: false } => {
                let has_won = self.lineage.of(key).hedge > 0 && self.copies.is_well(key);
                self.calls[self.lineage.of(key).id.index()].hedge_wins += u64::from(has_won);
            }
            Note::Ejected { service, .. } => self.ejections[service.index()] += 1,
            _ => {}
        }
    }

    /// How many hedges of a call were due, at least and at most: at the instant at which an attempt ends one may be, or
    /// may not.
    fn hedges_due(&self, plan: &Plan, call: usize, outcome: &Outcome) -> (u64, u64) {
        let Some(hedge) = plan.calls[call].hedge else { return (0, 0) };
        let due = |it: &Hedged, happens: &dyn Fn(Instant) -> bool| {
            let mut at = it.sent;
            let times = (0..hedge.copies).map(|_| {
                at = at + hedge.after.after;
                at
            });
            times.filter(|&at| at >= outcome.warmup && happens(at)).count() as u64
        };
        let is_reached = |at| outcome.ended == End::Drained || at < outcome.end;
        let attempts = || self.hedged.values().filter(|it| it.call == call);
        let least = attempts().map(|it| due(it, &|at| is_reached(at) && it.ended.is_none_or(|ended| at < ended))).sum();
        let most = attempts().map(|it| due(it, &|at| is_reached(at) && it.ended.is_none_or(|ended| at <= ended))).sum();
        (least, most)
    }
}
