//! The two workloads with simcore: components that take events with `EventHandler` and `cast!`, and send each other
//! events through their contexts. All clients are one component.

use std::cell::RefCell;
use std::rc::Rc;

use peers::{Admission, Answer, Attempt, Calls, Counts, Next, Workers, exponential, full_jitter};
use serde::Serialize;
use simcore::event::EventId;
use simcore::{Event, EventHandler, Id, Simulation, SimulationContext, cast};

fn main() {
    peers::main("simcore", storm, chain);
}

// The storm: a client calls the server, the server answers with an error, the client backs off.

#[derive(Clone, Serialize)]
struct Try {
    attempt: u32,
}

#[derive(Clone, Serialize)]
struct Request {
    attempt: u32,
}

#[derive(Clone, Serialize)]
struct Failed {
    attempt: u32,
}

struct Fleet {
    server: Id,
    attempts: u64,
    context: SimulationContext,
}

impl EventHandler for Fleet {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Try { attempt } => {
                self.attempts += 1;
                self.context.emit_now(Request { attempt }, self.server);
            }
            Failed { attempt } => {
                if attempt <= peers::STORM_RETRIES {
                    let wait = full_jitter(self.context.rand(), peers::STORM_BASE, peers::STORM_CAP, attempt);
                    self.context.emit_self(Try { attempt: attempt + 1 }, wait);
                }
            }
        })
    }
}

struct Server {
    context: SimulationContext,
}

impl EventHandler for Server {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Request { attempt } => {
                self.context.emit_now(Failed { attempt }, event.src);
            }
        })
    }
}

fn storm(clients: u32) -> Counts {
    let mut simulation = Simulation::new(42);
    let server = Server { context: simulation.create_context("server") };
    let server = simulation.add_handler("server", Rc::new(RefCell::new(server)));
    let fleet = Fleet { server, attempts: 0, context: simulation.create_context("fleet") };
    let fleet = Rc::new(RefCell::new(fleet));
    simulation.add_handler("fleet", fleet.clone());
    for _ in 0..clients {
        fleet.borrow().context.emit_self_now(Try { attempt: 1 });
    }
    simulation.step_until_no_events();
    let attempts = fleet.borrow().attempts;
    Counts { requests: clients.into(), attempts, completed: 0, events: simulation.event_count() }
}

// The chain.

#[derive(Clone, Serialize)]
struct Arrival {}

#[derive(Clone, Serialize)]
struct Arrive {
    attempt: Attempt,
}

#[derive(Clone, Serialize)]
struct Served {
    attempt: Attempt,
}

#[derive(Clone, Serialize)]
struct Answered {
    answer: Answer,
}

#[derive(Clone, Serialize)]
struct Timeout {
    attempt: Attempt,
}

#[derive(Clone, Serialize)]
struct Retry {
    slot: usize,
}

/// The half of a component that makes calls to another.
struct Caller {
    target: Id,
    timeout: f64,
    calls: Calls<EventId>,
}

impl Caller {
    fn new(target: Id, timeout: f64) -> Self {
        Self { target, timeout, calls: Calls::default() }
    }

    fn begin(&mut self, context: &SimulationContext, work: Option<Attempt>) {
        let slot = self.calls.begin(work);
        self.send(context, slot);
    }

    fn send(&mut self, context: &SimulationContext, slot: usize) {
        let attempt = self.calls.attempt(slot);
        context.emit_now(Arrive { attempt }, self.target);
        self.calls.arm(slot, context.emit_self(Timeout { attempt }, self.timeout));
    }

    fn answered(&mut self, context: &SimulationContext, answer: Answer) -> Option<Next> {
        if !self.calls.waits_for(answer.attempt) {
            return None;
        }
        if let Some(timer) = self.calls.disarm(answer.attempt.slot) {
            context.cancel_event(timer);
        }
        Some(self.ended(context, answer.attempt, answer.ok))
    }

    fn ended(&mut self, context: &SimulationContext, attempt: Attempt, ok: bool) -> Next {
        let next = self.calls.ended(attempt.slot, ok, || context.rand());
        if let Next::Retry { slot, wait } = next {
            context.emit_self(Retry { slot }, wait);
        }
        next
    }
}

struct Clients {
    caller: Caller,
    counts: Counts,
    context: SimulationContext,
}

impl Clients {
    fn next_arrival(&self) {
        self.context.emit_self(Arrival {}, exponential(self.context.rand(), 1.0 / peers::RATE));
    }

    fn over(&mut self, next: Next) {
        if let Next::Over { ok: true, .. } = next {
            self.counts.completed += 1;
        }
    }
}

impl EventHandler for Clients {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Arrival {} => {
                self.counts.requests += 1;
                self.caller.begin(&self.context, None);
                self.next_arrival();
            }
            Answered { answer } => {
                if let Some(next) = self.caller.answered(&self.context, answer) {
                    self.over(next);
                }
            }
            Timeout { attempt } => {
                let next = self.caller.ended(&self.context, attempt, false);
                self.over(next);
            }
            Retry { slot } => {
                self.caller.send(&self.context, slot);
            }
        })
    }
}

struct Tier {
    workers: Workers,
    /// Who calls this tier.
    upstream: Id,
    /// What this tier calls, if it is not the last.
    caller: Option<Caller>,
    context: SimulationContext,
}

impl Tier {
    fn serve(&self, attempt: Attempt) {
        self.context.emit_self(Served { attempt }, exponential(self.context.rand(), peers::SERVICE));
    }

    fn answer(&self, attempt: Attempt, ok: bool) {
        self.context.emit_now(Answered { answer: Answer { attempt, ok } }, self.upstream);
    }

    fn finish(&mut self, attempt: Attempt, ok: bool) {
        self.answer(attempt, ok);
        if let Some(next) = self.workers.release() {
            self.serve(next);
        }
    }

    fn over(&mut self, next: Next) {
        if let Next::Over { work: Some(work), ok } = next {
            self.finish(work, ok);
        }
    }
}

impl EventHandler for Tier {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Arrive { attempt } => {
                match self.workers.admit(attempt) {
                    Admission::Begins => self.serve(attempt),
                    Admission::Waits => {}
                    Admission::Refused => self.answer(attempt, false),
                }
            }
            Served { attempt } => {
                match &mut self.caller {
                    Some(caller) => caller.begin(&self.context, Some(attempt)),
                    None => self.finish(attempt, true),
                }
            }
            Answered { answer } => {
                let caller = self.caller.as_mut().expect("only a tier that calls is answered");
                if let Some(next) = caller.answered(&self.context, answer) {
                    self.over(next);
                }
            }
            Timeout { attempt } => {
                let caller = self.caller.as_mut().expect("only a tier that calls has timers");
                let next = caller.ended(&self.context, attempt, false);
                self.over(next);
            }
            Retry { slot } => {
                let caller = self.caller.as_mut().expect("only a tier that calls retries");
                caller.send(&self.context, slot);
            }
        })
    }
}

fn chain() -> Counts {
    let mut simulation = Simulation::new(42);
    let contexts = ["clients", "front", "middle", "back"].map(|name| simulation.create_context(name));
    let ids: Vec<Id> = contexts.iter().map(SimulationContext::id).collect();
    let [clients, tiers @ ..] = contexts;

    let clients = Rc::new(RefCell::new(Clients {
        caller: Caller::new(ids[1], peers::TIMEOUTS[0]),
        counts: Counts::default(),
        context: clients,
    }));
    simulation.add_handler("clients", clients.clone());
    let mut called = Vec::new();
    for (index, context) in tiers.into_iter().enumerate() {
        let name = context.name().to_owned();
        let tier = Rc::new(RefCell::new(Tier {
            workers: Workers::default(),
            upstream: ids[index],
            caller: ids.get(index + 2).map(|&below| Caller::new(below, peers::TIMEOUTS[index + 1])),
            context,
        }));
        simulation.add_handler(name, tier.clone());
        called.push(tier);
    }

    clients.borrow().next_arrival();
    simulation.step_until_time(peers::HORIZON);
    let mut attempts = clients.borrow().caller.calls.attempts;
    for tier in called {
        attempts += tier.borrow().caller.as_ref().map_or(0, |caller| caller.calls.attempts);
    }
    let counts = clients.borrow().counts;
    Counts { attempts, events: simulation.event_count(), ..counts }
}
