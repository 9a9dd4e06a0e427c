//! `stormsim presets`: the retry behaviour of products.

use stormsim::analysis::PresetExplained;
use stormsim::presets::Preset;
use stormsim::report::presets as report;

use crate::cli::args::{Format, PresetsArguments};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

/// Lists the presets, or says all of one.
pub fn run(arguments: &PresetsArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let PresetsArguments { preset, format } = arguments;
    let named = preset.as_deref().map(Preset::named).transpose();
    let named = named.map_err(|error| CommandError::Message(error.to_string()))?;
    let text = match (named, format) {
        (Some(preset), Format::Text) => report::one(preset, &PresetExplained::of(preset), terminal.width()),
        (Some(preset), Format::Json) => report::json(&[PresetExplained::of(preset)]),
        (None, Format::Text) => report::list(&PresetExplained::all(), terminal.width()),
        (None, Format::Json) => report::json(&PresetExplained::all()),
    };
    terminal.result(&text)?;
    Ok(Exit::Good)
}
