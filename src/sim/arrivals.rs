//! When requests begin: one stream for an open group, a clock for each client of a periodic or closed one.

use crate::dist::UnitPoisson;
use crate::plan::{Arrivals, Group, GroupId, Plan, Surge};
use crate::time::Instant;

/// What a group has begun so far, and what decides about the rest.
#[derive(Debug)]
pub(super) struct Source<'p> {
    /// Requests begun by the group.
    pub begun: u64,
    points: Points,
    /// Requests begun by each client, where clients have clocks of their own.
    pub begun_by: Vec<u64>,
    /// By how much faults multiply the rate; none if none does.
    surge: Option<Box<Surge<'p>>>,
}

/// The state of an open group's stream.
#[derive(Debug)]
enum Points {
    /// A position says it all: that of the request, or of the row of a trace.
    Counted(u64),
    /// Boxed because it is large and there is one per group.
    Poisson(Box<UnitPoisson>),
    /// The clients have clocks of their own.
    ByClient,
}

impl<'p> Source<'p> {
    pub fn new(plan: &'p Plan, id: GroupId, replica_key: u64) -> Self {
        let group = &plan.groups[id.index()];
        let points = match group.arrivals {
            Arrivals::Burst { .. } | Arrivals::Constant { .. } | Arrivals::Trace(_) => Points::Counted(0),
            Arrivals::Poisson(ref profile) => {
                Points::Poisson(Box::new(UnitPoisson::new(replica_key, group.key, profile.due_before(group.from))))
            }
            Arrivals::Periodic { .. } | Arrivals::Closed { .. } => Points::ByClient,
        };
        let clocks = if matches!(points, Points::ByClient) { group.clients as usize } else { 0 };
        let surge = Surge::new(plan, id, replica_key).map(Box::new);
        Self { begun: 0, points, begun_by: vec![0; clocks], surge }
    }

    /// When the next request of an open group begins; none if there is none.
    pub fn next_open(&mut self, group: &Group) -> Option<Instant> {
        loop {
            let surge = &mut self.surge;
            let at = match (&mut self.points, &group.arrivals) {
                (Points::Counted(n), Arrivals::Burst { at }) => {
                    *n += 1;
                    (*n <= u64::from(group.clients)).then_some(*at)
                }
                (Points::Counted(n), Arrivals::Constant { rate }) => {
                    *n += 1;
                    // From the number of the request, so that no error adds up; the product is exact below 9 million
                    // requests, so that only the quotient is rounded. The cast saturates.
                    let due = |at: Instant| rate * at.since(group.from).as_s();
                    let number = match surge {
                        None => Some(*n as f64),
                        Some(surge) => surge.undisturbed(*n as f64, due),
                    };
                    let after = number.map(|number| (number * 1e9 / rate).round() as u64);
                    after.map(|after| Instant::from_ns(group.from.as_ns().saturating_add(after)))
                }
                (Points::Counted(n), Arrivals::Trace(instants)) => {
                    *n += 1;
                    instants.get(*n as usize - 1).copied()
                }
                (Points::Poisson(process), Arrivals::Poisson(profile)) => {
                    let point = process.next_point();
                    let point = match surge {
                        None => Some(point),
                        Some(surge) => {
                            let before = profile.due_before(group.from);
                            let point = surge.undisturbed(point - before, |at| profile.due_before(at) - before);
                            point.map(|point| point + before)
                        }
                    };
                    point.and_then(|point| profile.instant_of(point))
                }
                _ => None,
            };
            match at {
                Some(at) if at < group.from => {}
                Some(at) if at < group.until => return Some(at),
                _ => return None,
            }
        }
    }
}
