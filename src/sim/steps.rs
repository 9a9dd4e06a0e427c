//! The calls that work makes: step by step, copies in parallel, fallbacks in the place of what failed.

use crate::dist::{Purpose, call_key, draw, happens};
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId};
use crate::sim::call::CallEnd;
use crate::sim::frames::{Fan, Parent};
use crate::sim::replica::Replica;
use crate::sim::tap::Tap;

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// The next step begins, and each one after it while all calls of a step settle at once; after the last the work is
    /// done.
    pub(super) fn run_next_step(&mut self, work: u32) {
        let plan = self.plan;
        loop {
            let frame = &mut self.works[work];
            let steps = &plan.services[frame.service.index()].steps;
            let Some(step) = plan.steps[steps.start as usize..steps.end as usize].get(frame.steps as usize) else {
                return self.complete(work, None);
            };
            frame.steps += 1;
            frame.unsettled = (step.end - step.start) as u16;
            frame.is_beginning = true;
            for &call in &plan.step_calls[step.start as usize..step.end as usize] {
                self.begin_call_of_step(work, call);
                if self.works[work].is_over() {
                    return;
                }
            }
            let frame = &mut self.works[work];
            frame.is_beginning = false;
            if frame.unsettled > 0 {
                return;
            }
        }
    }

    fn begin_call_of_step(&mut self, work: u32, id: CallId) {
        let call = &self.plan.calls[id.index()];
        let key = self.works[work].key;
        let first_key = call_key(key, call.key, 0);
        if !happens(draw_if_needed(call, first_key), call.probability) {
            self.settle(work);
        } else if call.copies == 1 && call.fallback.is_none() {
            self.works[work].children += 1;
            self.begin_call(id, Parent::work(work), first_key, 0);
        } else {
            self.begin_fan(work, id);
        }
    }

    fn begin_fan(&mut self, work: u32, id: CallId) {
        let call = &self.plan.calls[id.index()];
        let key = self.works[work].key;
        self.works[work].children += 1;
        let fan = Fan { work, call: id, succeeded: 0, failed: 0, live: 1, is_beginning: true, is_settled: false };
        let fan = self.fans.insert(fan);
        for copy in 0..call.copies {
            if self.works[work].is_over() {
                break;
            }
            self.fans[fan].live += 1;
            self.begin_call(id, Parent::fan(fan), call_key(key, call.key, copy), copy);
        }
        self.fans[fan].is_beginning = false;
        self.settle_fan(fan);
        self.release_fan(fan);
    }

    /// A call that stands for itself has ended.
    pub(super) fn call_of_work_ended(&mut self, work: u32, id: CallId, end: CallEnd) {
        self.works[work].children -= 1;
        match end {
            Ok(degraded) => self.call_succeeded(work, id, degraded),
            Err((error, _)) => self.call_failed(work, id, error),
        }
        self.release_work(work);
    }

    /// A copy, or a fallback, of a fan has ended; `key` and `copy` are those of the call that did.
    pub(super) fn call_of_fan_ended(&mut self, fan: u32, (key, copy): (u64, u32), id: CallId, end: CallEnd) {
        let Fan { work, call: fanned, .. } = self.fans[fan];
        match end {
            Ok(degraded) => {
                self.fans[fan].succeeded += 1;
                // Once enough copies have succeeded, nobody waits for the others.
                self.works[work].is_degraded |= degraded && !self.fans[fan].is_settled && self.awaits(work, fanned);
                self.settle_fan(fan);
            }
            Err((error, _)) => {
                if let Some(fallback) = self.plan.calls[id.index()].fallback {
                    let key = call_key(key, self.plan.calls[fallback.index()].key, 0);
                    return self.begin_call(fallback, Parent::fan(fan), key, copy);
                }
                self.fans[fan].failed += 1;
                let call = &self.plan.calls[fanned.index()];
                if !call.optional && self.fans[fan].failed == call.copies - call.required + 1 {
                    self.call_failed(work, fanned, error);
                }
                self.settle_fan(fan);
            }
        }
        self.release_fan(fan);
    }

    /// Lets the work go on if enough copies of a fan have succeeded, or if too many of an optional one have failed; not
    /// before all copies have begun.
    fn settle_fan(&mut self, fan: u32) {
        let Fan { work, call: id, succeeded, failed, is_beginning, is_settled, .. } = self.fans[fan];
        let call = &self.plan.calls[id.index()];
        if is_beginning || is_settled {
            return;
        }
        if succeeded >= call.required {
            self.fans[fan].is_settled = true;
            if FULL {
                self.abandon_copies(fan);
            }
            self.call_succeeded(work, id, false);
        } else if call.optional && failed > call.copies - call.required {
            self.fans[fan].is_settled = true;
            if FULL {
                self.abandon_copies(fan);
            }
            self.optional_call_failed(work, id);
        }
    }

    /// One of those that a fan waits for has ended.
    pub(super) fn release_fan(&mut self, fan: u32) {
        let frame = &mut self.fans[fan];
        frame.live -= 1;
        if frame.live == 0 {
            let work = frame.work;
            self.fans.remove(fan);
            self.works[work].children -= 1;
            self.release_work(work);
        }
    }

    /// Whether the work still waits for a call of its steps.
    pub(super) fn awaits(&self, work: u32, id: CallId) -> bool {
        let frame = &self.works[work];
        !frame.is_over() && u32::from(frame.steps) == self.plan.calls[id.index()].step + 1
    }

    fn call_succeeded(&mut self, work: u32, id: CallId, degraded: bool) {
        if self.awaits(work, id) {
            self.works[work].is_degraded |= degraded;
            self.settle(work);
        }
    }

    fn call_failed(&mut self, work: u32, id: CallId, error: ErrorKind) {
        if self.plan.calls[id.index()].optional {
            self.optional_call_failed(work, id);
        } else if self.awaits(work, id) {
            self.complete(work, Some(error));
        }
    }

    fn optional_call_failed(&mut self, work: u32, id: CallId) {
        if self.awaits(work, id) {
            self.works[work].is_degraded = true;
            self.settle(work);
        }
    }

    /// A call of the step that runs is done with.
    fn settle(&mut self, work: u32) {
        let frame = &mut self.works[work];
        frame.unsettled -= 1;
        // While a step begins, whoever begins it looks for itself when all calls have begun.
        if frame.unsettled == 0 && !frame.is_beginning {
            self.run_next_step(work);
        }
    }
}

/// The draw that decides whether a call is made; most are in any case.
#[inline]
fn draw_if_needed(call: &Call, key: u64) -> u64 {
    if call.probability == u64::MAX { 0 } else { draw(key, Purpose::Made) }
}
