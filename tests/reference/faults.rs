//! The section "Faults": when they are active, and whom they strike.

use stormsim::dist::{Purpose, draw, happens, mix};
use stormsim::plan::{CallId, Direction, Effect, Failure, Fault, FaultId, ServiceId, Target, workers_left};
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::interpreter::Interpreter;
use super::record::{Attempt, Struck};

/// What becomes of an attempt on its way.
pub(super) enum Way {
    /// It arrives after this time.
    Arrives(Span),
    /// It is lost, as if nobody were there.
    NotConnected,
    /// It is lost on a connection that stands.
    Lost,
    /// It is lost, and after this time an error comes in place of an answer.
    Fails(Span, Struck),
}

/// What becomes of an attempt at the door of a server.
pub(super) enum Door {
    /// It is let in; if a fault with `work` has struck, it will be answered with the error.
    Open(Option<Struck>),
    /// It is turned away.
    Refused,
    /// It is answered with this error after this time; whether that is no time at all for every attempt.
    Fails(Span, bool, Struck),
}

impl<'plan> Interpreter<'plan> {
    pub(super) fn schedule_next_window(&mut self, fault: FaultId) {
        if let Some(window) = self.windows[fault.index()].next() {
            let begins = Event::WindowBegins { fault, until: window.end };
            self.agenda.schedule(window.start, Class::FaultTransition, begins);
        }
    }

    pub(super) fn window_begins(&mut self, fault: FaultId, until: Instant) {
        self.active_until[fault.index()] = Some(until);
        if until != Instant::LIMIT {
            self.agenda.schedule(until, Class::FaultTransition, Event::WindowEnds { fault });
        }
        let plan = self.plan;
        for (service, server) in self.servers_struck_by(fault) {
            match plan.faults[fault.index()].effect {
                Effect::Pause => self.pause(service, server, until),
                Effect::Crash => self.crash(service, server),
                _ => {}
            }
        }
    }

    pub(super) fn window_ends(&mut self, fault: FaultId) {
        self.active_until[fault.index()] = None;
        self.schedule_next_window(fault);
        if let Effect::Capacity { .. } = self.plan.faults[fault.index()].effect {
            for (service, server) in self.servers_struck_by(fault) {
                self.free_idle_workers(service, server);
            }
        }
    }

    /// The servers of the services that a fault is on, as far as it strikes them.
    fn servers_struck_by(&self, id: FaultId) -> Vec<(ServiceId, u32)> {
        let fault = &self.plan.faults[id.index()];
        let services = fault.targets.iter().filter_map(|target| match *target {
            Target::Service(service) => Some(service),
            Target::Call(_) | Target::Group(_) => None,
        });
        let servers = services.flat_map(|service| {
            let instances = self.plan.services[service.index()].capacity.instances;
            (0..instances).map(move |server| (service, server))
        });
        servers.filter(|&(_, server)| fault.strikes(server)).collect()
    }

    /// The faults that are active at a target, in file order, with the ends of their windows.
    fn active_at(&self, target: Target) -> impl Iterator<Item = (&'plan Fault, Instant)> {
        let active = self.plan.faults.iter().zip(&self.active_until);
        let active = active.filter_map(|(fault, until)| until.map(|until| (fault, until)));
        active.filter(move |(fault, _)| fault.targets.contains(&target))
    }

    /// The same, at a server.
    fn active_at_server(&self, service: ServiceId, server: u32) -> impl Iterator<Item = (&'plan Fault, Instant)> {
        self.active_at(Target::Service(service)).filter(move |(fault, _)| fault.strikes(server))
    }

    /// The first fault on its call that strikes an attempt which is sent decides.
    pub(super) fn way(&self, attempt: usize) -> Way {
        let Attempt { id, key, .. } = self.record.attempts[attempt];
        for (fault, _) in self.active_at(Target::Call(id)) {
            match &fault.effect {
                Effect::Fail(failure) if self.fails(fault, failure, key) => {
                    let delay = failure.delay.sample(mix(key, fault.key), Purpose::FaultDelay);
                    return Way::Fails(delay, Struck::by(failure));
                }
                Effect::BlackHole => return Way::NotConnected,
                &Effect::Loss { probability, direction: Direction::Request } if is_taken(fault, probability, key) => {
                    return Way::Lost;
                }
                _ => {}
            }
        }
        let settings = &self.plan.calls[id.index()];
        let mut takes = settings.network.sample(key, Purpose::Request);
        for (fault, _) in self.active_at(Target::Call(id)) {
            if let Effect::Slow { add, .. } = &fault.effect {
                takes = takes + add.sample(mix(key, fault.key), Purpose::FaultDelay);
            }
        }
        if takes > settings.connect_timeout.after { Way::NotConnected } else { Way::Arrives(takes) }
    }

    pub(super) fn is_black_hole(&self, service: ServiceId, server: u32) -> bool {
        self.active_at_server(service, server).any(|(fault, _)| fault.effect == Effect::BlackHole)
    }

    /// The first fault at a server that strikes an attempt which has arrived decides.
    pub(super) fn door(&self, service: ServiceId, server: u32, key: u64) -> Door {
        for (fault, _) in self.active_at_server(service, server) {
            match &fault.effect {
                Effect::Refuse | Effect::Crash => return Door::Refused,
                Effect::Fail(failure) if self.fails(fault, failure, key) => {
                    if failure.works {
                        return Door::Open(Some(Struck::by(failure)));
                    }
                    let delay = failure.delay.sample(mix(key, fault.key), Purpose::FaultDelay);
                    return Door::Fails(delay, failure.delay.is_zero(), Struck::by(failure));
                }
                _ => {}
            }
        }
        Door::Open(None)
    }

    /// Whether a `fail` strikes an attempt that asks now.
    fn fails(&self, fault: &Fault, failure: &Failure, key: u64) -> bool {
        let own = mix(key, fault.key);
        let epoch = mix(mix(self.replica_key, fault.key), self.now.as_ns() / failure.epoch.as_ns());
        let shares = happens(draw(own, Purpose::Shares), failure.correlation);
        let luck = if shares { draw(epoch, Purpose::Epoch) } else { draw(own, Purpose::Fault) };
        happens(luck, failure.probability)
    }

    /// Whether the answer to an attempt does not reach its caller.
    pub(super) fn answer_is_lost(&self, call: CallId, key: u64) -> bool {
        self.active_at(Target::Call(call)).any(|(fault, _)| match fault.effect {
            Effect::Loss { probability, direction: Direction::Response } => is_taken(fault, probability, key),
            _ => false,
        })
    }

    /// How long service takes that begins now at a server and would take `time` elsewhere.
    pub(super) fn slowed(&self, service: ServiceId, server: u32, key: u64, time: Span) -> Span {
        self.active_at_server(service, server).fold(time, |time, (fault, _)| match &fault.effect {
            Effect::Slow { factor, add } => {
                let add = add.sample(mix(key, fault.key), Purpose::FaultDelay);
                Span::from_ns_f64(time.as_ns() as f64 * factor) + add
            }
            _ => time,
        })
    }

    /// Whether service that begins now at a server takes no time, and never could take any.
    pub(super) fn serves_in_no_time(&self, service: ServiceId, server: u32) -> bool {
        let adds = |fault: &Fault| matches!(&fault.effect, Effect::Slow { add, .. } if !add.is_zero());
        let service_time = &self.plan.services[service.index()].service_time;
        service_time.is_zero() && !self.active_at_server(service, server).any(|(fault, _)| adds(fault))
    }

    /// When the pause of a server ends, if it is paused.
    pub(super) fn paused_until(&self, service: ServiceId, server: u32) -> Option<Instant> {
        let pauses = self.active_at_server(service, server).filter(|(fault, _)| fault.effect == Effect::Pause);
        // It may be that another fault ends at the same instant, and this one is still to.
        pauses.map(|(_, until)| until).filter(|&until| until > self.now).max()
    }

    /// How many workers a server has now.
    pub(super) fn workers(&self, service: ServiceId, server: u32) -> u32 {
        let all = self.plan.services[service.index()].capacity.workers;
        self.active_at_server(service, server).fold(all, |workers, (fault, _)| match fault.effect {
            Effect::Capacity { factor } => workers_left(workers, factor),
            _ => workers,
        })
    }
}

/// Whether a message of an attempt is lost.
fn is_taken(fault: &Fault, probability: u64, key: u64) -> bool {
    happens(draw(mix(key, fault.key), Purpose::Loss), probability)
}

impl Struck {
    fn by(failure: &Failure) -> Self {
        Self { error: failure.error, retry_after: failure.retry_after }
    }
}
