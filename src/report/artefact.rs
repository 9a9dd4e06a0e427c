//! The closed lists of files that commands leave behind.

use crate::experiment::{FrontierSummary, Summary, SweepSummary};
use crate::report::{chart, csv, json};

/// A file about a `T`: what it is called and how its bytes are made.
#[derive(Debug)]
pub struct Artefact<T: 'static> {
    /// Its name within the output folder.
    pub name: &'static str,
    /// What is in it.
    pub kind: ArtefactKind,
    /// Whether it is left: not a chart about what the scenario does not have.
    pub applies: fn(&T) -> bool,
    /// Makes all of its bytes.
    pub render: fn(&T) -> Vec<u8>,
}

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtefactKind {
    /// Figures, for programs.
    Data,
    /// A picture, for people.
    Chart,
}

/// Every file that a run may leave, in the order in which they are written and listed.
pub static RUN: [Artefact<Summary>; 12] = [
    data("summary.json", json::pretty),
    data("summary.csv", csv::summary),
    data("replicas.csv", csv::replicas),
    data("timeline.csv", csv::timeline),
    Artefact { name: "comparison.csv", kind: ArtefactKind::Data, applies: has_comparison, render: csv::comparison },
    chart("timeline.png", always, chart::timeline),
    chart("load.png", always, chart::load),
    chart("amplification.png", always, chart::amplification),
    chart("latency.png", always, chart::latency),
    chart("peaks.png", always, chart::peaks),
    chart("queues.png", chart::has_queues, chart::queues),
    chart("in_flight.png", chart::has_limits, chart::in_flight),
];

/// Every file that a sweep may leave, beside the journal from which it is resumed.
pub static SWEEP: [Artefact<SweepSummary>; 2] =
    [data("sweep.csv", csv::sweep), chart("sweep.png", chart::has_sweep, chart::sweep)];

/// Every file that the search for a frontier may leave.
pub static FRONTIER: [Artefact<FrontierSummary>; 3] = [
    data("frontier.json", json::pretty),
    data("frontier.csv", csv::frontier),
    chart("frontier.png", always, chart::frontier),
];

const fn data<T>(name: &'static str, render: fn(&T) -> Vec<u8>) -> Artefact<T> {
    Artefact { name, kind: ArtefactKind::Data, applies: always, render }
}

const fn chart<T>(name: &'static str, applies: fn(&T) -> bool, render: fn(&T) -> Vec<u8>) -> Artefact<T> {
    Artefact { name, kind: ArtefactKind::Chart, applies, render }
}

fn has_comparison(summary: &Summary) -> bool {
    summary.comparison.is_some()
}

fn always<T>(_: &T) -> bool {
    true
}
