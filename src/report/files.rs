//! The output folder: tried out before the simulation, filled after it, never with half a file.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use crate::report::artefact::{Artefact, ArtefactKind};

/// Whether charts are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charts {
    /// Draw them.
    Draw,
    /// Leave them out.
    Skip,
}

/// A folder that could be written to when it was tried, for files about a `T`.
#[derive(Debug)]
pub struct Output<T: 'static> {
    dir: PathBuf,
    artefacts: &'static [Artefact<T>],
}

/// Why results could not be stored.
#[derive(Debug, Error)]
pub enum OutputError {
    /// A file stands where the folder, or one above it, is to be.
    #[error("cannot create the output folder `{}`: `{}` is a file, not a folder; choose another with `--output DIR`", dir.display(), file.display())]
    NotAFolder {
        /// The folder.
        dir: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// The folder does not exist and could not be made.
    #[error("cannot create the output folder `{}`: {source}; choose another with `--output DIR`", dir.display())]
    Create {
        /// The folder.
        dir: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder exists, but no file can be made in it.
    #[error("cannot write to the output folder `{}`: {source}; choose another with `--output DIR`", dir.display())]
    Probe {
        /// The folder.
        dir: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder has the name of a file of the results.
    #[error("cannot write `{}`: a folder has that name; move it away or choose another folder with `--output DIR`", path.display())]
    Occupied {
        /// Its path.
        path: PathBuf,
    },
    /// A file could not be written; no file of the results was replaced by half of another.
    #[error("cannot write `{}`: {source}; free some space or choose another folder with `--output DIR`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of an earlier run could not be removed; the new results are in place.
    #[error("cannot remove `{}`, a file of an earlier run: {source}; remove it or choose another folder with `--output DIR`", path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl<T> Output<T> {
    /// Makes the folder for these files if need be and tries to write to it, so that a long run does not fail at its
    /// end.
    ///
    /// # Errors
    ///
    /// When it cannot be made or written to, or a folder stands where a file is to be.
    pub fn prepare(dir: impl Into<PathBuf>, artefacts: &'static [Artefact<T>]) -> Result<Self, OutputError> {
        let dir = dir.into();
        if let Some(file) = dir.ancestors().find(|path| path.is_file()).map(Path::to_owned) {
            return Err(OutputError::NotAFolder { dir, file });
        }
        if let Err(source) = fs::create_dir_all(&dir) {
            return Err(OutputError::Create { dir, source });
        }
        // The probe is deleted as soon as it exists.
        if let Err(source) = temporary(&dir).and_then(NamedTempFile::close) {
            return Err(OutputError::Probe { dir, source });
        }
        match artefacts.iter().map(|artefact| dir.join(artefact.name)).find(|path| path.is_dir()) {
            Some(path) => Err(OutputError::Occupied { path }),
            None => Ok(Self { dir, artefacts }),
        }
    }

    /// Writes the files and returns their paths in order: those that apply. All are written whole under temporary names
    /// first and renamed then, so that a full disk leaves the results of an earlier run as they were. What is left out
    /// is removed at last: files of an earlier run would show other figures than those beside them.
    ///
    /// # Errors
    ///
    /// When a file cannot be written or renamed, or an old chart cannot be removed. Temporary files are removed.
    pub fn write(&self, summary: &T, charts: Charts) -> Result<Vec<PathBuf>, OutputError> {
        let wanted = |artefact: &&Artefact<T>| {
            (artefact.kind == ArtefactKind::Data || charts == Charts::Draw) && (artefact.applies)(summary)
        };
        let (wanted, left_out): (Vec<&Artefact<T>>, Vec<_>) = self.artefacts.iter().partition(wanted);
        let mut written = Vec::new();
        for artefact in wanted {
            let path = self.dir.join(artefact.name);
            match self.write_temporary(&(artefact.render)(summary)) {
                Ok(file) => written.push((file, path)),
                Err(source) => return Err(OutputError::Write { path, source }),
            }
        }
        let paths = written.into_iter().map(|(file, path)| rename(file, path)).collect::<Result<_, _>>()?;
        left_out.into_iter().try_for_each(|artefact| remove(self.dir.join(artefact.name)))?;
        Ok(paths)
    }

    fn write_temporary(&self, bytes: &[u8]) -> io::Result<NamedTempFile> {
        let mut file = temporary(&self.dir)?;
        file.write_all(bytes)?;
        Ok(file)
    }
}

fn rename(file: NamedTempFile, path: PathBuf) -> Result<PathBuf, OutputError> {
    match file.persist(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(OutputError::Write { path, source: error.error }),
    }
}

fn remove(path: PathBuf) -> Result<(), OutputError> {
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(OutputError::Remove { path, source }),
        _ => Ok(()),
    }
}

/// A new file in `dir`; removed when dropped, unless it is renamed before.
pub(super) fn temporary(dir: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".stormsim-");
    if let Some(permissions) = readable_by_all() {
        builder.permissions(permissions);
    }
    builder.tempfile_in(dir)
}

/// Results are no secret: as any other file they get what the umask leaves, where temporary files are private.
#[cfg(unix)]
fn readable_by_all() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn readable_by_all() -> Option<Permissions> {
    None
}
