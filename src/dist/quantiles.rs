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

    /// The smallest value that a share `p` of the samples, from 0 to below 1, is not above.
    pub fn quantile(&self, p: f64) -> Span {
        match self {
            Self::Constant(span) => *span,
            Self::Exponential { mean } => Span::from_ns_f64(mean.as_ns() as f64 * -libm::log1p(-p)),
            Self::Lognormal { median, sigma } => {
                Span::from_ns_f64(median.as_ns() as f64 * libm::exp(sigma * normal::quantile(p)))
            }
            Self::Uniform { min, values, step } => {
                *min + Span::from_ns(step.as_ns().saturating_mul(rank(p, *values) - 1))
            }
            Self::Percentiles(points) => interpolate(points, p),
            Self::Samples(samples) => {
                let mut sorted = samples.clone();
                sorted.sort_unstable();
                sorted[rank(p, sorted.len() as u64) as usize - 1]
            }
        }
    }
}

/// The place, from 1, of the smallest of so many values that a share `p` of them is not above.
fn rank(p: f64, values: u64) -> u64 {
    // A share such as 0.999 may be a little above what is written, which must not make it another value.
    let rank = (p * values as f64 * (1.0 - 1e-12)).ceil();
    (rank as u64).clamp(1, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{Purpose, mix};

    /// Of 100,000 samples a share p is at or below the quantile: by a binomial standard deviation of 0.16 % at most.
    #[test]
    fn samples_are_below_a_quantile_as_often_as_it_says() {
        const N: u64 = 100_000;
        let ms = Span::from_ms;
        let dists = [
            Dist::Exponential { mean: ms(10) },
            Dist::lognormal(ms(20), ms(100)),
            Dist::Uniform { min: ms(5), values: 9_000_000, step: Span::from_ns(1) },
            Dist::Percentiles(vec![(0.5, ms(10)), (0.9, ms(50)), (0.999, ms(80))]),
            Dist::Samples((1..=1_000).rev().map(ms).collect()),
        ];
        for dist in dists {
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
}
