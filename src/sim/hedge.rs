//! Hedges: copies of an attempt, sent beside it while it has no answer.

use crate::failure::ErrorKind;
use crate::plan::{Hedge, Plan};
use crate::sim::agenda::Sequence;
use crate::sim::frames::CallFrame;
use crate::sim::list::{Links, List};
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::sim::timers::{disarm, set};
use crate::time::Instant;

/// The attempts that have copies, and the copies under way. A copy is what is sent for an attempt, the first included.
#[derive(Debug, Default)]
pub(super) struct Hedges {
    /// How many hedges are under way, for those that share a limit.
    in_flight: Vec<u32>,
    /// By call: where its counts begin; of no meaning if it is not hedged.
    first: Vec<usize>,
    /// By call frame: the copies of its attempt that are under way, in the order in which they were sent.
    copies: Vec<List>,
    /// By work frame.
    siblings: Links,
    /// By call frame: how many hedges of its attempt were due so far.
    due: Vec<u32>,
    /// Whether any call is hedged.
    pub exist: bool,
}

impl Hedges {
    pub fn new(plan: &Plan) -> Self {
        let mut hedges = Self { exist: plan.calls.iter().any(|call| call.hedge.is_some()), ..Self::default() };
        if !hedges.exist {
            return hedges;
        }
        for call in &plan.calls {
            let first = hedges.in_flight.len();
            hedges.first.push(first);
            let counts = call.hedge.map_or(0, |hedge| if hedge.by_instance { plan.callers(call) as usize } else { 1 });
            hedges.in_flight.resize(first + counts, 0);
        }
        hedges
    }
}

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// How a call is hedged.
    #[inline]
    pub(super) fn hedge_of(&self, index: u32) -> Option<Hedge> {
        self.plan.calls[self.calls[index].call.index()].hedge
    }

    /// How many hedges are under way among those that share the limit of this call.
    fn in_flight_with(&mut self, index: u32, hedge: Hedge) -> &mut u32 {
        let CallFrame { call, parent, .. } = self.calls[index];
        let number = if hedge.by_instance { self.instance(parent) as usize } else { 0 };
        &mut self.hedges.in_flight[self.hedges.first[call.index()] + number]
    }

    /// An attempt of a hedged call is sent, of which this is the first copy.
    pub(super) fn begin_hedging(&mut self, index: u32, work: u32) {
        let (places, Hedges { copies, due, .. }) = (self.calls.places(), &mut self.hedges);
        if copies.len() < places {
            copies.resize(places, List::EMPTY);
            due.resize(places, 0);
        }
        (copies[index as usize], due[index as usize]) = (List::EMPTY, 0);
        self.join_copies(index, work);
        self.arm_hedge(index);
    }

    fn join_copies(&mut self, index: u32, work: u32) {
        self.hedges.siblings.push(&mut self.hedges.copies[index as usize], work);
    }

    fn arm_hedge(&mut self, index: u32) {
        let timer = match self.hedge_of(index) {
            Some(hedge) if self.hedges.due[index as usize] < hedge.copies => {
                self.agenda.arm(hedge.after.id, Kind::HedgeTimer.of(index))
            }
            _ => Sequence::NONE,
        };
        set(&mut self.timers.hedges, self.calls.places(), index, timer);
    }

    /// The attempt under way has no answer yet: a copy of it is sent, if there may be one more and there is a slot.
    pub(super) fn hedge_due(&mut self, index: u32) {
        let Some(hedge) = self.hedge_of(index) else { return };
        self.hedges.due[index as usize] += 1;
        if *self.in_flight_with(index, hedge) < hedge.in_flight && self.takes_slot_at_once(index) {
            *self.in_flight_with(index, hedge) += 1;
            let asked = self.extras[index as usize].asked;
            self.send(index, asked, self.hedges.due[index as usize]);
        } else {
            self.recorder.hedge_left_out(self.calls[index].call);
        }
        self.arm_hedge(index);
    }

    /// A copy is sent beside an attempt.
    pub(super) fn begin_copy(&mut self, index: u32, work: u32) {
        self.recorder.hedged(self.calls[index].call);
        self.join_copies(index, work);
    }

    /// A copy finds nobody: it is given up when it has had the time to connect since it was sent, if its caller still
    /// waits for it then.
    pub(super) fn arm_copy(&mut self, index: u32, work: u32, gives_up: Instant, asked: Instant) {
        let call = &self.plan.calls[self.calls[index].call.index()];
        if gives_up < self.waits_until(index, call, asked) {
            let timer = self.agenda.arm_at(gives_up, Kind::CopyTimer.of(work));
            set(&mut self.timers.copies, self.works.places(), work, timer);
        }
    }

    /// A copy that found nobody has had the time to connect.
    pub(super) fn copy_timed_out(&mut self, work: u32) {
        self.timed_out = self.now;
        let index = self.works[work].caller;
        self.give_up_copy(index, work, ErrorKind::Timeout);
        if self.goes_on(index) {
            return;
        }
        self.calls[index].armed = Sequence::NONE;
        self.attempt_given_up(index, self.attempt_key(index), ErrorKind::Timeout);
    }

    /// A copy of a hedged attempt was answered in time. Whether the attempt goes on: it was an error, and there are
    /// others.
    pub(super) fn is_outlived(&mut self, index: u32, work: u32, error: Option<ErrorKind>) -> bool {
        self.leave_copies(index, work);
        if error.is_some() {
            return self.goes_on(index);
        }
        if self.works[work].is_hedge {
            self.recorder.hedge_won(self.calls[index].call);
        }
        self.end_losers(index);
        false
    }

    /// A copy is over that failed: whether there are others. If not, no more are sent.
    fn goes_on(&mut self, index: u32) -> bool {
        match self.hedges.copies[index as usize].first() {
            Some(other) => {
                self.calls[index].work = other;
                true
            }
            None => {
                disarm(&mut self.timers.hedges, index);
                false
            }
        }
    }

    /// A copy has won: the others are waited for no more.
    fn end_losers(&mut self, index: u32) {
        disarm(&mut self.timers.hedges, index);
        let tells = self.hedge_of(index).is_some_and(|hedge| hedge.cancel_losers);
        while let Some(work) = self.hedges.copies[index as usize].first() {
            let key = self.works[work].key;
            self.tap.note(self.now, Note::Outrun { key });
            self.abandon_copy(index, work, tells);
        }
    }

    /// All copies of the attempt under way have taken too long.
    pub(super) fn give_up_copies(&mut self, index: u32, error: ErrorKind) {
        disarm(&mut self.timers.hedges, index);
        while let Some(work) = self.hedges.copies[index as usize].first() {
            self.give_up_copy(index, work, error);
        }
    }

    fn give_up_copy(&mut self, index: u32, work: u32, error: ErrorKind) {
        self.leave_copies(index, work);
        self.give_up_work(index, work, error);
    }

    /// The call is abandoned, and all copies of its attempt with it.
    pub(super) fn abandon_copies_of(&mut self, index: u32) {
        disarm(&mut self.timers.hedges, index);
        while let Some(work) = self.hedges.copies[index as usize].first() {
            self.abandon_copy(index, work, true);
        }
    }

    /// The caller ends a copy itself; if it `tells`, the callee may learn of that.
    fn abandon_copy(&mut self, index: u32, work: u32, tells: bool) {
        self.recorder.abandoned(self.calls[index].call, self.now);
        self.leave_copies(index, work);
        self.free_slot(index);
        self.let_go(work, tells);
    }

    /// A copy is waited for no more.
    fn leave_copies(&mut self, index: u32, work: u32) {
        self.hedges.siblings.remove(&mut self.hedges.copies[index as usize], work);
        disarm(&mut self.timers.copies, work);
        if self.works[work].is_hedge
            && let Some(hedge) = self.hedge_of(index)
        {
            *self.in_flight_with(index, hedge) -= 1;
        }
    }
}
