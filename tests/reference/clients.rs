//! The section "Arrivals": when the requests of clients begin, and how they end.

use stormsim::dist::{Purpose, UnitPoisson, client_key, draw, request_key};
use stormsim::plan::{Arrivals, Group, GroupId};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::interpreter::Interpreter;
use super::record::{CallResult, Caller, Request, RequestEnd};

/// The instants at which the requests of an open group begin, one after another.
pub(super) struct OpenArrivals {
    /// How many were given out.
    given: usize,
    poisson: UnitPoisson,
}

impl OpenArrivals {
    pub(super) fn new(replica_key: u64, group: &Group) -> Self {
        // Before its window opens a group has no requests, so that the process may begin where the profile is by then.
        let start = match &group.arrivals {
            Arrivals::Poisson(profile) => profile.due_before(group.from),
            _ => 0.0,
        };
        Self { given: 0, poisson: UnitPoisson::new(replica_key, group.key, start) }
    }

    fn next(&mut self, group: &Group) -> Option<Instant> {
        let n = self.given;
        self.given += 1;
        let at = match &group.arrivals {
            Arrivals::Burst { at } => (n < group.clients as usize).then_some(*at),
            Arrivals::Constant { rate } => {
                let after_ns = ((n + 1) as f64 * 1e9 / rate).round();
                Some(group.from + Span::from_ns(after_ns as u64))
            }
            Arrivals::Trace(instants) => instants.iter().copied().filter(|&at| is_in_window(group, at)).nth(n),
            // Rounding may put the first point a nanosecond before the window.
            Arrivals::Poisson(profile) => std::iter::repeat_with(|| profile.instant_of(self.poisson.next_point()))
                .find(|at| at.is_none_or(|at| at >= group.from))
                .flatten(),
            Arrivals::Periodic { .. } | Arrivals::Closed { .. } => None,
        };
        at.filter(|&at| is_in_window(group, at))
    }
}

fn is_in_window(group: &Group, at: Instant) -> bool {
    (group.from..group.until).contains(&at)
}

impl Interpreter<'_> {
    pub(super) fn schedule_first_arrivals(&mut self, id: GroupId) {
        let group = &self.plan.groups[id.index()];
        for client in 0..group.clients {
            match &group.arrivals {
                Arrivals::Periodic { offset, .. } => {
                    let key = client_key(self.replica_key, group.key, client);
                    self.schedule_client_arrival(id, client, group.from + offset.sample(key, Purpose::Offset));
                }
                Arrivals::Closed { .. } => self.schedule_client_arrival(id, client, group.from),
                Arrivals::Burst { .. } | Arrivals::Constant { .. } | Arrivals::Poisson(_) | Arrivals::Trace(_) => {}
            }
        }
        self.schedule_next_arrival(id);
    }

    fn schedule_next_arrival(&mut self, id: GroupId) {
        if let Some(at) = self.open_arrivals[id.index()].next(&self.plan.groups[id.index()]) {
            self.agenda.schedule(at, Class::Normal, Event::Arrival(id));
        }
    }

    fn schedule_client_arrival(&mut self, id: GroupId, client: u32, at: Instant) {
        if is_in_window(&self.plan.groups[id.index()], at) {
            self.agenda.schedule(at, Class::Normal, Event::ClientArrival { group: id, client });
        }
    }

    pub(super) fn arrival(&mut self, id: GroupId) {
        let n = self.record.requests.iter().filter(|request| request.group == id).count() as u64;
        let client = n % u64::from(self.plan.groups[id.index()].clients);
        self.begin_request(id, client as u32);
        self.schedule_next_arrival(id);
    }

    pub(super) fn client_arrival(&mut self, id: GroupId, client: u32) {
        self.begin_request(id, client);
        if let Arrivals::Periodic { every, .. } = self.plan.groups[id.index()].arrivals {
            self.schedule_client_arrival(id, client, self.now + every);
        }
    }

    /// How many requests a client has begun.
    fn requests_of(&self, id: GroupId, client: u32) -> u64 {
        self.record.requests.iter().filter(|request| (request.group, request.client) == (id, client)).count() as u64
    }

    fn begin_request(&mut self, id: GroupId, client: u32) {
        let group = &self.plan.groups[id.index()];
        let ordinal = self.requests_of(id, client);
        self.note(Note::RequestBegan { group: id, client, ordinal });

        let key = request_key(self.replica_key, group.key, client, ordinal);
        let luck = draw(key, Purpose::Choice);
        let choice = group.choices.iter().find(|(bound, _)| luck <= *bound);
        let &(_, call) = choice.expect("the last bound is the largest number there is");
        let request = Request { group: id, client, key, began: self.now, degraded: false, ended: None };
        self.record.requests.push(request);
        self.begin_call(call, Caller::Request(self.record.requests.len() - 1), None);
    }

    /// The client's own call has ended, after so many attempts.
    pub(super) fn end_request(&mut self, request: usize, result: CallResult, attempts: u32) {
        let this = &mut self.record.requests[request];
        this.ended = Some(RequestEnd { at: self.now, result, attempts });
        let &mut Request { group, client, key, .. } = this;
        if let Arrivals::Closed { think, requests } = &self.plan.groups[group.index()].arrivals
            && self.requests_of(group, client) < *requests
        {
            self.schedule_client_arrival(group, client, self.now + think.sample(key, Purpose::Think));
        }
    }
}
