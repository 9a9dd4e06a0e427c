//! The callee's side: arrival, work, answer.

use crate::dist::Purpose;
use crate::failure::{ErrorKind, Refusal};
use crate::plan::Cancel;
use crate::sim::agenda::Sequence;
use crate::sim::fault::Strike;
use crate::sim::frames::{Maker, NONE, Phase, WorkFrame};
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::time::{Instant, Span};

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// An attempt arrives.
    pub(super) fn arrive(&mut self, work: u32) {
        let service = self.works[work].service;
        let has_servers = FULL && self.servers.stations[service.index()].first != NONE;
        let mut number = 0;
        if has_servers {
            match self.place(work) {
                Some(picked) => number = picked,
                None => return,
            }
        }
        self.count_arrival(work);
        if has_servers {
            self.enter_server(work, number);
        }
        let key = self.works[work].key;
        match self.strike(service, number, key) {
            Strike::Refused => return self.refuse(work, Refusal::Fault),
            Strike::Fails { error, delay, retry_after } => return self.fail_after(work, error, delay, retry_after),
            // It goes on as if nothing had struck.
            Strike::FailsAfterWork { error, retry_after } => {
                self.works[work].error = Some(error);
                self.say_retry_after(work, retry_after);
            }
            Strike::None => {}
        }
        if has_servers {
            return self.admit(work);
        }
        self.recorder.entered(service, self.now);
        let service_time = &self.plan.services[service.index()].service_time;
        let takes = (!service_time.is_zero()).then(|| service_time.sample(key, Purpose::Service));
        self.begin_service(work, takes);
    }

    /// A fault answers an attempt with an error, after the delay if there is one.
    fn fail_after(&mut self, work: u32, error: ErrorKind, delay: Option<Span>, retry_after: Option<Span>) {
        let frame = &mut self.works[work];
        (frame.error, frame.phase) = (Some(error), Phase::Failing);
        self.recorder.entered(frame.service, self.now);
        if FULL {
            self.say_retry_after(work, retry_after);
        }
        match delay {
            Some(delay) => self.serve_until(work, self.now + delay),
            None => self.fail(work, Some(error)),
        }
    }

    #[inline]
    fn count_arrival(&mut self, work: u32) {
        let frame = &mut self.works[work];
        frame.arrived = self.now;
        let (key, service, is_original, is_retry) = (frame.key, frame.service, frame.is_original, frame.is_retry);
        self.tap.note(self.now, Note::Arrived { service, key });
        self.recorder.arrived(service, is_original, is_retry, self.now);
    }

    /// The server that the balancer sends an attempt to, from 0. None if the attempt does not get in: nobody is there, or
    /// its caller is gone and the service learns of that.
    fn place(&mut self, work: u32) -> Option<u32> {
        let WorkFrame { key, service, caller, is_forgotten, .. } = self.works[work];
        let number = self.pick_server(work);
        if self.is_black_hole(service, number) {
            self.swallow(work, number);
            return None;
        }
        if caller == NONE && !is_forgotten && self.plan.services[service.index()].capacity.cancel != Cancel::Ignore {
            self.count_arrival(work);
            self.tap.note(self.now, Note::Cancelled { key });
            self.recorder.cancelled(service, self.now);
            self.works.remove(work);
            return None;
        }
        Some(number)
    }

    /// An attempt is turned away at the door.
    pub(super) fn refuse(&mut self, work: u32, by: Refusal) {
        let WorkFrame { service, server, .. } = self.works[work];
        self.recorder.refused(service, by, self.now);
        if FULL && server != NONE {
            self.leave_server(work);
            if by != Refusal::Limiter {
                self.say_retry_after(work, None);
            }
        }
        self.send_answer(work, Some(by.error()));
    }

    /// The service begins to work on an attempt, for as long as this; none if it takes no time.
    #[inline(always)]
    pub(super) fn begin_service(&mut self, work: u32, takes: Option<Span>) {
        let frame = &mut self.works[work];
        frame.phase = Phase::Serving;
        let key = frame.key;
        self.tap.note(self.now, Note::Began { key });
        match takes {
            Some(takes) => self.serve_until(work, self.now + takes),
            None => self.make_calls(work),
        }
    }

    /// The service time of an attempt will be over at `at`, or the delay of an error.
    #[inline]
    pub(super) fn serve_until(&mut self, work: u32, at: Instant) {
        let sequence = self.agenda.schedule_at(at, Kind::Served.of(work));
        if FULL && self.has_ghosts {
            let served = &mut self.servers.served;
            if served.len() < self.works.places() {
                served.resize(self.works.places(), Sequence::NONE);
            }
            served[work as usize] = sequence;
        }
    }

    /// That event is none any more, if there is one to come.
    pub(super) fn disarm_served(&mut self, work: u32) {
        if let Some(served) = self.servers.served.get_mut(work as usize) {
            *served = Sequence::NONE;
        }
    }

    /// The service time is over, or the delay of an error.
    pub(super) fn served(&mut self, work: u32) {
        let WorkFrame { service, phase, error, .. } = self.works[work];
        if phase == Phase::Failing {
            return self.fail(work, error);
        }
        let (took, is_awaited) = (self.served_for(work), self.is_awaited(work));
        self.recorder.worked(service, took, is_awaited);
        self.make_calls(work);
    }

    /// Its own work done, the service makes its calls.
    #[inline]
    fn make_calls(&mut self, work: u32) {
        let WorkFrame { service, server, error, .. } = self.works[work];
        if FULL && self.operations.are_told {
            self.count_effect(work);
        }
        if FULL && error.is_some() {
            return self.fail(work, error);
        }
        if FULL && server != NONE && !self.plan.services[service.index()].capacity.holds_worker {
            self.free_worker(service, server);
        }
        self.works[work].phase = Phase::Calling;
        self.run_next_step(work);
    }

    /// Whether a client still waits for what an attempt leads to.
    #[inline(always)]
    pub(super) fn is_awaited(&self, mut work: u32) -> bool {
        loop {
            let caller = self.works[work].caller;
            if caller == NONE {
                return false;
            }
            let call = &self.calls[caller];
            let (maker, id) = match call.parent.maker() {
                Maker::Client(_) => return true,
                Maker::Work(maker) => (maker, call.call),
                Maker::Fan(fan) if self.fans[fan].is_settled => return false,
                Maker::Fan(fan) => (self.fans[fan].work, self.fans[fan].call),
            };
            if !self.awaits(maker, id) {
                return false;
            }
            work = maker;
        }
    }

    /// The service is done with an attempt that a fault has given this error.
    fn fail(&mut self, work: u32, error: Option<ErrorKind>) {
        self.recorder.faulted(self.works[work].service);
        self.complete(work, error);
    }

    /// The service is done with an attempt.
    #[inline]
    pub(super) fn complete(&mut self, work: u32, error: Option<ErrorKind>) {
        let WorkFrame { service, server, arrived, .. } = self.works[work];
        self.recorder.completed(service, arrived, error.is_none(), self.now);
        if FULL && server != NONE {
            if self.holds_worker(work) {
                self.free_worker(service, server);
            }
            self.leave_server(work);
        }
        self.send_answer(work, error);
        if FULL && self.operations.are_told {
            self.remember(work);
        }
        if FULL && self.abandons(work) {
            self.abandon_calls(work);
        }
    }

    #[inline(always)]
    pub(super) fn send_answer(&mut self, work: u32, error: Option<ErrorKind>) {
        let frame = &mut self.works[work];
        (frame.error, frame.phase) = (error, Phase::Answered);
        let (key, call) = (frame.key, frame.call);
        self.tap.note(self.now, Note::Answered { key, result: error.map_or(Ok(()), Err) });
        if FULL && self.has_call_faults && self.loses_answer(call, key) {
            return self.mute(work);
        }
        let delay = if self.has_network {
            self.plan.calls[call.index()].network.sample(key, Purpose::Response)
        } else {
            Span::ZERO
        };
        self.agenda.schedule(delay, Kind::Answer.of(work));
    }

    /// The answer to an attempt does not reach its caller.
    fn mute(&mut self, work: u32) {
        let frame = &mut self.works[work];
        frame.phase = if frame.caller == NONE { Phase::Delivered } else { Phase::Muted };
        self.release_work(work);
    }

    /// Gives the frame of a work back once nothing refers to it. To ask again does no harm.
    pub(super) fn release_work(&mut self, work: u32) {
        let frame = &mut self.works[work];
        if matches!(frame.phase, Phase::Delivered | Phase::Cancelled) && frame.children == 0 {
            frame.phase = Phase::Free;
            self.works.remove(work);
        }
    }
}
