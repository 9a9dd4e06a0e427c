//! Faults: when they are active, and whom they strike.

use crate::dist::{Purpose, draw, happens, mix};
use crate::failure::ErrorKind;
use crate::plan::{CallId, Direction, Effect, Failure, Fault, FaultId, ServiceId, Target};
use crate::sim::frames::{NONE, Phase, WorkFrame};
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::Tap;
use crate::time::{Instant, Span};

/// What the active faults of a service do to an attempt that arrives there.
pub(super) enum Strike {
    /// Nothing.
    None,
    /// It is turned away.
    Refused,
    /// It fails, after the delay if there is one.
    Fails { error: ErrorKind, delay: Option<Span>, retry_after: Option<Span> },
    /// It fails when the service has worked for it.
    FailsAfterWork { error: ErrorKind, retry_after: Option<Span> },
}

/// What becomes of an attempt that is sent.
pub(super) enum Way {
    /// It arrives after so long.
    Arrives(Span),
    /// It finds no connection.
    FindsNobody,
    /// It is lost on its way.
    IsLost,
    /// It is lost, but an error comes back after so long.
    Fails { error: ErrorKind, delay: Span, retry_after: Option<Span> },
}

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    pub(super) fn schedule_faults(&mut self) {
        for (id, fault) in (0..).map(FaultId).zip(&self.plan.faults) {
            self.windows.push(fault.windows.of_replica(mix(self.key, fault.key)));
            self.window_ends.push(Instant::LIMIT);
            self.schedule_window(id);
        }
    }

    /// Schedules the beginning of the next window of a fault, if there is one.
    fn schedule_window(&mut self, id: FaultId) {
        if let Some(window) = self.windows[id.index()].next() {
            self.window_ends[id.index()] = window.end;
            self.agenda.schedule_fault(window.start, Kind::FaultBegins.of(id.0));
        }
    }

    /// A window of a fault begins or ends.
    pub(super) fn fault_transition(&mut self, begins: bool, id: FaultId) {
        let fault = &self.plan.faults[id.index()];
        for target in &fault.targets {
            match *target {
                Target::Service(service) => {
                    toggle(&mut self.active_faults[service.index()], id, begins);
                    if FULL {
                        self.servers_struck(service, fault, begins.then_some(self.window_ends[id.index()]));
                    }
                }
                Target::Call(call) => toggle(&mut self.active_on_calls[call.index()], id, begins),
                // Their arrivals know the windows beforehand.
                Target::Group(_) => {}
            }
        }
        if begins {
            self.recorder.fault_began(id);
            self.agenda.schedule_fault(self.window_ends[id.index()], Kind::FaultEnds.of(id.0));
        } else {
            self.recorder.fault_ended(id, self.now);
            self.schedule_window(id);
        }
    }

    /// Asks the faults that are active at a service about the attempt with this key, which the balancer has sent to
    /// this of its servers; the first that strikes decides.
    #[inline]
    pub(super) fn strike(&self, service: ServiceId, server: u32, key: u64) -> Strike {
        for id in &self.active_faults[service.index()] {
            let fault = &self.plan.faults[id.index()];
            if FULL && !fault.strikes(server) {
                continue;
            }
            match &fault.effect {
                Effect::Refuse | Effect::Crash => return Strike::Refused,
                Effect::Fail(failure) if self.fails(fault, failure, key) => {
                    let Failure { error, retry_after, works, .. } = *failure;
                    if FULL && works {
                        return Strike::FailsAfterWork { error, retry_after };
                    }
                    let delay = &failure.delay;
                    let delay = (!delay.is_zero()).then(|| delay.sample(mix(key, fault.key), Purpose::FaultDelay));
                    return Strike::Fails { error, delay, retry_after };
                }
                _ => {}
            }
        }
        Strike::None
    }

    /// Whether a failure strikes an attempt. What is certain needs no draw.
    #[inline]
    fn fails(&self, fault: &Fault, failure: &Failure, key: u64) -> bool {
        if failure.probability == u64::MAX {
            return true;
        }
        let own_key = mix(key, fault.key);
        let shares = failure.correlation > 0 && happens(draw(own_key, Purpose::Shares), failure.correlation);
        let drawn = if shares {
            let epoch = self.now.as_ns() / failure.epoch.as_ns();
            draw(mix(mix(self.key, fault.key), epoch), Purpose::Epoch)
        } else {
            draw(own_key, Purpose::Fault)
        };
        happens(drawn, failure.probability)
    }

    /// Asks the faults that are active on a call about the attempt with this key, which the network alone would deliver
    /// after `delay`.
    pub(super) fn way(&self, call: CallId, key: u64, mut delay: Span) -> Way {
        for id in &self.active_on_calls[call.index()] {
            let fault = &self.plan.faults[id.index()];
            let own_key = mix(key, fault.key);
            match &fault.effect {
                Effect::Slow { add, .. } => delay = delay + add.sample(own_key, Purpose::FaultDelay),
                Effect::BlackHole => return Way::FindsNobody,
                Effect::Loss { probability, direction: Direction::Request }
                    if happens(draw(own_key, Purpose::Loss), *probability) =>
                {
                    return Way::IsLost;
                }
                Effect::Fail(failure) if self.fails(fault, failure, key) => {
                    let delay = failure.delay.sample(own_key, Purpose::FaultDelay);
                    return Way::Fails { error: failure.error, delay, retry_after: failure.retry_after };
                }
                _ => {}
            }
        }
        if delay > self.plan.calls[call.index()].connect_timeout.after { Way::FindsNobody } else { Way::Arrives(delay) }
    }

    /// Whether the answer to an attempt is lost.
    pub(super) fn loses_answer(&self, call: CallId, key: u64) -> bool {
        self.active_on_calls[call.index()].iter().any(|id| {
            let fault = &self.plan.faults[id.index()];
            match fault.effect {
                Effect::Loss { probability, direction: Direction::Response } => {
                    happens(draw(mix(key, fault.key), Purpose::Loss), probability)
                }
                _ => false,
            }
        })
    }

    /// Whether attempts that would arrive at this server never do.
    pub(super) fn is_black_hole(&self, service: ServiceId, server: u32) -> bool {
        self.active_faults[service.index()].iter().any(|id| {
            let fault = &self.plan.faults[id.index()];
            fault.effect == Effect::BlackHole && fault.strikes(server)
        })
    }

    /// An attempt that would arrive now at this server, from 0, never does: nobody is there. The balancer knows of it as
    /// long as its caller waits.
    pub(super) fn swallow(&mut self, work: u32, number: u32) {
        let WorkFrame { call: id, service, caller, arrived: sent, .. } = self.works[work];
        self.recorder.lost(id);
        if caller == NONE {
            self.works.remove(work);
            return;
        }
        let server = self.servers.stations[service.index()].first + number;
        self.servers.list[server as usize].load += 1;
        let frame = &mut self.works[work];
        (frame.phase, frame.server) = (Phase::Lost, server);
        let call = &self.plan.calls[id.index()];
        let asked = if call.pool.is_some() { self.extras[caller as usize].asked } else { sent };
        let gives_up = sent + call.connect_timeout.after;
        if call.hedge.is_some() {
            self.arm_copy(caller, work, gives_up, self.extras[caller as usize].asked);
        } else if gives_up < self.waits_until(caller, call, asked) {
            let timer = self.agenda.arm_at(gives_up, Kind::Timer.of(caller));
            self.calls[caller].armed = timer;
        }
    }

    /// What the server said about when to try again; none if it said nothing.
    #[inline]
    pub(super) fn retry_after(&self, work: u32) -> Option<Span> {
        if FULL { self.retry_afters.get(work as usize).copied().flatten() } else { None }
    }

    /// Notes what the answer of an attempt says about when to try again.
    pub(super) fn say_retry_after(&mut self, work: u32, retry_after: Option<Span>) {
        if !self.has_retry_after {
            return;
        }
        if self.retry_afters.len() < self.works.places() {
            self.retry_afters.resize(self.works.places(), None);
        }
        self.retry_afters[work as usize] = retry_after;
    }
}

fn toggle(active: &mut Vec<FaultId>, id: FaultId, begins: bool) {
    if begins {
        active.insert(active.partition_point(|&other| other < id), id);
    } else {
        active.retain(|&other| other != id);
    }
}
