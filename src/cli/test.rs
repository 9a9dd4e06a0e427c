//! `stormsim test`: expectations of files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use stormsim::report::{json, text};

use crate::cli::args::{Format, TestArguments};
use crate::cli::simulation::{Simulator, check_precision, exit_of, load_all};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt};

/// Simulates every scenario and prints what became of its expectations. Writes no files.
pub fn run(arguments: &TestArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let mut files = Vec::new();
    for path in &arguments.paths {
        collect(path, &mut files)?;
    }
    let paths = files.iter().map(PathBuf::as_path);
    let Some(scenarios) = load_all(paths, &arguments.settings, terminal) else { return Ok(Exit::Error) };
    check_precision(&arguments.precision, scenarios.iter().map(|(_, scenario)| scenario))?;
    let all = scenarios.iter().map(|(_, scenario)| scenario);
    let simulator = Simulator::new(&arguments.settings, all, terminal, arguments.quiet)?;
    let mut exit = Exit::Good;
    let mut summaries = Vec::new();
    for (file, scenario) in &scenarios {
        let summary = simulator.simulate(file, scenario, &arguments.precision);
        exit = exit.max(exit_of(&summary));
        summaries.push(summary);
        if interrupt::is_requested() {
            break;
        }
    }
    match arguments.format {
        Format::Json => terminal.result(&json::summaries(&summaries, scenarios.len() > 1))?,
        Format::Text => {
            let judged: Vec<(&Path, _)> = scenarios.iter().map(|(file, _)| *file).zip(&summaries).collect();
            let skipped: Vec<&Path> = scenarios[summaries.len()..].iter().map(|(file, _)| *file).collect();
            terminal.result(&text::checks(&judged, &skipped, arguments.quiet))?;
        }
    }
    Ok(exit)
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
