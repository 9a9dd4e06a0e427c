//! How many clients begin in the same 100 ms, and try again in the same 100 ms if all of them fail at once.

use std::collections::BTreeMap;

use crate::dist::Dist;
use crate::failure::ErrorKind;
use crate::plan::{Arrivals, Call, CallId, Effect, Fault, Group, Origin, Plan, Target};
use crate::policy::{DelayRule, Schedule, WaitRange};
use crate::time::{Instant, Span};

/// The width of the windows in which attempts are counted.
const WINDOW: Span = Span::from_ms(100);

/// The most retries that are looked at.
const RETRIES_MAX: usize = 10_000;

/// The most steps of the computation.
const STEPS_MAX: u64 = 20_000_000;

/// A cell of the computation is at most this share of the least range of a wait that varies, and half of this share of
/// a window: so what bends within a cell moves the result by less than 1 %.
const CELLS: u64 = 50;

/// The expected number of clients that begin with this call in the densest aligned window of 100 ms, where they begin
/// at set times: all at once, or one after another over some time in each period. None of other calls, where the first
/// period is cut short, and where two periods may share a window.
pub fn first_peak(plan: &Plan, call: &Call) -> Option<f64> {
    let group = made_by_all_of(plan, call)?;
    let clients = f64::from(group.clients);
    let (every, offset) = match &group.arrivals {
        Arrivals::Burst { .. } => return Some(clients),
        Arrivals::Periodic { every, offset } => (*every, offset),
        _ => return None,
    };
    let (least, most) = offset.bounds();
    let (first, last) = (group.from + least, group.from + most?);
    let end = end(plan, group);
    if last >= end {
        return None;
    }
    let is_apart = first + every >= end || are_apart(first, last, every);
    match offset {
        Dist::Constant(_) if is_apart => Some(clients),
        Dist::Uniform { values, step, .. } if *step >= WINDOW && is_apart => Some(clients / *values as f64),
        // Wider than two windows it fills one of them, whatever lies where; and one that two periods share is no denser.
        Dist::Uniform { values, step, .. }
            if step.as_ns() == 1 && *values >= 2 * WINDOW.as_ns() && *values <= every.as_ns() =>
        {
            Some(clients * WINDOW.as_ns() as f64 / *values as f64)
        }
        _ => None,
    }
}

/// The expected number of retries in the densest aligned window of 100 ms, if all clients of a group begin with this
/// call at once, or at once in every period, and every attempt of it is refused at once.
///
/// The instant of retry k is the sum of k waits, each uniform over its range: its distribution is that of the one
/// before, folded with a uniform one. What the densest window has in one run exceeds this by what chance adds, some
/// times the square root.
///
/// None where they do not begin at once, where this has no such form (waits or ways that vary otherwise), where
/// something else than the policy and the time limit of the call decides about retries, where those of two periods may
/// share a window, and where it takes too many steps.
pub fn retry_peak(plan: &Plan, id: CallId) -> Option<f64> {
    let call = &plan.calls[id.index()];
    let Together { clients, at, period } = together(plan, call)?;
    let policy = &plan.policies[call.policy.index()];
    let is_plain = call.budget.is_none() && !call.is_guarded() && call.hedge.is_none();
    let is_plain = is_plain && !minds_refusals(plan, id);
    if !is_plain || !policy.retries_untold(ErrorKind::Refused) || !policy.schedule.is_uniform() {
        return None;
    }
    let (way, longest_way) = call.network.bounds();
    let round_trip = way + way;
    if longest_way != Some(way) || way > call.connect_timeout.after || round_trip > call.timeout.after {
        return None;
    }
    let limit = call.total_timeout.after;
    let horizon = plan.horizon.unwrap_or(Instant::LIMIT).min(Instant::LIMIT);
    let last_fit = limit.as_ns().checked_sub(policy.min_attempt.as_ns()).map(Span::from_ns)?;
    let last_fit = last_fit.min(policy.max_elapsed);
    let last = Span::from_ns(horizon.since(at).as_ns().checked_sub(1)?).min(last_fit);
    let retries = (policy.max_attempts != u32::MAX).then(|| policy.max_attempts - 1);
    let bounds = Bounds { round_trip, limit, last, period };
    densest(&policy.schedule, retries, at, bounds).map(|share| share * f64::from(clients))
}

/// Whether a refusal of this call may say when it is worth trying again, and the policy minds that. Those of servers
/// and of other faults do not say it.
fn minds_refusals(plan: &Plan, id: CallId) -> bool {
    let call = &plan.calls[id.index()];
    let says = |fault: &Fault| {
        let Effect::Fail(failure) = &fault.effect else { return false };
        let strikes = |target: &Target| [Target::Call(id), Target::Service(call.target)].contains(target);
        failure.error == ErrorKind::Refused && failure.retry_after.is_some() && fault.targets.iter().any(strikes)
    };
    plan.policy_of(id).server_delay.rule != DelayRule::Ignore && plan.faults.iter().any(says)
}

/// The clients that all begin with a call, and with no other.
fn made_by_all_of<'a>(plan: &'a Plan, call: &Call) -> Option<&'a Group> {
    let Origin::Group(group) = call.origin else { return None };
    Some(&plan.groups[group.index()]).filter(|group| group.choices.len() == 1)
}

/// Clients that begin at one instant.
struct Together {
    clients: u32,
    at: Instant,
    /// After this they begin again; none if they do so once.
    period: Option<Span>,
}

fn together(plan: &Plan, call: &Call) -> Option<Together> {
    let group = made_by_all_of(plan, call)?;
    let clients = group.clients;
    match &group.arrivals {
        Arrivals::Burst { at } => Some(Together { clients, at: *at, period: None }),
        Arrivals::Periodic { every, offset: Dist::Constant(offset) } => {
            let (at, end) = (group.from + *offset, end(plan, group));
            let period = (at + *every < end).then_some(*every);
            // So that each period lies in the same way over the windows.
            let is_aligned = period.is_none_or(|every| every.as_ns().is_multiple_of(WINDOW.as_ns()));
            (at < end && is_aligned).then_some(Together { clients, at, period })
        }
        _ => None,
    }
}

/// No client of a group begins at this instant or later.
fn end(plan: &Plan, group: &Group) -> Instant {
    plan.horizon.unwrap_or(Instant::LIMIT).min(group.until)
}

/// Whether no window holds something of two periods, if what happens in one of them lies between these two instants.
fn are_apart(first: Instant, last: Instant, every: Span) -> bool {
    let window = WINDOW.as_ns();
    let gap = every.as_ns().saturating_sub(last.since(first).as_ns());
    let is_aligned = every.as_ns().is_multiple_of(window);
    gap >= window || is_aligned && last.as_ns() / window < (first.as_ns() + every.as_ns()) / window
}

/// What ends the retries of a call, beside their number.
#[derive(Clone, Copy)]
struct Bounds {
    /// From an attempt to its answer.
    round_trip: Span,
    /// After this there is no time left.
    limit: Span,
    /// The last instant at which a retry may begin.
    last: Span,
    /// After this they begin again.
    period: Option<Span>,
}

/// The share of the clients that is expected in the densest window, if all of them begin at `at`; those that are there
/// several times count as often.
fn densest(schedule: &Schedule, retries: Option<u32>, at: Instant, bounds: Bounds) -> Option<f64> {
    let ranges = ranges(schedule, retries, at, bounds)?;
    let widths = ranges.iter().map(|range| (range.longest - range.shortest).as_ns());
    let least_width = widths.clone().filter(|&width| width > 0).min().unwrap_or(u64::MAX);
    let cell = (least_width / CELLS).min(WINDOW.as_ns() / (2 * CELLS)).max(1);
    let cells = widths.fold(0_u64, u64::saturating_add).min(bounds.last.as_ns()) / cell;
    if cells.saturating_mul(ranges.len() as u64) > STEPS_MAX {
        return None;
    }
    let mut windows = BTreeMap::new();
    let mut starts = Starts { after: Span::ZERO, spread: None };
    for range in &ranges {
        starts.after = starts.after + bounds.round_trip;
        // What has no time left is not tried again, whatever the wait.
        if !starts.cut(Span::from_ns(bounds.limit.as_ns() - 1), cell) {
            break;
        }
        starts.after = starts.after + range.shortest;
        if starts.after <= bounds.last {
            starts.fold((range.longest - range.shortest).as_ns(), cell, bounds.last);
        }
        if !starts.cut(bounds.last, cell) {
            break;
        }
        starts.count(at, cell, &mut windows);
    }
    windows.into_values().reduce(f64::max)
}

/// The waits before all retries that can be; none if these are too many, or meet those of the next period.
fn ranges(schedule: &Schedule, retries: Option<u32>, at: Instant, bounds: Bounds) -> Option<Vec<WaitRange>> {
    let mut earliest = Span::ZERO;
    let can_be = |range: &WaitRange| {
        earliest = earliest + bounds.round_trip + range.shortest;
        earliest <= bounds.last
    };
    let most = retries.map_or(usize::MAX, |retries| retries as usize);
    let ranges: Vec<WaitRange> = schedule.ranges().take(most.min(RETRIES_MAX + 1)).take_while(can_be).collect();
    let earliest = ranges.first().map_or(Span::ZERO, |range| bounds.round_trip + range.shortest);
    // A sum beyond the last instant is no later: it is cut step by step, for waits may be as long as time itself.
    let add = |sum: Span, range: &WaitRange| (sum + bounds.round_trip + range.longest).min(bounds.last);
    let latest = ranges.iter().fold(Span::ZERO, add);
    let are_apart = bounds.period.is_none_or(|every| are_apart(at + earliest, at + latest, every));
    (ranges.len() <= RETRIES_MAX && are_apart).then_some(ranges)
}

/// When clients make a retry.
struct Starts {
    /// The earliest.
    after: Span,
    /// From there on, cell by cell: the share of the clients that have made it by then. None if all do at the earliest.
    spread: Option<Vec<f64>>,
}

impl Starts {
    /// A wait is added that is uniform over this width. What comes later than `last`, which is not before the earliest,
    /// is left out.
    fn fold(&mut self, width: u64, cell: u64, last: Span) {
        if width == 0 {
            return;
        }
        // One more than there is time for, so that the last share lies between two.
        let reach = (last - self.after).as_ns().div_ceil(cell) as usize + 1;
        let more = (width.div_ceil(cell) as usize).min(reach);
        let width = width as f64 / cell as f64;
        let Some(shares) = &self.spread else {
            self.spread = Some((0..=more).map(|at| (at as f64 / width).min(1.0)).collect());
            return;
        };
        // The mean of the shares over the width: straight lines between the cells have an area without an error.
        let area = Area::of(shares);
        let cells = 0..(shares.len() + more).min(reach + 1);
        let folded = cells.map(|at| (area.before(at as f64) - area.before(at as f64 - width)) / width);
        self.spread = Some(folded.collect());
    }

    /// What would begin later than `last` does not; whether anything is left.
    fn cut(&mut self, last: Span, cell: u64) -> bool {
        if self.after > last {
            return false;
        }
        if let Some(shares) = &mut self.spread {
            let last = (last - self.after).as_ns() as f64 / cell as f64;
            let left = share_at(shares, last);
            shares.truncate((last as usize).saturating_add(2));
            if let Some(end) = shares.last_mut() {
                *end = end.min(left);
            }
            return left > 0.0;
        }
        true
    }

    /// Adds the shares of the clients to the windows, for a start at `at`.
    fn count(&self, at: Instant, cell: u64, windows: &mut BTreeMap<u64, f64>) {
        let begin = at.as_ns() + self.after.as_ns();
        let window = WINDOW.as_ns();
        let first = begin / window;
        let Some(shares) = &self.spread else {
            *windows.entry(first).or_default() += 1.0;
            return;
        };
        let end = begin + (shares.len() as u64 - 1) * cell;
        let mut counted = 0.0;
        for number in first..=end / window {
            let by_then = share_at(shares, ((number + 1) * window - begin) as f64 / cell as f64);
            *windows.entry(number).or_default() += by_then - counted;
            counted = by_then;
        }
    }
}

/// The share at a place between cells.
fn share_at(shares: &[f64], at: f64) -> f64 {
    let cell = at as usize;
    match (shares.get(cell), shares.get(cell + 1)) {
        (Some(left), Some(right)) => left + (right - left) * (at - cell as f64),
        _ => shares[shares.len() - 1],
    }
}

/// The area under shares, in cells.
struct Area<'a> {
    shares: &'a [f64],
    /// Before each cell.
    sums: Vec<f64>,
}

impl<'a> Area<'a> {
    fn of(shares: &'a [f64]) -> Self {
        let mut sums = vec![0.0];
        sums.extend(shares.windows(2).scan(0.0, |sum, pair| {
            *sum += f64::midpoint(pair[0], pair[1]);
            Some(*sum)
        }));
        Self { shares, sums }
    }

    fn before(&self, at: f64) -> f64 {
        if at <= 0.0 {
            return 0.0;
        }
        let last = self.shares.len() - 1;
        let cell = (at as usize).min(last);
        let rest = at - cell as f64;
        // Behind the last cell nobody is added.
        let end = if cell == last { self.shares[last] } else { share_at(self.shares, at) };
        self.sums[cell] + rest * f64::midpoint(self.shares[cell], end)
    }
}

#[cfg(test)]
mod tests;
