//! What faults do to servers and to what is in progress there: pauses, lost capacity, crashes, slowness.

use crate::dist::{Purpose, mix};
use crate::failure::ErrorKind;
use crate::plan::{Effect, Fault, ServiceId, workers_left};
use crate::sim::frames::{NONE, Phase, WorkFrame};
use crate::sim::replica::Replica;
use crate::sim::server::Freed;
use crate::sim::tap::Tap;
use crate::time::{Instant, Span};

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// A window of a fault begins at a service, and ends at `until`; or one has ended.
    pub(super) fn servers_struck(&mut self, service: ServiceId, fault: &Fault, until: Option<Instant>) {
        let first = self.servers.stations[service.index()].first;
        if first == NONE {
            return;
        }
        let instances = self.plan.services[service.index()].capacity.instances;
        for number in (0..instances).take_while(|&number| fault.strikes(number)) {
            let server = first + number;
            match (&fault.effect, until) {
                (Effect::Pause, Some(until)) => self.servers.list[server as usize].pause = self.now..until,
                (Effect::Capacity { .. }, _) => self.set_workers(service, number, server),
                (Effect::Crash, Some(_)) => self.crash(server),
                _ => {}
            }
        }
    }

    /// Counts the workers of a server anew. Those that have come back are free.
    fn set_workers(&mut self, service: ServiceId, number: u32, server: u32) {
        let plan = self.plan;
        let active = self.active_faults[service.index()].iter().map(|id| &plan.faults[id.index()]);
        let workers = active.filter(|fault| fault.strikes(number)).fold(
            plan.services[service.index()].capacity.workers,
            |workers, fault| match fault.effect {
                Effect::Capacity { factor } => workers_left(workers, factor),
                _ => workers,
            },
        );
        let at = &mut self.servers.list[server as usize];
        at.workers = workers;
        let free = workers.saturating_sub(at.busy).min(at.queue.len());
        self.freed.extend((0..free).map(|_| Freed::Worker(server)));
    }

    /// Everything that is in progress at a server ends.
    fn crash(&mut self, server: u32) {
        while let Some(work) = self.servers.list[server as usize].present.first() {
            // Only now is there something to count at this instant.
            self.recorder.advance(self.now);
            self.crashed = self.now;
            self.reset(work);
        }
    }

    /// The server that an attempt is at has crashed.
    fn reset(&mut self, work: u32) {
        let WorkFrame { service, server, phase, arrived, .. } = self.works[work];
        self.recorder.completed(service, arrived, false, self.now);
        self.recorder.faulted(service);
        match phase {
            Phase::Queued => self.leave_queue(work),
            Phase::Serving => self.recorder.worked(service, self.served_for(work), self.is_awaited(work)),
            _ => {}
        }
        if self.holds_worker(work) {
            self.free_worker(service, server);
        }
        self.leave_server(work);
        self.disarm_served(work);
        if self.operations.are_told {
            self.leave_store(work);
        }
        self.say_retry_after(work, None);
        self.send_answer(work, Some(ErrorKind::Reset));
        self.abandon_calls(work);
    }

    /// How long service takes that takes `alone` where nothing is wrong, and whether it is a phase at all if that is
    /// constantly zero.
    pub(super) fn slowed(&self, service: ServiceId, number: u32, key: u64, alone: Span) -> (Span, bool) {
        let (mut takes, mut is_phase) = (alone, false);
        for id in &self.active_faults[service.index()] {
            let fault = &self.plan.faults[id.index()];
            if let Effect::Slow { factor, add } = &fault.effect
                && fault.strikes(number)
            {
                if *factor != 1.0 {
                    takes = Span::from_ns_f64(takes.as_ns() as f64 * factor);
                }
                takes = takes + add.sample(mix(key, fault.key), Purpose::FaultDelay);
                is_phase |= !add.is_zero();
            }
        }
        (takes, is_phase)
    }

    /// When service begins again that is taken up now: at the end of the server's pause, or at once.
    pub(super) fn resumes(&self, server: u32) -> Instant {
        let pause = &self.servers.list[server as usize].pause;
        if pause.contains(&self.now) { pause.end } else { self.now }
    }

    /// The end of the last pause of a server, if that has begun at this instant or since.
    pub(super) fn paused_since(&self, server: u32, since: Instant) -> Option<Instant> {
        let pause = &self.servers.list[server as usize].pause;
        (since..=self.now).contains(&pause.start).then_some(pause.end)
    }

    /// If the server of an attempt has been paused since its service began, puts off its end. Whether it has.
    pub(super) fn is_put_off(&mut self, work: u32) -> bool {
        let WorkFrame { server, phase, .. } = self.works[work];
        if phase != Phase::Serving || server == NONE {
            return false;
        }
        let resumed = self.servers.visits[work as usize].resumed;
        let Some(end) = self.paused_since(server, resumed) else { return false };
        let visit = &mut self.servers.visits[work as usize];
        visit.resumed = end;
        let served_at = end + visit.takes;
        self.serve_until(work, served_at);
        true
    }
}
