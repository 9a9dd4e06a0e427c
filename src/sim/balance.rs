//! The balancer: which server of its target an attempt goes to.

use std::cmp::Reverse;

use crate::dist::{Purpose, below, draw};
use crate::plan::Balance;
use crate::sim::frames::{NONE, Visit, WorkFrame};
use crate::sim::replica::Replica;
use crate::sim::server::Server;
use crate::sim::tap::{Note, Tap};

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
        let candidates = Candidates { servers: servers.len() as u32, avoid };
        let server = match capacity.balance {
            Balance::RoundRobin => {
                let server = candidates.from(station.next);
                station.next = (server + 1) % capacity.instances;
                server
            }
            Balance::Random => candidates.drawn(draw(key, Purpose::Server)),
            Balance::LeastLoaded => least_loaded(servers, avoid),
            Balance::TwoChoices => two_choices(servers, candidates, key),
            Balance::Primary => candidates.from(0),
            Balance::ByCopy => candidates.from(copy % capacity.instances),
        };
        self.tap.note(self.now, Note::Placed { key, server });
        if plan.calls[call.index()].avoid_previous && caller != NONE {
            self.extras[caller as usize].server = server;
        }
        server
    }
}

/// The servers to pick from: all but the one to avoid, if there is one.
#[derive(Clone, Copy)]
struct Candidates {
    /// How many servers there are; at least 2.
    servers: u32,
    /// Which of them is none to pick, or [`NONE`].
    avoid: u32,
}

impl Candidates {
    /// This one, or the next after it that may be picked.
    fn from(self, server: u32) -> u32 {
        if server == self.avoid { (server + 1) % self.servers } else { server }
    }

    /// One by a draw.
    fn drawn(self, draw: u64) -> u32 {
        if self.avoid == NONE {
            return below(draw, self.servers.into()) as u32;
        }
        let position = below(draw, u64::from(self.servers) - 1) as u32;
        position + u32::from(position >= self.avoid)
    }
}

fn least_loaded(servers: &[Server], avoid: u32) -> u32 {
    let candidates = (0..).zip(servers).filter(|&(number, _)| number != avoid);
    let least = candidates.min_by_key(|(_, server)| server.load);
    least.expect("of several servers at most one is avoided").0
}

/// Two different ones by two draws, and of these the one with less load.
fn two_choices(servers: &[Server], candidates: Candidates, key: u64) -> u32 {
    let first = candidates.drawn(draw(key, Purpose::Server));
    let others = u64::from(candidates.servers) - 1 - u64::from(candidates.avoid != NONE);
    if others == 0 {
        return first;
    }
    let mut second = below(draw(key, Purpose::OtherServer), others) as u32;
    let mut taken = [first, candidates.avoid];
    taken.sort_unstable();
    // In ascending order, so that each number that is skipped moves those after it up.
    for number in taken {
        second += u32::from(second >= number);
    }
    let load = |number: u32| servers[number as usize].load;
    // Of equal ones `max_by_key` takes the last.
    [second, first].into_iter().max_by_key(|&number| Reverse(load(number))).expect("there are two")
}
