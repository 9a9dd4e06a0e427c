//! What comes out now against a baseline: what is worse, what may only look worse, what is better.

use serde::Serialize;

use crate::experiment::baseline::{Kept, KeptVariant};
use crate::experiment::gated::Gated;
use crate::experiment::{Difference, Shown, Summary, VariantSummary, settling};
use crate::metrics::catalogue::{Better, OF_SUCCEEDED, ScopeKind, Unit};

/// A summary against what its baseline keeps of the scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Regressions {
    /// How much worse a mean may be, as a share of what it was.
    pub tolerance: f64,
    /// How many replicas of each variant were compared: as many as both have.
    pub replicas: u32,
    /// How many the baseline has.
    pub replicas_of_baseline: u32,
    /// How many were simulated.
    pub replicas_of_run: u32,
    /// Every figure that is worse or better by more than the tolerance, in the order of variants and catalogue.
    pub changes: Vec<Change>,
    /// What was not compared, for the most part because only one side has it.
    pub unmatched: Vec<Unmatched>,
}

/// A figure that is not what it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The variant.
    pub variant: String,
    /// The kind of thing: `scenario`, `service`, `fault`.
    pub scope: &'static str,
    /// Its name; empty for the scenario.
    pub name: String,
    /// The metric.
    pub metric: &'static str,
    /// What became of it.
    pub trend: Trend,
    /// In how many replicas it was defined before and is now, if that is what has changed. The difference is then that
    /// of a figure which is 1 where the metric is defined, and 0 where it is not.
    pub defined: Option<[u32; 2]>,
    /// By which share of what it was it is worse, or better if negative; none where it was zero, or if another number
    /// of replicas has it.
    pub worse_by: Option<f64>,
    /// Before and now, replica by replica.
    #[serde(flatten)]
    pub difference: Difference,
    /// How many replicas would tell whether it is chance, if as large a part of them has a value in both; none if it is
    /// not in doubt, if one pair has no spread to tell it from, and for more than a million.
    pub settles_at: Option<u32>,
}

/// Which way a figure has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// It is better, and that is no chance.
    Better,
    /// It is worse, but the interval of the difference covers zero.
    MayBeChance,
    /// It is worse, and that is no chance.
    Worse,
}

/// Something that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// The variant.
    pub variant: String,
    /// What of it: `scenario` for all of it, `service`, `fault`.
    pub scope: &'static str,
    /// Its name; empty for the variant as a whole.
    pub name: String,
    /// Which metrics of it; empty if none was compared.
    pub metrics: Vec<String>,
    /// Why it was not compared.
    pub because: Because,
}

/// Why something was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// The baseline does not have it.
    NotInBaseline,
    /// The scenario does not have it any more.
    NotInScenario,
    /// The scenario still has the thing, but the metric is not gated, or not known, any more.
    NotGated,
    /// It is about the requests that succeeded, and these are more of all than before: the ones that failed until then
    /// are among them now.
    MoreSucceed,
    /// Not all of its replicas ran to their end.
    Partial,
}

impl Regressions {
    /// Compares every variant that both have, in the replicas that both have.
    pub fn of(summary: &Summary, kept: &Kept, tolerance: f64) -> Self {
        let mut regressions = Self {
            tolerance,
            replicas: summary.replicas.min(kept.replicas),
            replicas_of_baseline: kept.replicas,
            replicas_of_run: summary.replicas,
            changes: Vec::new(),
            unmatched: Vec::new(),
        };
        for variant in &summary.variants {
            match kept.variants.get(&variant.name) {
                _ if variant.partial => regressions.leave_out(&variant.name, Because::Partial),
                None => regressions.leave_out(&variant.name, Because::NotInBaseline),
                Some(before) => regressions.compare(variant, before),
            }
        }
        for name in kept.variants.keys().filter(|&name| summary.variants.iter().all(|variant| variant.name != *name)) {
            regressions.leave_out(name, Because::NotInScenario);
        }
        regressions
    }

    /// Whether anything is worse, and that is no chance.
    pub fn is_worse(&self) -> bool {
        self.changes.iter().any(|change| change.trend == Trend::Worse)
    }

    fn compare(&mut self, variant: &VariantSummary, before: &KeptVariant) {
        let gated = variant.gated();
        let mut changes = Vec::new();
        for figure in &gated {
            let thing = (figure.kind, figure.name);
            let Some(table) = before.table(figure.kind, figure.name) else {
                self.leave_out_part(&variant.name, thing, Because::NotInBaseline);
                continue;
            };
            // What was undefined in every replica is there, as so many nulls; what is not was not looked at.
            let Some(reference) = table.get(figure.column.name) else {
                self.leave_out_metric(&variant.name, thing, figure.column.name, Because::NotInBaseline);
                continue;
            };
            let pairs: Vec<_> = reference.iter().copied().zip(figure.values.iter().copied()).collect();
            let all = self.replicas_of_run.max(self.replicas_of_baseline) as usize;
            let both = [of_values(figure, &pairs, all, self.tolerance), of_definition(figure, &pairs, all)];
            let named = |change| Change { variant: variant.name.clone(), ..change };
            changes.extend(both.into_iter().flatten().map(named));
        }
        self.take(&variant.name, changes);
        let is_gated = |thing, metric: Option<&str>| {
            let mut figures = gated.iter().filter(|figure| (figure.kind, figure.name) == thing);
            figures.any(|figure| metric.is_none_or(|metric| figure.column.name == metric))
        };
        for (kind, name, table) in before.tables() {
            if !is_gated((kind, name), None) {
                self.leave_out_part(&variant.name, (kind, name), Because::NotInScenario);
                continue;
            }
            for metric in table.keys().filter(|&metric| !is_gated((kind, name), Some(metric))) {
                self.leave_out_metric(&variant.name, (kind, name), metric, Because::NotGated);
            }
        }
    }

    /// The changes of a variant, but not for the worse of what is about the requests that succeed where more of all do.
    fn take(&mut self, variant: &str, changes: Vec<Change>) {
        let is_better = |change: &Change| change.metric == "success_ratio" && change.trend == Trend::Better;
        let more_succeed = changes.iter().any(is_better);
        for change in changes {
            let of_others = more_succeed && OF_SUCCEEDED.contains(&change.metric);
            if of_others && change.trend != Trend::Better {
                self.leave_out_metric(variant, (ScopeKind::Scenario, ""), change.metric, Because::MoreSucceed);
            } else {
                self.changes.push(change);
            }
        }
    }

    fn leave_out(&mut self, variant: &str, because: Because) {
        self.leave_out_part(variant, (ScopeKind::Scenario, ""), because);
    }

    /// Once, however many figures the thing has.
    fn leave_out_part(&mut self, variant: &str, thing: (ScopeKind, &str), because: Because) {
        let part = Unmatched::new(variant, thing, because);
        if self.unmatched.last() != Some(&part) {
            self.unmatched.push(part);
        }
    }

    /// Together with the other metrics of the thing that are left out for the same reason.
    fn leave_out_metric(&mut self, variant: &str, thing: (ScopeKind, &str), metric: &str, because: Because) {
        let part = Unmatched::new(variant, thing, because);
        let same = self.unmatched.iter_mut().find(|other| {
            (&other.variant, other.scope, &other.name, other.because)
                == (&part.variant, part.scope, &part.name, part.because)
        });
        match same {
            Some(other) if other.metrics.iter().any(|other| other == metric) => {}
            Some(other) => other.metrics.push(metric.to_owned()),
            None => self.unmatched.push(Unmatched { metrics: vec![metric.to_owned()], ..part }),
        }
    }
}

impl Unmatched {
    /// A thing as a whole.
    fn new(variant: &str, (kind, name): (ScopeKind, &str), because: Because) -> Self {
        let (variant, name) = (variant.to_owned(), name.to_owned());
        Self { variant, scope: kind.name(), name, metrics: Vec::new(), because }
    }

    /// Whether nothing of the variant was compared.
    pub fn is_variant(&self) -> bool {
        self.name.is_empty() && self.metrics.is_empty()
    }
}

/// The replicas that were compared: before, and now.
type Pairs = [(Option<f64>, Option<f64>)];

/// The change of the mean, over the replicas in which both have a value, of `all` that there are on either side.
fn of_values(figure: &Gated<'_>, pairs: &Pairs, all: usize, tolerance: f64) -> Option<Change> {
    let both = pairs.iter().filter_map(|(before, now)| before.zip(*now)).collect();
    let difference = Difference::of(figure.column.unit, both, all);
    let before = difference.reference.mean?;
    let trend = trend(&difference, figure.better == Better::Higher, tolerance * before.abs())?;
    let worse = if figure.better == Better::Higher { -1.0 } else { 1.0 };
    let worse_by = difference.ratio.map(|ratio| worse * (ratio - 1.0));
    Some(Change { worse_by, ..change(figure, trend, pairs.len() as u32, difference) })
}

/// The change of the number of replicas in which there is a value at all.
fn of_definition(figure: &Gated<'_>, pairs: &Pairs, all: usize) -> Option<Change> {
    let is_defined = |value: Option<f64>| f64::from(u8::from(value.is_some()));
    let both = pairs.iter().map(|&(before, now)| (is_defined(before), is_defined(now))).collect();
    let difference = Difference::of(Unit::Count, both, all);
    let trend = trend(&difference, figure.better != Better::LowerOrNone, 0.0)?;
    let counts = [
        pairs.iter().filter(|(before, _)| before.is_some()).count() as u32,
        pairs.iter().filter(|(_, now)| now.is_some()).count() as u32,
    ];
    Some(Change { defined: Some(counts), ..change(figure, trend, pairs.len() as u32, difference) })
}

/// From the pairs in which both are defined, of so many replicas.
fn change(figure: &Gated<'_>, trend: Trend, replicas: u32, difference: Difference) -> Change {
    let pairs = difference.difference.n;
    let in_doubt = settling::replicas_of_mean(&difference.difference, 0.0).filter(|_| trend == Trend::MayBeChance);
    Change {
        variant: String::new(),
        scope: figure.kind.name(),
        name: figure.name.to_owned(),
        metric: figure.column.name,
        trend,
        defined: None,
        worse_by: None,
        settles_at: in_doubt.and_then(|wanted| settling::replicas_of_pairs(wanted, pairs, replicas)),
        difference,
    }
}

/// What a difference of more than `allowed` amounts to; none if it is less, or if it is for the better and may be
/// chance.
fn trend(difference: &Difference, higher_is_better: bool, allowed: f64) -> Option<Trend> {
    let by = difference.difference.mean?;
    let [before, now] = [&difference.reference, &difference.value].map(|stat| stat.mean.unwrap_or(0.0).abs());
    // 5 % of a decimal figure is no binary fraction: a rounding error does not decide.
    let rounding = if allowed > 0.0 { 4.0 * f64::EPSILON * before.max(now) } else { 0.0 };
    if by.abs() <= allowed + rounding {
        return None;
    }
    match ((by > 0.0) == higher_is_better, difference.shown) {
        (true, Shown::NoDifference) => None,
        (true, _) => Some(Trend::Better),
        (false, Shown::NoDifference) => Some(Trend::MayBeChance),
        (false, _) => Some(Trend::Worse),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::catalogue::columns;

    fn figure(metric: &str, now: &[Option<f64>]) -> Gated<'static> {
        let column = columns(ScopeKind::Scenario).into_iter().find(|column| column.name == metric).unwrap();
        let better = column.better.expect("it is gated");
        Gated { kind: ScopeKind::Scenario, name: "", column, better, values: now.to_vec() }
    }

    /// What becomes of a metric, by its values and by whether it is defined.
    fn trends(metric: &str, before: &[Option<f64>], now: &[Option<f64>], tolerance: f64) -> [Option<Trend>; 2] {
        let figure = figure(metric, now);
        let pairs: Vec<_> = before.iter().copied().zip(now.iter().copied()).collect();
        let all = pairs.len();
        let changes = [of_values(&figure, &pairs, all, tolerance), of_definition(&figure, &pairs, all)];
        changes.map(|change| change.map(|change| change.trend))
    }

    fn by_value(metric: &str, before: &[f64], now: &[f64], tolerance: f64) -> Option<Trend> {
        let some = |values: &[f64]| values.iter().map(|&value| Some(value)).collect::<Vec<_>>();
        let [by_value, by_definition] = trends(metric, &some(before), &some(now), tolerance);
        assert_eq!(by_definition, None);
        by_value
    }

    #[test]
    fn the_direction_is_that_of_the_metric() {
        let [more, less] = [&[110.0, 120.0], &[90.0, 80.0]];
        let before = &[100.0, 110.0];
        assert_eq!(by_value("retries", before, more, 0.05), Some(Trend::Worse));
        assert_eq!(by_value("retries", more, before, 0.05), Some(Trend::Better));
        assert_eq!(by_value("succeeded", before, more, 0.05), Some(Trend::Better));
        assert_eq!(by_value("succeeded", more, before, 0.05), Some(Trend::Worse));
        assert_eq!(by_value("retries", less, less, 0.0), None);
    }

    /// 105 is 5 % above 100, and 10.5 is 5 % above 10 but not in binary; anything is more than 5 % of nothing.
    #[test]
    fn the_tolerance_is_a_share_of_what_it_was() {
        let alike = |before: f64, now: f64, tolerance| by_value("retries", &[before; 3], &[now; 3], tolerance);
        assert_eq!(alike(100.0, 105.0, 0.05), None);
        assert_eq!(alike(0.1, 0.105, 0.05), None);
        assert_eq!(alike(100.0, 105.1, 0.05), Some(Trend::Worse));
        assert_eq!(alike(100.0, 100.1, 0.0), Some(Trend::Worse));
        assert_eq!(alike(0.0, 0.001, 0.05), Some(Trend::Worse));
        assert_eq!(alike(0.0, 0.0, 0.0), None);
    }

    /// Differences of 0, 0 and 30 have the mean 10, the standard deviation 17.32 and the interval 10 ± 43. By the tables
    /// 15 replicas settle that, as 2.1448 x 17.3205 / sqrt(15) = 9.59, and 14 do not: 2.1604 x 17.3205 / sqrt(14) =
    /// 10.001.
    #[test]
    fn what_may_be_chance_is_no_regression() {
        let before = [Some(100.0); 3];
        let now = [Some(100.0), Some(100.0), Some(130.0)];
        let pairs: Vec<_> = before.into_iter().zip(now).collect();
        let change = of_values(&figure("retries", &now), &pairs, pairs.len(), 0.05).expect("it is 10 % more");
        assert_eq!((change.trend, change.settles_at), (Trend::MayBeChance, Some(15)));
        assert!((change.worse_by.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(of_values(&figure("succeeded", &now), &pairs, pairs.len(), 0.05), None, "nor an improvement");
    }

    /// The same differences where 7 of 10 replicas have no value on one of the sides: 15 pairs take 50 replicas.
    #[test]
    fn replicas_without_a_value_settle_nothing() {
        let before = [&[Some(100.0); 6][..], &[None; 4]].concat();
        let now = [&[None; 3][..], &[Some(100.0), Some(100.0), Some(130.0)], &[Some(100.0); 4]].concat();
        let pairs: Vec<_> = before.into_iter().zip(now.iter().copied()).collect();
        let change = of_values(&figure("retries", &now), &pairs, pairs.len(), 0.05).expect("it is 10 % more");
        assert_eq!((change.difference.difference.n, change.settles_at), (3, Some(50)));
    }

    /// One pair has no interval, however far apart its values are: of several replicas it neither fails nor counts as an
    /// improvement. If it is all there is, nobody asks about chance.
    #[test]
    fn one_pair_of_several_proves_nothing() {
        let [few, many, none] = [Some(100.0), Some(900.0), None];
        assert_eq!(trends("retries", &[few, none], &[many, none], 0.05), [Some(Trend::MayBeChance), None]);
        assert_eq!(trends("retries", &[many, none], &[few, none], 0.05), [None, None]);
        assert_eq!(trends("retries", &[few; 2], &[many; 2], 0.05), [Some(Trend::Worse), None], "two do");
        assert_eq!(trends("retries", &[few], &[many], 0.05), [Some(Trend::Worse), None], "all there is");
        assert_eq!(trends("latency_p99_ms", &[few], &[none], 0.05), [None, Some(Trend::Worse)]);
    }

    /// Of 20 replicas all lose their value, or one does, which may be chance: -0.05 ± 0.105.
    #[test]
    fn to_lose_a_value_is_worse_unless_none_is_best() {
        let before = [Some(3.0); 20];
        let mut one_lost = before;
        one_lost[7] = None;
        assert_eq!(trends("latency_p99_ms", &before, &[None; 20], 0.05), [None, Some(Trend::Worse)]);
        assert_eq!(trends("latency_p99_ms", &[None; 20], &before, 0.05), [None, Some(Trend::Better)]);
        assert_eq!(trends("latency_p99_ms", &before, &one_lost, 0.05), [None, Some(Trend::MayBeChance)]);
        assert_eq!(trends("last_retry_s", &before, &[None; 20], 0.05), [None, Some(Trend::Better)]);
        assert_eq!(trends("last_retry_s", &[None; 20], &before, 0.05), [None, Some(Trend::Worse)]);
    }
}
