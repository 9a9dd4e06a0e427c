//! The CSV files: tidy tables for spreadsheets and data frames.
//!
//! Floats are written in the shortest form that reads back as the same value; what is undefined is an empty cell. The
//! last column, `partial`, is 1 in rows of variants (`replicas.csv`: of replicas) that were cut short, and else 0.

use csv::Writer;

use crate::experiment::{Difference, FrontierSummary, Measure, Scope, Stat, Summary, SweepSummary};
use crate::metrics::catalogue::{self, ScopeKind};
use crate::report::columns::{self, CsvColumn};

const IN_MEMORY: &str = "writing to memory does not fail, and every row has as many cells as the header";

/// `summary.csv`: one row per variant, thing and metric, in the order of the catalogue.
pub fn summary(summary: &Summary) -> Vec<u8> {
    let mut table = Table::with_header(names(&columns::SUMMARY));
    for variant in &summary.variants {
        for (scope, name, metrics) in variant.tables() {
            for (&metric, stat) in metrics {
                let labels = [&variant.name, scope.name(), name, metric, stat.unit].map(str::to_owned);
                table.row(labels.into_iter().chain(figures(stat)).chain([flag(variant.partial)]));
            }
        }
    }
    table.finish()
}

fn figures(stat: &Stat) -> impl Iterator<Item = String> + use<> {
    let [low, high] = stat.ci95.map_or([None; 2], |ci95| ci95.map(Some));
    [stat.mean, stat.sd, low, high, stat.min, stat.p1, stat.p50, stat.p99, stat.max]
        .into_iter()
        .map(optional)
        .chain([stat.n.to_string()])
}

/// `replicas.csv`: one row per variant and replica, with every metric of the scenario as a whole.
pub fn replicas(summary: &Summary) -> Vec<u8> {
    let metrics = catalogue::columns(ScopeKind::Scenario);
    let names_of_metrics = metrics.iter().map(|metric| metric.name);
    let columns = names(&columns::REPLICAS).chain(names_of_metrics).chain([columns::PARTIAL.name]);
    let mut table = Table::with_header(columns);
    for variant in &summary.variants {
        for row in &variant.replicas {
            let labels = [variant.name.clone(), row.replica.to_string(), summary.seed.to_string()];
            let values = row.values.iter().copied().map(optional);
            table.row(labels.into_iter().chain(values).chain([flag(row.partial)]));
        }
    }
    table.finish()
}

/// `timeline.csv`: one row per variant, thing and bucket in which anything happened; `time_s` is the bucket's start.
pub fn timeline(summary: &Summary) -> Vec<u8> {
    let mut table = Table::with_header(names(&columns::TIMELINE));
    for variant in &summary.variants {
        for series in &variant.timeline {
            for bucket in &series.buckets {
                let start = bucket_start_s(bucket.index, summary.bucket_ms);
                let means = [
                    bucket.attempts,
                    bucket.retries,
                    bucket.succeeded,
                    bucket.failed,
                    bucket.timeouts,
                    bucket.in_flight,
                    bucket.queued,
                ];
                let labels = [variant.name.clone(), start, series.kind.name().to_owned(), series.name.clone()];
                let maxima = [bucket.attempts_max, bucket.retries_max].map(|n| n.to_string());
                let counts = [bucket.busy, bucket.budget_refused, bucket.hedges].map(shortest);
                let last = counts.into_iter().chain([optional(bucket.tokens_left), flag(variant.partial)]);
                table.row(labels.into_iter().chain(means.map(shortest)).chain(maxima).chain(last));
            }
        }
    }
    table.finish()
}

/// `comparison.csv`: one row per variant that is compared and metric, of the scenario as a whole and of its faults.
pub fn comparison(summary: &Summary) -> Vec<u8> {
    let mut table = Table::with_header(names(&columns::COMPARISON));
    for contrast in summary.comparison.iter().flat_map(|comparison| &comparison.contrasts) {
        let is_meant = |name: &str| name == contrast.name || summary.comparison.iter().any(|it| it.reference == name);
        let partial = summary.variants.iter().any(|variant| is_meant(&variant.name) && variant.partial);
        let whole = contrast.metrics.iter().map(|row| (ScopeKind::Scenario, "", row));
        let faults = contrast
            .faults
            .iter()
            .flat_map(|(fault, rows)| rows.iter().map(move |row| (ScopeKind::Fault, fault.as_str(), row)));
        for (scope, name, (&metric, difference)) in whole.chain(faults) {
            let Difference { reference, value, difference, ratio, shown } = difference;
            let labels = [contrast.name.as_str(), scope.name(), name, metric, value.unit].map(str::to_owned);
            let [low, high] = difference.ci95.map_or([None; 2], |ci95| ci95.map(Some));
            let figures = [reference.mean, value.mean, difference.mean, low, high, *ratio].map(optional);
            let last = [shown.name().to_owned(), difference.n.to_string(), flag(partial)];
            table.row(labels.into_iter().chain(figures).chain(last));
        }
    }
    table.finish()
}

/// `sweep.csv`: one row per cell of the grid, variant and measure, in the order of the grid; first the values of the
/// settings that vary, in columns that are named by their paths, then the columns of `summary.csv`.
pub fn sweep(summary: &SweepSummary) -> Vec<u8> {
    let paths = summary.axes.iter().map(|axis| axis.path.as_str());
    let columns: Vec<&str> = paths.chain(names(&columns::SUMMARY)).collect();
    let mut table = Table::with_header(columns);
    // A row has all statistics of a metric: one is enough for two measures that differ in that.
    let is_first = |at: &usize| {
        let same = |other: &Measure| {
            (&other.scope, other.metric) == (&summary.measures[*at].scope, summary.measures[*at].metric)
        };
        !summary.measures[..*at].iter().any(same)
    };
    let rows: Vec<usize> = (0..summary.measures.len()).filter(is_first).collect();
    for cell in &summary.cells {
        let values: Vec<String> = cell.values.iter().map(|value| unquoted(value)).collect();
        for figures in &cell.variants {
            for &at in &rows {
                let row = measured(&figures.variant, &summary.measures[at], &figures.stats[at], figures.partial);
                table.row(values.iter().cloned().chain(row));
            }
        }
    }
    table.finish()
}

/// `frontier.csv`: one row per variant and value that was simulated, ascending.
pub fn frontier(summary: &FrontierSummary) -> Vec<u8> {
    let mut table = Table::with_header(names(&columns::FRONTIER).chain(names(&columns::SUMMARY)));
    for variant in &summary.variants {
        for point in &variant.points {
            let holds = point.holds.map_or_else(String::new, flag);
            let row = measured(&variant.name, &summary.measure, &point.stat, point.partial);
            table.row([point.written.clone(), holds].into_iter().chain(row));
        }
    }
    table.finish()
}

/// A row with the columns of `summary.csv`.
fn measured(variant: &str, measure: &Measure, stat: &Stat, partial: bool) -> impl Iterator<Item = String> + use<> {
    let Scope { kind, name } = &measure.scope;
    let labels = [variant, kind.name(), name, measure.metric, stat.unit].map(str::to_owned);
    labels.into_iter().chain(figures(stat)).chain([flag(partial)])
}

/// Without the quotes that a string has in TOML.
fn unquoted(value: &str) -> String {
    value.trim_matches('"').to_owned()
}

fn names<'n>(columns: &'static [CsvColumn]) -> impl Iterator<Item = &'n str> {
    columns.iter().map(|column| column.name)
}

/// In decimal, from whole nanoseconds: three buckets of 0.1 s start at 0.3 s, not at 0.30000000000000004 s.
fn bucket_start_s(index: u64, bucket_ms: f64) -> String {
    let bucket_ns = (bucket_ms * 1e6).round() as u128;
    let start_ns = u128::from(index) * bucket_ns;
    let decimal = format!("{}.{:09}", start_ns / 1_000_000_000, start_ns % 1_000_000_000);
    decimal.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, shortest)
}

/// Whether a row covers less than it seems to: 1 if so, else 0.
fn flag(partial: bool) -> String {
    u8::from(partial).to_string()
}

fn shortest(value: f64) -> String {
    // Adding zero turns a negative zero, which some readers take for text, into zero.
    (value + 0.0).to_string()
}

/// A CSV file that grows in memory.
struct Table(Writer<Vec<u8>>);

impl Table {
    fn with_header<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut table = Self(Writer::from_writer(Vec::new()));
        table.row(names.into_iter().map(str::to_owned));
        table
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.write_record(cells.into_iter().map(String::into_bytes)).expect(IN_MEMORY);
    }

    fn finish(self) -> Vec<u8> {
        self.0.into_inner().expect(IN_MEMORY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In binary floating point 3 x 0.1 and 6 x 0.1 carry noise, and 10^7 narrow buckets would add up to more of it.
    #[test]
    fn bucket_starts_are_exact_decimals() {
        let starts = [(0, 100.0), (3, 100.0), (6, 100.0), (10, 100.0), (1, 0.001), (9_999_999, 0.1), (7, 60_000.0)]
            .map(|(index, bucket_ms)| bucket_start_s(index, bucket_ms));
        assert_eq!(starts, ["0", "0.3", "0.6", "1", "0.000001", "999.9999", "420"]);
    }

    #[test]
    fn floats_read_back_as_the_same_value() {
        for value in [0.1 + 0.2, 1.0 / 3.0, 1e-9, 123_456_789.123, f64::MAX] {
            assert_eq!(shortest(value).parse(), Ok(value));
        }
        assert_eq!((shortest(27.0), shortest(-0.0), optional(None)), ("27".to_owned(), "0".to_owned(), String::new()));
    }
}
