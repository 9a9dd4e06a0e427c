//! What schedules of the simple kinds draw.

use super::*;
use crate::dist::{Dist, mix};

const UNCAPPED: Span = Span::UNLIMITED;

fn plain(backoff: Backoff, cap: Span) -> Schedule {
    Schedule::new(backoff, cap, CapOrder::BeforeJitter, Jitter::None)
}

fn exponential(base_ms: u64, cap: Span) -> Schedule {
    plain(Backoff::Exponential { base: Span::from_ms(base_ms), factor: 2.0 }, cap)
}

fn waits_ms(schedule: &Schedule, retries: u32) -> Vec<f64> {
    let mut previous = Span::ZERO;
    (1..=retries)
        .map(|retry| {
            previous = schedule.wait(retry, previous, mix(1, u64::from(retry)));
            previous.as_ms()
        })
        .collect()
}

fn mean_ms(schedule: &Schedule, retry: u32) -> f64 {
    const N: u64 = 100_000;
    (0..N).map(|n| schedule.wait(retry, Span::ZERO, mix(5, n)).as_ms()).sum::<f64>() / N as f64
}

/// Base 100 ms, 4 retries: the sums are 0.4, 1.0 and 1.5 s.
#[test]
fn plain_schedules() {
    let base = Span::from_ms(100);
    assert_eq!(waits_ms(&plain(Backoff::None, UNCAPPED), 4), [0.0; 4]);
    assert_eq!(waits_ms(&plain(Backoff::Fixed(base), UNCAPPED), 4), [100.0; 4]);
    assert_eq!(waits_ms(&plain(Backoff::Linear { step: base }, UNCAPPED), 4), [100.0, 200.0, 300.0, 400.0]);
    assert_eq!(waits_ms(&exponential(100, UNCAPPED), 4), [100.0, 200.0, 400.0, 800.0]);
    let explicit = Backoff::Explicit(vec![Span::from_ms(1), Span::from_ms(5)]);
    assert_eq!(waits_ms(&plain(explicit, UNCAPPED), 4), [1.0, 5.0, 5.0, 5.0]);
}

/// Full jitter halves the sum of the exponential schedule: 750 ms expected over 4 retries. The estimate of each
/// mean over 100,000 draws has a standard deviation of x / sqrt(12 * 100,000) < 0.1 %.
#[test]
fn jitter_keeps_the_means() {
    let with = |jitter| {
        let backoff = Backoff::Exponential { base: Span::from_ms(100), factor: 2.0 };
        Schedule::new(backoff, UNCAPPED, CapOrder::BeforeJitter, jitter)
    };
    let sum = |schedule: Schedule| (1..=4).map(|retry| mean_ms(&schedule, retry)).sum::<f64>();
    assert!((sum(with(Jitter::Full)) / 750.0 - 1.0).abs() < 0.005);
    assert!((sum(with(Jitter::Equal)) / 1125.0 - 1.0).abs() < 0.005);
    assert!((sum(with(Jitter::Spread(0.2))) / 1500.0 - 1.0).abs() < 0.005);
    let add = Dist::Uniform { min: Span::ZERO, values: 100_000_000, step: Span::from_ns(1) };
    assert!((sum(with(Jitter::Add(add))) / 1700.0 - 1.0).abs() < 0.005);
}

#[test]
fn jitter_stays_within_its_window() {
    let with = |jitter| Schedule::new(Backoff::Fixed(Span::from_ms(100)), UNCAPPED, CapOrder::BeforeJitter, jitter);
    let windows = [(Jitter::Full, 0.0, 100.0), (Jitter::Equal, 50.0, 100.0), (Jitter::Spread(0.2), 80.0, 120.0)];
    for (jitter, low, high) in windows {
        let schedule = with(jitter);
        let waits: Vec<f64> = (0..10_000).map(|n| schedule.wait(1, Span::ZERO, mix(2, n)).as_ms()).collect();
        let (min, max) = waits.iter().fold((f64::MAX, 0.0f64), |(lo, hi), &w| (lo.min(w), hi.max(w)));
        let slack = (high - low) / 1000.0;
        assert!(min >= low && min < low + slack && max < high && max > high - slack, "{schedule:?}: {min} {max}");
    }
}

/// Base 500 ms, factor 2, +-50 %, cap 5 s after the jitter: before retry 5 the nominal wait is 8 s, its window
/// [4 s, 12 s), and 7/8 of the draws are exactly the cap; before retry 6 all are. (Resilience4j's rule.)
#[test]
fn a_cap_after_the_jitter_collapses_it() {
    let backoff = Backoff::Exponential { base: Span::from_ms(500), factor: 2.0 };
    let schedule = Schedule::new(backoff, Span::from_s(5), CapOrder::AfterJitter, Jitter::Spread(0.5));
    let share_at_cap = |retry| {
        let at_cap = (0..10_000).filter(|&n| schedule.wait(retry, Span::ZERO, mix(4, n)) == Span::from_s(5)).count();
        at_cap as f64 / 10_000.0
    };
    assert!((share_at_cap(5) - 0.875).abs() < 0.015, "{}", share_at_cap(5));
    assert_eq!(share_at_cap(6), 1.0);
}

/// Cap before +-20 %: the wait may exceed the cap by 20 % (gRPC's rule); `both` cuts that off.
#[test]
fn cap_order_decides_whether_jitter_may_exceed_the_cap() {
    let longest = |cap_order| {
        let backoff = Backoff::Exponential { base: Span::from_ms(100), factor: 2.0 };
        let schedule = Schedule::new(backoff, Span::from_ms(300), cap_order, Jitter::Spread(0.2));
        (0..10_000).map(|n| schedule.wait(4, Span::ZERO, mix(6, n))).max().unwrap()
    };
    assert!(longest(CapOrder::BeforeJitter) > Span::from_ms(359));
    assert!(longest(CapOrder::BeforeJitter) < Span::from_ms(360));
    assert_eq!(longest(CapOrder::Both), Span::from_ms(300));
}

/// 2^attempt overflows 64 bits at 63: the wait stays at the cap, or without one at the longest span there is.
#[test]
fn no_retry_number_overflows() {
    let capped = exponential(100, Span::from_s(5));
    let uncapped = exponential(100, UNCAPPED);
    let linear = plain(Backoff::Linear { step: Span::LIMIT }, UNCAPPED);
    for retry in [62, 63, 64, 65, 199, 200, 1_000_000, u32::MAX - 1, u32::MAX] {
        assert_eq!(capped.wait(retry, Span::ZERO, 0), Span::from_s(5), "retry {retry}");
        assert_eq!(uncapped.wait(retry, Span::ZERO, 0), Span::LIMIT, "retry {retry}");
        assert_eq!(linear.wait(retry, Span::ZERO, 0), Span::LIMIT, "retry {retry}");
    }
}

/// Waits that shrink, and waits that grow so slowly that rounding hides it, are never cut short to zero or frozen.
#[test]
fn degenerate_factors_keep_their_meaning() {
    let shrinking = plain(Backoff::Exponential { base: Span::from_ms(1), factor: 0.5 }, UNCAPPED);
    assert_eq!(shrinking.wait(1000, Span::ZERO, 0), Span::from_ns(1));
    let slow = plain(Backoff::Exponential { base: Span::from_ns(1), factor: 1.01 }, UNCAPPED);
    assert_eq!(slow.wait(2, Span::ZERO, 0), Span::from_ns(1));
    assert_eq!(slow.wait(1001, Span::ZERO, 0), Span::from_ns(20_959));
}

/// Starts at the base, never below it, never above three times the previous wait or the cap.
#[test]
fn decorrelated_walks_between_base_and_cap() {
    let backoff = Backoff::Decorrelated { base: Span::from_s(1), factor: 3.0 };
    let schedule = plain(backoff, Span::from_s(30));
    for walk in 0..1000 {
        let mut previous = Span::from_s(1);
        for retry in 1..=10 {
            let wait = schedule.wait(retry, previous, mix(walk, u64::from(retry)));
            assert!(wait >= Span::from_s(1) && wait <= Span::from_s(30));
            assert!(wait.as_ns() <= 3 * previous.as_ns());
            previous = wait;
        }
    }
    let first = mean_ms(&schedule, 1);
    assert!((first / 2000.0 - 1.0).abs() < 0.01, "U(1 s, 3 s) has the mean 2 s, got {first} ms");
}
