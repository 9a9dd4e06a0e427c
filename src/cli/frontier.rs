//! `stormsim frontier`: where on a range of values a condition begins or ceases to hold.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use indicatif::ProgressBar;
use stormsim::analysis::{Allowance, allowance};
use stormsim::experiment::axis::{Cell, Range};
use stormsim::experiment::{
    Claim, FrontierSummary, ScenarioInfo, Search, Stat, ToolInfo, Trial, VariantFrontier, each,
};
use stormsim::plan::{GroupId, Plan};
use stormsim::report::artefact::FRONTIER;
use stormsim::report::files::Output;
use stormsim::report::{json, text};
use stormsim::scenario::{Diagnostics, Scenario};

use crate::cli::again::Again;
use crate::cli::args::{Format, FrontierArguments, PrecisionArguments};
use crate::cli::grid::Grid;
use crate::cli::simulation::Simulator;
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt, progress};

/// Every trial runs as many replicas.
const AS_MANY: PrecisionArguments = PrecisionArguments { precision: None, max_replicas: 0 };

/// What varies, in which file.
struct Varied<'a> {
    grid: &'a Grid,
    path: String,
    range: Range,
}

impl Varied<'_> {
    fn cell(&self, value: &str) -> Cell {
        Cell::of(&self.path, value)
    }

    fn is_right(&self, value: f64) -> bool {
        self.grid.scenario(&self.cell(&self.range.written(value))).is_ok()
    }

    /// Whether the setting takes whole numbers only: both ends are good, and what lies between them is not unless it is
    /// one.
    fn is_whole(&self) -> bool {
        let Range { from, to, ref unit, .. } = self.range;
        let between = from.min(to).floor() + 0.5;
        let is_within = between < from.max(to);
        unit.is_empty() && from.fract() == 0.0 && to.fract() == 0.0 && is_within && !self.is_right(between)
    }
}

/// Looks for the frontier of each variant, writes what came out, and prints it.
pub fn run(arguments: &FrontierArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let (path, range) =
        Range::of_path(&arguments.vary).map_err(|error| CommandError::Message(format!("`--vary`: {error}")))?;
    let Some(grid) = Grid::read(&arguments.file, &arguments.settings, false, terminal) else { return Ok(Exit::Error) };
    let varied = Varied { grid: &grid, path, range };
    // The ends first, so that a wrong path or an impossible value is told with its place.
    let Varied { range, .. } = &varied;
    let ends = [range.from.min(range.to), range.from.max(range.to)].map(|end| varied.cell(&range.written(end)));
    let [base, _] = match ends.map(|cell| grid.scenario(&cell)) {
        [Ok(low), Ok(high)] => [low, high],
        [Err(diagnostics), _] | [_, Err(diagnostics)] => {
            terminal.message(&diagnostics.render(true, terminal.width()));
            return Ok(Exit::Error);
        }
    };
    let claim = Claim::parse(&arguments.condition, &base)
        .map_err(|error| CommandError::Message(format!("`--condition`: {error}")))?;
    let folder = arguments.output.clone().unwrap_or_else(|| Path::new("output").join(&base.name));
    let output = Output::prepare(&folder, &FRONTIER).map_err(|error| CommandError::Message(error.to_string()))?;
    let simulator = Simulator::with_threads(&arguments.settings, usize::MAX, terminal, arguments.shown.quiet)?;
    grid.note_replaced(&varied.cell(&range.written(range.from)), terminal);
    let Some(summary) = search(arguments, &varied, &base, claim, &simulator, terminal) else {
        return Ok(Exit::Error);
    };
    let charts = arguments.shown.charts();
    let written = output.write(&summary, charts).map_err(|error| CommandError::Message(error.to_string()))?;
    match arguments.shown.format {
        Format::Json => terminal.result(&String::from_utf8_lossy(&json::pretty(&summary)))?,
        Format::Text if arguments.shown.quiet => {}
        Format::Text => {
            let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
            let mut report = text::frontier(&summary, terminal.width());
            report += "\n";
            report += &text::files(&folder, &names, terminal.width());
            report += &format!("again with: {}\n", again(arguments, &summary));
            terminal.result(&report)?;
        }
    }
    let is_found = summary.variants.iter().any(|variant| !variant.crossings.is_empty());
    Ok(match summary.partial {
        _ if interrupt::is_requested() => Exit::Interrupted,
        true => Exit::Error,
        false if is_found => Exit::Good,
        false => Exit::Failed,
    })
}

/// Simulates, round by round; what is wrong with a scenario on the way is shown, and then there is no result.
fn search(
    arguments: &FrontierArguments,
    varied: &Varied,
    base: &Scenario,
    claim: Claim,
    simulator: &Simulator,
    terminal: &Terminal,
) -> Option<FrontierSummary> {
    let search = Search {
        range: &varied.range,
        is_whole: varied.is_whole(),
        points: arguments.points,
        resolution: arguments.resolution,
        claim: &claim,
    };
    let names: Vec<&str> = base.variants().iter().map(|(name, _)| name.as_str()).collect();
    let bar = simulator.bar(&base.name, None, progress::Unit::Replicas);
    let wrong: Mutex<Option<(String, Diagnostics)>> = Mutex::new(None);
    let found = search.run(names.len(), |trials| evaluate(varied, &names, trials, &claim, simulator, &bar, &wrong));
    bar.finish_and_clear();
    if let Some((value, diagnostics)) = wrong.into_inner().expect("nothing panics") {
        terminal.message(&diagnostics.render(true, terminal.width()));
        terminal.message(&format!("note: with {}", varied.cell(&value)));
        return None;
    }
    let variants = base.variants().iter().zip(found).map(|((name, plan), (points, crossings))| VariantFrontier {
        name: name.clone(),
        points,
        crossings,
        allowance: allowance_of(&varied.path, plan),
    });
    let variants: Vec<VariantFrontier> = variants.collect();
    let is_cut = variants.iter().flat_map(|variant| &variant.points).any(|point| point.partial);
    Some(FrontierSummary {
        schema_version: 1,
        tool: ToolInfo::this(),
        scenario: ScenarioInfo { overrides: arguments.settings.set.clone(), ..ScenarioInfo::of(base) },
        seed: base.seed,
        replicas: base.replicas,
        partial: is_cut || interrupt::is_requested(),
        path: varied.path.clone(),
        unit: varied.range.unit.clone(),
        range: [varied.range.from, varied.range.to],
        scale: varied.range.scale,
        condition: claim.to_string(),
        bound: claim.bound,
        op: claim.op,
        measure: claim.measure,
        variants,
    })
}

/// What comes out at each trial; nothing where it was interrupted, or where the scenario is wrong, which is noted.
fn evaluate(
    varied: &Varied,
    variants: &[&str],
    trials: &[Trial],
    claim: &Claim,
    simulator: &Simulator,
    bar: &ProgressBar,
    wrong: &Mutex<Option<(String, Diagnostics)>>,
) -> Vec<Option<(Stat, bool)>> {
    let done: Mutex<Vec<Option<(Stat, bool)>>> = Mutex::new(vec![None; trials.len()]);
    let measures = std::slice::from_ref(&claim.measure);
    let work = |number: usize| {
        let (variant, value) = &trials[number];
        let scenario = match varied.grid.variant(&varied.cell(value), variants[*variant]) {
            Ok(scenario) => scenario,
            Err(diagnostics) => {
                *wrong.lock().expect("nothing panics") = Some((value.clone(), diagnostics));
                return ControlFlow::Break(());
            }
        };
        let experiment = simulator.experiment(&scenario, &AS_MANY);
        let Some(mut figures) = experiment.measure(measures, interrupt::requested(), || bar.inc(1)) else {
            return ControlFlow::Break(());
        };
        let mut figures = figures.remove(0);
        done.lock().expect("nothing panics")[number] = Some((figures.stats.remove(0), figures.partial));
        ControlFlow::Continue(())
    };
    simulator.install(|| each(trials.len(), interrupt::requested(), work));
    done.into_inner().expect("nothing panics")
}

/// What retries allow, where what varies is the rate of the only group of clients.
fn allowance_of(path: &str, plan: &Plan) -> Option<Allowance> {
    let segments: Vec<&str> = path.split('.').collect();
    let is_rate = matches!(segments[..], ["clients", _, "arrivals", "constant" | "poisson", "rate"]);
    (is_rate && plan.groups.len() == 1).then(|| allowance(plan, GroupId(0))).flatten()
}

/// The command that gives the same results, whatever the defaults of a later version are.
fn again(arguments: &FrontierArguments, summary: &FrontierSummary) -> Again {
    Again::new("frontier", [arguments.file.as_path()])
        .with("--vary", [&arguments.vary])
        .with("--condition", [&arguments.condition])
        .with("--points", [arguments.points])
        .with("--resolution", [arguments.resolution])
        .settings(&arguments.settings, summary.seed, summary.replicas)
        .output(arguments.output.as_deref(), &arguments.shown)
}
