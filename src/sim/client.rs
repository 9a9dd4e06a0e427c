//! Clients: where requests come from, and where they end.

use crate::dist::{Purpose, call_key, draw, request_key};
use crate::failure::{ErrorKind, StopReason};
use crate::plan::{Arrivals, Group, GroupId};
use crate::sim::frames::NONE;
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::time::Instant;

/// The arrivals of a group still to come.
#[derive(Debug)]
pub(super) struct Source {
    /// Requests begun so far.
    begun: u64,
    /// When the next one begins; none if there is none.
    next: Option<Instant>,
}

impl Source {
    pub(super) fn new(group: &Group) -> Self {
        let Arrivals::Burst { at } = group.arrivals;
        Self { begun: 0, next: Some(at) }
    }

    /// Moves on to the request after the one that begins now.
    fn advance(&mut self, group: &Group) {
        self.begun += 1;
        let Arrivals::Burst { at } = group.arrivals;
        self.next = (self.begun < u64::from(group.clients)).then_some(at);
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.next.is_none()
    }
}

impl<T: Tap> Replica<'_, T> {
    /// The first arrival of a group, and each one after that.
    pub(super) fn schedule_next_arrival(&mut self, group: GroupId) {
        if let Some(at) = self.sources[group.index()].next {
            self.agenda.schedule_at(at, Kind::Arrival.of(group.0));
        }
    }

    pub(super) fn arrival(&mut self, id: GroupId) {
        let plan = self.plan;
        let group = &plan.groups[id.index()];
        let source = &mut self.sources[id.index()];
        let clients = u64::from(group.clients);
        let (client, ordinal) = ((source.begun % clients) as u32, source.begun / clients);
        source.advance(group);
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
        self.begin_call(choice, NONE, call_key(key, plan.calls[choice.index()].key, 0));
        self.schedule_next_arrival(id);
    }

    pub(super) fn end_request(
        &mut self,
        group: GroupId,
        start: Instant,
        attempts: u32,
        result: Result<(), (ErrorKind, StopReason)>,
    ) {
        self.recorder.request_ended(group, start, attempts, result, self.now);
    }
}
