//! The worked numbers of the libraries whose rules these are, and the diagram of states.

use proptest::prelude::*;

use super::*;
use crate::policy::{Backoff, CapOrder, Jitter};

fn at_ms(ms: u64) -> Instant {
    Instant::from_ns(ms * 1_000_000)
}

fn breaker(trip: Trip, open_ms: u64, half_open: u32) -> Breaker {
    let fixed = Backoff::Fixed(Span::from_ms(open_ms));
    Breaker {
        trip,
        failure_on: ErrorSet::FAILURES,
        open: Schedule::new(fixed, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None),
        half_open,
        counts: Counts::Attempts,
        position: Position::Inside,
    }
}

/// One that is let through and ends at once, having taken so long. Whether it was let through, and has opened it.
fn pass(rule: &Breaker, state: &mut BreakerState, failed: bool, took: Span, now: Instant) -> (bool, bool) {
    let Some(admission) = rule.admit(state, now) else { return (false, false) };
    let error = failed.then_some(ErrorKind::Unavailable);
    let opened = rule.count(state, admission, Ended { error, took, key: 0 }, now);
    rule.leave(state, admission);
    (true, opened)
}

/// How many of these, ending one after another at this instant, are let through until one opens the breaker.
fn until_open(rule: &Breaker, ends: impl IntoIterator<Item = bool>) -> Option<usize> {
    let mut state = rule.start();
    let opens = |failed| pass(rule, &mut state, failed, Span::ZERO, at_ms(0)) == (true, true);
    ends.into_iter().map(opens).position(|opened| opened).map(|position| position + 1)
}

const HALF: u64 = 500_000;

fn failure_ratio(share: u64, over: Over, min_calls: u32) -> Trip {
    Trip::Ratio { of: Badness::Failure, share, over, min_calls }
}

/// gobreaker trips on more than five in a row: the sixth. A success begins anew.
#[test]
fn consecutive_failures_are_in_a_row() {
    let rule = breaker(Trip::Consecutive(6), 60_000, 1);
    assert_eq!(until_open(&rule, [true; 10]), Some(6));
    let interrupted = [true, true, true, true, true, false].into_iter().chain([true; 10]);
    assert_eq!(until_open(&rule, interrupted), Some(12));
}

/// Resilience4j: of 100 calls 50 fail. It opens at call 100, not at the fiftieth failure: before, there are too few to
/// tell.
#[test]
fn a_ratio_needs_its_minimum() {
    let rule = breaker(failure_ratio(HALF, Over::Calls(100), 100), 60_000, 10);
    let first_fifty_fail = (0..100).map(|call| call < 50);
    assert_eq!(until_open(&rule, first_fifty_fail), Some(100));
    let one_too_few = (0..200).map(|call| call < 49);
    assert_eq!(until_open(&rule, one_too_few), None);
    // A window of 10 is full at 10, and that is its minimum.
    let rule = breaker(failure_ratio(HALF, Over::Calls(10), 10), 60_000, 10);
    assert_eq!(until_open(&rule, [true; 20]), Some(10));
}

/// Only the last so many count: 4 of 10 fail, again and again, and then 5 of the last 10.
#[test]
fn old_calls_are_forgotten() {
    let rule = breaker(failure_ratio(HALF, Over::Calls(10), 10), 60_000, 1);
    let four_of_ten = (0..1_000).map(|call| call % 10 < 4);
    assert_eq!(until_open(&rule, four_of_ten.clone()), None);
    // The last ten are then six that succeeded and four that failed, the next of which pushes a failure out.
    let and_two_more = four_of_ten.chain([true; 5]);
    assert_eq!(until_open(&rule, and_two_more), Some(1_005));
}

/// Hystrix: at least 20 requests in the last 10 s, and half of them in error. .NET's standard handler: 10 % of at least
/// 100 in 30 s. Polly asks only after a failure; here, as with Resilience4j, a success that fills the minimum opens it,
/// too.
#[test]
fn a_ratio_over_time() {
    let hystrix = breaker(failure_ratio(HALF, Over::Time(Span::from_s(10)), 20), 5_000, 1);
    assert_eq!(until_open(&hystrix, [true; 30]), Some(20));
    let half = (0..30).map(|call| call % 2 == 0);
    assert_eq!(until_open(&hystrix, half), Some(20));
    let dotnet = breaker(failure_ratio(100_000, Over::Time(Span::from_s(30)), 100), 5_000, 1);
    assert_eq!(until_open(&dotnet, (0..100).map(|call| call >= 90)), Some(100));
    assert_eq!(until_open(&dotnet, (0..100).map(|call| call >= 91)), None);
    assert_eq!(until_open(&dotnet, (0..100).map(|call| call < 10)), Some(100));
    // Spread over more than ten seconds, 20 are too few.
    let mut state = hystrix.start();
    let opened = (0..40).any(|i| pass(&hystrix, &mut state, true, Span::ZERO, at_ms(600 * i)).1);
    assert!(!opened, "at one failure in 600 ms there are 17 in ten seconds");
}

/// Seven of a hundred are 7 %, which in floating point they are not: 0.07 x 100 is above 7.
#[test]
fn shares_are_compared_in_whole_numbers() {
    let rule = breaker(failure_ratio(70_000, Over::Calls(100), 100), 5_000, 1);
    assert_eq!(until_open(&rule, (0..100).map(|call| call < 7)), Some(100));
}

/// Slow is what takes longer; whether it fails does not matter.
#[test]
fn slow_calls_open_it_too() {
    let two_s = Span::from_s(2);
    let of = Badness::SlowerThan(two_s);
    let rule = breaker(Trip::Ratio { of, share: HALF, over: Over::Calls(4), min_calls: 4 }, 5_000, 1);
    let opened = |took: [Span; 4], failed| {
        let mut state = rule.start();
        took.map(|took| pass(&rule, &mut state, failed, took, at_ms(0)).1)
    };
    let slow = two_s + Span::from_ns(1);
    assert_eq!(opened([slow, two_s, slow, two_s], false), [false, false, false, true]);
    assert_eq!(opened([slow, two_s, two_s, two_s], true), [false; 4]);
}

/// Attempts at 0, 0.1, 0.3, 0.7 and 1.5 s, call after call: six failures never fall into one second, and into two
/// seconds at the sixth attempt, at 1.5 s.
#[test]
fn a_sliding_window_is_open_at_its_old_end() {
    let starts_ms = [0, 100, 300, 700, 1_500];
    let attempts_ms: Vec<u64> = (0..20).flat_map(|call| starts_ms.map(|start| 1_500 * call + start)).collect();
    let opens_at = |window_ms| {
        let window = Span::from_ms(window_ms);
        let rule = breaker(Trip::Count { failures: 6, window, sliding: true }, 60_000, 1);
        let mut state = rule.start();
        attempts_ms.iter().position(|&ms| pass(&rule, &mut state, true, Span::ZERO, at_ms(ms)).1)
    };
    assert_eq!(opens_at(1_000), None);
    assert_eq!(opens_at(2_000), Some(5));
    assert_eq!(attempts_ms[5], 1_500);
    // Exactly a window apart is too far apart.
    assert_eq!(opens_at(1_500), None);
}

/// Fixed windows begin when the breaker closes: five failures at the end of one and five at the beginning of the next
/// do not add up, which a sliding window would count as ten.
#[test]
fn fixed_windows_restart_when_the_breaker_closes() {
    let trip = |sliding| Trip::Count { failures: 6, window: Span::from_s(1), sliding };
    let across = |rule: &Breaker, first_ms: u64, state: &mut BreakerState| {
        let times = [990, 991, 992, 993, 994, 1_000, 1_001, 1_002, 1_003, 1_004];
        times.map(|ms| pass(rule, state, true, Span::ZERO, at_ms(first_ms + ms)).1).contains(&true)
    };
    let (fixed, sliding) = (breaker(trip(false), 300, 1), breaker(trip(true), 300, 1));
    assert!(!across(&fixed, 0, &mut fixed.start()));
    assert!(across(&sliding, 0, &mut sliding.start()));
    // Opened at 2.0 s and closed by a probe at 2.35 s, its windows end at 3.35 s, 4.35 s and so on.
    let mut state = fixed.start();
    for _ in 0..6 {
        pass(&fixed, &mut state, true, Span::ZERO, at_ms(2_000));
    }
    assert_eq!(pass(&fixed, &mut state, false, Span::ZERO, at_ms(2_350)), (true, false));
    assert!(!across(&fixed, 2_350, &mut state.clone()));
    assert!(across(&fixed, 2_400, &mut state));
}

/// Resilience4j lets ten probes through and decides when all of them have ended: five failures of ten open it.
/// gobreaker takes the first failure for enough, and as many successes as there are probes.
#[test]
fn probes_decide() {
    let after = |trip, ends: &[bool]| {
        let rule = breaker(trip, 1_000, 10);
        let mut state = rule.start();
        while !pass(&rule, &mut state, true, Span::ZERO, at_ms(0)).1 {}
        assert_eq!(pass(&rule, &mut state, false, Span::ZERO, at_ms(999)), (false, false));
        for &failed in ends {
            pass(&rule, &mut state, failed, Span::ZERO, at_ms(1_000));
        }
        state.phase()
    };
    let (open, closed) = (BreakerPhase::Open { until: at_ms(2_000) }, BreakerPhase::Closed);
    let ratio = failure_ratio(HALF, Over::Calls(10), 10);
    let (five_fail, four_fail) = ([[true, false]; 5].concat(), [vec![true; 4], vec![false; 6]].concat());
    assert_eq!(after(ratio, &five_fail), open);
    assert_eq!(after(ratio, &four_fail), closed);
    assert_eq!(after(ratio, &four_fail[..9]), BreakerPhase::HalfOpen { probes: 0, succeeded: 5, failed: 4 });
    let consecutive = Trip::Consecutive(6);
    assert_eq!(after(consecutive, &[false, false, true]), open);
    assert_eq!(after(consecutive, &[false; 10]), closed);
}

/// Probes that are under way and those that have ended are together no more than there may be; one that ends without
/// an outcome makes room for another.
#[test]
fn a_hung_probe_keeps_its_place() {
    let rule = breaker(Trip::Consecutive(1), 1_000, 1);
    let mut state = rule.start();
    assert_eq!(pass(&rule, &mut state, true, Span::ZERO, at_ms(0)), (true, true));
    let probe = rule.admit(&mut state, at_ms(1_000)).expect("the first probe");
    assert_eq!(rule.admit(&mut state, at_ms(1_000_000)), None);
    rule.leave(&mut state, probe);
    assert!(rule.admit(&mut state, at_ms(1_000_000)).is_some());
}

/// What was let through before the breaker opened neither opens it again nor counts as a probe.
#[test]
fn what_was_let_through_before_it_moved_does_not_count() {
    let rule = breaker(Trip::Consecutive(1), 1_000, 1);
    let mut state = rule.start();
    let early = rule.admit(&mut state, at_ms(0)).expect("it is closed");
    assert!(pass(&rule, &mut state, true, Span::ZERO, at_ms(0)).1);
    let probe = rule.admit(&mut state, at_ms(1_000)).expect("the first probe");
    let success = Ended { error: None, took: Span::ZERO, key: 0 };
    assert!(!rule.count(&mut state, early, success, at_ms(1_000)));
    rule.leave(&mut state, early);
    assert_eq!(state.phase(), BreakerPhase::HalfOpen { probes: 1, succeeded: 0, failed: 0 });
    rule.count(&mut state, probe, success, at_ms(1_001));
    assert_eq!(state.phase(), BreakerPhase::Closed);
}

/// Linkerd's failure accrual probes after 1 s, 2 s, 4 s, ... and no later than after a minute; once closed it begins
/// anew.
#[test]
fn the_time_it_is_open_may_grow() {
    let doubling = Backoff::Exponential { base: Span::from_s(1), factor: 2.0 };
    let open = Schedule::new(doubling, Span::from_s(60), CapOrder::BeforeJitter, Jitter::None);
    let rule = Breaker { open, ..breaker(Trip::Consecutive(7), 0, 1) };
    let mut state = rule.start();
    (0..7).for_each(|_| _ = pass(&rule, &mut state, true, Span::ZERO, at_ms(0)));
    let mut now = at_ms(0);
    for expected_s in [1, 2, 4, 8, 16, 32, 60, 60] {
        let BreakerPhase::Open { until } = state.phase() else { panic!("it has opened again") };
        assert_eq!(until.since(now), Span::from_s(expected_s));
        now = until;
        pass(&rule, &mut state, true, Span::ZERO, now);
    }
    let BreakerPhase::Open { until } = state.phase() else { panic!("it has opened again") };
    pass(&rule, &mut state, false, Span::ZERO, until);
    assert_eq!(state.phase(), BreakerPhase::Closed);
    (0..7).for_each(|_| _ = pass(&rule, &mut state, true, Span::ZERO, until));
    assert_eq!(state.phase(), BreakerPhase::Open { until: until + Span::from_s(1) });
}

fn trips() -> impl Strategy<Value = Trip> {
    let window = (1_u64..3_000).prop_map(Span::from_ms);
    let over = prop_oneof![(1_u32..8).prop_map(Over::Calls), window.clone().prop_map(Over::Time)];
    let of = prop_oneof![Just(Badness::Failure), (0_u64..50).prop_map(|ms| Badness::SlowerThan(Span::from_ms(ms)))];
    prop_oneof![
        (1_u32..5).prop_map(Trip::Consecutive),
        (1_u32..5, window, any::<bool>()).prop_map(|(failures, window, sliding)| Trip::Count {
            failures,
            window,
            sliding
        }),
        (of, 1_u64..1_000_001, over, 1_u32..8).prop_map(|(of, share, over, min_calls)| Trip::Ratio {
            of,
            share,
            over,
            min_calls
        }),
    ]
}

/// What happens to a breaker: so long after the last, something asks, or the `n`th of those under way ends.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ask,
    End { nth: usize, failed: bool, took_ms: u64 },
    Abandon { nth: usize },
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let end = (any::<usize>(), any::<bool>(), 0_u64..60).prop_map(|(nth, failed, took_ms)| Step::End {
        nth,
        failed,
        took_ms,
    });
    let abandon = any::<usize>().prop_map(|nth| Step::Abandon { nth });
    prop::collection::vec((0_u64..400, prop_oneof![5 => Just(Step::Ask), 4 => end, 1 => abandon]), 1..200)
}

proptest! {
    /// Whatever happens when: closed leads to open, open to half-open and not before its time, half-open to either;
    /// while it is open nothing is let through, while it is half-open no more probes than it allows, and each of those
    /// that are over has given its place back.
    #[test]
    fn a_breaker_moves_only_along_its_diagram(trip in trips(), half_open in 1_u32..4, steps in steps()) {
        let rule = breaker(trip, 1_000, half_open);
        let mut state = rule.start();
        let (mut now, mut under_way) = (at_ms(0), Vec::<Admission>::new());
        for (later_ms, step) in steps {
            now = now + Span::from_ms(later_ms);
            let before = state.phase();
            let mut opened = false;
            match step {
                Step::Ask => {
                    let admission = rule.admit(&mut state, now);
                    match before {
                        BreakerPhase::Closed => prop_assert!(admission.is_some()),
                        BreakerPhase::Open { until } if now < until => prop_assert_eq!(admission, None),
                        _ => {}
                    }
                    under_way.extend(admission);
                }
                Step::End { nth, failed, took_ms } if !under_way.is_empty() => {
                    let admission = under_way.swap_remove(nth % under_way.len());
                    let error = failed.then_some(ErrorKind::Timeout);
                    let ended = Ended { error, took: Span::from_ms(took_ms), key: 0 };
                    opened = rule.count(&mut state, admission, ended, now);
                    rule.leave(&mut state, admission);
                }
                Step::Abandon { nth } if !under_way.is_empty() => {
                    let admission = under_way.swap_remove(nth % under_way.len());
                    rule.leave(&mut state, admission);
                }
                Step::End { .. } | Step::Abandon { .. } => {}
            }
            let after = state.phase();
            let is_move = match (before, after) {
                (BreakerPhase::Closed, BreakerPhase::Open { until }) => until == now + Span::from_s(1) && opened,
                (BreakerPhase::Open { until }, BreakerPhase::HalfOpen { .. }) => until <= now && !opened,
                (BreakerPhase::HalfOpen { .. }, BreakerPhase::Open { until }) => {
                    until == now + Span::from_s(1) && opened
                }
                (BreakerPhase::HalfOpen { .. }, BreakerPhase::Closed | BreakerPhase::HalfOpen { .. })
                | (BreakerPhase::Closed, BreakerPhase::Closed) => !opened,
                (BreakerPhase::Open { until }, BreakerPhase::Open { until: still }) => until == still && !opened,
                _ => false,
            };
            prop_assert!(is_move, "{before:?} to {after:?}");
            if let BreakerPhase::HalfOpen { probes, succeeded, failed } = after {
                prop_assert!(probes + succeeded + failed <= half_open);
                let is_probe = |admission: &&Admission| admission.is_probe && admission.generation == state.generation;
                prop_assert_eq!(probes as usize, under_way.iter().filter(is_probe).count());
            }
        }
    }
}
