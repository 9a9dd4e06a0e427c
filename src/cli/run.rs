//! `stormsim run`: read, simulate, write, tell.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use rayon::{ThreadPool, ThreadPoolBuilder};
use stormsim::experiment::{Experiment, Summary};
use stormsim::report::files::{Charts, Output};
use stormsim::report::{json, text};
use stormsim::scenario::{Overrides, Scenario};

use crate::cli::args::{Format, RunArguments};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, progress};

/// One scenario file on its way to its results.
struct Job<'a> {
    file: &'a Path,
    scenario: Scenario,
    output: Output,
    folder: PathBuf,
}

/// Runs every file, writes its results and prints them. All files are read and all output folders tried out before
/// anything is simulated.
pub fn run(arguments: &RunArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let Some(scenarios) = load_all(arguments, terminal)? else { return Ok(Exit::Error) };
    let jobs = prepare_all(arguments, scenarios)?;
    let pool = thread_pool(arguments.jobs, &jobs)?;
    let mut exit = Exit::Good;
    let mut summaries = Vec::new();
    for job in &jobs {
        let experiment = Experiment::new(&job.scenario);
        let visible = terminal.is_animated() && !arguments.quiet;
        let bar = progress::bar(&job.scenario.name, experiment.runs(), visible);
        let summary = pool.install(|| experiment.run(|| bar.inc(1)));
        bar.finish_and_clear();
        let charts = if arguments.no_charts { Charts::Skip } else { Charts::Draw };
        let written = job.output.write(&summary, charts).map_err(|error| CommandError::Message(error.to_string()))?;
        exit = exit.max(exit_of(&summary));
        if let Some(cut_short) = &summary.cut_short {
            terminal.error(&format!("`{}` was cut short: {cut_short}", job.file.display()));
        }
        match arguments.format {
            Format::Text => terminal.result(&report(job, arguments, &summary, &written, terminal))?,
            Format::Json => summaries.push(summary),
        }
    }
    if arguments.format == Format::Json {
        terminal.result(&json::summaries(&summaries))?;
    }
    Ok(exit)
}

/// The threads that share the replicas; more than there are replicas would have nothing to do.
fn thread_pool(wanted: Option<NonZeroUsize>, jobs: &[Job]) -> Result<ThreadPool, CommandError> {
    let runs = jobs.iter().map(|job| Experiment::new(&job.scenario).runs()).max().unwrap_or(1);
    let threads = wanted.map_or(0, |wanted| usize::from(wanted).min(usize::try_from(runs).unwrap_or(usize::MAX)));
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        CommandError::Message(format!("cannot start {threads} threads: {error}; ask for fewer with `--jobs N`"))
    })
}

/// Reads every file; of the wrong ones all errors are shown.
fn load_all<'a>(
    arguments: &'a RunArguments,
    terminal: &Terminal,
) -> Result<Option<Vec<(&'a Path, Scenario)>>, CommandError> {
    let overrides = Overrides {
        set: arguments.set.clone(),
        variant: arguments.variant.clone(),
        seed: arguments.seed,
        replicas: arguments.replicas,
    };
    let mut scenarios = Vec::new();
    let mut all_good = true;
    for file in &arguments.files {
        match Scenario::load(file, &overrides) {
            Ok(scenario) => scenarios.push((file.as_path(), scenario)),
            Err(diagnostics) => {
                terminal.message(&diagnostics.render(true, terminal.width()));
                all_good = false;
            }
        }
    }
    Ok(all_good.then_some(scenarios))
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
        let output = Output::prepare(&folder).map_err(|error| CommandError::Message(error.to_string()))?;
        Ok(Job { file, scenario, output, folder })
    };
    scenarios.into_iter().map(prepare).collect()
}

fn exit_of(summary: &Summary) -> Exit {
    if summary.partial {
        Exit::Error
    } else if summary.expectations.iter().all(|verdict| verdict.passed) {
        Exit::Good
    } else {
        Exit::Failed
    }
}

/// The text for standard output: the tables, then the files and the command that does it again.
fn report(job: &Job, arguments: &RunArguments, summary: &Summary, written: &[PathBuf], terminal: &Terminal) -> String {
    if arguments.quiet {
        return text::failures(summary);
    }
    let mut report = text::report(summary, terminal.width());
    let names: Vec<_> = written.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy()).collect();
    let _ = writeln!(report, "\nwritten to {}: {}", job.folder.display(), names.join(", "));
    let _ = writeln!(report, "again with: {}", command(job, arguments));
    report
}

/// The command that gives the same results, whatever the defaults of a later version are.
fn command(job: &Job, arguments: &RunArguments) -> String {
    let mut words = vec!["stormsim".to_owned(), "run".to_owned(), job.file.display().to_string()];
    words.extend(["--seed".to_owned(), job.scenario.seed.to_string()]);
    words.extend(["--replicas".to_owned(), job.scenario.replicas.to_string()]);
    for set in &arguments.set {
        words.extend(["--set".to_owned(), set.clone()]);
    }
    if let Some(variant) = &arguments.variant {
        words.extend(["--variant".to_owned(), variant.clone()]);
    }
    if arguments.output.is_some() {
        words.extend(["--output".to_owned(), job.folder.display().to_string()]);
    }
    if arguments.no_charts {
        words.push("--no-charts".to_owned());
    }
    // Only a zero byte cannot be quoted, and no argument holds one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
