//! How much of a call can end within a window: what a breaker can count at most.
//!
//! Two bounds. [`within`] holds whatever happens, for calls of client groups whose arrivals have a rate. [`Row`] is for
//! calls of one caller that follow each other while every attempt fails at once and is retried.

use crate::analysis::Course;
use crate::analysis::lint::limits::{at_once, longest};
use crate::analysis::lint::subject::{Subject, densest};
use crate::plan::{Arrivals, CallId, Effect, Group, GroupId, Guard, Origin, Plan, Target};
use crate::policy::{Breaker, Counts};
use crate::time::Span;

/// A chance that is as good as none, as a logarithm: one in 10^12.
const NEVER: f64 = -27.6;

/// A bound on what ends within a window of this length, `(t - window, t]`, and is counted by one state of the breaker
/// of a call. None where there is no bound: clients that come at one instant or as soon as they can, attempts that may
/// take any time, and calls of services, whose work may come out of a queue all at once.
pub fn within(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>, window: Span) -> Option<f64> {
    let plan = subject.plan;
    let Origin::Group(group) = plan.calls[id.index()].origin else { return None };
    let each = match guard.rule.counts {
        Counts::Calls => 1.0,
        Counts::Attempts => at_once(subject, id).most? as f64,
    };
    let group_of = &plan.groups[group.index()];
    let clients = if guard.by_instance { f64::from(group_of.clients) } else { 1.0 };
    if let Arrivals::Closed { think, .. } = &group_of.arrivals {
        let (pause, _) = think.bounds();
        // The calls of a client follow each other: the first and the last may reach into the window.
        let calls = (pause > Span::ZERO).then(|| (window.as_ns() / pause.as_ns()) as f64 + 2.0)?;
        return Some(calls * each * f64::from(group_of.clients) / clients);
    }
    // What ends within the window has begun within it, or as long before as a call may take.
    let takes = longest(subject, id)?;
    let requests = arrivals(plan, group, window + takes)?;
    // Request n belongs to client n mod `clients`.
    Some((requests / clients).ceil() * each)
}

/// The most requests of a group that begin within so much time: by chance more in one case of 10^12.
fn arrivals(plan: &Plan, group: GroupId, time: Span) -> Option<f64> {
    let Group { arrivals, clients, .. } = &plan.groups[group.index()];
    let surge = surge(plan, group);
    Some(match arrivals {
        Arrivals::Burst { .. } | Arrivals::Closed { .. } => return None,
        Arrivals::Constant { rate } => (time.as_s() * rate * surge).ceil() + 1.0,
        Arrivals::Poisson(profile) => poisson_at_most(time.as_s() * profile.peak() * surge),
        Arrivals::Trace(instants) => densest(instants, time) as f64,
        Arrivals::Periodic { every, .. } => f64::from(*clients) * ((time.as_ns() / every.as_ns()) as f64 + 1.0),
    })
}

/// By how much faults make requests come faster, all of them together.
fn surge(plan: &Plan, group: GroupId) -> f64 {
    let loads = plan.faults.iter().filter_map(|fault| match fault.effect {
        Effect::Load { factor } if fault.targets.contains(&Target::Group(group)) => Some(factor.max(1.0)),
        _ => None,
    });
    loads.product()
}

/// The most that a Poisson variable with this mean is, but for a chance that is as good as none. By Chernoff's bound, k
/// or more have at most the chance `exp(k - mean - k ln(k / mean))`.
fn poisson_at_most(mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let is_rare = |k: f64| k > mean && k - mean - k * libm::log(k / mean) < NEVER;
    let (mut often, mut rare) = (mean.floor(), (mean + 1.0).floor());
    while !is_rare(rare) && rare.is_finite() {
        rare *= 2.0;
    }
    loop {
        let middle = f64::midpoint(often, rare).floor();
        // Beyond 2^53 neighbouring numbers are further apart than by one.
        if middle <= often || middle >= rare {
            break;
        }
        if is_rare(middle) { rare = middle } else { often = middle }
    }
    often
}

/// Calls of one caller, one after another, all of whose attempts fail at once and are retried after the shortest waits.
pub struct Row {
    /// From the first attempt of a call to its last.
    pub span: Span,
    /// The time after each of the attempts until the next one, the last of them that to the next call.
    gaps: Vec<Span>,
}

impl Row {
    /// Those that one state of the breaker of a call sees; none where it sees those of several callers, where calls
    /// overlap, and where nothing is between them.
    pub fn of(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>) -> Option<Self> {
        let plan = subject.plan;
        let Origin::Group(group) = plan.calls[id.index()].origin else { return None };
        let clients = plan.groups[group.index()].clients;
        let Course { starts, most, .. } = at_once(subject, id);
        // Of calls with very many attempts not all are told.
        if !(guard.by_instance || clients == 1) || most != Some(starts.len() as u64) {
            return None;
        }
        let last = starts.last()?;
        let pause = match &plan.groups[group.index()].arrivals {
            Arrivals::Closed { think, .. } => think.bounds().0,
            Arrivals::Constant { rate } => {
                let period = Span::from_ns_f64(f64::from(clients) * 1e9 / (rate * surge(plan, group)));
                // With waits that are drawn, the calls of some are shorter and of others longer.
                if last.latest > period || last.latest != last.earliest {
                    return None;
                }
                period - last.latest
            }
            _ => return None,
        };
        let last = last.earliest;
        let mut gaps: Vec<Span> = starts.windows(2).map(|pair| pair[1].earliest - pair[0].earliest).collect();
        gaps.push(pause);
        if guard.rule.counts == Counts::Calls {
            gaps = vec![last + pause];
        }
        gaps.iter().any(|gap| *gap > Span::ZERO).then_some(Self { span: last, gaps })
    }

    /// The most that fail within a window of this length, `(t - window, t]`.
    pub fn within(&self, window: Span) -> u64 {
        let Some(reach) = window.as_ns().checked_sub(1) else { return 0 };
        let round: u64 = self.gaps.iter().map(|gap| gap.as_ns()).sum();
        let (rounds, rest) = (reach / round, reach % round);
        let from = |first: usize| {
            let gaps = self.gaps.iter().cycle().skip(first).take(self.gaps.len());
            let mut left = rest;
            let more = gaps.take_while(|gap| {
                let fits = gap.as_ns() <= left;
                left = left.saturating_sub(gap.as_ns());
                fits
            });
            more.count() as u64
        };
        let more = (0..self.gaps.len()).map(from).max().unwrap_or(0);
        1 + rounds * self.gaps.len() as u64 + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(gaps_ms: &[u64]) -> Row {
        Row { span: Span::ZERO, gaps: gaps_ms.iter().map(|&ms| Span::from_ms(ms)).collect() }
    }

    /// Waits of 0.1, 0.2, 0.4 and 0.8 s and no pause: six failures in a row take 1.5 s, which a window of 1.5 s does
    /// not hold, as it is open at its old end. (After jvoegele/external_service, issue 93.)
    #[test]
    fn the_densest_stretch_of_a_row_counts() {
        let calls = row(&[100, 200, 400, 800, 0]);
        let within = |ms| calls.within(Span::from_ms(ms));
        assert_eq!([0, 1, 100, 101, 1_000, 1_500, 1_501, 2_000].map(within), [0, 2, 2, 3, 5, 5, 7, 9]);
        // Two whole calls, and the last attempt before them and the first after them.
        assert_eq!(within(3_001), 12);
    }

    /// With a mean of 10 there are 39 or more in 3.0 of 10^12 cases and 40 or more in 0.7; with a mean of 1,000 it are
    /// 1,228 or more in 1.8 and 1,232 or more in 0.8. (Sums of the distribution by a separate program.)
    #[test]
    fn chance_has_a_bound_that_is_close() {
        assert_eq!(poisson_at_most(0.0), 0.0);
        let ten = poisson_at_most(10.0);
        assert!((39.0..=41.0).contains(&ten), "{ten}");
        let thousand = poisson_at_most(1_000.0);
        assert!((1_228.0..1_250.0).contains(&thousand), "{thousand}");
        assert!(poisson_at_most(1e300).is_finite());
    }
}
