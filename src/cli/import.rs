//! `stormsim import`: scenarios of configuration files that people have.

use std::path::Path;

use stormsim::import::{self, Format, Imported};
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
        Some(into) => merged(&imported, into, terminal)?,
    };
    // Nothing is printed that cannot be run.
    let folder = into.as_deref().or(output.as_deref()).and_then(Path::parent).unwrap_or(Path::new(""));
    if let Err(error) =
        ScenarioFile::of("the scenario that it makes", scenario.clone(), folder).scenario(&Overrides::default())
    {
        return wrong(&error);
    }
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
fn merged(imported: &Imported, into: &Path, terminal: &Terminal) -> Result<String, CommandError> {
    let told = |error: Diagnostics| {
        CommandError::Message(error.iter().map(|error| error.in_a_line()).collect::<Vec<_>>().join("; "))
    };
    let scenario = import::read(into).map_err(told)?;
    let merged = imported.merged_into(&scenario);
    let merged = merged.map_err(|error| CommandError::Message(format!("`{}` is no TOML: {error}", into.display())))?;
    for homeless in &merged.homeless {
        terminal.message(homeless);
    }
    Ok(merged.text)
}
