//! What the notes of a run tell of each attempt, without the interpreter's record.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stormsim::dist::Purpose;
use stormsim::failure::ErrorKind;
use stormsim::plan::{Call, CallId, Effect, Plan, Target};
use stormsim::sim::Note;
use stormsim::time::Instant;

use crate::properties::accounts::copies_of_attempts;

/// What the notes tell of an attempt, or of one of its copies, and when.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// Of this call.
    pub call: usize,
    /// Whether it cannot arrive: its way is longer than its connection may take.
    pub never_connects: bool,
    /// Whether an error may come although it has not arrived.
    pub may_fail_on_its_way: bool,
    /// Whether its answer may not come.
    pub may_lose_its_answer: bool,
    /// When it was sent.
    pub sent: Instant,
    /// When the balancer picked a server for it.
    pub placed: Option<Instant>,
    /// When it arrived.
    pub arrived: Option<Instant>,
    /// When the store of its service knew about it.
    pub recognised: Option<Instant>,
    /// When work on it began.
    pub began: Option<Instant>,
    /// When and how its service answered.
    pub answered: Option<(Instant, Result<(), ErrorKind>)>,
    /// When it was dropped, or cancelled.
    pub discarded: Option<Instant>,
    /// When its caller ceased to wait.
    pub given_up: Option<Instant>,
    /// When its caller ended it, with its call or because another copy was faster.
    pub abandoned: Option<Instant>,
    /// When the answer came.
    pub has_answer: Option<Instant>,
}

impl Attempt {
    fn new(plan: &Plan, call: CallId, key: u64, sent: Instant) -> Self {
        let Call { network, connect_timeout, .. } = &plan.calls[call.index()];
        let faults = || plan.faults.iter().filter(|fault| fault.targets.contains(&Target::Call(call)));
        let effects = || faults().map(|fault| &fault.effect);
        Self {
            call: call.index(),
            never_connects: network.sample(key, Purpose::Request) > connect_timeout.after,
            may_fail_on_its_way: effects().any(|effect| matches!(effect, Effect::Fail(_))),
            may_lose_its_answer: effects().any(|effect| matches!(effect, Effect::Loss { .. })),
            sent,
            placed: None,
            arrived: None,
            recognised: None,
            began: None,
            answered: None,
            discarded: None,
            given_up: None,
            abandoned: None,
            has_answer: None,
        }
    }

    /// When its caller was done with it.
    pub fn ended(&self) -> Option<Instant> {
        [self.given_up, self.abandoned, self.has_answer].into_iter().flatten().min()
    }

    /// When a worker took it up.
    pub fn taken_up(&self) -> Option<Instant> {
        self.recognised.or(self.began)
    }

    pub fn answered_at(&self) -> Option<Instant> {
        self.answered.map(|(at, _)| at)
    }

    /// When its service was done with it. What is dropped may be answered too.
    pub fn left(&self) -> Option<Instant> {
        self.discarded.or(self.answered_at())
    }

    pub fn is_well(&self) -> bool {
        matches!(self.answered, Some((_, Ok(()))))
    }
}

/// The attempts by key. Fails if a note comes before the one that it presupposes, or twice.
pub fn follow_attempts(
    plan: &Plan,
    notes: &[(Instant, Note)],
    seed: u64,
) -> Result<BTreeMap<u64, Attempt>, TestCaseError> {
    let copies = copies_of_attempts(plan, notes, seed);
    let mut attempts: BTreeMap<u64, Attempt> = BTreeMap::new();
    for &(at, note) in notes {
        let (Note::Arrived { key, .. }
        | Note::Placed { key, .. }
        | Note::Began { key }
        | Note::Recognised { key }
        | Note::Dropped { key }
        | Note::Cancelled { key }
        | Note::Answered { key, .. }
        | Note::Answer { key, .. }
        | Note::TimedOut { key, .. }
        | Note::Outrun { key }
        | Note::Sent { key, .. }
        | Note::TurnedAway { key, .. }
        | Note::Abandoned { key, .. }) = note
        else {
            continue;
        };
        if let Note::Abandoned { .. } = note {
            // Those of its copies that have not been sent yet will never be.
            for copy in copies.get(&key).into_iter().flatten() {
                prop_assert!(attempts.get_mut(copy).is_some_and(|copy| copy.takes(at, note)), "{note:?} before a copy");
            }
        }
        if let Note::Sent { call, .. } = note {
            prop_assert!(attempts.insert(key, Attempt::new(plan, call, key, at)).is_none(), "sent twice: {note:?}");
        } else if let Some(attempt) = attempts.get_mut(&key) {
            prop_assert!(attempt.takes(at, note), "{note:?} of {attempt:?}");
        } else {
            // Whatever is held back, or waits for a slot, may end without having been sent. Nothing else happens to it.
            prop_assert!(matches!(note, Note::TurnedAway { .. } | Note::Abandoned { .. }), "{note:?} of nothing");
        }
    }
    Ok(attempts)
}

impl Attempt {
    /// Enters what a note tells of it, unless that cannot be.
    fn takes(&mut self, at: Instant, note: Note) -> bool {
        let is_there = self.arrived.is_some() && self.left().is_none();
        let is_awaited = self.ended().is_none();
        match note {
            Note::Arrived { .. } => {
                let in_one_event = self.placed.is_none_or(|placed| placed == at);
                !self.never_connects && in_one_event && self.arrived.replace(at).is_none()
            }
            Note::Placed { .. } => self.arrived.is_none() && self.placed.replace(at).is_none(),
            Note::Began { .. } => is_there && self.began.replace(at).is_none(),
            Note::Recognised { .. } => is_there && self.taken_up().is_none() && self.recognised.replace(at).is_none(),
            Note::Dropped { .. } => is_there && self.taken_up().is_none() && self.discarded.replace(at).is_none(),
            Note::Cancelled { .. } => is_there && !is_awaited && self.discarded.replace(at).is_none(),
            Note::Answered { result, .. } => {
                let was_dropped = self.discarded == Some(at) && is_awaited && result == Err(ErrorKind::Overloaded);
                (is_there || was_dropped) && self.answered.replace((at, result)).is_none()
            }
            Note::Answer { late, .. } => {
                let was_sent = self.answered.is_some() || self.arrived.is_none() && self.may_fail_on_its_way;
                was_sent && late != is_awaited && self.has_answer.replace(at).is_none()
            }
            Note::TimedOut { .. } => is_awaited && self.given_up.replace(at).is_none(),
            Note::Outrun { .. } => is_awaited && self.abandoned.replace(at).is_none(),
            Note::Abandoned { .. } => {
                // Between two attempts of its call the last one has ended before.
                self.abandoned = if is_awaited { Some(at) } else { self.abandoned };
                true
            }
            _ => false,
        }
    }
}
