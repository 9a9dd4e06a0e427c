//! What can be known of a distribution without a draw.

use crate::dist::{Dist, interpolate, normal};
use crate::time::Span;

impl Dist {
    /// The least and the largest sample; none where there is no largest but [`Span::LIMIT`].
    pub fn bounds(&self) -> (Span, Option<Span>) {
        match self {
            Self::Constant(span) => (*span, Some(*span)),
            Self::Exponential { mean } if *mean == Span::ZERO => (Span::ZERO, Some(Span::ZERO)),
            Self::Lognormal { median, sigma } if *sigma == 0.0 => (*median, Some(*median)),
            Self::Exponential { .. } | Self::Lognormal { .. } => (Span::ZERO, None),
            Self::Uniform { min, values, step } => {
                (*min, Some(*min + Span::from_ns(step.as_ns().saturating_mul(*values - 1))))
            }
            Self::Percentiles(points) => (Span::ZERO, points.last().map(|&(_, value)| value)),
            Self::Samples(samples) => (*samples.iter().min().expect("at least one"), samples.iter().max().copied()),
        }
    }

    /// The smallest value that a share `p` of the samples, from 0 to 1, is not above.
    pub fn quantile(&self, p: f64) -> Span {
        self.between(p, 1.0 - p)
    }

    /// The smallest value that no more than this share of the samples is above: exact also where the share is so small
    /// that the rest is 1 to a double. [`Span::LIMIT`] if nothing may be above it and there is no largest.
    pub fn quantile_above(&self, share: f64) -> Span {
        self.between(1.0 - share, share)
    }

    /// The value with these shares of the samples on its two sides: two numbers, because the smaller one is exact.
    fn between(&self, below: f64, above: f64) -> Span {
        let (least, most) = self.bounds();
        if below <= 0.0 {
            return least;
        }
        if above <= 0.0 {
            return most.unwrap_or(Span::LIMIT);
        }
        let is_low = below <= above;
        match self {
            Self::Constant(span) => *span,
            Self::Exponential { mean } => {
                let means = if is_low { -libm::log1p(-below) } else { -libm::log(above) };
                Span::from_ns_f64(mean.as_ns() as f64 * means)
            }
            Self::Lognormal { median, sigma } => {
                let deviations = if is_low { normal::quantile(below) } else { -normal::quantile(above) };
                Span::from_ns_f64(median.as_ns() as f64 * libm::exp(sigma * deviations))
            }
            Self::Uniform { min, values, step } => {
                *min + Span::from_ns(step.as_ns().saturating_mul(rank(below, above, *values) - 1))
            }
            Self::Percentiles(points) => interpolate(points, below),
            Self::Samples(samples) => {
                let mut sorted = samples.clone();
                sorted.sort_unstable();
                sorted[rank(below, above, sorted.len() as u64) as usize - 1]
            }
        }
    }

    /// The share of the samples that are above `span`.
    pub fn share_above(&self, span: Span) -> f64 {
        if span >= Span::LIMIT {
            return 0.0;
        }
        // What is rounded to whole nanoseconds is above them from here on.
        let from = span.as_ns() as f64 + 0.5;
        match self {
            Self::Constant(value) => f64::from(u8::from(*value > span)),
            Self::Exponential { mean } => libm::exp(-from / mean.as_ns() as f64),
            Self::Lognormal { median, sigma } => {
                let deviations = libm::log(from / median.as_ns() as f64) / sigma;
                libm::erfc(deviations / std::f64::consts::SQRT_2) / 2.0
            }
            Self::Uniform { min, .. } if span < *min => 1.0,
            Self::Uniform { min, values, step } => {
                let up_to = ((span - *min).as_ns() / step.as_ns()).saturating_add(1);
                values.saturating_sub(up_to) as f64 / *values as f64
            }
            Self::Percentiles(points) => above_points(points, from),
            Self::Samples(samples) => {
                samples.iter().filter(|&&sample| sample > span).count() as f64 / samples.len() as f64
            }
        }
    }
}

/// The place, from 1, of the smallest of so many values that has these shares of them at most on its two sides.
fn rank(below: f64, above: f64, values: u64) -> u64 {
    // A share such as 0.999 may be a little above or below what is written, which must not make it another value.
    const NEAR: f64 = 1e-12;
    let rank = if below <= above {
        (below * values as f64 * (1.0 - NEAR)).ceil() as u64
    } else {
        values - ((above * values as f64 * (1.0 + NEAR)) as u64).min(values)
    };
    rank.clamp(1, values)
}

/// The share that is at `from` or above it, in ns, of a distribution that is given by quantiles.
fn above_points(points: &[(f64, Span)], from: f64) -> f64 {
    let next = points.partition_point(|&(_, value)| (value.as_ns() as f64) < from);
    let Some(&(q1, v1)) = points.get(next) else { return 0.0 };
    let (q0, v0) = if next == 0 { (0.0, 0.0) } else { (points[next - 1].0, points[next - 1].1.as_ns() as f64) };
    1.0 - (q0 + (q1 - q0) * (from - v0) / (v1.as_ns() as f64 - v0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{Purpose, mix};

    fn dists() -> [Dist; 5] {
        let ms = Span::from_ms;
        [
            Dist::Exponential { mean: ms(10) },
            Dist::lognormal(ms(20), ms(100)),
            Dist::Uniform { min: ms(5), values: 9_000_000, step: Span::from_ns(1) },
            Dist::Percentiles(vec![(0.5, ms(10)), (0.9, ms(50)), (0.999, ms(80))]),
            Dist::Samples((1..=1_000).rev().map(ms).collect()),
        ]
    }

    /// Of 100,000 samples a share p is at or below the quantile: by a binomial standard deviation of 0.16 % at most.
    #[test]
    fn samples_are_below_a_quantile_as_often_as_it_says() {
        const N: u64 = 100_000;
        let ms = Span::from_ms;
        for dist in dists() {
            let (least, most) = dist.bounds();
            for p in [0.01, 0.25, 0.5, 0.9, 0.99] {
                let quantile = dist.quantile(p);
                let samples = (0..N).map(|n| dist.sample(mix(9, n), Purpose::Service));
                let below = samples.filter(|&sample| sample <= quantile).count() as f64 / N as f64;
                assert!((below - p).abs() < 0.008, "{dist:?} {p}: {quantile:?} {below}");
                assert!(least <= quantile && most.is_none_or(|most| quantile <= most), "{dist:?} {p}");
            }
        }
        assert_eq!(Dist::Constant(ms(7)).quantile(0.99), ms(7));
        assert_eq!(Dist::Constant(ms(7)).bounds(), (ms(7), Some(ms(7))));
    }

    /// Half of 10, 20, 30 and 40 ms is not above 20 ms, however they are given; of a thousand 99.9 % not above the last
    /// but one.
    #[test]
    fn a_whole_number_of_values_needs_no_other() {
        let ms = Span::from_ms;
        let four = Dist::Uniform { min: ms(10), values: 4, step: ms(10) };
        let same = Dist::Samples([40, 30, 20, 10].map(ms).to_vec());
        for dist in [four, same] {
            let quantiles = [0.0, 0.25, 0.5, 0.51, 0.75, 0.99].map(|p| dist.quantile(p));
            assert_eq!(quantiles, [10, 10, 20, 30, 30, 40].map(ms), "{dist:?}");
        }
        let thousand = Dist::Uniform { min: Span::ZERO, values: 1_000, step: ms(1) };
        assert_eq!([0.999, 1.0 - 0.001].map(|p| thousand.quantile(p)), [ms(998); 2]);
    }

    /// Exponential, mean 10 ms: 10 ms x ln(1e17) = 391.4395 ms. Lognormal: the normal quantile of 1e-17 is -8.493793
    /// (Python's `NormalDist`), so 20 ms x 5^(8.493793 / 2.326348) = 7.1295 s.
    #[test]
    fn a_share_that_a_double_cannot_take_from_one_has_a_quantile() {
        let near = |dist: Dist, s: f64| {
            let found = dist.quantile_above(1e-17).as_s();
            assert!((found / s - 1.0).abs() < 1e-5, "{dist:?}: {found}");
        };
        near(Dist::Exponential { mean: Span::from_ms(10) }, 0.391_439_5);
        near(Dist::lognormal(Span::from_ms(20), Span::from_ms(100)), 7.129_495);
        // Of 2^50 values a share of 1e-14 is eleven.
        let dist = Dist::Uniform { min: Span::ZERO, values: 1 << 50, step: Span::from_ns(1) };
        assert_eq!(dist.quantile_above(1e-14).as_ns(), (1 << 50) - 1 - 11);
    }

    #[test]
    fn nothing_and_all_have_quantiles() {
        let ends = |dist: &Dist| [dist.quantile(0.0), dist.quantile(1.0)];
        for dist in dists() {
            let (least, most) = dist.bounds();
            assert_eq!(ends(&dist), [least, most.unwrap_or(Span::LIMIT)], "{dist:?}");
            assert_eq!([1.0, 0.0].map(|share| dist.quantile_above(share)), ends(&dist), "{dist:?}");
        }
        assert_eq!(ends(&Dist::Exponential { mean: Span::ZERO }), [Span::ZERO; 2]);
        assert_eq!(ends(&Dist::lognormal(Span::from_ms(3), Span::from_ms(3))), [Span::from_ms(3); 2]);
    }

    /// Exponential, mean 10 ms: exp(-3) is above 30 ms. Lognormal, 20 and 100 ms: half and a hundredth. Uniform over
    /// 5 to 15 ms: 30 % is above 12 ms. Linear between 50 % at 10 ms and 90 % at 50 ms: 30 % above 30 ms.
    #[test]
    fn shares_above_are_told_exactly() {
        let ms = Span::from_ms;
        let near = |dist: &Dist, limit, share: f64| {
            let above = dist.share_above(limit);
            assert!((above - share).abs() < 1e-6, "{dist:?} above {limit:?}: {above}, not {share}");
        };
        near(&Dist::Exponential { mean: ms(10) }, ms(30), libm::exp(-3.0));
        let long = Dist::lognormal(ms(20), ms(100));
        near(&long, ms(20), 0.5);
        near(&long, ms(100), 0.01);
        near(&Dist::Uniform { min: ms(5), values: 10_000_000, step: Span::from_ns(1) }, ms(12), 0.3);
        let points = Dist::Percentiles(vec![(0.5, ms(10)), (0.9, ms(50))]);
        near(&points, ms(4), 0.8);
        near(&points, ms(30), 0.3);
        // The last 10 % are all at 50 ms.
        near(&points, Span::from_ns(49_999_999), 0.1);
        near(&points, ms(50), 0.0);
        near(&Dist::Samples([10, 20, 30, 40].map(ms).to_vec()), ms(20), 0.5);
        near(&Dist::Constant(ms(10)), ms(10), 0.0);
        near(&Dist::Constant(ms(10)), ms(9), 1.0);
        near(&Dist::Exponential { mean: Span::ZERO }, Span::ZERO, 0.0);
        let none = Dist::lognormal(ms(3), ms(3));
        assert_eq!([ms(2), ms(3)].map(|span| none.share_above(span)), [1.0, 0.0]);
        // Samples end at the limit, whatever the distribution.
        assert_eq!(Dist::Exponential { mean: Span::LIMIT }.share_above(Span::LIMIT), 0.0);
    }

    /// No more than the share is above the quantile for it, and more than that is above what is 1 ns less.
    #[test]
    fn shares_above_and_quantiles_are_inverse() {
        for dist in dists() {
            for share in [0.9, 0.5, 0.3, 0.01, 1e-9] {
                let quantile = dist.quantile_above(share);
                let at = dist.share_above(quantile);
                let before = dist.share_above(quantile - Span::from_ns(1));
                assert!(
                    at <= share * (1.0 + 1e-9) && share * (1.0 - 1e-9) <= before,
                    "{dist:?} {share}: {at} {before}"
                );
            }
        }
    }
}
