//! Clients: where requests come from, and where they end.

use crate::dist::{Purpose, call_key, client_key, draw, request_key};
use crate::metrics::RequestEnd;
use crate::plan::{Arrivals, GroupId};
use crate::sim::frames::Parent;
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::time::Instant;

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// Schedules the first arrivals of every group.
    pub(super) fn schedule_first_arrivals(&mut self) {
        let plan = self.plan;
        for (id, group) in (0..).map(GroupId).zip(&plan.groups) {
            match &group.arrivals {
                Arrivals::Periodic { offset, .. } => {
                    for client in 0..group.clients {
                        let key = client_key(self.key, group.key, client);
                        self.schedule_client(id, client, group.from + offset.sample(key, Purpose::Offset));
                    }
                }
                Arrivals::Closed { .. } => {
                    (0..group.clients).for_each(|client| self.schedule_client(id, client, group.from));
                }
                _ => self.schedule_next_open(id),
            }
        }
    }

    fn schedule_next_open(&mut self, id: GroupId) {
        if let Some(at) = self.sources[id.index()].next_open(&self.plan.groups[id.index()]) {
            self.schedule_arrival(at, Kind::Arrival, id.0);
        }
    }

    /// Schedules the next arrival of a client, if the group's window still holds it.
    fn schedule_client(&mut self, id: GroupId, client: u32, at: Instant) {
        if at < self.plan.groups[id.index()].until {
            self.schedule_arrival(at, Kind::ClientArrival, self.first_clients[id.index()] + client);
        }
    }

    fn schedule_arrival(&mut self, at: Instant, kind: Kind, index: u32) {
        self.arrivals_pending += 1;
        self.agenda.schedule_at(at, kind.of(index));
    }

    /// The next request of an open group begins.
    pub(super) fn arrival(&mut self, id: GroupId) {
        self.arrivals_pending -= 1;
        let clients = u64::from(self.plan.groups[id.index()].clients);
        let source = &mut self.sources[id.index()];
        let (client, ordinal) = ((source.begun % clients) as u32, source.begun / clients);
        source.begun += 1;
        self.begin_request(id, client, ordinal);
        self.schedule_next_open(id);
    }

    /// The next request of a client with a clock of its own begins.
    pub(super) fn client_arrival(&mut self, index: u32) {
        self.arrivals_pending -= 1;
        let id = GroupId(self.first_clients.partition_point(|&first| first <= index) as u32 - 1);
        let client = index - self.first_clients[id.index()];
        let begun = &mut self.sources[id.index()].begun_by[client as usize];
        let ordinal = *begun;
        *begun += 1;
        self.begin_request(id, client, ordinal);
        if let Arrivals::Periodic { every, .. } = self.plan.groups[id.index()].arrivals {
            self.schedule_client(id, client, self.now + every);
        }
    }

    fn begin_request(&mut self, id: GroupId, client: u32, ordinal: u64) {
        let plan = self.plan;
        let group = &plan.groups[id.index()];
        self.tap.note(self.now, Note::RequestBegan { group: id, client, ordinal });
        self.recorder.request_began(id, self.now);
        let key = request_key(self.key, group.key, client, ordinal);
        let choice = match *group.choices.as_slice() {
            [(_, only)] => only,
            ref choices => {
                let drawn = draw(key, Purpose::Choice);
                // The last bound is the largest number there is, so there always is one.
                choices[choices.partition_point(|&(bound, _)| bound < drawn)].1
            }
        };
        self.begin_call(choice, Parent::client(client), call_key(key, plan.calls[choice.index()].key, 0), 0);
    }

    /// A client's request ends with its call.
    pub(super) fn end_request(&mut self, id: GroupId, client: u32, end: RequestEnd) {
        self.recorder.request_ended(id, end, self.now);
        let group = &self.plan.groups[id.index()];
        if let Arrivals::Closed { think, requests } = &group.arrivals {
            let begun = self.sources[id.index()].begun_by[client as usize];
            if begun < *requests {
                let key = request_key(self.key, group.key, client, begun - 1);
                self.schedule_client(id, client, self.now + think.sample(key, Purpose::Think));
            }
        }
    }
}
