//! What came after a fault, from the list of all requests: every figure is counted anew for every second.

use std::ops::Range;

use stormsim::dist::{mix, replica_key};
use stormsim::metrics::{Aftermath, End, FaultTally};
use stormsim::plan::{Call, Fault, GroupId, Origin, Plan, Recovery, ServiceId, Target};
use stormsim::time::{Instant, Span};

use super::record::{Record, Request};

const SECOND: Span = Span::from_s(1);

/// When a request began, and when it ended, if it did, and whether that was a success.
pub type Life = (Instant, Option<(Instant, bool)>);

/// Of each fault, over the whole run.
pub fn aftermaths(plan: &Plan, seed: u64, replica: u32, record: &Record) -> Vec<FaultTally> {
    let life = |request: &Request| (request.began, request.ended.as_ref().map(|end| (end.at, end.result.is_ok())));
    let tally = |fault: &Fault| {
        let exposed = record.requests.iter().filter(|request| is_exposed(plan, request.group, fault));
        // A run that drains has no event after its last instant.
        let begins = |at| if record.ended == End::Drained { at <= record.end } else { at < record.end };
        let windows = fault.windows.of_replica(mix(replica_key(seed, replica), fault.key));
        let windows: Vec<_> = windows.take_while(|window| begins(window.start)).collect();
        aftermath(plan.recovery, &windows, &exposed.map(life).collect::<Vec<_>>(), record.end, record.ended)
    };
    plan.faults.iter().map(tally).collect()
}

/// After these windows, which began during the run, in the order of time; of these requests.
pub fn aftermath(
    rule: Recovery,
    windows: &[Range<Instant>],
    requests: &[Life],
    end: Instant,
    ended: End,
) -> FaultTally {
    let drained = ended == End::Drained;
    // What happens at the last instant of a run that drains is still part of it; a horizon is not reached.
    let is_over = |window: &&Range<Instant>| if drained { window.end <= end } else { window.end < end };
    let last_end = windows.last().filter(is_over).map(|window| window.end);
    let requests = Requests { rule, all: requests };
    FaultTally {
        windows: windows.len() as u64,
        last_end,
        observed: last_end.map(|at| end.since(at)),
        aftermath: last_end.map_or(Aftermath::Untold, |from| requests.first_good(from, end, drained)),
        last_bad: requests.last_bad(end, drained),
    }
}

struct Requests<'a> {
    rule: Recovery,
    all: &'a [Life],
}

impl Requests<'_> {
    fn begun_in(&self, window: &Range<Instant>) -> u64 {
        self.all.iter().filter(|(began, _)| window.contains(began)).count() as u64
    }

    fn succeeded_in(&self, window: &Range<Instant>) -> u64 {
        let succeeded = |(_, end): &&Life| end.is_some_and(|(at, well)| well && window.contains(&at));
        self.all.iter().filter(succeeded).count() as u64
    }

    fn is_open(life: &Life, at: Instant) -> bool {
        life.0 < at && life.1.is_none_or(|(ended, _)| ended >= at)
    }

    fn first_good(&self, from: Instant, end: Instant, drained: bool) -> Aftermath {
        let hold = self.rule.hold;
        if !drained && from + hold > end {
            return Aftermath::Untold;
        }
        let seconds = (0..).map(|k| from + Span::from_s(k));
        let mut known = seconds.take_while(|&t| if drained { t <= end + SECOND } else { t + hold <= end });
        known.find(|&t| self.is_good(from, t)).map_or(Aftermath::Unrecovered, |t| Aftermath::Recovered(t.since(from)))
    }

    fn is_good(&self, from: Instant, t: Instant) -> bool {
        let end = t + self.rule.hold;
        let begun = self.begun_in(&(t..end));
        if begun == 0 {
            // Those who have come since the fault decide whether it works.
            let new = self.all.iter().filter(|(began, _)| *began >= from);
            let ends: Vec<bool> =
                new.filter_map(|(_, end)| end.filter(|(at, _)| *at < t).map(|(_, well)| well)).collect();
            let well = ends.iter().filter(|well| **well).count() as u64;
            let is_any_open = self.all.iter().any(|life| Self::is_open(life, t));
            return !is_any_open && self.is_share(well, ends.len() as u64);
        }
        let last = Instant::from_ns(end.as_ns() - SECOND.as_ns())..end;
        let young = self.all.iter().filter(|life| last.contains(&life.0) && Self::is_open(life, end)).count() as u64;
        self.succeeded_in(&(t..t + SECOND)) > 0 && self.is_share(self.succeeded_in(&(t..end)), begun - young)
    }

    fn last_bad(&self, end: Instant, drained: bool) -> Option<Instant> {
        // None in which nothing begins is bad.
        let second_of = |at: Instant| Instant::from_ns(at.as_ns() / SECOND.as_ns() * SECOND.as_ns());
        let seconds = self.all.iter().map(|(began, _)| second_of(*began));
        let whole = seconds.filter(|&s| drained || s + SECOND <= end);
        let is_bad = |s: &Instant| {
            let second = *s..*s + SECOND;
            !self.is_share(self.succeeded_in(&second) + 1, self.begun_in(&second))
        };
        whole.filter(is_bad).max()
    }

    /// Exactly, in thousandths: shares of tests have no more digits.
    fn is_share(&self, part: u64, whole: u64) -> bool {
        part * 1_000 >= whole * (self.rule.share * 1_000.0).round() as u64
    }
}

/// Whether a request of the group may lead to what the fault strikes.
fn is_exposed(plan: &Plan, group: GroupId, fault: &Fault) -> bool {
    let origin = Origin::Group(group);
    let meets = |other: GroupId| {
        let mut services = (0..plan.services.len() as u32).map(|id| Target::Service(ServiceId(id)));
        services.any(|service| leads_to(plan, origin, service) && leads_to(plan, Origin::Group(other), service))
    };
    fault.targets.iter().any(|target| match *target {
        Target::Group(struck) => struck == group || meets(struck),
        _ => leads_to(plan, origin, *target),
    })
}

fn leads_to(plan: &Plan, origin: Origin, target: Target) -> bool {
    let mut own = (0..).zip(&plan.calls).filter(|(_, call)| call.origin == origin);
    own.any(|(id, call): (u32, &Call)| {
        let is_target = match target {
            Target::Service(service) => service == call.target,
            Target::Call(struck) => struck.0 == id,
            Target::Group(_) => false,
        };
        is_target || leads_to(plan, Origin::Service(call.target), target)
    })
}
