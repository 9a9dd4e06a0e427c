//! The journal of a sweep: a line for what it is, then one for each cell that is finished.
//!
//! A cell is written as soon as it is finished, so that a sweep that ends before its time, however it ends, is resumed
//! from there. Figures are written in the shortest form that reads back as the same value: a resumed sweep has the bytes
//! of one that was not interrupted.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::experiment::axis::Axis;
use crate::experiment::{Figures, Measure, Stat, SweepCell, SweepSummary};
use crate::metrics::catalogue::Unit;

/// The name of the file.
pub const NAME: &str = "sweep.jsonl";

/// Version of the format.
const VERSION: u32 = 1;

/// A journal that takes more cells. As long as it is open, no other process takes it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// How many bytes of whole lines it has.
    whole: u64,
}

/// Why there is no journal to go on with, or a cell cannot be added to it.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The journal is of another sweep.
    #[error(
        "cannot resume: `{}` is the journal of another sweep, with {what}; choose another folder with `--output DIR`, or \
         begin anew without `--resume`",
        path.display()
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// What is not the same.
        what: &'static str,
    },
    /// The file is no journal.
    #[error(
        "cannot resume: line {line} of `{}` is no line of a journal: {reason}; take that line out, or remove the \
         file to begin anew",
        path.display()
    )]
    NoJournal {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// Another process has it.
    #[error(
        "another sweep is running in this folder: `{}` is in use; wait for it, or choose another with `--output DIR`",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Nobody said what to do with the cells that are finished.
    #[error(
        "`{}` has {finished} finished cells of this very sweep; add `--resume` to keep them, or remove it to begin anew",
        path.display()
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// How many.
        finished: usize,
    },
    /// It cannot be read or written.
    #[error("cannot use the journal `{}`: {source}; choose another folder with `--output DIR`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The first line. Everything that decides what the cells are, beside what the scenario's file and the version of the
/// program say.
#[derive(Serialize)]
struct Head<'a> {
    journal: u32,
    version: &'a str,
    scenario: &'a str,
    sha256: &'a str,
    overrides: &'a [String],
    seed: u64,
    replicas: u32,
    axes: &'a [Axis],
    measures: &'a [Measure],
    limits: &'a str,
    /// What the scenario and each value come to, in a hash: it covers the files that they name.
    meaning: &'a str,
}

/// Keys of the head in the order in which they are compared, with what is said where they are not the same.
const DIFFERENCES: [(&str, &str); 11] = [
    ("journal", "another format of its journal"),
    ("scenario", "another scenario"),
    ("sha256", "another text of the scenario's file"),
    ("overrides", "other settings"),
    ("seed", "another seed"),
    ("replicas", "another number of replicas"),
    ("axes", "other values"),
    ("measures", "other figures"),
    ("limits", "another `--precision`, `--max-replicas` or `--max-in-progress`"),
    ("version", "another version of the program"),
    ("meaning", "other files that the scenario names"),
];

/// The line of a cell.
#[derive(Serialize, Deserialize)]
struct Line {
    cell: usize,
    variants: Vec<VariantLine>,
}

#[derive(Serialize, Deserialize)]
struct VariantLine {
    name: String,
    partial: bool,
    replicas: u32,
    stats: Vec<StatLine>,
}

/// Number of values, mean, standard deviation, interval, least, percentiles, largest.
type StatLine = (u32, [Option<f64>; 9]);

impl Journal {
    /// Begins the journal of a sweep in a folder, in place of one that may be there, unless that has cells of the same
    /// sweep and lacks some: hours may be in it.
    ///
    /// # Errors
    ///
    /// When it is such a one, or in use, or cannot be written.
    pub fn begin(dir: &Path, sweep: &SweepSummary, limits: &str) -> Result<Self, JournalError> {
        let (path, file) = open(dir)?;
        let mut there = sweep.clone();
        let kept = read(&path, &file, &mut there, limits);
        let finished = kept.map_or(0, |_| there.cells.len());
        if finished > 0 && finished < sweep.grid {
            return Err(JournalError::Unfinished { path, finished });
        }
        Self::anew(path, file, sweep, limits)
    }

    /// Goes on with the journal in a folder, and puts the cells that are finished into the sweep; begins one if there
    /// is none.
    ///
    /// # Errors
    ///
    /// When it is of another sweep, is no journal, is in use, or cannot be read or written.
    pub fn resume(dir: &Path, sweep: &mut SweepSummary, limits: &str) -> Result<Self, JournalError> {
        let (path, file) = open(dir)?;
        match read(&path, &file, sweep, limits)? {
            0 => Self::anew(path, file, sweep, limits),
            // What a kill left of a last line is written anew.
            whole => {
                let mut journal = Self { path, file, whole };
                let cut = journal.cut();
                cut.map_err(|source| JournalError::File { path: journal.path.clone(), source }).map(|()| journal)
            }
        }
    }

    fn anew(path: PathBuf, file: File, sweep: &SweepSummary, limits: &str) -> Result<Self, JournalError> {
        let mut journal = Self { path, file, whole: 0 };
        journal.cut().map_err(|source| JournalError::File { path: journal.path.clone(), source })?;
        journal.write(&head(sweep, limits))?;
        Ok(journal)
    }

    /// Takes away what comes after the whole lines.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)?;
        self.file.seek(io::SeekFrom::Start(self.whole)).map(|_| ())
    }

    /// Adds a cell.
    ///
    /// # Errors
    ///
    /// When it cannot be written; it is not there then, nor is a part of it.
    pub fn add(&mut self, cell: &SweepCell) -> Result<(), JournalError> {
        let variant = |figures: &Figures| VariantLine {
            name: figures.variant.clone(),
            partial: figures.partial,
            replicas: figures.replicas,
            stats: figures.stats.iter().map(stat_line).collect(),
        };
        self.write(&Line { cell: cell.position, variants: cell.variants.iter().map(variant).collect() })
    }

    /// Adds a line, in one piece, so that a kill leaves whole lines but for the last.
    fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let mut text = serde_json::to_string(line).expect("texts and numbers");
        text.push('\n');
        if let Err(source) = self.file.write_all(text.as_bytes()) {
            // If even that fails, what is left of the line is the last that there is: nothing is added after an error.
            let _ = self.cut();
            return Err(JournalError::File { path: self.path.clone(), source });
        }
        self.whole += text.len() as u64;
        Ok(())
    }
}

/// Opens the file, or makes it, for this process alone.
fn open(dir: &Path) -> Result<(PathBuf, File), JournalError> {
    let path = dir.join(NAME);
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let locked = opened.map_err(TryLockError::Error).and_then(|file| file.try_lock().map(|()| file));
    match locked {
        Ok(file) => Ok((path, file)),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse { path }),
        Err(TryLockError::Error(source)) => Err(JournalError::File { path, source }),
    }
}

/// Puts the cells that are finished into the sweep, and gives the number of bytes in whole lines; 0 if there is none, or
/// nothing but the beginning of a head, which was never followed by a cell.
fn read(path: &Path, file: &File, sweep: &mut SweepSummary, limits: &str) -> Result<u64, JournalError> {
    let wrong = |source| JournalError::File { path: path.to_owned(), source };
    let mut lines = Lines { reader: BufReader::new(file), whole: 0, number: 0 };
    let Some(first) = lines.next().map_err(wrong)? else { return Ok(0) };
    check_head(path, &first, sweep, limits)?;
    let no_journal = |line: usize, reason: String| JournalError::NoJournal { path: path.to_owned(), line, reason };
    let mut finished = vec![None; sweep.grid];
    while let Some(text) = lines.next().map_err(wrong)? {
        let line: Line = serde_json::from_str(&text).map_err(|error| no_journal(lines.number, error.to_string()))?;
        let position = line.cell;
        let cell = cell(line, sweep).map_err(|reason| no_journal(lines.number, reason.to_owned()))?;
        finished[position] = Some(cell);
    }
    sweep.cells = finished.into_iter().flatten().collect();
    Ok(lines.whole)
}

/// The whole lines of a file.
struct Lines<'f> {
    reader: BufReader<&'f File>,
    /// How many bytes they have.
    whole: u64,
    /// How many there were.
    number: usize,
}

impl Lines<'_> {
    /// The next; none at the end, or where the last line lacks its own.
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let read = self.reader.read_until(b'\n', &mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Ok(None);
        }
        (self.whole, self.number) = (self.whole + read as u64, self.number + 1);
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn head<'a>(sweep: &'a SweepSummary, limits: &'a str) -> Head<'a> {
    Head {
        journal: VERSION,
        version: sweep.tool.version,
        scenario: &sweep.scenario.name,
        sha256: &sweep.scenario.sha256,
        overrides: &sweep.scenario.overrides,
        seed: sweep.seed,
        replicas: sweep.replicas,
        axes: &sweep.axes,
        measures: &sweep.measures,
        limits,
        meaning: &sweep.meaning,
    }
}

fn check_head(path: &Path, text: &str, sweep: &SweepSummary, limits: &str) -> Result<(), JournalError> {
    let no_journal = |reason: String| JournalError::NoJournal { path: path.to_owned(), line: 1, reason };
    let found: Value = serde_json::from_str(text).map_err(|error| no_journal(error.to_string()))?;
    if found.get("journal").is_none() {
        return Err(no_journal("it does not say of which sweep it is".to_owned()));
    }
    let own = serde_json::to_value(head(sweep, limits)).expect("texts and numbers");
    match DIFFERENCES.into_iter().find(|(key, _)| found.get(key) != own.get(key)) {
        Some((_, what)) => Err(JournalError::Other { path: path.to_owned(), what }),
        None => Ok(()),
    }
}

/// A cell of this sweep from its line.
fn cell(line: Line, sweep: &SweepSummary) -> Result<SweepCell, &'static str> {
    if line.cell >= sweep.grid {
        return Err("the grid does not have that cell");
    }
    let figures = |variant: VariantLine| {
        if variant.stats.len() != sweep.measures.len() {
            return Err("it does not have all figures");
        }
        let stats = variant.stats.into_iter().zip(&sweep.measures).map(|(line, measure)| stat(line, measure.unit));
        let VariantLine { name, partial, replicas, .. } = variant;
        Ok(Figures { variant: name, partial, replicas, stats: stats.collect() })
    };
    let variants = line.variants.into_iter().map(figures).collect::<Result<_, _>>()?;
    Ok(SweepCell { position: line.cell, values: sweep.values(line.cell), variants })
}

fn stat_line(stat: &Stat) -> StatLine {
    let [low, high] = stat.ci95.map_or([None; 2], |ci95| ci95.map(Some));
    (stat.n, [stat.mean, stat.sd, low, high, stat.min, stat.p1, stat.p50, stat.p99, stat.max])
}

fn stat((n, [mean, sd, low, high, min, p1, p50, p99, max]): StatLine, unit: Unit) -> Stat {
    let ci95 = low.zip(high).map(|(low, high)| [low, high]);
    Stat { unit: unit.name(), mean, sd, ci95, min, p1, p50, p99, max, n }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures that do not read back as they are by every parser: the first needs all of its digits.
    #[test]
    fn figures_read_back_as_they_were() {
        for values in [vec![0.1 + 0.2, 1.0 / 3.0], vec![123_456_789.123_456_78, 5e-324], vec![7.0], vec![]] {
            let unit = Unit::Count;
            let stat = Stat::over(unit, values.into_iter().map(Some));
            let text = serde_json::to_string(&stat_line(&stat)).unwrap();
            let line: StatLine = serde_json::from_str(&text).unwrap();
            assert_eq!(super::stat(line, unit), stat);
        }
    }
}
