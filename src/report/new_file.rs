//! A file that is written whole and replaces nothing.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::report::files;

/// Why a file was not made.
#[derive(Debug, Error)]
pub enum NewFileError {
    /// Something has its name already.
    #[error("`{}` is there already, and nothing is overwritten; name another file with `--output FILE`", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// There is no folder for it.
    #[error("cannot write `{}`: there is no folder `{}`; make it first", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder in which it would be.
        folder: PathBuf,
    },
    /// It could not be written; there is no half of it.
    #[error("cannot write `{}`: {}; name another file with `--output FILE`", path.display(), source.kind())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says, of a temporary file that nobody has asked for.
        source: io::Error,
    },
}

/// Writes a file under a temporary name beside its place, and renames it if its own name is still free then.
///
/// # Errors
///
/// When anything has its name, a link to nothing, too, or when it cannot be written or renamed.
pub fn create(path: &Path, text: &str) -> Result<(), NewFileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let own = || path.to_owned();
    if path.symlink_metadata().is_ok() {
        return Err(NewFileError::Exists { path: own() });
    }
    if !folder.is_dir() {
        return Err(NewFileError::NoFolder { path: own(), folder: folder.to_owned() });
    }
    let write = || {
        let mut file = files::temporary(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist_noclobber(path).map_err(|error| error.error)
    };
    match write() {
        Ok(_) => Ok(()),
        Err(source) if source.kind() == ErrorKind::AlreadyExists => Err(NewFileError::Exists { path: own() }),
        Err(source) => Err(NewFileError::Write { path: own(), source }),
    }
}
