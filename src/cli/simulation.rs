//! What the commands share that simulate: reading scenarios and simulating them.

use std::path::Path;

use indicatif::ProgressBar;
use rayon::{ThreadPool, ThreadPoolBuilder};
use stormsim::experiment::{Experiment, Judgement, Precision, Statistic, Summary, VariantSummary};
use stormsim::metrics::Limit;
use stormsim::scenario::{Diagnostics, Overrides, Scenario};

use crate::cli::args::{PrecisionArguments, Settings};
use crate::cli::progress::Unit;
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt, progress};

/// What came of reading files: scenarios, or what is wrong with those that are none.
pub type Loaded<'a> = Result<Vec<(&'a Path, Scenario)>, Vec<(&'a Path, Diagnostics)>>;

/// Reads every file; of the wrong ones all errors are shown and returned.
pub fn load_all<'a>(files: impl IntoIterator<Item = &'a Path>, settings: &Settings, terminal: &Terminal) -> Loaded<'a> {
    let overrides = overrides(settings);
    let mut scenarios = Vec::new();
    let mut wrong = Vec::new();
    for file in files {
        match Scenario::load(file, &overrides) {
            Ok(scenario) => scenarios.push((file, scenario)),
            Err(diagnostics) => {
                terminal.message(&diagnostics.render(true, terminal.width()));
                wrong.push((file, diagnostics));
            }
        }
    }
    if wrong.is_empty() { Ok(scenarios) } else { Err(wrong) }
}

/// What the settings say of a scenario.
pub fn overrides(settings: &Settings) -> Overrides {
    Overrides {
        set: settings.set.clone(),
        vary: Vec::new(),
        without_expectations: false,
        variant: settings.variant.clone(),
        seed: settings.seed,
        replicas: settings.replicas,
    }
}

/// Simulates scenarios one after another, each on all threads.
pub struct Simulator<'a> {
    pool: ThreadPool,
    /// The most in progress at once; none if the user has set no limit.
    max_in_progress: Option<usize>,
    terminal: &'a Terminal,
    animated: bool,
}

impl<'a> Simulator<'a> {
    /// With as many threads as the settings say, but no more than any of the scenarios has replicas to share.
    pub fn new<'s>(
        settings: &Settings,
        precision: &PrecisionArguments,
        scenarios: impl Iterator<Item = &'s Scenario>,
        terminal: &'a Terminal,
        quiet: bool,
    ) -> Result<Self, CommandError> {
        let runs = scenarios.map(|scenario| Experiment::new(scenario).runs()).max().unwrap_or(1);
        // Nobody knows how many replicas a precision takes.
        let useful = if precision.precision.is_some() { u64::MAX } else { runs };
        Self::with_threads(settings, usize::try_from(useful).unwrap_or(usize::MAX), terminal, quiet)
    }

    /// With as many threads as the settings say, but no more than there is work for.
    pub fn with_threads(
        settings: &Settings,
        useful: usize,
        terminal: &'a Terminal,
        quiet: bool,
    ) -> Result<Self, CommandError> {
        let threads = settings.jobs.map_or(0, |wanted| usize::from(wanted).min(useful));
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            CommandError::Message(format!("cannot start {threads} threads: {error}; ask for fewer with `--jobs N`"))
        })?;
        let max_in_progress = settings.max_in_progress.map(usize::from);
        Ok(Self { pool, max_in_progress, terminal, animated: terminal.is_animated() && !quiet })
    }

    /// Does something on the threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// A progress bar, where somebody sees it.
    pub fn bar(&self, name: &str, count: Option<u64>, unit: Unit) -> ProgressBar {
        progress::bar(name, count, unit, self.animated)
    }

    /// The experiment that a scenario is, within the limits of the settings.
    pub fn experiment<'s>(&self, scenario: &'s Scenario, precision: &PrecisionArguments) -> Experiment<'s> {
        let experiment = Experiment::new(scenario).at_most_in_progress(self.max_in_progress.unwrap_or(usize::MAX));
        match precision.precision {
            Some(share) => experiment.to_precision(Precision { share, replicas_max: precision.max_replicas }),
            None => experiment,
        }
    }

    /// Simulates a scenario, or as much of it as is finished when somebody interrupts.
    pub fn simulate(&self, file: &Path, scenario: &Scenario, precision: &PrecisionArguments) -> Summary {
        let experiment = self.experiment(scenario, precision);
        let count = precision.precision.is_none().then(|| experiment.runs());
        let bar = self.bar(&scenario.name, count, Unit::Replicas);
        let summary = self.pool.install(|| experiment.run_until(interrupt::requested(), || bar.inc(1)));
        bar.finish_and_clear();
        if let Some(reached) = summary.precision.as_ref().filter(|reached| !reached.is_good() && !summary.partial) {
            let (replicas, widest) = (summary.replicas, &reached.widest);
            let file = file.display();
            self.terminal.message(&format!(
                "note: `{file}`: {replicas} replicas are not enough for the precision: {widest} is known less well"
            ));
        }
        if let Some(message) = cut_short(file, &summary, self.max_in_progress) {
            self.terminal.error(&message);
        }
        summary
    }
}

/// That a precision cannot be reached: none of the scenarios has anything to be known so well, or there may be fewer
/// replicas than there are to begin with.
pub fn check_precision<'s>(
    precision: &PrecisionArguments,
    scenarios: impl Iterator<Item = &'s Scenario> + Clone,
) -> Result<(), CommandError> {
    let has_mean = |scenario: &Scenario| scenario.expectations.iter().any(|it| it.statistic == Statistic::Mean);
    if precision.precision.is_none() {
        return Ok(());
    }
    if !scenarios.clone().any(has_mean) {
        let message = "`--precision` is about the means that are expected, and there are none: add an `[[expect]]` row \
                       for what matters, or say how many replicas to run with `--replicas N`";
        return Err(CommandError::Message(message.to_owned()));
    }
    scenarios.map(|scenario| scenario.replicas).try_for_each(|replicas| check_most(precision, replicas))
}

/// That a precision begins with more replicas than there may be.
pub fn check_most(precision: &PrecisionArguments, replicas: u32) -> Result<(), CommandError> {
    let most = precision.max_replicas;
    if precision.precision.is_none() || replicas <= most {
        return Ok(());
    }
    let message = format!("`--max-replicas {most}` is less than the {replicas} to begin with; add `--replicas {most}`");
    Err(CommandError::Message(message))
}

/// Which variants a limit of the simulator cut short, where and when, and what to do about it; none if it did not.
fn cut_short(file: &Path, summary: &Summary, max_in_progress: Option<usize>) -> Option<String> {
    let cuts = summary.cut_short();
    let lines: Vec<_> = cuts.iter().map(|(variant, cut)| format!("variant `{variant}`, {cut}")).collect();
    let told = match &lines[..] {
        [] => return None,
        [one] => format!(" {one}"),
        several => format!("\n  {}", several.join("\n  ")),
    };
    // The other limits say it themselves.
    let is_full = cuts.iter().any(|(_, cut)| cut.limit == Limit::Frames);
    let advice =
        if is_full { format!("\nhelp: {}", less_in_progress(summary, max_in_progress)) } else { String::new() };
    Some(format!("`{}` was cut short:{told}{advice}", file.display()))
}

/// What to do where too much was in progress. A queue can be limited where it waits for workers and has no limit.
fn less_in_progress(summary: &Summary, max_in_progress: Option<usize>) -> String {
    let has_open_queue = |variant: &VariantSummary| {
        let fullest = variant.cut_short.as_ref().and_then(|cut| cut.fullest.as_ref());
        let limits = fullest.and_then(|fullest| variant.limits.get(&fullest.service));
        limits.is_some_and(|limits| limits.workers.is_some() && limits.in_flight.is_none())
    };
    let queue = if summary.variants.iter().any(has_open_queue) { "limit the `queue` of what is full, " } else { "" };
    let raise = max_in_progress.map_or(String::new(), |most| {
        format!(", or raise `--max-in-progress` above {most} if there is memory for more")
    });
    format!("{queue}lower the load or the `horizon`{raise}")
}

/// The exit code that a summary asks for.
pub fn exit_of(summary: &Summary) -> Exit {
    if interrupt::is_requested() {
        Exit::Interrupted
    } else if summary.partial {
        Exit::Error
    } else if summary.expectations.iter().all(|verdict| verdict.judgement == Judgement::Met) {
        Exit::Good
    } else {
        Exit::Failed
    }
}
