//! Which servers balancers eject, of what the rules treat in a way of its own.

use stormsim::plan::{Balance, ServiceId};
use stormsim::time::Instant;

use crate::reference::record::{Attempt, AttemptEnd, Ejected};

use super::{Cases, after};

impl Cases<'_> {
    pub(super) fn ejections(&self) -> Vec<(&'static str, bool)> {
        let ejected = |shows: &dyn Fn(&Ejected) -> bool| self.record.ejections.iter().any(shows);
        let because = |shows: &dyn Fn(&Attempt) -> bool| {
            ejected(&|it| {
                self.attempt(|attempt| {
                    self.is_at(attempt, it) && attempt.ended.is_some_and(|(at, _)| at == it.from) && shows(attempt)
                })
            })
        };
        let at_connect_timeout = |it: &Attempt| {
            let connects_until = it.sent.and_then(|sent| after(sent, self.settings(it).connect_timeout));
            it.swallowed.is_some() && it.ended.map(|(at, _)| at) == connects_until
        };
        let rule = |service: ServiceId| self.plan.services[service.index()].capacity.ejection;
        let same = |one: &Ejected, other: &Ejected| (one.service, one.server) == (other.service, other.server);
        let lasted = |it: &Ejected| it.until.since(it.from);
        let again = |shows: &dyn Fn(&Ejected, &Ejected) -> bool| {
            ejected(&|it| ejected(&|before| same(before, it) && before.from < it.from && shows(before, it)))
        };
        let during = |it: &Ejected, at: Instant| it.from < at && at < it.until;
        let tells = |it: &Attempt| matches!(it.end(), Some(AttemptEnd::Answered(_) | AttemptEnd::GivenUp));
        vec![
            ("ejected for one failure", ejected(&|it| rule(it.service).is_some_and(|rule| rule.consecutive == 1))),
            ("ejected for several in a row", ejected(&|it| rule(it.service).is_some_and(|rule| rule.consecutive > 1))),
            ("ejected for an answer", because(&|it| matches!(it.end(), Some(AttemptEnd::Answered(Err(_)))))),
            ("ejected for a timeout", because(&|it| it.end() == Some(AttemptEnd::GivenUp))),
            ("ejected for a black hole", because(&at_connect_timeout)),
            ("ejected for a hedge", because(&|it| it.hedge > 0)),
            ("ejected anew for longer", again(&|before, it| lasted(it) > lasted(before))),
            ("ejected anew for as long as may be", again(&|before, it| lasted(it) == lasted(before))),
            (
                "not ejected, as none may be",
                self.record.spared.iter().any(|&(_, id)| rule(id).is_some_and(|rule| rule.most == 0)),
            ),
            (
                "not ejected, as enough are",
                self.record.spared.iter().any(|&(_, id)| rule(id).is_some_and(|rule| rule.most > 0)),
            ),
            ("the only server is ejected", ejected(&|it| self.instances(it.service) == 1)),
            (
                "a failure at a server that is ejected",
                self.attempt(|it| {
                    let ended = it.ended.map(|(at, _)| at).filter(|_| tells(it));
                    ended.is_some_and(|at| ejected(&|ejection| self.is_at(it, ejection) && during(ejection, at)))
                }),
            ),
            (
                "a loser at a server that may be ejected",
                self.attempt(|it| {
                    let outrun = it.end() == Some(AttemptEnd::Outrun) && it.picked.is_some();
                    outrun && rule(self.settings(it).target).is_some()
                }),
            ),
        ]
    }

    pub(super) fn picks_beside_ejected(&self) -> Vec<(&'static str, bool)> {
        let placed = |by: Balance, shows: &dyn Fn(&Attempt, &[u32]) -> bool| {
            self.record.works.iter().any(|work| {
                let attempt = self.attempt_of(work);
                let ejected = self.ejected_at(work.service, work.arrived.at);
                self.capacity(work).balance == by
                    && self.instances(work.service) > 1
                    && work.server.is_some()
                    && !ejected.is_empty()
                    && shows(attempt, &ejected)
            })
        };
        let beside =
            |by: Balance| placed(by, &|it, ejected| it.picked.is_some_and(|picked| !ejected.contains(&picked)));
        let balances = [
            Balance::RoundRobin,
            Balance::Random,
            Balance::LeastLoaded,
            Balance::TwoChoices,
            Balance::Primary,
            Balance::ByCopy,
        ];
        let any = |shows: &dyn Fn(&Attempt, &[u32]) -> bool| balances.iter().any(|&by| placed(by, shows));
        let servers = |it: &Attempt| self.instances(self.settings(it).target);
        let avoids = |it: &Attempt| it.avoids.filter(|_| self.settings(it).avoid_previous);
        let all_ejected = |it: &Attempt, ejected: &[u32]| ejected.len() as u32 == servers(it);
        vec![
            ("in turn, beside a server that is ejected", beside(Balance::RoundRobin)),
            ("at random, beside a server that is ejected", beside(Balance::Random)),
            ("the least load beside a server that is ejected", beside(Balance::LeastLoaded)),
            ("two choices beside a server that is ejected", beside(Balance::TwoChoices)),
            (
                "the primary is ejected",
                placed(Balance::Primary, &|it, ejected| {
                    ejected.contains(&0) && it.picked.is_some_and(|picked| picked > 0)
                }),
            ),
            ("the server of a copy beside one that is ejected", beside(Balance::ByCopy)),
            ("all servers are ejected", any(&|it, ejected| all_ejected(it, ejected))),
            (
                "all servers are ejected, and one is avoided",
                any(&|it, ejected| all_ejected(it, ejected) && avoids(it).is_some() && it.picked != it.avoids),
            ),
            (
                "not the previous one, and none that is ejected",
                any(&|it, ejected| {
                    avoids(it).is_some_and(|avoided| !ejected.contains(&avoided)) && it.picked != it.avoids
                }),
            ),
            (
                "the previous one, as all others are ejected",
                any(&|it, ejected| avoids(it).is_some() && it.picked == it.avoids && !all_ejected(it, ejected)),
            ),
            (
                "a server that was ejected and is not",
                self.work(|work| {
                    let was = |it: &Ejected| {
                        (it.service, Some(it.server)) == (work.service, work.server) && it.until <= work.arrived.at
                    };
                    self.record.ejections.iter().any(was)
                }),
            ),
            (
                "a server at the instant at which it is back",
                self.work(|work| {
                    let is_back = |it: &Ejected| {
                        (it.service, Some(it.server)) == (work.service, work.server) && it.until == work.arrived.at
                    };
                    self.record.ejections.iter().any(is_back)
                }),
            ),
        ]
    }

    fn instances(&self, service: ServiceId) -> u32 {
        self.plan.services[service.index()].capacity.instances
    }

    /// Whether the server was picked for an attempt that is the one ejected.
    fn is_at(&self, attempt: &Attempt, ejected: &Ejected) -> bool {
        (self.settings(attempt).target, attempt.picked) == (ejected.service, Some(ejected.server))
    }

    /// The servers of a service that are ejected at an instant, whatever happens there.
    fn ejected_at(&self, service: ServiceId, at: Instant) -> Vec<u32> {
        let is_it = |it: &&Ejected| it.service == service && it.from < at && at < it.until;
        self.record.ejections.iter().filter(is_it).map(|it| it.server).collect()
    }
}
