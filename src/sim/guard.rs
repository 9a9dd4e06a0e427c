//! Breakers and throttles: what is asked before anything is sent, and told what has become of it.

use crate::dist::{Purpose, attempt_key, draw};
use crate::failure::ErrorKind;
use crate::plan::{Call, Guard, Plan};
use crate::policy::{Admission, Breaker, BreakerState, Counts, Ended, Position, Throttle, ThrottleState};
use crate::sim::frames::CallFrame;
use crate::sim::replica::Replica;
use crate::sim::tap::{Note, Tap};
use crate::time::Instant;

/// All breakers and throttles of a plan.
#[derive(Debug, Default)]
pub(super) struct Guards {
    breakers: Vec<BreakerState>,
    throttles: Vec<ThrottleState>,
    /// By call: where the states of its breaker begin, and those of its throttle; of no meaning without one.
    first: Vec<(usize, usize)>,
    /// By call frame.
    passed: Vec<Passed>,
    /// Whether any call has one.
    pub exist: bool,
}

/// What the breaker of a call has let through.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    /// The attempt, or the call.
    admission: Option<Admission>,
    /// Whether that is not over.
    is_under_way: bool,
    /// Whether an attempt was sent since.
    was_sent: bool,
    /// Whether the throttle has let an attempt through that has not ended.
    is_request: bool,
}

impl Guards {
    pub fn new(plan: &Plan) -> Self {
        let mut guards = Self { exist: plan.calls.iter().any(Call::is_guarded), ..Self::default() };
        if !guards.exist {
            return guards;
        }
        for call in &plan.calls {
            let Self { breakers, throttles, first, .. } = &mut guards;
            first.push((breakers.len(), throttles.len()));
            if let Some(guard) = call.breaker.as_deref() {
                breakers.resize(breakers.len() + states(plan, call, guard), guard.rule.start());
            }
            if let Some(guard) = call.throttle.as_deref() {
                throttles.resize(throttles.len() + states(plan, call, guard), ThrottleState::default());
            }
        }
        guards
    }
}

/// How many states of a guard there are.
fn states<R>(plan: &Plan, call: &Call, guard: &Guard<R>) -> usize {
    if guard.by_instance { plan.callers(call) as usize } else { 1 }
}

impl<'p, T: Tap, const FULL: bool> Replica<'p, T, FULL> {
    /// The breaker of a call in progress: its rule, and where its state is.
    fn breaker_of(&self, index: u32) -> Option<(&'p Breaker, usize)> {
        let plan = self.plan;
        let CallFrame { call, parent, .. } = self.calls[index];
        let Guard { rule, by_instance } = plan.calls[call.index()].breaker.as_deref()?;
        let number = if *by_instance { self.instance(parent) as usize } else { 0 };
        Some((rule, self.guards.first[call.index()].0 + number))
    }

    /// Its throttle, likewise.
    fn throttle_of(&self, index: u32) -> Option<(&'p Throttle, usize)> {
        let plan = self.plan;
        let CallFrame { call, parent, .. } = self.calls[index];
        let Guard { rule, by_instance } = plan.calls[call.index()].throttle.as_deref()?;
        let number = if *by_instance { self.instance(parent) as usize } else { 0 };
        Some((rule, self.guards.first[call.index()].1 + number))
    }

    /// A call has begun, and nothing was let through so far.
    pub(super) fn expect_guards(&mut self, index: u32) {
        self.guards.passed.resize(self.calls.places(), Passed::default());
        self.guards.passed[index as usize] = Passed::default();
    }

    /// Its first attempt is about to start: whether a breaker outside of its retries lets it.
    pub(super) fn may_begin(&mut self, index: u32) -> bool {
        self.asks_breaker(index, Position::Outside)
    }

    /// An attempt starts: the error with which it is turned away, if a breaker inside of the retries or the throttle
    /// says so.
    pub(super) fn held_back(&mut self, index: u32) -> Option<ErrorKind> {
        if !self.asks_breaker(index, Position::Inside) {
            return Some(ErrorKind::BreakerOpen);
        }
        let (throttle, state) = self.throttle_of(index)?;
        let CallFrame { key, attempt, .. } = self.calls[index];
        let drawn = draw(attempt_key(key, attempt, 0), Purpose::Throttle);
        let is_admitted = throttle.admits(&mut self.guards.throttles[state], self.now, drawn);
        self.guards.passed[index as usize].is_request = is_admitted;
        (!is_admitted).then_some(ErrorKind::Throttled)
    }

    /// Asks the breaker of a call, if it has one that stands there.
    fn asks_breaker(&mut self, index: u32, position: Position) -> bool {
        let Some((breaker, state)) = self.breaker_of(index).filter(|(breaker, _)| breaker.position == position) else {
            return true;
        };
        let admission = breaker.admit(&mut self.guards.breakers[state], self.now);
        if admission.is_some() {
            let passed = &mut self.guards.passed[index as usize];
            (passed.admission, passed.is_under_way, passed.was_sent) = (admission, true, false);
        } else {
            let CallFrame { call, attempt, .. } = self.calls[index];
            self.recorder.breaker_rejected(call, attempt > 1);
        }
        admission.is_some()
    }

    /// An attempt that was sent has ended.
    pub(super) fn tell_guards(&mut self, index: u32, error: Option<ErrorKind>) {
        if let Some((throttle, state)) = self.throttle_of(index) {
            throttle.count(&mut self.guards.throttles[state], error, self.now);
        }
        let passed = &mut self.guards.passed[index as usize];
        (passed.was_sent, passed.is_request) = (true, false);
        let CallFrame { key, attempt, .. } = self.calls[index];
        let asked = self.extras[index as usize].asked;
        self.tell_breaker(index, Counts::Attempts, error, asked, attempt_key(key, attempt, 0));
        self.leave_breaker(index, Position::Inside);
    }

    /// An attempt was turned away.
    pub(super) fn tell_guards_of_nothing(&mut self, index: u32) {
        self.take_back_request(index);
        self.leave_breaker(index, Position::Inside);
    }

    /// A call has ended.
    pub(super) fn tell_guards_of_end(&mut self, index: u32, error: Option<ErrorKind>) {
        if self.guards.passed[index as usize].was_sent {
            let CallFrame { start, key, .. } = self.calls[index];
            self.tell_breaker(index, Counts::Calls, error, start, key);
        }
        self.leave_breaker(index, Position::Outside);
    }

    /// A call is abandoned: what its breaker has let through has no end that counts.
    pub(super) fn leave_guards(&mut self, index: u32) {
        self.take_back_request(index);
        self.leave_breaker(index, Position::Inside);
        self.leave_breaker(index, Position::Outside);
    }

    /// Tells a breaker that counts them how an attempt, or a call, has ended that began at `began`.
    fn tell_breaker(&mut self, index: u32, what: Counts, error: Option<ErrorKind>, began: Instant, key: u64) {
        let Some((breaker, state)) = self.breaker_of(index).filter(|(breaker, _)| breaker.counts == what) else {
            return;
        };
        let Some(admission) = self.guards.passed[index as usize].admission else { return };
        let ended = Ended { error, took: self.now.since(began), key: draw(key, Purpose::Open) };
        if breaker.count(&mut self.guards.breakers[state], admission, ended, self.now) {
            let call = self.calls[index].call;
            let instance = (state - self.guards.first[call.index()].0) as u32;
            self.tap.note(self.now, Note::Opened { call, instance });
            self.recorder.breaker_opened(call);
        }
    }

    /// What the throttle has let through says nothing about the callee.
    fn take_back_request(&mut self, index: u32) {
        if std::mem::take(&mut self.guards.passed[index as usize].is_request)
            && let Some((throttle, state)) = self.throttle_of(index)
        {
            let asked = self.extras[index as usize].asked;
            throttle.take_back(&mut self.guards.throttles[state], asked, self.now);
        }
    }

    /// What the breaker of a call has let through is over, if it stands there.
    fn leave_breaker(&mut self, index: u32, position: Position) {
        let Some((breaker, state)) = self.breaker_of(index).filter(|(breaker, _)| breaker.position == position) else {
            return;
        };
        let passed = &mut self.guards.passed[index as usize];
        if let (Some(admission), true) = (passed.admission, std::mem::take(&mut passed.is_under_way)) {
            breaker.leave(&mut self.guards.breakers[state], admission);
        }
    }
}
