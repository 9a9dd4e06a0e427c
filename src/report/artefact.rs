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

/// Every file of a run, in the order in which they are written and listed.
pub static ARTEFACTS: [Artefact; 8] = [
    Artefact { name: "summary.json", kind: ArtefactKind::Data, render: json::summary },
    Artefact { name: "summary.csv", kind: ArtefactKind::Data, render: csv::summary },
    Artefact { name: "replicas.csv", kind: ArtefactKind::Data, render: csv::replicas },
    Artefact { name: "timeline.csv", kind: ArtefactKind::Data, render: csv::timeline },
    Artefact { name: "timeline.png", kind: ArtefactKind::Chart, render: chart::timeline },
    Artefact { name: "amplification.png", kind: ArtefactKind::Chart, render: chart::amplification },
    Artefact { name: "latency.png", kind: ArtefactKind::Chart, render: chart::latency },
    Artefact { name: "peaks.png", kind: ArtefactKind::Chart, render: chart::peaks },
];
