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
//! ## Arrivals
//!
//! - *Start*: the windows of all faults are scheduled, fault by fault, window by window, beginning before end; then
//!   the first arrivals of each client group, in file order. Groups with `burst`, `constant`, `poisson` and `trace`
//!   arrivals are *open*: they have one arrival scheduled at a time. The clients of `periodic` and `closed` groups have
//!   their own: those are scheduled client by client. An arrival at or after the end of the group's window, or before
//!   its start, is none.
//! - **Arrival** of an open group: its next request begins. Request n (from 0) belongs to client n mod `clients` and is
//!   that client's request number n div `clients`. The request draws which call it makes and *begins* it; then the
//!   group's next arrival, if there is one, is scheduled.
//! - **Arrival** of a client: likewise; then, if periodic, its next arrival is scheduled one period later.
//! - When a request of a `closed` group has ended and the client has requests left, its next arrival is scheduled after
//!   it has thought (time zero: at this instant, as any zero delay). The think time is drawn with the key of the
//!   request that ended.
//!
//! ## Calls
//!
//! - *A call begins*: its clock starts. Its *end* is the earlier of start + `total_timeout` and the deadline that the
//!   work making it was given. If that is not later than now, the call fails at once with `deadline` (reason
//!   `deadline`) and has made no attempt. Otherwise the timer of its end is armed, if it has one, and its first attempt
//!   starts.
//! - *An attempt starts*: it is sent, and *arrives* at its target when the network has taken its time (zero:
//!   a scheduled delay of zero). If the network takes longer than `connect_timeout`, it is *lost*: it never arrives.
//!   The caller waits until the earliest of: the call's end, now + `timeout`, and for a lost attempt now +
//!   `connect_timeout`. If that is before the call's end, the attempt's own timer is armed. If the call passes its
//!   deadline on, the attempt is told the earlier of the call's end and now + `timeout`, less the reserve (a share is
//!   that of the time from now until then); otherwise it is told none.
//! - **Arrive** at a service: the faults that are active there are asked in file order. `refuse` turns the attempt
//!   away: it is *answered* with `refused`. `fail` strikes with its probability: after its delay (**Served**) the
//!   attempt is
//!   *answered* with its error. If none strikes, the service works for its service time (**Served**).
//! - *Served*: the steps of the service begin one after another, see below. After the last, the attempt is
//!   *answered* with success.
//! - *Answered*: the service is done with it; the answer is sent, and reaches the caller when the network has taken its
//!   time (zero: a scheduled delay of zero).
//! - **Answer**: if the attempt has been given up, the answer is late: counted, not used. Otherwise the timer is
//!   disarmed and the attempt has *ended*, with success or with an error. A success puts its deposit into the call's
//!   budget.
//! - **Timer** of an attempt: it is given up and has *ended* with `timeout`. **Timer** of a call's end: the attempt
//!   under way is given up and has *ended* with `deadline`. What it started goes on: nobody tells the service.
//! - *An attempt ends*: with success the call succeeds. With an error the policy decides
//!   ([`RetryPolicy::decide`](crate::policy::RetryPolicy::decide), where `remaining` is the time until the call's end):
//!   the call's budget is charged and the call waits, or it fails: with `deadline` if that is the reason, else with the
//!   error of this attempt.
//! - **Wake**: the wait is over and the next attempt starts. (At the call's end at the latest: then it is sent with no
//!   time left, unless the policy's `min_attempt` forbids such a wait.)
//! - *A call ends*: the timer of its end is disarmed. If it failed and has a `fallback`, that call begins in its place,
//!   made by the same work as the same copy. Otherwise whoever made it goes on.
//!
//! ## The calls of a service
//!
//! - *A step begins*: its calls begin one after another in their order. A call whose `probability` is below one is
//!   made if its draw says so (one draw for all copies); if not, it has *settled*. Its copies begin in their order.
//! - A call of a step *settles* when `required` of its copies (fallbacks count in their place) have succeeded. It
//!   *fails* when so many copies have failed that this can no longer happen. If it is `optional`, failing settles it
//!   and marks the work as degraded.
//! - When all calls of a step have settled, the next step begins. When a call fails that is not optional, the attempt
//!   is
//!   *answered* at once with the error of the copy that decided it; calls of the step that have not begun do not begin.
//! - A step is over when all of its calls have begun and settled. A call that ends after its step is over, or after the
//!   attempt was answered, changes nothing: nobody waits for it. But it does not know that: until then it goes on,
//!   retries and fallback included.
//! - An attempt that succeeds on degraded work marks the work that made the call, or the client's request, as degraded:
//!   one that is still waited for, not a copy that comes after enough others.
//!
//! The run ends before the first event at or after the horizon; without a horizon, when nothing but fault transitions
//! is left. Then its end is the instant of the last other event.
//!
//! # Keys
//!
//! `request = request_key(replica_key(seed, replica), group.key, client, ordinal)`; its choice is drawn from it, and
//! after its end the client's think time. The offset of a periodic client is drawn from its `client_key`. The arrivals
//! of a Poisson group come from [`UnitPoisson`](crate::dist::UnitPoisson)`::new(replica key, group.key, start)`, where
//! `start` is the number of requests that its profile expects before the group's window.
//! A call that work with the key `k` makes has, as its copy `c` (from 0), the key `call_key(k, call.key, c)` (a
//! client's call: `k` is that of the request); whether it is made is drawn from the key of copy 0. A fallback has the
//! key `call_key(key of the call that failed, fallback.key, 0)`. The attempt n of a call has the key
//! `attempt_key(call key, n, 0)`: that is the key of the work at the service. From the attempt's key come its service
//! time, its times on the network, the wait after it, `draw(mix(attempt, fault.key), Fault)` whether a fault
//! strikes it, and from `mix(attempt, fault.key)` the delay of that fault.

pub mod agenda;
mod arrivals;
mod budget;
mod call;
mod client;
mod fault;
mod frames;
mod replica;
mod service;
mod slab;
mod steps;
mod tap;

pub use replica::Bounds;
pub use tap::{Note, Tap};

use crate::metrics::Outcome;
use crate::plan::Plan;
use replica::Replica;

/// Runs one replica.
pub fn simulate(plan: &Plan, seed: u64, replica: u32) -> Outcome {
    simulate_within(plan, seed, replica, Bounds::default())
}

/// Runs one replica and tells `tap` everything that happens.
pub fn simulate_tapped(plan: &Plan, seed: u64, replica: u32, tap: &mut impl Tap) -> Outcome {
    Replica::new(plan, seed, replica, tap).run(Bounds::default())
}

/// Runs one replica within other bounds than those of the simulator, or until it is told to stop.
// Kept whole, so that profilers and `benches/instructions` find the simulation by this name.
#[inline(never)]
pub fn simulate_within(plan: &Plan, seed: u64, replica: u32, bounds: Bounds) -> Outcome {
    Replica::new(plan, seed, replica, &mut ()).run(bounds)
}
