//! What must hold in every story: nothing is lost, nothing happens twice, and the figures add up.
//!
//! The notes are counted here once more, without the interpreter's record, so that a note that is missing or a
//! figure that leaves something out cannot go unseen.

mod attempts;
mod sums;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, contextualize_config};
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::{End, Outcome, ServiceTally};
use stormsim::plan::{CallId, Capacity, Effect, Fault, Origin, Plan, Target};
use stormsim::policy::Limiter;
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use crate::properties::accounts::{self, diagrams, operations, protection};
use crate::properties::limits;
use crate::reference::{interpret, random_plan};

use attempts::{Attempt, follow_attempts};
use sums::{the_timeline_sums_to_the_counts, windows_sum_to_the_whole};

fn config() -> Config {
    let cases = 2_000;
    contextualize_config(Config { cases, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..Config::default() })
}

/// Whether it happened, and at or after `from`.
fn since(from: Instant, at: Option<Instant>) -> bool {
    at.is_some_and(|at| at >= from)
}

/// Whether it happened before `from`.
fn before(from: Instant, at: Option<Instant>) -> bool {
    at.is_some_and(|at| at < from)
}

/// requests = succeeded + failed + unknown + open: each that began ends once, or is open at the end, and with the
/// client's call. With a warmup the ends of earlier requests do not count.
fn requests_are_conserved(plan: &Plan, notes: &[(Instant, Note)], outcome: &Outcome) -> Result<(), TestCaseError> {
    let count = |counted: &dyn Fn(Note) -> bool| notes.iter().filter(|(_, note)| counted(*note)).count() as u64;
    let ended = |well: bool| {
        count(&|note| match note {
            Note::CallEnded { call, result, .. } => {
                matches!(plan.calls[call.index()].origin, Origin::Group(_)) && result.is_ok() == well
            }
            _ => false,
        })
    };
    let all = &outcome.all_requests;
    let ended_badly = all.failed() + all.unknown;
    let began = notes.iter().filter(|(at, note)| *at >= plan.warmup && matches!(note, Note::RequestBegan { .. }));
    prop_assert_eq!(all.requests, began.count() as u64);
    if plan.warmup == Instant::ZERO {
        prop_assert_eq!((all.succeeded, ended_badly), (ended(true), ended(false)));
    } else {
        prop_assert!(all.succeeded <= ended(true) && ended_badly <= ended(false));
    }
    prop_assert_eq!(all.stopped_by.iter().sum::<u64>(), ended_badly);
    prop_assert!(all.dead_letters <= all.stopped_by[StopReason::Exhausted as usize]);
    prop_assert_eq!(all.latency.count(), all.succeeded);
    prop_assert!(all.degraded <= all.succeeded && all.succeeded_first_try <= all.succeeded);
    prop_assert_eq!(all.requests, outcome.groups.iter().map(|group| group.requests).sum::<u64>());
    prop_assert_eq!(all.succeeded, outcome.groups.iter().map(|group| group.succeeded).sum::<u64>());
    Ok(())
}

/// attempts = succeeded + errors + timeouts + abandoned + in flight, for each call. With a warmup what was in flight
/// when it was over is added to those that were sent.
fn attempts_are_conserved(
    plan: &Plan,
    notes: &[(Instant, Note)],
    outcome: &Outcome,
    attempts: &BTreeMap<u64, Attempt>,
) -> Result<(), TestCaseError> {
    let warmup = plan.warmup;
    for (index, tally) in outcome.calls.iter().enumerate() {
        let count = |counted: &dyn Fn(&Attempt) -> bool| {
            attempts.values().filter(|attempt| attempt.call == index && counted(attempt)).count() as u64
        };
        prop_assert_eq!(tally.attempts, count(&|it| it.sent >= warmup));
        let is_late = |it: &Attempt| it.given_up.is_some() || it.abandoned.is_some();
        prop_assert_eq!(tally.late_responses, count(&|it| is_late(it) && since(warmup, it.has_answer)));
        prop_assert_eq!(tally.abandoned, count(&|it| since(warmup, it.abandoned)));
        let is_turned_away = |(at, note): &&(Instant, Note)| {
            let Note::TurnedAway { call, error, .. } = *note else { return false };
            let got_no_slot = !matches!(error, ErrorKind::BreakerOpen | ErrorKind::Throttled);
            *at >= warmup && call.index() == index && got_no_slot
        };
        prop_assert_eq!(tally.pool_rejected, notes.iter().filter(is_turned_away).count() as u64);
        // A hedge has its slot at once, or none.
        let slots = if plan.calls[index].pool.is_some() { tally.attempts - tally.protection.hedges } else { 0 };
        prop_assert_eq!(tally.pool_waits.count(), slots);

        let in_flight_before = count(&|it| it.sent < warmup && !before(warmup, it.ended()));
        let in_flight = count(&|it| it.ended().is_none());
        let ended = tally.succeeded + tally.errors + tally.timeouts + tally.abandoned;
        if outcome.end >= warmup {
            prop_assert_eq!(tally.attempts + in_flight_before, ended + in_flight);
        }
        lost_attempts_are_counted(plan, CallId(index as u32), outcome, attempts)?;
    }
    Ok(())
}

/// attempts = arrivals + lost + on the network. No note tells that an attempt is lost. But at the end of a run that is
/// drained nothing is on the network: whatever has not arrived is lost. Where no fault can take an attempt, those are
/// lost that never connect. In between the count of a longer run is bounded by both.
fn lost_attempts_are_counted(
    plan: &Plan,
    call: CallId,
    outcome: &Outcome,
    attempts: &BTreeMap<u64, Attempt>,
) -> Result<(), TestCaseError> {
    let tally = &outcome.calls[call.index()];
    let count = |counted: &dyn Fn(&Attempt) -> bool| {
        attempts.values().filter(|attempt| attempt.call == call.index() && counted(attempt)).count() as u64
    };
    let on_its_way = [Target::Call(call), Target::Service(plan.calls[call.index()].target)];
    let takes = |fault: &Fault| {
        // Who is slow may come too late to connect.
        let effects =
            matches!(fault.effect, Effect::BlackHole | Effect::Fail(_) | Effect::Loss { .. } | Effect::Slow { .. });
        effects && on_its_way.iter().any(|target| fault.targets.contains(target))
    };
    let never_connect = count(&|it| it.sent >= plan.warmup && it.never_connects);
    if !plan.faults.iter().any(takes) {
        prop_assert_eq!(tally.lost, never_connect);
    } else if outcome.ended == End::Drained && plan.warmup == Instant::ZERO {
        prop_assert_eq!(tally.lost, count(&|it| it.arrived.is_none()));
    } else {
        let not_arrived = count(&|it| it.arrived.is_none());
        prop_assert!((never_connect..=not_arrived).contains(&tally.lost), "{} lost", tally.lost);
    }
    Ok(())
}

/// arrivals = completed + refused + dropped + in progress, for each service, and what it answered is what its callers
/// got. With a warmup what was in progress when it was over is added to the arrivals.
fn arrivals_are_conserved(
    plan: &Plan,
    outcome: &Outcome,
    attempts: &BTreeMap<u64, Attempt>,
) -> Result<(), TestCaseError> {
    let warmup = plan.warmup;
    for (index, tally) in outcome.services.iter().enumerate() {
        let count = |counted: &dyn Fn(&Attempt) -> bool| {
            let here = attempts.values().filter(|attempt| plan.calls[attempt.call].target.index() == index);
            here.filter(|attempt| counted(attempt)).count() as u64
        };
        let in_progress_before = count(&|it| before(warmup, it.arrived) && !before(warmup, it.left()));
        prop_assert_eq!(tally.arrivals, count(&|it| since(warmup, it.arrived)));
        let answered = count(&|it| it.discarded.is_none() && since(warmup, it.answered_at()));
        prop_assert_eq!(tally.completed + tally.refused(), answered);
        prop_assert_eq!(tally.succeeded, count(&|it| it.is_well() && since(warmup, it.answered_at())));
        prop_assert_eq!(tally.dropped, count(&|it| since(warmup, it.discarded)));
        let never_begun = |error| {
            let is_error = |(_, result)| result == Err(error);
            count(&|it| {
                it.arrived.is_some()
                    && it.taken_up().is_none()
                    && it.discarded.is_none()
                    && it.answered.is_some_and(is_error)
                    && since(warmup, it.answered_at())
            })
        };
        refusals_are_conserved(plan, index, tally, never_begun)?;
        if !plan.services[index].capacity.is_unlimited() {
            prop_assert_eq!(tally.begun, count(&|it| since(warmup, it.taken_up())));
        }
        prop_assert!(tally.cancelled <= tally.dropped && tally.wasted_ns <= tally.service_ns);
        if outcome.end >= warmup {
            prop_assert_eq!(tally.in_progress, count(&|it| it.arrived.is_some() && it.left().is_none()));
            let left = tally.completed + tally.refused() + tally.dropped + tally.in_progress;
            prop_assert_eq!(tally.arrivals + in_progress_before, left);
        }
        if warmup == Instant::ZERO {
            prop_assert!(tally.in_flight_ns >= tally.sojourn_ns, "what was in progress includes what was completed");
        }
        prop_assert!(tally.in_flight_max <= tally.arrivals + in_progress_before);
    }
    Ok(())
}

/// Each attempt that was turned away was so by one thing, and by one that the service has. `never_begun` counts those
/// that were answered with an error without having begun: on a service without faults, these and no others.
fn refusals_are_conserved(
    plan: &Plan,
    index: usize,
    tally: &ServiceTally,
    never_begun: impl Fn(ErrorKind) -> u64,
) -> Result<(), TestCaseError> {
    let [fault, limiter, in_flight, queue] = tally.refused_by;
    let capacity = &plan.services[index].capacity;
    prop_assert!(limiter == 0 || capacity.limiter != Limiter::Unlimited);
    prop_assert!(in_flight == 0 || capacity.max_in_flight != Capacity::NO_LIMIT);
    prop_assert!(queue == 0 || capacity.queue.limit != Capacity::NO_LIMIT);
    prop_assert!(tally.faulted <= tally.completed - tally.succeeded);
    let is_on_it =
        |fault: &Fault| fault.targets.iter().any(|target| matches!(target, Target::Service(id) if id.index() == index));
    if !plan.faults.iter().any(is_on_it) {
        prop_assert_eq!((tally.faulted, fault), (0, 0));
        prop_assert_eq!(limiter, never_begun(ErrorKind::RateLimited));
        prop_assert_eq!(in_flight + queue, never_begun(ErrorKind::Overloaded));
    }
    Ok(())
}

/// Each call that ended without another attempt for lack of time or tokens is counted once, when it did.
fn stops_are_counted(plan: &Plan, notes: &[(Instant, Note)], outcome: &Outcome) -> Result<(), TestCaseError> {
    for (index, tally) in outcome.calls.iter().enumerate() {
        let stopped = |by: StopReason| {
            notes.iter().filter_map(move |&(at, note)| match note {
                Note::CallEnded { call, result: Err((_, reason)), .. } if call.index() == index && reason == by => {
                    Some(at)
                }
                _ => None,
            })
        };
        let counted = |by| stopped(by).filter(|&at| at >= plan.warmup);
        prop_assert_eq!(tally.deadline_stopped, counted(StopReason::Deadline).count() as u64);
        prop_assert_eq!(tally.budget_refused, counted(StopReason::Budget).count() as u64);
        prop_assert_eq!(tally.first_budget_refusal, counted(StopReason::Budget).next());
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_story_adds_up(sketch in random_plan(), seed: u64) {
        let plan = sketch.plan();
        let (notes, outcome) = interpret(&plan, seed, 0);
        let attempts = follow_attempts(&plan, &notes, seed)?;
        prop_assert!(notes.is_sorted_by_key(|(at, _)| *at), "time never goes back");
        prop_assert!(notes.last().is_none_or(|(at, _)| *at <= outcome.end));
        requests_are_conserved(&plan, &notes, &outcome)?;
        attempts_are_conserved(&plan, &notes, &outcome, &attempts)?;
        arrivals_are_conserved(&plan, &outcome, &attempts)?;
        accounts::are_balanced(&plan, &notes, &outcome, seed)?;
        operations::are_told(&plan, &notes, &outcome, seed)?;
        stops_are_counted(&plan, &notes, &outcome)?;
        protection::is_told(&plan, &notes, &outcome, seed)?;
        diagrams::are_followed(&plan, &notes, seed)?;
        limits::are_respected(&plan, &notes, &outcome, seed)?;
        if outcome.ended == End::Drained {
            prop_assert_eq!(outcome.all_requests.open(), 0);
            prop_assert!(attempts.values().all(|attempt| attempt.arrived.is_none() || attempt.left().is_some()));
            let on_the_way = |it: &Attempt| it.answered.is_some() && it.has_answer.is_none() && !it.may_lose_its_answer;
            prop_assert!(!attempts.values().any(on_the_way), "an answer is still on its way");
        }
    }

    /// Measuring changes nothing of what happens, and the timeline covers the warmup too. So one run gives the figures
    /// that the timeline of the other must sum to.
    #[test]
    fn a_warmup_changes_only_what_is_counted(sketch in random_plan(), seed: u64) {
        let plan = sketch.plan();
        let (notes, outcome) = interpret(&plan, seed, 0);
        let (whole_notes, whole) = interpret(&Plan { warmup: Instant::ZERO, ..plan }, seed, 0);
        prop_assert!(notes == whole_notes);
        prop_assert_eq!((outcome.end, outcome.ended, outcome.events), (whole.end, whole.ended, whole.events));
        the_timeline_sums_to_the_counts(&Outcome { timeline: outcome.timeline, ..whole })?;
    }

    /// Cut at two instants, of which one is on the grid of most plans and the other wherever the first one's half is.
    #[test]
    fn windows_without_a_gap_have_it_all(sketch in random_plan(), seed: u64, steps in 1..20u64) {
        let cut = Instant::ZERO + Span::from_ms(5 * steps);
        let half = Instant::from_ns(cut.as_ns() / 2);
        let windows = vec![Instant::ZERO..half, half..cut, cut..Instant::LIMIT];
        let plan = Plan { warmup: Instant::ZERO, windows, ..sketch.plan() };
        windows_sum_to_the_whole(&interpret(&plan, seed, 0).1)?;
    }
}
