//! Which files a command is about: those that are named, and those in folders that are.

use std::fs;
use std::path::{Path, PathBuf};

use stormsim::import;

use crate::cli::CommandError;

/// Every file that is named, and of every folder the scenarios in it and in those within it, in the order of their
/// names.
pub fn scenarios(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    files(paths, is_scenario, "no file that ends in `.toml`")
}

/// The same with the configuration files in folders that look like those that can be imported.
pub fn lintable(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let is_lintable = |path: &Path| is_scenario(path) || is_importable(path);
    files(paths, is_lintable, "no file that ends in `.toml`, and none that can be imported")
}

/// Whether a file is called like a scenario.
pub fn is_scenario(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Whether a file is called like the configuration of another product.
pub fn is_configuration(path: &Path) -> bool {
    path.extension().is_some_and(|it| ["yaml", "yml", "json"].iter().any(|one| it == *one))
}

/// Whether a file is called, and looks, like one that can be imported.
fn is_importable(path: &Path) -> bool {
    is_configuration(path) && import::read(path).is_ok_and(|text| import::guess(&text).is_some())
}

fn files(paths: &[PathBuf], is_wanted: impl Fn(&Path) -> bool, none: &str) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &is_wanted, none, &mut files)?;
    }
    Ok(files)
}

/// The file itself, or those in a folder and those within it that are wanted, in the order of their names.
fn collect(
    path: &Path,
    is_wanted: &impl Fn(&Path) -> bool,
    none: &str,
    files: &mut Vec<PathBuf>,
) -> Result<(), CommandError> {
    if !path.is_dir() {
        // What is no folder is reported by whoever reads it.
        files.push(path.to_owned());
        return Ok(());
    }
    let before = files.len();
    walk(path, is_wanted, files)
        .map_err(|error| CommandError::Message(format!("cannot list the folder `{}`: {error}", path.display())))?;
    if files.len() == before {
        return Err(CommandError::Message(format!("there is no scenario in `{}`: {none}", path.display())));
    }
    Ok(())
}

fn walk(folder: &Path, is_wanted: &impl Fn(&Path) -> bool, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links to folders are not followed: they may lead in circles.
        if entry.file_type()?.is_dir() {
            walk(&path, is_wanted, files)?;
        } else if is_wanted(&path) {
            files.push(path);
        }
    }
    Ok(())
}
