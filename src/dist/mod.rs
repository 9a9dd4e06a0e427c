//! Distributions of durations, sampled by key.
//!
//! A distribution scales a standard variate that the key alone decides, so that two variants that differ in a
//! mean meet the same luck. All are sampled by inversion, with the logarithms and exponentials of `libm`: the same bits
//! on every platform. (Samplers of other crates may use those of the system, depending on features that any dependency
//! can turn on.)

mod keys;
mod normal;
mod quantiles;
mod stream;

pub use keys::{
    KeyedRng, Purpose, attempt_key, below, call_key, client_key, draw, happens, mix, name_key, probability,
    replica_key, request_key, unit,
};
pub use stream::UnitPoisson;

use crate::time::Span;

/// A distribution of durations. Samples are whole nanoseconds between zero and [`Span::LIMIT`].
#[derive(Clone, Debug, PartialEq)]
pub enum Dist {
    /// Always the same.
    Constant(Span),
    /// Exponential: memoryless, the service times of M/M/c queues.
    Exponential {
        /// Mean.
        mean: Span,
    },
    /// Lognormal: `exp(N(mu, sigma^2))`, a usual fit to latencies. From median and 99th percentile:
    /// `mu = ln median`, `sigma = ln(p99 / median) / 2.3263` (the normal distribution's 99 % quantile).
    Lognormal {
        /// Median.
        median: Span,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Uniform over `min`, `min + step`, ... below `max`.
    Uniform {
        /// The smallest value.
        min: Span,
        /// How many values there are; at least one.
        values: u64,
        /// The distance between them; 1 ns unless the scenario says otherwise.
        step: Span,
    },
    /// Given by quantiles: linear in the quantile between the points, starting from zero at 0 and flat above the last.
    Percentiles(
        /// `(quantile in (0, 1), value)`, both ascending; at least one point.
        Vec<(f64, Span)>,
    ),
    /// Each of these with equal probability.
    Samples(
        /// At least one.
        Vec<Span>,
    ),
}

/// 99 % quantile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_841;

/// Half the distance between two neighbouring results of [`unit()`]: 2^-54.
const HALF_STEP: f64 = 0.5 / (1u64 << 53) as f64;

impl Dist {
    /// Zero, always.
    pub const ZERO: Self = Self::Constant(Span::ZERO);

    /// The lognormal distribution with this median and 99th percentile; `p99` is not below `median`, which is above
    /// zero.
    pub fn lognormal(median: Span, p99: Span) -> Self {
        Self::Lognormal { median, sigma: libm::log(p99.as_ns() as f64 / median.as_ns() as f64) / NORMAL_P99 }
    }

    /// Whether it is the constant zero: a phase that does not exist.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Constant(Span::ZERO))
    }

    /// The mean, in ns.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Self::Constant(span) => span.as_ns() as f64,
            Self::Exponential { mean } => mean.as_ns() as f64,
            Self::Lognormal { median, sigma } => median.as_ns() as f64 * libm::exp(sigma * sigma / 2.0),
            Self::Uniform { min, values, step } => {
                min.as_ns() as f64 + step.as_ns() as f64 * (*values - 1) as f64 / 2.0
            }
            Self::Percentiles(points) => mean_of_percentiles(points),
            Self::Samples(samples) => {
                samples.iter().map(|span| span.as_ns() as f64).sum::<f64>() / samples.len() as f64
            }
        }
    }

    /// The sample of `key` for `purpose`.
    #[inline]
    pub fn sample(&self, key: u64, purpose: Purpose) -> Span {
        match self {
            // Not even a draw: constant times are what most scenarios have.
            Self::Constant(span) => *span,
            other => other.sample_random(key, purpose),
        }
    }

    fn sample_random(&self, key: u64, purpose: Purpose) -> Span {
        match self {
            Self::Constant(span) => *span,
            Self::Exponential { mean } => Span::from_ns_f64(mean.as_ns() as f64 * exponential(draw(key, purpose))),
            Self::Lognormal { median, sigma } => {
                // Half a step up, so that the probability is never 0.
                let p = unit(draw(key, purpose)) + HALF_STEP;
                Span::from_ns_f64(median.as_ns() as f64 * libm::exp(sigma * normal::quantile(p)))
            }
            Self::Uniform { min, values, step } => {
                *min + Span::from_ns(step.as_ns() * below(draw(key, purpose), *values))
            }
            Self::Percentiles(points) => interpolate(points, unit(draw(key, purpose))),
            Self::Samples(samples) => samples[below(draw(key, purpose), samples.len() as u64) as usize],
        }
    }
}

/// An exponential variate with the mean 1, by inversion. Never infinite: the draw as a number is below 1.
fn exponential(draw: u64) -> f64 {
    -libm::log1p(-unit(draw))
}

fn interpolate(points: &[(f64, Span)], quantile: f64) -> Span {
    let next = points.partition_point(|&(q, _)| q <= quantile);
    let (q0, v0) = if next == 0 { (0.0, 0.0) } else { (points[next - 1].0, points[next - 1].1.as_ns() as f64) };
    match points.get(next) {
        Some(&(q1, v1)) => Span::from_ns_f64(v0 + (v1.as_ns() as f64 - v0) * (quantile - q0) / (q1 - q0)),
        None => points[next - 1].1,
    }
}

/// The area under the quantile function: trapezia between the points, a rectangle after the last.
fn mean_of_percentiles(points: &[(f64, Span)]) -> f64 {
    let (mut mean, mut last) = (0.0, (0.0, 0.0));
    for &(quantile, value) in points {
        let value = value.as_ns() as f64;
        mean += (quantile - last.0) * (value + last.1) / 2.0;
        last = (quantile, value);
    }
    mean + (1.0 - last.0) * last.1
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u64 = 200_000;
    const PINS: [[u64; 3]; 3] =
        [[2_043_353, 1_589_713, 172_282], [10_751_388, 9_676_224, 4_619_672], [2_663_299, 2_322_812, 1_153_726]];

    fn samples(dist: &Dist) -> Vec<f64> {
        let mut samples: Vec<f64> = (0..N).map(|n| dist.sample(mix(7, n), Purpose::Service).as_ms()).collect();
        samples.sort_by(f64::total_cmp);
        samples
    }

    fn mean(samples: &[f64]) -> f64 {
        samples.iter().sum::<f64>() / samples.len() as f64
    }

    fn quantile(sorted: &[f64], q: f64) -> f64 {
        sorted[(q * sorted.len() as f64) as usize]
    }

    /// Mean 10 ms with a standard deviation of 10 / sqrt(200,000) = 0.022 ms for the estimate; P(T > 23.03 ms) = 10 %.
    #[test]
    fn exponential_has_its_mean_and_its_tail() {
        let samples = samples(&Dist::Exponential { mean: Span::from_ms(10) });
        assert!((mean(&samples) - 10.0).abs() < 0.1, "{}", mean(&samples));
        assert!((quantile(&samples, 0.9) - 23.026).abs() < 0.3, "{}", quantile(&samples, 0.9));
    }

    #[test]
    fn lognormal_meets_the_two_points_that_define_it() {
        let samples = samples(&Dist::lognormal(Span::from_ms(20), Span::from_ms(100)));
        assert!((quantile(&samples, 0.5) / 20.0 - 1.0).abs() < 0.01, "{}", quantile(&samples, 0.5));
        assert!((quantile(&samples, 0.99) / 100.0 - 1.0).abs() < 0.03, "{}", quantile(&samples, 0.99));
    }

    #[test]
    fn uniform_in_steps_takes_every_value_and_excludes_the_maximum() {
        let dist = Dist::Uniform { min: Span::from_ms(2), values: 3, step: Span::from_ms(1) };
        let mut values: Vec<u64> =
            (0..1000).map(|n| dist.sample(mix(1, n), Purpose::Service).as_ns() / 1_000_000).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values, [2, 3, 4]);
    }

    #[test]
    fn percentiles_are_linear_from_zero_and_flat_above_the_last() {
        let points = [(0.5, Span::from_ms(10)), (0.9, Span::from_ms(50))];
        assert_eq!(interpolate(&points, 0.0), Span::ZERO);
        assert_eq!(interpolate(&points, 0.25), Span::from_ms(5));
        assert_eq!(interpolate(&points, 0.5), Span::from_ms(10));
        assert_eq!(interpolate(&points, 0.7), Span::from_ms(30));
        assert_eq!(interpolate(&points, 0.9), Span::from_ms(50));
        assert_eq!(interpolate(&points, 0.999), Span::from_ms(50));
    }

    /// Part of what a seed means; the figures are those of a separate program (Python's `math.log1p` and
    /// `NormalDist().inv_cdf` on the same draws), rounded to whole ns.
    #[test]
    fn golden_pins() {
        let dists = [
            Dist::Exponential { mean: Span::from_ms(10) },
            Dist::lognormal(Span::from_ms(20), Span::from_ms(100)),
            Dist::Uniform { min: Span::from_ms(1), values: 9_000_000, step: Span::from_ns(1) },
        ];
        let samples = |dist: &Dist| [1, 2, 3].map(|n| dist.sample(mix(7, n), Purpose::Service).as_ns());
        assert_eq!(dists.each_ref().map(samples), PINS);
    }

    /// Common random numbers: the same key draws the same quantile, so that the larger mean is larger for every key.
    #[test]
    fn parameters_scale_one_variate() {
        let (one, two) = (Dist::Exponential { mean: Span::from_ms(10) }, Dist::Exponential { mean: Span::from_ms(20) });
        for n in 0..1000 {
            let (a, b) = (one.sample(mix(3, n), Purpose::Service), two.sample(mix(3, n), Purpose::Service));
            assert!(b.as_ns().abs_diff(2 * a.as_ns()) <= 1, "{a:?} {b:?}");
        }
    }
}
