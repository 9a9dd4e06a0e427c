//! `stormsim run`: read, simulate, write, tell.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use stormsim::experiment::Summary;
use stormsim::report::artefact::RUN;
use stormsim::report::files::Output;
use stormsim::report::{json, text};
use stormsim::scenario::Scenario;

use crate::cli::again::Again;
use crate::cli::args::{Format, RunArguments};
use crate::cli::simulation::{Simulator, check_precision, exit_of, load_all};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt};

/// One scenario file on its way to its results.
struct Job<'a> {
    file: &'a Path,
    scenario: Scenario,
    output: Output<Summary>,
    folder: PathBuf,
}

/// Runs every file, writes its results and prints them. All files are read and all output folders tried out before
/// anything is simulated. When it is interrupted, what is finished is written and marked as partial.
pub fn run(arguments: &RunArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let files = arguments.files.iter().map(PathBuf::as_path);
    let Ok(scenarios) = load_all(files, &arguments.settings, terminal) else { return Ok(Exit::Error) };
    check_precision(&arguments.precision, scenarios.iter().map(|(_, scenario)| scenario))?;
    let jobs = prepare_all(arguments, scenarios)?;
    let scenarios = jobs.iter().map(|job| &job.scenario);
    let simulator =
        Simulator::new(&arguments.settings, &arguments.precision, scenarios, terminal, arguments.shown.quiet)?;
    let charts = arguments.shown.charts();
    let mut exit = Exit::Good;
    let mut summaries = Vec::new();
    // Nobody may be reading any more (`stormsim run FILE | head`): that ends the text, not the work.
    let mut printed = Ok(());
    for job in &jobs {
        let summary = simulator.simulate(job.file, &job.scenario, &arguments.precision);
        let written = job.output.write(&summary, charts).map_err(|error| CommandError::Message(error.to_string()))?;
        exit = exit.max(exit_of(&summary));
        match arguments.shown.format {
            Format::Text if printed.is_ok() => {
                printed = terminal.result(&report(job, arguments, &summary, &written, terminal));
            }
            Format::Text => {}
            Format::Json => summaries.push(summary),
        }
        if interrupt::is_requested() {
            break;
        }
    }
    if arguments.shown.format == Format::Json {
        printed = terminal.result(&json::summaries(&summaries, jobs.len() > 1));
    }
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit),
    }
}

/// Tries out every output folder.
fn prepare_all<'a>(
    arguments: &RunArguments,
    scenarios: Vec<(&'a Path, Scenario)>,
) -> Result<Vec<Job<'a>>, CommandError> {
    let several = scenarios.len() > 1;
    let folder_of = |scenario: &Scenario| match &arguments.output {
        Some(folder) if several => folder.join(&scenario.name),
        Some(folder) => folder.clone(),
        None => Path::new("output").join(&scenario.name),
    };
    let mut taken: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for (file, scenario) in &scenarios {
        if let Some(other) = taken.insert(folder_of(scenario), file) {
            return Err(CommandError::Message(format!(
                "`{}` and `{}` are both named `{}`, so that their results would go to the same folder; \
                 give one of them another `name`, or run them one by one with `--output DIR`",
                other.display(),
                file.display(),
                scenario.name
            )));
        }
    }
    let prepare = |(file, scenario): (&'a Path, Scenario)| {
        let folder = folder_of(&scenario);
        let output = Output::prepare(&folder, &RUN).map_err(|error| CommandError::Message(error.to_string()))?;
        Ok(Job { file, scenario, output, folder })
    };
    scenarios.into_iter().map(prepare).collect()
}

/// The text for standard output: the tables, then the files and the command that does it again.
fn report(job: &Job, arguments: &RunArguments, summary: &Summary, written: &[PathBuf], terminal: &Terminal) -> String {
    if arguments.shown.quiet {
        return text::failures(summary);
    }
    let mut report = text::report(summary, terminal.width());
    let names: Vec<_> = written.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy()).collect();
    report += "\n";
    report += &text::files(&job.folder, &names, terminal.width());
    let _ = writeln!(report, "again with: {}", again(job, arguments));
    report
}

/// The command that gives the same results, whatever the defaults of a later version are.
fn again(job: &Job, arguments: &RunArguments) -> Again {
    Again::new("run", [job.file])
        .settings(&arguments.settings, job.scenario.seed, job.scenario.replicas)
        .precision(&arguments.precision)
        .output(arguments.output.is_some().then_some(&job.folder), &arguments.shown)
}
