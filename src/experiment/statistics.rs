//! Statistics over replicas.

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

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

pub(super) fn t_quantile_975(degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("at least one degree of freedom").inverse_cdf(0.975);
    nine_decimals(t)
}

/// The exact 95 % interval of a share of which `successes` of `n` were seen (Clopper and Pearson, 1934): the shares that
/// would give as many or more, and as many or fewer, in at least 2.5 % of all cases each. Of none seen it is `[0, 1]`.
///
/// Unlike Student's interval it has an extent where all replicas agree: none of 20 leaves up to 17 % open.
pub fn share_interval(successes: u32, n: u32) -> [f64; 2] {
    share_interval_of(f64::from(successes), f64::from(n))
}

/// Likewise of successes that need not be whole, to tell what a share would leave open in more replicas.
pub(super) fn share_interval_of(successes: f64, n: f64) -> [f64; 2] {
    [nine_decimals(1.0 - share_at_most(n - successes, n)), share_at_most(successes, n)]
}

fn share_at_most(successes: f64, n: f64) -> f64 {
    if successes >= n {
        return 1.0;
    }
    let beta = Beta::new(successes + 1.0, n - successes).expect("both are above zero");
    nine_decimals(beta.inverse_cdf(0.975))
}

/// What the library computes with the logarithms of the platform, whose last digits differ where files must not.
fn nine_decimals(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
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

    /// Tabulated for 95 %; of 20 alike the open end is 1 - 0.025^(1 / 20), of a single one 1 - 0.025.
    #[test]
    fn intervals_of_shares_match_the_tables() {
        let tabulated = [
            (0, 20, [0.0, 0.168_4]),
            (20, 20, [0.831_6, 1.0]),
            (10, 20, [0.272_0, 0.728_0]),
            (1, 10, [0.002_5, 0.445_0]),
            (0, 1, [0.0, 0.975]),
            (0, 0, [0.0, 1.0]),
        ];
        for (successes, n, expected) in tabulated {
            let found = share_interval(successes, n);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 5e-5, "{successes} of {n}: {found} and not {expected}");
            }
        }
    }

    /// At any size: no share may be left out, failures mirror successes, and twice as many leave less open.
    #[test]
    fn intervals_of_shares_have_the_share_in_them_and_narrow() {
        for n in [1, 2, 3, 20, 1_000, 1_000_000] {
            for successes in [0, 1, n / 3, n / 2, n - 1, n] {
                let [low, high] = share_interval(successes, n);
                let share = f64::from(successes) / f64::from(n);
                assert!(0.0 <= low && low <= share && share <= high && high <= 1.0, "{successes} of {n}: {low} {high}");
                let [mirrored_low, mirrored_high] = share_interval(n - successes, n);
                assert!((low + mirrored_high - 1.0).abs() < 1e-12 && (high + mirrored_low - 1.0).abs() < 1e-12);
                let [more_low, more_high] = share_interval_of(2.0 * f64::from(successes), 2.0 * f64::from(n));
                assert!(low <= more_low && more_high <= high, "{successes} of {n}: {more_low} {more_high}");
            }
        }
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
