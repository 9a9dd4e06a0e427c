//! Statistics over replicas.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::metrics::catalogue::Unit;

/// A metric over the replicas in which it is defined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stat {
    /// The unit.
    pub unit: &'static str,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Sample standard deviation; none of fewer than two values.
    pub sd: Option<f64>,
    /// 95 % confidence interval of the mean by Student's t distribution; none of fewer than two values.
    pub ci95: Option<[f64; 2]>,
    /// Smallest value.
    pub min: Option<f64>,
    /// 1st percentile, linear between order statistics (type 7 of Hyndman and Fan, 1996).
    pub p1: Option<f64>,
    /// Median, likewise.
    pub p50: Option<f64>,
    /// 99th percentile, likewise.
    pub p99: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// In how many replicas it is defined.
    pub n: u32,
}

impl Stat {
    /// Over the values of the replicas in their order; undefined ones are left out.
    pub fn over(unit: Unit, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let n = values.len();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let mean = (n > 0).then(|| mean(&values, sorted[0], sorted[n - 1]));
        let sd = mean.filter(|_| n > 1).map(|mean| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            (squares / (n - 1) as f64).sqrt()
        });
        let ci95 = mean.zip(sd).map(|(mean, sd)| {
            let reach = t_quantile_975((n - 1) as f64) * sd / (n as f64).sqrt();
            [mean - reach, mean + reach]
        });
        let percentile = |p| (n > 0).then(|| percentile(&sorted, p));
        Self {
            unit: unit.name(),
            mean,
            sd,
            ci95,
            min: sorted.first().copied(),
            p1: percentile(0.01),
            p50: percentile(0.5),
            p99: percentile(0.99),
            max: sorted.last().copied(),
            n: n as u32,
        }
    }
}

/// Equal values have exactly that value as their mean: what is exact in every replica stays exact over them.
fn mean(values: &[f64], min: f64, max: f64) -> f64 {
    if min == max { min } else { (values.iter().sum::<f64>() / values.len() as f64).clamp(min, max) }
}

/// Type 7: position `p (n - 1)`, linear between its neighbours.
fn percentile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// Rounded to nine decimals: the library uses the logarithms of the platform, whose last digits differ, and files must
/// not.
pub(super) fn t_quantile_975(degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("at least one degree of freedom").inverse_cdf(0.975);
    (t * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(values: &[f64]) -> Stat {
        Stat::over(Unit::Count, values.iter().map(|&value| Some(value)))
    }

    /// Tabulated: t(0.975) is 12.706 at 1, 2.776 at 4, 2.093 at 19 and 1.984 at 99 degrees of freedom.
    #[test]
    fn student_t_matches_the_tables() {
        for (df, tabulated) in [(1.0, 12.706_20), (4.0, 2.776_45), (19.0, 2.093_02), (99.0, 1.984_22)] {
            assert!((t_quantile_975(df) - tabulated).abs() < 1e-4, "{df}: {}", t_quantile_975(df));
        }
    }

    /// 1..5: mean 3, sd sqrt(2.5), half width 2.77645 sqrt(2.5 / 5) = 1.96325; type 7 p1 is 1 + 0.04.
    #[test]
    fn a_small_sample_by_hand() {
        let stat = over(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((stat.mean, stat.min, stat.p50, stat.max, stat.n), (Some(3.0), Some(1.0), Some(3.0), Some(5.0), 5));
        assert!((stat.sd.unwrap() - 2.5f64.sqrt()).abs() < 1e-12);
        let [low, high] = stat.ci95.unwrap();
        assert!((low - 1.036_757).abs() < 1e-5 && (high - 4.963_243).abs() < 1e-5, "{low} {high}");
        assert!((stat.p1.unwrap() - 1.04).abs() < 1e-12 && (stat.p99.unwrap() - 4.96).abs() < 1e-12);
    }

    #[test]
    fn equal_values_stay_exact() {
        let stat = over(&[0.1; 7]);
        assert_eq!((stat.mean, stat.sd, stat.ci95), (Some(0.1), Some(0.0), Some([0.1, 0.1])));
    }

    #[test]
    fn none_and_one_have_no_spread() {
        assert_eq!(over(&[]).mean, None);
        let one = over(&[2.0]);
        assert_eq!((one.mean, one.sd, one.ci95, one.p99, one.n), (Some(2.0), None, None, Some(2.0), 1));
    }
}
