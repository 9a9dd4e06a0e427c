//! The section "Operations", callers' side: what attempts are about, and what of it nobody knows.

use stormsim::dist::{call_key, client_key};
use stormsim::failure::StopReason;
use stormsim::plan::{CallId, GroupId, Keys};

use super::interpreter::Interpreter;
use super::record::{Attempt, AttemptEnd, Call, CallResult, Caller, Place, Request};

impl Interpreter<'_> {
    /// The operation of a call that has this key.
    pub(super) fn operation_of(&self, id: CallId, caller: Caller, key: u64) -> u64 {
        match caller {
            Caller::Request(_) => key,
            Caller::Work(Place { work, copy, .. }) => {
                let above = self.record.attempts[self.record.works[work].attempt].call;
                call_key(self.record.calls[above].operation, self.plan.calls[id.index()].key, copy)
            }
        }
    }

    /// The key that an attempt of a call brings along, which itself has the key `attempt`.
    pub(super) fn key_sent_along(&self, call: usize, attempt: u64) -> Option<u64> {
        let Call { id, caller, operation, .. } = self.record.calls[call];
        let label = self.plan.calls[id.index()].key;
        match caller {
            Caller::Request(request) => {
                let Request { group, client, .. } = self.record.requests[request];
                let group = &self.plan.groups[group.index()];
                match group.operations.keys {
                    Keys::None => None,
                    Keys::PerOperation => Some(operation),
                    Keys::PerAttempt => Some(attempt),
                    Keys::Reused => Some(call_key(client_key(self.replica_key, group.key, client), label, 0)),
                }
            }
            Caller::Work(Place { work, copy, .. }) => {
                let brought = self.record.attempts[self.record.works[work].attempt].brings;
                brought.map(|key| call_key(key, label, copy))
            }
        }
    }

    /// Whether an attempt beneath a request that was sent to a service which writes has not been answered in time.
    pub(super) fn is_in_doubt(&self, request: usize) -> bool {
        let writes = |id: CallId| self.plan.services[self.plan.calls[id.index()].target.index()].effects.writes;
        let is_answered = |attempt: &Attempt| matches!(attempt.ended, Some((_, AttemptEnd::Answered(_))));
        self.record.attempts.iter().any(|attempt| {
            let is_open = attempt.sent.is_some() && writes(attempt.id) && !is_answered(attempt);
            is_open && self.request_of(attempt.call) == request
        })
    }

    /// The request on whose behalf a call was made.
    fn request_of(&self, call: usize) -> usize {
        match self.record.calls[call].caller {
            Caller::Request(request) => request,
            Caller::Work(Place { work, .. }) => {
                self.request_of(self.record.attempts[self.record.works[work].attempt].call)
            }
        }
    }

    /// Whether a request that has ended like this is put aside.
    pub(super) fn is_dead_letter(&self, group: GroupId, result: CallResult) -> bool {
        let puts_aside = self.plan.groups[group.index()].operations.dead_letters;
        puts_aside && matches!(result, Err((_, StopReason::Exhausted)))
    }
}
