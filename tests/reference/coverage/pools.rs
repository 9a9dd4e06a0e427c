//! What happens to attempts that need a slot, of what the rules treat in a way of its own.

use stormsim::failure::ErrorKind;
use stormsim::time::Instant;

use crate::reference::record::{Attempt, AttemptEnd, Caller};

use super::Cases;

impl Cases<'_> {
    pub(super) fn pools(&self) -> Vec<(&'static str, bool)> {
        let needs_slot = |it: &Attempt| self.settings(it).pool.is_some();
        let waited = |it: &Attempt| it.sent > Some(it.started);
        let turned_away = |with: ErrorKind, shows: &dyn Fn(&Attempt, Instant) -> bool| {
            self.attempt(|it| match it.ended {
                Some((at, AttemptEnd::TurnedAway(error))) => error == with && shows(it, at),
                _ => false,
            })
        };
        let instance = |it: &Attempt| match self.record.calls[it.call].caller {
            Caller::Request(request) => (true, self.record.requests[request].client),
            Caller::Work(place) => (false, self.record.works[place.work].server.unwrap_or(0)),
        };
        let gave_up = |it: &Attempt| matches!(it.ended, Some((_, AttemptEnd::GivenUp)));
        vec![
            ("a slot at once", self.attempt(|it| needs_slot(it) && it.sent == Some(it.started))),
            ("a slot after a wait", self.attempt(waited)),
            ("a client's own slot", self.attempt(|it| waited(it) && instance(it).0 && instance(it).1 > 0)),
            ("a server's own slot", self.attempt(|it| waited(it) && !instance(it).0 && instance(it).1 > 0)),
            (
                "a slot that was given up",
                self.attempt(|it| {
                    waited(it)
                        && self.attempt(|other| gave_up(other) && other.id == it.id && ended_at(other) == it.sent)
                }),
            ),
            ("no wait for a slot", turned_away(ErrorKind::PoolTimeout, &|it, at| at == it.started)),
            ("too long a wait for a slot", turned_away(ErrorKind::PoolTimeout, &|it, at| at > it.started)),
            ("a timeout before a slot", turned_away(ErrorKind::Timeout, &|_, _| true)),
            ("a deadline before a slot", turned_away(ErrorKind::Deadline, &|_, _| true)),
            (
                "a timeout after a wait for a slot",
                self.attempt(|it| waited(it) && gave_up(it) && ended_at(it) == self.timeout(it)),
            ),
            (
                "tried again after it was turned away",
                self.attempt(|it| {
                    let before = |other: &Attempt| other.call == it.call && other.number < it.number;
                    let is_first = it.sent.is_some() && it.hedge == 0 && it.number > 1 && !it.is_retry;
                    is_first && self.attempt(|other| before(other) && got_no_slot(other))
                }),
            ),
            (
                "a call of which nothing was sent",
                self.attempt(|it| {
                    let call = &self.record.calls[it.call];
                    got_no_slot(it) && call.sent == 0 && matches!(call.result(), Some(Err(_)))
                }),
            ),
            ("waiting for a slot at the end", self.attempt(|it| it.waits_for_slot())),
        ]
    }
}

pub(super) fn got_no_slot(attempt: &Attempt) -> bool {
    let not_let_through = |error| matches!(error, ErrorKind::BreakerOpen | ErrorKind::Throttled);
    matches!(attempt.ended, Some((_, AttemptEnd::TurnedAway(error))) if !not_let_through(error))
}

fn ended_at(attempt: &Attempt) -> Option<Instant> {
    attempt.ended.map(|(at, _)| at)
}
