//! What a scenario file says must come out, and whether it did.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::experiment::measure::interval;
use crate::experiment::{Stat, settling};
use crate::metrics::catalogue::ScopeKind;

/// An `[[expect]]` row. Its metric exists in its scope, and its scope and variant exist in the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The variant it is about; none for every variant.
    pub variant: Option<String>,
    /// What it is about.
    pub scope: Scope,
    /// The metric's name.
    pub metric: &'static str,
    /// Over what it is measured.
    pub windows: Windows,
    /// Which figure over the replicas.
    pub statistic: Statistic,
    /// What must hold.
    pub condition: Condition,
    /// Where the row stands in its file.
    pub position: Position,
}

/// Where something begins in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
}

/// Over what a metric is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Windows {
    /// The whole run.
    Whole,
    /// Each of these, at least one; what must hold must hold in all of them.
    Each(Vec<Window>),
}

/// A window of the run, `[from_s, until_s)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its position in [`Plan::windows`](crate::plan::Plan::windows); the same in the plan of every variant.
    pub position: u32,
    /// Its start, in seconds.
    pub from_s: f64,
    /// Its end, in seconds.
    pub until_s: f64,
}

/// What a metric is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The kind of thing.
    pub kind: ScopeKind,
    /// Its name; empty for the scenario.
    pub name: String,
}

/// A figure over the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The smallest.
    Min,
    /// The 1st percentile.
    P1,
    /// The median.
    P50,
    /// The 99th percentile.
    P99,
    /// The largest.
    Max,
}

impl Statistic {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Mean, Self::Min, Self::P1, Self::P50, Self::P99, Self::Max];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Min => "min",
            Self::P1 => "p1",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Max => "max",
        }
    }

    /// Its value.
    pub fn of(self, stat: &Stat) -> Option<f64> {
        match self {
            Self::Mean => stat.mean,
            Self::Min => stat.min,
            Self::P1 => stat.p1,
            Self::P50 => stat.p50,
            Self::P99 => stat.p99,
            Self::Max => stat.max,
        }
    }
}

/// What must hold of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// It is this value.
    Equals {
        /// The value.
        value: f64,
        /// How far off it may be.
        tolerance: Tolerance,
    },
    /// It is not above this.
    AtMost(f64),
    /// It is not below this.
    AtLeast(f64),
    /// It is in the closed interval.
    Between(f64, f64),
}

/// How far a figure may be from the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Not at all.
    Exact,
    /// By this share of the expected value.
    Relative(f64),
    /// By this much.
    Absolute(f64),
}

impl Tolerance {
    /// How far from `value` that is.
    fn slack(self, value: f64) -> f64 {
        match self {
            Self::Exact => 0.0,
            Self::Relative(share) => share * value.abs(),
            Self::Absolute(distance) => distance,
        }
    }
}

impl Condition {
    /// Whether `actual` meets it.
    pub fn holds(self, actual: f64) -> bool {
        match self {
            Self::Equals { value, tolerance } => {
                let slack = tolerance.slack(value);
                // Decimal bounds are not binary fractions: 0.4 is not quite within 0.1 of 0.3. A rounding error of the
                // two operands does not decide.
                let rounding = if slack > 0.0 { 2.0 * f64::EPSILON * value.abs().max(actual.abs()) } else { 0.0 };
                (actual - value).abs() <= slack + rounding
            }
            Self::AtMost(bound) => actual <= bound,
            Self::AtLeast(bound) => actual >= bound,
            Self::Between(low, high) => (low..=high).contains(&actual),
        }
    }

    /// The values at which it begins or ceases to hold, with a stretch on either side; an exact figure has none.
    pub fn bounds(self) -> Vec<f64> {
        match self {
            Self::Equals { value, tolerance } => match tolerance.slack(value) {
                0.0 => Vec::new(),
                slack => vec![value - slack, value + slack],
            },
            Self::AtMost(bound) | Self::AtLeast(bound) => vec![bound],
            Self::Between(low, high) => vec![low, high],
        }
    }

    /// How far `actual` is from what is expected, to compare figures by: the larger, the worse.
    pub fn strain(self, actual: f64) -> f64 {
        match self {
            Self::Equals { value, .. } => (actual - value).abs(),
            Self::AtMost(bound) => actual - bound,
            Self::AtLeast(bound) => bound - actual,
            Self::Between(low, high) => (low - actual).max(actual - high),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals { value, tolerance: Tolerance::Exact } => write!(f, "= {value}"),
            Self::Equals { value, tolerance: Tolerance::Relative(share) } => {
                // Rounded to a millionth of a percent: 0.07 * 100 is not 7 in binary.
                write!(f, "= {value} ± {} %", (share * 1e8).round() / 1e6)
            }
            Self::Equals { value, tolerance: Tolerance::Absolute(distance) } => write!(f, "= {value} ± {distance}"),
            Self::AtMost(bound) => write!(f, "<= {bound}"),
            Self::AtLeast(bound) => write!(f, ">= {bound}"),
            Self::Between(low, high) => write!(f, "{low} .. {high}"),
        }
    }
}

/// What became of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It was met.
    Met,
    /// It was not.
    NotMet,
    /// There is no telling: replicas were cut short or did not run.
    NotJudged,
}

impl Judgement {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not_met",
            Self::NotJudged => "not_judged",
        }
    }

    /// Whether the expectation was met; none if there is no telling.
    pub const fn passed(self) -> Option<bool> {
        match self {
            Self::Met => Some(true),
            Self::NotMet => Some(false),
            Self::NotJudged => None,
        }
    }
}

/// Two keys of `summary.json`: `passed` for those who ask whether it was met, `state` for those who ask what became of
/// it.
impl Serialize for Judgement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = serializer.serialize_struct("Judgement", 2)?;
        keys.serialize_field("passed", &self.passed())?;
        keys.serialize_field("state", self.name())?;
        keys.end()
    }
}

/// An expectation, judged for one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The variant.
    pub variant: String,
    /// The kind of thing: `scenario`, `client`, `call`, `service`, `fault`.
    pub scope: &'static str,
    /// Its name; empty for the scenario.
    pub name: String,
    /// The metric.
    pub metric: &'static str,
    /// The figure over the replicas.
    pub statistic: &'static str,
    /// What was expected, in words.
    pub condition: String,
    /// What came out; none where the metric is undefined in a judged replica, and where nothing was judged.
    pub actual: Option<f64>,
    /// In how many of the judged replicas the metric is undefined.
    #[serde(skip)]
    pub undefined: u32,
    /// Whether the expectation was met.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// Start of the window that was judged, in seconds; none for the whole run.
    pub from: Option<f64>,
    /// Its end; `to` in `summary.json`.
    #[serde(rename = "to")]
    pub until: Option<f64>,
    /// How many windows were judged, of which this is the worst; 1 for a single one or the whole run. If they were not
    /// judged, from and until are those of all together.
    pub windows: u32,
    /// The 95 % interval, where the figure is a mean: of the share of replicas that `recovered` the exact one, of
    /// others Student's.
    pub ci95: Option<[f64; 2]>,
    /// Whether a bound of the condition lies within the interval, so that other luck may have met or failed it.
    pub straddles: bool,
    /// How many replicas would settle that, by the spread that was seen; none where there is nothing to settle, or where
    /// it takes more than a million.
    pub settles_at: Option<u32>,
    /// The line of the expectation in its file, from 1.
    pub line: usize,
    /// The character of the line at which it begins, from 1.
    pub column: usize,
    /// From where to where its windows reach, all together, in seconds; what a report calls it must not hang on which of
    /// them is the worst.
    #[serde(skip)]
    pub reach: [Option<f64>; 2],
}

impl Expectation {
    /// Judges a figure over `replicas` replicas, measured in a window or in the whole run. A metric that is undefined
    /// in any of them fails; so does one without replicas.
    pub fn judge(&self, variant: &str, window: Option<&Window>, stat: &Stat, replicas: u32) -> Verdict {
        let defined = stat.n == replicas;
        let actual = self.statistic.of(stat).filter(|_| defined);
        let met = actual.is_some_and(|actual| self.condition.holds(actual));
        let is_mean = defined && self.statistic == Statistic::Mean;
        let bounds = if is_mean { settling::straddled(self.metric, self.condition, stat) } else { Vec::new() };
        Verdict {
            actual,
            undefined: replicas - stat.n,
            judgement: if met { Judgement::Met } else { Judgement::NotMet },
            ci95: interval(self.metric, stat).filter(|_| is_mean),
            straddles: !bounds.is_empty(),
            settles_at: settling::replicas(self.metric, stat, &bounds),
            from: window.map(|window| window.from_s),
            until: window.map(|window| window.until_s),
            windows: 1,
            ..self.not_judged(variant)
        }
    }

    /// What is said of a variant whose figures do not tell.
    pub fn not_judged(&self, variant: &str) -> Verdict {
        let windows = match &self.windows {
            Windows::Whole => &[][..],
            Windows::Each(windows) => windows,
        };
        let reach = [windows.first().map(|window| window.from_s), windows.last().map(|window| window.until_s)];
        let [from, until] = reach;
        Verdict {
            variant: variant.to_owned(),
            scope: self.scope.kind.name(),
            name: self.scope.name.clone(),
            metric: self.metric,
            statistic: self.statistic.name(),
            condition: self.condition.to_string(),
            actual: None,
            undefined: 0,
            judgement: Judgement::NotJudged,
            from,
            until,
            windows: windows.len().max(1) as u32,
            ci95: None,
            straddles: false,
            settles_at: None,
            line: self.position.line,
            column: self.position.column,
            reach,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::catalogue::Unit;

    #[test]
    fn conditions_hold_at_their_bounds_and_not_beyond() {
        let equals = |tolerance| Condition::Equals { value: 27.0, tolerance };
        assert!(equals(Tolerance::Exact).holds(27.0) && !equals(Tolerance::Exact).holds(27.000_000_1));
        assert!(equals(Tolerance::Absolute(1.0)).holds(28.0) && !equals(Tolerance::Absolute(1.0)).holds(28.1));
        assert!(equals(Tolerance::Relative(0.1)).holds(24.31) && !equals(Tolerance::Relative(0.1)).holds(24.29));
        let third = Condition::Equals { value: 0.3, tolerance: Tolerance::Absolute(0.1) };
        assert!(third.holds(0.4) && third.holds(0.2) && !third.holds(0.400_001));
        assert!(Condition::AtMost(3.0).holds(3.0) && !Condition::AtMost(3.0).holds(3.1));
        assert!(Condition::AtLeast(3.0).holds(3.0) && !Condition::AtLeast(3.0).holds(2.9));
        assert!(Condition::Between(1.0, 2.0).holds(2.0) && !Condition::Between(1.0, 2.0).holds(2.1));
        assert!(!Condition::AtMost(3.0).holds(f64::NAN));
    }

    #[test]
    fn a_metric_undefined_in_any_replica_fails() {
        let expectation = Expectation {
            variant: None,
            scope: Scope { kind: ScopeKind::Scenario, name: String::new() },
            metric: "last_retry_s",
            windows: Windows::Whole,
            statistic: Statistic::Max,
            condition: Condition::AtMost(10.0),
            position: Position { line: 1, column: 1 },
        };
        let judge = |values: &[Option<f64>]| {
            expectation.judge("base", None, &Stat::over(Unit::Seconds, values.iter().copied()), values.len() as u32)
        };
        assert_eq!(judge(&[Some(1.0), Some(2.0)]).judgement, Judgement::Met);
        let verdict = judge(&[Some(1.0), None]);
        assert_eq!((verdict.judgement, verdict.actual, verdict.undefined), (Judgement::NotMet, None, 1));
    }
}
