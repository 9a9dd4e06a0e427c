//! The section "The balancer": which server an arrival goes to, and which servers nothing goes to.

use stormsim::dist::{Purpose, below, draw};
use stormsim::failure::ErrorKind;
use stormsim::plan::{Balance, ServiceId};
use stormsim::sim::Note;

use super::interpreter::Interpreter;
use super::record::{Attempt, Caller, Ejected};

impl Interpreter<'_> {
    /// Sends an attempt that is about to arrive to a server. The call remembers it if its caller waits.
    pub(super) fn place(&mut self, attempt: usize, service: ServiceId) -> u32 {
        let Attempt { call, key, ended, .. } = self.record.attempts[attempt];
        let server = self.pick(attempt, service);
        if self.servers_of(service) > 1 {
            self.note(Note::Placed { key, server });
        }
        self.record.attempts[attempt].picked = Some(server);
        if ended.is_none() {
            self.record.calls[call].previous_server = Some(server);
        }
        server
    }

    fn servers_of(&self, service: ServiceId) -> u32 {
        self.plan.services[service.index()].capacity.instances
    }

    fn pick(&mut self, attempt: usize, service: ServiceId) -> u32 {
        let Attempt { call, key, .. } = self.record.attempts[attempt];
        let servers = self.servers_of(service);
        let after = |server: u32| (server + 1) % servers;
        let candidates = self.candidates(attempt, service);
        let that_or_the_next = |server: u32| {
            let in_turn = std::iter::successors(Some(server), |&server| Some(after(server)));
            in_turn.take(servers as usize).find(|server| candidates.contains(server)).expect("one of them is")
        };
        let drawn_from = |of: &[u32], purpose| of[below(draw(key, purpose), of.len() as u64) as usize];
        match self.plan.services[service.index()].capacity.balance {
            Balance::RoundRobin => {
                let counter = &mut self.counters[service.index()];
                let picked = that_or_the_next(*counter);
                *counter = after(picked);
                picked
            }
            Balance::Random => drawn_from(&candidates, Purpose::Server),
            Balance::LeastLoaded => {
                let least = candidates.into_iter().min_by_key(|&server| (self.load(service, server), server));
                least.expect("there always is a candidate")
            }
            Balance::TwoChoices => {
                let first = drawn_from(&candidates, Purpose::Server);
                let others: Vec<u32> = candidates.into_iter().filter(|&server| server != first).collect();
                if others.is_empty() {
                    return first;
                }
                let second = drawn_from(&others, Purpose::OtherServer);
                if self.load(service, second) < self.load(service, first) { second } else { first }
            }
            Balance::Primary => candidates[0],
            Balance::ByCopy => {
                let copy = match self.record.calls[call].caller {
                    Caller::Request(_) => 0,
                    Caller::Work(place) => place.copy,
                };
                that_or_the_next(copy % servers)
            }
        }
    }

    /// The servers that may be picked for an attempt, in ascending order.
    fn candidates(&self, attempt: usize, service: ServiceId) -> Vec<u32> {
        let Attempt { id, avoids, .. } = self.record.attempts[attempt];
        let avoided = avoids.filter(|_| self.plan.calls[id.index()].avoid_previous);
        let mut there: Vec<u32> = (0..self.servers_of(service)).collect();
        if there.iter().any(|&server| !self.is_ejected(service, server)) {
            there.retain(|&server| !self.is_ejected(service, server));
        }
        if there.iter().any(|&server| avoided != Some(server)) {
            there.retain(|&server| avoided != Some(server));
        }
        there
    }

    fn is_ejected(&self, service: ServiceId, server: u32) -> bool {
        let is_it = |it: &&Ejected| (it.service, it.server) == (service, server);
        self.record.ejections.iter().filter(is_it).any(|it| (it.from..it.until).contains(&self.now))
    }

    /// An attempt was answered in time, with an error or with success, or was given up at a timer.
    pub(super) fn count_for_server(&mut self, attempt: usize, error: Option<ErrorKind>) {
        let Attempt { id, picked, .. } = self.record.attempts[attempt];
        let service = self.plan.calls[id.index()].target;
        let Some(rule) = &self.plan.services[service.index()].capacity.ejection else { return };
        let Some(server) = picked else { return };
        let ejected = (0..self.servers_of(service)).filter(|&server| self.is_ejected(service, server)).count() as u32;
        let state = &mut self.ejections[service.index()][server as usize];
        let mut is_due = false;
        let ask = || {
            is_due = true;
            ejected
        };
        if rule.count(state, error, ask, self.now) {
            let (from, until) = (self.now, state.until());
            self.record.ejections.push(Ejected { service, server, from, until });
            self.note(Note::Ejected { service, server });
        } else if is_due {
            self.record.spared.push((self.now, service));
        }
    }

    /// How many attempts are in progress at a server, or were swallowed there and are waited for.
    fn load(&self, service: ServiceId, server: u32) -> usize {
        let there = self.record.works.iter().filter(|work| work.service == service && work.server == Some(server));
        let to_it = |attempt: &&Attempt| self.plan.calls[attempt.id.index()].target == service;
        let swallowed = self.record.attempts.iter().filter(to_it).filter(|attempt| attempt.swallowed == Some(server));
        let waited_for = swallowed.filter(|attempt| attempt.ended.is_none());
        there.filter(|work| work.ended.is_none()).count() + waited_for.count()
    }
}
