//! Pools: the slots that the attempts of a call need, such as the connections of a client.

use crate::dist::attempt_key;
use crate::failure::ErrorKind;
use crate::plan::{CallId, Plan};
use crate::sim::agenda::Sequence;
use crate::sim::frames::{CallFrame, NONE};
use crate::sim::list::{Links, List};
use crate::sim::replica::Replica;
use crate::sim::server::Freed;
use crate::sim::tap::{Note, Tap};
use crate::time::Span;

/// The slots of one instance of a caller for one of its calls.
#[derive(Clone, Copy, Debug)]
struct Slots {
    size: u32,
    taken: u32,
    /// The calls that wait for one.
    waiting: List,
}

/// All pools of a plan.
#[derive(Debug)]
pub(super) struct Pools {
    slots: Vec<Slots>,
    /// By call: the slots of its first instance, or [`NONE`] without a pool. Empty if no call has one.
    first: Vec<u32>,
    queues: Links,
}

impl Pools {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut pools = Self { slots: Vec::new(), first: Vec::new(), queues: Links::default() };
        if plan.calls.iter().all(|call| call.pool.is_none()) {
            return pools;
        }
        for call in &plan.calls {
            pools.first.push(if call.pool.is_some() { pools.slots.len() as u32 } else { NONE });
            if let Some(pool) = call.pool {
                let slots = Slots { size: pool.size, taken: 0, waiting: List::EMPTY };
                pools.slots.resize(pools.slots.len() + plan.callers(call) as usize, slots);
            }
        }
        pools
    }

    /// Whether any call has one.
    #[inline]
    pub(super) fn exist(&self) -> bool {
        !self.first.is_empty()
    }
}

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// The slots that a call in progress uses; none without a pool.
    #[inline]
    fn slots_of(&self, index: u32) -> Option<u32> {
        let CallFrame { call, parent, .. } = self.calls[index];
        let first = *self.pools.first.get(call.index()).filter(|&&first| first != NONE)?;
        Some(first + self.instance(parent))
    }

    /// An attempt asks to be sent: at once, when it gets a slot, or not at all.
    pub(super) fn ask_for_slot(&mut self, index: u32) {
        let now = self.now;
        let Some(slots) = self.slots_of(index) else { return self.send(index, now, 0) };
        let CallFrame { call: id, .. } = self.calls[index];
        let call = &self.plan.calls[id.index()];
        let pool = &mut self.pools.slots[slots as usize];
        if pool.taken < pool.size && pool.waiting.is_empty() {
            pool.taken += 1;
            self.recorder.got_slot(id, Span::ZERO, now);
            return self.send(index, now, 0);
        }
        let max_wait = call.pool.expect("it has slots").max_wait;
        if max_wait.after == Span::ZERO {
            return self.turn_away(index, ErrorKind::PoolTimeout);
        }
        self.pools.queues.push(&mut pool.waiting, index);
        self.extras[index as usize].is_waiting = true;
        self.recorder.waits_for_slot(id, now);
        let limit = if max_wait.after <= call.timeout.after { max_wait } else { call.timeout };
        self.arm_limit(index, limit);
    }

    /// The attempt that has waited longest gets a slot that is free.
    pub(super) fn pass_on_slot(&mut self, slots: u32) {
        let pool = &mut self.pools.slots[slots as usize];
        let Some(index) = pool.waiting.first().filter(|_| pool.taken < pool.size) else { return };
        pool.taken += 1;
        self.stop_waiting(index, slots);
        let asked = self.extras[index as usize].asked;
        self.recorder.got_slot(self.calls[index].call, self.now.since(asked), self.now);
        self.send(index, asked, 0);
    }

    /// Takes a slot for a copy of the attempt under way, if it can be had without a wait. Without a pool it always can.
    pub(super) fn takes_slot_at_once(&mut self, index: u32) -> bool {
        let Some(slots) = self.slots_of(index) else { return true };
        let pool = &mut self.pools.slots[slots as usize];
        let is_free = pool.taken < pool.size && pool.waiting.is_empty();
        pool.taken += u32::from(is_free);
        is_free
    }

    fn stop_waiting(&mut self, index: u32, slots: u32) {
        self.pools.queues.remove(&mut self.pools.slots[slots as usize].waiting, index);
        self.extras[index as usize].is_waiting = false;
        self.recorder.waited_for_slot(self.calls[index].call, self.now);
    }

    /// If the call waits for a slot, it does so no more. Whether it did.
    pub(super) fn leave_pool_queue(&mut self, index: u32) -> bool {
        let is_waiting = self.pools.exist() && self.extras[index as usize].is_waiting;
        if let Some(slots) = self.slots_of(index).filter(|_| is_waiting) {
            self.stop_waiting(index, slots);
        }
        is_waiting
    }

    /// The attempt under way needs its slot no longer.
    #[inline]
    pub(super) fn free_slot(&mut self, index: u32) {
        if !self.pools.exist() {
            return;
        }
        if let Some(slots) = self.slots_of(index) {
            let pool = &mut self.pools.slots[slots as usize];
            pool.taken -= 1;
            if !pool.waiting.is_empty() {
                self.freed.push(Freed::Slot(slots));
            }
        }
    }

    /// The error of an attempt whose timer has run out while it waited for a slot.
    pub(super) fn error_of_waiting(&self, call: CallId) -> ErrorKind {
        let call = &self.plan.calls[call.index()];
        let is_pool = call.pool.is_some_and(|pool| pool.max_wait.after <= call.timeout.after);
        if is_pool { ErrorKind::PoolTimeout } else { ErrorKind::Timeout }
    }

    /// An attempt ends without having been sent.
    pub(super) fn turn_away(&mut self, index: u32, error: ErrorKind) {
        let CallFrame { key, call, attempt, .. } = self.calls[index];
        let key = attempt_key(key, attempt, 0);
        self.tap.note(self.now, Note::TurnedAway { call, key, error });
        self.recorder.turned_away(call, error);
        self.calls[index].armed = Sequence::NONE;
        self.release_budget(index, false);
        if self.guards.exist {
            self.tell_guards_of_nothing(index);
        }
        self.fail_attempt(index, key, error, None);
    }
}
