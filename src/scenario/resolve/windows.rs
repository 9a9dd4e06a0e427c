//! The windows of an expectation: only some metrics can be measured in one, and each must have an end.

use crate::experiment::{Scope, Window, Windows};
use crate::metrics::catalogue::{Column, ScopeKind, columns};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::resolve::expectations::Row;
use crate::scenario::resolve::instant;
use crate::scenario::source::Place;
use crate::scenario::suggest;
use crate::scenario::values::Duration;
use crate::time::{Instant, Span};

/// The most windows of one expectation.
const WINDOWS_MAX: u64 = 100_000;

/// The most windows of all expectations, times the client groups and services that are counted in each.
const COUNTS_MAX: usize = 1_000_000;

impl Row<'_> {
    /// Over what the row is measured; none if that is wrong, which has been reported then.
    pub(super) fn windows(&mut self, scope: Option<&Scope>, metric: Option<Column>) -> Option<Windows> {
        let table = self.table;
        let keys = [table.from.key(), table.until.key(), table.every.key()];
        let Some(first_key) = keys.into_iter().flatten().min_by_key(|place| place.start) else {
            return Some(Windows::Whole);
        };
        if let (Some(scope), Some(metric)) = (scope, metric)
            && !metric.window
        {
            let message = format!("`{}` is about a run as a whole: it cannot be measured in a window", metric.name);
            let error = Diagnostic::new(message).at(first_key);
            return self.refuse(error.hint(without_window(scope.kind)));
        }
        if let (true, Some(every)) = (table.from.is_absent(), table.every.key()) {
            let error = Diagnostic::new("`every` goes with `from`, which is not there").at(every);
            return self.refuse(error.hint("add `from = \"0s\"` for windows from the start on"));
        }
        let from = if table.from.is_absent() { Instant::ZERO } else { instant(Some(*table.from.get()?)) };
        let until = self.window_end(first_key)?;
        if until <= from {
            // Without `until` it is the horizon that comes too early.
            let place = table.until.spanned().or(table.from.spanned()).map_or(first_key, |given| &given.place);
            let error = Diagnostic::new("the window is over before it begins").at(place);
            return self.refuse(error.hint("`from` and `until` are times of the run"));
        }
        let every = if table.every.is_absent() { until.since(from) } else { self.window_width(from, until)? };
        let count = until.since(from).as_ns() / every.as_ns();
        let windows = (0..count).map(|k| {
            let start = from + Span::from_ns(k * every.as_ns());
            let (at, _) = self.known.insert_full(start..start + every);
            Window { position: at as u32, from_s: start.as_s(), until_s: (start + every).as_s() }
        });
        let windows = Windows::Each(windows.collect());
        let tables = self.judged().into_iter().map(|variant| variant.tables);
        let counted = tables.map(|tables| tables.clients.names().count() + tables.services.names().count()).max();
        let counts = self.known.len().saturating_mul(counted.unwrap_or(0));
        if counts > COUNTS_MAX {
            let message = format!(
                "the expectations have {} different windows by now, and {} client groups and services are counted in each; \
                 the limit is {COUNTS_MAX} counts",
                self.known.len(),
                counted.unwrap_or(0)
            );
            let error = Diagnostic::new(message).at(first_key);
            return self.refuse(error.hint("a wider `every` makes fewer windows"));
        }
        Some(windows)
    }

    /// The end of the window, or of the last of them.
    fn window_end(&mut self, first_key: &Place) -> Option<Instant> {
        let judged = self.judged();
        // A wrong horizon has been reported.
        if judged.iter().any(|variant| variant.tables.horizon.is_wrong()) || self.table.until.is_wrong() {
            return None;
        }
        let horizons: Vec<Option<Instant>> = judged
            .iter()
            .map(|variant| variant.tables.horizon.get()?.value().map(|&horizon| instant(Some(horizon))))
            .collect();
        let Some(given) = self.table.until.spanned() else {
            let horizon = horizons.first().copied().flatten();
            if horizons.iter().any(|&other| other != horizon) {
                let message = "the window would end with the `horizon`, in which the variants differ";
                return self.refuse(Diagnostic::new(message).at(first_key).hint("add `until`"));
            }
            if horizon.is_none() {
                let error = Diagnostic::new("the window has no end").at(first_key);
                return self.refuse(error.hint("add `until`, or a `horizon` for the run"));
            }
            return horizon;
        };
        let until = instant(Some(given.value));
        let exceeded = judged.iter().zip(&horizons).filter(|(_, horizon)| horizon.is_some_and(|end| end < until));
        let exceeded: Vec<&str> = exceeded.map(|(variant, _)| variant.name).collect();
        if !exceeded.is_empty() {
            let error = Diagnostic::new("the window ends after the `horizon`").at(&given.place);
            let error = error.hint("the run is over then");
            let is_of_all = exceeded.len() == judged.len();
            let error = if is_of_all { error } else { error.note(format!("in variant {}", suggest::list(exceeded))) };
            return self.refuse(error);
        }
        Some(until)
    }

    /// The width of windows side by side, of which at least one fits in.
    fn window_width(&mut self, from: Instant, until: Instant) -> Option<Span> {
        let given = self.table.every.spanned()?;
        let Duration(every) = given.value;
        let error = match until.since(from).as_ns().checked_div(every.as_ns()) {
            None => Diagnostic::new("`every` must be longer than zero").hint("for a single window take it out"),
            Some(0) => Diagnostic::new("`every` is longer than all of the time from `from` to `until`")
                .hint("make it shorter, or take it out for a single window"),
            Some(count) if count > WINDOWS_MAX => {
                Diagnostic::new(format!("the expectation has {count} windows; the limit is {WINDOWS_MAX}"))
                    .hint("make `every` longer")
            }
            // What is left over would be judged by nobody.
            Some(count) if count * every.as_ns() < until.since(from).as_ns() => {
                Diagnostic::new("`every` does not divide the time from `from` to `until`")
                    .hint("the rest at the end would not be judged: choose another `every` or another `until`")
            }
            Some(_) => return Some(every),
        };
        self.refuse(error.at(&given.place))
    }
}

/// The way out for a metric that cannot be measured in a window: those that can, families of them by their beginning.
fn without_window(kind: ScopeKind) -> String {
    let mut names: Vec<String> = Vec::new();
    for column in columns(kind).into_iter().filter(|column| column.window) {
        let family = ["failed_", "stopped_"].into_iter().find(|family| column.name.starts_with(family));
        let name = family.map_or_else(|| column.name.to_owned(), |family| format!("{family}..."));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return format!("all metrics of {kind}s are about the whole run: take the window out");
    }
    format!("these can: {}", suggest::list(names.iter().map(String::as_str)))
}
