//! What is shown of a [`Summary`](crate::experiment::Summary): one exporter per file, and the text for people.
//!
//! An exporter turns a summary into bytes and does nothing else: [`text`], [`json`], [`csv`], [`chart`], [`junit`],
//! [`github`]. [`artefact`] lists the files of each command, [`files`] puts them into a folder, [`columns`] says what the
//! CSV files hold, and [`new_file`] makes a file that replaces none. [`journal`] and [`baseline`] alone are read again: a sweep goes on from the one, and a test compares
//! with the other.
//!
//! Architecture invariant: a report computes nothing that is not in the summary. It chooses digits, units and
//! order; means, intervals and verdicts come from `experiment`. Equal summaries give equal bytes.

pub mod artefact;
pub mod baseline;
pub mod chart;
pub mod columns;
mod coverage;
pub mod csv;
pub mod files;
pub mod github;
pub mod journal;
pub mod json;
pub mod junit;
pub mod lint;
pub mod new_file;
pub mod presets;
mod regression;
mod services;
pub mod text;
mod verdict;
