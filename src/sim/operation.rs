//! Operations: which attempts are about the same, whether it was done before, and whether anybody knows.

use std::collections::{BTreeMap, BTreeSet};

use crate::dist::{call_key, client_key};
use crate::failure::ErrorKind;
use crate::plan::{CallId, InProgressRule, Keys, Origin, Plan, ServiceId, Store};
use crate::sim::frames::{Maker, Parent, Phase, WorkFrame};
use crate::sim::list::{Links, List};
use crate::sim::replica::Replica;
use crate::sim::tap::{Note, Tap};
use crate::time::Instant;

/// What a call, and each of its attempts, is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// The same for all that is to be done once.
    identity: u64,
    /// The key that is sent along, if one is.
    key: Option<u64>,
    /// The client's request that it is done for.
    request: RequestRef,
    /// Of work: what it is to the store of its service.
    standing: Standing,
}

/// What work is to the store of its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing.
    Stranger,
    /// It does the operation; what it ends with is stored.
    Owner,
    /// It waits for what the owner ends with.
    Waiting,
}

/// A request, or what was one: the place may have been used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RequestRef {
    place: u32,
    generation: u32,
}

/// How many of a request's attempts at services that write have no answer.
#[derive(Clone, Copy, Debug, Default)]
struct Doubt {
    generation: u32,
    unanswered: u32,
}

/// What is kept of operations, where anything asks for it.
#[derive(Debug, Default)]
pub(super) struct Operations {
    /// Whether anything does.
    pub are_told: bool,
    /// By call frame.
    calls: Vec<Operation>,
    /// By work frame.
    works: Vec<Operation>,
    doubts: Vec<Doubt>,
    free_doubts: Vec<u32>,
    /// By service.
    ledgers: Vec<Ledger>,
    waiting: Links,
}

/// What a service has done.
#[derive(Debug, Default)]
struct Ledger {
    /// The results in its store, by key.
    results: BTreeMap<u64, Entry>,
    /// The identities of the operations whose side effects there have been.
    done: BTreeSet<u64>,
}

/// What a store has under a key.
#[derive(Debug)]
struct Entry {
    identity: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The operation is being done; these wait for it.
    Running(List),
    /// It has ended, and this is known until then.
    Ended(Outcome, Instant),
}

#[derive(Clone, Copy, Debug)]
struct Outcome {
    error: Option<ErrorKind>,
    is_degraded: bool,
}

/// What a store says of an attempt whose turn has come.
enum Lookup {
    /// Nothing: it is to be done.
    New,
    /// It was done.
    Known(Outcome),
    /// It is being done.
    Running,
}

impl Operations {
    pub fn new(plan: &Plan) -> Self {
        let are_told = plan.tells_operations();
        let services = if are_told { plan.services.len() } else { 0 };
        Self { are_told, ledgers: (0..services).map(|_| Ledger::default()).collect(), ..Self::default() }
    }

    fn begin_request(&mut self) -> RequestRef {
        let place = self.free_doubts.pop().unwrap_or_else(|| {
            self.doubts.push(Doubt::default());
            self.doubts.len() as u32 - 1
        });
        RequestRef { place, generation: self.doubts[place as usize].generation }
    }

    /// The doubts of a request, as long as it lasts.
    fn doubt(&mut self, request: RequestRef) -> Option<&mut Doubt> {
        Some(&mut self.doubts[request.place as usize]).filter(|doubt| doubt.generation == request.generation)
    }

    /// Asks the store of a service, which learns of what is new.
    fn look_up(&mut self, service: ServiceId, operation: Operation, now: Instant) -> Lookup {
        let Some(key) = operation.key else { return Lookup::New };
        let results = &mut self.ledgers[service.index()].results;
        let forgotten = |entry: &&Entry| matches!(entry.state, State::Ended(_, until) if until <= now);
        match results.get(&key).filter(|entry| !forgotten(entry)) {
            None => {
                let running = Entry { identity: operation.identity, state: State::Running(List::EMPTY) };
                results.insert(key, running);
                Lookup::New
            }
            // Of what is forgotten it does not matter whose it was.
            Some(Entry { identity, .. }) if *identity != operation.identity => {
                Lookup::Known(Outcome { error: Some(ErrorKind::Invalid), is_degraded: false })
            }
            Some(Entry { state: State::Running(_), .. }) => Lookup::Running,
            Some(Entry { state: State::Ended(outcome, _), .. }) => Lookup::Known(*outcome),
        }
    }
}

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// A call begins, as this copy: what it is about.
    pub(super) fn name_call(&mut self, index: u32, copy: u32) {
        let frame = &self.calls[index];
        let (id, parent, key) = (frame.call, frame.parent, frame.key);
        let operation = self.operation_of(id, parent, key, copy);
        let calls = &mut self.operations.calls;
        calls.resize(self.calls.places(), operation);
        calls[index as usize] = operation;
    }

    fn operation_of(&mut self, id: CallId, parent: Parent, key: u64, copy: u32) -> Operation {
        let call = &self.plan.calls[id.index()];
        let work = match (parent.maker(), call.origin) {
            (Maker::Client(client), Origin::Group(group)) => {
                let group = &self.plan.groups[group.index()];
                let sent = match group.operations.keys {
                    // Of an attempt, it is that of the attempt.
                    Keys::None | Keys::PerAttempt => None,
                    Keys::PerOperation => Some(key),
                    Keys::Reused => Some(call_key(client_key(self.key, group.key, client), call.key, 0)),
                };
                let request = self.operations.begin_request();
                return Operation { identity: key, key: sent, request, standing: Standing::Stranger };
            }
            (Maker::Fan(fan), _) => self.fans[fan].work,
            (Maker::Work(work) | Maker::Client(work), _) => work,
        };
        let above = self.operations.works[work as usize];
        let below = |key| call_key(key, call.key, copy);
        Operation { identity: below(above.identity), key: above.key.map(below), standing: Standing::Stranger, ..above }
    }

    /// An attempt of a call is sent: what it is about.
    pub(super) fn name_work(&mut self, index: u32, work: u32) {
        let mut operation = self.operations.calls[index as usize];
        let call = &self.plan.calls[self.calls[index].call.index()];
        if let Origin::Group(group) = call.origin
            && self.plan.groups[group.index()].operations.keys == Keys::PerAttempt
        {
            operation.key = Some(self.works[work].key);
        }
        let works = &mut self.operations.works;
        if works.len() < self.works.places() {
            works.resize(self.works.places(), operation);
        }
        works[work as usize] = operation;
        if self.plan.services[call.target.index()].effects.writes
            && let Some(doubt) = self.operations.doubt(operation.request)
        {
            doubt.unanswered += 1;
        }
    }

    /// An attempt was answered in time.
    pub(super) fn dispel_doubt(&mut self, work: u32) {
        let service = self.works[work].service;
        let request = self.operations.works[work as usize].request;
        if self.plan.services[service.index()].effects.writes
            && let Some(doubt) = self.operations.doubt(request)
        {
            doubt.unanswered -= 1;
        }
    }

    /// A client's request has ended with this call: whether any attempt beneath it at a service that writes has no
    /// answer.
    pub(super) fn ends_in_doubt(&mut self, index: u32) -> bool {
        let request = self.operations.calls[index as usize].request;
        let Some(doubt) = self.operations.doubt(request) else { return false };
        let in_doubt = doubt.unanswered > 0;
        *doubt = Doubt { generation: request.generation.wrapping_add(1), unanswered: 0 };
        self.operations.free_doubts.push(request.place);
        in_doubt
    }

    /// The service has worked on an attempt: if it writes, that has its side effect.
    pub(super) fn count_effect(&mut self, work: u32) {
        let service = self.works[work].service;
        if self.plan.services[service.index()].effects.writes {
            let identity = self.operations.works[work as usize].identity;
            let is_first = self.operations.ledgers[service.index()].done.insert(identity);
            self.recorder.executed(service, is_first);
        }
    }

    /// An attempt has taken a worker of a service with a store: whether it is to be done. If not, it is dealt with.
    pub(super) fn is_new(&mut self, work: u32, store: Store) -> bool {
        let WorkFrame { key, service, .. } = self.works[work];
        let operation = self.operations.works[work as usize];
        let lookup = self.operations.look_up(service, operation, self.now);
        if matches!(lookup, Lookup::New) {
            if operation.key.is_some() {
                self.operations.works[work as usize].standing = Standing::Owner;
            }
            return true;
        }
        self.tap.note(self.now, Note::Recognised { key });
        self.recorder.recognised(service);
        self.works[work].phase = Phase::Awaiting;
        match (lookup, store.in_progress) {
            (Lookup::Running, InProgressRule::Wait) => self.wait_for_owner(work),
            (Lookup::Known(outcome), _) => self.answer_from_store(work, outcome),
            _ => self.answer_from_store(work, Outcome { error: Some(ErrorKind::Refused), is_degraded: false }),
        }
        false
    }

    fn answer_from_store(&mut self, work: u32, Outcome { error, is_degraded }: Outcome) {
        self.works[work].is_degraded = is_degraded;
        self.say_retry_after(work, None);
        self.complete(work, error);
    }

    fn wait_for_owner(&mut self, work: u32) {
        self.operations.works[work as usize].standing = Standing::Waiting;
        let Operations { works, ledgers, waiting, .. } = &mut self.operations;
        let service = self.works[work].service;
        let key = works[work as usize].key.unwrap_or_default();
        if let Some(Entry { state: State::Running(list), .. }) = ledgers[service.index()].results.get_mut(&key) {
            waiting.push(list, work);
        }
    }

    /// The service is done with an attempt that may have done an operation: its store remembers that, and whoever waits
    /// for it is answered.
    pub(super) fn remember(&mut self, work: u32) {
        let WorkFrame { service, error, is_degraded, .. } = self.works[work];
        let Operation { identity, key, standing, .. } = self.operations.works[work as usize];
        let (Standing::Owner, Some(key), Some(store)) =
            (standing, key, self.plan.services[service.index()].effects.store)
        else {
            return;
        };
        self.operations.works[work as usize].standing = Standing::Stranger;
        let outcome = Outcome { error, is_degraded };
        let entry = Entry { identity, state: State::Ended(outcome, self.now + store.ttl) };
        let before = self.operations.ledgers[service.index()].results.insert(key, entry);
        if let Some(Entry { state: State::Running(mut list), .. }) = before {
            while let Some(next) = list.first() {
                self.operations.waiting.remove(&mut list, next);
                self.operations.works[next as usize].standing = Standing::Stranger;
                self.answer_from_store(next, outcome);
            }
        }
    }

    /// An attempt is cancelled, or reset by a crash: if it did an operation, the first of those that wait for that does
    /// it now; if it waited itself, it does not any more.
    pub(super) fn leave_store(&mut self, work: u32) {
        let service = self.works[work].service;
        let Operations { works, ledgers, waiting, .. } = &mut self.operations;
        let Operation { key: Some(key), standing, .. } = works[work as usize] else { return };
        works[work as usize].standing = Standing::Stranger;
        let results = &mut ledgers[service.index()].results;
        let Some(Entry { state: State::Running(list), .. }) = results.get_mut(&key) else { return };
        match standing {
            Standing::Stranger => {}
            Standing::Waiting => waiting.remove(list, work),
            Standing::Owner => match list.first() {
                Some(next) => {
                    waiting.remove(list, next);
                    works[next as usize].standing = Standing::Owner;
                    self.begin_late(next);
                }
                None => _ = results.remove(&key),
            },
        }
    }
}
