//! Whether a mean is known well enough to judge it, and how many replicas that takes.

use crate::experiment::measure::interval;
use crate::experiment::statistics::{share_interval_of, t_quantile_975};
use crate::experiment::{Condition, Stat};
use crate::metrics::catalogue::SHARES;

/// The most replicas that a scenario can have: more than that settle nothing.
const REPLICAS_MAX: u32 = 1_000_000;

/// The metric that is 1 or 0 in a replica, so that its mean is a share of replicas.
const SHARE_OF_REPLICAS: &str = "recovered";

/// The bounds of the condition that lie within the 95 % interval of the mean; none if the mean is on one side of each
/// of them, for certain or as far as one value can tell.
///
/// No metric is negative, and no share is above 1: there a bound is where the values end, and says nothing of the mean.
pub(super) fn straddled(metric: &str, condition: Condition, stat: &Stat) -> Vec<f64> {
    let Some([low, high]) = interval(metric, stat) else { return Vec::new() };
    let most = if SHARES.contains(&metric) || metric == SHARE_OF_REPLICAS { 1.0 } else { f64::INFINITY };
    let is_within = |bound: &f64| (f64::MIN_POSITIVE..most).contains(bound) && (low..=high).contains(bound);
    // An interval without extent is what all replicas agree on, on whichever side.
    condition.bounds().into_iter().filter(|bound| low < high && is_within(bound)).collect()
}

/// The fewest replicas whose 95 % interval has all of these bounds outside, if mean and spread stay what they are in
/// these; none if there is no bound, or that is not to be had.
pub(super) fn replicas(metric: &str, stat: &Stat, bounds: &[f64]) -> Option<u32> {
    let of_bound = |bound: &f64| match metric {
        SHARE_OF_REPLICAS => replicas_of_share(stat.mean?, *bound),
        _ => replicas_of_mean(stat, *bound),
    };
    bounds.iter().map(of_bound).collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// It is the smallest n with t(0.975, n - 1) sd / sqrt(n) < |mean - bound|.
pub(super) fn replicas_of_mean(stat: &Stat, bound: f64) -> Option<u32> {
    let (mean, sd) = stat.mean.zip(stat.sd)?;
    let distance = (mean - bound).abs();
    fewest(2, |n| t_quantile_975(f64::from(n - 1)) * sd / f64::from(n).sqrt() < distance)
}

fn replicas_of_share(share: f64, bound: f64) -> Option<u32> {
    fewest(1, |n| {
        let [low, high] = interval_of_share(share, n);
        bound < low || high < bound
    })
}

/// So many successes need not be whole in another number of replicas than the share is of.
fn interval_of_share(share: f64, n: u32) -> [f64; 2] {
    share_interval_of(share * f64::from(n), f64::from(n))
}

/// The smallest number from `least` that settles something; none if a million do not. Intervals only narrow as it
/// grows.
fn fewest(least: u32, settles: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut open, mut settled) = (least - 1, REPLICAS_MAX);
    if !settles(settled) {
        return None;
    }
    while settled - open > 1 {
        let middle = open.midpoint(settled);
        if settles(middle) { settled = middle } else { open = middle }
    }
    Some(settled)
}

/// As many replicas as it takes for so many `pairs`, if as large a part of them as of `replicas` is one of the pairs.
pub(super) fn replicas_of_pairs(wanted: u32, pairs: u32, replicas: u32) -> Option<u32> {
    let replicas = (u64::from(wanted) * u64::from(replicas)).div_ceil(u64::from(pairs));
    u32::try_from(replicas).ok().filter(|&replicas| replicas <= REPLICAS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Tolerance;
    use crate::metrics::catalogue::Unit;

    const NONE: [f64; 0] = [];

    fn over(values: &[f64]) -> Stat {
        Stat::over(Unit::Count, values.iter().map(|&value| Some(value)))
    }

    /// 9, 10 and 11 have the mean 10, the standard deviation 1 and the interval 10 ± 4.303 / sqrt(3) = 10 ± 2.484.
    #[test]
    fn a_bound_within_the_interval_is_straddled() {
        let stat = over(&[9.0, 10.0, 11.0]);
        let of = |condition| straddled("retries", condition, &stat);
        assert_eq!(of(Condition::AtMost(12.48)), [12.48]);
        assert_eq!(of(Condition::AtMost(12.49)), NONE);
        assert_eq!(of(Condition::AtLeast(7.52)), [7.52]);
        assert_eq!(of(Condition::Between(7.0, 12.0)), [12.0], "the other bound is clear of it");
        assert_eq!(of(Condition::Between(9.5, 12.0)), [9.5, 12.0]);
        let equals = |tolerance| of(Condition::Equals { value: 9.0, tolerance });
        assert_eq!(equals(Tolerance::Absolute(2.0)), [11.0], "either edge of a tolerance is a bound");
        assert_eq!(equals(Tolerance::Relative(0.5)), NONE);
        assert_eq!(equals(Tolerance::Exact), NONE, "an exact figure is met by every replica or not at all");
    }

    /// Nothing is unsettled where all replicas agree, where one alone has no interval, and at an end of the scale.
    #[test]
    fn what_cannot_be_crossed_is_not_straddled() {
        assert_eq!(straddled("retries", Condition::AtMost(27.0), &over(&[27.0; 20])), NONE);
        assert_eq!(straddled("retries", Condition::AtMost(27.0), &over(&[27.5])), NONE);
        let [ratios, counts] = [over(&[0.98, 1.0, 0.99]), over(&[0.0, 0.0, 1.0])];
        assert_eq!(straddled("success_ratio", Condition::Between(0.9, 1.0), &ratios), NONE);
        assert_eq!(straddled("amplification", Condition::AtMost(1.0), &ratios), [1.0], "which may be above 1");
        assert_eq!(straddled("retries", Condition::AtLeast(0.0), &counts), NONE);
    }

    /// With sd = 1, by the tables: a distance of 1 takes 7 replicas (2.447 / sqrt(7) = 0.925, 2.571 / sqrt(6) = 1.049), one
    /// of 0.5 takes 18 (2.110 / sqrt(18) = 0.497, 2.120 / sqrt(17) = 0.514). One of 0.01 takes more than
    /// (1.959964 / 0.01)² = 38,414.6, and (1.96² + 1) / 2 = 2.4 beyond that for the tails of Student's t: 38,417.0.
    #[test]
    fn the_replicas_that_settle_it_are_those_of_the_tables() {
        let stat = over(&[9.0, 10.0, 11.0]);
        let settled_at = |bounds: &[f64]| replicas("retries", &stat, bounds);
        assert_eq!([11.0, 9.0, 10.5].map(|bound| settled_at(&[bound])), [Some(7), Some(7), Some(18)]);
        assert_eq!(settled_at(&[10.01]), Some(38_418));
        assert_eq!(settled_at(&[9.0, 10.5]), Some(18), "both are settled only then");
        assert_eq!(settled_at(&[]), None);
    }

    /// (1.95996 / 0.001)² is 3.8 million, and a mean on its bound is never clear of it.
    #[test]
    fn more_than_a_million_replicas_are_none() {
        let stat = over(&[9.0, 10.0, 11.0]);
        assert_eq!([10.001, 10.0].map(|bound| replicas("retries", &stat, &[bound])), [None, None]);
        assert_eq!(replicas("retries", &stat, &[9.0, 10.0]), None);
    }

    /// None of 20 leaves up to 1 - 0.025^(1 / 20) = 0.1684 open, and it takes ln 0.025 / ln 0.95 = 71.9 replicas to
    /// rule out 0.05; of a metric that is no share of replicas, 20 that agree leave nothing open. Of 1 in 20 the
    /// interval is [0.0013, 0.2487] by the tables, further up than down from 0.05.
    #[test]
    fn replicas_that_agree_leave_a_share_of_replicas_open() {
        let none = over(&[0.0; 20]);
        let at_most = |metric, bound| straddled(metric, Condition::AtMost(bound), &none);
        assert_eq!(at_most("recovered", 0.168), [0.168]);
        assert_eq!(at_most("recovered", 0.169), NONE);
        assert_eq!(at_most("retries", 0.05), NONE);
        assert_eq!(replicas("recovered", &none, &[0.05]), Some(72));
        let all = over(&[1.0; 20]);
        assert_eq!(straddled("recovered", Condition::AtLeast(0.95), &all), [0.95]);
        assert_eq!(replicas("recovered", &all, &[0.95]), Some(72));
        assert_eq!(straddled("recovered", Condition::AtLeast(1.0), &all), NONE, "no share is above 1");
        let one = over(&[[1.0].as_slice(), &[0.0; 19]].concat());
        assert_eq!(
            straddled("recovered", Condition::Between(0.001, 0.24), &one),
            [0.24],
            "though the other one is nearer"
        );
        assert_eq!(replicas("recovered", &one, &[0.05]), None, "that is what came out");
        assert_eq!(
            straddled("recovered", Condition::AtMost(0.5), &over(&[0.0])),
            NONE,
            "one replica tells of no spread"
        );
    }

    /// Of 10 replicas 4 are pairs: 15 pairs take 37.5 replicas.
    #[test]
    fn pairs_take_more_replicas_than_there_are_pairs() {
        assert_eq!(replicas_of_pairs(15, 4, 10), Some(38));
        assert_eq!(replicas_of_pairs(15, 10, 10), Some(15));
        assert_eq!(replicas_of_pairs(600_000, 1, 2), None);
    }
}
