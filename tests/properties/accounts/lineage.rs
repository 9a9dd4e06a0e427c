//! Whose an attempt is: the attempts that may come to be, by the rules for keys.

use std::collections::BTreeMap;

use stormsim::dist::{attempt_key, call_key, client_key, replica_key, request_key};
use stormsim::plan::{CallId, Keys, Plan};
use stormsim::sim::Note;

/// An attempt that may come to be.
#[derive(Clone, Copy)]
pub struct Possible {
    /// Of this call.
    pub id: CallId,
    /// The key of that.
    pub call: u64,
    /// Which attempt; 0 stands for a call that has made none.
    pub number: u32,
    /// The client or server that makes it.
    pub instance: usize,
    /// The request above it, counted in the order in which they begin.
    pub request: usize,
    /// What it is about.
    pub operation: u64,
    /// The key of its operation that it brings along.
    pub brings: Option<u64>,
}

/// All of them, as far as the notes have been read.
pub struct Lineage<'a> {
    plan: &'a Plan,
    replica_key: u64,
    /// How many requests have begun.
    requests: usize,
    /// By their keys.
    possible: BTreeMap<u64, Possible>,
    /// By attempt, where it was sent to.
    servers: BTreeMap<u64, u32>,
}

/// What makes a call.
#[derive(Clone, Copy)]
enum Maker {
    /// The request of a client that has this key; the client's own key and what it sends along.
    Client { key: u64, client: u32, client_key: u64, keys: Keys },
    /// The work on this attempt, which has this key, at this server.
    Work { key: u64, above: Possible, server: u32 },
}

impl<'a> Lineage<'a> {
    /// Before anything has happened.
    pub fn new(plan: &'a Plan, seed: u64) -> Self {
        let replica_key = replica_key(seed, 0);
        Self { plan, replica_key, requests: 0, possible: BTreeMap::new(), servers: BTreeMap::new() }
    }

    /// The attempt with a key.
    pub fn of(&self, key: u64) -> Possible {
        self.possible[&key]
    }

    /// Learns what may follow from a note.
    pub fn enter(&mut self, note: Note) {
        match note {
            Note::RequestBegan { group, client, ordinal } => {
                let group = &self.plan.groups[group.index()];
                let maker = Maker::Client {
                    key: request_key(self.replica_key, group.key, client, ordinal),
                    client,
                    keys: group.operations.keys,
                    client_key: client_key(self.replica_key, group.key, client),
                };
                self.requests += 1;
                group.choices.iter().for_each(|&(_, call)| self.may_call(call, maker));
            }
            Note::Placed { key, server } => _ = self.servers.insert(key, server),
            Note::Arrived { service, key } => {
                let server = self.servers.get(&key).copied().unwrap_or(0);
                let maker = Maker::Work { above: self.of(key), key, server };
                self.plan.steps_of(service).flatten().for_each(|&call| self.may_call(call, maker));
            }
            _ => {}
        }
    }

    /// Every attempt of a call, in all of its copies and with its fallbacks.
    fn may_call(&mut self, id: CallId, maker: Maker) {
        let plan = self.plan;
        let (Maker::Client { key, .. } | Maker::Work { key, .. }) = maker;
        for copy in 0..plan.calls[id.index()].copies {
            let mut next = Some((id, call_key(key, plan.calls[id.index()].key, copy)));
            while let Some((id, call)) = next {
                for number in 0..=plan.policy_of(id).max_attempts {
                    let attempt = attempt_key(call, number, 0);
                    let possible = self.possible(id, (call, number), (attempt, copy), maker);
                    self.possible.insert(attempt, possible);
                }
                let fallback = plan.calls[id.index()].fallback;
                next = fallback.map(|id| (id, call_key(call, plan.calls[id.index()].key, 0)));
            }
        }
    }

    fn possible(&self, id: CallId, (call, number): (u64, u32), (attempt, copy): (u64, u32), maker: Maker) -> Possible {
        let label = self.plan.calls[id.index()].key;
        match maker {
            Maker::Client { client, keys, client_key, .. } => {
                let brings = match keys {
                    Keys::None => None,
                    Keys::PerOperation => Some(call),
                    Keys::PerAttempt => Some(attempt),
                    Keys::Reused => Some(call_key(client_key, label, 0)),
                };
                let (instance, request) = (client as usize, self.requests - 1);
                Possible { id, call, number, instance, request, operation: call, brings }
            }
            Maker::Work { above, server, .. } => Possible {
                id,
                call,
                number,
                instance: server as usize,
                request: above.request,
                operation: call_key(above.operation, label, copy),
                brings: above.brings.map(|key| call_key(key, label, copy)),
            },
        }
    }
}
