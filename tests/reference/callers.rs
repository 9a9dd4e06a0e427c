//! The section "Calls": what a caller does, whether client or service.

use stormsim::dist::{Purpose, attempt_key, call_key};
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::plan::{CallId, DeadlineRule};
use stormsim::policy::{Attempted, Verdict};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::interpreter::Interpreter;
use super::record::{Attempt, AttemptEnd, Call, CallResult, Caller, Work};

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
        let call = self.record.calls.len();
        self.record.calls.push(Call {
            id,
            key,
            caller,
            on_first_path,
            limit,
            attempts: 0,
            previous_wait: Span::ZERO,
            timer: None,
            ended: None,
        });
        if self.remaining(call) == Span::ZERO {
            self.end_call(call, Err((ErrorKind::Deadline, StopReason::Deadline)));
        } else {
            let timer = limit.map(|at| self.agenda.schedule(at, Class::Timeout, Event::EndTimer { call }));
            self.record.calls[call].timer = timer;
            self.start_attempt(call);
        }
    }

    /// So much later than now; none without a limit.
    fn after(&self, limit: Span) -> Option<Instant> {
        (limit != Span::UNLIMITED).then(|| self.now + limit)
    }

    /// What is left until the end of a call.
    fn remaining(&self, call: usize) -> Span {
        self.record.calls[call].limit.map_or(Span::UNLIMITED, |limit| limit.since(self.now))
    }

    pub(super) fn start_attempt(&mut self, call: usize) {
        let this = &mut self.record.calls[call];
        this.attempts += 1;
        let (id, number, limit) = (this.id, this.attempts, this.limit);
        let key = attempt_key(this.key, number, 0);
        let on_first_path = this.on_first_path && number == 1;
        self.note(Note::Sent { call: id, attempt: number, key });

        let settings = &self.plan.calls[id.index()];
        let attempt = self.record.attempts.len();
        let on_its_way = settings.network.sample(key, Purpose::Request);
        let lost = on_its_way > settings.connect_timeout.after;
        if !lost {
            self.schedule_after(on_its_way, Event::Arrive { attempt });
        }
        let waits_until = [limit, self.after(settings.timeout.after)].into_iter().flatten().min();
        let connects_until = self.after(settings.connect_timeout.after).filter(|_| lost);
        let own_limits = [self.after(settings.timeout.after), connects_until];
        // Where the call ends at the same instant or before, the timer of that is enough.
        let timer = own_limits.into_iter().flatten().min().filter(|&at| limit.is_none_or(|limit| at < limit));
        let timer = timer.map(|at| self.agenda.schedule(at, Class::Timeout, Event::Timer { attempt }));
        self.record.attempts.push(Attempt {
            call,
            id,
            number,
            key,
            on_first_path,
            sent: self.now,
            lost,
            deadline_told: waits_until.and_then(|until| self.passed_on(settings.deadline, until)),
            timer,
            ended: None,
            answered_late: None,
        });
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

    pub(super) fn answer(&mut self, work: usize) {
        let Work { attempt, answered, degraded, .. } = self.record.works[work];
        let (_, reply) = answered.expect("an answer is scheduled when the work is answered");
        let this = &mut self.record.attempts[attempt];
        let (call, key, late) = (this.call, this.key, this.ended.is_some());
        self.record.notes.push((self.now, Note::Answer { key, late }));
        if late {
            this.answered_late = Some(self.now);
            return;
        }
        this.ended = Some((self.now, AttemptEnd::Answered(reply.result())));
        if let Some(timer) = this.timer.take() {
            self.agenda.cancel(timer);
        }
        match reply.result() {
            Ok(()) => {
                self.change_balance(call, |rule, balance| rule.after_success(balance));
                if degraded {
                    self.mark_caller_degraded(call);
                }
                self.end_call(call, Ok(()));
            }
            Err(error) => self.attempt_failed(attempt, error),
        }
    }

    pub(super) fn timer(&mut self, attempt: usize) {
        self.record.attempts[attempt].timer = None;
        self.give_up(attempt, ErrorKind::Timeout);
    }

    pub(super) fn end_timer(&mut self, call: usize) {
        self.record.calls[call].timer = None;
        let attempt = self.record.attempts.iter().rposition(|attempt| attempt.call == call);
        let attempt = attempt.expect("a wait that lasts to the end of its call is not begun");
        if let Some(timer) = self.record.attempts[attempt].timer.take() {
            self.agenda.cancel(timer);
        }
        self.give_up(attempt, ErrorKind::Deadline);
    }

    fn give_up(&mut self, attempt: usize, error: ErrorKind) {
        let this = &mut self.record.attempts[attempt];
        assert!(this.ended.is_none(), "nobody gives up what has ended");
        this.ended = Some((self.now, AttemptEnd::GivenUp));
        let key = this.key;
        self.note(Note::TimedOut { key, error });
        self.attempt_failed(attempt, error);
    }

    fn attempt_failed(&mut self, attempt: usize, error: ErrorKind) {
        let Attempt { call, id, number, key, .. } = self.record.attempts[attempt];
        let verdict = self.plan.policy_of(id).decide(Attempted {
            attempt: number,
            error,
            remaining: self.remaining(call),
            budget_grants: self.budget_grants(call),
            previous_wait: self.record.calls[call].previous_wait,
            key,
        });
        match verdict {
            Verdict::Retry(wait) => {
                self.change_balance(call, |rule, balance| rule.after_retry(balance));
                self.note(Note::Waiting { key, wait });
                self.record.calls[call].previous_wait = wait;
                // A wait of zero is scheduled too: it is not among the phases that are skipped.
                self.schedule_after(wait, Event::Wake { call });
            }
            Verdict::Stop(reason) => {
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
        let &mut Call { id, caller, attempts, .. } = this;
        let key = attempt_key(this.key, attempts, 0);
        self.note(Note::CallEnded { call: id, key, result });
        match (result, self.plan.calls[id.index()].fallback) {
            (Err(_), Some(fallback)) => self.begin_call(fallback, caller, Some(call)),
            _ if !self.is_awaited(caller) => {}
            _ => match caller {
                Caller::Request(request) => self.end_request(request, result, attempts),
                Caller::Work(place) => self.own_call_ended(place, result),
            },
        }
    }

    /// Whether whoever made a call still waits for it. A client always does: its request ends with the call.
    fn is_awaited(&self, caller: Caller) -> bool {
        match caller {
            Caller::Request(_) => true,
            Caller::Work(place) => {
                let work = &self.record.works[place.work];
                work.answered.is_none() && work.steps.len() == place.step + 1
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
