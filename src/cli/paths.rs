//! Which files a command is about: those that are named, and those in folders that are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::CommandError;

/// Every file that is named, and of every folder the scenarios in it and in those within it, in the order of their
/// names.
pub fn scenarios(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    Ok(files)
}

/// The file itself, or the scenarios in a folder and those within it, in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    if !path.is_dir() {
        // What is no folder is reported by whoever reads it.
        files.push(path.to_owned());
        return Ok(());
    }
    let before = files.len();
    walk(path, files)
        .map_err(|error| CommandError::Message(format!("cannot list the folder `{}`: {error}", path.display())))?;
    if files.len() == before {
        return Err(CommandError::Message(format!(
            "there is no scenario in `{}`: no file that ends in `.toml`",
            path.display()
        )));
    }
    Ok(())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links to folders are not followed: they may lead in circles.
        if entry.file_type()?.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
