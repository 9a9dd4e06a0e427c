//! Between which bounds waits lie, and what they are in the mean: what can be known of a schedule without a draw.

use crate::dist::Dist;
use crate::policy::{Backoff, CapOrder, Jitter, Schedule};
use crate::time::Span;

/// The wait before one retry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitRange {
    /// The shortest.
    pub shortest: Span,
    /// The longest; [`Span::UNLIMITED`] where the jitter has no upper bound.
    pub longest: Span,
    /// The mean, in ns; none where it has no simple form: a cap on what a distribution adds, or on a decorrelated walk.
    pub mean_ns: Option<f64>,
}

impl Schedule {
    /// The waits before retries 1, 2, ...: there is always another.
    pub fn ranges(&self) -> impl Iterator<Item = WaitRange> {
        let mut walk = match self.backoff {
            Backoff::Decorrelated { base, factor } => Some(Walk::new(base, factor, self.cap)),
            _ => None,
        };
        (1..=u32::MAX).map(move |retry| match &mut walk {
            Some(walk) => walk.step(),
            None => self.capped(self.jitter.range(self.nominal(retry))),
        })
    }

    /// Whether every wait is uniform over its range: nothing is added by another distribution, walked, or cut off.
    pub fn is_uniform(&self) -> bool {
        let is_cut = self.cap_order != CapOrder::BeforeJitter && self.cap < Span::LIMIT && self.jitter != Jitter::None;
        let adds_other = match &self.jitter {
            Jitter::Add(Dist::Constant(_)) => false,
            Jitter::Add(Dist::Uniform { step, .. }) => *step > Span::from_ns(1),
            Jitter::Add(_) => true,
            _ => false,
        };
        !is_cut && !self.needs_previous() && !adds_other
    }

    /// A wait with jitter, capped if the cap comes after that.
    fn capped(&self, wait: WaitRange) -> WaitRange {
        if self.cap_order == CapOrder::BeforeJitter {
            return wait;
        }
        let cap = self.cap;
        let (low, high) = (wait.shortest.as_ns() as f64, wait.longest.as_ns() as f64);
        let is_uniform = !matches!(self.jitter, Jitter::Add(_));
        let mean_ns = match cap.as_ns() as f64 {
            cap if cap >= high => wait.mean_ns,
            cap if cap <= low => Some(cap),
            // Uniform up to the cap, and what is above it is there.
            cap if is_uniform => Some(((cap * cap - low * low) / 2.0 + cap * (high - cap)) / (high - low)),
            _ => None,
        };
        WaitRange { shortest: wait.shortest.min(cap), longest: wait.longest.min(cap), mean_ns }
    }
}

impl Jitter {
    /// What it makes of a nominal wait.
    fn range(&self, x: Span) -> WaitRange {
        let ns = x.as_ns() as f64;
        let uniform = |shortest: Span, longest: Span| {
            let mean_ns = Some((shortest.as_ns() as f64 + longest.as_ns() as f64) / 2.0);
            WaitRange { shortest, longest, mean_ns }
        };
        match self {
            Self::None => uniform(x, x),
            Self::Full => uniform(Span::ZERO, x),
            Self::Equal => uniform(Span::from_ns(x.as_ns() / 2), x),
            Self::Spread(share) => {
                let reach = Span::from_ns_f64(ns * share).min(x);
                uniform(x - reach, x + reach)
            }
            Self::Add(dist) => {
                let (least, most) = dist.bounds();
                let longest = most.map_or(Span::UNLIMITED, |most| x + most);
                WaitRange { shortest: x + least, longest, mean_ns: Some(ns + dist.mean_ns()) }
            }
        }
    }
}

/// A decorrelated walk: each wait is `U(base, factor * previous)`, capped, and the first comes after the base.
struct Walk {
    base: Span,
    factor: f64,
    cap: Span,
    /// The longest that the last wait can have been.
    longest: Span,
    /// The mean of the last wait, in ns, as long as the cap has cut nothing off.
    mean_ns: Option<f64>,
}

impl Walk {
    fn new(base: Span, factor: f64, cap: Span) -> Self {
        Self { base, factor, cap, longest: base, mean_ns: Some(base.as_ns() as f64) }
    }

    fn step(&mut self) -> WaitRange {
        let Self { base, factor, cap, .. } = *self;
        if base >= cap {
            return WaitRange { shortest: cap, longest: cap, mean_ns: Some(cap.as_ns() as f64) };
        }
        let reach = Span::from_ns_f64(self.longest.as_ns() as f64 * factor).max(base);
        self.longest = reach.min(cap);
        // Half of what lies between: the mean of a uniform is linear in its ends, until the cap cuts some off.
        let is_uncut = reach <= cap;
        let mean_ns = self.mean_ns.filter(|_| is_uncut);
        self.mean_ns = mean_ns.map(|mean| f64::midpoint(base.as_ns() as f64, factor * mean));
        WaitRange { shortest: base, longest: self.longest, mean_ns: self.mean_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::mix;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn doubling(base_ms: u64) -> Backoff {
        Backoff::Exponential { base: ms(base_ms), factor: 2.0 }
    }

    fn schedules() -> Vec<Schedule> {
        let add = Dist::Uniform { min: ms(5), values: 40_000_000, step: Span::from_ns(1) };
        let jitters = [Jitter::None, Jitter::Full, Jitter::Equal, Jitter::Spread(0.5), Jitter::Add(add)];
        let orders = [CapOrder::BeforeJitter, CapOrder::AfterJitter, CapOrder::Both];
        let mut all = Vec::new();
        for jitter in jitters {
            for order in orders {
                all.push(Schedule::new(doubling(100), ms(700), order, jitter.clone()));
            }
        }
        let walk = Backoff::Decorrelated { base: ms(100), factor: 3.0 };
        all.push(Schedule::new(walk, ms(2_000), CapOrder::BeforeJitter, Jitter::None));
        all
    }

    /// The waits that are drawn are never outside, come near to both ends, and have that mean: over 20,000 draws the
    /// standard error of a uniform over [0, x] is 0.2 % of x.
    #[test]
    fn drawn_waits_are_where_they_are_said_to_be() {
        const DRAWS: u64 = 20_000;
        for schedule in schedules() {
            let ranges: Vec<WaitRange> = schedule.ranges().take(5).collect();
            let mut sums = [0.0; 5];
            let (mut least, mut most) = ([Span::UNLIMITED; 5], [Span::ZERO; 5]);
            for draw in 0..DRAWS {
                let mut previous = Span::ZERO;
                for retry in 1..=5 {
                    let wait = schedule.wait(retry, previous, mix(draw, u64::from(retry)));
                    previous = wait;
                    let at = retry as usize - 1;
                    sums[at] += wait.as_ns() as f64;
                    (least[at], most[at]) = (least[at].min(wait), most[at].max(wait));
                }
            }
            for (at, range) in ranges.iter().enumerate() {
                assert!(range.shortest <= least[at] && most[at] <= range.longest, "{schedule:?} {at}: {range:?}");
                let width = (range.longest - range.shortest).as_ns() as f64;
                let low = (least[at] - range.shortest).as_ns() as f64;
                // The walk rarely comes to where each of its steps is the longest.
                let is_walk = schedule.needs_previous();
                assert!(is_walk || low <= width / 100.0, "{schedule:?} {at}: {range:?} {:?}", least[at]);
                let high = (range.longest - most[at]).as_ns() as f64;
                assert!(is_walk || high <= width / 100.0, "{schedule:?} {at}: {range:?} {:?}", most[at]);
                if let Some(mean) = range.mean_ns {
                    let drawn = sums[at] / DRAWS as f64;
                    assert!((drawn - mean).abs() <= (width / 100.0).max(1.0), "{schedule:?} {at}: {drawn} {mean}");
                }
            }
        }
    }

    /// Half of the draws from [100 ms, 300 ms) are above 200 ms: 150 ms in the one half, the cap in the other.
    #[test]
    fn a_cap_after_the_jitter_counts_in_the_mean() {
        let schedule = Schedule::new(Backoff::Fixed(ms(200)), ms(200), CapOrder::AfterJitter, Jitter::Spread(0.5));
        let range = schedule.ranges().next().expect("there is always another");
        assert_eq!((range.shortest, range.longest, range.mean_ns), (ms(100), ms(200), Some(175e6)));
    }

    #[test]
    fn what_has_no_upper_bound_says_so() {
        let jitter = Jitter::Add(Dist::Exponential { mean: ms(10) });
        let schedule = Schedule::new(Backoff::Fixed(ms(100)), Span::UNLIMITED, CapOrder::BeforeJitter, jitter);
        let range = schedule.ranges().next().expect("there is always another");
        assert_eq!((range.shortest, range.longest, range.mean_ns), (ms(100), Span::UNLIMITED, Some(110e6)));
    }
}
