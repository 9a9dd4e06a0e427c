//! The two workloads with desque: a state that events change, each a type with `OkEvent`.
//!
//! desque cannot take an event back. As its documentation advises, a timer looks whether it still matters when it is
//! due, so timers of attempts that were answered stay in the queue until then.

use desque::SimState;
use desque::serial::{OkEvent, Simulation};
use peers::{Admission, Answer, Attempt, Calls, Counts, Next, Workers, exponential, full_jitter, generator, uniform};
use rand_pcg::Pcg64;

/// Nanoseconds.
type Time = u64;

fn nanoseconds(seconds: f64) -> Time {
    (seconds * 1e9) as Time
}

fn main() {
    peers::main("desque", storm, chain);
}

// The storm: a client calls the server, the server answers with an error, the client backs off.

struct Storm {
    generator: Pcg64,
    counts: Counts,
}

impl SimState<Time> for Storm {}

#[derive(Debug)]
struct Try {
    attempt: u32,
}

impl OkEvent<Storm, Time> for Try {
    fn execute(&mut self, simulation: &mut Simulation<Storm, Time>) {
        let counts = &mut simulation.state_mut().counts;
        counts.attempts += 1;
        counts.events += 1;
        simulation.schedule_now(AtServer { attempt: self.attempt }).expect("not in the past");
    }
}

#[derive(Debug)]
struct AtServer {
    attempt: u32,
}

impl OkEvent<Storm, Time> for AtServer {
    fn execute(&mut self, simulation: &mut Simulation<Storm, Time>) {
        simulation.state_mut().counts.events += 1;
        simulation.schedule_now(Failed { attempt: self.attempt }).expect("not in the past");
    }
}

#[derive(Debug)]
struct Failed {
    attempt: u32,
}

impl OkEvent<Storm, Time> for Failed {
    fn execute(&mut self, simulation: &mut Simulation<Storm, Time>) {
        let state = simulation.state_mut();
        state.counts.events += 1;
        if self.attempt > peers::STORM_RETRIES {
            return;
        }
        let draw = uniform(&mut state.generator);
        let wait = full_jitter(draw, peers::STORM_BASE, peers::STORM_CAP, self.attempt);
        simulation.schedule_with_delay(Try { attempt: self.attempt + 1 }, nanoseconds(wait)).expect("not in the past");
    }
}

fn storm(clients: u32) -> Counts {
    let state = Storm { generator: generator(0), counts: Counts { requests: clients.into(), ..Counts::default() } };
    let mut simulation = Simulation::new(state, 0);
    for _ in 0..clients {
        simulation.schedule(Try { attempt: 1 }, 0).expect("not in the past");
    }
    simulation.run().expect("no event fails");
    simulation.state().counts
}

// The chain. Callers are counted from the clients (0) on; caller n calls tier n.

#[derive(Default)]
struct Caller {
    /// Nothing can be cancelled, so there is nothing to cancel a timer by.
    calls: Calls<()>,
}

struct Chain {
    generator: Pcg64,
    callers: [Caller; peers::TIERS],
    tiers: [Workers; peers::TIERS],
    counts: Counts,
}

impl SimState<Time> for Chain {
    fn is_complete(&self, now: &Time) -> bool {
        *now >= nanoseconds(peers::HORIZON)
    }
}

type Chains = Simulation<Chain, Time>;

#[derive(Debug)]
struct Arrival;

impl OkEvent<Chain, Time> for Arrival {
    fn execute(&mut self, simulation: &mut Chains) {
        let state = simulation.state_mut();
        state.counts.events += 1;
        state.counts.requests += 1;
        let gap = exponential(uniform(&mut state.generator), 1.0 / peers::RATE);
        let slot = state.callers[0].calls.begin(None);
        simulation.schedule_with_delay(Arrival, nanoseconds(gap)).expect("not in the past");
        send(simulation, 0, slot);
    }
}

fn send(simulation: &mut Chains, caller: usize, slot: usize) {
    let attempt = simulation.state_mut().callers[caller].calls.attempt(slot);
    simulation.schedule_now(Arrive { tier: caller, attempt }).expect("not in the past");
    let timeout = nanoseconds(peers::TIMEOUTS[caller]);
    simulation.schedule_with_delay(Timeout { caller, attempt }, timeout).expect("not in the past");
}

#[derive(Debug)]
struct Arrive {
    tier: usize,
    attempt: Attempt,
}

impl OkEvent<Chain, Time> for Arrive {
    fn execute(&mut self, simulation: &mut Chains) {
        let state = simulation.state_mut();
        state.counts.events += 1;
        match state.tiers[self.tier].admit(self.attempt) {
            Admission::Begins => serve(simulation, self.tier, self.attempt),
            Admission::Waits => {}
            Admission::Refused => answer(simulation, self.tier, self.attempt, false),
        }
    }
}

fn serve(simulation: &mut Chains, tier: usize, attempt: Attempt) {
    let time = exponential(uniform(&mut simulation.state_mut().generator), peers::SERVICE);
    simulation.schedule_with_delay(Served { tier, attempt }, nanoseconds(time)).expect("not in the past");
}

#[derive(Debug)]
struct Served {
    tier: usize,
    attempt: Attempt,
}

impl OkEvent<Chain, Time> for Served {
    fn execute(&mut self, simulation: &mut Chains) {
        let state = simulation.state_mut();
        state.counts.events += 1;
        // The tier makes its own call as the next caller, if there is a tier below.
        let caller = self.tier + 1;
        if caller < peers::TIERS {
            let slot = state.callers[caller].calls.begin(Some(self.attempt));
            send(simulation, caller, slot);
        } else {
            finish(simulation, self.tier, self.attempt, true);
        }
    }
}

fn finish(simulation: &mut Chains, tier: usize, attempt: Attempt, ok: bool) {
    answer(simulation, tier, attempt, ok);
    if let Some(next) = simulation.state_mut().tiers[tier].release() {
        serve(simulation, tier, next);
    }
}

fn answer(simulation: &mut Chains, tier: usize, attempt: Attempt, ok: bool) {
    simulation.schedule_now(Answered { caller: tier, answer: Answer { attempt, ok } }).expect("not in the past");
}

#[derive(Debug)]
struct Answered {
    caller: usize,
    answer: Answer,
}

impl OkEvent<Chain, Time> for Answered {
    fn execute(&mut self, simulation: &mut Chains) {
        simulation.state_mut().counts.events += 1;
        ended(simulation, self.caller, self.answer.attempt, self.answer.ok);
    }
}

#[derive(Debug)]
struct Timeout {
    caller: usize,
    attempt: Attempt,
}

impl OkEvent<Chain, Time> for Timeout {
    fn execute(&mut self, simulation: &mut Chains) {
        simulation.state_mut().counts.events += 1;
        ended(simulation, self.caller, self.attempt, false);
    }
}

fn ended(simulation: &mut Chains, caller: usize, attempt: Attempt, ok: bool) {
    let state = simulation.state_mut();
    let calls = &mut state.callers[caller].calls;
    if !calls.waits_for(attempt) {
        return;
    }
    match calls.ended(attempt.slot, ok, || uniform(&mut state.generator)) {
        Next::Retry { slot, wait } => {
            simulation.schedule_with_delay(Retry { caller, slot }, nanoseconds(wait)).expect("not in the past");
        }
        // Caller n is tier n - 1.
        Next::Over { work: Some(work), ok } => finish(simulation, caller - 1, work, ok),
        Next::Over { work: None, ok } => state.counts.completed += u64::from(ok),
    }
}

#[derive(Debug)]
struct Retry {
    caller: usize,
    slot: usize,
}

impl OkEvent<Chain, Time> for Retry {
    fn execute(&mut self, simulation: &mut Chains) {
        simulation.state_mut().counts.events += 1;
        send(simulation, self.caller, self.slot);
    }
}

fn chain() -> Counts {
    let mut generator = generator(0);
    let first = exponential(uniform(&mut generator), 1.0 / peers::RATE);
    let state = Chain { generator, callers: Default::default(), tiers: Default::default(), counts: Counts::default() };
    let mut simulation = Simulation::new(state, 0);
    simulation.schedule(Arrival, nanoseconds(first)).expect("not in the past");
    simulation.run().expect("no event fails");
    let state = simulation.state();
    Counts { attempts: state.callers.iter().map(|caller| caller.calls.attempts).sum(), ..state.counts }
}
