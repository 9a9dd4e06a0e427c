//! `stormsim schema`: the scenario format for editors.

use stormsim::scenario::schema;

use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

/// Prints the JSON Schema of scenario files.
pub fn run(terminal: &Terminal) -> Result<Exit, CommandError> {
    terminal.result(&schema::json_schema_text())?;
    Ok(Exit::Good)
}
