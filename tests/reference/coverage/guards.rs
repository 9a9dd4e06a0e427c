//! What breakers and throttles do, of what the rules treat in a way of its own.

use stormsim::dist::{Purpose, draw};
use stormsim::failure::ErrorKind;
use stormsim::plan::CallId;
use stormsim::policy::{Badness, Breaker, Counts, Over, Position, ThrottleRule, Trip};
use stormsim::time::Span;

use crate::reference::record::{Attempt, AttemptEnd, BreakerMove, BreakerStep, Call, Caller};

use super::Cases;
use super::pools::got_no_slot;

impl Cases<'_> {
    pub(super) fn breakers(&self) -> Vec<(&'static str, bool)> {
        let rejected = |shows: &dyn Fn(&Attempt) -> bool| {
            self.attempt(|it| is_turned_away(it, ErrorKind::BreakerOpen) && shows(it))
        };
        let rejected_call = |shows: &dyn Fn(&Call) -> bool| {
            self.call(|it| it.started == 0 && is_error(it, ErrorKind::BreakerOpen) && shows(it))
        };
        let opens = |shows: &dyn Fn(&Breaker, &BreakerStep) -> bool| {
            self.step(|rule, it| it.what == BreakerMove::Opens && shows(rule, it))
        };
        let is_client = |it: &BreakerStep| matches!(self.record.calls[it.by].caller, Caller::Request(_));
        let kind =
            |position: Position, counts: Counts| opens(&|rule, _| rule.position == position && rule.counts == counts);
        let goes_on = |it: &Attempt| self.record.calls[it.call].started > it.number;
        vec![
            ("a first attempt that a breaker rejects", rejected(&|it| it.number == 1)),
            ("a retry that a breaker rejects", rejected(&|it| it.number > 1)),
            ("rejected by a breaker and tried again", rejected(&goes_on)),
            (
                "let through by a breaker that had rejected it",
                self.step(|_, it| it.what == BreakerMove::HalfOpens && self.record.calls[it.by].started > 1),
            ),
            ("a call that a breaker rejects", rejected_call(&|_| true)),
            (
                "a fallback of a call that a breaker rejects",
                rejected_call(&|it| self.plan.calls[it.id.index()].fallback.is_some()),
            ),
            ("a breaker inside that counts attempts", kind(Position::Inside, Counts::Attempts)),
            ("a breaker inside that counts calls", kind(Position::Inside, Counts::Calls)),
            ("a breaker outside that counts attempts", kind(Position::Outside, Counts::Attempts)),
            ("a breaker outside that counts calls", kind(Position::Outside, Counts::Calls)),
            (
                "a call that counts whose last attempt was not sent",
                self.step(|rule, it| {
                    let is_counted = matches!(it.what, BreakerMove::Opens | BreakerMove::OpensAgain);
                    let last = self.last_attempt(&self.record.calls[it.by]);
                    rule.counts == Counts::Calls && is_counted && last.is_some_and(|last| last.sent.is_none())
                }),
            ),
            ("a client's own breaker", opens(&|_, it| self.whose(it).1 > 0 && is_client(it))),
            ("a server's own breaker", opens(&|_, it| self.whose(it).1 > 0 && !is_client(it))),
            (
                "a breaker that opens for a time that is drawn",
                opens(&|rule, _| {
                    rule.open.wait(1, Span::ZERO, draw(1, Purpose::Open))
                        != rule.open.wait(1, Span::ZERO, draw(2, Purpose::Open))
                }),
            ),
            (
                "a breaker that opens for a longer time",
                self.step(|rule, it| it.what == BreakerMove::OpensAgain && rule.open.nominal(2) > rule.open.nominal(1)),
            ),
            (
                "a breaker that opens again after it has closed",
                opens(&|_, it| self.moved_before(it, BreakerMove::Closes)),
            ),
        ]
    }

    pub(super) fn trips(&self) -> Vec<(&'static str, bool)> {
        let trips =
            |shows: &dyn Fn(&Trip) -> bool| self.step(|rule, it| it.what == BreakerMove::Opens && shows(&rule.trip));
        let last = |it: &BreakerStep| self.last_attempt(&self.record.calls[it.by]);
        let is_slow_trip = |it: &Trip| matches!(it, Trip::Ratio { of: Badness::SlowerThan(_), .. });
        let is_success = |it: &Attempt| it.end() == Some(AttemptEnd::Answered(Ok(())));
        vec![
            ("one failure that opens a breaker", trips(&|it| *it == Trip::Consecutive(1))),
            ("several in a row that open a breaker", trips(&|it| matches!(it, Trip::Consecutive(2..)))),
            (
                "several in a sliding window that open a breaker",
                trips(&|it| matches!(it, Trip::Count { failures: 2.., sliding: true, .. })),
            ),
            (
                "several in a fixed window that open a breaker",
                trips(&|it| matches!(it, Trip::Count { failures: 2.., sliding: false, .. })),
            ),
            (
                "a share of calls that opens a breaker",
                trips(&|it| matches!(it, Trip::Ratio { of: Badness::Failure, over: Over::Calls(_), .. })),
            ),
            (
                "a share of a time that opens a breaker",
                trips(&|it| matches!(it, Trip::Ratio { of: Badness::Failure, over: Over::Time(_), .. })),
            ),
            ("a share of slow ones that opens a breaker", trips(&|it| is_slow_trip(it))),
            (
                "a success that opens a breaker",
                self.step(|_, it| it.what == BreakerMove::Opens && last(it).is_some_and(is_success)),
            ),
            (
                "a fast failure that is not slow",
                self.step(|rule, it| {
                    it.what == BreakerMove::Closes && is_slow_trip(&rule.trip) && !last(it).is_some_and(is_success)
                }),
            ),
            (
                "an error that is no failure for a breaker",
                self.attempt(|it| {
                    let guard = self.settings(it).breaker.as_ref();
                    let Some(AttemptEnd::Answered(Err(error))) = it.end() else { return false };
                    guard.is_some_and(|guard| {
                        guard.rule.counts == Counts::Attempts && !guard.rule.failure_on.contains(error)
                    })
                }),
            ),
        ]
    }

    pub(super) fn probes(&self) -> Vec<(&'static str, bool)> {
        let moves =
            |to: BreakerMove, shows: &dyn Fn(&Breaker) -> bool| self.step(|rule, it| it.what == to && shows(rule));
        let is_several = |it: &Breaker| it.half_open > 1 && it.half_open != Breaker::NO_LIMIT;
        let is_ratio = |it: &Breaker| matches!(it.trip, Trip::Ratio { .. });
        let taken_back = |shows: &dyn Fn(&Breaker, &Call) -> bool| {
            self.step(|rule, it| it.what == BreakerMove::TakesBackProbe && shows(rule, &self.record.calls[it.by]))
        };
        let last = |call: &Call, shows: &dyn Fn(&Attempt) -> bool| self.last_attempt(call).is_some_and(shows);
        let ignored_after = |to: BreakerMove| {
            self.step(|_, it| it.what == BreakerMove::IgnoresOutcome && self.last_move(it) == Some(to))
        };
        vec![
            ("rejected while a breaker is open", moves(BreakerMove::Rejects, &|_| true)),
            ("rejected while probes are under way", moves(BreakerMove::RejectsProbe, &|_| true)),
            ("a breaker that its only probe closes", moves(BreakerMove::Closes, &|it| it.half_open == 1)),
            ("a breaker that several probes close", moves(BreakerMove::Closes, &|it| is_several(it) && !is_ratio(it))),
            (
                "a breaker that a share of probes closes",
                moves(BreakerMove::Closes, &|it| is_several(it) && is_ratio(it)),
            ),
            ("a breaker that any probe closes", moves(BreakerMove::Closes, &|it| it.half_open == Breaker::NO_LIMIT)),
            ("a breaker that its only probe opens", moves(BreakerMove::OpensAgain, &|it| it.half_open == 1)),
            (
                "a breaker that one of several probes opens",
                moves(BreakerMove::OpensAgain, &|it| is_several(it) && !is_ratio(it)),
            ),
            (
                "a breaker that a share of probes opens",
                moves(BreakerMove::OpensAgain, &|it| is_several(it) && is_ratio(it)),
            ),
            ("a breaker that any probe opens", moves(BreakerMove::OpensAgain, &|it| it.half_open == Breaker::NO_LIMIT)),
            (
                "a probe without a slot",
                taken_back(&|rule, call| rule.position == Position::Inside && last(call, &got_no_slot)),
            ),
            (
                "a probe that is throttled",
                taken_back(&|rule, call| {
                    let is_throttled = |it: &Attempt| is_turned_away(it, ErrorKind::Throttled);
                    rule.position == Position::Inside && last(call, &is_throttled)
                }),
            ),
            ("a probe that is abandoned", taken_back(&|_, call| call.abandoned.is_some())),
            (
                "an attempt that is a probe of a breaker of calls",
                taken_back(&|rule, _| rule.position == Position::Inside && rule.counts == Counts::Calls),
            ),
            ("an outcome while the breaker is open", ignored_after(BreakerMove::Opens)),
            ("an outcome while the breaker is open again", ignored_after(BreakerMove::OpensAgain)),
            ("an outcome from before the probes", ignored_after(BreakerMove::HalfOpens)),
            ("an outcome after the breaker has closed again", ignored_after(BreakerMove::Closes)),
        ]
    }

    pub(super) fn throttles(&self) -> Vec<(&'static str, bool)> {
        let rule = |it: &Attempt| self.settings(it).throttle.as_deref().map(|guard| guard.rule);
        let throttled =
            |shows: &dyn Fn(&Attempt) -> bool| self.attempt(|it| is_turned_away(it, ErrorKind::Throttled) && shows(it));
        let by = |is: fn(&ThrottleRule) -> bool| throttled(&|it| rule(it).is_some_and(|rule| is(&rule.rule)));
        let is_adaptive =
            |it: &Attempt| rule(it).is_some_and(|rule| matches!(rule.rule, ThrottleRule::Adaptive { .. }));
        let has_own = |it: &Attempt| {
            let by_instance = self.settings(it).throttle.as_deref().is_some_and(|guard| guard.by_instance);
            by_instance && self.instance(&self.record.calls[it.call]) > 0
        };
        let same = |one: &Attempt, other: &Attempt| one.id == other.id;
        vec![
            ("held back by adaptive throttling", by(|it| matches!(it, ThrottleRule::Adaptive { .. }))),
            ("held back by admission control", by(|it| matches!(it, ThrottleRule::Admission { .. }))),
            ("held back and tried again", throttled(&|it| self.record.calls[it.call].started > it.number)),
            ("a retry that is held back", throttled(&|it| it.number > 1)),
            ("held back by the throttle of an instance", throttled(&has_own)),
            (
                "held back after a breaker has let it through",
                throttled(&|it| {
                    self.settings(it).breaker.as_deref().is_some_and(|guard| guard.rule.position == Position::Inside)
                }),
            ),
            (
                "a request without a slot that a throttle takes back",
                self.attempt(|it| is_adaptive(it) && got_no_slot(it)),
            ),
            (
                "an abandoned request that a throttle takes back",
                self.attempt(|it| is_adaptive(it) && it.end() == Some(AttemptEnd::Abandoned)),
            ),
            (
                "let through after others were held back",
                self.attempt(|it| {
                    let later = |other: &Attempt| same(it, other) && other.started < it.started;
                    it.sent.is_some() && throttled(&|other| later(other))
                }),
            ),
            (
                "an error that is no failure for a throttle",
                self.attempt(|it| {
                    let Some(AttemptEnd::Answered(Err(error))) = it.end() else { return false };
                    rule(it).is_some_and(|rule| !rule.failure_on.contains(error))
                }),
            ),
        ]
    }

    /// Whether anything happened to a breaker as `shows` of that and its rule.
    fn step(&self, shows: impl Fn(&Breaker, &BreakerStep) -> bool) -> bool {
        self.record.breakers.iter().any(|it| {
            let guard = self.plan.calls[self.record.calls[it.by].id.index()].breaker.as_deref();
            shows(&guard.expect("it has a breaker").rule, it)
        })
    }

    /// The moves of a breaker before a step.
    fn moves_before<'a>(&'a self, step: &'a BreakerStep) -> impl DoubleEndedIterator<Item = BreakerMove> + 'a {
        let steps = self.record.breakers.iter();
        let before = steps.take_while(move |it| !std::ptr::eq(*it, step)).collect::<Vec<_>>().into_iter();
        let its = before.filter(move |it| self.whose(it) == self.whose(step));
        its.map(|it| it.what).filter(|what| what.is_move())
    }

    /// The call that a breaker guards, and the instance of its caller, or 0 for all.
    fn whose(&self, step: &BreakerStep) -> (CallId, u32) {
        let call = &self.record.calls[step.by];
        let guard = self.plan.calls[call.id.index()].breaker.as_deref().expect("it has a breaker");
        (call.id, if guard.by_instance { self.instance(call) } else { 0 })
    }

    fn last_move(&self, step: &BreakerStep) -> Option<BreakerMove> {
        self.moves_before(step).next_back()
    }

    fn moved_before(&self, step: &BreakerStep, what: BreakerMove) -> bool {
        self.moves_before(step).any(|it| it == what)
    }

    /// The attempt that a call has started last.
    fn last_attempt(&self, call: &Call) -> Option<&Attempt> {
        let its = |it: &&Attempt| self.record.calls[it.call].key == call.key && it.number == call.started;
        self.record.attempts.iter().find(its)
    }
}

fn is_turned_away(attempt: &Attempt, error: ErrorKind) -> bool {
    attempt.end() == Some(AttemptEnd::TurnedAway(error))
}

fn is_error(call: &Call, error: ErrorKind) -> bool {
    matches!(call.result(), Some(Err((its, _))) if its == error)
}
