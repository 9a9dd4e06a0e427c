//! The file of a baseline: read whole, written whole.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use thiserror::Error;

use crate::experiment::baseline::Baseline;
use crate::report::files;

/// Why a baseline cannot be read or written.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// The file cannot be opened.
    #[error("cannot read the baseline `{}`: {source}; make one with `--save-baseline FILE`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no baseline, or one of another version. The source tells the line and the column.
    #[error("cannot use the baseline `{}`: {source}; make a new one with `--save-baseline FILE`", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// It has not a value for each replica.
    #[error("cannot use the baseline `{}`: {damage}; make a new one with `--save-baseline FILE`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is missing.
        damage: String,
    },
    /// There is no folder for it.
    #[error("cannot save the baseline `{}`: there is no folder `{}`; make it first", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder in which it would be.
        folder: PathBuf,
    },
    /// A folder has its name.
    #[error("cannot save the baseline `{}`: it is a folder; name a file in it", path.display())]
    IsFolder {
        /// The path.
        path: PathBuf,
    },
    /// It cannot be written; a baseline that was there before is still the same.
    #[error("cannot save the baseline `{}`: {source}; free some space or name another file", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Reads a baseline.
///
/// # Errors
///
/// When it cannot be read, is no baseline, or is one of another version.
pub fn read(path: &Path) -> Result<Baseline, BaselineError> {
    let own = || path.to_owned();
    let file = File::open(path).map_err(|source| BaselineError::Open { path: own(), source })?;
    let baseline: Baseline =
        serde_json::from_reader(BufReader::new(file)).map_err(|source| BaselineError::Parse { path: own(), source })?;
    match baseline.damage() {
        Some(damage) => Err(BaselineError::Damaged { path: own(), damage }),
        None => Ok(baseline),
    }
}

/// A place for a baseline that could be written to when it was tried.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
}

impl Target {
    /// Tries whether a file can be made there, so that a long run does not fail at its end.
    ///
    /// # Errors
    ///
    /// When its folder does not exist or cannot be written to, or it is a folder itself.
    pub fn prepare(path: &Path) -> Result<Self, BaselineError> {
        let target = Self { path: path.to_owned() };
        if path.is_dir() {
            return Err(BaselineError::IsFolder { path: target.path });
        }
        if !target.folder().is_dir() {
            return Err(BaselineError::NoFolder { folder: target.folder().to_owned(), path: target.path });
        }
        // The probe is deleted as soon as it exists.
        match files::temporary(target.folder()).and_then(tempfile::NamedTempFile::close) {
            Ok(()) => Ok(target),
            Err(source) => Err(BaselineError::Write { path: target.path, source }),
        }
    }

    /// Writes a baseline whole under a temporary name, and renames it.
    ///
    /// # Errors
    ///
    /// When it cannot be written or renamed; the temporary file is removed.
    pub fn write(&self, baseline: &Baseline) -> Result<&Path, BaselineError> {
        let write = || {
            let mut file = files::temporary(self.folder())?;
            file.write_all(&json(baseline))?;
            file.persist(&self.path).map_err(|error| error.error)
        };
        match write() {
            Ok(_) => Ok(&self.path),
            Err(source) => Err(BaselineError::Write { path: self.path.clone(), source }),
        }
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
    }
}

/// Pretty-printed, with the values of a metric on one line, so that a change of a metric is a change of a line.
pub fn json(baseline: &Baseline) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, ValuesOnOneLine(PrettyFormatter::new()));
    baseline.serialize(&mut serializer).expect("a baseline has string keys and is written to memory");
    bytes.push(b'\n');
    bytes
}

/// Objects as a pretty-printer has them, and arrays on one line.
struct ValuesOnOneLine<'a>(PrettyFormatter<'a>);

impl Formatter for ValuesOnOneLine<'_> {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every double comes back as the same double, so that a run is never worse than itself; and a reader of a diff
    /// finds a metric in a line.
    #[test]
    fn a_baseline_is_read_as_it_was_written() {
        let text = r#"{
  "schema_version": 1,
  "tool": {
    "name": "stormsim",
    "version": "0.1.0"
  },
  "scenarios": {
    "odd": {
      "sha256": "00",
      "seed": 18446744073709551615,
      "replicas": 4,
      "variants": {
        "base": {
          "metrics": {
            "retries": [0.1, 1.7976931348623157e308, 2.2250738585072014e-308, null],
            "amplification": [1.0000000000000002, 0.30000000000000004, 9007199254740993.0, 122.416294033786585]
          },
          "services": {},
          "faults": {}
        }
      }
    }
  }
}
"#;
        let baseline: Baseline = serde_json::from_str(text).unwrap();
        let written = json(&baseline);
        assert_eq!(serde_json::from_slice::<Baseline>(&written).unwrap(), baseline);
        let odd = baseline.scenarios["odd"].variants["base"].metrics["amplification"][3].unwrap();
        let exact: f64 = "122.416294033786585".parse().unwrap();
        assert_eq!(odd.to_bits(), exact.to_bits(), "the last digit decides the last bit");
        let written = String::from_utf8(written).unwrap();
        let line = written.lines().find(|line| line.starts_with("            \"retries\": [0.1, "));
        assert!(line.is_some_and(|line| line.ends_with(", null],")), "{written}");
    }
}
