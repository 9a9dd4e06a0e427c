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

    /// The value that a share `p` of the samples, from 0 to below 1, is not above.
    pub fn quantile(&self, p: f64) -> Span {
        match self {
            Self::Constant(span) => *span,
            Self::Exponential { mean } => Span::from_ns_f64(mean.as_ns() as f64 * -libm::log1p(-p)),
            Self::Lognormal { median, sigma } => {
                Span::from_ns_f64(median.as_ns() as f64 * libm::exp(sigma * normal::quantile(p)))
            }
            Self::Uniform { min, values, step } => {
                let steps = (*values as f64 * p).floor().min((*values - 1) as f64);
                *min + Span::from_ns(step.as_ns().saturating_mul(steps as u64))
            }
            Self::Percentiles(points) => interpolate(points, p),
            Self::Samples(samples) => {
                let mut sorted = samples.clone();
                sorted.sort_unstable();
                // The smallest at or below which a share p lies.
                let rank = (p * sorted.len() as f64).ceil().max(1.0) as usize;
                sorted[rank.min(sorted.len()) - 1]
            }
        }
    }
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
}
