//! `stormsim init`: scenarios to start from.

use std::path::{Path, PathBuf};

use stormsim::report::{new_file, text};
use stormsim::templates::{TEMPLATES, Template};

use crate::cli::args::InitArguments;
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

/// Writes a template, or lists them.
pub fn run(arguments: &InitArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let InitArguments { template, output } = arguments;
    let Some(name) = template else {
        terminal.result(&text::templates(&TEMPLATES, terminal.width()))?;
        return Ok(Exit::Good);
    };
    let template = Template::find(name).map_err(|error| CommandError::Message(error.to_string()))?;
    if output.as_deref() == Some(Path::new("-")) {
        terminal.result(template.text)?;
        return Ok(Exit::Good);
    }
    let file = output.clone().unwrap_or_else(|| PathBuf::from(template.file_name()));
    new_file::create(&file, template.text).map_err(|error| CommandError::Message(error.to_string()))?;
    terminal.result(&text::started(&file))?;
    Ok(Exit::Good)
}
