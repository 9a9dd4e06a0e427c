//! Files beside the scenario: a column of seconds in a CSV file.

use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord};

use crate::scenario::file::{Limited, reason, too_large};
use crate::time::Span;

/// The longest text that an error repeats, in characters.
const SHOWN_MAX: usize = 40;

/// A column that a scenario may name the file of.
pub struct Column {
    /// Its header.
    pub header: &'static str,
    /// What is in it, in the plural.
    pub noun: &'static str,
    /// The most values.
    pub len_max: usize,
    /// The most bytes of the file, whole MiB. A line without end has no values to count.
    pub bytes_max: u64,
    /// Whether no value may be below the one before.
    pub ascending: bool,
}

impl Column {
    /// Reads all its values, at least one.
    ///
    /// # Errors
    /// What is wrong with the file, with the line where it is about one.
    pub fn read(&self, path: &Path) -> Result<Vec<Span>, String> {
        let file = Limited::open(path, self.bytes_max)
            .map_err(|error| format!("cannot read `{}`: {}", path.display(), reason(&error)))?;
        let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
        let values = self.values(&mut reader, path);
        // Whatever else is wrong may come from where it was cut off.
        if reader.get_ref().is_exceeded() { Err(too_large(path, self.bytes_max)) } else { values }
    }

    fn values(&self, reader: &mut Reader<Limited>, path: &Path) -> Result<Vec<Span>, String> {
        let shown = path.display();
        let unreadable = |error: csv::Error| match error.kind() {
            csv::ErrorKind::Io(error) => format!("cannot read `{shown}`: {}", reason(error)),
            _ => format!("cannot read `{shown}`: {error}"),
        };
        let headers = reader.headers().map_err(unreadable)?;
        let Some(column) = headers.iter().position(|header| header == self.header) else {
            return Err(format!("`{shown}` has no column `{}`", self.header));
        };
        let mut values: Vec<Span> = Vec::new();
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(unreadable)? {
            let line = record.position().map_or(0, csv::Position::line);
            let text = record.get(column).unwrap_or_default();
            let Some(value) = seconds(text) else {
                let what = if text.chars().count() > SHOWN_MAX { "a long text".into() } else { format!("{text:?}") };
                return Err(format!("`{shown}`, line {line}: {what} is not a number of seconds from 0 to 52 days"));
            };
            if self.ascending && values.last().is_some_and(|&last| value < last) {
                return Err(format!("`{shown}`, line {line}: {text} is below the value before it"));
            }
            if values.len() == self.len_max {
                return Err(format!("`{shown}` has more than {} {}", self.len_max, self.noun));
            }
            values.push(value);
        }
        if values.is_empty() { Err(format!("`{shown}` has no {}", self.noun)) } else { Ok(values) }
    }

    /// What the file must be like, for hints.
    pub fn expected(&self) -> String {
        let order = if self.ascending { ", ascending" } else { "" };
        format!("it must be a CSV file with a column `{}`, in seconds{order}, beside the scenario", self.header)
    }
}

fn seconds(text: &str) -> Option<Span> {
    let seconds = text.parse::<f64>().ok()?;
    (seconds >= 0.0 && seconds < Span::LIMIT.as_s()).then(|| Span::from_ns_f64(seconds * 1e9))
}
