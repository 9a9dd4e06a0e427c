//! The caller's side: attempts, timers, waits.

use std::mem::replace;

use crate::dist::{Purpose, attempt_key};
use crate::failure::{ErrorKind, StopReason};
use crate::metrics::RequestEnd;
use crate::plan::{Call, CallId, DeadlineRule, Origin, Timeout};
use crate::policy::{Attempted, Verdict};
use crate::sim::agenda::Sequence;
use crate::sim::fault::Way;
use crate::sim::frames::{CallExtra, CallFrame, Maker, NONE, Parent, Phase, Visit, WorkFrame};
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::sim::timers::{disarm, set};
use crate::time::{Instant, Span};

/// How a call ended: with success, of which is told whether it is degraded, or with the error of its last attempt and
/// why there was no other.
pub(super) type CallEnd = Result<bool, (ErrorKind, StopReason)>;

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// A call begins, as this copy.
    pub(super) fn begin_call(&mut self, call: CallId, parent: Parent, key: u64, copy: u32) {
        let frame = CallFrame { key, start: self.now, armed: Sequence::NONE, parent, call, attempt: 0, work: NONE };
        let index = self.calls.insert(frame);
        if FULL && self.has_extras {
            let extra = CallExtra::of_copy(copy);
            self.extras.resize(self.calls.places(), extra);
            self.extras[index as usize] = extra;
        }
        if FULL && self.servers.cancels {
            self.join_kin(index);
        }
        if FULL && self.operations.are_told {
            self.name_call(index, copy);
        }
        if FULL && self.budgets.watch {
            self.tell_budget_of_call(index);
        }
        if FULL && self.guards.exist {
            self.expect_guards(index);
        }
        if self.has_ends {
            let end = self.end_of(index);
            if end <= self.now {
                return self.end_call(index, Err((ErrorKind::Deadline, StopReason::Deadline)));
            }
            self.arm_end(index, end);
        }
        if FULL && self.guards.exist && !self.may_begin(index) {
            return self.end_call(index, Err((ErrorKind::BreakerOpen, StopReason::NotRetryable)));
        }
        self.start_attempt(index);
    }

    /// The instant at which a call is over, whatever it is doing; [`Instant::LIMIT`] or later if never.
    #[inline]
    fn end_of(&self, index: u32) -> Instant {
        let CallFrame { start, parent, call, .. } = self.calls[index];
        let own = start + self.plan.calls[call.index()].total_timeout.after;
        own.min(self.inherited_deadline(parent))
    }

    fn inherited_deadline(&self, parent: Parent) -> Instant {
        let work = match parent.maker() {
            Maker::Client(_) => return Instant::LIMIT,
            Maker::Work(work) => work,
            Maker::Fan(fan) => self.fans[fan].work,
        };
        self.deadlines.get(work as usize).copied().unwrap_or(Instant::LIMIT)
    }

    /// Arms the timer of a call's end: once, for all of its attempts.
    fn arm_end(&mut self, index: u32, end: Instant) {
        let total_timeout = self.plan.calls[self.calls[index].call.index()].total_timeout;
        let timer = Kind::EndTimer.of(index);
        let timer = if end >= Instant::LIMIT {
            Sequence::NONE
        } else if end == self.now + total_timeout.after {
            self.agenda.arm(total_timeout.id, timer)
        } else {
            self.agenda.arm_at(end, timer)
        };
        set(&mut self.timers.ends, self.calls.places(), index, timer);
    }

    /// The next attempt of a call starts.
    pub(super) fn start_attempt(&mut self, index: u32) {
        let frame = &mut self.calls[index];
        // A call without a limit may get here more often than can be counted; from then on its attempts share a number.
        frame.attempt = frame.attempt.saturating_add(1);
        if FULL && self.has_extras {
            self.extras[index as usize].asked = self.now;
        }
        if FULL && self.budgets.watch {
            self.tell_budget_of_attempt(index);
        }
        if FULL
            && self.guards.exist
            && let Some(error) = self.held_back(index)
        {
            return self.turn_away(index, error);
        }
        if FULL && self.pools.exist() { self.ask_for_slot(index) } else { self.send(index, self.now, 0) }
    }

    /// An attempt is sent whose clock started at `asked`; or, above zero, this copy of one that is under way.
    #[inline(always)]
    pub(super) fn send(&mut self, index: u32, asked: Instant, hedge: u32) {
        let plan = self.plan;
        let CallFrame { key, call: id, attempt, parent, .. } = self.calls[index];
        let call = &plan.calls[id.index()];
        let key = attempt_key(key, attempt, hedge);
        let is_hedge = FULL && hedge > 0;
        let is_retry = if is_hedge {
            false
        } else if FULL && self.has_extras {
            replace(&mut self.extras[index as usize].has_sent, true)
        } else {
            attempt > 1
        };
        let is_original = !is_retry
            && !is_hedge
            && match parent.maker() {
                Maker::Client(_) => true,
                Maker::Work(work) => self.works[work].is_original,
                Maker::Fan(fan) => self.works[self.fans[fan].work].is_original,
            };
        let delay = if self.has_network { call.network.sample(key, Purpose::Request) } else { Span::ZERO };
        let way = if FULL && self.has_call_faults {
            self.way(id, key, delay)
        } else if self.has_network && delay > call.connect_timeout.after {
            Way::FindsNobody
        } else {
            Way::Arrives(delay)
        };
        let (phase, error) = match way {
            Way::Arrives(_) => (Phase::Travelling, None),
            Way::FindsNobody | Way::IsLost => (Phase::Lost, None),
            Way::Fails { error, .. } => (Phase::Answered, Some(error)),
        };
        let work = self.works.insert(WorkFrame {
            key,
            arrived: self.now,
            caller: index,
            call: id,
            service: call.target,
            server: NONE,
            steps: 0,
            unsettled: 0,
            children: 0,
            is_beginning: false,
            is_original,
            is_retry,
            is_hedge,
            is_forgotten: false,
            phase,
            is_degraded: false,
            error,
        });
        if !is_hedge {
            let frame = &mut self.calls[index];
            frame.work = work;
            frame.armed = Sequence::NONE;
        }
        self.tap.note(self.now, Note::Sent { call: id, attempt, hedge, key });
        self.recorder.sent(id, is_retry, self.now);
        if FULL && self.has_retry_after {
            self.say_retry_after(work, None);
        }
        if FULL && self.operations.are_told {
            self.name_work(index, work);
        }
        match way {
            Way::Arrives(delay) => _ = self.agenda.schedule(delay, Kind::Arrive.of(work)),
            Way::FindsNobody | Way::IsLost => self.recorder.lost(id),
            Way::Fails { delay, retry_after, .. } => {
                self.recorder.lost(id);
                self.say_retry_after(work, retry_after);
                self.agenda.schedule(delay, Kind::Answer.of(work));
            }
        }
        let finds_nobody = matches!(way, Way::FindsNobody);
        if !is_hedge {
            self.arm_attempt(index, call, finds_nobody && call.hedge.is_none(), asked);
        }
        if FULL && call.hedge.is_some() {
            if is_hedge {
                self.begin_copy(index, work)
            } else {
                self.begin_hedging(index, work)
            }
            if finds_nobody {
                self.arm_copy(index, work, self.now + call.connect_timeout.after, asked);
            }
        }
        if self.passes_deadlines {
            self.pass_deadline(index, work, call, asked);
        }
        if FULL && self.servers.stations[call.target.index()].first != NONE {
            self.announce(index, work, call, asked);
        }
    }

    /// Notes what a server will have to know of an attempt that is sent to it.
    fn announce(&mut self, index: u32, work: u32, call: &Call, asked: Instant) {
        let target = &self.plan.services[call.target.index()].capacity;
        let deadline = if target.queue.drop_rule.needs_deadlines() {
            let told = self.deadlines.get(work as usize).copied().unwrap_or(Instant::LIMIT);
            told.min(self.waits_until(index, call, asked))
        } else {
            Instant::LIMIT
        };
        let (server, copy) = match self.extras.get(index as usize) {
            Some(extra) => (extra.server, extra.copy),
            None => (NONE, 0),
        };
        let avoid = if call.avoid_previous { server } else { NONE };
        let visit = Visit { deadline, began: self.now, resumed: self.now, takes: Span::ZERO, avoid, copy };
        self.servers.expect(work, visit);
    }

    /// The instant until which a caller waits for an attempt whose clock started at `asked`, as long as that arrives.
    pub(super) fn waits_until(&self, index: u32, call: &Call, asked: Instant) -> Instant {
        self.end_of(index).min(asked + call.timeout.after)
    }

    /// Arms the attempt's timer, if it runs out before the call ends. One that finds nobody has the time to connect.
    #[inline]
    fn arm_attempt(&mut self, index: u32, call: &Call, finds_nobody: bool, asked: Instant) {
        let timeout = call.timeout.after;
        let timeout_at = asked + timeout;
        if finds_nobody && self.now + call.connect_timeout.after < timeout_at {
            self.arm_limit(index, call.connect_timeout);
        } else if !FULL || asked == self.now {
            self.arm_limit(index, call.timeout);
        } else {
            // It has waited for its slot, so that the limit is not the same for all from now on.
            let is_needed = timeout < Span::UNLIMITED && (!self.has_ends || timeout_at < self.end_of(index));
            self.calls[index].armed =
                if is_needed { self.agenda.arm_at(timeout_at, Kind::Timer.of(index)) } else { Sequence::NONE };
        }
    }

    /// Arms the timer of a call's attempt for `limit` from now, if there is such a limit and the call does not end
    /// before.
    #[inline]
    pub(super) fn arm_limit(&mut self, index: u32, limit: Timeout) {
        let is_needed =
            limit.after < Span::UNLIMITED && (!self.has_ends || self.now + limit.after < self.end_of(index));
        self.calls[index].armed =
            if is_needed { self.agenda.arm(limit.id, Kind::Timer.of(index)) } else { Sequence::NONE };
    }

    /// Tells the work what it may know of the instant at which its caller will stop waiting.
    fn pass_deadline(&mut self, index: u32, work: u32, call: &Call, asked: Instant) {
        if self.deadlines.len() < self.works.places() {
            self.deadlines.resize(self.works.places(), Instant::LIMIT);
        }
        let until = self.waits_until(index, call, asked);
        let less = |reserve: Span| Instant::from_ns(until.as_ns().saturating_sub(reserve.as_ns()));
        self.deadlines[work as usize] = match call.deadline {
            DeadlineRule::PassLess(reserve) if until < Instant::LIMIT => less(reserve),
            DeadlineRule::PassLessShare(share) if until < Instant::LIMIT => {
                less(Span::from_ns_f64(until.since(self.now).as_ns() as f64 * share))
            }
            _ => Instant::LIMIT,
        };
    }

    /// What is left of a call until its end; [`Span::UNLIMITED`] if that never comes.
    #[inline]
    fn remaining(&self, index: u32) -> Span {
        if !self.has_ends {
            return Span::UNLIMITED;
        }
        let end = self.end_of(index);
        if end >= Instant::LIMIT { Span::UNLIMITED } else { end.since(self.now) }
    }

    /// An answer reaches the caller, if there still is one.
    pub(super) fn answer(&mut self, work: u32) {
        let frame = &mut self.works[work];
        frame.phase = Phase::Delivered;
        let WorkFrame { key, caller, call, error, is_degraded, .. } = *frame;
        let retry_after = self.retry_after(work);
        self.release_work(work);
        self.tap.note(self.now, Note::Answer { key, late: caller == NONE });
        if caller == NONE {
            self.recorder.answered_late(call);
            return;
        }
        self.recorder.answered_in_time(call, error.is_none(), self.now);
        if FULL {
            self.free_slot(caller);
            if self.operations.are_told {
                self.dispel_doubt(work);
            }
            self.tell_balancer(work, error);
            if self.hedges.exist && self.hedge_of(caller).is_some() && self.is_outlived(caller, work, error) {
                return;
            }
            self.release_budget(caller, false);
            if self.guards.exist {
                self.tell_guards(caller, error);
            }
        }
        self.calls[caller].armed = Sequence::NONE;
        // That of a copy is another.
        let key = if FULL && self.hedges.exist { self.attempt_key(caller) } else { key };
        match error {
            None => {
                self.tell_budget_of_success(caller);
                self.end_call(caller, Ok(is_degraded));
            }
            Some(error) => self.fail_attempt(caller, key, error, retry_after),
        }
    }

    /// The timer of an attempt has run out.
    pub(super) fn attempt_timed_out(&mut self, index: u32) {
        let CallFrame { call, work, .. } = self.calls[index];
        let error = if FULL && work == NONE { self.error_of_waiting(call) } else { ErrorKind::Timeout };
        self.give_up(index, error);
    }

    /// The attempt under way has taken too long.
    pub(super) fn give_up(&mut self, index: u32, error: ErrorKind) {
        if FULL {
            self.timed_out = self.now;
        }
        if FULL && self.leave_pool_queue(index) {
            return self.turn_away(index, error);
        }
        self.calls[index].armed = Sequence::NONE;
        let work = self.calls[index].work;
        if FULL && self.hedges.exist && self.hedge_of(index).is_some() {
            self.give_up_copies(index, error);
            return self.attempt_given_up(index, self.attempt_key(index), error);
        }
        let key = self.works[work].key;
        self.give_up_work(index, work, error);
        self.attempt_given_up(index, key, error);
    }

    /// What was sent for an attempt has taken too long.
    #[inline(always)]
    pub(super) fn give_up_work(&mut self, index: u32, work: u32, error: ErrorKind) {
        let WorkFrame { key, call, .. } = self.works[work];
        self.tap.note(self.now, Note::TimedOut { key, error });
        self.recorder.timed_out(call, self.now);
        if FULL {
            self.free_slot(index);
            self.tell_balancer(work, Some(error));
        }
        self.let_go(work, true);
    }

    /// All that was sent for an attempt has been given up.
    #[inline(always)]
    pub(super) fn attempt_given_up(&mut self, index: u32, key: u64, error: ErrorKind) {
        if FULL {
            self.release_budget(index, false);
            if self.guards.exist {
                self.tell_guards(index, Some(error));
            }
        }
        self.fail_attempt(index, key, error, None);
    }

    /// The key of the attempt under way, or of the last one.
    #[inline]
    pub(super) fn attempt_key(&self, index: u32) -> u64 {
        let CallFrame { key, attempt, .. } = self.calls[index];
        attempt_key(key, attempt, 0)
    }

    /// An attempt has failed: the policy decides.
    #[inline(always)]
    pub(super) fn fail_attempt(&mut self, index: u32, key: u64, error: ErrorKind, retry_after: Option<Span>) {
        let CallFrame { call, attempt, start, .. } = self.calls[index];
        self.calls[index].work = NONE;
        let policy = self.plan.policy_of(call);
        let elapsed = self.now.since(start);
        let remaining = self.remaining(index);
        let mark = self.marks.get(index as usize).copied().unwrap_or(Span::ZERO);
        let budget_grants = self.ask_budget(index, error);
        let failed = Attempted { attempt, error, elapsed, remaining, budget_grants, retry_after, mark, key };
        match policy.decide(failed) {
            Verdict::Retry { wait, mark } => {
                self.charge_budget(index, error);
                self.tap.note(self.now, Note::Waiting { key, wait });
                if policy.schedule.remembers() {
                    self.remember_mark(index, mark);
                }
                self.calls[index].armed = self.agenda.schedule(wait, Kind::Wake.of(index));
            }
            // What ended it was its deadline, whatever the last attempt died of.
            Verdict::Stop(StopReason::Deadline) => {
                self.end_call(index, Err((ErrorKind::Deadline, StopReason::Deadline)));
            }
            Verdict::Stop(reason) => self.end_call(index, Err((error, reason))),
        }
    }

    fn remember_mark(&mut self, index: u32, mark: Span) {
        if self.marks.len() < self.calls.places() {
            self.marks.resize(self.calls.places(), Span::ZERO);
        }
        self.marks[index as usize] = mark;
    }

    /// A call ends: its fallback begins in its place, or whoever made it goes on.
    fn end_call(&mut self, index: u32, end: CallEnd) {
        let CallFrame { key, start, parent, call: id, attempt, .. } = self.calls[index];
        let copy = self.extras.get(index as usize).map_or(0, |extra| extra.copy);
        self.disarm_end(index);
        if FULL && self.servers.cancels {
            self.leave_kin(index);
        }
        if FULL && self.guards.exist {
            self.tell_guards_of_end(index, end.err().map(|(error, _)| error));
        }
        self.calls.remove(index);
        self.tap.note(
            self.now,
            Note::CallEnded { call: id, key: attempt_key(key, attempt, 0), result: end.map(|_degraded| ()) },
        );
        match end {
            Err((_, StopReason::Deadline)) => self.recorder.deadline_stopped(id),
            Err((_, StopReason::Budget)) => self.recorder.budget_refused(id, self.now),
            _ => {}
        }
        let call = &self.plan.calls[id.index()];
        match (parent.maker(), call.origin) {
            (Maker::Client(client), Origin::Group(group)) => {
                let in_doubt = FULL && self.operations.are_told && self.ends_in_doubt(index);
                self.end_request(group, client, RequestEnd { start, attempts: attempt, result: end, in_doubt });
            }
            (Maker::Work(work), _) => self.call_of_work_ended(work, id, end),
            (Maker::Fan(fan), _) => self.call_of_fan_ended(fan, (key, copy), id, end),
            (Maker::Client(_), Origin::Service(_)) => debug_assert!(false, "clients make the calls of their group"),
        }
    }

    pub(super) fn disarm_end(&mut self, index: u32) {
        disarm(&mut self.timers.ends, index);
    }

    /// The number of the instance that makes a call: that of the client in its group, or of the server in its service.
    pub(super) fn instance(&self, parent: Parent) -> u32 {
        let work = match parent.maker() {
            Maker::Client(number) => return number,
            Maker::Work(work) => work,
            Maker::Fan(fan) => self.fans[fan].work,
        };
        let WorkFrame { server, service, .. } = self.works[work];
        // Where servers are not told apart, there is one.
        if !FULL || server == NONE { 0 } else { server - self.servers.stations[service.index()].first }
    }
}
