//! Judges the expectations of a scenario for one variant.

use crate::experiment::precision::Spread;
use crate::experiment::replicas::Replica;
use crate::experiment::runner::Digest;
use crate::experiment::{Expectation, Judgement, Stat, Statistic, VariantSummary, Verdict, Window, Windows};
use crate::metrics::Outcome;
use crate::metrics::catalogue::{Measured, ScopeKind, columns};
use crate::plan::Plan;

/// The expectations, and where their values are found in an outcome of this variant's plan.
pub(super) struct Judge<'a> {
    variant: &'a str,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    expectation: &'a Expectation,
    /// Whether it is about this variant.
    applies: bool,
    /// The number of the thing among those of its kind.
    thing: usize,
    /// The position of the metric in the catalogue.
    metric: usize,
}

impl<'a> Judge<'a> {
    pub fn new(variant: &'a str, plan: &Plan, expectations: &'a [Expectation]) -> Self {
        let row = |expectation: &'a Expectation| {
            let scope = &expectation.scope;
            let names = match scope.kind {
                ScopeKind::Scenario => &[][..],
                ScopeKind::Client => &plan.labels.groups,
                ScopeKind::Call => &plan.labels.calls,
                ScopeKind::Service => &plan.labels.services,
                ScopeKind::Fault => &plan.labels.faults,
            };
            let metric = columns(scope.kind).iter().position(|column| column.name == expectation.metric);
            Row {
                expectation,
                applies: expectation.variant.as_deref().is_none_or(|name| name == variant),
                thing: names.iter().position(|name| *name == scope.name).unwrap_or(0),
                metric: metric.expect("the metric was checked when the scenario was read"),
            }
        };
        Self { variant, rows: expectations.iter().map(row).collect() }
    }

    /// For each expectation the values in its windows; none for one about the whole run or another variant.
    pub fn windowed(&self, outcome: &Outcome) -> Vec<Vec<Option<f64>>> {
        let values = |row: &Row| match &row.expectation.windows {
            Windows::Each(windows) if row.applies => {
                let value = |window: &Window| {
                    let measured = Measured::window(outcome, window.position as usize);
                    measured.value(row.expectation.scope.kind, row.thing, row.metric)
                };
                windows.iter().map(value).collect()
            }
            _ => Vec::new(),
        };
        self.rows.iter().map(values).collect()
    }

    /// How well each of the means is known that expectations of this variant are about.
    pub fn spreads(&self, replicas: &[Replica<Digest>]) -> impl Iterator<Item = Spread> {
        self.rows.iter().enumerate().flat_map(move |(at, row)| {
            let Row { expectation, applies, thing, metric } = row;
            let is_mean = *applies && expectation.statistic == Statistic::Mean;
            let windows = match &expectation.windows {
                Windows::Whole => 1,
                Windows::Each(windows) => windows.len(),
            };
            let spread = move |window: usize| {
                let kind = expectation.scope.kind;
                let values = replicas.iter().map(|replica| match &expectation.windows {
                    Windows::Whole => replica.kept.readings.value(kind, *thing, *metric),
                    Windows::Each(_) => replica.kept.windowed[at][window],
                });
                let column = columns(kind)[*metric];
                let subject = if expectation.scope.name.is_empty() { "" } else { " of " };
                let what = || format!("{}{subject}{} in {}", column.name, expectation.scope.name, self.variant);
                Spread::of(column.name, &Stat::over(column.unit, values), what)
            };
            (0..if is_mean { windows } else { 0 }).filter_map(spread)
        })
    }

    /// The verdict on an expectation, if it is about this variant. Of several windows it is that of the one which is
    /// furthest from what was expected, so that one which fails is shown if there is one, or else one that is not
    /// settled. A partial summary judges nothing. `windowed` has a row per replica.
    pub fn verdict<'w>(
        &self,
        row: usize,
        summary: &VariantSummary,
        windowed: impl Iterator<Item = &'w [Option<f64>]> + Clone,
    ) -> Option<Verdict> {
        let Row { expectation, applies, metric, .. } = self.rows[row];
        if !applies {
            return None;
        }
        if summary.partial {
            return Some(expectation.not_judged(self.variant));
        }
        let replicas = summary.replicas_finished;
        let Windows::Each(windows) = &expectation.windows else {
            let scope = &expectation.scope;
            let (_, _, table) = summary
                .tables()
                .find(|&(kind, name, _)| kind == scope.kind && name == scope.name)
                .expect("the scope was checked when the scenario was read");
            return Some(expectation.judge(self.variant, None, &table[expectation.metric], replicas));
        };
        let unit = columns(expectation.scope.kind)[metric].unit;
        let verdicts = windows.iter().enumerate().map(|(at, window)| {
            let stat = Stat::over(unit, windowed.clone().map(|values| values[at]));
            expectation.judge(self.variant, Some(window), &stat, replicas)
        });
        // One that was not met has a larger strain than all that were; among these, doubt comes before strain.
        let badness = |verdict: &Verdict| {
            let strain = verdict.actual.map_or(f64::INFINITY, |actual| expectation.condition.strain(actual));
            (verdict.judgement != Judgement::Met, verdict.straddles && verdict.judgement == Judgement::Met, strain)
        };
        let worst =
            verdicts.reduce(|worst, verdict| if badness(&verdict) > badness(&worst) { verdict } else { worst })?;
        Some(Verdict { windows: windows.len() as u32, ..worst })
    }
}
