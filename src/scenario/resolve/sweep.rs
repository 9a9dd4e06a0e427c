//! What a sweep varies and measures: no setting twice, no more cells than there may be, figures that exist.

use crate::experiment::axis::{Axis, check};
use crate::experiment::{Measure, MeasureError};
use crate::scenario::Scenario;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Spanned};
use crate::scenario::tables::SweepTable;
use crate::scenario::values::{AxisText, Text};

/// The settings that vary.
pub fn axes(table: &Field<SweepTable>, errors: &mut Vec<Diagnostic>) -> Vec<Axis> {
    let Some(vary) = table.get().and_then(|table| table.vary.spanned()) else { return Vec::new() };
    let axes: Vec<Axis> = vary.value.iter().map(|row| &row.value).map(|AxisText(axis)| axis.clone()).collect();
    if let Err(error) = check(&axes) {
        errors.push(Diagnostic::new(error.to_string()).at(&vary.place));
    }
    axes
}

/// The figures that are measured, of a scenario that is otherwise complete.
pub fn measures(table: &Field<SweepTable>, scenario: &Scenario, errors: &mut Vec<Diagnostic>) -> Vec<Measure> {
    let rows = table.get().and_then(|table| table.metrics.get()).map_or(&[][..], Vec::as_slice);
    let measure = |row: &Spanned<Text>| {
        let Text(text) = &row.value;
        let refuse = |error: MeasureError| {
            errors.push(Diagnostic::new(error.to_string()).at(&row.place));
        };
        Measure::parse(text, scenario).map_err(refuse).ok()
    };
    rows.iter().filter_map(measure).collect()
}
