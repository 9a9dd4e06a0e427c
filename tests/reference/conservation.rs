//! What must hold in every story: nothing is lost, nothing happens twice, and the figures add up.
//!
//! The notes are counted here once more, without the interpreter's record, so that a note that is missing or a
//! figure that leaves something out cannot go unseen.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, contextualize_config};
use stormsim::failure::ErrorKind;
use stormsim::metrics::{Bucket, End, Outcome};
use stormsim::plan::{CallId, Origin, Plan};
use stormsim::sim::Note;
use stormsim::time::Instant;

use crate::reference::{interpret, random_plan};

fn config() -> Config {
    let cases = 2_000;
    contextualize_config(Config { cases, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..Config::default() })
}

/// Where an attempt stands after the last note about it.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    call: usize,
    arrived: bool,
    answered: Option<Result<(), ErrorKind>>,
    given_up: bool,
    has_answer: bool,
}

/// The attempts by key. Fails if a note comes before the one that it presupposes, or twice.
fn follow_attempts(notes: &[(Instant, Note)]) -> Result<BTreeMap<u64, Attempt>, TestCaseError> {
    let mut attempts: BTreeMap<u64, Attempt> = BTreeMap::new();
    for &(_, note) in notes {
        match note {
            Note::Sent { call, key, .. } => {
                let attempt = Attempt { call: call.index(), ..Attempt::default() };
                prop_assert!(attempts.insert(key, attempt).is_none(), "sent twice: {note:?}");
            }
            Note::Arrived { key, .. } => {
                let attempt = attempts.get_mut(&key).expect("sent before it arrives");
                prop_assert!(!attempt.arrived, "arrived twice: {note:?}");
                attempt.arrived = true;
            }
            Note::Answered { key, result } => {
                let attempt = attempts.get_mut(&key).expect("sent before it is answered");
                prop_assert!(attempt.arrived && attempt.answered.is_none(), "{note:?} of {attempt:?}");
                attempt.answered = Some(result);
            }
            Note::Answer { key, late } => {
                let attempt = attempts.get_mut(&key).expect("sent before it has an answer");
                prop_assert!(attempt.answered.is_some() && !attempt.has_answer, "{note:?} of {attempt:?}");
                prop_assert_eq!(late, attempt.given_up);
                attempt.has_answer = true;
            }
            Note::TimedOut { key, .. } => {
                let attempt = attempts.get_mut(&key).expect("sent before it is given up");
                prop_assert!(!attempt.given_up && !attempt.has_answer, "{note:?} of {attempt:?}");
                attempt.given_up = true;
            }
            Note::RequestBegan { .. } | Note::Waiting { .. } | Note::CallEnded { .. } => {}
        }
    }
    Ok(attempts)
}

fn is_clients(plan: &Plan, call: CallId) -> bool {
    matches!(plan.calls[call.index()].origin, Origin::Group(_))
}

/// requests = succeeded + failed + open, for all of them, counted from the notes.
fn requests_are_conserved(plan: &Plan, notes: &[(Instant, Note)], outcome: &Outcome) -> Result<(), TestCaseError> {
    let count = |counted: &dyn Fn(Note) -> bool| notes.iter().filter(|(_, note)| counted(*note)).count() as u64;
    let ended = |well: bool| {
        count(&|note| match note {
            Note::CallEnded { call, result, .. } => is_clients(plan, call) && result.is_ok() == well,
            _ => false,
        })
    };
    let all = &outcome.all_requests;
    prop_assert_eq!(all.requests, count(&|note| matches!(note, Note::RequestBegan { .. })));
    prop_assert_eq!((all.succeeded, all.failed()), (ended(true), ended(false)));
    prop_assert_eq!(all.stopped_by.iter().sum::<u64>(), all.failed());
    prop_assert_eq!(all.latency.count(), all.succeeded);
    prop_assert_eq!(all.requests, outcome.groups.iter().map(|group| group.requests).sum::<u64>());
    prop_assert_eq!(all.succeeded, outcome.groups.iter().map(|group| group.succeeded).sum::<u64>());
    Ok(())
}

/// attempts = succeeded + errors + timeouts + in flight, for each call, and all of them have arrived.
fn attempts_are_conserved(outcome: &Outcome, attempts: &BTreeMap<u64, Attempt>) -> Result<(), TestCaseError> {
    for (index, tally) in outcome.calls.iter().enumerate() {
        let own = || attempts.values().filter(|attempt| attempt.call == index);
        let in_flight = own().filter(|attempt| !attempt.given_up && !attempt.has_answer).count() as u64;
        let late = own().filter(|attempt| attempt.given_up && attempt.has_answer).count() as u64;
        prop_assert_eq!(tally.attempts, own().count() as u64);
        prop_assert_eq!(tally.attempts, tally.succeeded + tally.errors + tally.timeouts + in_flight);
        prop_assert_eq!(tally.late_responses, late);
    }
    // Arrival takes no time, so that no run ends between sending and arriving.
    prop_assert!(attempts.values().all(|attempt| attempt.arrived));
    Ok(())
}

/// arrivals = completed + refused + in progress, for each service, and what it answered is what its callers got.
fn arrivals_are_conserved(
    plan: &Plan,
    outcome: &Outcome,
    attempts: &BTreeMap<u64, Attempt>,
) -> Result<(), TestCaseError> {
    for (index, tally) in outcome.services.iter().enumerate() {
        let here = || attempts.values().filter(|attempt| plan.calls[attempt.call].target.index() == index);
        let answered = here().filter(|attempt| attempt.answered.is_some()).count() as u64;
        prop_assert_eq!(tally.arrivals, here().count() as u64);
        prop_assert_eq!(tally.completed + tally.refused, answered);
        prop_assert_eq!(tally.in_progress, tally.arrivals - answered);
        prop_assert_eq!(tally.succeeded, here().filter(|attempt| attempt.answered == Some(Ok(()))).count() as u64);
        prop_assert!(tally.in_flight_ns >= tally.sojourn_ns, "what was in progress includes what was completed");
        // An answer takes no time either.
        prop_assert!(here().all(|attempt| attempt.has_answer == attempt.answered.is_some()));
    }
    Ok(())
}

/// Every count and every integral of the timeline sums to that of the whole run.
fn the_timeline_sums_to_the_counts(outcome: &Outcome) -> Result<(), TestCaseError> {
    let sums = |buckets: &[Bucket]| {
        buckets.iter().fold(Bucket::default(), |sum, bucket| Bucket {
            index: 0,
            attempts: sum.attempts + bucket.attempts,
            retries: sum.retries + bucket.retries,
            succeeded: sum.succeeded + bucket.succeeded,
            failed: sum.failed + bucket.failed,
            timeouts: sum.timeouts + bucket.timeouts,
            in_flight_ns: sum.in_flight_ns + bucket.in_flight_ns,
        })
    };
    let (sum, calls, requests) = (sums(&outcome.timeline.scenario), &outcome.all_calls, &outcome.all_requests);
    prop_assert_eq!((sum.attempts, sum.retries, sum.timeouts), (calls.attempts, calls.retries, calls.timeouts));
    prop_assert_eq!((sum.succeeded, sum.failed), (requests.succeeded, requests.failed()));
    for (buckets, call) in outcome.timeline.calls.iter().zip(&outcome.calls) {
        let sum = sums(buckets);
        prop_assert_eq!((sum.attempts, sum.retries, sum.timeouts), (call.attempts, call.retries, call.timeouts));
        prop_assert_eq!((sum.succeeded, sum.failed), (call.succeeded, call.errors + call.timeouts));
    }
    for (buckets, service) in outcome.timeline.services.iter().zip(&outcome.services) {
        let sum = sums(buckets);
        prop_assert_eq!((sum.attempts, sum.retries), (service.arrivals, service.retry_arrivals));
        prop_assert_eq!(sum.succeeded + sum.failed, service.completed + service.refused);
        prop_assert_eq!(sum.in_flight_ns, service.in_flight_ns);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_story_adds_up(sketch in random_plan(), seed: u64) {
        let plan = sketch.plan();
        let (notes, outcome) = interpret(&plan, seed, 0);
        let attempts = follow_attempts(&notes)?;
        prop_assert!(notes.is_sorted_by_key(|(at, _)| *at), "time never goes back");
        prop_assert!(notes.last().is_none_or(|(at, _)| *at <= outcome.end));
        requests_are_conserved(&plan, &notes, &outcome)?;
        attempts_are_conserved(&outcome, &attempts)?;
        arrivals_are_conserved(&plan, &outcome, &attempts)?;
        the_timeline_sums_to_the_counts(&outcome)?;
        if outcome.ended == End::Drained {
            prop_assert_eq!(outcome.all_requests.open(), 0);
            prop_assert!(outcome.services.iter().all(|service| service.in_progress == 0));
        }
    }
}
