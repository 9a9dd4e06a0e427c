//! What goes wrong, where, when, and what it does.

use std::ops::Range;

use crate::dist::{Dist, Purpose, mix};
use crate::failure::ErrorKind;
use crate::plan::{CallId, Capacity, GroupId, ServiceId};
use crate::time::{Instant, Span};

/// Something that goes wrong for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Hash of its name, for its draws.
    pub key: u64,
    /// What it strikes; its effect fits all of them.
    pub targets: Vec<Target>,
    /// Of services it strikes only so many servers, the lowest numbered; [`Capacity::NO_LIMIT`] for all.
    pub first_instances: u32,
    /// When.
    pub windows: Windows,
    /// What it does.
    pub effect: Effect,
}

impl Fault {
    /// Whether all that it does is to turn attempts away at the door of a service, without a word on when to come back.
    pub fn only_turns_away(&self) -> bool {
        let at_services = self.targets.iter().all(|target| matches!(target, Target::Service(_)));
        at_services
            && match &self.effect {
                Effect::Fail(failure) => !failure.works && failure.retry_after.is_none(),
                effect => *effect == Effect::Refuse,
            }
    }

    /// Whether it strikes this server of a service that it is on.
    #[inline]
    pub fn strikes(&self, server: u32) -> bool {
        self.first_instances == Capacity::NO_LIMIT || server < self.first_instances
    }
}

/// What a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A service, or the first of its servers.
    Service(ServiceId),
    /// A call: the way between a caller and its callee.
    Call(CallId),
    /// A client group.
    Group(GroupId),
}

/// When a fault is there: half-open windows. An open end is [`Instant::LIMIT`].
#[derive(Clone, Debug, PartialEq)]
pub enum Windows {
    /// Once.
    Once(Range<Instant>),
    /// `first`, and again each time that `every` has passed; it is longer than the window.
    Repeated {
        /// The first window; its end is not open.
        first: Range<Instant>,
        /// From the beginning of one to that of the next.
        every: Span,
    },
    /// From `within.start` on in turns good and bad, for times that each replica draws; cut off at `within.end`.
    Random {
        /// No window begins before, or goes on after.
        within: Range<Instant>,
        /// How long it is good.
        up: Dist,
        /// How long it is bad. Windows without length are none.
        down: Dist,
    },
}

impl Windows {
    /// The windows of a replica in the order of time. `key` is `mix(replica key, fault key)`; the time `up` before the
    /// window n (from 0) is drawn from `mix(key, n)` for the purpose `Up`, its length for `Down`.
    pub fn of_replica(&self, key: u64) -> WindowsOfReplica<'_> {
        let next = match self {
            Self::Once(window) => window.start,
            Self::Repeated { first, .. } => first.start,
            Self::Random { within, .. } => within.start,
        };
        WindowsOfReplica { windows: self, key, number: 0, next }
    }
}

/// See [`Windows::of_replica`].
#[derive(Clone, Debug)]
pub struct WindowsOfReplica<'w> {
    windows: &'w Windows,
    key: u64,
    number: u64,
    /// Where the next one begins, or the time before it does.
    next: Instant,
}

impl Iterator for WindowsOfReplica<'_> {
    type Item = Range<Instant>;

    fn next(&mut self) -> Option<Range<Instant>> {
        loop {
            if self.next >= Instant::LIMIT {
                return None;
            }
            let number = self.number;
            self.number += 1;
            match self.windows {
                Windows::Once(window) => {
                    self.next = Instant::LIMIT;
                    return Some(window.clone());
                }
                Windows::Repeated { first, every } => {
                    let start = self.next;
                    self.next = start + *every;
                    return Some(start..(start + first.end.since(first.start)).min(Instant::LIMIT));
                }
                Windows::Random { within, up, down } => {
                    let key = mix(self.key, number);
                    let start = self.next + up.sample(key, Purpose::Up);
                    let end = (start + down.sample(key, Purpose::Down)).min(within.end);
                    // Neither of them may be so long that the instant overflows.
                    self.next = if start >= within.end { Instant::LIMIT } else { end };
                    if start < end {
                        return Some(start..end);
                    }
                }
            }
        }
    }
}

/// What a fault does within its windows.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// On services and calls: attempts fail.
    Fail(Failure),
    /// On services: attempts are turned away at once with `refused`.
    Refuse,
    /// On services and calls: attempts are lost on their way, and nobody says so.
    BlackHole,
    /// On services: servers do nothing. What is in service then, or begins meanwhile, ends no earlier than its whole
    /// service time after the end of the pause.
    Pause,
    /// On services: what is in progress at the servers ends with `reset`; then attempts are turned away with `refused`.
    Crash,
    /// On services: service that begins takes `factor` times as long, and this much longer. On calls: the way there
    /// takes this much longer.
    Slow {
        /// Above zero; 1 on calls.
        factor: f64,
        /// Drawn for each attempt.
        add: Dist,
    },
    /// On services: so many of the workers are there, see [`workers_left`].
    Capacity {
        /// From 0 to 1.
        factor: f64,
    },
    /// On calls: messages are lost.
    Loss {
        /// How likely, in units of 2^-64, see [`probability`](crate::dist::probability).
        probability: u64,
        /// Which.
        direction: Direction,
    },
    /// On client groups with `constant`, `poisson` or `profile` arrivals: so many times the rate.
    Load {
        /// Not negative.
        factor: f64,
    },
}

/// How attempts fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// How likely, in units of 2^-64: an attempt fails if its draw is below, or the bound is `u64::MAX`.
    pub probability: u64,
    /// With what.
    pub error: ErrorKind,
    /// How long until the error is returned.
    pub delay: Dist,
    /// Whether the service works for it first, as for any other, and makes no calls; there is no delay then. Not on
    /// calls.
    pub works: bool,
    /// How likely an attempt shares the draw of its epoch, in units of 2^-64; else it has its own. So the share that
    /// fails is the same whatever the correlation.
    pub correlation: u64,
    /// The length of an epoch; above zero.
    pub epoch: Span,
    /// When the error says that it is worth trying again; none if it does not say.
    pub retry_after: Option<Span>,
}

/// Which messages are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Requests: the callee does not learn of the attempt.
    Request,
    /// Answers: the work has been done.
    Response,
}

/// How many of `workers` are there while a fault leaves the share `factor` of the capacity: the nearest whole number, a
/// half up.
pub fn workers_left(workers: u32, factor: f64) -> u32 {
    // The cast is exact: the product is between 0 and `workers`.
    (f64::from(workers) * factor + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn seconds(window: Range<Instant>) -> (u64, u64) {
        (window.start.as_ns() / S, window.end.as_ns() / S)
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + Span::from_s(s)
    }

    #[test]
    fn windows_repeat_by_their_beginnings() {
        let windows = Windows::Repeated { first: at(10)..at(13), every: Span::from_s(60) };
        let first: Vec<_> = windows.of_replica(7).take(3).map(seconds).collect();
        assert_eq!(first, [(10, 13), (70, 73), (130, 133)]);
        // Virtual time ends, and so do the windows.
        assert!(windows.of_replica(7).all(|window| window.end <= Instant::LIMIT));
    }

    /// 20 s good, 5 s bad, from 100 s on; the third window is cut off at 172 s.
    #[test]
    fn random_windows_alternate_within_their_bounds() {
        let constant = |s| Dist::Constant(Span::from_s(s));
        let windows = Windows::Random { within: at(100)..at(172), up: constant(20), down: constant(5) };
        let all: Vec<_> = windows.of_replica(7).map(seconds).collect();
        assert_eq!(all, [(120, 125), (145, 150), (170, 172)]);
        let exponential = |s| Dist::Exponential { mean: Span::from_s(s) };
        let windows = Windows::Random { within: at(0)..at(100_000), up: exponential(90), down: exponential(10) };
        let bad_ns: u64 = windows.of_replica(7).map(|window| window.end.since(window.start).as_ns()).sum();
        // About 1,000 windows; the share of bad time has a standard deviation of 0.4 points.
        assert!((bad_ns as f64 / (100_000 * S) as f64 - 0.1).abs() < 0.02, "{bad_ns}");
    }

    #[test]
    fn a_share_of_the_workers_is_rounded() {
        assert_eq!(
            [(4, 0.5), (3, 0.5), (10, 0.0), (10, 0.04), (7, 1.0)].map(|(n, f)| workers_left(n, f)),
            [2, 2, 0, 0, 7]
        );
    }
}
