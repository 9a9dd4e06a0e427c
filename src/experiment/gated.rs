//! The figures that a baseline keeps and gates: those of the catalogue that have a better and a worse.

use indexmap::IndexMap;

use crate::experiment::{MetricTable, VariantSummary};
use crate::metrics::catalogue::{Better, Column, Readings, ScopeKind, Values, columns};

/// The kinds of parts whose figures are gated beside those of the scenario as a whole.
const PARTS: [ScopeKind; 2] = [ScopeKind::Service, ScopeKind::Fault];

/// A gated metric of one thing, in every replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated<'a> {
    /// What kind of thing.
    pub kind: ScopeKind,
    /// Its name; empty for the scenario.
    pub name: &'a str,
    /// The metric.
    pub column: Column,
    /// Which way it gets better.
    pub better: Better,
    /// Its value in each replica, in their order.
    pub values: Values,
}

/// The gated metrics of a kind of thing, with their positions among all of that kind.
fn gated(kind: ScopeKind) -> Vec<(usize, Column, Better)> {
    let columns = columns(kind).into_iter().enumerate();
    columns.filter_map(|(at, column)| Some((at, column, column.better?))).collect()
}

/// Those values of a replica's services and faults that are gated, thing by thing.
pub(super) fn of_parts(readings: &Readings) -> Values {
    let of_kind = |kind| {
        let things = match kind {
            ScopeKind::Service => &readings.services,
            _ => &readings.faults,
        };
        let columns = gated(kind);
        things.iter().flat_map(move |values| columns.iter().map(|(at, ..)| values[*at]).collect::<Vec<_>>())
    };
    PARTS.into_iter().flat_map(of_kind).collect()
}

impl VariantSummary {
    /// Every figure that is gated, in the order of the catalogue: of the scenario, of services, of faults.
    pub fn gated(&self) -> Vec<Gated<'_>> {
        let whole = gated(ScopeKind::Scenario).into_iter().map(|(at, column, better)| {
            let values = self.replicas.iter().map(|row| row.values[at]).collect();
            Gated { kind: ScopeKind::Scenario, name: "", column, better, values }
        });
        let things = PARTS.into_iter().flat_map(|kind| {
            self.parts(kind)
                .keys()
                .flat_map(move |name| gated(kind).into_iter().map(move |metric| (kind, name, metric)))
        });
        let parts = things.enumerate().map(|(at, (kind, name, (_, column, better)))| {
            let values = self.replicas.iter().map(|row| row.parts[at]).collect();
            Gated { kind, name, column, better, values }
        });
        whole.chain(parts).collect()
    }

    fn parts(&self, kind: ScopeKind) -> &IndexMap<String, MetricTable> {
        match kind {
            ScopeKind::Service => &self.services,
            _ => &self.faults,
        }
    }
}
