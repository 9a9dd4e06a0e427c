//! Where on a range of values a condition begins to hold, or ceases to.

use serde::Serialize;

use crate::analysis::Allowance;
use crate::experiment::axis::{Range, Scale};
use crate::experiment::{Claim, Measure, Op, ScenarioInfo, Stat, ToolInfo};

/// The result of the search: everything that a report may show.
#[derive(Clone, Debug, Serialize)]
pub struct FrontierSummary {
    /// Version of this format; 1.
    pub schema_version: u32,
    /// What made it.
    pub tool: ToolInfo,
    /// What was simulated.
    pub scenario: ScenarioInfo,
    /// The seed.
    pub seed: u64,
    /// Replicas per variant and value.
    pub replicas: u32,
    /// Whether somebody interrupted, or a limit of the simulator cut a replica short.
    pub partial: bool,
    /// The path of the setting that varies.
    pub path: String,
    /// The unit of its values; empty for numbers.
    pub unit: String,
    /// From where to where it was looked for, in this unit.
    pub range: [f64; 2],
    /// How values are drawn, and what is halfway between two of them.
    pub scale: Scale,
    /// The condition, as it is written.
    pub condition: String,
    /// The figure that it is about.
    pub measure: Measure,
    /// How it is held against the bound.
    pub op: Op,
    /// The bound of the condition, in the unit of the metric.
    pub bound: f64,
    /// By variant, in file order.
    pub variants: Vec<VariantFrontier>,
}

/// What was found for one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantFrontier {
    /// Its name.
    pub name: String,
    /// What was simulated, by value, ascending.
    pub points: Vec<Point>,
    /// Where the condition changes, ascending: none if it does not, one if it is monotone.
    pub crossings: Vec<Crossing>,
    /// What the retries alone allow, where what varies is a rate of arrivals.
    pub allowance: Option<Allowance>,
}

/// The figure at one value of the setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The value, in the unit of the range.
    pub at: f64,
    /// As it would follow `--set PATH=`.
    pub written: String,
    /// The figure over the replicas.
    pub stat: Stat,
    /// Whether the condition holds; none where the figure is undefined.
    pub holds: Option<bool>,
    /// Whether a limit of the simulator was reached in a replica: then the figure says nothing, and is left out.
    pub partial: bool,
}

/// A change of the condition between two values that were simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// The last value before it changes.
    pub below: f64,
    /// The first after it has changed.
    pub above: f64,
    /// Whether the condition holds above; it does not below then.
    pub holds_above: bool,
    /// Between which values the 95 % intervals of the mean leave it open; those two where they leave nothing open.
    pub ci95: [f64; 2],
    /// Whether the intervals leave no doubt on either side; if not, the range ends before they do.
    pub settled: bool,
}

/// How a frontier is looked for.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// Where.
    pub range: &'a Range,
    /// Whether only whole numbers will do.
    pub is_whole: bool,
    /// How many values, evenly spaced, show whether and where the condition changes; at least 2.
    pub points: u32,
    /// How close it is followed then: a share of the range.
    pub resolution: f64,
    /// The condition.
    pub claim: &'a Claim,
}

/// What is known of the condition at a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It holds, or it does not, and the interval leaves no doubt.
    Clear(bool),
    /// The interval covers the bound.
    Open(bool),
    /// There is no figure.
    Undefined,
}

/// What came out at a value: the figure, and whether a limit of the simulator was reached.
pub type Outcome = (Stat, bool);

/// A value that is to be simulated for a variant: the variant's position, and the value as it is written.
pub type Trial = (usize, String);

impl Search<'_> {
    /// Looks for the frontier of so many variants. `evaluate` gives what comes out for each trial of a round; the search
    /// ends with the first round that lacks any.
    ///
    /// Values are evenly spaced at first. Then each gap on whose sides something else is known is halved until it is as
    /// narrow as asked for: where the condition changes, where the intervals begin and cease to cover the bound, and
    /// where there begins or ceases to be a figure.
    pub fn run(
        &self,
        variants: usize,
        mut evaluate: impl FnMut(&[Trial]) -> Vec<Option<Outcome>>,
    ) -> Vec<(Vec<Point>, Vec<Crossing>)> {
        let mut found: Vec<Vec<Point>> = vec![Vec::new(); variants];
        let mut wanted: Vec<(usize, f64)> =
            (0..variants).flat_map(|variant| self.spread().into_iter().map(move |at| (variant, at))).collect();
        while !wanted.is_empty() {
            let trials: Vec<Trial> = wanted.iter().map(|&(variant, at)| (variant, self.range.written(at))).collect();
            let outcomes = evaluate(&trials);
            let is_over = outcomes.iter().any(Option::is_none);
            for ((&(variant, at), (_, written)), outcome) in wanted.iter().zip(trials).zip(outcomes) {
                let Some((stat, partial)) = outcome else { continue };
                let stat = if partial { self.claim.measure.stat([]) } else { stat };
                let holds = self.claim.measure.statistic.of(&stat).map(|figure| self.claim.holds(figure));
                found[variant].push(Point { at, written, stat, holds, partial });
            }
            for points in &mut found {
                points.sort_by(|a, b| a.at.total_cmp(&b.at));
            }
            let gaps = found.iter().enumerate().flat_map(|(variant, points)| {
                points.windows(2).filter_map(move |gap| Some((variant, self.halfway(&gap[0], &gap[1])?)))
            });
            wanted = if is_over { Vec::new() } else { gaps.collect() };
        }
        found.into_iter().map(|points| (points.clone(), self.crossings(&points))).collect()
    }

    /// The values to begin with.
    fn spread(&self) -> Vec<f64> {
        let last = f64::from(self.points.max(2) - 1);
        let mut values: Vec<f64> = (0..self.points.max(2)).map(|i| self.value(f64::from(i) / last)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// A value between the ends of the range: a round number where that makes no difference to the resolution.
    fn value(&self, share: f64) -> f64 {
        let value = self.range.at(share);
        let rounded = match self.range.scale {
            _ if self.is_whole => value.round(),
            Scale::Linear => self.rounded(value),
            // As it will be written.
            Scale::Log => format!("{value:.4e}").parse().unwrap_or(value),
        };
        // The ends are what somebody wrote.
        let is_within = (rounded - self.range.from) * (rounded - self.range.to) < 0.0;
        if share > 0.0 && share < 1.0 && is_within { rounded } else { value }
    }

    /// To the first digit that is finer than the resolution.
    fn rounded(&self, value: f64) -> f64 {
        let finest = (self.range.to - self.range.from).abs() * self.resolution;
        let decimals = -libm::log10(finest).floor();
        if decimals >= 0.0 {
            // In decimal digits, since 0.1 is no binary fraction.
            return format!("{value:.*}", decimals as usize).parse().unwrap_or(value);
        }
        let unit = libm::pow(10.0, -decimals);
        (value / unit).round() * unit
    }

    /// Where a value lies in the range, as a share of the way.
    fn share(&self, value: f64) -> f64 {
        let Range { from, to, scale, .. } = *self.range;
        match scale {
            Scale::Linear => (value - from) / (to - from),
            Scale::Log => libm::log(value / from) / libm::log(to / from),
        }
    }

    /// The value in the middle of a gap that is to be halved.
    fn halfway(&self, below: &Point, above: &Point) -> Option<f64> {
        let states = [self.state(below), self.state(above)];
        if states[0] == states[1] {
            return None;
        }
        let (from, to) = (self.share(below.at), self.share(above.at));
        if (to - from).abs() <= self.resolution {
            return None;
        }
        let middle = self.value((from + to) / 2.0);
        (below.at < middle && middle < above.at).then_some(middle)
    }

    fn state(&self, point: &Point) -> State {
        let Some(holds) = point.holds else { return State::Undefined };
        match self.claim.measure.interval(&point.stat) {
            Some(ci95) if ci95.map(|end| self.claim.holds(end)) != [holds; 2] => State::Open(holds),
            _ => State::Clear(holds),
        }
    }

    /// Where the condition changes, and the intervals leave no doubt that it does. What lies beyond the range is not
    /// known: its ends count as they are.
    fn crossings(&self, points: &[Point]) -> Vec<Crossing> {
        let known: Vec<(&Point, State)> =
            points.iter().map(|point| (point, self.state(point))).filter(|(_, it)| *it != State::Undefined).collect();
        let mut crossings = Vec::new();
        let mut before: Option<(usize, bool)> = None;
        for (i, &(_, state)) in known.iter().enumerate() {
            let is_end = i == 0 || i + 1 == known.len();
            let (State::Clear(holds) | State::Open(holds)) = state else { continue };
            if matches!(state, State::Open(_)) && !is_end {
                continue;
            }
            if let Some((last, held)) = before
                && held != holds
            {
                crossings.push(crossing(&known[last..=i], holds));
            }
            before = Some((i, holds));
        }
        crossings
    }
}

/// The change in a stretch at whose ends the condition is known. In between it may seem to change to and fro, as chance
/// has it: then it is the one in the middle of those that go this way.
fn crossing(stretch: &[(&Point, State)], holds_above: bool) -> Crossing {
    let pairs = stretch.windows(2).map(|pair| [pair[0].0, pair[1].0]);
    let goes_this_way = |[below, above]: &[&Point; 2]| below.holds != above.holds && above.holds == Some(holds_above);
    let changes: Vec<[&Point; 2]> = pairs.filter(goes_this_way).collect();
    let [below, above] = changes[changes.len() / 2].map(|point| point.at);
    let ends = [&stretch[0], &stretch[stretch.len() - 1]];
    Crossing {
        below,
        above,
        holds_above,
        ci95: ends.map(|(point, _)| point.at),
        settled: ends.iter().all(|(_, state)| matches!(state, State::Clear(_))),
    }
}
