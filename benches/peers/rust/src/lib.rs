//! What the three programs share: the parameters of the two workloads, the draws, and the bookkeeping of workers and of
//! calls in progress. How events, components and timers are made of that is left to each program: that is what is
//! compared.
//!
//! The numbers are those of `scenarios/backoff.toml` (variant `full-jitter`) and of `benches/chain.toml`.

use std::collections::VecDeque;

use cpu_time::ProcessTime;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use serde_json::json;
use slab::Slab;

/// Retries of the storm, after the first attempt.
pub const STORM_RETRIES: u32 = 4;
pub const STORM_BASE: f64 = 1.0;
pub const STORM_CAP: f64 = 30.0;

/// Seconds of the chain that are simulated.
pub const HORIZON: f64 = 5.0;
/// Requests per second.
pub const RATE: f64 = 10_000.0;
pub const TIERS: usize = 3;
pub const WORKERS: usize = 200;
pub const QUEUE_LIMIT: usize = 2_000;
/// Mean service time of every tier, in seconds.
pub const SERVICE: f64 = 0.005;
/// How long each caller waits for an answer, in seconds: the clients first, then the tiers that make calls.
pub const TIMEOUTS: [f64; TIERS] = [1.0, 0.4, 0.1];
pub const CHAIN_ATTEMPTS: u32 = 3;
pub const CHAIN_BASE: f64 = 0.05;

/// A generator with the seed of this workload; `stream` keeps components apart.
pub fn generator(stream: u64) -> Pcg64 {
    Pcg64::seed_from_u64(42 + stream)
}

#[allow(clippy::disallowed_methods, reason = "the logarithm at hand, as any model of these simulators would use it")]
pub fn exponential(uniform: f64, mean: f64) -> f64 {
    -(1.0 - uniform).ln() * mean
}

/// Full jitter: anything between zero and the exponential backoff of this retry, which counts from 1.
pub fn full_jitter(uniform: f64, base: f64, cap: f64, retry: u32) -> f64 {
    uniform * (base * f64::from(1_u32 << (retry - 1))).min(cap)
}

/// A uniform draw in [0, 1).
pub fn uniform(generator: &mut Pcg64) -> f64 {
    generator.random()
}

/// What is compared with stormsim's counts.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    pub requests: u64,
    pub attempts: u64,
    pub completed: u64,
    pub events: u64,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.requests += other.requests;
        self.attempts += other.attempts;
        self.completed += other.completed;
        self.events += other.events;
    }
}

/// Runs the workload that the arguments name and prints its line: `storm CLIENTS` or `chain`.
pub fn main(peer: &str, storm: impl FnOnce(u32) -> Counts, chain: impl FnOnce() -> Counts) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let begun = ProcessTime::now();
    let (workload, counts) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["storm", clients] => ("storm", storm(clients.parse().expect("a number of clients"))),
        ["chain"] => ("chain", chain()),
        _ => panic!("usage: {peer} storm CLIENTS | {peer} chain"),
    };
    let line = json!({
        "peer": peer,
        "workload": workload,
        "requests": counts.requests,
        "attempts": counts.attempts,
        "completed": counts.completed,
        "events": counts.events,
        "cpu_s": begun.elapsed().as_secs_f64(),
    });
    println!("{line}");
}

/// One attempt of a call as its target sees it: where its caller keeps the call, and which attempt of all it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Attempt {
    pub slot: usize,
    /// Slots are used again; this number is not, so an answer that comes late is known as such.
    pub serial: u64,
}

/// What a tier says to its caller.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub attempt: Attempt,
    pub ok: bool,
}

/// A call in progress. `K` is what the simulator cancels a timer by.
#[derive(Debug, Serialize, Deserialize)]
struct InProgress<K> {
    /// The work that makes the call; none for the clients.
    work: Option<Attempt>,
    attempts: u32,
    serial: u64,
    timer: Option<K>,
}

/// What follows from an attempt that has ended.
#[derive(Debug)]
pub enum Next {
    /// Another attempt, once this many seconds have passed.
    Retry { slot: usize, wait: f64 },
    /// The call is over, and so is what this work waited for.
    Over { work: Option<Attempt>, ok: bool },
}

/// The calls in progress of one caller.
#[derive(Debug, Serialize, Deserialize)]
pub struct Calls<K> {
    calls: Slab<InProgress<K>>,
    /// Attempts made so far.
    pub attempts: u64,
}

impl<K> Default for Calls<K> {
    fn default() -> Self {
        Self { calls: Slab::new(), attempts: 0 }
    }
}

impl<K> Calls<K> {
    /// A new call, no attempt of which has been made.
    pub fn begin(&mut self, work: Option<Attempt>) -> usize {
        self.calls.insert(InProgress { work, attempts: 0, serial: 0, timer: None })
    }

    /// The next attempt of the call.
    pub fn attempt(&mut self, slot: usize) -> Attempt {
        self.attempts += 1;
        let call = &mut self.calls[slot];
        call.attempts += 1;
        call.serial = self.attempts;
        Attempt { slot, serial: call.serial }
    }

    pub fn arm(&mut self, slot: usize, timer: K) {
        self.calls[slot].timer = Some(timer);
    }

    /// Whether the caller still waits for this attempt.
    pub fn waits_for(&self, attempt: Attempt) -> bool {
        self.calls.get(attempt.slot).is_some_and(|call| call.serial == attempt.serial)
    }

    /// The timer of an attempt that is answered, to be cancelled.
    pub fn disarm(&mut self, slot: usize) -> Option<K> {
        self.calls[slot].timer.take()
    }

    /// The attempt that was under way has ended. The draw is that of the jitter.
    pub fn ended(&mut self, slot: usize, ok: bool, draw: impl FnOnce() -> f64) -> Next {
        let call = &mut self.calls[slot];
        // No answer and no timer belongs to the call while it waits.
        call.serial = 0;
        call.timer = None;
        if ok || call.attempts == CHAIN_ATTEMPTS {
            return Next::Over { work: self.calls.remove(slot).work, ok };
        }
        Next::Retry { slot, wait: full_jitter(draw(), CHAIN_BASE, f64::INFINITY, call.attempts) }
    }
}

/// The workers of a tier and those that wait for one, first come, first served.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Workers {
    busy: usize,
    queue: VecDeque<Attempt>,
}

#[derive(Debug)]
pub enum Admission {
    Begins,
    Waits,
    Refused,
}

impl Workers {
    pub fn admit(&mut self, attempt: Attempt) -> Admission {
        if self.busy < WORKERS {
            self.busy += 1;
            Admission::Begins
        } else if self.queue.len() < QUEUE_LIMIT {
            self.queue.push_back(attempt);
            Admission::Waits
        } else {
            Admission::Refused
        }
    }

    /// A worker is free: whoever has waited longest gets it.
    pub fn release(&mut self) -> Option<Attempt> {
        let next = self.queue.pop_front();
        if next.is_none() {
            self.busy -= 1;
        }
        next
    }
}
