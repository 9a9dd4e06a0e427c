//! What becomes of work for which nobody waits, of what the rules treat in a way of its own.

use stormsim::plan::Cancel;
use stormsim::time::Instant;

use crate::reference::record::{AttemptEnd, Call, Caller, Place, Work, WorkEnd};

use super::Cases;

impl Cases<'_> {
    pub(super) fn cancellations(&self) -> Vec<(&'static str, bool)> {
        let cancelled = |by: Cancel, shows: &dyn Fn(&Work) -> bool| {
            self.work(|it| is_cancelled(it) && self.capacity(it).cancel == by && shows(it))
        };
        let given_up_at = |it: &Work| match self.record.attempts[it.attempt].ended {
            Some((at, AttemptEnd::GivenUp | AttemptEnd::Abandoned)) => Some(at),
            _ => None,
        };
        let goes_on = |by: Cancel| {
            self.work(|it| {
                let Some(at) = given_up_at(it) else { return false };
                let until = it.ended.map(|(moment, _)| moment.at);
                self.capacity(it).cancel == by && it.arrived.at < at && until > Some(at) && !is_cancelled(it)
            })
        };
        let in_service = |it: &Work| it.resumed.is_some() && it.steps.is_empty();
        vec![
            ("given up and worked on", goes_on(Cancel::Ignore)),
            ("given up, begun and worked on", goes_on(Cancel::Queued)),
            (
                "given up on the way, and let in",
                self.work(|it| {
                    let before = given_up_at(it).is_some_and(|at| at < it.arrived.at);
                    before && self.capacity(it).cancel == Cancel::Ignore && it.began.is_some()
                }),
            ),
            ("cancelled as it arrives", self.work(|it| is_cancelled(it) && it.server.is_none())),
            ("cancelled in a queue, of what waits", cancelled(Cancel::Queued, &|it| it.queued.is_some())),
            (
                "cancelled in a queue, of whatever it is",
                cancelled(Cancel::Running, &|it| it.queued.is_some() && it.began.is_none()),
            ),
            ("cancelled in service", cancelled(Cancel::Running, &in_service)),
            (
                "cancelled before a fault answers",
                cancelled(Cancel::Running, &|it| it.server.is_some() && it.queued.is_none() && it.began.is_none()),
            ),
            ("cancelled while it makes calls", cancelled(Cancel::Running, &|it| !it.steps.is_empty())),
            (
                "a worker that goes on from what is cancelled",
                self.work(|it| {
                    let from = |other: &Work| is_cancelled(other) && other.freed.is_some() && other.freed == it.began;
                    it.queued.is_some() && self.work(|other| from(other) && other.server == it.server)
                }),
            ),
            ("cancelled two layers down", self.work(|it| is_cancelled(it) && self.is_cancelled_with_its_caller(it))),
        ]
    }

    pub(super) fn abandonings(&self) -> Vec<(&'static str, bool)> {
        let abandoned = |shows: &dyn Fn(&Call, Place, Instant) -> bool| {
            self.call(|it| match (it.caller, it.abandoned) {
                (Caller::Work(place), Some(at)) => shows(it, place, at),
                _ => false,
            })
        };
        let caller = |place: Place| &self.record.works[place.work];
        let ended = |place: Place| caller(place).ended.map(|(moment, end)| (moment.at, end));
        let under_way = |it: &Call| {
            let mut attempts =
                self.record.attempts.iter().filter(|attempt| self.record.calls[attempt.call].key == it.key);
            attempts.find(|attempt| matches!(attempt.ended, Some((_, AttemptEnd::Abandoned))))
        };
        let fails = |place| matches!(ended(place), Some((_, WorkEnd::Error(_))));
        vec![
            (
                "abandoned as enough copies have succeeded",
                abandoned(&|_, place, _| {
                    let state = caller(place).steps[place.step][place.call];
                    state.succeeded > 0 && state.succeeded + state.failed < state.copies
                }),
            ),
            (
                "abandoned before its caller goes on",
                abandoned(&|_, place, at| ended(place).is_none_or(|(until, _)| until > at)),
            ),
            (
                "abandoned as another call fails",
                abandoned(&|_, place, at| fails(place) && ended(place).is_some_and(|(until, _)| until == at)),
            ),
            (
                "abandoned as its caller is cancelled",
                abandoned(&|_, place, _| matches!(ended(place), Some((_, WorkEnd::Cancelled)))),
            ),
            ("abandoned under way", abandoned(&|it, _, _| under_way(it).is_some_and(|attempt| attempt.sent.is_some()))),
            (
                "abandoned while it waits for a slot",
                abandoned(&|it, _, _| under_way(it).is_some_and(|attempt| attempt.sent.is_none())),
            ),
            ("abandoned between attempts", abandoned(&|it, _, _| under_way(it).is_none())),
            ("a fallback that is abandoned", abandoned(&|it, _, _| self.is_fallback(it))),
            (
                "an answer to what was abandoned",
                self.attempt(|it| it.answered_late.is_some() && matches!(it.ended, Some((_, AttemptEnd::Abandoned)))),
            ),
        ]
    }

    /// Whether the work that makes the call of a work was cancelled within the same event, and was called by a work.
    fn is_cancelled_with_its_caller(&self, work: &Work) -> bool {
        let caller = |work: &Work| match self.record.calls[self.record.attempts[work.attempt].call].caller {
            Caller::Work(place) => Some(&self.record.works[place.work]),
            Caller::Request(_) => None,
        };
        let moment = |work: &Work| work.ended.map(|(moment, _)| moment);
        caller(work)
            .is_some_and(|above| is_cancelled(above) && moment(above) == moment(work) && !above.steps.is_empty())
    }
}

pub(super) fn is_cancelled(work: &Work) -> bool {
    matches!(work.ended, Some((_, WorkEnd::Cancelled)))
}
