//! `stormsim test`: expectations of files and folders, and what came out before.

use std::path::{Path, PathBuf};

use stormsim::experiment::Summary;
use stormsim::report::{github, json, junit, text};
use stormsim::scenario::{Diagnostics, Scenario};

use crate::cli::args::{TestArguments, TestFormat};
use crate::cli::baseline::{self, Gate};
use crate::cli::simulation::{Simulator, check_precision, exit_of, load_all};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt, paths};

/// Simulates every scenario and prints what became of its expectations, and how it compares with a baseline. Writes no
/// files but a new baseline, if that is asked for.
pub fn run(arguments: &TestArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let files = paths::scenarios(&arguments.paths)?;
    let paths = files.iter().map(PathBuf::as_path);
    let scenarios = match load_all(paths, &arguments.settings, terminal) {
        Ok(scenarios) => scenarios,
        Err(wrong) => {
            terminal.result(&errors(arguments.format, &wrong, &files))?;
            return Ok(Exit::Error);
        }
    };
    check_precision(&arguments.precision, scenarios.iter().map(|(_, scenario)| scenario))?;
    let gate = Gate::prepare(arguments, &scenarios)?;
    let all = scenarios.iter().map(|(_, scenario)| scenario);
    let simulator = Simulator::new(&arguments.settings, &arguments.precision, all, terminal, arguments.quiet)?;
    let mut exit = Exit::Good;
    let mut summaries = Vec::new();
    for (file, scenario) in &scenarios {
        let mut summary = simulator.simulate(file, scenario, &arguments.precision);
        gate.compare(&mut summary);
        exit = exit.max(exit_of(&summary)).max(baseline::exit_of(&summary));
        summaries.push(summary);
        if interrupt::is_requested() {
            break;
        }
    }
    // Nobody may be reading any more: that does not keep the baseline from being saved.
    let printed = terminal.result(&report(arguments, &scenarios, &summaries));
    gate.save(&scenarios, &summaries, terminal)?;
    printed?;
    Ok(exit)
}

/// What goes to standard output where some of the files are no scenarios; people have read it on standard error, and
/// there is no summary to print as JSON.
fn errors(format: TestFormat, wrong: &[(&Path, Diagnostics)], files: &[PathBuf]) -> String {
    match format {
        TestFormat::Text | TestFormat::Json => String::new(),
        TestFormat::Junit => {
            let is_wrong = |file: &Path| wrong.iter().any(|(wrong, _)| *wrong == file);
            let skipped: Vec<&Path> = files.iter().map(PathBuf::as_path).filter(|file| !is_wrong(file)).collect();
            junit::errors(wrong, &skipped)
        }
        TestFormat::Github => wrong.iter().map(|(file, diagnostics)| github::errors(file, diagnostics)).collect(),
    }
}

/// What goes to standard output. Of the scenarios only the first may have been simulated.
fn report(arguments: &TestArguments, scenarios: &[(&Path, Scenario)], summaries: &[Summary]) -> String {
    let judged: Vec<(&Path, _)> = scenarios.iter().map(|(file, _)| *file).zip(summaries).collect();
    let skipped: Vec<&Path> = scenarios[summaries.len()..].iter().map(|(file, _)| *file).collect();
    match arguments.format {
        TestFormat::Text => text::checks(&judged, &skipped, arguments.quiet),
        TestFormat::Json => json::summaries(summaries, scenarios.len() > 1),
        TestFormat::Junit => junit::report(&judged, &skipped),
        TestFormat::Github => github::annotations(&judged, &skipped, arguments.quiet),
    }
}
