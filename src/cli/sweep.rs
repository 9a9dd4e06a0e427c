//! `stormsim sweep`: every combination of some settings' values.

use std::iter;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use stormsim::experiment::axis::{Axis, Cell};
use stormsim::experiment::{CellPrecision, Measure, ScenarioInfo, SweepCell, SweepSummary, ToolInfo, each};
use stormsim::metrics::catalogue::ScopeKind;
use stormsim::report::artefact::SWEEP;
use stormsim::report::files::Output;
use stormsim::report::journal::{self, Journal};
use stormsim::report::{json, text};
use stormsim::scenario::Scenario;

use crate::cli::again::Again;
use crate::cli::args::{Format, SweepArguments};
use crate::cli::grid::{Axes, Grid};
use crate::cli::simulation::{Simulator, check_most};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt, progress};

/// The most figures that are kept in memory: of each cell, variant and measure one, some 200 bytes.
const FIGURES_MAX: usize = 5_000_000;

/// What is shown where nobody says, as far as the scenario has it.
const SHOWN: [&str; 4] = ["success_ratio", "amplification", "retry_peak", "recovered"];

/// Simulates every cell that is not finished, writes what came out, and prints it.
pub fn run(arguments: &SweepArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let Some(grid) = Grid::read(&arguments.file, &arguments.settings, false, terminal) else { return Ok(Exit::Error) };
    let varied = Axes::parse(&arguments.vary)?;
    let base = match grid.scenario(&Axes { axes: Vec::new(), count: 1 }.cell(0)) {
        Ok(scenario) => scenario,
        Err(diagnostics) => {
            terminal.message(&diagnostics.render(true, terminal.width()));
            return Ok(Exit::Error);
        }
    };
    let axes = grid.fit(axes(varied, &base)?)?;
    let mut sweep = plan(arguments, &base, &axes)?;
    let simulator = Simulator::with_threads(&arguments.settings, usize::MAX, terminal, arguments.shown.quiet)?;
    // Before anything in the folder is touched.
    if !simulator.install(|| grid.check(&axes, terminal)) {
        return Ok(Exit::Error);
    }
    if interrupt::is_requested() {
        return Ok(Exit::Interrupted);
    }
    check_most(&arguments.precision, base.replicas)?;
    sweep.meaning = meaning(&grid, &base, &axes);
    let folder = arguments.output.clone().unwrap_or_else(|| Path::new("output").join(&base.name));
    let output = Output::prepare(&folder, &SWEEP).map_err(|error| CommandError::Message(error.to_string()))?;
    let journal = open_journal(arguments, &folder, &mut sweep)?;
    let resumed = sweep.cells.len();
    simulate(arguments, &grid, &axes, &simulator, &mut sweep, journal)?;
    let charts = arguments.shown.charts();
    let written = output.write(&sweep, charts).map_err(|error| CommandError::Message(error.to_string()))?;
    match arguments.shown.format {
        Format::Json => terminal.result(&String::from_utf8_lossy(&json::pretty(&sweep)))?,
        Format::Text if arguments.shown.quiet => {}
        Format::Text => {
            let files = written.iter().filter_map(|path| path.file_name()?.to_str());
            let names: Vec<_> = files.chain([journal::NAME]).collect();
            let mut report = text::sweep(&sweep, resumed, terminal.width());
            report += "\n";
            report += &text::files(&folder, &names, terminal.width());
            report += &format!("again with: {}\n", again(arguments, &sweep));
            terminal.result(&report)?;
        }
    }
    Ok(match sweep.partial {
        _ if interrupt::is_requested() && sweep.cells.len() < sweep.grid => Exit::Interrupted,
        true => Exit::Error,
        false => Exit::Good,
    })
}

/// Those of the flags, else those of the file.
fn axes(varied: Axes, base: &Scenario) -> Result<Vec<Axis>, CommandError> {
    match (varied.axes, &base.axes) {
        (axes, _) if !axes.is_empty() => Ok(axes),
        (_, axes) if !axes.is_empty() => Ok(axes.clone()),
        _ => {
            let message = "nothing varies: say what does, such as `--vary retries.NAME.max_attempts=1,2,4`, or put it \
                           into a `[sweep]` table in the file: `vary = [\"PATH=VALUES\"]`";
            Err(CommandError::Message(message.to_owned()))
        }
    }
}

/// The sweep before anything is simulated.
fn plan(arguments: &SweepArguments, base: &Scenario, axes: &Axes) -> Result<SweepSummary, CommandError> {
    let named = arguments.metric.iter().map(|text| Measure::parse(text, base)).collect::<Result<Vec<_>, _>>();
    let mut named = named.map_err(|error| CommandError::Message(format!("`--metric`: {error}")))?;
    if named.is_empty() {
        named.clone_from(&base.measures);
    }
    if named.is_empty() && arguments.precision.precision.is_some() {
        let message = "`--precision` needs to know of what: name the figures that matter, such as `--metric \
                       success_ratio`";
        return Err(CommandError::Message(message.to_owned()));
    }
    let shown = if named.is_empty() {
        SHOWN.iter().filter_map(|name| Measure::parse(name, base).ok()).collect()
    } else {
        named.clone()
    };
    let measures = if named.is_empty() { Measure::all(&[ScopeKind::Scenario, ScopeKind::Fault], base) } else { named };
    let figures = axes.count.saturating_mul(base.variants().len()).saturating_mul(measures.len());
    if figures > FIGURES_MAX {
        let (cells, variants, each) = (axes.count, base.variants().len(), measures.len());
        let message = format!(
            "{cells} cells x {variants} variants x {each} figures are {figures} in all, and {FIGURES_MAX} is the limit: \
             name the figures that matter, such as `--metric success_ratio`, or give the axes fewer values"
        );
        return Err(CommandError::Message(message));
    }
    Ok(SweepSummary {
        schema_version: 1,
        tool: ToolInfo::this(),
        scenario: ScenarioInfo::of(base),
        seed: base.seed,
        replicas: base.replicas,
        meaning: String::new(),
        partial: false,
        precision: None,
        axes: axes.axes.clone(),
        grid: axes.count,
        shown: shown.iter().filter_map(|one| measures.iter().position(|measure| measure == one)).collect(),
        measures,
        cells: Vec::new(),
    })
}

/// A hash of what the scenario comes to, by itself and with each value that is no figure: such may name a file, whose
/// content nobody sees in the path.
fn meaning(grid: &Grid, base: &Scenario, axes: &Axes) -> String {
    let texts = axes.axes.iter().filter(|axis| axis.figures().is_none());
    let cells = texts.flat_map(|axis| axis.values.iter().map(|value| Cell::of(&axis.path, value)));
    let others = cells.filter_map(|cell| Some(grid.scenario(&cell).ok()?.meaning()));
    iter::once(base.meaning()).chain(others).collect::<Vec<_>>().join(" ")
}

/// The journal that finished cells go to; those that are kept are in the sweep then.
fn open_journal(arguments: &SweepArguments, folder: &Path, sweep: &mut SweepSummary) -> Result<Journal, CommandError> {
    let most = arguments.settings.max_in_progress;
    let limits = Again::new("sweep", []).precision(&arguments.precision).with("--max-in-progress", most).to_string();
    let journal =
        if arguments.resume { Journal::resume(folder, sweep, &limits) } else { Journal::begin(folder, sweep, &limits) };
    journal.map_err(|error| CommandError::Message(error.to_string()))
}

/// Simulates the cells that are not in the sweep yet, and puts them there.
fn simulate(
    arguments: &SweepArguments,
    grid: &Grid,
    axes: &Axes,
    simulator: &Simulator,
    sweep: &mut SweepSummary,
    journal: Journal,
) -> Result<(), CommandError> {
    let mut is_finished = vec![false; axes.count];
    sweep.cells.iter().for_each(|cell| is_finished[cell.position] = true);
    let open: Vec<usize> = (0..axes.count).filter(|&position| !is_finished[position]).collect();
    let bar = simulator.bar(&sweep.scenario.name, Some(open.len() as u64), progress::Unit::Cells);
    let done: Mutex<(Journal, Vec<SweepCell>)> = Mutex::new((journal, Vec::new()));
    let failed: Mutex<Option<String>> = Mutex::new(None);
    let planned = &*sweep;
    let work = |number: usize| {
        let position = open[number];
        let scenario = match grid.scenario(&axes.cell(position)) {
            Ok(scenario) => scenario,
            // It was right when all were checked; a file that it names may have been taken away since.
            Err(diagnostics) => {
                *failed.lock().expect("nothing panics") = Some(diagnostics.to_string());
                return ControlFlow::Break(());
            }
        };
        let experiment = simulator.experiment(&scenario, &arguments.precision);
        let Some(variants) = experiment.measure(&planned.measures, interrupt::requested(), || ()) else {
            return ControlFlow::Break(());
        };
        let cell = SweepCell { position, values: planned.values(position), variants };
        let mut done = done.lock().expect("adding does not panic");
        // After an error nothing is added any more.
        if failed.lock().expect("nothing panics").is_some() {
            return ControlFlow::Break(());
        }
        let (journal, cells) = &mut *done;
        if let Err(error) = journal.add(&cell) {
            *failed.lock().expect("nothing panics") = Some(error.to_string());
            return ControlFlow::Break(());
        }
        cells.push(cell);
        bar.inc(1);
        ControlFlow::Continue(())
    };
    simulator.install(|| each(open.len(), interrupt::requested(), work));
    bar.finish_and_clear();
    if let Some(error) = failed.into_inner().expect("nothing panics") {
        return Err(CommandError::Message(error));
    }
    let (_, cells) = done.into_inner().expect("adding does not panic");
    sweep.cells.extend(cells);
    sweep.cells.sort_by_key(|cell| cell.position);
    if arguments.metric.is_empty() {
        // Nobody has asked for what is nowhere defined.
        let is_defined = |at: &usize| sweep.cells.iter().flat_map(|cell| &cell.variants).any(|it| it.stats[*at].n > 0);
        sweep.shown = sweep.shown.iter().copied().filter(is_defined).collect();
    }
    sweep.precision = arguments.precision.precision.map(|wanted| CellPrecision {
        wanted,
        replicas_max: arguments.precision.max_replicas,
        missed: sweep.cells.iter().filter(|cell| !cell.is_known_to(wanted, &sweep.measures)).count(),
    });
    let is_cut = |cell: &SweepCell| cell.variants.iter().any(|variant| variant.partial);
    sweep.partial = sweep.cells.len() < sweep.grid || sweep.cells.iter().any(is_cut);
    Ok(())
}

/// The command that gives the same results, whatever the defaults of a later version are; or finishes them.
fn again(arguments: &SweepArguments, sweep: &SweepSummary) -> Again {
    Again::new("sweep", [arguments.file.as_path()])
        .with("--vary", &arguments.vary)
        .with("--metric", &arguments.metric)
        .settings(&arguments.settings, sweep.seed, sweep.replicas)
        .precision(&arguments.precision)
        .output(arguments.output.as_deref(), &arguments.shown)
        .when(sweep.cells.len() < sweep.grid, "--resume")
}
