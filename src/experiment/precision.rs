//! How well a mean is known, and how many replicas it takes to know it better.

use serde::Serialize;

use crate::experiment::Stat;
use crate::experiment::measure::interval;

/// How well the means that matter are to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The most that half of a 95 % interval may be, as a share of its mean; above 0.
    pub share: f64,
    /// The most replicas of a variant; where they do not suffice, it is told what was reached.
    pub replicas_max: u32,
}

/// How well a mean is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Half of the 95 % interval as a share of the mean; infinite where there is no telling.
    pub share: f64,
    /// Whose it is: `retry_peak of full-jitter`.
    pub what: String,
}

/// What came of a precision that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// What was asked for: half of an interval, as a share of the mean.
    pub wanted: f64,
    /// What was reached, in the mean that is known least well; none where there is no interval.
    pub reached: Option<f64>,
    /// Whose mean that is.
    pub widest: String,
    /// The most replicas that there might have been.
    pub replicas_max: u32,
}

/// A few replicas may agree by chance.
const REPLICAS_MIN: u32 = 10;

impl Precision {
    /// How many replicas to run in all, where so many leave a mean with this spread; none where that is good enough, or
    /// where no more may be run.
    ///
    /// The interval shrinks with the square root of the number. The spread of a few says little, so never more than
    /// twice as many at once, and never fewer than ten; and a tenth more at least, so that a guess that is just too low is
    /// not repeated.
    pub fn more(self, replicas: u32, spread: f64) -> Option<u32> {
        let is_enough = spread <= self.share && replicas >= REPLICAS_MIN;
        if is_enough || replicas >= self.replicas_max {
            return None;
        }
        if spread <= self.share {
            return Some(REPLICAS_MIN.min(self.replicas_max));
        }
        let factor = (spread / self.share) * (spread / self.share);
        let needed = (f64::from(replicas) * factor.clamp(1.1, 2.0)).ceil() as u32;
        Some(needed.max(replicas + 1).min(self.replicas_max))
    }

    /// What is to be told of it.
    pub(super) fn reached(self, widest: Option<Spread>) -> Option<Reached> {
        let Spread { share, what } = widest?;
        let reached = share.is_finite().then_some(share);
        Some(Reached { wanted: self.share, reached, widest: what, replicas_max: self.replicas_max })
    }
}

impl Reached {
    /// Whether it is what was asked for.
    pub fn is_good(&self) -> bool {
        self.reached.is_some_and(|reached| reached <= self.wanted)
    }
}

impl Spread {
    /// Of a mean; none where there are no values, and nothing to be known of them.
    pub(super) fn of(metric: &str, stat: &Stat, what: impl FnOnce() -> String) -> Option<Self> {
        let mean = stat.mean?;
        let share = match interval(metric, stat) {
            None => f64::INFINITY,
            Some([low, high]) if low == high => 0.0,
            Some([low, high]) => (high - low) / 2.0 / mean.abs(),
        };
        Some(Self { share, what: what() })
    }

    /// The one that is known least well; the first of several.
    pub(super) fn widest(spreads: impl Iterator<Item = Self>) -> Option<Self> {
        spreads.reduce(|widest, spread| if spread.share > widest.share { spread } else { widest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::catalogue::Unit;

    const ONE_PERCENT: Precision = Precision { share: 0.01, replicas_max: 10_000 };

    /// An interval of 1.2 % at 20 replicas is one of 1 % at 20 x 1.44.
    #[test]
    fn as_many_are_added_as_the_spread_asks_for_within_bounds() {
        assert_eq!(ONE_PERCENT.more(20, 0.012), Some(29));
        assert_eq!(ONE_PERCENT.more(20, 0.01), None);
        assert_eq!(ONE_PERCENT.more(20, 0.5), Some(40), "no more than twice as many");
        assert_eq!(ONE_PERCENT.more(20, 0.010_001), Some(22), "a tenth more at least");
        assert_eq!(ONE_PERCENT.more(1, f64::INFINITY), Some(2));
        assert_eq!(ONE_PERCENT.more(3, 0.0), Some(10), "three may agree by chance");
        assert_eq!(ONE_PERCENT.more(10, 0.0), None);
        assert_eq!(ONE_PERCENT.more(9_000, 0.5), Some(10_000));
        assert_eq!(ONE_PERCENT.more(10_000, 0.5), None);
    }

    /// 9 and 11: mean 10, standard error 1, and t at one degree of freedom 12.7062.
    #[test]
    fn the_spread_is_relative_to_the_mean() {
        let spread = |values: &[f64]| {
            let stat = Stat::over(Unit::Count, values.iter().map(|&value| Some(value)));
            Spread::of("retries", &stat, || "it".to_owned()).map(|spread| spread.share)
        };
        assert!((spread(&[9.0, 11.0]).unwrap() - 1.270_62).abs() < 1e-5);
        assert_eq!(spread(&[7.0, 7.0]), Some(0.0));
        assert_eq!(spread(&[0.0, 0.0]), Some(0.0), "nothing at all is known exactly");
        assert_eq!(spread(&[-1.0, 1.0]), Some(f64::INFINITY));
        assert_eq!((spread(&[7.0]), spread(&[])), (Some(f64::INFINITY), None));
    }
}
