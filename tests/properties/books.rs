//! Books kept from the notes of a run alone, against which its counts are held.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stormsim::dist::Purpose;
use stormsim::failure::ErrorKind;
use stormsim::metrics::{End, Outcome};
use stormsim::plan::{Call, CallId, Effect, GroupId, Origin, Plan, ServiceId, Target};
use stormsim::sim::Note;
use stormsim::time::Instant;

use super::accounts::copies_of_attempts;

/// What the notes tell of an attempt.
struct Attempt {
    call: CallId,
    sent: Instant,
    arrived: Option<(ServiceId, Instant)>,
    answered: Option<(Instant, Result<(), ErrorKind>)>,
    /// When its service dropped or cancelled it.
    discarded: Option<(Instant, Discarded)>,
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discarded {
    Dropped,
    Cancelled,
}

/// How the attempts of a call ended for their caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ends {
    well: u64,
    badly: u64,
    timed_out: u64,
    abandoned: u64,
    late: u64,
    /// Those that got no slot and were never sent.
    turned_away: u64,
}

/// The requests of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Requests {
    began: u64,
    well: u64,
    badly: u64,
}

/// The books of one run.
pub struct Books<'a> {
    plan: &'a Plan,
    /// By the key of an attempt, those of its other copies.
    copies: BTreeMap<u64, Vec<u64>>,
    /// By key; of each copy.
    attempts: BTreeMap<u64, Attempt>,
    /// By call.
    ends: Vec<Ends>,
    /// By group.
    requests: Vec<Requests>,
}

impl<'a> Books<'a> {
    /// The books of a run of this plan without warmup.
    pub fn of(plan: &'a Plan, notes: &[(Instant, Note)], seed: u64) -> Self {
        let mut books = Self {
            plan,
            copies: copies_of_attempts(plan, notes, seed),
            attempts: BTreeMap::new(),
            ends: vec![Ends::default(); plan.calls.len()],
            requests: vec![Requests::default(); plan.groups.len()],
        };
        for &(at, note) in notes {
            books.enter(at, note);
        }
        books
    }

    fn enter(&mut self, at: Instant, note: Note) {
        match note {
            Note::RequestBegan { group, .. } => self.requests[group.index()].began += 1,
            Note::Sent { call, key, .. } => {
                let attempt =
                    Attempt { call, sent: at, arrived: None, answered: None, discarded: None, has_ended: false };
                self.attempts.insert(key, attempt);
            }
            // What a breaker or a throttle turned away is counted elsewhere.
            Note::TurnedAway { error: ErrorKind::BreakerOpen | ErrorKind::Throttled, .. } => {}
            Note::TurnedAway { call, .. } => self.ends[call.index()].turned_away += 1,
            Note::Arrived { service, key } => self.attempt(key).arrived = Some((service, at)),
            Note::Dropped { key } => self.attempt(key).discarded = Some((at, Discarded::Dropped)),
            Note::Cancelled { key } => self.attempt(key).discarded = Some((at, Discarded::Cancelled)),
            Note::Answered { key, result } => self.attempt(key).answered = Some((at, result)),
            Note::Answer { key, late: true } => self.ends[self.attempts[&key].call.index()].late += 1,
            Note::Answer { key, late: false } => {
                let is_well = self.succeeded(key);
                let ends = self.end(key);
                *(if is_well { &mut ends.well } else { &mut ends.badly }) += 1;
            }
            Note::TimedOut { key, .. } => self.end(key).timed_out += 1,
            Note::Outrun { key } => self.end(key).abandoned += 1,
            // Between two attempts, or while it waits for a slot, a call has none under way that could be given up.
            Note::Abandoned { key, .. } => {
                let others = self.copies.get(&key).cloned().unwrap_or_default();
                for copy in others.into_iter().chain([key]) {
                    if self.attempts.get(&copy).is_some_and(|attempt| !attempt.has_ended) {
                        self.end(copy).abandoned += 1;
                    }
                }
            }
            Note::Placed { .. }
            | Note::Began { .. }
            | Note::Recognised { .. }
            | Note::Waiting { .. }
            | Note::Opened { .. }
            | Note::Ejected { .. } => {}
            Note::CallEnded { call, result, .. } => {
                let Call { origin, fallback, .. } = self.plan.calls[call.index()];
                // In place of a failed call with a fallback the fallback decides.
                if let (Origin::Group(GroupId(group)), true) = (origin, result.is_ok() || fallback.is_none()) {
                    let requests = &mut self.requests[group as usize];
                    *(if result.is_ok() { &mut requests.well } else { &mut requests.badly }) += 1;
                }
            }
        }
    }

    fn attempt(&mut self, key: u64) -> &mut Attempt {
        self.attempts.get_mut(&key).expect("an attempt is sent before anything happens to it")
    }

    /// The attempt ends for its caller; how, is to be entered here.
    fn end(&mut self, key: u64) -> &mut Ends {
        let attempt = self.attempt(key);
        attempt.has_ended = true;
        let call = attempt.call;
        &mut self.ends[call.index()]
    }

    fn succeeded(&self, key: u64) -> bool {
        matches!(self.attempts[&key].answered, Some((_, Ok(()))))
    }

    /// requests = succeeded + failed + unknown + open.
    pub fn balance_requests(&self, outcome: &Outcome) -> Result<(), TestCaseError> {
        for (tally, &Requests { began, well, badly }) in outcome.groups.iter().zip(&self.requests) {
            let ended_badly = tally.failed() + tally.unknown;
            prop_assert_eq!((tally.requests, tally.succeeded, ended_badly), (began, well, badly));
            prop_assert_eq!(tally.open(), began - well - badly);
            prop_assert!(tally.open() == 0 || outcome.ended == End::Horizon, "a drained run has nothing open");
        }
        Ok(())
    }

    /// attempts = arrivals + lost + on the network = succeeded + errors + timeouts + abandoned +
    /// awaited.
    pub fn balance_attempts(&self, outcome: &Outcome) -> Result<(), TestCaseError> {
        for (index, tally) in outcome.calls.iter().enumerate() {
            let Call { network, connect_timeout, .. } = &self.plan.calls[index];
            let faults = self.faults_on_the_way(CallId(index as u32));
            let (mut sent, mut lost, mut not_arrived) = (0, 0, 0);
            for (&key, attempt) in self.attempts.iter().filter(|(_, attempt)| attempt.call.index() == index) {
                let takes = network.sample(key, Purpose::Request);
                sent += 1;
                not_arrived += u64::from(attempt.arrived.is_none());
                if takes > connect_timeout.after {
                    prop_assert!(attempt.arrived.is_none(), "a lost attempt arrived");
                    lost += 1;
                } else if attempt.arrived.is_none() && !faults {
                    // What has not arrived cannot have been due before the end.
                    prop_assert!(outcome.ended == End::Horizon && attempt.sent + takes >= outcome.end);
                }
            }
            prop_assert_eq!(tally.attempts, sent);
            // No note tells of what a fault takes; but when all is over, it is what has not arrived.
            match outcome.ended {
                _ if !faults => prop_assert_eq!(tally.lost, lost),
                End::Drained => prop_assert_eq!(tally.lost, not_arrived),
                _ => prop_assert!((lost..=not_arrived).contains(&tally.lost)),
            }
            let Ends { well, badly, timed_out, abandoned, late, turned_away } = self.ends[index];
            prop_assert_eq!((tally.succeeded, tally.errors, tally.timeouts), (well, badly, timed_out));
            prop_assert_eq!((tally.abandoned, tally.late_responses), (abandoned, late));
            prop_assert_eq!(tally.pool_rejected, turned_away);
            let ended = well + badly + timed_out + abandoned;
            prop_assert!(ended == sent || outcome.ended == End::Horizon && ended < sent);
        }
        Ok(())
    }

    /// Whether there are faults that may take or delay what is on its way.
    fn faults_on_the_way(&self, call: CallId) -> bool {
        let on_its_way = [Target::Call(call), Target::Service(self.plan.calls[call.index()].target)];
        self.plan.faults.iter().any(|fault| {
            let takes = match &fault.effect {
                Effect::BlackHole | Effect::Loss { .. } => true,
                Effect::Fail(_) | Effect::Slow { .. } => fault.targets.contains(&on_its_way[0]),
                _ => false,
            };
            takes && on_its_way.iter().any(|target| fault.targets.contains(target))
        })
    }

    /// arrivals = completed + refused + dropped + in progress; and Little's law without a mean: the time that attempts
    /// were in progress, summed over time, is that summed over attempts.
    pub fn balance_arrivals(&self, outcome: &Outcome) -> Result<(), TestCaseError> {
        for (index, tally) in outcome.services.iter().enumerate() {
            let (mut arrivals, mut answered, mut dropped, mut cancelled) = (0, 0, 0, 0);
            let (mut answered_ns, mut other_ns) = (0, 0);
            for attempt in self.attempts.values() {
                let Some((ServiceId(service), at)) = attempt.arrived else { continue };
                if service as usize != index {
                    continue;
                }
                arrivals += 1;
                let lasted_ns = |until: Instant| u128::from(until.since(at).as_ns());
                match (attempt.discarded, attempt.answered) {
                    (Some((until, how)), _) => {
                        *(if how == Discarded::Dropped { &mut dropped } else { &mut cancelled }) += 1;
                        other_ns += lasted_ns(until);
                    }
                    (None, Some((until, _))) => {
                        answered += 1;
                        answered_ns += lasted_ns(until);
                    }
                    (None, None) => other_ns += lasted_ns(outcome.end),
                }
            }
            prop_assert_eq!(tally.arrivals, arrivals);
            prop_assert_eq!(tally.completed + tally.refused(), answered);
            prop_assert_eq!((tally.dropped, tally.cancelled), (dropped + cancelled, cancelled));
            let left = tally.completed + tally.refused() + tally.dropped;
            prop_assert_eq!(tally.arrivals, left + tally.in_progress);
            prop_assert_eq!(tally.sojourn_ns, answered_ns, "refused attempts stay for no time");
            prop_assert_eq!(tally.in_flight_ns, answered_ns + other_ns);
            prop_assert!(tally.in_progress == 0 || outcome.ended == End::Horizon, "a drained run leaves no work");
        }
        Ok(())
    }
}
