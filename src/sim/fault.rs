//! Faults: when they are active, and whom they strike.

use crate::dist::{Purpose, draw, happens, mix};
use crate::failure::ErrorKind;
use crate::plan::{Effect, Failure, FaultId, ServiceId, Target};
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
    Fails { error: ErrorKind, delay: Option<Span> },
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
        for target in &self.plan.faults[id.index()].targets {
            let Target::Service(target) = target else { continue };
            let active = &mut self.active_faults[target.index()];
            if begins {
                active.insert(active.partition_point(|&other| other < id), id);
            } else {
                active.retain(|&other| other != id);
            }
        }
        if begins {
            self.agenda.schedule_fault(self.window_ends[id.index()], Kind::FaultEnds.of(id.0));
        } else {
            self.schedule_window(id);
        }
    }

    /// Asks the faults that are active at a service about the attempt with this key; the first that strikes decides.
    #[inline]
    pub(super) fn strike(&self, service: ServiceId, key: u64) -> Strike {
        for id in &self.active_faults[service.index()] {
            let fault = &self.plan.faults[id.index()];
            match &fault.effect {
                Effect::Refuse => return Strike::Refused,
                Effect::Fail(Failure { probability, error, delay, .. }) => {
                    let own_key = mix(key, fault.key);
                    // What is certain needs no draw.
                    if *probability == u64::MAX || happens(draw(own_key, Purpose::Fault), *probability) {
                        let delay = (!delay.is_zero()).then(|| delay.sample(own_key, Purpose::FaultDelay));
                        return Strike::Fails { error: *error, delay };
                    }
                }
                _ => {}
            }
        }
        Strike::None
    }
}
