//! The section "Arrivals": when the requests of clients begin, and how they end.

use stormsim::dist::{Purpose, UnitPoisson, client_key, draw, request_key};
use stormsim::plan::{Arrivals, Group, GroupId, Plan, Profile, Surge};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::interpreter::Interpreter;
use super::record::{CallResult, Caller, Request, RequestEnd};

/// The instants at which the requests of an open group begin, one after another.
pub(super) struct OpenArrivals<'plan> {
    /// How many were given out.
    given: usize,
    poisson: UnitPoisson,
    /// The load faults on the group, if there are any.
    surge: Option<Surge<'plan>>,
}

impl<'plan> OpenArrivals<'plan> {
    pub(super) fn new(plan: &'plan Plan, replica_key: u64, id: GroupId) -> Self {
        let group = &plan.groups[id.index()];
        let poisson = UnitPoisson::new(replica_key, group.key, due_before_window(group));
        Self { given: 0, poisson, surge: Surge::new(plan, id, replica_key) }
    }

    fn next(&mut self, group: &Group) -> Option<Instant> {
        let n = self.given;
        self.given += 1;
        let at = match &group.arrivals {
            Arrivals::Burst { at } => (n < group.clients as usize).then_some(*at),
            Arrivals::Constant { rate } => self.nth(n + 1, *rate, group.from),
            Arrivals::Trace(instants) => instants.iter().copied().filter(|&at| is_in_window(group, at)).nth(n),
            // Rounding may put the first point a nanosecond before the window.
            Arrivals::Poisson(profile) => std::iter::repeat_with(|| self.next_point(profile, due_before_window(group)))
                .find(|at| at.is_none_or(|at| at >= group.from))
                .flatten(),
            Arrivals::Periodic { .. } | Arrivals::Closed { .. } => None,
        };
        at.filter(|&at| is_in_window(group, at))
    }

    /// When the request n (from 1) of a constant rate comes; none if it never does.
    fn nth(&mut self, n: usize, rate: f64, from: Instant) -> Option<Instant> {
        let point = match &mut self.surge {
            None => n as f64,
            Some(surge) => surge.undisturbed(n as f64, |at| at.since(from).as_s() * rate)?,
        };
        let after_ns = (point * 1e9 / rate).round();
        (after_ns < Instant::LIMIT.as_ns() as f64).then(|| from + Span::from_ns(after_ns as u64))
    }

    /// When the next point of the Poisson process comes; none if it never does.
    fn next_point(&mut self, profile: &Profile, start: f64) -> Option<Instant> {
        let point = self.poisson.next_point();
        let point = match &mut self.surge {
            None => point,
            Some(surge) => start + surge.undisturbed(point - start, |at| profile.due_before(at) - start)?,
        };
        profile.instant_of(point)
    }
}

/// Before its window opens a group has no requests, so that its process may begin where the profile is by then.
fn due_before_window(group: &Group) -> f64 {
    match &group.arrivals {
        Arrivals::Poisson(profile) => profile.due_before(group.from),
        _ => 0.0,
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
        let Request { group, client, key, .. } = self.record.requests[request];
        let is_unknown = result.is_err() && self.is_in_doubt(request);
        let is_dead_letter = self.is_dead_letter(group, result);
        let end = RequestEnd { at: self.now, result, attempts, is_unknown, is_dead_letter };
        self.record.requests[request].ended = Some(end);
        if let Arrivals::Closed { think, requests } = &self.plan.groups[group.index()].arrivals
            && self.requests_of(group, client) < *requests
        {
            self.schedule_client_arrival(group, client, self.now + think.sample(key, Purpose::Think));
        }
    }
}
