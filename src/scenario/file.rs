//! Files are read up to a limit and no further: what is named may be endless, or no file at all.

use std::fs::File;
use std::io::{self, Read, Take};
use std::path::Path;

use crate::scenario::diagnostics::Diagnostic;

/// The largest scenario, in bytes.
const SCENARIO_BYTES_MAX: u64 = 16 << 20;

/// A file of which one byte more can be read than it may have.
pub struct Limited(Take<File>);

impl Limited {
    /// Opens a file that may have so many bytes.
    pub fn open(path: &Path, bytes_max: u64) -> io::Result<Self> {
        Ok(Self(File::open(path)?.take(bytes_max + 1)))
    }

    /// Whether more has been read than the file may have. What was read is then only the beginning of it.
    pub fn is_exceeded(&self) -> bool {
        self.0.limit() == 0
    }
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// The text of a scenario file.
pub fn read_scenario(path: &Path) -> Result<String, Diagnostic> {
    let what = What {
        folder: "name a scenario file in it",
        large: "is it a scenario? measured times belong into files of their own, which it names",
    };
    read_text(path, &what)
}

/// What is read, for messages: what to do where it is a folder, and where it is too large.
pub struct What {
    /// It is a folder.
    pub folder: &'static str,
    /// It is too large.
    pub large: &'static str,
}

/// The text of a file of that kind, which may be as large as a scenario.
pub fn read_text(path: &Path, what: &What) -> Result<String, Diagnostic> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Diagnostic::new(format!("`{shown}` is a folder")).hint(what.folder));
    }
    let unreadable = |error: io::Error| Diagnostic::new(format!("cannot read `{shown}`: {}", reason(&error)));
    let mut file = Limited::open(path, SCENARIO_BYTES_MAX).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    if file.is_exceeded() {
        return Err(Diagnostic::new(too_large(path, SCENARIO_BYTES_MAX)).hint(what.large));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Diagnostic::new(format!("`{shown}` is not UTF-8: line {line} has a byte that no character begins with"))
            .hint("save it as UTF-8")
    })
}

/// That a file has more bytes than it may have, which are whole MiB.
pub fn too_large(path: &Path, bytes_max: u64) -> String {
    format!("`{}` is larger than {} MiB", path.display(), bytes_max >> 20)
}

/// Why a file cannot be read, in the same words on every platform where it is an everyday reason.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}
