//! Between which bounds waits lie, and what they are in the mean: what can be known of a schedule without a draw.

use crate::dist::Dist;
use crate::policy::backoff::curve;
use crate::policy::backoff::jitter::{Around, Window};
use crate::policy::{Backoff, CapOrder, Jitter, Schedule};
use crate::time::Span;

/// The wait before one retry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitRange {
    /// The shortest.
    pub shortest: Span,
    /// The longest; [`Span::UNLIMITED`] where the jitter has no upper bound.
    pub longest: Span,
    /// The mean, in ns; none where it has no simple form: a cap on what a distribution adds or on a walk, waits cut
    /// down of any but a window.
    pub mean_ns: Option<f64>,
}

impl WaitRange {
    /// Always the same.
    fn only(wait: Span) -> Self {
        Self { shortest: wait, longest: wait, mean_ns: Some(wait.as_ns() as f64) }
    }

    /// The waits of which each is in one of these two ranges.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let (shortest, longest) = (self.shortest.min(other.shortest), self.longest.max(other.longest));
        Self { shortest, longest, mean_ns: None }
    }
}

impl Schedule {
    /// The waits before retries 1, 2, ...: there is always another.
    pub fn ranges(&self) -> impl Iterator<Item = WaitRange> {
        let mut walk = match self.backoff {
            Backoff::Decorrelated { base, factor } => Some(Walk::new(base, factor)),
            _ => None,
        };
        (1..=u32::MAX).map(move |retry| match (&self.backoff, &mut walk) {
            _ if retry <= self.refinement.immediate => WaitRange::only(Span::ZERO),
            (_, Some(walk)) => walk.step(self),
            (&Backoff::DecorrelatedV2 { base }, _) => self.step_along(base, retry),
            _ => self.around(self.nominal(retry)),
        })
    }

    /// Whether every wait is uniform over its range: nothing is added by another distribution, remembered, cut off, or
    /// cut down.
    pub fn is_uniform(&self) -> bool {
        let is_cut_off = match self.cap_order {
            CapOrder::BeforeJitter => false,
            CapOrder::AfterJitter | CapOrder::Both => true,
            CapOrder::Narrow => matches!(self.jitter, Jitter::Add(_)),
        };
        let is_cut_off = is_cut_off && self.cap < Span::LIMIT;
        let is_cut = self.jitter != Jitter::None && (is_cut_off || self.is_cut_down());
        let adds_other = match &self.jitter {
            Jitter::Add(Dist::Constant(_)) => false,
            Jitter::Add(Dist::Uniform { step, .. }) => *step > Span::from_ns(1),
            Jitter::Add(_) => true,
            _ => false,
        };
        !is_cut && !self.remembers() && !adds_other
    }

    /// Whether waits are cut down to whole multiples of more than the tick of the clock.
    pub(super) fn is_cut_down(&self) -> bool {
        self.refinement.granularity > Span::from_ns(1)
    }

    /// The cap, where it comes last.
    fn last_cap(&self) -> Span {
        if self.is_capped_last() { self.cap } else { Span::UNLIMITED }
    }

    fn around(&self, nominal: Span) -> WaitRange {
        match self.jitter.around(nominal) {
            Around::Window(window) => self.within(self.narrowed(window)),
            Around::Added(dist) => self.added(nominal.max(self.refinement.floor), dist),
        }
    }

    /// Of what is drawn from a window.
    fn within(&self, window: Window) -> WaitRange {
        let (Window { low, high }, cap) = (window, self.last_cap());
        if window.is_point() {
            return WaitRange::only(self.cut_down(low.min(cap)));
        }
        if self.is_cut_down() {
            // The window does not contain its end.
            let longest = self.cut_down((high - Span::from_ns(1)).min(cap));
            let mean_ns = Some(self.mean_cut_down(window, cap));
            return WaitRange { shortest: self.cut_down(low.min(cap)), longest, mean_ns };
        }
        let (shortest, longest) = (low.min(cap), high.min(cap));
        let [low, high, cap] = [low, high, cap].map(|span| span.as_ns() as f64);
        let mean_ns = match cap {
            cap if cap >= high => (low + high) / 2.0,
            cap if cap <= low => cap,
            // Uniform up to the cap, and what is above it is there.
            cap => ((cap * cap - low * low) / 2.0 + cap * (high - cap)) / (high - low),
        };
        WaitRange { shortest, longest, mean_ns: Some(mean_ns) }
    }

    /// The mean of what is drawn from a window, capped and cut down, in ns.
    fn mean_cut_down(&self, Window { low, high }: Window, cap: Span) -> f64 {
        let step = u128::from(self.refinement.granularity.as_ns());
        // The sum of all whole numbers below this one when each is cut down.
        let sum_below = |end: Span| {
            let (whole, rest) = (u128::from(end.as_ns()) / step, u128::from(end.as_ns()) % step);
            step * (step * (whole * whole.saturating_sub(1) / 2) + whole * rest)
        };
        let capped_from = high.min(cap.max(low));
        let at_cap = u128::from((high - capped_from).as_ns()) * u128::from(self.cut_down(cap).as_ns());
        (sum_below(capped_from) - sum_below(low) + at_cap) as f64 / (high - low).as_ns() as f64
    }

    /// Of a wait to which a sample is added.
    fn added(&self, wait: Span, dist: &Dist) -> WaitRange {
        let (shortest, longest) = self.jitter.bounds(wait);
        let cap = self.last_cap();
        let mean_ns = match cap {
            cap if cap >= longest => Some(wait.as_ns() as f64 + dist.mean_ns()),
            cap if cap <= shortest => Some(cap.as_ns() as f64),
            _ => None,
        };
        let (shortest, longest) = (shortest.min(cap), longest.min(cap));
        if !self.is_cut_down() {
            return WaitRange { shortest, longest, mean_ns };
        }
        if shortest == longest {
            return WaitRange::only(self.cut_down(longest));
        }
        let longest = if longest < Span::UNLIMITED { self.cut_down(longest) } else { longest };
        WaitRange { shortest: self.cut_down(shortest), longest, mean_ns: None }
    }

    /// Of a step along the curve, from anywhere that the last one may have led to.
    fn step_along(&self, base: Span, retry: u32) -> WaitRange {
        let cap = self.cap.min(Span::LIMIT);
        let t = f64::from(retry - 1);
        let (nearest, farthest) = (curve::at(base, t), curve::at(base, t + 1.0));
        if nearest == Span::LIMIT || base == Span::ZERO {
            return WaitRange::only(self.cut_down(nearest.min(cap)));
        }
        let is_first = retry == self.refinement.immediate + 1;
        let from = |t: f64| if is_first { Span::ZERO } else { curve::at(base, t) };
        // By so much two positions may be off that a floating-point number tells.
        let off = Span::from_ns(1 + (farthest.as_ns() >> 50));
        let shortest = Span::from_ns(nearest.as_ns().saturating_sub((from(t) + off).as_ns()));
        let longest = curve::between(from(t - 1.0), farthest);
        let longest = if longest < Span::LIMIT { longest + off } else { longest };
        let is_uncut = longest <= cap && longest < Span::LIMIT && !self.is_cut_down();
        let mean_ns = is_uncut.then(|| {
            let before_ns = if is_first { 0.0 } else { curve::mean_ns(base, t - 1.0) };
            curve::mean_ns(base, t) - before_ns
        });
        WaitRange { shortest: self.cut_down(shortest.min(cap)), longest: self.cut_down(longest.min(cap)), mean_ns }
    }
}

/// A decorrelated walk: each wait is `U(base, factor * previous)`, capped, and the first comes after the base.
struct Walk {
    base: Span,
    factor: f64,
    /// The longest that the last wait can have been.
    longest: Span,
    /// The mean of the last wait, in ns, as long as nothing has been cut off or down.
    mean_ns: Option<f64>,
}

impl Walk {
    fn new(base: Span, factor: f64) -> Self {
        Self { base, factor, longest: base, mean_ns: Some(base.as_ns() as f64) }
    }

    fn step(&mut self, schedule: &Schedule) -> WaitRange {
        let Self { base, factor, .. } = *self;
        let cap = schedule.cap;
        if base >= cap {
            return WaitRange::only(schedule.cut_down(cap));
        }
        let reach = Span::from_ns_f64(self.longest.as_ns() as f64 * factor).max(base);
        self.longest = schedule.cut_down(reach.min(cap));
        // Half of what lies between: the mean of a uniform is linear in its ends, until the cap cuts some off.
        let is_uncut = reach <= cap && !schedule.is_cut_down();
        let mean_ns = self.mean_ns.filter(|_| is_uncut);
        self.mean_ns = mean_ns.map(|mean| f64::midpoint(base.as_ns() as f64, factor * mean));
        WaitRange { shortest: schedule.cut_down(base), longest: self.longest, mean_ns: self.mean_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::mix;
    use crate::policy::Refinement;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn doubling(base_ms: u64) -> Backoff {
        Backoff::Exponential { base: ms(base_ms), factor: 2.0 }
    }

    fn schedules() -> Vec<Schedule> {
        let add = Dist::Uniform { min: ms(5), values: 40_000_000, step: Span::from_ns(1) };
        let window = [Jitter::None, Jitter::Full, Jitter::Equal, Jitter::Spread(0.5), Jitter::Upward(0.8)];
        let jitters: Vec<Jitter> = window.into_iter().chain([Jitter::Add(add)]).collect();
        let orders = [CapOrder::BeforeJitter, CapOrder::AfterJitter, CapOrder::Both, CapOrder::Narrow];
        let refinements = [
            Refinement::NONE,
            Refinement { immediate: 1, ..Refinement::NONE },
            // In the middle of the second window of full jitter, and at the end of the first.
            Refinement { floor: ms(100), ..Refinement::NONE },
            // Not all of them divide the waits.
            Refinement { granularity: ms(15), ..Refinement::NONE },
            Refinement { immediate: 2, floor: ms(100), granularity: ms(50) },
        ];
        let mut all = Vec::new();
        for refinement in refinements {
            let combined = orders.iter().flat_map(|order| jitters.iter().map(move |jitter| (*order, jitter.clone())));
            all.extend(
                combined.map(|(order, jitter)| Schedule::refined(doubling(100), ms(700), order, jitter, refinement)),
            );
            for cap in [ms(450), ms(2_000), Span::UNLIMITED] {
                let walk = Backoff::Decorrelated { base: ms(100), factor: 3.0 };
                let curve = Backoff::DecorrelatedV2 { base: ms(100) };
                all.extend(
                    [(walk.clone(), CapOrder::Narrow), (walk, CapOrder::BeforeJitter), (curve, CapOrder::Both)]
                        .map(|(backoff, order)| Schedule::refined(backoff, cap, order, Jitter::None, refinement)),
                );
            }
        }
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
                let mut mark = Span::ZERO;
                for retry in 1..=5 {
                    let drawn = schedule.draw(retry, mark, mix(draw, u64::from(retry)));
                    mark = drawn.mark;
                    let (wait, at) = (drawn.wait, retry as usize - 1);
                    sums[at] += wait.as_ns() as f64;
                    (least[at], most[at]) = (least[at].min(wait), most[at].max(wait));
                }
            }
            for (at, range) in ranges.iter().enumerate() {
                assert!(range.shortest <= least[at] && most[at] <= range.longest, "{schedule:?} {at}: {range:?}");
                let width = (range.longest - range.shortest).as_ns() as f64;
                let low = (least[at] - range.shortest).as_ns() as f64;
                // A walk rarely comes to where each of its steps is the longest, and a curve is flat at its bounds.
                let is_walk = schedule.remembers();
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
