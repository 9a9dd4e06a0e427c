//! Expectations: the metric must exist, what it is about too, and the figures must be in its unit.

use std::ops::Range;

use indexmap::IndexSet;

use crate::experiment::{Condition, Expectation, Scope, Statistic, Tolerance};
use crate::metrics::catalogue::{Column, SHARES, ScopeKind, Unit, columns};
use crate::plan::{Capacity, Draft};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Named, Spanned};
use crate::scenario::resolve::metric_names;
use crate::scenario::source::{Place, Sources};
use crate::scenario::tables::{CallTable, ExpectTable, ScenarioTable};
use crate::scenario::values::{Figure, Name, NotNegative, Text};
use crate::scenario::{number, suggest};
use crate::time::Instant;

/// A variant that expectations are judged for.
pub struct Judged<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its tables.
    pub tables: &'a ScenarioTable,
    /// What they mean, as far as they are good.
    pub draft: &'a Draft,
}

/// The scopes that have names, in the order of their keys.
const NAMED_SCOPES: [ScopeKind; 4] = [ScopeKind::Service, ScopeKind::Call, ScopeKind::Client, ScopeKind::Fault];

/// Resolves the expectations of a file, and gives all windows in which they measure, each once. Rows with an error are
/// left out. If `only` one of the variants runs, rows are about that one: what another expects is not looked at.
pub fn expectations(
    rows: &Field<Vec<Spanned<ExpectTable>>>,
    variants: &[Judged<'_>],
    only: Option<&str>,
    sources: &Sources,
    errors: &mut Vec<Diagnostic>,
) -> (Vec<Expectation>, Vec<Range<Instant>>) {
    let rows = rows.get().map_or(&[][..], Vec::as_slice);
    let mut known = IndexSet::new();
    // If there is no such variant, that is reported elsewhere.
    let only = only.and_then(|only| variants.iter().position(|variant| variant.name == only));
    let running = only.map_or(variants, |at| &variants[at..=at]);
    let is_idle = |name: &str| {
        let has = |variants: &[Judged<'_>]| variants.iter().any(|variant| variant.name == name);
        has(variants) && !has(running)
    };
    let rows = rows.iter().filter(|row| !row.value.variant.get().is_some_and(|Name(name)| is_idle(name)));
    let expectations = rows.filter_map(|row| {
        let row = Row { table: &row.value, place: &row.place, variants, running, known: &mut known, sources, errors };
        row.resolve()
    });
    (expectations.collect(), known.into_iter().collect())
}

pub(super) struct Row<'a> {
    pub(super) table: &'a ExpectTable,
    place: &'a Place,
    /// Every variant of the scenario.
    variants: &'a [Judged<'a>],
    /// Those that run.
    running: &'a [Judged<'a>],
    /// The windows of this row and of those before it.
    pub(super) known: &'a mut IndexSet<Range<Instant>>,
    sources: &'a Sources,
    errors: &'a mut Vec<Diagnostic>,
}

impl Row<'_> {
    fn resolve(mut self) -> Option<Expectation> {
        let variant = self.variant();
        let scope = self.scope();
        let metric = scope.as_ref().and_then(|scope| self.metric(scope));
        let windows = self.windows(scope.as_ref(), metric);
        let condition = self.condition(metric);
        if let (Some(scope), Some(metric)) = (&scope, metric) {
            self.check_recovery(scope, metric);
        }
        Some(Expectation {
            variant: variant?,
            scope: scope?,
            metric: metric?.name,
            windows: windows?,
            statistic: self.table.statistic.get().copied().unwrap_or(Statistic::Mean),
            condition: condition?,
            position: self.sources.position(self.place).expect("flags cannot make an expectation: it is in the file"),
        })
    }

    /// The variants it is about.
    pub(super) fn judged(&self) -> Vec<&Judged<'_>> {
        let about = self.table.variant.get().map(|Name(variant)| variant);
        self.running.iter().filter(|variant| about.is_none_or(|about| about == variant.name)).collect()
    }

    pub(super) fn refuse<T>(&mut self, error: Diagnostic) -> Option<T> {
        self.errors.push(error);
        None
    }

    /// The variant; the inner none for every one.
    fn variant(&mut self) -> Option<Option<String>> {
        let Some(given) = self.table.variant.spanned() else {
            return self.table.variant.is_absent().then_some(None);
        };
        let Name(name) = &given.value;
        if self.variants.iter().any(|variant| variant.name == name) {
            return Some(Some(name.clone()));
        }
        let names = self.variants.iter().map(|variant| variant.name);
        let error = Diagnostic::new(format!("the expectation is about an unknown variant `{name}`"));
        let error = error.at(&given.place).maybe_hint(suggest::hint(name, "variants", names));
        self.refuse(error)
    }

    fn scope(&mut self) -> Option<Scope> {
        let ExpectTable { service, call, client, fault, .. } = self.table;
        let given = NAMED_SCOPES.into_iter().zip([service, call, client, fault]).find(|(_, field)| !field.is_absent());
        let Some((kind, field)) = given else {
            return Some(Scope { kind: ScopeKind::Scenario, name: String::new() });
        };
        let given = field.spanned()?;
        let Text(name) = &given.value;
        for variant in self.judged() {
            let names = names(kind, variant.tables);
            if !names.contains(name) {
                let error = Diagnostic::new(format!("the expectation is about an unknown {kind} `{name}`"));
                let hint = suggest::hint(name, &format!("{kind}s"), names.iter().map(String::as_str));
                return self.refuse(error.at(&given.place).maybe_hint(hint));
            }
        }
        Some(Scope { kind, name: name.clone() })
    }

    fn metric(&mut self, scope: &Scope) -> Option<Column> {
        if self.table.metric.is_absent() {
            let error = Diagnostic::new("the expectation has no `metric`").at(self.place);
            return self.refuse(error.hint("add `metric = \"amplification\"`"));
        }
        let given = self.table.metric.spanned()?;
        let Text(name) = &given.value;
        let known = columns(scope.kind);
        if let Some(&column) = known.iter().find(|column| column.name == name) {
            return Some(column);
        }
        let first_of = |kind| self.judged().first().and_then(|variant| example(kind, name, variant));
        let error = metric_names::unknown(name, &given.place, scope.kind, first_of);
        self.refuse(error)
    }

    /// The condition; with an unknown metric only its form is checked.
    fn condition(&mut self, metric: Option<Column>) -> Option<Condition> {
        let ExpectTable { equals, at_most, at_least, between, tolerance, within, .. } = self.table;
        let absent = [equals, at_most, at_least].iter().all(|field| field.is_absent()) && between.is_absent();
        if absent {
            let error = Diagnostic::new("the expectation expects nothing").at(self.place);
            return self.refuse(error.hint("add one of `equals`, `at_most`, `at_least`, `between`"));
        }
        for (key, place) in [("tolerance", tolerance.key()), ("within", within.key())] {
            if let (true, Some(place)) = (equals.is_absent(), place) {
                let error = Diagnostic::new(format!("`{key}` goes with `equals`, which is not there")).at(place);
                self.errors.push(error.hint("use `between` for a range"));
            }
        }
        if let Some(equals) = equals.spanned() {
            let tolerance = self.tolerance(metric);
            return Some(Condition::Equals { value: self.figure(equals, metric)?, tolerance: tolerance? });
        }
        if let Some(bound) = at_most.spanned() {
            return self.figure(bound, metric).map(Condition::AtMost);
        }
        if let Some(bound) = at_least.spanned() {
            return self.figure(bound, metric).map(Condition::AtLeast);
        }
        let between = between.spanned()?;
        let [low, high] = between.value.as_slice() else {
            let error = Diagnostic::new(format!("`between` takes two figures, not {}", between.value.len()));
            return self.refuse(error.at(&between.place).hint("write `[lowest, highest]`"));
        };
        let (low, high) = (self.figure(low, metric)?, self.figure(high, metric)?);
        if low > high {
            let error = Diagnostic::new("`between` has its bounds the wrong way round").at(&between.place);
            return self.refuse(error.hint(format!("write `[{high}, {low}]`")));
        }
        Some(Condition::Between(low, high))
    }

    fn tolerance(&mut self, metric: Option<Column>) -> Option<Tolerance> {
        if let Some(&NotNegative(share)) = self.table.tolerance.get() {
            return Some(Tolerance::Relative(share));
        }
        let Some(within) = self.table.within.spanned() else { return Some(Tolerance::Exact) };
        let distance = self.figure(within, metric)?;
        if distance < 0.0 {
            let error = Diagnostic::new("`within` must not be negative").at(&within.place);
            return self.refuse(error.hint("it is a distance to either side"));
        }
        Some(Tolerance::Absolute(distance))
    }

    /// A figure in the unit of the metric.
    fn figure(&mut self, figure: &Spanned<Figure>, metric: Option<Column>) -> Option<f64> {
        let metric = metric?;
        match (figure.value, metric.unit) {
            (Figure::Number(number), _) if number > 1.0 && SHARES.contains(&metric.name) => {
                let error = Diagnostic::new(format!("`{}` is a share from 0 to 1, not {number}", metric.name));
                let error = error.at(&figure.place);
                let share = number::share_of_percent(number);
                let hint = share.map(|share| format!("for {number} % write `{share}`"));
                self.refuse(error.maybe_hint(hint).hint_else(|| "1 is all of them: it is never above that".to_owned()))
            }
            (Figure::Number(number), _) => Some(number),
            (Figure::Time(span), Unit::Seconds) => Some(span.as_s()),
            (Figure::Time(span), Unit::Milliseconds) => Some(span.as_ms()),
            (Figure::Time(_), Unit::Count | Unit::Ratio | Unit::PerSecond) => {
                let error = Diagnostic::new(format!("`{}` is not a time", metric.name)).at(&figure.place);
                self.refuse(error.hint(format!("write a number; its unit is `{}`", metric.unit.name())))
            }
        }
    }
}

/// Metrics that a service without a limit on its workers does not have.
const OF_WORKERS: [&str; 4] = ["utilisation", "capacity_rps", "queue_wait_mean_ms", "queue_wait_p99_ms"];

/// The first thing of a kind, or the first that has the metric where it is known that others have not.
fn example(kind: ScopeKind, metric: &str, variant: &Judged<'_>) -> Option<String> {
    let mut services = variant.draft.services.iter();
    let limited = services.find(|service| service.capacity.workers != Capacity::NO_LIMIT);
    let limited = limited.filter(|_| kind == ScopeKind::Service && OF_WORKERS.contains(&metric));
    limited.map(|service| service.name.clone()).or_else(|| names(kind, variant.tables).into_iter().next())
}

/// The names of the things of a kind.
fn names(kind: ScopeKind, tables: &ScenarioTable) -> Vec<String> {
    let own = |name: &str| name.to_owned();
    match kind {
        ScopeKind::Scenario => Vec::new(),
        ScopeKind::Client => tables.clients.names().map(own).collect(),
        ScopeKind::Service => tables.services.names().map(own).collect(),
        ScopeKind::Fault => tables.faults.names().map(own).collect(),
        ScopeKind::Call => {
            let labels = |caller: &str, calls: &Field<Named<CallTable>>| {
                calls.names().map(|label| format!("{caller}->{label}")).collect::<Vec<_>>()
            };
            let clients = tables.clients.entries().filter_map(|(name, field)| Some(labels(name, &field.get()?.calls)));
            let services =
                tables.services.entries().filter_map(|(name, field)| Some(labels(name, &field.get()?.calls)));
            clients.chain(services).flatten().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that the catalogue does not have would be checked against nothing, and one that is missing here not at all.
    #[test]
    fn the_shares_are_those_of_the_catalogue() {
        let columns: Vec<Column> = ScopeKind::ALL.into_iter().flat_map(columns).collect();
        for column in &columns {
            let is_share = column.unit == Unit::Ratio && column.meaning.starts_with("share of ");
            assert_eq!(SHARES.contains(&column.name), is_share, "{}: {}", column.name, column.meaning);
        }
        assert!(SHARES.iter().chain(&OF_WORKERS).all(|name| columns.iter().any(|column| column.name == *name)));
    }
}
