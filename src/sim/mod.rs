//! The engine: one replica of a plan on a virtual clock.
//!
//! # What happens to a request
//!
//! Every line that begins with an event name is one event. Events at one instant happen in this order: fault
//! transitions; then everything in the order in which it was scheduled; then timeouts, in the order in which they were
//! armed. A delay of zero is scheduled like any other: at this instant, after what is already scheduled there. Only a
//! phase that the plan does not have (a constant service time of zero, an error returned without delay) is no event at
//! all: what follows it is done at once. Workers and slots that become free while others wait for them go on to whoever
//! is next when the event has been dealt with otherwise, in the order in which they became free. But once a timeout has
//! happened at an instant (other than that a hedge is due), they do so only when nothing else is left to happen there:
//! of many whose patience ends at one instant, none is given what another has just given up.
//!
//! ## Arrivals
//!
//! - *Start*: the beginning of the first window of each fault is scheduled, in file order; then the first arrivals of
//!   each client group, in file order. Groups with `burst`, `constant`, `poisson` and `trace` arrivals are *open*: they
//!   have one arrival scheduled at a time. The clients of `periodic` and `closed` groups have their own: those are
//!   scheduled client by client. An arrival at or after the end of the group's window, or before its start, is none.
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
//!   starts, unless a breaker forbids that: see "Breakers and throttles".
//! - *An attempt starts*: its clock starts. A breaker and a throttle may turn it away, see there. If its call has a
//!   `pool`, it needs one of the slots of its caller's
//!   instance (each client is one, and each server of a service). If one is free and nobody waits for it, the attempt
//!   takes it and is *sent*. Otherwise, if `max_wait` is zero, it is *turned away* with `pool_timeout`; if not, it
//!   waits behind those that wait already, and its timer is armed for the earlier of now + `timeout` and now +
//!   `max_wait`, if it has one and it is before the call's end. A slot that is free goes to whoever has waited longest:
//!   that attempt is *sent*. Without a pool an attempt is *sent* at once.
//! - *An attempt is sent*: the faults that are active on its call are asked, see below. If none strikes, it *arrives*
//!   at its target when the network has taken its time (zero: a scheduled delay of zero). If the network takes longer
//!   than `connect_timeout`, it is *lost*: it never arrives. The caller waits until the earliest of: the call's end,
//!   the start of the attempt's clock + `timeout`, and for a lost attempt now + `connect_timeout`. If that is before
//!   the call's end, the attempt's own timer is armed for it, in place of that of its wait. If the call passes its
//!   deadline on, the attempt is told the earlier of the call's end and the start of its clock + `timeout`, less the
//!   reserve (a share is that of the time from now until then); otherwise it is told none. For the drop rules of queues
//!   every attempt has a deadline: what it was told, or else the earlier of the call's end and the start of its clock +
//!   `timeout`.
//! - *An attempt is turned away*: it has *ended* without having been sent, with the error of the breaker or throttle
//!   that said so; or, where it waited for a slot, with `deadline` at the call's end, with `pool_timeout` at its timer
//!   if `max_wait` is not longer than `timeout`, and else with `timeout`. It is one of the
//!   attempts that the policy allows, but no attempt in the metrics: a *retry* is an attempt that is sent after another
//!   of its own call was sent, and *original* is what was sent first of its call, by work that was original itself.
//! - **Arrive** at a service: the balancer picks a server, see below. If a `blackhole` is active there, the attempt is
//!   *lost* and has not arrived. If not, it has arrived. If it has been given up and the service's `cancel` is not
//!   `ignore`, it is *cancelled*. Otherwise the other faults that are active there are asked, see below. If none
//!   strikes, the server's limiter is asked: if it does not let the attempt in, that is
//!   *answered* with `rate_limited`, and with the limiter's `retry_after`. If as many others have got as far as the
//!   next sentence, and are in progress at the service, as `max_in_flight`, it is *answered* with `overloaded`. (What a
//!   fault answers after a delay takes no place.) Then, if a worker of the server is free and nobody waits for it, its
//!   *turn comes*; if not, it waits in the server's queue, or, if as many wait there as its limit and the workers that
//!   are free, is *answered* with `overloaded`. A worker that is free takes the next from the queue: its *turn comes*.
//! - *A turn comes*: the service time is drawn, and multiplied as `contention` says for the number that hold a worker
//!   of the server, this one included; then each `slow` that is active there, in file order, multiplies it and adds to
//!   it (if it adds anything but a constant zero, a service time of zero is an event, too). If the queue's drop rule
//!   says so (`expired`: the deadline is before now; `deadline_aware`: the time until the deadline, zero if that is
//!   past, is less than the service time; CoDel: its verdict about the time since the arrival), the attempt is
//!   *dropped*: it is *answered* with `overloaded` if its caller still waits, and else nobody is told; the worker is
//!   free for the next. Otherwise it takes the worker, and the service works for the service time (**Served**).
//! - *Served*: unless the service `holds_worker`, the worker is free. If a `fail` with `work` has struck, the attempt
//!   is *answered* with its error (the worker is free in any case). Otherwise the steps of the service begin one after
//!   another, see below. After the last, the attempt is *answered* with success.
//! - *Answered*: the service is done with it. If it still has its worker, that is free. The answer is sent, and reaches
//!   the caller when the network has taken its time (zero: a scheduled delay of zero).
//! - **Answer**: if the attempt has been given up, the answer is late: counted, not used. Otherwise the timer is
//!   disarmed and the attempt has *ended*, with success or with an error.
//! - **Timer** of an attempt: it is *given up* and has *ended* with `timeout`. **Timer** of a call's end: the attempt
//!   under way is *given up* and has *ended* with `deadline`. An attempt that waits for a slot is *turned away*
//!   instead.
//! - *An attempt is given up*: its slot is free. Its target learns of it as far as its `cancel` says: `queued`, if the
//!   attempt waits in a queue, it is *cancelled*; `running`, if it has arrived and has not been answered, it is
//!   *cancelled*; `ignore`, what it started goes on.
//! - *An attempt ends*: if it was answered, its slot is free. With success the call succeeds. With an error the policy
//!   decides ([`RetryPolicy::decide`](crate::policy::RetryPolicy::decide), where `remaining` is the time until the
//!   call's end and `elapsed` that since its clock started): the call's budget is charged and the call waits, or it
//!   fails: with `deadline` if that is the reason, else with the error of this attempt. What budgets are told of all
//!   that is below.
//! - **Wake**: the wait is over and the next attempt starts. (At the call's end at the latest: then it is sent with no
//!   time left, unless the policy's `min_attempt` forbids such a wait.)
//! - *An attempt is cancelled*: it leaves the queue, its worker is free, and **Served** does not come any more. No
//!   answer is sent. Then the calls that it makes are *abandoned*.
//! - *Calls are abandoned*, in the order in which they began: the attempt under way is *given up*, or its wait or that
//!   for a slot is over. The call ends with nothing: no policy is asked, no fallback begins, nobody is told.
//! - *A call ends*: the timer of its end is disarmed. If it failed and has a `fallback`, that call begins in its place,
//!   made by the same work as the same copy. Otherwise whoever made it goes on.
//!
//! ## Retry budgets
//!
//! A call whose policy has a budget draws on one state of it: that of its caller's instance, or one that several
//! callers share. The rules are in [`policy`](crate::policy); a state is told:
//!
//! - *A call begins*, whether it makes an attempt or not: `ratio_of_requests`, and `windowed_ratio` that deposits at
//!   the start, pay in.
//! - *An attempt starts*: of `concurrency` it is one that is *active*, also while it waits for a slot. A retry is *in
//!   progress* from its grant on if waiting counts, else from its start; a retry is every attempt, sent or turned away,
//!   after the first of its call.
//! - *An attempt has ended*, was turned away, or its call is abandoned, while it is under way or waits to be: it is
//!   neither active nor in progress any more. That comes before the policy is asked.
//! - *An attempt fails* and the policy is asked: first, whatever the policy says, `grpc_throttle` counts the failure if
//!   the policy retries on its error. Then the budget says whether it grants a retry.
//! - *The call waits* for a retry: the budget is charged, by the error of the attempt that failed.
//! - *A call succeeds*: `token_bucket`, `grpc_throttle` and `windowed_ratio` that deposits on success pay in;
//!   `aws_quota` pays `per_success` in if the call needed one attempt, and else what its last retry was charged.
//!
//! ## Breakers and throttles
//!
//! The breaker and the throttle of a call have one state for each of its caller's instances, or one for all. The rules
//! are in [`policy`](crate::policy).
//!
//! - *A call is about to start its first attempt*: a breaker that stands outside is asked. If it does not let the call
//!   through, that fails at once with `breaker_open` (reason `not_retryable`) and has made no attempt.
//! - *An attempt starts*: first a breaker that stands inside is asked; if it does not let the attempt through, that is
//!   *turned away* with `breaker_open`. Then the throttle is asked; if it holds the attempt back, that is *turned away*
//!   with `throttled`. What was let through is over for the breaker when the attempt has ended, was turned away, or its
//!   call is abandoned; outside, when the call has ended or is abandoned.
//! - *An attempt that was sent has ended* (not one that was turned away, or whose call is abandoned): it counts for the
//!   throttle, and for a breaker that counts attempts, as having taken the time since its clock started; then it is
//!   over for the breaker. That comes after it is no longer active for its budget, and before the policy is asked.
//!   An attempt that the throttle has let through and that is turned away afterwards, or whose call is abandoned before
//!   it has ended, is a request of the throttle no more.
//! - *A call has ended*: if an attempt of it was sent since its breaker last let something of it through, it counts for
//!   a breaker that counts calls, as having taken the time since its clock started, with the error that it fails with;
//!   then it is over for the breaker. That comes before its fallback begins, or whoever made it goes on.
//! - If a breaker has moved since it last let something of this call through, nothing counts.
//!
//! ## Hedges
//!
//! What is sent for an attempt of a hedged call is its first *copy*; more may be sent beside it. Whatever is said of an
//! attempt that is sent, arrives, is answered or given up goes for each copy, with the clock of the attempt; but not
//! what is said of budgets, breakers and throttles, for which a hedge is nothing of its own.
//!
//! - *The first copy is sent*: after the attempt's timer that of the hedge is armed, for now + `after`; then that of
//!   the copy itself, if it finds nobody.
//! - **Timer** of a hedge: the next copy is *due*. If fewer hedges are under way than `in_flight`, for all calls that
//!   share that limit, and the caller's pool, if there is one, has a free slot for which nobody waits, the copy takes
//!   the slot and is *sent*; else it is left out. Then, if less than `copies` were due, the timer is armed again for
//!   now + `after`. A hedge is under way from when it is sent until it is answered in time or is given up.
//! - The timer of the attempt is that of its first copy: the start of its clock + `timeout`; `connect_timeout` is not
//!   for the attempt but for each copy. Where a *lost* copy finds nobody, **Timer** of the copy comes at its sending +
//!   `connect_timeout`, if that is before the caller stops waiting for the attempt: the copy is *given up* and has
//!   failed with `timeout`.
//! - *A copy is answered* in time with success: the attempt has *ended* with success. The other copies, in the order in
//!   which they were sent, are *given up*; unless `cancel_losers` is set, their targets never learn of that.
//! - *A copy fails*, by an answer or by its timer: if there are others under way, the attempt goes on. Else it has
//!   *ended* with this error (and what the answer says about when to try again), and no more copies are due.
//! - **Timer** of the attempt, or of the call's end: all copies are *given up*, in the order in which they were sent.
//! - A hedge is no retry, and it is not original.
//!
//! ## Operations
//!
//! What a client's request wants done at one place of the call graph is an *operation*, whatever number of attempts
//! that takes, there and above. The operation of a client's call is known by the key of that call; that of a call that
//! work makes by `call_key(of the operation of the work, call.key, copy)`. An attempt belongs to the operation of its
//! call.
//!
//! - *The key sent along* with an attempt of a client: none; that of its operation; that of the attempt, or of the copy
//!   of it (`PerAttempt`); or `call_key(client_key, call.key, 0)` (`Reused`). Work that came with a key `k` sends along
//!   `call_key(k, call.key, copy)`, the same with all attempts of a call; work that came without one sends none.
//! - *A turn comes* at a service with a store, and the worker is taken: if the attempt brings a key, the store looks it
//!   up. If it does not know it, or its result has been there for `ttl`, it notes that the operation is *being done*,
//!   and the service works on it. If what it knows is of another operation, the attempt is *answered* with `invalid`. If
//!   the operation has ended, it is *answered* with the same result, degraded if that was, and without a `retry_after`.
//!   If it is being done, it is *answered* with `refused`, or keeps its worker and *waits for it*, as the store's rule
//!   says. All this takes no time, and what a `fail` with `work` had for the attempt does not matter then.
//! - When work that does an operation is *answered*, the store has the result from then on: successes, and errors of
//!   faults and of the calls that it made. Then those that wait for it are *answered* with it, in the order in which
//!   they began to wait, before calls of that work are abandoned.
//! - When it is *cancelled*, or reset by a crash, the first of those that wait does it instead: its service begins, for
//!   the time that was drawn when its turn came (no event, if that is zero and the service time is so at all times).
//!   That comes when its worker is free, and before the answer to what was reset. If none waits, the store forgets the
//!   operation. An attempt that waits and is itself cancelled or reset waits no more.
//! - *Side effects*: those of a service that `writes` take place when its service is over, before its calls, also if a
//!   `fail` with `work` answers it then. Another one of the same operation is a duplicate.
//! - *A client's request ends* badly: it is `unknown` if, of the attempts beneath it that were sent to a service that
//!   writes, one has not been answered in time so far, given up or not. Of a group that puts dead letters aside it is
//!   one if its reason is `exhausted`, unknown or not.
//!
//! ## Faults
//!
//! - **A window begins**: the fault is active at its targets (of services only at the first servers, if it says so),
//!   and the end of the window is scheduled, unless that is open. **A window ends**: the fault is not active any more,
//!   and the beginning of the next one is scheduled, if there is one. Faults are asked in file order; the first that
//!   strikes an attempt decides. Unless it is said otherwise they look at the instant at which they are asked.
//! - `fail` strikes with its probability. With the probability `correlation` the draw is that of the epoch, else it is
//!   the attempt's own. At a service, the attempt is *answered* with the error after the delay (**Served**); with
//!   `work`, it goes on to the limiter as if nothing had struck. On a call, the attempt is *lost*, but an answer with
//!   the error reaches the caller after the delay (zero: a scheduled delay of zero); `connect_timeout` does not apply.
//!   The error carries the `retry_after`.
//! - `refuse`, and `crash` within its window: the attempt is *answered* with `refused`.
//! - `blackhole`: the attempt is *lost*. On a call it is asked with the others when the attempt is sent, at a service
//!   when it would arrive; then, if its sending and `connect_timeout` make an instant before that at which its caller
//!   stops waiting for it, the attempt's timer is armed anew for that.
//! - `loss` of requests, with its probability: the attempt is *lost*, but its connection is not: `connect_timeout` does
//!   not apply. `loss` of answers is asked when an attempt of the call is *answered*: the answer does not reach the
//!   caller.
//! - `slow` on a call: the way there takes longer, by a draw of the fault for each attempt.
//! - `pause`: what begins to be served at a paused server is **Served** its service time after the end of the pause (a
//!   service time of zero is an event then). At the instant of its end a pause is over, whatever else ends then. If a
//!   pause has begun since, **Served** does not come, but its service time after the end of the pause, of several the
//!   last: it is scheduled when it would have come, and that is no event.
//! - `crash`, when a window begins: server by server, everything that is in progress there, in the order in which it
//!   arrived, is *answered* with `reset`; what it waited for does not come any more, and the calls that it makes are
//!   *abandoned*, whatever the service's `cancel` says.
//! - `capacity`: as many workers as [`workers_left`](crate::plan::workers_left) says are there, for each that is active
//!   in file order. Workers who are too many finish what they do. When there are more again, those that do nothing are
//!   free.
//! - `load`: while it is active, requests of the group come `factor` times as fast. Request n of `constant` arrivals,
//!   or the point p of the Poisson process, comes when the integral of the rate times the factors (of all that are
//!   active) has reached it: see [`Surge`](crate::plan::Surge).
//!
//! ## The calls of a service
//!
//! - *A step begins*: its calls begin one after another in their order. A call whose `probability` is below one is
//!   made if its draw says so (one draw for all copies); if not, it has *settled*. Its copies begin in their order.
//! - A call of a step *settles* when `required` of its copies (fallbacks count in their place) have succeeded. It
//!   *fails* when so many copies have failed that this can no longer happen. If it is `optional`, failing settles it
//!   and marks the work as degraded.
//! - When all calls of a step have settled, the next step begins. When a call fails that is not optional, the attempt
//!   is *answered* at once with the error of the copy that decided it; calls of the step that have not begun do not
//!   begin.
//! - A step is over when all of its calls have begun and settled. A call that ends after its step is over, or after the
//!   attempt was answered, changes nothing: nobody waits for it. But it does not know that: until then it goes on,
//!   retries and fallback included. Only where the service's `cancel` is `running`, calls that nobody waits for are
//!   *abandoned*: when a call of several copies has settled, and all of them have begun, its others, before the work
//!   goes on; when the attempt has been answered, all that have not ended.
//! - An attempt that succeeds on degraded work marks the work that made the call, or the client's request, as degraded:
//!   one that is still waited for, not a copy that comes after enough others.
//!
//! ## The balancer
//!
//! A service with several servers has a balancer. It picks from those that are not *ejected*, or from all if all are;
//! but if the call says `avoid_previous`, not the one that was picked last for an attempt of the same call, a lost one
//! too, while its caller waited for it, when this one was sent: unless there is no other to pick from.
//! The load of a server is the number of attempts in progress there (arrived, and not answered, dropped or cancelled),
//! and of those that a `blackhole` has swallowed there and whose callers wait for them still.
//!
//! - `round_robin`: the server that a counter of the service stands at, or the next one after it that may be picked;
//!   the counter, at first 0, goes on to the server after the one picked. After the last comes the first.
//! - `random`: one of the candidates in ascending order, by the draw `Server`.
//! - `least_loaded`: the lowest of those with the least load.
//! - `two_choices`: the one that `random` picks and one of the other candidates, by the draw `OtherServer`; of these
//!   the one with less load, the first if they are equal. If there is no other, the first.
//! - `primary`: the lowest candidate.
//! - `by_copy`: the number of the call's copy modulo the number of servers, or the next one after it that may be
//!   picked. A fallback is the same copy as the call that failed; a client's call is copy 0.
//!
//! Where servers may be ejected, each attempt that is answered in time, or given up at a timer (not because another
//! copy was faster, or its call is abandoned), counts for the server that was picked for it, if one was. The rule is
//! [`Ejection`](crate::policy::Ejection); what an attempt was picked for before the server was ejected counts after
//! that, too.
//!
//! The run ends before the first event at or after the horizon; without a horizon, when nothing but fault transitions
//! at later instants is left and nothing is in progress that could go on with them. Then its end is the instant of the
//! last other event, or that of the last fault transition that ended or began work, if that is later.
//!
//! # Keys
//!
//! `request = request_key(replica_key(seed, replica), group.key, client, ordinal)`; its choice is drawn from it, and
//! after its end the client's think time. The offset of a periodic client is drawn from its `client_key`. The arrivals
//! of a Poisson group come from [`UnitPoisson`](crate::dist::UnitPoisson)`::new(replica key, group.key, start)`, where
//! `start` is the number of requests that its profile expects before the group's window. A call that work with the key
//! `k` makes has, as its copy `c` (from 0), the key `call_key(k, call.key, c)` (a client's call: `k` is that of the
//! request); whether it is made is drawn from the key of copy 0. A fallback has the key `call_key(key of the call that
//! failed, fallback.key, 0)`. The attempt n of a call has the key `attempt_key(call key, n, 0)`: that is the key of the
//! work at the service. Its copies have the keys `attempt_key(call key, n, 1)`, `2`, ... From the attempt's key (a
//! copy's own, but that of the attempt for the wait) come its service time, its times on the network, the wait after
//! it, its server (`below(draw(key, purpose), candidates)`), `draw(mix(attempt, fault.key), Fault)` whether a fault
//! strikes it, and from `mix(attempt, fault.key)` the delay of that fault, what it adds (both for `FaultDelay`),
//! whether it takes a message (`Loss`), whether the throttle holds it back (`Throttle`), and whether the attempt shares
//! the draw of its epoch (`Shares`). How long a breaker is open is drawn from `draw(key, Open)` of the attempt, or of
//! the call, that opened it. That of an epoch is `draw(mix(mix(replica key, fault.key), now / epoch), Epoch)`.

pub mod agenda;
mod arrivals;
mod balance;
mod budget;
mod call;
mod cancel;
mod client;
mod fault;
mod frames;
mod guard;
mod hedge;
mod list;
mod operation;
mod pool;
mod replica;
mod server;
mod service;
mod slab;
mod steps;
mod struck;
mod tap;
mod timers;

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
    run(plan, seed, replica, tap, Bounds::default())
}

/// Runs one replica within other bounds than those of the simulator, or until it is told to stop.
// Kept whole, so that profilers and `benches/instructions` find the simulation by this name.
#[inline(never)]
pub fn simulate_within(plan: &Plan, seed: u64, replica: u32, bounds: Bounds) -> Outcome {
    run(plan, seed, replica, &mut (), bounds)
}

/// Chooses the engine that has what the plan uses.
#[inline(always)]
fn run(plan: &Plan, seed: u64, replica: u32, tap: &mut impl Tap, bounds: Bounds) -> Outcome {
    if plan.is_core() {
        Replica::<_, false>::new(plan, seed, replica, tap).run(bounds)
    } else {
        Replica::<_, true>::new(plan, seed, replica, tap).run(bounds)
    }
}
