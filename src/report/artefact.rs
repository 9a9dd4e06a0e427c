//! The closed list of files that a run leaves behind.

use crate::experiment::Summary;
use crate::report::{chart, csv, json};

/// A file of a run: what it is called and how its bytes are made.
#[derive(Clone, Copy, Debug)]
pub struct Artefact {
    /// Its name within the output folder.
    pub name: &'static str,
    /// What is in it.
    pub kind: ArtefactKind,
    /// Whether a run leaves it: not a chart about what the scenario does not have.
    pub applies: fn(&Summary) -> bool,
    /// Makes all of its bytes.
    pub render: fn(&Summary) -> Vec<u8>,
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
pub static ARTEFACTS: [Artefact; 12] = [
    data("summary.json", json::summary),
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

const fn data(name: &'static str, render: fn(&Summary) -> Vec<u8>) -> Artefact {
    Artefact { name, kind: ArtefactKind::Data, applies: always, render }
}

const fn chart(name: &'static str, applies: fn(&Summary) -> bool, render: fn(&Summary) -> Vec<u8>) -> Artefact {
    Artefact { name, kind: ArtefactKind::Chart, applies, render }
}

fn has_comparison(summary: &Summary) -> bool {
    summary.comparison.is_some()
}

fn always(_: &Summary) -> bool {
    true
}
