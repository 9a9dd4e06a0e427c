//! The engine: one replica of a plan on a virtual clock.
//!
//! # What happens to a request
//!
//! Every line that begins with an event name is one event. Events at one instant happen in this order: fault
//! transitions; then everything in the order in which it was scheduled; then timeouts, in the order in which they
//! were armed. A delay of zero is scheduled like any other: at this instant, after what is already scheduled there.
//! Only a phase that the plan does not have (a constant service time of zero, an error returned without delay) is no
//! event at all: what follows it is done at once.
//!
//! - *Start*: the windows of all faults are scheduled, fault by fault, window by window, beginning before end; then
//!   the first arrival of each client group, in file order.
//! - **Arrival** of a group: its next request begins. Request n (from 0) belongs to client n mod `clients` and is that
//!   client's request number n div `clients`. The request draws which call it makes and *begins* it; then the group's
//!   next arrival, if there is one, is scheduled.
//! - *A call begins*: its clock starts, and so does its first attempt.
//! - *An attempt starts*: it is sent, and *arrives* at its target (at once: a scheduled delay of zero). Its timer is
//!   armed at the earlier of: now + `timeout`, start of the call + `total_timeout`; not at all without either.
//! - **Arrive** at a service: the faults that are active there are asked in file order. `refuse` turns the attempt
//!   away: it is *answered* with `refused`. `fail` strikes with its probability: after its delay (**Served**) the attempt is
//!   *answered* with its error. If none strikes, the service works for its service time (**Served**).
//! - *Served*: the steps of the service begin one after another, each when all calls of the one before have succeeded.
//!   After the last, the attempt is *answered* with success; when a call fails, at once with the error of that call.
//! - *Answered*: the service is done with it; the answer is sent, and reaches the caller (at once: a scheduled delay
//!   of zero).
//! - **Answer**: if the attempt has been given up, the answer is late: counted, not used. Otherwise the timer is
//!   disarmed and the attempt has *ended*, with success or with an error.
//! - **Timer** of a call: its attempt is given up and has *ended* with `deadline` if the call's total timeout has
//!   passed, else with `timeout`. What it started goes on: nobody tells the service.
//! - *An attempt ends*: with success the call succeeds. With an error the policy decides
//!   ([`RetryPolicy::decide`](crate::policy::RetryPolicy::decide)): the call waits, or it fails with the error of this attempt.
//! - **Wake**: the wait is over and the next attempt starts.
//! - *A call ends*: the work, or the client's request, that made it goes on.
//!
//! The run ends before the first event at or after the horizon; without a horizon, when nothing but fault transitions
//! is left. Then its end is the instant of the last other event.
//!
//! # Keys
//!
//! `request = request_key(replica_key(seed, replica), group.key, client, ordinal)`; its choice is drawn from it. A
//! call that work with the key `k` makes has the key `call_key(k, call.key, 0)` (a client's call: `k` is that of the
//! request), its attempt n the key `attempt_key(call, n, 0)`: that is the key of the work at the service. From the
//! attempt's key come its service time, the wait after it, `draw(mix(attempt, fault.key), Fault)` whether a fault
//! strikes it, and from `mix(attempt, fault.key)` the delay of that fault.

pub mod agenda;
mod call;
mod client;
mod fault;
mod frames;
mod replica;
mod service;
mod slab;
mod tap;

pub use tap::{Note, Tap};

use crate::metrics::Outcome;
use crate::plan::Plan;

/// Runs one replica.
// Kept whole, so that profilers and `benches/instructions` find the simulation by this name.
#[inline(never)]
pub fn simulate(plan: &Plan, seed: u64, replica: u32) -> Outcome {
    simulate_tapped(plan, seed, replica, &mut ())
}

/// Runs one replica and tells `tap` everything that happens.
pub fn simulate_tapped(plan: &Plan, seed: u64, replica: u32, tap: &mut impl Tap) -> Outcome {
    replica::Replica::new(plan, seed, replica, tap).run()
}
