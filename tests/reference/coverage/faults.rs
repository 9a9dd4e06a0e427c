//! Whom faults strike, of what the rules treat in a way of its own.

use std::ops::Range;

use stormsim::dist::{Purpose, mix};
use stormsim::failure::Refusal;
use stormsim::plan::{Direction, Effect, Failure, Fault, Target, Windows};
use stormsim::policy::{Beyond, DelayRule, RetryPolicy};
use stormsim::time::{Instant, Span};

use crate::reference::record::{Attempt, AttemptEnd, Work, WorkEnd};

use super::{Cases, after};

impl Cases<'_> {
    /// The windows of a fault that begin in this replica.
    pub(super) fn windows(&self, fault: &Fault) -> impl Iterator<Item = Range<Instant>> {
        let end = self.record.end;
        fault.windows.of_replica(mix(self.replica_key, fault.key)).take_while(move |window| window.start <= end)
    }

    pub(super) fn is_active(&self, fault: &Fault, at: Instant) -> bool {
        self.windows(fault).any(|window| window.contains(&at))
    }

    /// The faults on the server of a work, active or not.
    pub(super) fn faults_at(&self, work: &Work) -> impl Iterator<Item = &Fault> {
        let (here, server) = (Target::Service(work.service), work.server);
        let faults = self.plan.faults.iter().filter(move |fault| fault.targets.contains(&here));
        faults.filter(move |fault| server.is_some_and(|server| fault.strikes(server)))
    }

    /// Whether a fault with such an effect is active on the call of an attempt when it is sent.
    fn meets_on_its_way(&self, attempt: &Attempt, is: impl Fn(&Effect) -> bool) -> bool {
        let on_it = |fault: &&Fault| fault.targets.contains(&Target::Call(attempt.id)) && is(&fault.effect);
        attempt.sent.is_some_and(|sent| self.plan.faults.iter().filter(on_it).any(|fault| self.is_active(fault, sent)))
    }

    pub(super) fn windows_of_faults(&self) -> Vec<(&'static str, bool)> {
        let arrives = |shows: &dyn Fn(&Fault, Instant) -> bool| {
            self.work(|it| self.faults_at(it).any(|fault| shows(fault, it.arrived.at)))
        };
        let later = |fault: &Fault, at: Instant| self.windows(fault).skip(1).any(|window| window.contains(&at));
        vec![
            (
                "an arrival as a fault begins",
                arrives(&|fault, at| self.windows(fault).any(|window| window.start == at)),
            ),
            ("an arrival as a fault ends", arrives(&|fault, at| self.windows(fault).any(|window| window.end == at))),
            (
                "an arrival in a window that comes again",
                arrives(&|fault, at| matches!(fault.windows, Windows::Repeated { .. }) && later(fault, at)),
            ),
            (
                "an arrival in a second random window",
                arrives(&|fault, at| matches!(fault.windows, Windows::Random { .. }) && later(fault, at)),
            ),
            (
                "a server that a fault spares",
                self.work(|it| {
                    let here = Target::Service(it.service);
                    let spares = |fault: &&Fault| {
                        fault.targets.contains(&here) && it.server.is_some_and(|server| !fault.strikes(server))
                    };
                    let mut faults = self.plan.faults.iter().filter(spares);
                    faults.any(|fault| self.is_active(fault, it.arrived.at))
                }),
            ),
        ]
    }

    pub(super) fn lost_on_the_way(&self) -> Vec<(&'static str, bool)> {
        let is_lost_at_once = |it: &Attempt| it.lost.is_some() && it.lost == it.sent;
        let connects_until = |it: &Attempt| it.sent.and_then(|sent| after(sent, self.settings(it).connect_timeout));
        let given_up = |it: &Attempt| match it.ended {
            Some((at, AttemptEnd::GivenUp)) => Some(at),
            _ => None,
        };
        let is_loss =
            |of: Direction| move |effect: &Effect| matches!(effect, Effect::Loss { direction, .. } if *direction == of);
        let hole =
            |it: &Attempt| is_lost_at_once(it) && self.meets_on_its_way(it, |effect| *effect == Effect::BlackHole);
        let is_answered = |it: &Attempt| matches!(it.ended, Some((_, AttemptEnd::Answered(Err(_)))));
        let takes = |it: &Attempt| self.settings(it).network.sample(it.key, Purpose::Request);
        vec![
            ("an error on the way", self.attempt(|it| is_lost_at_once(it) && is_answered(it))),
            ("an error on the way, too late", self.attempt(|it| is_lost_at_once(it) && it.answered_late.is_some())),
            (
                "a black hole on the way, until the connect timeout",
                self.attempt(|it| hole(it) && given_up(it).is_some() && given_up(it) == connects_until(it)),
            ),
            (
                "a black hole on the way, until the timeout",
                self.attempt(|it| hole(it) && given_up(it).is_some() && given_up(it) == self.timeout(it)),
            ),
            ("a black hole at a service", self.attempt(|it| it.lost > it.sent)),
            (
                "a black hole at a service, until the connect timeout",
                self.attempt(|it| it.lost > it.sent && given_up(it).is_some() && given_up(it) == connects_until(it)),
            ),
            ("given up before a black hole", self.attempt(|it| given_up(it).is_some() && it.lost > given_up(it))),
            (
                "a request that is lost on its connection",
                self.attempt(|it| {
                    let is_lost = is_lost_at_once(it) && self.meets_on_its_way(it, is_loss(Direction::Request));
                    is_lost && connects_until(it).is_some() && given_up(it) > connects_until(it)
                }),
            ),
            ("an answer that is lost", self.work(|it| self.has_lost_its_answer(it))),
            (
                "slow on the way",
                self.work(|it| {
                    let attempt = &self.record.attempts[it.attempt];
                    attempt.sent.is_some_and(|sent| it.arrived.at > sent + takes(attempt))
                }),
            ),
            (
                "too slow to connect",
                self.attempt(|it| {
                    let is_slow = |effect: &Effect| matches!(effect, Effect::Slow { .. });
                    let only = |effect: &Effect| !is_slow(effect);
                    let connects = takes(it) <= self.settings(it).connect_timeout.after;
                    let is_lost = is_lost_at_once(it) && connects && !self.meets_on_its_way(it, only);
                    is_lost && self.meets_on_its_way(it, is_slow)
                }),
            ),
        ]
    }

    /// Whether the answer to a work would have come by now.
    fn has_lost_its_answer(&self, work: &Work) -> bool {
        let attempt = &self.record.attempts[work.attempt];
        let has_it = attempt.answered_late.is_some() || matches!(attempt.ended, Some((_, AttemptEnd::Answered(_))));
        let takes = self.settings(attempt).network.sample(attempt.key, Purpose::Response);
        let answer = work.ended.filter(|(_, end)| matches!(end, WorkEnd::Success | WorkEnd::Error(_)));
        !has_it && answer.is_some_and(|(moment, _)| moment.at + takes < self.record.end)
    }

    pub(super) fn struck_at_the_door(&self) -> Vec<(&'static str, bool)> {
        let turned_away = |it: &Work, by: &[Refusal]| match it.ended {
            Some((_, WorkEnd::TurnedAway(refusal))) => by.contains(&refusal),
            _ => false,
        };
        let meets = |it: &Work, is: &dyn Fn(&Effect) -> bool| {
            self.faults_at(it).any(|fault| is(&fault.effect) && self.is_active(fault, it.arrived.at))
        };
        let fails = |shows: &dyn Fn(&Work) -> bool, is: fn(&Failure) -> bool| {
            self.work(|it| {
                let is_it = |effect: &Effect| matches!(effect, Effect::Fail(failure) if is(failure));
                it.struck.is_some() && meets(it, &is_it) && shows(it)
            })
        };
        let is_error = |it: &Work| matches!(it.ended, Some((_, WorkEnd::Error(_))));
        vec![
            (
                "turned away by a fault",
                self.work(|it| turned_away(it, &[Refusal::Fault]) && meets(it, &|effect| *effect == Effect::Refuse)),
            ),
            (
                "turned away as it has crashed",
                self.work(|it| turned_away(it, &[Refusal::Fault]) && meets(it, &|effect| *effect == Effect::Crash)),
            ),
            ("an error after a delay", fails(&|it| it.began.is_none() && is_error(it), |failure| !failure.works)),
            ("an error after work", fails(&|it| it.began.is_some() && is_error(it), |failure| failure.works)),
            (
                "struck, and turned away for another reason",
                fails(&|it| turned_away(it, &[Refusal::Limiter, Refusal::InFlight, Refusal::Queue]), |failure| {
                    failure.works
                }),
            ),
            ("struck together", fails(&|_| true, |failure| failure.correlation == u64::MAX)),
            ("struck together or alone", fails(&|_| true, |failure| (1..u64::MAX).contains(&failure.correlation))),
        ]
    }

    pub(super) fn delays_of_servers(&self) -> Vec<(&'static str, bool)> {
        let goes_on = |it: &Attempt| self.record.calls[it.call].started > it.number;
        let by = |rule: DelayRule| {
            self.delay_told(|it, policy, delay| {
                let minded = &policy.server_delay;
                goes_on(it) && minded.rule == rule && delay > Span::ZERO && delay <= minded.at_most
            })
        };
        vec![
            ("a delay that is ignored", by(DelayRule::Ignore)),
            ("a delay or a longer wait", by(DelayRule::Floor)),
            ("a delay in place of the wait", by(DelayRule::Replace)),
            (
                "a delay that is cut",
                self.delay_told(|it, policy, delay| {
                    let minded = &policy.server_delay;
                    let is_cut = minded.rule != DelayRule::Ignore && minded.beyond == Beyond::Clamp;
                    goes_on(it) && is_cut && delay > minded.at_most
                }),
            ),
            (
                "a delay that is too long",
                self.delay_told(|it, policy, delay| !goes_on(it) && policy.server_delay.refuses(delay)),
            ),
        ]
    }

    /// Whether there was an attempt whose answer carried a delay, after an error that its policy retries.
    pub(super) fn delay_told(&self, shows: impl Fn(&Attempt, &RetryPolicy, Span) -> bool) -> bool {
        self.work(|it| {
            let attempt = &self.record.attempts[it.attempt];
            let delay = match it.ended {
                Some((_, WorkEnd::TurnedAway(Refusal::Limiter))) => self.capacity(it).retry_after,
                Some((_, WorkEnd::Error(_))) => it.struck.and_then(|struck| struck.retry_after),
                _ => None,
            };
            let policy = self.plan.policy_of(attempt.id);
            matches!(attempt.ended, Some((_, AttemptEnd::Answered(Err(error)))) if policy.retry_on.contains(error))
                && delay.is_some_and(|delay| shows(attempt, policy, delay))
        })
    }
}
