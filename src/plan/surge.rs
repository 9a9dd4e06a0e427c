//! Load faults: arrivals that come a multiple as fast for a while.

use std::iter::Peekable;
use std::ops::Range;

use crate::dist::mix;
use crate::plan::{Effect, Fault, Group, GroupId, Plan, Target, WindowsOfReplica};
use crate::time::Instant;

/// The factors by which the rate of a client group is multiplied over time, in one replica.
///
/// Let D(t) be the number of requests expected before t without the faults. Where the factor is f, D grows f times as
/// fast; so the request that is due at the point p of the whole is the one that is due, without faults, at the point
/// that [`Surge::undisturbed`] gives.
#[derive(Debug)]
pub struct Surge<'p> {
    faults: Vec<(f64, Peekable<WindowsOfReplica<'p>>)>,
    /// The stretch over which the factor does not change.
    now: Range<Instant>,
    factor: f64,
    /// Nothing comes from here on.
    until: Instant,
    /// Points, and undisturbed points, before its start.
    points: f64,
    undisturbed: f64,
}

impl<'p> Surge<'p> {
    /// Within the window of a group's arrivals. None if no load fault is on the group.
    pub fn new(plan: &'p Plan, group: GroupId, replica_key: u64) -> Option<Self> {
        let Group { from, until, .. } = plan.groups[group.index()];
        let until = until.min(plan.horizon.unwrap_or(Instant::LIMIT));
        let on_it = |fault: &&Fault| fault.targets.contains(&Target::Group(group));
        let factors = plan.faults.iter().filter(on_it).filter_map(|fault| match fault.effect {
            Effect::Load { factor } => Some((factor, fault.windows.of_replica(mix(replica_key, fault.key)).peekable())),
            _ => None,
        });
        let faults: Vec<_> = factors.collect();
        if faults.is_empty() {
            return None;
        }
        let mut surge = Self { faults, now: from..from, factor: 1.0, until, points: 0.0, undisturbed: 0.0 };
        surge.begin(from);
        Some(surge)
    }

    /// The stretch that begins at `start`.
    fn begin(&mut self, start: Instant) {
        let (mut factor, mut end) = (1.0, Instant::LIMIT);
        for (multiple, windows) in &mut self.faults {
            while windows.next_if(|window| window.end <= start).is_some() {}
            match windows.peek() {
                Some(window) if window.start <= start => {
                    factor *= *multiple;
                    end = end.min(window.end);
                }
                Some(window) => end = end.min(window.start),
                None => {}
            }
        }
        (self.now, self.factor) = (start..end, factor);
    }

    /// The undisturbed point of `point`, if it is reached before the end of the window; points ascend from one question to the next. `due` is
    /// the number of requests expected between the start and an instant, undisturbed.
    pub fn undisturbed(&mut self, point: f64, due: impl Fn(Instant) -> f64) -> Option<f64> {
        // Windows may come again and again after the last request.
        while self.now.start < self.until {
            if self.now.end == Instant::LIMIT {
                // The last stretch has no end.
                return (self.factor > 0.0).then(|| self.undisturbed + (point - self.points) / self.factor);
            }
            let undisturbed = due(self.now.end);
            let points = self.points + (undisturbed - self.undisturbed) * self.factor;
            if point <= points {
                return Some(self.undisturbed + (point - self.points) / self.factor);
            }
            (self.points, self.undisturbed) = (points, undisturbed);
            self.begin(self.now.end);
            if undisturbed >= due(self.until) {
                // No request is due any more, however many windows there are until then.
                self.now = self.until..self.until;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arrivals, Capacity, Labels, Operations, Recovery, Windows};
    use crate::time::Span;

    fn at(s: u64) -> Instant {
        Instant::ZERO + Span::from_s(s)
    }

    /// A plan of nothing but load faults on its group.
    fn plan(faults: &[(f64, Range<Instant>)]) -> Plan {
        let fault = |(factor, window): &(f64, Range<Instant>)| Fault {
            key: 0,
            targets: vec![Target::Group(GroupId(0))],
            first_instances: Capacity::NO_LIMIT,
            windows: Windows::Once(window.clone()),
            effect: Effect::Load { factor: *factor },
        };
        Plan {
            horizon: None,
            warmup: Instant::ZERO,
            windows: Vec::new(),
            bucket: Span::from_s(1),
            recovery: Recovery::DEFAULT,
            groups: vec![Group {
                key: 0,
                clients: 1,
                arrivals: Arrivals::Constant { rate: 10.0 },
                from: at(5),
                until: Instant::LIMIT,
                choices: Vec::new(),
                operations: Operations::PLAIN,
            }],
            services: Vec::new(),
            calls: Vec::new(),
            policies: Vec::new(),
            budgets: Vec::new(),
            faults: faults.iter().map(fault).collect(),
            steps: Vec::new(),
            step_calls: Vec::new(),
            timeouts: Vec::new(),
            labels: Labels::default(),
        }
    }

    /// When the n-th request comes of a group with 10/s from 5 s on.
    fn arrivals(faults: &[(f64, Range<Instant>)], numbers: &[u32]) -> Vec<Option<f64>> {
        let plan = plan(faults);
        let mut surge = Surge::new(&plan, GroupId(0), 1).unwrap();
        let due = |t: Instant| 10.0 * t.since(at(5)).as_s();
        numbers.iter().map(|&n| surge.undisturbed(n.into(), due).map(|point| 5.0 + point / 10.0)).collect()
    }

    /// 10/s until 10 s, then 40/s for 2 s, then 10/s: 50, 130 and 180 requests are due by 10, 12 and 17 s. The request
    /// that comes at 11 s is the 90th; without the fault it is the one of 11 s, the 60th.
    #[test]
    fn a_surge_stretches_the_points_that_fall_into_it() {
        let numbers = [50, 90, 130, 180];
        let expected = [10.0, 11.0, 12.0, 17.0].map(Some);
        assert_eq!(arrivals(&[(4.0, at(10)..at(12))], &numbers), expected);
    }

    /// Ten requests in a microsecond, nothing afterwards, and a window of 1 ns every 3 ns to the end of virtual time. A
    /// third of the time has twice the rate: 13.3 requests. To look through all windows for the 14th would take months.
    #[test]
    fn no_window_is_looked_at_after_the_last_request() {
        let mut plan = plan(&[(2.0, at(5)..at(6))]);
        let first = at(5)..at(5) + Span::from_ns(1);
        plan.faults[0].windows = Windows::Repeated { first, every: Span::from_ns(3) };
        let due = |t: Instant| t.since(at(5)).as_ns().min(1_000) as f64 / 100.0;
        let mut surge = Surge::new(&plan, GroupId(0), 1).unwrap();
        assert!(surge.undisturbed(13.0, due).is_some());
        assert_eq!([14.0, 15.0].map(|point| surge.undisturbed(point, due)), [None; 2]);
    }

    /// From 10 to 12 s twice as many, from 11 to 13 s three times: 20, 60 and 30 per second. Nothing from 20 to 25 s,
    /// and nothing after 30 s, ever.
    #[test]
    fn factors_multiply_and_zero_is_a_pause_or_an_end() {
        let faults =
            [(2.0, at(10)..at(12)), (3.0, at(11)..at(13)), (0.0, at(20)..at(25)), (0.0, at(30)..Instant::LIMIT)];
        // 50 by 10 s, 70 by 11, 130 by 12, 160 by 13, 230 by 20 and by 25, 280 by 30 s.
        let expected = [Some(10.5), Some(11.5), Some(12.5), Some(20.0), Some(25.1), Some(30.0), None];
        let found = arrivals(&faults, &[60, 100, 145, 230, 231, 280, 281]);
        for (found, expected) in found.into_iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-9, "{found:?} {expected:?}");
        }
    }
}
