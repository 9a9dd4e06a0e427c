//! What follows when nobody waits any more: services that learn of it end their work, and the calls that it makes.

use crate::dist::attempt_key;
use crate::plan::Cancel;
use crate::sim::agenda::{Event, Sequence};
use crate::sim::frames::{CallFrame, Fan, Maker, NONE, Parent, Phase, WorkFrame};
use crate::sim::list::{Links, List};
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};

/// Which calls each piece of work has in progress, where they may be abandoned.
#[derive(Debug, Default)]
pub(super) struct Kin {
    /// By work frame.
    calls: Vec<List>,
    /// By call frame.
    siblings: Links,
}

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// What was sent for an attempt is given up: if it is told, its target learns of it as far as it wants to.
    #[inline(always)]
    pub(super) fn let_go(&mut self, work: u32, tells: bool) {
        self.works[work].caller = NONE;
        let WorkFrame { phase, service, server, .. } = self.works[work];
        if !FULL {
            if phase == Phase::Lost {
                self.works.remove(work);
            }
            return;
        }
        let cancel = if tells { self.plan.services[service.index()].capacity.cancel } else { Cancel::Ignore };
        self.works[work].is_forgotten = !tells;
        match phase {
            Phase::Lost => {
                if server != NONE {
                    self.servers.list[server as usize].load -= 1;
                }
                self.works.remove(work);
            }
            Phase::Muted => {
                self.works[work].phase = Phase::Delivered;
                self.release_work(work);
            }
            Phase::Queued if cancel >= Cancel::Queued => self.cancel_work(work),
            Phase::Failing | Phase::Awaiting | Phase::Serving | Phase::Calling if cancel == Cancel::Running => {
                self.cancel_work(work)
            }
            _ => {}
        }
    }

    /// The service ends what it does for an attempt.
    fn cancel_work(&mut self, work: u32) {
        let WorkFrame { key, service, server, phase, .. } = self.works[work];
        self.tap.note(self.now, Note::Cancelled { key });
        self.recorder.cancelled(service, self.now);
        if phase == Phase::Serving {
            self.recorder.worked(service, self.served_for(work), false);
        }
        if self.holds_worker(work) {
            self.free_worker(service, server);
        }
        self.leave_server(work);
        if phase == Phase::Queued {
            self.leave_queue(work);
        } else {
            self.disarm_served(work);
        }
        self.works[work].phase = Phase::Cancelled;
        if self.operations.are_told {
            self.leave_store(work);
        }
        self.abandon_calls(work);
        self.release_work(work);
    }

    /// All calls that work has in progress are abandoned, the oldest first.
    pub(super) fn abandon_calls(&mut self, work: u32) {
        while let Some(index) = self.kin.calls.get(work as usize).and_then(List::first) {
            self.abandon_call(index);
        }
    }

    /// The copies of a fan that have not ended are abandoned, if their service does that.
    pub(super) fn abandon_copies(&mut self, fan: u32) {
        let Fan { work, live, .. } = self.fans[fan];
        // The one that has settled the fan still counts.
        if live == 1 || !self.abandons(work) {
            return;
        }
        let mut next = self.kin.calls.get(work as usize).and_then(List::first);
        while let Some(index) = next {
            next = self.kin.siblings.next(index);
            if self.calls[index].parent == Parent::fan(fan) {
                self.abandon_call(index);
            }
        }
    }

    /// Ends a call that nobody waits for.
    fn abandon_call(&mut self, index: u32) {
        let CallFrame { key, parent, call, attempt, work, .. } = self.calls[index];
        self.tap.note(self.now, Note::Abandoned { call, key: attempt_key(key, attempt, 0) });
        self.leave_kin(index);
        self.disarm_end(index);
        self.calls[index].armed = Sequence::NONE;
        let is_waiting = work == NONE && !self.leave_pool_queue(index);
        if work != NONE && self.hedges.exist && self.hedge_of(index).is_some() {
            self.abandon_copies_of(index);
        } else if work != NONE {
            self.recorder.abandoned(call, self.now);
            self.free_slot(index);
            self.let_go(work, true);
        }
        self.release_budget(index, is_waiting);
        if self.guards.exist {
            self.leave_guards(index);
        }
        self.calls.remove(index);
        match parent.maker() {
            Maker::Client(_) => debug_assert!(false, "nobody abandons the calls of clients"),
            Maker::Work(work) => {
                self.works[work].children -= 1;
                self.release_work(work);
            }
            Maker::Fan(fan) => self.release_fan(fan),
        }
    }

    /// Whether the service of this work abandons calls that nobody waits for.
    #[inline]
    pub(super) fn abandons(&self, work: u32) -> bool {
        self.servers.cancels && self.plan.services[self.works[work].service.index()].capacity.cancel == Cancel::Running
    }

    /// A call has begun that may be abandoned.
    pub(super) fn join_kin(&mut self, index: u32) {
        if let Some(work) = self.maker_in_danger(index) {
            if self.kin.calls.len() <= work as usize {
                self.kin.calls.resize(work as usize + 1, List::EMPTY);
            }
            self.kin.siblings.push(&mut self.kin.calls[work as usize], index);
        }
    }

    /// It has ended.
    pub(super) fn leave_kin(&mut self, index: u32) {
        if let Some(work) = self.maker_in_danger(index) {
            self.kin.siblings.remove(&mut self.kin.calls[work as usize], index);
        }
    }

    /// The work that made a call, if it may abandon it.
    fn maker_in_danger(&self, index: u32) -> Option<u32> {
        let work = match self.calls[index].parent.maker() {
            Maker::Client(_) => return None,
            Maker::Work(work) => work,
            Maker::Fan(fan) => self.fans[fan].work,
        };
        self.servers.abandon[self.works[work].service.index()].then_some(work)
    }

    /// Whether an event is none any more: what it is about was cancelled or abandoned, and its frame may have become
    /// another's; or a pause has put it off.
    pub(super) fn is_ghost(&mut self, event: Event, sequence: Sequence) -> bool {
        const SERVED: u8 = Kind::Served as u8;
        const WAKE: u8 = Kind::Wake as u8;
        let index = event.index();
        match event.kind() {
            SERVED => self.servers.served[index as usize] != sequence || self.servers.pauses && self.is_put_off(index),
            WAKE => self.calls[index].armed != sequence,
            _ => false,
        }
    }
}
