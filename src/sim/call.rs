//! The caller's side: attempts, timers, waits.

use crate::dist::attempt_key;
use crate::failure::{ErrorKind, StopReason};
use crate::plan::{CallId, Origin};
use crate::policy::{Attempted, Verdict};
use crate::sim::agenda::Sequence;
use crate::sim::frames::{CallFrame, NONE, WorkFrame};
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::time::{Instant, Span};

impl<T: Tap> Replica<'_, T> {
    /// A call begins, made by the work `parent` or, with [`NONE`], by a client.
    pub(super) fn begin_call(&mut self, call: CallId, parent: u32, key: u64) {
        let frame = CallFrame { key, start: self.now, armed: Sequence::NONE, parent, call, attempt: 0, work: NONE };
        let index = self.calls.insert(frame);
        self.start_attempt(index);
    }

    /// The next attempt of a call starts.
    pub(super) fn start_attempt(&mut self, index: u32) {
        let frame = &mut self.calls[index];
        // A call without a limit may get here more often than can be counted; from then on its attempts share a number.
        frame.attempt = frame.attempt.saturating_add(1);
        let (id, attempt) = (frame.call, frame.attempt);
        let key = attempt_key(frame.key, attempt, 0);
        let is_original = attempt == 1 && (frame.parent == NONE || self.works[frame.parent].is_original);
        let work = self.works.insert(WorkFrame {
            key,
            arrived: self.now,
            caller: index,
            call: id,
            step: 0,
            outstanding: 0,
            is_original,
            is_retry: attempt > 1,
            error: None,
        });
        frame.work = work;
        self.tap.note(self.now, Note::Sent { call: id, attempt, key });
        self.recorder.sent(id, attempt > 1, self.now);
        self.agenda.schedule(Span::ZERO, Kind::Arrive.of(work));
        self.arm_timer(index);
    }

    /// The caller waits until the earlier of the attempt's timeout and the end of the whole call.
    #[inline]
    fn arm_timer(&mut self, index: u32) {
        let frame = &mut self.calls[index];
        let call = &self.plan.calls[frame.call.index()];
        let left = call.total_timeout.after - self.now.since(frame.start).min(call.total_timeout.after);
        let timer = Kind::Timer.of(index);
        frame.armed = if call.timeout.after < left {
            self.agenda.arm(call.timeout.id, timer)
        } else if call.total_timeout.after == Span::UNLIMITED {
            Sequence::NONE
        } else if left == call.total_timeout.after {
            self.agenda.arm(call.total_timeout.id, timer)
        } else {
            self.agenda.arm_at(self.now + left, timer)
        };
    }

    /// What is left of a call's total timeout.
    #[inline]
    fn remaining(&self, call: CallId, start: Instant) -> Span {
        let total = self.plan.calls[call.index()].total_timeout.after;
        if total == Span::UNLIMITED { total } else { total - self.now.since(start).min(total) }
    }

    /// An answer reaches the caller, if there still is one.
    pub(super) fn answer(&mut self, work: u32) {
        let WorkFrame { key, caller, call, error, .. } = self.works[work];
        self.works.remove(work);
        self.tap.note(self.now, Note::Answer { key, late: caller == NONE });
        if caller == NONE {
            self.recorder.answered_late(call);
            return;
        }
        self.recorder.answered_in_time(call, error.is_none(), self.now);
        self.calls[caller].armed = Sequence::NONE;
        match error {
            None => self.end_call(caller, Ok(())),
            Some(error) => self.fail_attempt(caller, key, error),
        }
    }

    /// The attempt under way has taken too long. Nobody tells the service: its work goes on.
    pub(super) fn give_up(&mut self, index: u32) {
        let CallFrame { call, start, work, .. } = self.calls[index];
        let key = self.works[work].key;
        self.works[work].caller = NONE;
        let is_over = self.remaining(call, start) == Span::ZERO;
        let error = if is_over { ErrorKind::Deadline } else { ErrorKind::Timeout };
        self.tap.note(self.now, Note::TimedOut { key, error });
        self.recorder.timed_out(call, self.now);
        self.calls[index].armed = Sequence::NONE;
        self.fail_attempt(index, key, error);
    }

    /// An attempt has failed: the policy decides.
    fn fail_attempt(&mut self, index: u32, key: u64, error: ErrorKind) {
        let CallFrame { call, start, attempt, .. } = self.calls[index];
        self.calls[index].work = NONE;
        let policy = self.plan.policy_of(call);
        let remaining = self.remaining(call, start);
        let previous_wait = self.previous_waits.get(index as usize).copied().unwrap_or(Span::ZERO);
        match policy.decide(Attempted { attempt, error, remaining, previous_wait, key }) {
            Verdict::Retry(wait) => {
                self.tap.note(self.now, Note::Waiting { key, wait });
                if policy.schedule.needs_previous() {
                    self.remember_wait(index, wait);
                }
                self.calls[index].armed = self.agenda.schedule(wait, Kind::Wake.of(index));
            }
            Verdict::Stop(reason) => self.end_call(index, Err((error, reason))),
        }
    }

    fn remember_wait(&mut self, index: u32, wait: Span) {
        if self.previous_waits.len() <= index as usize {
            self.previous_waits.resize(self.calls.places(), Span::ZERO);
        }
        self.previous_waits[index as usize] = wait;
    }

    /// A call ends, and whoever made it goes on.
    fn end_call(&mut self, index: u32, result: Result<(), (ErrorKind, StopReason)>) {
        let CallFrame { key, start, parent, call, attempt, .. } = self.calls[index];
        self.calls.remove(index);
        self.tap.note(self.now, Note::CallEnded { call, key: attempt_key(key, attempt, 0), result });
        if matches!(result, Err((_, StopReason::Deadline))) {
            self.recorder.deadline_stopped(call);
        }
        match self.plan.calls[call.index()].origin {
            Origin::Group(group) => self.end_request(group, start, attempt, result),
            Origin::Service(_) => self.call_of_work_ended(parent, result.map_err(|(error, _)| error)),
        }
    }
}
