//! `stormsim explain`: what the settings mean, without a run.

use stormsim::analysis::{Questions, explain};
use stormsim::report::{json, text};
use stormsim::scenario::{Overrides, Scenario};

use crate::cli::args::{ExplainArguments, Format};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

/// Reads the scenario and prints what follows from it.
pub fn run(arguments: &ExplainArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let ExplainArguments { file, failure, false_timeouts, set, variant, format } = arguments;
    let overrides = Overrides { set: set.clone(), variant: variant.clone(), ..Overrides::default() };
    let scenario = match Scenario::load(file, &overrides) {
        Ok(scenario) => scenario,
        Err(diagnostics) => {
            terminal.message(&diagnostics.render(true, terminal.width()));
            return Ok(Exit::Error);
        }
    };
    let explanations = explain(&scenario, Questions { failure: *failure, false_timeouts: *false_timeouts });
    match format {
        Format::Json => terminal.result(&String::from_utf8_lossy(&json::pretty(&explanations)))?,
        Format::Text => terminal.result(&text::explanations(&scenario.name, &explanations, terminal.width()))?,
    }
    Ok(Exit::Good)
}
