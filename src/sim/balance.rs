//! The balancer: which server of its target an attempt goes to, and which servers get none for a while.

use std::cmp::Reverse;

use crate::dist::{Purpose, below, draw};
use crate::failure::ErrorKind;
use crate::plan::Balance;
use crate::sim::frames::{NONE, Visit, WorkFrame};
use crate::sim::replica::Replica;
use crate::sim::server::Server;
use crate::sim::tap::{Note, Tap};
use crate::time::Instant;

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// Picks a server for an attempt that has arrived, from 0.
    pub(super) fn pick_server(&mut self, work: u32) -> u32 {
        let plan = self.plan;
        let WorkFrame { key, service, caller, call, .. } = self.works[work];
        let capacity = &plan.services[service.index()].capacity;
        if capacity.instances == 1 {
            return 0;
        }
        let Visit { avoid, copy, .. } = self.servers.visits[work as usize];
        let station = &mut self.servers.stations[service.index()];
        let first = station.first as usize;
        let servers = &self.servers.list[first..first + capacity.instances as usize];
        let is_ejecting = self.now < station.ejected_until;
        let candidates = Candidates::new(servers, avoid, is_ejecting.then_some(self.now));
        let server = match capacity.balance {
            Balance::RoundRobin => {
                let server = candidates.from(station.next);
                station.next = (server + 1) % capacity.instances;
                server
            }
            Balance::Random => candidates.drawn(draw(key, Purpose::Server)),
            Balance::LeastLoaded => candidates.least_loaded(),
            Balance::TwoChoices => candidates.better_of_two(key),
            Balance::Primary => candidates.from(0),
            Balance::ByCopy => candidates.from(copy % capacity.instances),
        };
        self.tap.note(self.now, Note::Placed { key, server });
        if plan.calls[call.index()].avoid_previous && caller != NONE {
            self.extras[caller as usize].server = server;
        }
        server
    }

    /// An attempt has been answered in time, or has timed out: what that says about the server that it went to.
    #[inline(always)]
    pub(super) fn tell_balancer(&mut self, work: u32, error: Option<ErrorKind>) {
        if self.servers.ejects && self.works[work].server != NONE {
            self.judge_server(work, error);
        }
    }

    #[inline(never)]
    fn judge_server(&mut self, work: u32, error: Option<ErrorKind>) {
        let WorkFrame { service, server, .. } = self.works[work];
        let capacity = &self.plan.services[service.index()].capacity;
        let Some(ejection) = &capacity.ejection else { return };
        let now = self.now;
        let station = &mut self.servers.stations[service.index()];
        let first = station.first as usize;
        let servers = &self.servers.list[first..first + capacity.instances as usize];
        let ejected = || servers.iter().filter(|server| server.ejection.is_ejected(now)).count() as u32;
        let mut state = self.servers.list[server as usize].ejection;
        let is_ejected = ejection.count(&mut state, error, ejected, now);
        self.servers.list[server as usize].ejection = state;
        if is_ejected {
            station.ejected_until = station.ejected_until.max(state.until());
            self.tap.note(now, Note::Ejected { service, server: server - first as u32 });
            self.recorder.ejected(service);
        }
    }
}

/// The servers to pick from: those that are not ejected, or all if all are; and of these not the one to avoid, if there
/// is another.
#[derive(Clone, Copy)]
struct Candidates<'s> {
    /// All there are; at least 2.
    servers: &'s [Server],
    /// Which of them is none to pick, or [`NONE`].
    avoid: u32,
    /// The present, if there is one to pick and one that is ejected.
    ejecting: Option<Instant>,
    /// How many there are to pick from.
    count: u32,
}

impl<'s> Candidates<'s> {
    fn new(servers: &'s [Server], avoid: u32, ejecting: Option<Instant>) -> Self {
        let count = servers.len() as u32;
        let all = Self { servers, avoid: NONE, ejecting: None, count };
        let Some(now) = ejecting else {
            return Self { avoid, count: count - u32::from(avoid != NONE), ..all };
        };
        let left = |candidates: Self| (0..count).filter(|&number| candidates.allow(number)).count() as u32;
        let none_ejected = match left(Self { ejecting, ..all }) {
            0 => all,
            count => Self { ejecting: Some(now), count, ..all },
        };
        match left(Self { avoid, ..none_ejected }) {
            0 => none_ejected,
            count => Self { avoid, count, ..none_ejected },
        }
    }

    /// Whether this one may be picked.
    fn allow(self, number: u32) -> bool {
        let is_ejected = |now| self.servers[number as usize].ejection.is_ejected(now);
        number != self.avoid && !self.ejecting.is_some_and(is_ejected)
    }

    fn all(self) -> impl Iterator<Item = u32> {
        (0..self.servers.len() as u32).filter(move |&number| self.allow(number))
    }

    /// This one, or the next after it that may be picked; after the last comes the first.
    fn from(self, number: u32) -> u32 {
        let later = (number..self.servers.len() as u32).chain(0..number);
        later.into_iter().find(|&number| self.allow(number)).unwrap_or(number)
    }

    /// The one at this position.
    fn at(self, position: u32) -> u32 {
        if self.ejecting.is_none() {
            return position + u32::from(position >= self.avoid);
        }
        self.all().nth(position as usize).unwrap_or(0)
    }

    /// One by a draw.
    fn drawn(self, draw: u64) -> u32 {
        self.at(below(draw, self.count.into()) as u32)
    }

    fn load(self, number: u32) -> u32 {
        self.servers[number as usize].load
    }

    fn least_loaded(self) -> u32 {
        self.all().min_by_key(|&number| self.load(number)).unwrap_or(0)
    }

    /// Two different ones by two draws, and of these the one with less load.
    fn better_of_two(self, key: u64) -> u32 {
        let first = below(draw(key, Purpose::Server), self.count.into()) as u32;
        let others = u64::from(self.count) - 1;
        if others == 0 {
            return self.at(first);
        }
        let second = below(draw(key, Purpose::OtherServer), others) as u32;
        let second = second + u32::from(second >= first);
        // Of equal ones `max_by_key` takes the last.
        let two = [self.at(second), self.at(first)];
        two.into_iter().max_by_key(|&number| Reverse(self.load(number))).expect("there are two")
    }
}
