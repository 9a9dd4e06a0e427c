//! `stormsim import`: scenarios of configuration files that people have.

use std::path::Path;

use stormsim::import::{self, Format, Imported, Merged};
use stormsim::report::{new_file, text};
use stormsim::scenario::{Diagnostics, Overrides, ScenarioFile};

use crate::cli::args::ImportArguments;
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

/// Prints, or writes, the scenario that a file makes, or the one that it was put into.
pub fn run(arguments: &ImportArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let ImportArguments { format, file, into, output, quiet } = arguments;
    let format = Format::ALL.into_iter().find(|it| it.name() == format).expect("no other name is accepted");
    let wrong = |wrong: &Diagnostics| {
        terminal.message(&wrong.render(true, terminal.width()));
        Ok(Exit::Error)
    };
    let imported = match import::load(format, file) {
        Ok(imported) => imported,
        Err(error) => return wrong(&error),
    };
    if !quiet {
        let remarks = imported.messages();
        if remarks.iter().len() > 0 {
            terminal.message(&(remarks.render(true, terminal.width()) + "\n"));
        }
    }
    let scenario = match into {
        None => imported.scenario(),
        Some(into) => match merged(&imported, into, *quiet, terminal) {
            Ok(text) => text,
            Err(error) => return wrong(&error),
        },
    };
    // Nothing is printed that cannot be run.
    let folder = into.as_deref().or(output.as_deref()).and_then(Path::parent).unwrap_or(Path::new(""));
    let made = ScenarioFile::of("the scenario that it makes", scenario.clone(), folder);
    if let Err(error) = made.scenario(&Overrides::default()) {
        // What is wrong with the scenario that was there is told at its own places.
        let there = into.as_deref().map(|into| ScenarioFile::read(into)?.scenario(&Overrides::default()));
        return wrong(&there.and_then(Result::err).unwrap_or(error));
    }
    let output = output.as_deref().filter(|output| *output != Path::new("-"));
    match output {
        None => terminal.result(&scenario)?,
        Some(output) => {
            new_file::create(output, &scenario).map_err(|error| CommandError::Message(error.to_string()))?;
            terminal.result(&text::started(output))?;
        }
    }
    Ok(Exit::Good)
}

/// The text of a scenario with what was imported in it.
fn merged(imported: &Imported, into: &Path, quiet: bool, terminal: &Terminal) -> Result<String, Diagnostics> {
    let there = import::read(into)?;
    let Merged { text, notes } = imported.merged_into(&there).map_err(|error| {
        // Whoever reads scenarios says more of what is no TOML.
        let file = ScenarioFile::of(&into.display().to_string(), there.clone(), Path::new(""));
        file.scenario(&Overrides::default()).err().unwrap_or_else(|| import::no_toml(into, &error))
    })?;
    if !quiet && notes.iter().len() > 0 {
        terminal.message(&(notes.render(true, terminal.width()) + "\n"));
    }
    Ok(text)
}
