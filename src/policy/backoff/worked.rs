//! The waits of real clients, as their sources and documents have them.

use super::*;
use crate::dist::{Dist, mix};

const UNCAPPED: Span = Span::UNLIMITED;

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn exponential(base: Span, factor: f64) -> Backoff {
    Backoff::Exponential { base, factor }
}

fn with_steps_of(granularity: Span) -> Refinement {
    Refinement { granularity, ..Refinement::NONE }
}

/// The first waits of one call, in ms.
fn waits_ms(schedule: &Schedule, retries: u32) -> Vec<f64> {
    let mut mark = Span::ZERO;
    let draws = (1..=retries).map(|retry| {
        let drawn = schedule.draw(retry, mark, mix(1, u64::from(retry)));
        mark = drawn.mark;
        drawn.wait.as_ms()
    });
    draws.collect()
}

/// The windows of the first waits, in ms.
fn windows_ms(schedule: &Schedule, retries: usize) -> Vec<(f64, f64)> {
    schedule.ranges().take(retries).map(|range| (range.shortest.as_ms(), range.longest.as_ms())).collect()
}

/// The least and the most of many draws, in ms.
fn drawn_ms(schedule: &Schedule, retry: u32) -> (f64, f64) {
    let waits = (0..20_000).map(|n| schedule.wait(retry, Span::ZERO, mix(2, n)).as_ms());
    waits.fold((f64::MAX, 0.0), |(least, most), wait| (wait.min(least), wait.max(most)))
}

/// urllib3: `bf * 2^(n - 1)`, but nothing before the first retry. With a backoff factor of 0.1: 0, 0.2, 0.4, 0.8 s.
#[test]
fn urllib3_retries_once_without_a_wait() {
    let immediate = Refinement { immediate: 1, ..Refinement::NONE };
    let cap = Span::from_s(120);
    let plain = |jitter| Schedule::refined(exponential(ms(100), 2.0), cap, CapOrder::AfterJitter, jitter, immediate);
    assert_eq!(waits_ms(&plain(Jitter::None), 4), [0.0, 200.0, 400.0, 800.0]);
    // What is added to each wait is not added to none.
    let added = plain(Jitter::Add(Dist::Constant(ms(50))));
    assert_eq!(waits_ms(&added, 3), [0.0, 250.0, 450.0]);
    assert_eq!(windows_ms(&added, 2), [(0.0, 0.0), (250.0, 250.0)]);
}

/// Resilience4j reckons in whole milliseconds at every step: 500 by 1.5 is 500, 750, 1125, 1687, 2530, 3795, 5692,
/// where 1.5^6 alone would make it 5695.
#[test]
fn resilience4j_grows_in_whole_milliseconds() {
    let growing = |granularity| {
        let refinement = with_steps_of(granularity);
        Schedule::refined(exponential(ms(500), 1.5), UNCAPPED, CapOrder::AfterJitter, Jitter::None, refinement)
    };
    let grown = growing(ms(1));
    assert_eq!(waits_ms(&grown, 7), [500.0, 750.0, 1125.0, 1687.0, 2530.0, 3795.0, 5692.0]);
    assert_eq!(growing(Span::from_ns(1)).nominal(7), Span::from_ns(5_695_312_500));
    // At last it is the longest span of whole milliseconds.
    assert_eq!(grown.nominal(u32::MAX).as_ns(), Span::LIMIT.as_ns() / 1_000_000 * 1_000_000);
}

/// Waits that shrink are a step long at last, and not none: 8, 4, 2, 2 ms by a half in steps of 2 ms.
#[test]
fn waits_that_shrink_stay_waits() {
    let shrinking = Schedule::refined(
        exponential(ms(8), 0.5),
        UNCAPPED,
        CapOrder::BeforeJitter,
        Jitter::None,
        with_steps_of(ms(2)),
    );
    assert_eq!(waits_ms(&shrinking, 5), [8.0, 4.0, 2.0, 2.0, 2.0]);
    assert_eq!(shrinking.nominal(u32::MAX), ms(2));
    // What is less than a step from the start is cut down to none, and never made longer.
    let short = Schedule::refined(
        exponential(ms(1), 1.5),
        UNCAPPED,
        CapOrder::BeforeJitter,
        Jitter::None,
        with_steps_of(ms(2)),
    );
    assert_eq!(waits_ms(&short, 3), [0.0, 0.0, 0.0]);
}

/// Beyond the steps that are cut down one by one waits go on to grow, by about as much.
#[test]
fn growth_goes_on_after_the_steps_that_are_cut() {
    let refinement = with_steps_of(ms(1));
    let backoff = exponential(ms(1_000), 1.01);
    let slow = Schedule::refined(backoff, UNCAPPED, CapOrder::BeforeJitter, Jitter::None, refinement);
    for retry in 60..75 {
        let (before, after) = (slow.nominal(retry).as_ms(), slow.nominal(retry + 1).as_ms());
        assert!(before.fract() == 0.0 && (after - before * 1.01).abs() <= 1.0, "{retry}: {before} {after}");
    }
}

/// A growth of less than a step is none: 1 ms by 1.5 stays 1 ms in whole milliseconds, however often.
#[test]
fn growth_of_less_than_a_step_is_none() {
    let refinement = with_steps_of(ms(1));
    let stuck = Schedule::refined(exponential(ms(1), 1.5), UNCAPPED, CapOrder::BeforeJitter, Jitter::None, refinement);
    assert_eq!([1, 2, 10, 64].map(|retry| stuck.nominal(retry)), [ms(1); 4]);
}

/// backon: the jitter of up to the whole wait comes on top of the cap, so that waits are up to twice that.
#[test]
fn backon_waits_up_to_twice_its_cap() {
    let backon = |order| Schedule::new(exponential(ms(1_000), 2.0), ms(60_000), order, Jitter::Upward(1.0));
    let before = backon(CapOrder::BeforeJitter);
    assert_eq!(windows_ms(&before, 8)[..2], [(1_000.0, 2_000.0), (2_000.0, 4_000.0)]);
    assert_eq!(windows_ms(&before, 8)[7], (60_000.0, 120_000.0));
    let (least, most) = drawn_ms(&before, 8);
    assert!((60_000.0..60_060.0).contains(&least) && (119_940.0..120_000.0).contains(&most), "{least} {most}");
    // Linkerd, tower and node-retry cap the sum.
    assert_eq!(windows_ms(&backon(CapOrder::AfterJitter), 8)[7], (60_000.0, 60_000.0));
}

/// Linkerd's annotations: 25 ms doubled, up to as much again, 250 ms at most.
#[test]
fn linkerd_caps_the_sum() {
    let linkerd = Schedule::new(exponential(ms(25), 2.0), ms(250), CapOrder::AfterJitter, Jitter::Upward(1.0));
    assert_eq!(windows_ms(&linkerd, 4), [(25.0, 50.0), (50.0, 100.0), (100.0, 200.0), (200.0, 250.0)]);
}

/// Spring Framework 7: `[max(d - j, delay), min(d + j, maxDelay)]`, where j grows with d. With a delay of 1 s by 2, a
/// jitter of a half and at most 5 s the first retry is never below the delay, and the fourth around the maximum.
#[test]
fn spring_7_narrows_its_windows() {
    let refinement = Refinement { floor: ms(1_000), ..Refinement::NONE };
    let jitter = Jitter::Spread(0.5);
    let spring = Schedule::refined(exponential(ms(1_000), 2.0), ms(5_000), CapOrder::Narrow, jitter, refinement);
    let windows = [(1_000.0, 1_500.0), (1_000.0, 3_000.0), (2_000.0, 5_000.0), (2_500.0, 5_000.0)];
    assert_eq!(windows_ms(&spring, 4), windows);
    for (retry, (low, high)) in (1..).zip(windows) {
        let (least, most) = drawn_ms(&spring, retry);
        let slack = (high - low) / 1_000.0;
        assert!(least >= low && least < low + slack && most < high && most > high - slack, "{retry}: {least} {most}");
    }
    // Narrowed before the draw, nothing piles up at the bounds: the mean is that of the window.
    assert_eq!(spring.ranges().map(|range| range.mean_ns).take(2).collect::<Vec<_>>(), [Some(1.25e9), Some(2e9)]);
    assert_eq!(spring.share_at_cap(4), Some(0.0));
}

/// tenacity's `wait_exponential`: `max(min, min(m * 2^(n - 1), max))`, and its random kind: U(min, that).
#[test]
fn tenacity_waits_for_its_minimum() {
    let tenacity = |jitter| {
        let refinement = Refinement { floor: ms(4_000), ..Refinement::NONE };
        Schedule::refined(exponential(ms(1_000), 2.0), ms(10_000), CapOrder::BeforeJitter, jitter, refinement)
    };
    assert_eq!(waits_ms(&tenacity(Jitter::None), 5), [4_000.0, 4_000.0, 4_000.0, 8_000.0, 10_000.0]);
    let random = tenacity(Jitter::Full);
    let at_least =
        [(4_000.0, 4_000.0), (4_000.0, 4_000.0), (4_000.0, 4_000.0), (4_000.0, 8_000.0), (4_000.0, 10_000.0)];
    assert_eq!(windows_ms(&random, 5), at_least);
    assert_eq!([1, 3, 4].map(|retry| random.is_lost_at_floor(retry)), [true, true, false]);
    // `wait_exponential + wait_random`: the minimum is that of the wait to which something is added.
    let added = tenacity(Jitter::Add(Dist::Uniform { min: Span::ZERO, values: 1_000_000_000, step: Span::from_ns(1) }));
    assert_eq!(windows_ms(&added, 4)[2..], [(4_000.0, 4_999.999_999), (8_000.0, 8_999.999_999)]);
}

/// Envoy draws whole milliseconds below 25, 50, 100, 200 and 250.
#[test]
fn envoy_draws_whole_milliseconds() {
    let refinement = with_steps_of(ms(1));
    let envoy = Schedule::refined(exponential(ms(25), 2.0), ms(250), CapOrder::BeforeJitter, Jitter::Full, refinement);
    let windows: Vec<_> = [24.0, 49.0, 99.0, 199.0, 249.0, 249.0].map(|most| (0.0, most)).to_vec();
    assert_eq!(windows_ms(&envoy, 6), windows);
    let mut seen = [false; 25];
    for n in 0..1_000 {
        let wait = envoy.wait(1, Span::ZERO, mix(3, n)).as_ns();
        assert!(wait.is_multiple_of(1_000_000), "{wait}");
        seen[wait as usize / 1_000_000] = true;
    }
    assert_eq!(seen, [true; 25]);
    // 0 to 24, all alike.
    assert_eq!(envoy.ranges().next().and_then(|range| range.mean_ns), Some(12e6));
}

/// AWS SDKs, retry behaviour 2.1: the windows end at 50 and 100 ms, and after throttling at 1 and 2 s, 20 s at most.
#[test]
fn aws_windows_end_at_the_cap() {
    let windows = |base| {
        let cap = Span::from_s(20);
        windows_ms(&Schedule::new(exponential(base, 2.0), cap, CapOrder::BeforeJitter, Jitter::Full), 6)
    };
    assert_eq!(windows(ms(50))[..2], [(0.0, 50.0), (0.0, 100.0)]);
    assert_eq!(windows(ms(1_000))[..2], [(0.0, 1_000.0), (0.0, 2_000.0)]);
    assert_eq!(windows(ms(1_000))[5], (0.0, 20_000.0));
}

/// Polly with a delay of 2 s, if every draw is a half: 1.7948, 2.1860, 4.0715, 8.0920 s.
#[test]
fn polly_with_every_draw_a_half() {
    let half = 1 << 63;
    let places: Vec<Span> = (1..=4).map(|retry| curve::position(Span::from_s(2), retry, half)).collect();
    let mut before = Span::ZERO;
    let waits: Vec<f64> = places
        .iter()
        .map(|&place| {
            let wait = curve::between(before, place);
            before = place;
            libm::round(wait.as_ms() * 10.0) / 10.0
        })
        .collect();
    assert_eq!(waits, [1_794.8, 2_186.0, 4_071.5, 8_092.0]);
}

/// Polly with a delay of 2 s, as a Monte-Carlo run of its own has it: medians of 1.80, 2.28, 4.04 and 8.04 s, longest
/// waits of 2.75, 5.63, 8.65 and 17.2 s, all of them from near 0.
///
/// A median of 100,000 draws is off by 1 / (2 f sqrt(100,000)) in the standard deviation, where f is the density there:
/// at least about 0.5 / spread, so that it is 0.3 % of the spread, of up to 17 s; what is told is rounded to 0.005 s.
/// The longest wait of some number of draws is less than what can be, by at most a few per cent.
#[test]
fn polly_has_the_spread_that_it_is_known_for() {
    const DRAWS: usize = 100_000;
    let polly =
        Schedule::new(Backoff::DecorrelatedV2 { base: Span::from_s(2) }, UNCAPPED, CapOrder::AfterJitter, Jitter::None);
    let mut waits: [Vec<_>; 4] = Default::default();
    for call in 0..DRAWS as u64 {
        let mut mark = Span::ZERO;
        for retry in 1..=4 {
            let drawn = polly.draw(retry, mark, mix(mix(4, call), u64::from(retry)));
            mark = drawn.mark;
            waits[retry as usize - 1].push(drawn.wait.as_s());
        }
    }
    let told = [(1.80, 2.75), (2.28, 5.63), (4.04, 8.65), (8.04, 17.2)];
    for ((waits, (median, longest)), range) in waits.iter_mut().zip(told).zip(polly.ranges()) {
        waits.sort_by(f64::total_cmp);
        let spread = range.longest.as_s();
        let drawn = waits[DRAWS / 2];
        assert!((drawn - median).abs() <= 0.005 + 4.0 * 0.003 * spread, "median {drawn}, told {median}");
        let most = waits[DRAWS - 1];
        assert!((most / longest - 1.0).abs() <= 0.03, "longest {most}, told {longest}");
        assert!(waits[0] < 0.02 * spread, "shortest {}", waits[0]);
    }
}

/// Polly's MaxDelay cuts the wait, and the next one is as if it had not: the curve goes on.
#[test]
fn a_cap_does_not_bend_the_curve() {
    let polly = |cap| {
        Schedule::new(Backoff::DecorrelatedV2 { base: Span::from_s(2) }, cap, CapOrder::AfterJitter, Jitter::None)
    };
    let (free, capped) = (waits_ms(&polly(UNCAPPED), 8), waits_ms(&polly(Span::from_s(5)), 8));
    let cut: Vec<f64> = free.iter().map(|wait| wait.min(5_000.0)).collect();
    assert_eq!(capped, cut);
    assert!(free.iter().any(|wait| *wait > 5_000.0), "{free:?}");
}

/// Where the curve leaves virtual time each wait is as long as can be: not the zero between two that are cut alike.
#[test]
fn the_curve_has_no_end() {
    let polly =
        Schedule::new(Backoff::DecorrelatedV2 { base: Span::from_s(2) }, UNCAPPED, CapOrder::AfterJitter, Jitter::None);
    let mut mark = Span::ZERO;
    for retry in 1..=2_000 {
        let drawn = polly.draw(retry, mark, mix(5, u64::from(retry)));
        mark = drawn.mark;
        assert!(retry < 40 || drawn.wait == Span::LIMIT, "retry {retry}: {drawn:?}");
    }
    let late = polly.ranges().nth(1_999).expect("there is always another");
    assert_eq!((late.shortest, late.longest), (Span::LIMIT, Span::LIMIT));
    let none =
        Schedule::new(Backoff::DecorrelatedV2 { base: Span::ZERO }, UNCAPPED, CapOrder::AfterJitter, Jitter::None);
    assert_eq!(none.draw(2_000, Span::ZERO, 1).wait, Span::ZERO);
}

/// A call does not go on where another that had the same frame has ended.
#[test]
fn the_first_wait_begins_anew() {
    let walks = [Backoff::DecorrelatedV2 { base: ms(100) }, Backoff::Decorrelated { base: ms(100), factor: 3.0 }];
    for backoff in walks {
        for immediate in [0, 2] {
            let refinement = Refinement { immediate, ..Refinement::NONE };
            let schedule =
                Schedule::refined(backoff.clone(), UNCAPPED, CapOrder::AfterJitter, Jitter::None, refinement);
            let drawn = [Span::ZERO, Span::from_s(9)].map(|stale| schedule.draw(immediate + 1, stale, 7));
            assert_eq!(drawn[0], drawn[1]);
            assert!(drawn[0].wait > Span::ZERO);
        }
    }
}
