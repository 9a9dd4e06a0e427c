//! The section "Calls": what a caller does, whether client or service.

use stormsim::dist::{attempt_key, call_key};
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::plan::{CallId, DeadlineRule};
use stormsim::policy::Position;
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::faults::Way;
use super::interpreter::Interpreter;
use super::record::{Attempt, AttemptEnd, Call, CallResult, Caller, Reply, Struck};

impl Interpreter<'_> {
    /// Begins a call; `failed` is the one in whose place it is made, if it is a fallback.
    pub(super) fn begin_call(&mut self, id: CallId, caller: Caller, failed: Option<usize>) {
        // What the work that makes the call hands down to it. To a request nobody has handed anything.
        let (caller_key, copy, deadline, on_first_path) = match caller {
            Caller::Request(request) => (self.record.requests[request].key, 0, None, true),
            Caller::Work(place) => {
                let attempt = &self.record.attempts[self.record.works[place.work].attempt];
                (attempt.key, place.copy, attempt.deadline_told, attempt.on_first_path)
            }
        };
        let settings = &self.plan.calls[id.index()];
        let limit = [self.after(settings.total_timeout.after), deadline].into_iter().flatten().min();
        let key = match failed {
            None => call_key(caller_key, settings.key, copy),
            Some(failed) => call_key(self.record.calls[failed].key, settings.key, 0),
        };
        let operation = self.operation_of(id, caller, key);
        let call = self.record.calls.len();
        self.record.calls.push(Call {
            id,
            key,
            operation,
            caller,
            on_first_path,
            began: self.now,
            limit,
            started: 0,
            sent: 0,
            retries: Vec::new(),
            waits: Vec::new(),
            previous_server: None,
            let_through: None,
            timer: None,
            wake: None,
            ended: None,
            abandoned: None,
        });
        self.note_level(call);
        if self.remaining(call) == Span::ZERO {
            self.end_call(call, Err((ErrorKind::Deadline, StopReason::Deadline)));
        } else {
            let timer = limit.map(|at| self.agenda.schedule(at, Class::Timeout, Event::EndTimer { call }));
            self.record.calls[call].timer = timer;
            if self.breaker_admits(call, Position::Outside) {
                self.start_attempt(call);
            } else {
                self.end_call(call, Err((ErrorKind::BreakerOpen, StopReason::NotRetryable)));
            }
        }
    }

    /// So much later than now; none without a limit.
    pub(super) fn after(&self, limit: Span) -> Option<Instant> {
        (limit != Span::UNLIMITED).then(|| self.now + limit)
    }

    /// What is left until the end of a call.
    pub(super) fn remaining(&self, call: usize) -> Span {
        self.record.calls[call].limit.map_or(Span::UNLIMITED, |limit| limit.since(self.now))
    }

    pub(super) fn start_attempt(&mut self, call: usize) {
        let this = &mut self.record.calls[call];
        this.wake = None;
        this.started += 1;
        let (id, number) = (this.id, this.started);
        let key = attempt_key(this.key, number, 0);
        let brings = self.key_sent_along(call, key);
        let attempt = self.record.attempts.len();
        self.record.attempts.push(Attempt::new(call, id, number, key, brings, self.now, attempt));
        if !self.breaker_admits(call, Position::Inside) {
            self.turn_away(attempt, ErrorKind::BreakerOpen);
        } else if !self.throttle_admits(attempt) {
            self.turn_away(attempt, ErrorKind::Throttled);
        } else {
            self.ask_for_slot(attempt);
        }
    }

    /// Sends an attempt, or another copy of one.
    pub(super) fn send(&mut self, attempt: usize) {
        let Attempt { call, id, number, hedge, key, .. } = self.record.attempts[attempt];
        self.note(Note::Sent { call: id, attempt: number, hedge, key });
        let this = &mut self.record.calls[call];
        this.sent += u32::from(hedge == 0);
        let is_original = this.sent == 1 && this.on_first_path && hedge == 0;
        let is_retry = this.sent > 1 && hedge == 0;
        self.record.attempts[attempt].avoids = this.previous_server;
        let settings = &self.plan.calls[id.index()];
        let way = self.way(attempt);
        match way {
            Way::Arrives(after) => self.schedule_after(after, Event::Arrive { attempt }),
            Way::NotConnected | Way::Lost => {}
            Way::Fails(after, Struck { error, retry_after }) => {
                let reply = Reply { result: Err(error), retry_after, degraded: false };
                self.schedule_after(after, Event::Answer { attempt, reply });
            }
        }
        let lost = !matches!(way, Way::Arrives(_));
        let waits_until = self.waits_until(attempt);
        let deadline_told = waits_until.and_then(|until| self.passed_on(settings.deadline, until));
        let this = &mut self.record.attempts[attempt];
        this.sent = Some(self.now);
        (this.is_retry, this.on_first_path) = (is_retry, is_original);
        this.lost = lost.then_some(self.now);
        (this.deadline_told, this.deadline) = (deadline_told, deadline_told.or(waits_until));
        self.arm_timers(attempt, !matches!(way, Way::NotConnected));
    }

    /// An attempt has just been sent, or another copy of one.
    fn arm_timers(&mut self, attempt: usize, connects: bool) {
        let Attempt { call, id, hedge, started, .. } = self.record.attempts[attempt];
        let settings = &self.plan.calls[id.index()];
        let is_hedged = settings.hedge.is_some();
        if hedge == 0 {
            // Waiting for a slot counts.
            let timeout = (settings.timeout.after != Span::UNLIMITED).then(|| started + settings.timeout.after);
            let connects_until = self.after(settings.connect_timeout.after).filter(|_| !connects && !is_hedged);
            let own_limit = [timeout, connects_until].into_iter().flatten().min();
            // Where the call ends at the same instant or before, the timer of that is enough.
            let limit = self.record.calls[call].limit;
            let timer = own_limit.filter(|&at| limit.is_none_or(|limit| at < limit));
            if let Some(timer_of_wait) = self.record.attempts[attempt].timer.take() {
                self.agenda.cancel(timer_of_wait);
            }
            let timer = timer.map(|at| self.agenda.schedule(at, Class::Timeout, Event::Timer { attempt }));
            self.record.attempts[attempt].timer = timer;
        }
        if hedge == 0 {
            self.arm_hedge_timer(attempt);
        }
        if is_hedged && !connects {
            self.arm_copy_timer(attempt);
        }
    }

    /// What a caller that waits until `until` tells its callee.
    fn passed_on(&self, rule: DeadlineRule, until: Instant) -> Option<Instant> {
        let reserve = match rule {
            DeadlineRule::Keep => return None,
            DeadlineRule::PassLess(reserve) => reserve,
            DeadlineRule::PassLessShare(share) => Span::from_ns_f64(until.since(self.now).as_ns() as f64 * share),
        };
        // A deadline before the start of the run has passed like any other that is not later than now.
        Some(Instant::from_ns(until.as_ns().saturating_sub(reserve.as_ns())))
    }

    pub(super) fn answer(&mut self, attempt: usize, reply: Reply) {
        let Reply { result, retry_after, degraded } = reply;
        let Attempt { call, first, key, ended, .. } = self.record.attempts[attempt];
        self.note(Note::Answer { key, late: ended.is_some() });
        if ended.is_some() {
            self.record.attempts[attempt].answered_late = Some(self.now);
            return;
        }
        self.ends(attempt, AttemptEnd::Answered(result));
        self.count_for_server(attempt, result.err());
        self.free_slot(attempt);
        match result {
            Ok(()) => {
                self.give_up_losers(first);
                self.attempt_is_over(first);
                self.count_attempt(first, None);
                self.tell_budget_of_success(call);
                if degraded {
                    self.mark_caller_degraded(call);
                }
                self.end_call(call, Ok(()));
            }
            Err(error) => self.copy_failed(attempt, error, retry_after),
        }
    }

    /// An attempt has met a black hole where it would have arrived.
    pub(super) fn vanish(&mut self, attempt: usize) {
        let Attempt { call, id, sent, timer, ended, .. } = self.record.attempts[attempt];
        self.record.attempts[attempt].lost = Some(self.now);
        if self.plan.calls[id.index()].hedge.is_some() {
            if ended.is_none() {
                self.arm_copy_timer(attempt);
            }
            return;
        }
        let connect_timeout = self.plan.calls[id.index()].connect_timeout.after;
        if ended.is_some() || connect_timeout == Span::UNLIMITED {
            return;
        }
        let connects_until = sent.expect("it was sent") + connect_timeout;
        let waits_until = [self.record.calls[call].limit, timer.map(|timer| timer.at)].into_iter().flatten().min();
        if waits_until.is_none_or(|until| connects_until < until) {
            if let Some(timer) = timer {
                self.agenda.cancel(timer);
            }
            let timer = self.agenda.schedule(connects_until, Class::Timeout, Event::Timer { attempt });
            self.record.attempts[attempt].timer = Some(timer);
        }
    }

    pub(super) fn timer(&mut self, attempt: usize) {
        let this = &mut self.record.attempts[attempt];
        this.timer = None;
        let settings = &self.plan.calls[this.id.index()];
        match settings.pool {
            Some(pool) if this.waits_for_slot() => {
                let slot_took_too_long = pool.max_wait.after <= settings.timeout.after;
                let error = if slot_took_too_long { ErrorKind::PoolTimeout } else { ErrorKind::Timeout };
                self.turn_away(attempt, error);
            }
            _ => self.give_up_all(attempt, ErrorKind::Timeout),
        }
    }

    pub(super) fn end_timer(&mut self, call: usize) {
        self.record.calls[call].timer = None;
        let attempt = self.last_attempt(call).expect("a wait that lasts to the end of its call is not begun");
        if self.record.attempts[attempt].waits_for_slot() {
            self.turn_away(attempt, ErrorKind::Deadline);
        } else {
            self.give_up_all(attempt, ErrorKind::Deadline);
        }
    }

    /// The attempt that a call has started last: its first copy.
    pub(super) fn last_attempt(&self, call: usize) -> Option<usize> {
        self.record.attempts.iter().rposition(|attempt| attempt.call == call && attempt.hedge == 0)
    }

    pub(super) fn attempt_failed(&mut self, attempt: usize, error: ErrorKind, retry_after: Option<Span>) {
        let Attempt { call, key, .. } = self.record.attempts[attempt];
        self.tell_budget_of_failure(call, error);
        let budget_grants = self.budget_grants(call, error);
        match self.decide(call, error, retry_after, budget_grants) {
            Ok(wait) => {
                self.charge_budget(call, error);
                self.note(Note::Waiting { key, wait: wait.whole });
                self.record.calls[call].waits.push(wait);
                // A wait of zero is scheduled too: it is not among the phases that are skipped.
                let wake = self.agenda.schedule(self.now + wait.whole, Class::Normal, Event::Wake { call });
                self.record.calls[call].wake = Some(wake);
            }
            Err(reason) => {
                let error = if reason == StopReason::Deadline { ErrorKind::Deadline } else { error };
                self.end_call(call, Err((error, reason)));
            }
        }
    }

    fn end_call(&mut self, call: usize, result: CallResult) {
        let this = &mut self.record.calls[call];
        this.ended = Some((self.now, result));
        if let Some(timer) = this.timer.take() {
            self.agenda.cancel(timer);
        }
        let &mut Call { id, caller, started, .. } = this;
        let key = attempt_key(this.key, started, 0);
        self.count_call(call, result.err().map(|(error, _)| error));
        self.note(Note::CallEnded { call: id, key, result });
        match (result, self.plan.calls[id.index()].fallback) {
            (Err(_), Some(fallback)) => self.begin_call(fallback, caller, Some(call)),
            _ if !self.is_awaited(caller) => {}
            _ => match caller {
                Caller::Request(request) => self.end_request(request, result, started),
                Caller::Work(place) => self.own_call_ended(place, result),
            },
        }
    }

    /// Whether whoever made a call still waits for it. A client always does: its request ends with the call.
    pub(super) fn is_awaited(&self, caller: Caller) -> bool {
        match caller {
            Caller::Request(_) => true,
            Caller::Work(place) => {
                let work = &self.record.works[place.work];
                work.ended.is_none() && work.steps.len() == place.step + 1
            }
        }
    }

    fn mark_caller_degraded(&mut self, call: usize) {
        match self.record.calls[call].caller {
            caller if !self.is_awaited(caller) => {}
            Caller::Request(request) => self.record.requests[request].degraded = true,
            Caller::Work(place) => {
                let work = &mut self.record.works[place.work];
                let step = self.plan.steps_of(work.service).nth(place.step).expect("a step that was begun");
                let required = self.plan.calls[step[place.call].index()].required;
                // Once enough copies have succeeded, nobody waits for the others.
                work.degraded |= work.steps[place.step][place.call].succeeded < required;
            }
        }
    }
}
