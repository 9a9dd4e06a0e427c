//! The section "Breakers and throttles": what callers ask before they send anything.

use stormsim::dist::{Purpose, draw};
use stormsim::failure::ErrorKind;
use stormsim::plan::{CallId, Guard};
use stormsim::policy::{Breaker, BreakerPhase, Counts, Ended, Position, Throttle};
use stormsim::sim::Note;
use stormsim::time::Instant;

use super::interpreter::Interpreter;
use super::record::{Attempt, BreakerMove, BreakerStep, Call, LetThrough};

impl<'plan> Interpreter<'plan> {
    /// Whether a breaker that stands here lets a call through, or its next attempt.
    pub(super) fn breaker_admits(&mut self, call: usize, position: Position) -> bool {
        let Some((rule, id, instance)) = self.breaker_of(call).filter(|(rule, ..)| rule.position == position) else {
            return true;
        };
        let now = self.now;
        let state = self.breakers.entry((id, instance)).or_insert_with(|| rule.start());
        let was_open = matches!(state.phase(), BreakerPhase::Open { .. });
        let admission = rule.admit(state, now);
        let is_half_open = matches!(state.phase(), BreakerPhase::HalfOpen { .. });
        if was_open && is_half_open {
            self.breaker_step(call, BreakerMove::HalfOpens);
        }
        if admission.is_none() {
            self.breaker_step(call, if is_half_open { BreakerMove::RejectsProbe } else { BreakerMove::Rejects });
        }
        let let_through = admission.map(|admission| LetThrough {
            admission,
            moves: self.moves(id, instance),
            is_probe: is_half_open,
            is_counted: false,
            is_over: false,
            was_sent: false,
        });
        let is_let_through = let_through.is_some();
        let this = &mut self.record.calls[call];
        this.let_through = let_through.or(this.let_through);
        is_let_through
    }

    /// Whether the throttle lets an attempt through.
    pub(super) fn throttle_admits(&mut self, attempt: usize) -> bool {
        let Attempt { call, key, .. } = self.record.attempts[attempt];
        let Some((rule, id, instance)) = self.throttle_of(call) else { return true };
        let state = self.throttles.entry((id, instance)).or_default();
        rule.admits(state, self.now, draw(key, Purpose::Throttle))
    }

    /// What the throttle has let through says nothing about the callee.
    pub(super) fn throttle_takes_back(&mut self, attempt: usize) {
        let Attempt { call, started, .. } = self.record.attempts[attempt];
        if let Some((rule, id, instance)) = self.throttle_of(call) {
            let state = self.throttles.get_mut(&(id, instance)).expect("it has been asked");
            rule.take_back(state, started, self.now);
        }
    }

    /// An attempt has ended that was sent, with an error or with success; its policy has not been asked yet.
    pub(super) fn count_attempt(&mut self, attempt: usize, error: Option<ErrorKind>) {
        let Attempt { call, key, started, .. } = self.record.attempts[attempt];
        if let Some((rule, id, instance)) = self.throttle_of(call) {
            let state = self.throttles.get_mut(&(id, instance)).expect("it has been asked");
            rule.count(state, error, self.now);
        }
        if let Some(let_through) = &mut self.record.calls[call].let_through {
            let_through.was_sent = true;
        }
        self.count_for_breaker(call, Counts::Attempts, started, key, error);
        self.attempt_is_over_for_breaker(call);
    }

    /// An attempt has ended, sent or not, or was abandoned: that is the end of what a breaker inside has let through.
    pub(super) fn attempt_is_over_for_breaker(&mut self, call: usize) {
        if self.breaker_of(call).is_some_and(|(rule, ..)| rule.position == Position::Inside) {
            self.is_over_for_breaker(call);
        }
    }

    /// A call has ended, with an error or with success.
    pub(super) fn count_call(&mut self, call: usize, error: Option<ErrorKind>) {
        let Call { key, began, .. } = self.record.calls[call];
        if self.record.calls[call].let_through.is_some_and(|it| it.was_sent) {
            self.count_for_breaker(call, Counts::Calls, began, key, error);
        }
        self.is_over_for_breaker(call);
    }

    /// What a breaker has let through is over, if it was not before.
    pub(super) fn is_over_for_breaker(&mut self, call: usize) {
        let Some((rule, id, instance)) = self.breaker_of(call) else { return };
        if let Some(let_through) = self.record.calls[call].let_through.as_mut().filter(|it| !it.is_over) {
            let_through.is_over = true;
            let LetThrough { admission, moves, is_probe, is_counted, .. } = *let_through;
            let state = self.breakers.get_mut(&(id, instance)).expect("it has been asked");
            rule.leave(state, admission);
            if is_probe && !is_counted && moves == self.moves(id, instance) {
                self.breaker_step(call, BreakerMove::TakesBackProbe);
            }
        }
    }

    fn count_for_breaker(&mut self, call: usize, counts: Counts, since: Instant, key: u64, error: Option<ErrorKind>) {
        let Some((rule, id, instance)) = self.breaker_of(call).filter(|(rule, ..)| rule.counts == counts) else {
            return;
        };
        let Some(LetThrough { admission, moves, .. }) = self.record.calls[call].let_through else { return };
        if moves != self.moves(id, instance) {
            return self.breaker_step(call, BreakerMove::IgnoresOutcome);
        }
        self.record.calls[call].let_through.as_mut().expect("it was let through").is_counted = true;
        let now = self.now;
        let ended = Ended { error, took: now.since(since), key: draw(key, Purpose::Open) };
        let state = self.breakers.get_mut(&(id, instance)).expect("it has been asked");
        let was_closed = state.phase() == BreakerPhase::Closed;
        let opened = rule.count(state, admission, ended, now);
        let is_closed = state.phase() == BreakerPhase::Closed;
        match (opened, was_closed) {
            (true, true) => self.breaker_step(call, BreakerMove::Opens),
            (true, false) => self.breaker_step(call, BreakerMove::OpensAgain),
            (false, false) if is_closed => self.breaker_step(call, BreakerMove::Closes),
            (false, _) => {}
        }
        if opened {
            self.note(Note::Opened { call: id, instance });
        }
    }

    fn breaker_step(&mut self, by: usize, what: BreakerMove) {
        self.record.breakers.push(BreakerStep { at: self.now, by, what });
    }

    /// How often a breaker has moved.
    fn moves(&self, call: CallId, instance: u32) -> usize {
        let is_its = |by: usize| self.breaker_of(by).is_some_and(|(_, id, number)| (id, number) == (call, instance));
        let its = self.record.breakers.iter().filter(|it| is_its(it.by));
        its.filter(|it| it.what.is_move()).count()
    }

    /// The breaker of a call, and whose it is.
    fn breaker_of(&self, call: usize) -> Option<(&'plan Breaker, CallId, u32)> {
        let (plan, id) = (self.plan, self.record.calls[call].id);
        let guard = plan.calls[id.index()].breaker.as_deref()?;
        Some((&guard.rule, id, self.state_of(guard, call)))
    }

    /// The throttle of a call, and whose it is.
    fn throttle_of(&self, call: usize) -> Option<(&'plan Throttle, CallId, u32)> {
        let (plan, id) = (self.plan, self.record.calls[call].id);
        let guard = plan.calls[id.index()].throttle.as_deref()?;
        Some((&guard.rule, id, self.state_of(guard, call)))
    }

    fn state_of<R>(&self, guard: &Guard<R>, call: usize) -> u32 {
        if guard.by_instance { self.instance(call) } else { 0 }
    }
}
