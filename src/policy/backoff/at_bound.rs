//! What becomes of jitter at the cap and at the floor.

use crate::policy::backoff::curve;
use crate::policy::backoff::jitter::{Around, Window};
use crate::policy::{Backoff, CapOrder, Jitter, Schedule};
use crate::time::Span;

/// From so many places along the curve the share of steps is reckoned that reach the cap.
const PLACES: u32 = 64;

/// So often a part of the curve is halved to find where it passes the cap: to a millionth of a retry.
const HALVINGS: u32 = 20;

impl Schedule {
    /// The share of the waits before retry `retry` (1 is the first) that are exactly the cap, because it cuts off what
    /// jitter has made of them.
    ///
    /// None where nothing is cut off: the cap comes before the jitter, or there is none of either. And none for a
    /// decorrelated walk, where the share depends on all waits before.
    pub fn share_at_cap(&self, retry: u32) -> Option<f64> {
        if self.cap >= Span::LIMIT || retry <= self.refinement.immediate {
            return None;
        }
        match self.backoff {
            Backoff::Decorrelated { .. } => None,
            Backoff::DecorrelatedV2 { base } => Some(self.share_of_steps_at_cap(base, retry)),
            _ if self.cap_order == CapOrder::BeforeJitter || self.jitter == Jitter::None => None,
            _ => Some(self.share_cut_off(self.nominal(retry))),
        }
    }

    /// Whether jitter around the wait before this retry lies below the floor: all waits are exactly that.
    pub fn is_lost_at_floor(&self, retry: u32) -> bool {
        if self.remembers() || retry <= self.refinement.immediate {
            return false;
        }
        match self.jitter.around(self.nominal(retry)) {
            Around::Window(window) => !window.is_point() && window.high <= self.refinement.floor,
            Around::Added(_) => false,
        }
    }

    fn share_cut_off(&self, nominal: Span) -> f64 {
        let cap = self.cut_down(self.cap);
        match self.jitter.around(nominal) {
            Around::Window(window) => {
                let Window { low, high } = self.narrowed(window);
                let [low, high, cap] = [low, high, cap].map(|span| span.as_ns() as f64);
                // Of a window of whole nanoseconds, which does not contain its end.
                if cap <= low { 1.0 } else { ((high - cap) / (high - low)).max(0.0) }
            }
            Around::Added(dist) => {
                let least = nominal.max(self.refinement.floor);
                // What just reaches the cap is exactly the cap as well.
                if least < cap { dist.share_above(cap - least - Span::from_ns(1)) } else { 1.0 }
            }
        }
    }

    fn share_of_steps_at_cap(&self, base: Span, retry: u32) -> f64 {
        let cap = self.cut_down(self.cap);
        let t = f64::from(retry - 1);
        let share_from = |previous: Span| {
            let reaches = |t: f64| curve::between(previous, curve::at(base, t)) >= cap;
            let (mut below, mut above) = (t, t + 1.0);
            if reaches(below) {
                return 1.0;
            }
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(below, above);
                if reaches(middle) { above = middle } else { below = middle }
            }
            t + 1.0 - above
        };
        if retry == self.refinement.immediate + 1 {
            return share_from(Span::ZERO);
        }
        let place = |index: u32| curve::at(base, t - 1.0 + (f64::from(index) + 0.5) / f64::from(PLACES));
        (0..PLACES).map(|index| share_from(place(index))).sum::<f64>() / f64::from(PLACES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{Dist, mix};
    use crate::policy::{Backoff, Refinement};

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn doubling(cap: Span, order: CapOrder, jitter: Jitter) -> Schedule {
        Schedule::new(Backoff::Exponential { base: ms(500), factor: 2.0 }, cap, order, jitter)
    }

    /// Base 500 ms, factor 2, +-50 %, cap 5 s after the jitter. The windows are [2 s, 6 s) before retry 4: a quarter is
    /// above 5 s; [4 s, 12 s): seven eighths; [8 s, 24 s): all. (Resilience4j's rule.)
    #[test]
    fn the_share_at_the_cap_grows_to_all() {
        let schedule = doubling(ms(5_000), CapOrder::AfterJitter, Jitter::Spread(0.5));
        let shares = [1, 3, 4, 5, 6, 7, u32::MAX].map(|retry| schedule.share_at_cap(retry).unwrap());
        assert_eq!(shares, [0.0, 0.0, 0.25, 0.875, 1.0, 1.0, 1.0]);
    }

    /// Capped before, too, the window is around the cap, [2.5 s, 7.5 s): half of it is above. What lies below the cap
    /// is not cut off, and what is added to it is all.
    #[test]
    fn capped_twice_half_is_at_the_cap() {
        let share = |jitter| doubling(ms(5_000), CapOrder::Both, jitter).share_at_cap(60);
        assert_eq!(share(Jitter::Spread(0.5)), Some(0.5));
        assert_eq!(share(Jitter::Full), Some(0.0));
        assert_eq!(share(Jitter::Equal), Some(0.0));
        let add = Dist::Uniform { min: Span::ZERO, values: 100, step: ms(1) };
        assert_eq!(share(Jitter::Add(add)), Some(1.0));
        assert_eq!(share(Jitter::None), None);
    }

    #[test]
    fn where_nothing_is_cut_off_there_is_no_share() {
        let spread = Jitter::Spread(0.5);
        assert_eq!(doubling(ms(5_000), CapOrder::BeforeJitter, spread.clone()).share_at_cap(60), None);
        assert_eq!(doubling(Span::UNLIMITED, CapOrder::AfterJitter, spread).share_at_cap(60), None);
        let walk = Backoff::Decorrelated { base: ms(500), factor: 3.0 };
        let walk = Schedule::new(walk, ms(5_000), CapOrder::AfterJitter, Jitter::None);
        assert_eq!(walk.share_at_cap(60), None);
        // A retry at once has no cap.
        let refinement = Refinement { immediate: 9, ..Refinement::NONE };
        let jitter = Jitter::Spread(0.5);
        let backoff = Backoff::Fixed(ms(9_000));
        let late = Schedule::refined(backoff, ms(4_500), CapOrder::AfterJitter, jitter, refinement);
        assert_eq!([9, 10].map(|retry| late.share_at_cap(retry)), [None, Some(1.0)]);
    }

    /// Polly's MaxDelay clamps: with a delay of 2 s and at most 5 s, steps of about 8 and 16 s are nearly all cut.
    #[test]
    fn steps_along_the_curve_are_cut_off_like_others() {
        const CALLS: u64 = 40_000;
        let backoff = Backoff::DecorrelatedV2 { base: ms(2_000) };
        let polly = Schedule::new(backoff, ms(5_000), CapOrder::AfterJitter, Jitter::None);
        let mut at_cap = [0_u64; 6];
        for call in 0..CALLS {
            let mut mark = Span::ZERO;
            for retry in 1..=6 {
                let drawn = polly.draw(retry, mark, mix(mix(12, call), u64::from(retry)));
                mark = drawn.mark;
                at_cap[retry as usize - 1] += u64::from(drawn.wait == ms(5_000));
            }
        }
        for (retry, count) in (1..).zip(at_cap) {
            let (share, drawn) = (polly.share_at_cap(retry).unwrap(), count as f64 / CALLS as f64);
            assert!((drawn - share).abs() <= 0.01, "{retry}: {drawn} {share}");
        }
        assert_eq!(at_cap[0], 0, "the first step is 2.75 s at most");
        assert!(at_cap[5] as f64 > 0.9 * CALLS as f64, "{at_cap:?}");
    }

    /// Before the fourth retry the wait is at the cap, and jitter that adds is all above it: narrowed to nothing.
    #[test]
    fn a_window_above_the_cap_is_narrowed_to_the_cap() {
        let narrow = |jitter| doubling(ms(4_000), CapOrder::Narrow, jitter);
        let shares = |schedule: Schedule| [1, 3, 4, 5].map(|retry| schedule.share_at_cap(retry).unwrap());
        assert_eq!(shares(narrow(Jitter::Upward(0.5))), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(shares(narrow(Jitter::Spread(0.5))), [0.0; 4]);
    }

    /// Full jitter is all below a floor of 1 s before the first two retries, of 500 ms and 1 s, and not before others.
    #[test]
    fn a_window_below_the_floor_is_raised_to_it() {
        let floored = |jitter| {
            let refinement = Refinement { floor: ms(1_000), ..Refinement::NONE };
            let backoff = Backoff::Exponential { base: ms(500), factor: 2.0 };
            Schedule::refined(backoff, ms(9_000), CapOrder::BeforeJitter, jitter, refinement)
        };
        let lost = |jitter| {
            let schedule = floored(jitter);
            [1, 2, 3].map(|retry| schedule.is_lost_at_floor(retry))
        };
        assert_eq!(lost(Jitter::Full), [true, true, false]);
        assert_eq!(lost(Jitter::None), [false; 3], "there is none to lose");
        let full = floored(Jitter::Full);
        assert!((0..1_000).all(|n| full.wait(2, Span::ZERO, mix(13, n)) == ms(1_000)));
        assert!((0..1_000).any(|n| full.wait(3, Span::ZERO, mix(13, n)) > ms(1_900)));
    }

    /// As many draws are at the cap as it says, to four standard errors of 40,000 draws (1 %).
    #[test]
    fn draws_agree_with_the_share() {
        const DRAWS: u32 = 40_000;
        let adds = [
            Dist::Exponential { mean: ms(800) },
            Dist::lognormal(ms(700), ms(3_000)),
            Dist::Uniform { min: ms(200), values: 9, step: ms(200) },
            Dist::Percentiles(vec![(0.5, ms(600)), (0.9, ms(2_000))]),
            Dist::Samples([100, 900, 1_000, 1_100].map(ms).to_vec()),
        ];
        let jitters = [Jitter::Full, Jitter::Equal, Jitter::Spread(0.3)].into_iter().chain(adds.map(Jitter::Add));
        for jitter in jitters {
            for order in [CapOrder::AfterJitter, CapOrder::Both] {
                let schedule = doubling(ms(1_500), order, jitter.clone());
                for retry in 1..=3 {
                    let wait = |draw| schedule.wait(retry, Span::ZERO, mix(11, u64::from(draw)));
                    let drawn = (0..DRAWS).filter(|&draw| wait(draw) == ms(1_500)).count() as f64 / f64::from(DRAWS);
                    let share = schedule.share_at_cap(retry).unwrap();
                    assert!((drawn - share).abs() <= 0.01, "{schedule:?} {retry}: {drawn} {share}");
                }
            }
        }
    }
}
