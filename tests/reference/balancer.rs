//! The section "The balancer": which server an arrival goes to.

use stormsim::dist::{Purpose, below, draw};
use stormsim::plan::{Balance, ServiceId};
use stormsim::sim::Note;

use super::interpreter::Interpreter;
use super::record::{Attempt, Caller};

impl Interpreter<'_> {
    /// Sends an attempt that is about to arrive to a server. The call remembers it if its caller waits.
    pub(super) fn place(&mut self, attempt: usize, service: ServiceId) -> u32 {
        let Attempt { call, key, ended, .. } = self.record.attempts[attempt];
        let server = self.pick(attempt, service);
        if self.servers_of(service) > 1 {
            self.note(Note::Placed { key, server });
        }
        if ended.is_none() {
            self.record.calls[call].previous_server = Some(server);
        }
        server
    }

    fn servers_of(&self, service: ServiceId) -> u32 {
        self.plan.services[service.index()].capacity.instances
    }

    fn pick(&mut self, attempt: usize, service: ServiceId) -> u32 {
        let Attempt { call, id, key, avoids, .. } = self.record.attempts[attempt];
        let servers = self.servers_of(service);
        let avoided = avoids.filter(|_| self.plan.calls[id.index()].avoid_previous && servers > 1);
        let after = |server: u32| (server + 1) % servers;
        let that_or_the_next = |server: u32| if avoided == Some(server) { after(server) } else { server };

        let candidates: Vec<u32> = (0..servers).filter(|&server| avoided != Some(server)).collect();
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
                least.expect("at most one of several is avoided")
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

    /// How many attempts are in progress at a server, or were swallowed there and are waited for.
    fn load(&self, service: ServiceId, server: u32) -> usize {
        let there = self.record.works.iter().filter(|work| work.service == service && work.server == Some(server));
        let to_it = |attempt: &&Attempt| self.plan.calls[attempt.id.index()].target == service;
        let swallowed = self.record.attempts.iter().filter(to_it).filter(|attempt| attempt.swallowed == Some(server));
        let waited_for = swallowed.filter(|attempt| attempt.ended.is_none());
        there.filter(|work| work.ended.is_none()).count() + waited_for.count()
    }
}
