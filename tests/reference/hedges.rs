//! The section "Hedges": the copies of an attempt, and how it ends with them.

use stormsim::dist::attempt_key;
use stormsim::failure::ErrorKind;
use stormsim::plan::{CallId, Hedge};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::interpreter::Interpreter;
use super::record::{Attempt, AttemptEnd, LeftOut};

impl Interpreter<'_> {
    /// The first copy of an attempt has been sent, and its timer is armed.
    pub(super) fn arm_hedge_timer(&mut self, attempt: usize) {
        if let Some(Hedge { after, .. }) = self.plan.calls[self.record.attempts[attempt].id.index()].hedge {
            let timer = self.agenda.schedule(self.now + after.after, Class::Timeout, Event::HedgeTimer { attempt });
            self.record.attempts[attempt].hedge_timer = Some(timer);
        }
    }

    /// The next copy of an attempt is due.
    pub(super) fn hedge_timer(&mut self, attempt: usize) {
        let Attempt { call, id, .. } = self.record.attempts[attempt];
        let hedge = self.plan.calls[id.index()].hedge.expect("it is hedged");
        let has_pool = self.plan.calls[id.index()].pool.is_some();
        let instance = self.instance(call);
        self.record.attempts[attempt].hedge_timer = None;
        self.record.attempts[attempt].due += 1;
        if self.hedges_under_way(attempt, hedge) >= hedge.in_flight as usize {
            self.record.left_out.push((self.now, id, LeftOut::InFlight));
        } else if has_pool && (self.longest_waiting(id, instance).is_some() || !self.has_free_slot(id, instance)) {
            self.record.left_out.push((self.now, id, LeftOut::NoSlot));
        } else {
            self.send_hedge(attempt, has_pool);
        }
        if self.record.attempts[attempt].due < hedge.copies {
            self.arm_hedge_timer(attempt);
        }
    }

    /// For all calls that share the limit.
    fn hedges_under_way(&self, attempt: usize, hedge: Hedge) -> usize {
        let Attempt { call, id, .. } = self.record.attempts[attempt];
        let shares = |other: &Attempt| !hedge.by_instance || self.instance(other.call) == self.instance(call);
        let hedges = self.record.attempts.iter().filter(|it| it.id == id && it.hedge > 0 && shares(it));
        hedges.filter(|it| it.ended.is_none()).count()
    }

    fn send_hedge(&mut self, first: usize, has_slot: bool) {
        let Attempt { call, id, number, due, .. } = self.record.attempts[first];
        let key = attempt_key(self.record.calls[call].key, number, due);
        let brings = self.key_sent_along(call, key);
        let copy = self.record.attempts.len();
        let sent = Attempt { hedge: due, has_slot, ..Attempt::new(call, id, number, key, brings, self.now, first) };
        self.record.attempts.push(sent);
        self.send(copy);
    }

    /// A copy of an attempt finds nobody. It fails by itself if its connection does so before its caller gives up.
    pub(super) fn arm_copy_timer(&mut self, copy: usize) {
        let Attempt { id, sent, .. } = self.record.attempts[copy];
        let connect_timeout = self.plan.calls[id.index()].connect_timeout.after;
        if connect_timeout == Span::UNLIMITED {
            return;
        }
        let until = sent.expect("it was sent") + connect_timeout;
        if self.waits_until(copy).is_none_or(|waits_until| until < waits_until) {
            let timer = self.agenda.schedule(until, Class::Timeout, Event::CopyTimer { attempt: copy });
            self.record.attempts[copy].copy_timer = Some(timer);
        }
    }

    /// When the caller ceases to wait for the attempt that this is a copy of, at the latest.
    pub(super) fn waits_until(&self, copy: usize) -> Option<Instant> {
        let Attempt { call, id, first, .. } = self.record.attempts[copy];
        let started = self.record.attempts[first].started;
        let timeout = self.plan.calls[id.index()].timeout.after;
        let timeout = (timeout != Span::UNLIMITED).then(|| started + timeout);
        [self.record.calls[call].limit, timeout].into_iter().flatten().min()
    }

    pub(super) fn copy_timer(&mut self, copy: usize) {
        self.record.attempts[copy].copy_timer = None;
        self.give_up(copy, ErrorKind::Timeout);
        self.copy_failed(copy, ErrorKind::Timeout, None);
    }

    /// The copies of an attempt that are under way, in the order in which they were sent; or the attempt itself while
    /// it waits to be.
    pub(super) fn under_way(&self, first: usize) -> Vec<usize> {
        let attempts = self.record.attempts.iter().enumerate();
        attempts.filter(|(_, it)| it.first == first && it.ended.is_none()).map(|(index, _)| index).collect()
    }

    /// A copy was answered with success: the others are given up.
    pub(super) fn give_up_losers(&mut self, first: usize) {
        let id = self.record.attempts[first].id;
        for loser in self.under_way(first) {
            self.ends(loser, AttemptEnd::Outrun);
            let key = self.record.attempts[loser].key;
            self.note(Note::Outrun { key });
            if self.is_told_of(id, AttemptEnd::Outrun) {
                self.let_go(loser);
            } else {
                self.free_slot(loser);
            }
        }
    }

    /// Whether those who work on an attempt may learn that it has ended like this.
    pub(super) fn is_told_of(&self, id: CallId, end: AttemptEnd) -> bool {
        end != AttemptEnd::Outrun || self.plan.calls[id.index()].hedge.is_some_and(|hedge| hedge.cancel_losers)
    }

    /// A copy has failed by an answer, or by its timer. With the last one that is under way the attempt has.
    pub(super) fn copy_failed(&mut self, copy: usize, error: ErrorKind, retry_after: Option<Span>) {
        let first = self.record.attempts[copy].first;
        if self.under_way(first).is_empty() {
            self.attempt_is_over(first);
            self.count_attempt(first, Some(error));
            self.attempt_failed(first, error, retry_after);
        }
    }

    /// A copy has ended for its caller.
    pub(super) fn ends(&mut self, copy: usize, end: AttemptEnd) {
        let this = &mut self.record.attempts[copy];
        assert!(this.ended.is_none(), "nothing ends twice");
        this.ended = Some((self.now, end));
        if let Some(timer) = this.copy_timer.take() {
            self.agenda.cancel(timer);
        }
    }

    /// An attempt has ended with all of its copies: its timers are disarmed.
    pub(super) fn attempt_is_over(&mut self, first: usize) {
        let this = &mut self.record.attempts[first];
        this.over = Some(self.now);
        for timer in [this.timer.take(), this.hedge_timer.take()].into_iter().flatten() {
            self.agenda.cancel(timer);
        }
    }
}
