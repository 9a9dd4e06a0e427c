//! Whether a mean is known well enough to judge it, and how many replicas that takes.

use crate::experiment::statistics::t_quantile_975;
use crate::experiment::{Condition, Stat};
use crate::metrics::catalogue::SHARES;

/// The most replicas that a scenario can have: more than that settle nothing.
const REPLICAS_MAX: u32 = 1_000_000;

/// The bound of the condition that lies within the 95 % interval of the mean, the nearest of several; none if the mean is
/// on one side of all of them, for certain or as far as one value can tell.
///
/// No metric is negative, and no share is above 1: there a bound is where the values end, and says nothing of the mean.
pub(super) fn straddled(metric: &str, condition: Condition, stat: &Stat) -> Option<f64> {
    let (mean, [low, high]) = stat.mean.zip(stat.ci95)?;
    let most = if SHARES.contains(&metric) || metric == "recovered" { 1.0 } else { f64::INFINITY };
    let bounds = condition.bounds().into_iter().filter(|bound| (f64::MIN_POSITIVE..most).contains(bound));
    let nearest = bounds.min_by(|a, b| (a - mean).abs().total_cmp(&(b - mean).abs()))?;
    // An interval without extent is what all replicas agree on, on whichever side.
    (low < high && (low..=high).contains(&nearest)).then_some(nearest)
}

/// The fewest replicas whose 95 % interval has `bound` outside, if mean and spread stay what they are in these; none if
/// that is not to be had.
///
/// It is the smallest n with t(0.975, n - 1) sd / sqrt(n) < |mean - bound|.
pub(super) fn replicas(stat: &Stat, bound: f64) -> Option<u32> {
    let (mean, sd) = stat.mean.zip(stat.sd)?;
    let distance = (mean - bound).abs();
    let settles = |n: u32| t_quantile_975(f64::from(n - 1)) * sd / f64::from(n).sqrt() < distance;
    // The interval only narrows as n grows.
    let (mut open, mut settled) = (1, REPLICAS_MAX);
    if !settles(settled) {
        return None;
    }
    while settled - open > 1 {
        let middle = open.midpoint(settled);
        if settles(middle) { settled = middle } else { open = middle }
    }
    Some(settled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Tolerance;
    use crate::metrics::catalogue::Unit;

    fn over(values: &[f64]) -> Stat {
        Stat::over(Unit::Count, values.iter().map(|&value| Some(value)))
    }

    /// 9, 10 and 11 have the mean 10, the standard deviation 1 and the interval 10 ± 4.303 / sqrt(3) = 10 ± 2.484.
    #[test]
    fn a_bound_within_the_interval_is_straddled() {
        let stat = over(&[9.0, 10.0, 11.0]);
        let of = |condition| straddled("retries", condition, &stat);
        assert_eq!(of(Condition::AtMost(12.48)), Some(12.48));
        assert_eq!(of(Condition::AtMost(12.49)), None);
        assert_eq!(of(Condition::AtLeast(7.52)), Some(7.52));
        assert_eq!(of(Condition::Between(7.0, 12.0)), Some(12.0), "the other bound is clear of it");
        assert_eq!(of(Condition::Between(9.5, 12.0)), Some(9.5), "the nearest");
        let equals = |tolerance| of(Condition::Equals { value: 9.0, tolerance });
        assert_eq!(equals(Tolerance::Absolute(2.0)), Some(11.0), "either edge of a tolerance is a bound");
        assert_eq!(equals(Tolerance::Relative(0.5)), None);
        assert_eq!(equals(Tolerance::Exact), None, "an exact figure is met by every replica or not at all");
    }

    /// Nothing is unsettled where all replicas agree, where one alone has no interval, and at an end of the scale.
    #[test]
    fn what_cannot_be_crossed_is_not_straddled() {
        assert_eq!(straddled("retries", Condition::AtMost(27.0), &over(&[27.0; 20])), None);
        assert_eq!(straddled("retries", Condition::AtMost(27.0), &over(&[27.5])), None);
        let [ratios, counts] = [over(&[0.98, 1.0, 0.99]), over(&[0.0, 0.0, 1.0])];
        assert_eq!(straddled("success_ratio", Condition::Between(0.9, 1.0), &ratios), None);
        assert_eq!(straddled("amplification", Condition::AtMost(1.0), &ratios), Some(1.0), "which may be above 1");
        assert_eq!(straddled("retries", Condition::AtLeast(0.0), &counts), None);
    }

    /// With sd = 1, by the tables: a distance of 1 takes 7 replicas (2.447 / sqrt(7) = 0.925, 2.571 / sqrt(6) = 1.049), one
    /// of 0.5 takes 18 (2.110 / sqrt(18) = 0.497, 2.120 / sqrt(17) = 0.514). One of 0.01 takes more than
    /// (1.959964 / 0.01)² = 38,414.6, and (1.96² + 1) / 2 = 2.4 beyond that for the tails of Student's t: 38,417.0.
    #[test]
    fn the_replicas_that_settle_it_are_those_of_the_tables() {
        let stat = over(&[9.0, 10.0, 11.0]);
        assert_eq!([11.0, 9.0, 10.5].map(|bound| replicas(&stat, bound)), [Some(7), Some(7), Some(18)]);
        assert_eq!(replicas(&stat, 10.01), Some(38_418));
    }

    /// (1.95996 / 0.001)² is 3.8 million, and a mean on its bound is never clear of it.
    #[test]
    fn more_than_a_million_replicas_are_none() {
        let stat = over(&[9.0, 10.0, 11.0]);
        assert_eq!([10.001, 10.0].map(|bound| replicas(&stat, bound)), [None, None]);
    }
}
