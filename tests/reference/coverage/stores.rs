//! What stores know, of what the rules treat in a way of its own.

use stormsim::plan::{InProgressRule, Store};
use stormsim::time::Span;

use crate::reference::record::{Caller, Known, Work, WorkEnd};

use super::Cases;
use super::cancelling::is_cancelled;

impl Cases<'_> {
    pub(super) fn known_results(&self) -> Vec<(&'static str, bool)> {
        let known = |shows: &dyn Fn(&Work, &Work) -> bool| {
            self.work(|it| match knows(it) {
                Some(Known::Done(by)) => shows(it, &self.record.works[by]),
                _ => false,
            })
        };
        let invalid =
            |shows: &dyn Fn(&Work) -> bool| self.work(|it| knows(it) == Some(Known::OtherOperation) && shows(it));
        let expired = |shows: &dyn Fn(&Work, &Work) -> bool| {
            self.work(|it| self.work(|before| self.has_expired(before, it) && shows(before, it)))
        };
        vec![
            ("a result that is known", known(&|_, by| is_success(by) && !by.degraded)),
            ("a degraded result that is known", known(&|_, by| is_success(by) && by.degraded)),
            ("a known error of a fault", known(&|_, by| by.struck.is_some())),
            ("a known error of a call", known(&|_, by| by.struck.is_none() && !is_success(by))),
            ("a result that another server has", known(&|it, by| it.server != by.server)),
            ("a result known in a layer below", known(&|it, _| !self.is_of_client(it))),
            ("a key of another operation", invalid(&|it| self.is_of_client(it))),
            ("a key of another operation in a layer below", invalid(&|it| !self.is_of_client(it))),
            ("done anew after the result has expired", expired(&|before, it| self.is_same(before, it))),
            ("another operation after a result has expired", expired(&|before, it| !self.is_same(before, it))),
            (
                "done anew as the result expires",
                expired(&|before, it| {
                    let age = before.ended.zip(it.began).map(|((ended, _), began)| began.at.since(ended.at));
                    age == self.store(it).map(|store| store.ttl)
                }),
            ),
            (
                "no key for a store",
                self.work(|it| it.began.is_some() && self.store(it).is_some() && self.attempt_of(it).brings.is_none()),
            ),
        ]
    }

    pub(super) fn in_progress(&self) -> Vec<(&'static str, bool)> {
        let meets = |rule: InProgressRule, shows: &dyn Fn(&Work, &Work) -> bool| {
            self.work(|it| match knows(it) {
                Some(Known::BeingDone(by)) => {
                    self.store(it).is_some_and(|store| store.in_progress == rule) && shows(it, &self.record.works[by])
                }
                _ => false,
            })
        };
        let waits = |shows: &dyn Fn(&Work, &Work) -> bool| meets(InProgressRule::Wait, shows);
        let in_vain = |shows: &dyn Fn(&Work) -> bool| waits(&|it, _| it.resumed.is_none() && shows(it));
        let gets = |it: &Work, by: &Work| by.does.is_some() && it.ended.is_some() && it.ended == by.ended;
        let together = |shows: &dyn Fn(&Work, &Work) -> bool| waits(&|it, by| gets(it, by) && shows(it, by));
        vec![
            ("refused while another does it", meets(InProgressRule::Refuse, &|it, _| it.ended.is_some())),
            ("answered with what another does", together(&|it, _| is_success(it) && !it.degraded)),
            ("answered with degraded work of another", together(&|it, _| is_success(it) && it.degraded)),
            ("answered with an error of another", together(&|it, by| !is_success(it) && by.struck.is_none())),
            ("answered with a fault of another", together(&|_, by| by.struck.is_some())),
            ("answered with what another server does", together(&|it, by| it.server != by.server)),
            (
                "several answered with what another does",
                together(&|it, by| {
                    self.work(|other| other.attempt != it.attempt && knows(other) == knows(it) && gets(other, by))
                }),
            ),
            ("cancelled while another does it", in_vain(&is_cancelled)),
            ("a crash while another does it", in_vain(&|it| self.is_reset(it) && it.struck.is_some())),
            ("waiting for another at the end", in_vain(&|it| it.ended.is_none())),
        ]
    }

    pub(super) fn taken_over(&self) -> Vec<(&'static str, bool)> {
        let takes_over = |shows: &dyn Fn(&Work, &Work) -> bool| {
            self.work(|it| match knows(it) {
                Some(Known::BeingDone(by)) => it.resumed.is_some() && shows(it, &self.record.works[by]),
                _ => false,
            })
        };
        let ended = |by: &Work| by.ended.map(|(moment, _)| moment.at);
        let is_done = |it: &Work| it.does.is_some() && it.ended.is_some();
        let took = |it: &Work| it.service_spent.map(|spent| spent.took);
        vec![
            ("done in place of what was cancelled", takes_over(&|it, by| is_done(it) && is_cancelled(by))),
            ("done in place of what a crash ended", takes_over(&|it, by| is_done(it) && self.is_reset(by))),
            ("done late for the time drawn before", takes_over(&|it, _| is_done(it) && took(it) > Some(Span::ZERO))),
            ("done late in no time", takes_over(&|it, by| it.service_spent.map(|spent| spent.until) == ended(by))),
            (
                "done late in what else takes no time",
                takes_over(&|it, _| {
                    took(it) > Some(Span::ZERO) && self.plan.services[it.service.index()].service_time.is_zero()
                }),
            ),
            ("done late in a pause", takes_over(&|it, by| it.resumed > ended(by))),
            ("done late with the error of a fault", takes_over(&|it, _| is_done(it) && it.struck.is_some())),
            ("cancelled after it took over", takes_over(&|it, _| is_cancelled(it))),
            ("a crash after it took over", takes_over(&|it, _| self.is_reset(it))),
            (
                "done late for others who wait",
                takes_over(&|it, _| {
                    let waits =
                        |other: &Work| matches!(knows(other), Some(Known::BeingDone(_))) && other.resumed.is_none();
                    let gets = |other: &Work| waits(other) && self.has_same_key(other, it) && other.ended == it.ended;
                    is_done(it) && self.work(gets)
                }),
            ),
            (
                "forgotten as nobody waits",
                self.work(|it| {
                    knows(it).is_none() && it.does.is_some() && self.work(|before| self.was_forgotten(before, it))
                }),
            ),
        ]
    }

    /// Whether a work does what another did under the same key whose result is not kept any more.
    fn has_expired(&self, before: &Work, work: &Work) -> bool {
        let does_so = before.does.is_some() && before.does == work.does && before.service == work.service;
        does_so
            && knows(work).is_none()
            && before.ended.map(|(moment, _)| moment) < work.began
            && before.ended.is_some()
    }

    /// Whether a work does what another was cut short in.
    fn was_forgotten(&self, before: &Work, work: &Work) -> bool {
        let is_cut_short = before.resumed.is_some() && (is_cancelled(before) || self.is_reset(before));
        let is_before = before.ended.map(|(moment, _)| moment) < work.began;
        is_cut_short && is_before && self.has_same_key(before, work)
    }

    fn has_same_key(&self, one: &Work, other: &Work) -> bool {
        let key = |it: &Work| self.attempt_of(it).brings;
        one.service == other.service && key(one).is_some() && key(one) == key(other)
    }

    fn is_same(&self, one: &Work, other: &Work) -> bool {
        self.operation(one) == self.operation(other)
    }

    pub(super) fn operation(&self, work: &Work) -> u64 {
        self.record.calls[self.attempt_of(work).call].operation
    }

    pub(super) fn store(&self, work: &Work) -> Option<Store> {
        self.plan.services[work.service.index()].effects.store
    }

    fn is_of_client(&self, work: &Work) -> bool {
        matches!(self.record.calls[self.attempt_of(work).call].caller, Caller::Request(_))
    }
}

fn knows(work: &Work) -> Option<Known> {
    work.recognised.map(|(_, known)| known)
}

fn is_success(work: &Work) -> bool {
    matches!(work.ended, Some((_, WorkEnd::Success)))
}
