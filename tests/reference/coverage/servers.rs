//! What arrivals meet at finite servers, of what the rules treat in a way of its own.

use stormsim::dist::{Purpose, below, draw};
use stormsim::failure::Refusal;
use stormsim::plan::{Balance, Capacity, Contention, DropRule, Order};
use stormsim::policy::Limiter;

use crate::reference::record::{Attempt, Work, WorkEnd};

use super::Cases;

impl Cases<'_> {
    pub(super) fn capacity(&self, work: &Work) -> &Capacity {
        &self.plan.services[work.service.index()].capacity
    }

    pub(super) fn attempt_of(&self, work: &Work) -> &Attempt {
        &self.record.attempts[work.attempt]
    }

    pub(super) fn balancing(&self) -> Vec<(&'static str, bool)> {
        let placed = |by: Balance, shows: &dyn Fn(&Work) -> bool| {
            self.work(|it| {
                let Capacity { instances, balance, .. } = self.capacity(it);
                *instances > 1 && *balance == by && it.server.is_some() && shows(it)
            })
        };
        let key = |it: &Work| self.attempt_of(it).key;
        let instances = |it: &Work| u64::from(self.capacity(it).instances);
        let first_choice = |it: &Work| below(draw(key(it), Purpose::Server), instances(it)) as u32;
        let avoids = |it: &Work| self.settings(self.attempt_of(it)).avoid_previous;
        let previous = |it: &Work| self.attempt_of(it).avoids;
        let elsewhere = |it: &Work| avoids(it) && previous(it).is_some();
        vec![
            ("a server in turn", placed(Balance::RoundRobin, &|it| it.server > Some(0))),
            ("a server in turn that is left out", placed(Balance::RoundRobin, &elsewhere)),
            ("a server at random", placed(Balance::Random, &|it| it.server > Some(0))),
            ("a server at random, but not the previous", placed(Balance::Random, &elsewhere)),
            ("the server with the least load, not the lowest", placed(Balance::LeastLoaded, &|it| it.server > Some(0))),
            ("the server with the least load, but not the previous", placed(Balance::LeastLoaded, &elsewhere)),
            ("the first of two choices", placed(Balance::TwoChoices, &|it| it.server == Some(first_choice(it)))),
            (
                "the second of two choices",
                placed(Balance::TwoChoices, &|it| !elsewhere(it) && it.server != Some(first_choice(it))),
            ),
            ("two choices of those left", placed(Balance::TwoChoices, &elsewhere)),
            ("the primary server", placed(Balance::Primary, &|it| it.server == Some(0))),
            ("the server after the primary one", placed(Balance::Primary, &|it| elsewhere(it) && it.server > Some(0))),
            ("the server of a copy", placed(Balance::ByCopy, &|it| !elsewhere(it) && it.server > Some(0))),
            ("the server after that of a copy", placed(Balance::ByCopy, &elsewhere)),
            (
                "a retry at the same server",
                self.work(|it| instances(it) > 1 && !avoids(it) && previous(it).is_some() && previous(it) == it.server),
            ),
        ]
    }

    pub(super) fn doors(&self) -> Vec<(&'static str, bool)> {
        let turned_away = |by: Refusal, shows: &dyn Fn(&Capacity) -> bool| {
            self.work(|it| {
                matches!(it.ended, Some((_, WorkEnd::TurnedAway(refusal))) if refusal == by) && shows(self.capacity(it))
            })
        };
        let limited_by = |is: fn(&Limiter) -> bool| turned_away(Refusal::Limiter, &|it| is(&it.limiter));
        vec![
            ("above the limit of a window", limited_by(|it| matches!(it, Limiter::FixedWindow { .. }))),
            ("no token for an arrival", limited_by(|it| matches!(it, Limiter::TokenBucket { .. }))),
            (
                "let in by a limiter",
                self.work(|it| it.began.is_some() && self.capacity(it).limiter != Limiter::Unlimited),
            ),
            ("too many in flight", turned_away(Refusal::InFlight, &|_| true)),
            ("a full queue", turned_away(Refusal::Queue, &|_| true)),
            (
                "a full queue before too many are in flight",
                turned_away(Refusal::Queue, &|it| it.max_in_flight != Capacity::NO_LIMIT),
            ),
        ]
    }

    pub(super) fn queues(&self) -> Vec<(&'static str, bool)> {
        vec![
            ("a worker at once", self.work(|it| self.is_limited(it) && it.began.is_some() && it.queued.is_none())),
            ("the oldest first", self.takes(Order::Fifo, |it, left| it.arrived < left.arrived)),
            ("the newest first", self.takes(Order::Lifo, |it, left| it.arrived > left.arrived)),
            ("the oldest first for now", self.takes(Order::AdaptiveLifo, |it, left| it.arrived < left.arrived)),
            ("the newest first by now", self.takes(Order::AdaptiveLifo, |it, left| it.arrived > left.arrived)),
            ("dropped after its deadline", self.dropped(|rule, _| *rule == DropRule::Expired)),
            ("dropped with too little time", self.dropped(|rule, _| *rule == DropRule::DeadlineAware)),
            ("dropped as the queue is long", self.dropped(|rule, _| matches!(rule, DropRule::Codel(_)))),
            ("dropped as it arrives", self.dropped(|_, it| it.queued.is_none())),
            ("dropped while its caller waits", self.dropped(|_, it| !self.has_ended_before(it))),
            ("dropped when nobody waits", self.dropped(|_, it| self.has_ended_before(it))),
            (
                "several dropped before one begins",
                self.dropped(|_, it| {
                    let same_moment =
                        |other: &Work| other.ended.map(|(moment, _)| moment) == it.ended.map(|(moment, _)| moment);
                    self.work(|other| other.attempt != it.attempt && same_moment(other) && is_dropped(other))
                }),
            ),
            (
                "a deadline that is told decides in the queue",
                self.dropped(|rule, it| {
                    *rule == DropRule::Expired
                        && self.attempt_of(it).deadline_told.is_some()
                        && !self.has_ended_before(it)
                }),
            ),
        ]
    }

    pub(super) fn workers(&self) -> Vec<(&'static str, bool)> {
        let makes_calls = |it: &Work| self.is_limited(it) && !it.steps.is_empty();
        let lasted = |it: &Work| it.freed.zip(it.began).is_some_and(|(freed, began)| freed.at > began.at);
        vec![
            (
                "a worker kept while calls go on",
                self.work(|it| {
                    makes_calls(it) && self.capacity(it).holds_worker && it.has_worker_longer_than_service()
                }),
            ),
            (
                "a worker given back before the calls",
                self.work(|it| {
                    let ended = it.ended.map(|(moment, _)| moment.at);
                    makes_calls(it) && lasted(it) && it.freed.map(|freed| freed.at) < ended
                }),
            ),
            (
                "service slowed down",
                self.work(|it| {
                    let Contention { knee, .. } = self.capacity(it).contention;
                    let overlap = |other: &&Work| {
                        let there = (other.service, other.server) == (it.service, it.server);
                        there && other.began <= it.began && (other.freed.is_none() || other.freed > it.began)
                    };
                    let at_once = self.record.works.iter().filter(|other| other.began.is_some()).filter(overlap);
                    lasted(it) && at_once.count() as u64 > u64::from(knee)
                }),
            ),
            ("service that is awaited", self.spent(|awaited| awaited)),
            ("service that is wasted", self.spent(|awaited| !awaited)),
            (
                "service wasted though its own caller waits",
                self.work(|it| {
                    it.service_spent.is_some_and(|spent| {
                        let still_waits = self.attempt_of(it).ended.is_none_or(|(at, _)| at > spent.until);
                        spent.took.as_ns() > 0 && !spent.awaited && still_waits
                    })
                }),
            ),
        ]
    }

    fn is_limited(&self, work: &Work) -> bool {
        self.capacity(work).workers != Capacity::NO_LIMIT
    }

    fn spent(&self, shows: fn(bool) -> bool) -> bool {
        self.work(|it| it.service_spent.is_some_and(|spent| spent.took.as_ns() > 0 && shows(spent.awaited)))
    }

    fn dropped(&self, shows: impl Fn(&DropRule, &Work) -> bool) -> bool {
        self.work(|it| is_dropped(it) && shows(&self.capacity(it).queue.drop_rule, it))
    }

    fn has_ended_before(&self, work: &Work) -> bool {
        let ended = self.attempt_of(work).ended.map(|(at, _)| at);
        ended.is_some() && ended < work.ended.map(|(moment, _)| moment.at)
    }

    /// Whether a queue of this order let one begin and left another in it, as `shows` of the two.
    fn takes(&self, order: Order, shows: impl Fn(&Work, &Work) -> bool) -> bool {
        self.work(|it| {
            let Some((_, Some(taken))) = it.queued else { return false };
            let leaves = |other: &Work| {
                let there = (other.service, other.server) == (it.service, it.server);
                there
                    && other.queued.is_some_and(|(from, until)| from < taken && until.is_none_or(|until| until > taken))
            };
            self.capacity(it).queue.order == order
                && it.began == Some(taken)
                && self.work(|other| leaves(other) && shows(it, other))
        })
    }
}

fn is_dropped(work: &Work) -> bool {
    matches!(work.ended, Some((_, WorkEnd::Dropped)))
}

impl Work {
    fn has_worker_longer_than_service(&self) -> bool {
        self.service_spent.zip(self.freed).is_some_and(|(spent, freed)| freed.at > spent.until)
    }
}
