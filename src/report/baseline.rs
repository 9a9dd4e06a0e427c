//! The file of a baseline: read whole, written whole.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;
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
    /// What is in the file cannot be compared with.
    #[error("cannot use the baseline `{}`: {flaw}; make a new one with `--save-baseline FILE`", path.display())]
    Flawed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// There is no folder for it.
    #[error("cannot save the baseline `{}`: there is no folder `{}`; make it first", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder in which it would be.
        folder: PathBuf,
    },
    /// Its name is that of something else than a file.
    #[error("cannot save the baseline `{}`: it is {what}", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
        /// What is there, and what to do.
        what: &'static str,
    },
    /// Something else has its name, or a baseline that cannot be read, and would be lost.
    #[error(
        "cannot save the baseline `{}`: that file holds something else: {flaw}; move it away or name another file",
        path.display()
    )]
    Occupied {
        /// The file.
        path: PathBuf,
        /// Why it is not taken for a baseline.
        flaw: Flaw,
    },
    /// It cannot be written; a baseline that was there before is still the same.
    #[error("cannot save the baseline `{}`: {source}; {}", path.display(), way_out(source.kind()))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why the text of a file is no baseline that can be used.
#[derive(Debug, Error)]
pub enum Flaw {
    /// It does not even look like one.
    #[error("it is no baseline")]
    NoBaseline,
    /// It is no baseline, or one of another version. The source tells the line and the column.
    #[error(transparent)]
    Parse(#[from] serde_json::Error),
    /// It has not a value for each replica.
    #[error("{0}")]
    Damaged(String),
}

fn way_out(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space or name another file",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "name a file where you may write",
        _ => "name another file",
    }
}

/// Reads a baseline.
///
/// # Errors
///
/// When it cannot be read, is no baseline, or is one of another version.
pub fn read(path: &Path) -> Result<Baseline, BaselineError> {
    let own = || path.to_owned();
    let open = || {
        let mut reader = BufReader::new(File::open(path)?);
        let text = reader.fill_buf()?;
        // Any text file may be named by mistake, and a parser would only say what it finds in place of what.
        let is_object = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        Ok((reader, is_object))
    };
    let (reader, is_object) = open().map_err(|source| BaselineError::Open { path: own(), source })?;
    let parsed = if is_object { parse(reader) } else { Err(Flaw::NoBaseline) };
    parsed.map_err(|flaw| BaselineError::Flawed { path: own(), flaw })
}

fn parse(reader: impl BufRead) -> Result<Baseline, Flaw> {
    let baseline: Baseline = serde_json::from_reader(reader)?;
    baseline.damage().map_or(Ok(baseline), |damage| Err(Flaw::Damaged(damage)))
}

/// A place for a baseline that could be written to when it was tried.
#[derive(Debug)]
pub struct Target {
    /// As it was given.
    path: PathBuf,
    /// Where that leads, if it is a link.
    file: PathBuf,
    /// What is there.
    kept: Option<Baseline>,
}

impl Target {
    /// Reads the baseline that is there, if there is one, and tries whether a file can be made in its place, so that a
    /// long run does not fail at its end.
    ///
    /// # Errors
    ///
    /// When its folder does not exist or cannot be written to, or when something that is neither a baseline nor an
    /// empty file has its name.
    pub fn prepare(path: &Path) -> Result<Self, BaselineError> {
        let own = || path.to_owned();
        if let Some(what) = what_else(path) {
            return Err(BaselineError::NoFile { path: own(), what });
        }
        let file = fs::canonicalize(path).unwrap_or_else(|_| own());
        let target = Self { path: own(), kept: kept(path)?, file };
        if !target.folder().is_dir() {
            return Err(BaselineError::NoFolder { folder: target.folder().to_owned(), path: target.path });
        }
        // The probe is deleted as soon as it exists.
        match files::temporary(target.folder()).and_then(tempfile::NamedTempFile::close) {
            Ok(()) => Ok(target),
            Err(source) => Err(BaselineError::Write { path: target.path, source }),
        }
    }

    /// The baseline that was there before.
    pub fn kept(&self) -> Option<&Baseline> {
        self.kept.as_ref()
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a baseline whole under a temporary name, and renames it.
    ///
    /// # Errors
    ///
    /// When it cannot be written or renamed; the temporary file is removed.
    pub fn write(&self, baseline: &Baseline) -> Result<(), BaselineError> {
        let write = || {
            let mut file = files::temporary(self.folder())?;
            file.write_all(&json(baseline))?;
            file.persist(&self.file).map_err(|error| error.error)
        };
        write().map(drop).map_err(|source| BaselineError::Write { path: self.path.clone(), source })
    }

    fn folder(&self) -> &Path {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
    }
}

/// What has the name, if that is no file, and what to do: a file that is renamed would replace it all the same.
fn what_else(path: &Path) -> Option<&'static str> {
    const STREAM: &str = "where the results or the messages go; name another file";
    if path == "-" {
        return Some(STREAM);
    }
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Some("a folder; name a file in it"),
        Ok(there) if !there.is_file() => Some("a device or a pipe; name a file"),
        Ok(_) => {
            let file = Handle::from_path(path).ok()?;
            let streams = [Handle::stdout(), Handle::stderr()];
            streams.into_iter().flatten().any(|stream| stream == file).then_some(STREAM)
        }
        Err(_) if path.is_symlink() => Some("a link to nothing; remove it or name another file"),
        Err(_) => None,
    }
}

/// The baseline that is there, if there is anything.
fn kept(path: &Path) -> Result<Option<Baseline>, BaselineError> {
    // An empty file is none that could be lost; whoever asked for a temporary name has made one.
    if fs::metadata(path).map_or(true, |there| there.len() == 0) {
        return Ok(None);
    }
    read(path).map(Some).map_err(|error| match error {
        BaselineError::Flawed { path, flaw } => BaselineError::Occupied { path, flaw },
        other => other,
    })
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

    #[test]
    fn the_way_out_is_that_of_the_error() {
        let message =
            |kind: ErrorKind| BaselineError::Write { path: "b.json".into(), source: io::Error::from(kind) }.to_string();
        let expected = [
            (ErrorKind::PermissionDenied, "permission denied; name a file where you may write"),
            (ErrorKind::StorageFull, "no storage space; free some space or name another file"),
            (ErrorKind::TimedOut, "timed out; name another file"),
        ];
        for (kind, end) in expected {
            assert_eq!(message(kind), format!("cannot save the baseline `b.json`: {end}"));
        }
    }

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
