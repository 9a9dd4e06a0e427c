//! Distributions: their points must be in order, and samples are read from their file.

use crate::dist::Dist;
use crate::scenario::field::Field;
use crate::scenario::resolve::Resolver;
use crate::scenario::resolve::columns::Column;
use crate::scenario::source::Place;
use crate::scenario::tables::{DistChoice, DistSetting, LognormalTable, PercentilesTable, UniformTable};
use crate::scenario::values::{Duration, Text};
use crate::time::Span;

/// The column of a file of samples.
const SAMPLES: Column =
    Column { header: "value_s", noun: "samples", len_max: 1_000_000, bytes_max: 64 << 20, ascending: false };

impl Resolver<'_> {
    /// A duration or a distribution, which stands under `path`.
    pub(super) fn dist(&mut self, setting: &DistSetting, path: &str) -> Dist {
        let choice = match setting {
            DistSetting::Constant(Duration(span)) => return Dist::Constant(*span),
            DistSetting::Drawn(choice) => choice,
        };
        match &**choice {
            DistChoice::Exponential(table) => {
                let owner = format!("`{path}.exponential`");
                self.require(&table.value.mean, &owner, "mean", "\"5ms\"", Some(&table.place));
                self.above_zero(
                    &table.value.mean,
                    &owner,
                    "mean",
                    "for no time at all write `\"0s\"` instead of the distribution",
                );
                Dist::Exponential { mean: span(&table.value.mean).unwrap_or(Span::ZERO) }
            }
            DistChoice::Lognormal(table) => self.lognormal(&table.value, &table.place, path),
            DistChoice::Uniform(table) => self.uniform(&table.value, &table.place, path),
            DistChoice::Percentiles(table) => self.percentiles(&table.value, &table.place, path),
            DistChoice::Samples(table) => {
                self.require(
                    &table.value.file,
                    &format!("`{path}.samples`"),
                    "file",
                    "\"latencies.csv\"",
                    Some(&table.place),
                );
                let Some(file) = table.value.file.spanned() else { return Dist::ZERO };
                let Text(name) = &file.value;
                match SAMPLES.read(&self.folder.join(name)) {
                    Ok(samples) => Dist::Samples(samples),
                    Err(why) => {
                        self.refuse(&file.place, format!("`{path}.samples`: {why}"), SAMPLES.expected());
                        Dist::ZERO
                    }
                }
            }
        }
    }

    /// Reports a duration that must not be zero. `owner` is its table, in back-ticks.
    pub(super) fn above_zero(&mut self, field: &Field<Duration>, owner: &str, key: &str, hint: &str) {
        if let (Some(Span::ZERO), Some(value)) = (span(field), field.spanned()) {
            self.refuse(&value.place, format!("{owner}: `{key}` must be longer than zero"), hint);
        }
    }

    fn lognormal(&mut self, table: &LognormalTable, place: &Place, path: &str) -> Dist {
        let owner = format!("`{path}.lognormal`");
        self.require(&table.median, &owner, "median", "\"20ms\"", Some(place));
        self.require(&table.p99, &owner, "p99", "\"100ms\"", Some(place));
        self.above_zero(
            &table.median,
            &owner,
            "median",
            "for no time at all write `\"0s\"` instead of the distribution",
        );
        let (Some(median), Some(p99)) = (span(&table.median), table.p99.spanned()) else { return Dist::ZERO };
        if p99.value.0 < median {
            self.refuse(
                &p99.place,
                format!("{owner}: `p99` must not be below `median`"),
                "half of all values are below the median",
            );
        }
        Dist::lognormal(median, p99.value.0)
    }

    fn uniform(&mut self, table: &UniformTable, place: &Place, path: &str) -> Dist {
        let owner = format!("`{path}.uniform`");
        self.require(&table.min, &owner, "min", "\"0s\"", Some(place));
        self.require(&table.max, &owner, "max", "\"10ms\"", Some(place));
        self.above_zero(&table.step, &owner, "step", "without `step` every nanosecond is possible");
        let step = span(&table.step).unwrap_or(Span::from_ns(1));
        let (Some(min), Some(max)) = (span(&table.min), table.max.spanned()) else { return Dist::ZERO };
        if max.value.0 <= min {
            self.refuse(&max.place, format!("{owner}: `max` must be above `min`"), "no value reaches `max`");
            return Dist::ZERO;
        }
        // A step of zero has been reported.
        let values = (max.value.0 - min).as_ns().div_ceil(step.as_ns().max(1));
        Dist::Uniform { min, values, step }
    }

    fn percentiles(&mut self, table: &PercentilesTable, place: &Place, path: &str) -> Dist {
        let PercentilesTable { p50, p90, p99, p999 } = table;
        let all = [(0.5, "p50", p50), (0.9, "p90", p90), (0.99, "p99", p99), (0.999, "p999", p999)];
        if all.iter().all(|(_, _, field)| field.is_absent()) {
            self.refuse(
                place,
                format!("`{path}.percentiles` has no percentiles"),
                "add `p50 = \"5ms\"`, `p90`, `p99` or `p999`",
            );
        }
        let mut points: Vec<(f64, Span)> = Vec::new();
        let mut before = "";
        for (quantile, key, field) in all {
            let Some(value) = field.spanned() else { continue };
            let Duration(span) = value.value;
            if points.last().is_some_and(|&(_, lower)| span < lower) {
                let message = format!("`{path}.percentiles`: `{key}` must not be below `{before}`");
                self.refuse(&value.place, message, "a higher percentile is never a smaller value");
            }
            points.push((quantile, span));
            before = key;
        }
        Dist::Percentiles(points)
    }
}

fn span(field: &Field<Duration>) -> Option<Span> {
    field.get().map(|&Duration(span)| span)
}
