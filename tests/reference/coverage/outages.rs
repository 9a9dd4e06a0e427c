//! What faults do to servers, to the work there and to the clients, of what the rules treat in a way of its own.

use stormsim::dist::Purpose;
use stormsim::failure::ErrorKind;
use stormsim::plan::{Cancel, Contention, Effect, Fault, GroupId, Target, workers_left};
use stormsim::time::{Instant, Span};

use crate::reference::record::{Caller, Work, WorkEnd};

use super::Cases;

impl Cases<'_> {
    pub(super) fn changed_service(&self) -> Vec<(&'static str, bool)> {
        let takes = |it: &Work| {
            let service_time = &self.plan.services[it.service.index()].service_time;
            service_time.sample(self.record.attempts[it.attempt].key, Purpose::Service)
        };
        let began_while = |it: &Work, is: &dyn Fn(&Effect) -> bool| {
            let began = it.began.map(|began| began.at);
            let mut faults = self.faults_at(it).filter(|fault| is(&fault.effect));
            began.is_some_and(|began| faults.any(|fault| self.is_active(fault, began)))
        };
        let is_slow = |effect: &Effect| matches!(effect, Effect::Slow { .. });
        let is_alone = |it: &Work| self.capacity(it).contention == Contention::NONE;
        let slow =
            |shows: &dyn Fn(&Work) -> bool| self.work(|it| is_alone(it) && began_while(it, &is_slow) && shows(it));
        let lasted = |it: &Work| it.service_spent.zip(it.began).map(|(spent, began)| spent.until.since(began.at));
        let is_pause = |effect: &Effect| *effect == Effect::Pause;
        let is_served = |it: &Work| it.served.is_none() && !self.is_reset(it);
        vec![
            ("slow service", slow(&|it| it.service_time > takes(it))),
            ("quick service", slow(&|it| it.service_time < takes(it))),
            (
                "slow service that else takes no time",
                slow(&|it| takes(it) == Span::ZERO && it.service_time > Span::ZERO),
            ),
            (
                "begun in a pause",
                self.work(|it| began_while(it, &is_pause) && is_served(it) && lasted(it) > Some(it.service_time)),
            ),
            (
                "no time at all, but in a pause",
                self.work(|it| began_while(it, &is_pause) && it.service_time == Span::ZERO && is_served(it)),
            ),
            (
                "put off by a pause",
                self.work(|it| !began_while(it, &is_pause) && is_served(it) && lasted(it) > Some(it.service_time)),
            ),
            ("put off by two pauses", self.work(|it| is_served(it) && self.pauses_during(it) > 1)),
        ]
    }

    /// How many pauses of its server began while a work was in service.
    fn pauses_during(&self, work: &Work) -> usize {
        let (Some(began), Some(spent)) = (work.began, work.service_spent) else { return 0 };
        let pauses = self.faults_at(work).filter(|fault| fault.effect == Effect::Pause);
        let starts = pauses.flat_map(|fault| self.windows(fault)).map(|window| window.start);
        starts.filter(|&start| start > began.at && start < spent.until).count()
    }

    /// Whether a crash of its server ended a work.
    pub(super) fn is_reset(&self, work: &Work) -> bool {
        let Some((moment, WorkEnd::Error(ErrorKind::Reset))) = work.ended else { return false };
        let mut crashes = self.faults_at(work).filter(|fault| fault.effect == Effect::Crash);
        crashes.any(|fault| self.windows(fault).any(|window| window.start == moment.at))
    }

    pub(super) fn crashes(&self) -> Vec<(&'static str, bool)> {
        let reset = |shows: &dyn Fn(&Work) -> bool| self.work(|it| self.is_reset(it) && shows(it));
        let abandons = |it: &Work| {
            self.call(|call| match call.caller {
                Caller::Work(place) => {
                    let caller = &self.record.works[place.work];
                    caller.attempt == it.attempt && call.abandoned == it.ended.map(|(moment, _)| moment.at)
                }
                Caller::Request(_) => false,
            })
        };
        vec![
            ("a crash in a queue", reset(&|it| it.queued.is_some() && it.began.is_none())),
            ("a crash in service", reset(&|it| it.resumed.is_some() && it.steps.is_empty())),
            ("a crash before a fault answers", reset(&|it| it.began.is_none() && it.queued.is_none())),
            ("a crash amid calls", reset(&|it| abandons(it) && self.capacity(it).cancel == Cancel::Ignore)),
            ("a crash of what nobody waits for", reset(&|it| self.record.attempts[it.attempt].answered_late.is_some())),
        ]
    }

    pub(super) fn fewer_workers(&self) -> Vec<(&'static str, bool)> {
        let capacities = |it: &Work| {
            let faults = self.faults_at(it).filter(|fault| matches!(fault.effect, Effect::Capacity { .. }));
            faults.collect::<Vec<&Fault>>()
        };
        let left = |it: &Work, at: Instant| {
            let active = capacities(it).into_iter().filter(|fault| self.is_active(fault, at));
            active.fold(self.capacity(it).workers, |workers, fault| match fault.effect {
                Effect::Capacity { factor } => workers_left(workers, factor),
                _ => workers,
            })
        };
        let ends = |it: &Work, at: Instant| {
            capacities(it).into_iter().any(|fault| self.windows(fault).any(|window| window.end == at))
        };
        let at_work = |it: &Work, at: Instant| {
            let there = |other: &&Work| (other.service, other.server) == (it.service, it.server);
            let works = self.record.works.iter().filter(there);
            works.filter(|other| other.time_with_worker(self.record.end).is_some_and(|time| time.contains(&at))).count()
        };
        vec![
            (
                "a queue although workers do nothing",
                self.work(|it| {
                    it.queued.is_some_and(|(from, _)| at_work(it, from.at) < self.capacity(it).workers as usize)
                }),
            ),
            (
                "more at work than workers are left",
                self.work(|it| it.queued.is_some_and(|(from, _)| at_work(it, from.at) > left(it, from.at) as usize)),
            ),
            (
                "workers that come back",
                self.work(|it| it.queued.is_some() && it.began.is_some_and(|began| ends(it, began.at))),
            ),
        ]
    }

    pub(super) fn loads(&self) -> Vec<(&'static str, bool)> {
        let under = |is: fn(f64) -> bool| {
            self.request(|it| {
                let on_it = |fault: &&Fault| fault.targets.contains(&Target::Group(it.group));
                let loads = self.plan.faults.iter().filter(on_it);
                let mut loads = loads.filter(|fault| matches!(fault.effect, Effect::Load { factor } if is(factor)));
                loads.any(|fault| self.is_active(fault, it.began))
            })
        };
        let comes_after_none = self.request(|it| {
            let stops = |fault: &&Fault| {
                fault.targets.contains(&Target::Group(it.group)) && fault.effect == Effect::Load { factor: 0.0 }
            };
            let mut stops = self.plan.faults.iter().filter(stops);
            stops.any(|fault| self.windows(fault).any(|window| window.end < it.began))
        });
        let several = (0..self.plan.groups.len() as u32).any(|group| {
            let here = |fault: &&Fault| fault.targets.contains(&Target::Group(GroupId(group)));
            self.plan.faults.iter().filter(here).count() > 1
        });
        vec![
            ("a request under more load", under(|factor| factor > 1.0)),
            ("a request under less load", under(|factor| factor < 1.0)),
            ("a request after a time without any", comes_after_none),
            ("several loads on a group", several),
        ]
    }
}
