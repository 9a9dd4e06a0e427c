//! What services do, of what the rules treat in a way of its own.

use stormsim::failure::StopReason;
use stormsim::plan::CallId;

use crate::reference::record::{Call, Caller, StepCall, WorkEnd};

use super::Cases;

impl Cases<'_> {
    pub(super) fn steps(&self) -> Vec<(&'static str, bool)> {
        let unfinished = |it: &StepCall| it.succeeded + it.failed < it.copies;
        let has_failed =
            |id: CallId, it: &StepCall| it.copies > 0 && it.failed > it.copies - self.plan.calls[id.index()].required;
        let enough = |id: CallId, it: &StepCall| it.copies > 0 && it.succeeded >= self.plan.calls[id.index()].required;
        let optional = |id: CallId| self.plan.calls[id.index()].optional;
        vec![
            (
                "a failed call that fails a service",
                self.step_call(|work, id, it| work.ended.is_some() && !optional(id) && has_failed(id, it)),
            ),
            (
                "a failure while others go on",
                self.step_call(|_, id, it| !optional(id) && has_failed(id, it) && it.copies > it.failed),
            ),
            (
                "parallel calls that have not begun as one fails",
                self.work(|it| it.ended.is_some() && it.steps.iter().flatten().any(|it| it.begun < it.copies)),
            ),
            ("enough copies", self.step_call(|_, id, it| enough(id, it) && unfinished(it))),
            ("too few copies", self.step_call(|_, id, it| has_failed(id, it) && it.copies > 1 && it.succeeded > 0)),
            ("an optional call that fails", self.step_call(|_, id, it| optional(id) && has_failed(id, it))),
            (
                "an optional call that fails for some copies",
                self.step_call(|_, id, it| optional(id) && has_failed(id, it) && unfinished(it)),
            ),
            (
                "an optional call of copies past its deadline",
                self.step_call(|_, id, it| {
                    optional(id)
                        && has_failed(id, it)
                        && it.copies > 1
                        && self.call(|call| {
                            let is_late = matches!(call.result(), Some(Err((_, StopReason::Deadline))));
                            call.id == id && call.started == 0 && is_late
                        })
                }),
            ),
            ("a request that succeeds degraded", self.request(|it| it.degraded)),
            (
                "degraded work that fails",
                self.work(|it| it.degraded && matches!(it.ended, Some((_, WorkEnd::Error(_))))),
            ),
            ("a call that is not made", self.step_call(|_, _, it| it.copies == 0)),
            (
                "a call that is made by chance",
                self.step_call(|_, id, it| it.copies > 0 && self.plan.calls[id.index()].probability != u64::MAX),
            ),
            (
                "a step of which nothing is made",
                self.work(|it| it.steps.iter().any(|step| step.iter().all(|it| it.copies == 0))),
            ),
            ("a second step", self.work(|it| it.steps.len() > 1)),
            (
                "an orphan that tries again",
                self.attempt(|it| {
                    it.is_retry && it.sent.is_some_and(|sent| self.is_orphan_at(&self.record.calls[it.call], sent))
                }),
            ),
            (
                "an orphan that succeeds",
                self.call(|it| it.ended.is_some_and(|(at, result)| result.is_ok() && self.is_orphan_at(it, at))),
            ),
        ]
    }

    pub(super) fn fallbacks(&self) -> Vec<(&'static str, bool)> {
        let has_fallback = |it: &Call| self.plan.calls[it.id.index()].fallback.is_some();
        vec![
            ("a fallback that succeeds", self.call(|it| self.is_fallback(it) && it.result() == Some(Ok(())))),
            (
                "the last fallback that fails",
                self.call(|it| self.is_fallback(it) && !has_fallback(it) && matches!(it.result(), Some(Err(_)))),
            ),
            (
                "the fallback of a fallback",
                self.call(|it| self.is_fallback(it) && has_fallback(it) && matches!(it.result(), Some(Err(_)))),
            ),
            (
                "a fallback of one of several copies",
                self.call(|it| match it.caller {
                    Caller::Work(place) => self.is_fallback(it) && place.copy > 0,
                    Caller::Request(_) => false,
                }),
            ),
            (
                "an orphan's fallback",
                self.attempt(|it| {
                    let call = &self.record.calls[it.call];
                    self.is_fallback(call) && it.sent.is_some_and(|sent| self.is_orphan_at(call, sent))
                }),
            ),
        ]
    }
}
