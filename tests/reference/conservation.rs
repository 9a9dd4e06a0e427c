//! What must hold in every story: nothing is lost, nothing happens twice, and the figures add up.
//!
//! The notes are counted here once more, without the interpreter's record, so that a note that is missing or a
//! figure that leaves something out cannot go unseen.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, contextualize_config};
use stormsim::dist::{Purpose, attempt_key, call_key, replica_key, request_key};
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::{Bucket, CallTally, End, Outcome, RequestTally, ServiceTally};
use stormsim::plan::{Call, CallId, Group, Origin, Plan};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use crate::reference::{interpret, random_plan};

fn config() -> Config {
    let cases = 2_000;
    contextualize_config(Config { cases, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..Config::default() })
}

/// What the notes tell of an attempt, and when.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    call: usize,
    /// Whether its way is longer than its connection may take.
    lost: bool,
    sent: Instant,
    arrived: Option<Instant>,
    answered: Option<(Instant, Result<(), ErrorKind>)>,
    given_up: Option<Instant>,
    has_answer: Option<Instant>,
}

impl Attempt {
    fn new(plan: &Plan, call: CallId, key: u64, sent: Instant) -> Self {
        let Call { network, connect_timeout, .. } = &plan.calls[call.index()];
        let lost = network.sample(key, Purpose::Request) > connect_timeout.after;
        Self { call: call.index(), lost, sent, arrived: None, answered: None, given_up: None, has_answer: None }
    }

    /// When its caller was done with it.
    fn ended(&self) -> Option<Instant> {
        [self.given_up, self.has_answer].into_iter().flatten().min()
    }

    fn answered_at(&self) -> Option<Instant> {
        self.answered.map(|(at, _)| at)
    }

    fn is_well(&self) -> bool {
        matches!(self.answered, Some((_, Ok(()))))
    }
}

/// The attempts by key. Fails if a note comes before the one that it presupposes, or twice.
fn follow_attempts(plan: &Plan, notes: &[(Instant, Note)]) -> Result<BTreeMap<u64, Attempt>, TestCaseError> {
    let mut attempts: BTreeMap<u64, Attempt> = BTreeMap::new();
    for &(at, note) in notes {
        match note {
            Note::Sent { call, key, .. } => {
                let attempt = Attempt::new(plan, call, key, at);
                prop_assert!(attempts.insert(key, attempt).is_none(), "sent twice: {note:?}");
            }
            Note::Arrived { key, .. } => {
                let attempt = attempts.get_mut(&key).expect("sent before it arrives");
                prop_assert!(!attempt.lost && attempt.arrived.is_none(), "{note:?} of {attempt:?}");
                attempt.arrived = Some(at);
            }
            Note::Answered { key, result } => {
                let attempt = attempts.get_mut(&key).expect("sent before it is answered");
                prop_assert!(attempt.arrived.is_some() && attempt.answered.is_none(), "{note:?} of {attempt:?}");
                attempt.answered = Some((at, result));
            }
            Note::Answer { key, late } => {
                let attempt = attempts.get_mut(&key).expect("sent before it has an answer");
                prop_assert!(attempt.answered.is_some() && attempt.has_answer.is_none(), "{note:?} of {attempt:?}");
                prop_assert_eq!(late, attempt.given_up.is_some());
                attempt.has_answer = Some(at);
            }
            Note::TimedOut { key, .. } => {
                let attempt = attempts.get_mut(&key).expect("sent before it is given up");
                prop_assert!(attempt.ended().is_none(), "{note:?} of {attempt:?}");
                attempt.given_up = Some(at);
            }
            Note::RequestBegan { .. } | Note::Waiting { .. } | Note::CallEnded { .. } => {}
        }
    }
    Ok(attempts)
}

/// Whether it happened, and at or after `from`.
fn since(from: Instant, at: Option<Instant>) -> bool {
    at.is_some_and(|at| at >= from)
}

/// Whether it happened before `from`.
fn before(from: Instant, at: Option<Instant>) -> bool {
    at.is_some_and(|at| at < from)
}

/// requests = succeeded + failed + open: each that began ends once, or is open at the end, and with the client's call.
/// With a warmup the ends of earlier requests do not count.
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
    let began = notes.iter().filter(|(at, note)| *at >= plan.warmup && matches!(note, Note::RequestBegan { .. }));
    prop_assert_eq!(all.requests, began.count() as u64);
    if plan.warmup == Instant::ZERO {
        prop_assert_eq!((all.succeeded, all.failed()), (ended(true), ended(false)));
    } else {
        prop_assert!(all.succeeded <= ended(true) && all.failed() <= ended(false));
    }
    prop_assert_eq!(all.stopped_by.iter().sum::<u64>(), all.failed());
    prop_assert_eq!(all.latency.count(), all.succeeded);
    prop_assert!(all.degraded <= all.succeeded && all.succeeded_first_try <= all.succeeded);
    prop_assert_eq!(all.requests, outcome.groups.iter().map(|group| group.requests).sum::<u64>());
    prop_assert_eq!(all.succeeded, outcome.groups.iter().map(|group| group.succeeded).sum::<u64>());
    Ok(())
}

/// attempts = succeeded + errors + timeouts + in flight, for each call; and attempts = arrivals + lost + on the
/// network. With a warmup what was in flight, or on the network, when it was over is added to those that were sent.
fn attempts_are_conserved(
    plan: &Plan,
    outcome: &Outcome,
    attempts: &BTreeMap<u64, Attempt>,
) -> Result<(), TestCaseError> {
    let warmup = plan.warmup;
    for (index, tally) in outcome.calls.iter().enumerate() {
        let count = |counted: &dyn Fn(&Attempt) -> bool| {
            attempts.values().filter(|attempt| attempt.call == index && counted(attempt)).count() as u64
        };
        prop_assert_eq!(tally.attempts, count(&|it| it.sent >= warmup));
        prop_assert_eq!(tally.lost, count(&|it| it.sent >= warmup && it.lost));
        prop_assert_eq!(tally.late_responses, count(&|it| it.given_up.is_some() && since(warmup, it.has_answer)));

        let in_flight_before = count(&|it| it.sent < warmup && !before(warmup, it.ended()));
        let in_flight = count(&|it| it.ended().is_none());
        let ended = tally.succeeded + tally.errors + tally.timeouts;
        let (began, arrivals) = (tally.attempts + in_flight_before, count(&|it| since(warmup, it.arrived)));
        if outcome.end >= warmup {
            prop_assert_eq!(began, ended + in_flight);
        }
        let on_network_before = count(&|it| it.sent < warmup && !it.lost && !before(warmup, it.arrived));
        let on_network = count(&|it| !it.lost && it.arrived.is_none());
        if outcome.end >= warmup {
            prop_assert_eq!(tally.attempts + on_network_before, arrivals + tally.lost + on_network);
        }
    }
    Ok(())
}

/// arrivals = completed + refused + in progress, for each service, and what it answered is what its callers got. With
/// a warmup what was in progress when it was over is added to the arrivals.
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
        let in_progress_before = count(&|it| before(warmup, it.arrived) && !before(warmup, it.answered_at()));
        prop_assert_eq!(tally.arrivals, count(&|it| since(warmup, it.arrived)));
        prop_assert_eq!(tally.completed + tally.refused, count(&|it| since(warmup, it.answered_at())));
        prop_assert_eq!(tally.succeeded, count(&|it| it.is_well() && since(warmup, it.answered_at())));
        if outcome.end >= warmup {
            prop_assert_eq!(tally.in_progress, count(&|it| it.arrived.is_some() && it.answered.is_none()));
            let left = tally.completed + tally.refused + tally.in_progress;
            prop_assert_eq!(tally.arrivals + in_progress_before, left);
        }
        if warmup == Instant::ZERO {
            prop_assert!(tally.in_flight_ns >= tally.sojourn_ns, "what was in progress includes what was completed");
        }
        prop_assert!(tally.in_flight_max <= tally.arrivals + in_progress_before);
    }
    Ok(())
}

/// Which client's every possible attempt of a client's call is, by the rules for keys.
fn clients_of_attempts(plan: &Plan, notes: &[(Instant, Note)], seed: u64) -> BTreeMap<u64, usize> {
    let mut clients = BTreeMap::new();
    for &(_, note) in notes {
        let Note::RequestBegan { group, client, ordinal } = note else { continue };
        let Group { key: group, choices, .. } = &plan.groups[group.index()];
        let request = request_key(replica_key(seed, 0), *group, client, ordinal);
        for &(_, call) in choices {
            let key = call_key(request, plan.calls[call.index()].key, 0);
            for attempt in 1..=plan.policy_of(call).max_attempts {
                clients.insert(attempt_key(key, attempt, 0), client as usize);
            }
        }
    }
    clients
}

/// initial + deposits - spent = left, with no balance above its maximum: an account kept from the notes alone.
fn tokens_are_conserved(
    plan: &Plan,
    notes: &[(Instant, Note)],
    attempts: &BTreeMap<u64, Attempt>,
    outcome: &Outcome,
    seed: u64,
) -> Result<(), TestCaseError> {
    let clients = clients_of_attempts(plan, notes, seed);
    let mut balances: Vec<_> =
        plan.budgets.iter().map(|pool| vec![i128::from(pool.rule.initial); pool.states as usize]).collect();
    for &(_, note) in notes {
        let (key, is_retry) = match note {
            Note::Answer { key, late: false } if attempts[&key].is_well() => (key, false),
            Note::Waiting { key, .. } => (key, true),
            _ => continue,
        };
        let Some(budget) = plan.calls[attempts[&key].call].budget else { continue };
        let state = if budget.by_instance { clients.get(&key).copied().unwrap_or(0) } else { 0 };
        let rule = &plan.budgets[budget.pool as usize].rule;
        let balance = &mut balances[budget.pool as usize][state];
        if is_retry {
            prop_assert!(*balance >= i128::from(rule.floor), "{note:?} with {balance} left");
            *balance -= i128::from(rule.cost);
        } else {
            *balance = (*balance + i128::from(rule.per_success)).min(i128::from(rule.max));
        }
        prop_assert!(*balance >= 0, "{note:?} left {balance}");
    }
    let measured = outcome.end >= plan.warmup;
    let left: Vec<i128> = balances.iter().map(|states| states.iter().sum()).collect();
    for (tally, call) in outcome.calls.iter().zip(&plan.calls) {
        let expected = call.budget.filter(|_| measured).map(|budget| left[budget.pool as usize]);
        prop_assert_eq!(tally.tokens_left.map(|left| left as i128), expected);
    }
    let expected = (measured && !left.is_empty()).then(|| left.iter().sum::<i128>());
    prop_assert_eq!(outcome.all_calls.tokens_left.map(|left| left as i128), expected);
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

/// The windows of an outcome have no gap, and each thing that happened is in one of them: they sum to the whole.
fn windows_sum_to_the_whole(outcome: &Outcome) -> Result<(), TestCaseError> {
    let windows = || outcome.windows.iter();
    let requests = &outcome.all_requests;
    let sum = |count: fn(&RequestTally) -> u64| windows().map(|it| count(&it.all_requests)).sum::<u64>();
    prop_assert_eq!(sum(|it| it.requests), requests.requests);
    prop_assert_eq!(sum(|it| it.succeeded), requests.succeeded);
    prop_assert_eq!(sum(|it| it.succeeded_first_try), requests.succeeded_first_try);
    prop_assert_eq!(sum(|it| it.degraded), requests.degraded);
    prop_assert_eq!(sum(|it| it.failed()), requests.failed());
    prop_assert_eq!(sum(|it| it.stopped_by.iter().sum()), requests.failed());

    let calls = &outcome.all_calls;
    let sum = |count: fn(&CallTally) -> u64| windows().map(|it| count(&it.all_calls)).sum::<u64>();
    prop_assert_eq!(sum(|it| it.attempts), calls.attempts);
    prop_assert_eq!(sum(|it| it.retries), calls.retries);
    prop_assert_eq!(sum(|it| it.lost), calls.lost);
    prop_assert_eq!(sum(|it| it.succeeded), calls.succeeded);
    prop_assert_eq!(sum(|it| it.errors), calls.errors);
    prop_assert_eq!(sum(|it| it.timeouts), calls.timeouts);
    prop_assert_eq!(sum(|it| it.late_responses), calls.late_responses);
    prop_assert_eq!(sum(|it| it.deadline_stopped), calls.deadline_stopped);
    prop_assert_eq!(sum(|it| it.budget_refused), calls.budget_refused);
    prop_assert_eq!(windows().filter_map(|it| it.all_calls.last_retry).max(), calls.last_retry);
    prop_assert_eq!(windows().filter_map(|it| it.all_calls.first_budget_refusal).min(), calls.first_budget_refusal);
    prop_assert!(windows().all(|it| it.all_calls.attempt_peak <= calls.attempt_peak), "a part peaks above the whole");

    for (index, whole) in outcome.services.iter().enumerate() {
        let parts = || windows().map(|window| &window.services[index]);
        let sum = |count: fn(&ServiceTally) -> u64| parts().map(count).sum::<u64>();
        prop_assert_eq!(sum(|it| it.arrivals), whole.arrivals);
        prop_assert_eq!(sum(|it| it.original_arrivals), whole.original_arrivals);
        prop_assert_eq!(sum(|it| it.retry_arrivals), whole.retry_arrivals);
        prop_assert_eq!(sum(|it| it.completed), whole.completed);
        prop_assert_eq!(sum(|it| it.succeeded), whole.succeeded);
        prop_assert_eq!(sum(|it| it.refused), whole.refused);
        prop_assert_eq!(parts().map(|it| it.in_flight_ns).sum::<u128>(), whole.in_flight_ns);
        prop_assert_eq!(parts().map(|it| it.sojourn_ns).sum::<u128>(), whole.sojourn_ns);
        let highest = parts().max_by_key(|it| (it.in_flight_max, Reverse(it.in_flight_max_at)));
        prop_assert_eq!(highest.map(|it| it.in_flight_max), Some(whole.in_flight_max));
        prop_assert_eq!(highest.map(|it| it.in_flight_max_at), Some(whole.in_flight_max_at));
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_story_adds_up(sketch in random_plan(), seed: u64) {
        let plan = sketch.plan();
        let (notes, outcome) = interpret(&plan, seed, 0);
        let attempts = follow_attempts(&plan, &notes)?;
        prop_assert!(notes.is_sorted_by_key(|(at, _)| *at), "time never goes back");
        prop_assert!(notes.last().is_none_or(|(at, _)| *at <= outcome.end));
        requests_are_conserved(&plan, &notes, &outcome)?;
        attempts_are_conserved(&plan, &outcome, &attempts)?;
        arrivals_are_conserved(&plan, &outcome, &attempts)?;
        tokens_are_conserved(&plan, &notes, &attempts, &outcome, seed)?;
        stops_are_counted(&plan, &notes, &outcome)?;
        if outcome.ended == End::Drained {
            prop_assert_eq!(outcome.all_requests.open(), 0);
            prop_assert!(outcome.services.iter().all(|service| service.in_progress == 0));
            prop_assert!(attempts.values().all(|attempt| attempt.lost || attempt.has_answer.is_some()));
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
