//! `stormsim compare`: variants, files and settings side by side, on the same luck.

use std::path::{Path, PathBuf};

use stormsim::experiment::axis::Cell;
use stormsim::experiment::{Comparison, Reached, Summary};
use stormsim::report::artefact::RUN;
use stormsim::report::files::Output;
use stormsim::report::{json, text};
use stormsim::scenario::Scenario;

use crate::cli::again::Again;
use crate::cli::args::{CompareArguments, Format, PrecisionArguments};
use crate::cli::grid::{Axes, Grid};
use crate::cli::simulation::{Simulator, check_precision};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, interrupt};

/// The most variants: their timelines are kept, and nobody reads more sentences.
const COMPARED_MAX: usize = 500;

/// A scenario of a comparison: a file with some settings.
struct Subject<'a> {
    file: &'a Path,
    scenario: Scenario,
    /// What its variants are called in the comparison, in their order.
    names: Vec<String>,
}

/// Simulates everything that is to be compared, writes the results side by side, and prints what they show.
pub fn run(arguments: &CompareArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let axes = Axes::parse(&arguments.vary)?;
    let simulator = Simulator::with_threads(&arguments.settings, usize::MAX, terminal, arguments.shown.quiet)?;
    if axes.count > COMPARED_MAX {
        let message = format!(
            "`--vary` makes {} variants, and {COMPARED_MAX} is the limit; `stormsim sweep` goes through grids",
            axes.count
        );
        return Err(CommandError::Message(message));
    }
    let Some(mut subjects) = load(arguments, &axes, &simulator, terminal) else { return Ok(Exit::Error) };
    let reference = reference(arguments, &subjects)?;
    check_alike(&subjects)?;
    check_precision(&arguments.precision, subjects.iter().map(|subject| &subject.scenario))?;
    let folder = arguments.output.clone().unwrap_or_else(|| default_folder(&subjects));
    let output = Output::prepare(&folder, &RUN).map_err(|error| CommandError::Message(error.to_string()))?;
    let again = again(arguments, &subjects, &reference);
    let summaries = simulate(arguments, &simulator, &mut subjects);
    let summary = side_by_side(&subjects, summaries, &reference);
    let charts = arguments.shown.charts();
    let written = output.write(&summary, charts).map_err(|error| CommandError::Message(error.to_string()))?;
    let exit = match summary.partial {
        _ if interrupt::is_requested() => Exit::Interrupted,
        true => Exit::Error,
        false => Exit::Good,
    };
    match arguments.shown.format {
        Format::Json => terminal.result(&json::summaries(&[summary], false))?,
        Format::Text if arguments.shown.quiet => {}
        Format::Text => {
            let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
            let mut report = text::comparison(&summary, terminal.width());
            report += "\n";
            report += &text::files(&folder, &names, terminal.width());
            report += &format!("again with: {again}\n");
            terminal.result(&report)?;
        }
    }
    Ok(exit)
}

/// Reads every file with every combination of what varies.
fn load<'a>(
    arguments: &'a CompareArguments,
    axes: &Axes,
    simulator: &Simulator,
    terminal: &Terminal,
) -> Option<Vec<Subject<'a>>> {
    let mut subjects = Vec::new();
    for file in &arguments.files {
        let expects = arguments.precision.precision.is_some();
        let grid = Grid::read(file, &arguments.settings, expects, terminal)?;
        if !simulator.install(|| grid.check(axes, terminal)) {
            return None;
        }
        for cell in (0..axes.count).map(|position| axes.cell(position)) {
            let scenario = grid.scenario(&cell).expect("it has been checked");
            subjects.push((Subject { file, scenario, names: Vec::new() }, cell));
        }
    }
    let of_file: Vec<Option<String>> = subjects.iter().map(|(subject, _)| of_file(subject, &subjects)).collect();
    let named = subjects.into_iter().zip(of_file).map(|((mut subject, cell), file)| {
        subject.names = names(&subject.scenario, &cell, file);
        subject
    });
    Some(named.collect())
}

/// What tells a file from the others: the name of its scenario, or where another has that, too, as two versions of one
/// file do, its own; none where there is one file.
fn of_file(subject: &Subject, all: &[(Subject, Cell)]) -> Option<String> {
    let mut others = all.iter().map(|(other, _)| other).filter(|other| other.file != subject.file).peekable();
    others.peek()?;
    let is_alone = others.all(|other| other.scenario.name != subject.scenario.name);
    Some(if is_alone { subject.scenario.name.clone() } else { subject.file.display().to_string() })
}

/// Simulates all with as many replicas: where a precision asks for more of some, the others get them, too.
fn simulate(arguments: &CompareArguments, simulator: &Simulator, subjects: &mut [Subject]) -> Vec<Summary> {
    let simulate = |subject: &Subject, precision: &PrecisionArguments| {
        simulator.simulate(subject.file, &subject.scenario, precision)
    };
    let mut summaries: Vec<Summary> = subjects.iter().map(|subject| simulate(subject, &arguments.precision)).collect();
    let most = summaries.iter().map(|summary| summary.replicas).max().unwrap_or(0);
    for (subject, summary) in subjects.iter_mut().zip(&mut summaries) {
        if summary.replicas < most && !interrupt::is_requested() {
            subject.scenario.replicas = most;
            let precision = summary.precision.take();
            *summary = simulate(subject, &PrecisionArguments { precision: None, ..arguments.precision });
            summary.precision = precision;
        }
    }
    summaries
}

/// What tells the variants of a scenario from all others: the file, where there are several; the variant, where there are
/// several; and what varies.
fn names(scenario: &Scenario, cell: &Cell, file: Option<String>) -> Vec<String> {
    let variants = scenario.variants();
    let cell = (!cell.settings.is_empty()).then(|| cell.to_string());
    let is_told_by_others = variants.len() == 1 && (file.is_some() || cell.is_some());
    let name = |(variant, _): &(String, _)| {
        let variant = (!is_told_by_others).then(|| variant.clone());
        let parts: Vec<String> = file.clone().into_iter().chain(variant).chain(cell.clone()).collect();
        parts.join(", ")
    };
    variants.iter().map(name).collect()
}

/// The variant that the others are compared with: the one that was asked for, or the first.
fn reference(arguments: &CompareArguments, subjects: &[Subject]) -> Result<String, CommandError> {
    let names: Vec<&String> = subjects.iter().flat_map(|subject| &subject.names).collect();
    let files: Vec<String> = arguments.files.iter().map(|file| format!("`{}`", file.display())).collect();
    if names.len() > COMPARED_MAX {
        let message = format!(
            "{} variants are too many to compare, {COMPARED_MAX} is the limit; `stormsim sweep` goes through grids",
            names.len()
        );
        return Err(CommandError::Message(message));
    }
    if let [only] = names[..] {
        let message = format!(
            "there is nothing to compare `{only}` with: {} has one variant; name a second file, or let a setting vary: \
             `--vary PATH=v1,v2`",
            files.join(", ")
        );
        return Err(CommandError::Message(message));
    }
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name) {
        let message = format!("two of what is compared are called `{twice}`; name each file once");
        return Err(CommandError::Message(message));
    }
    match &arguments.reference {
        None => Ok(names[0].clone()),
        Some(wanted) if names.contains(&wanted) => Ok(wanted.clone()),
        Some(wanted) => {
            let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("`--reference {wanted}` is none of what is compared: {}", known.join(", "));
            Err(CommandError::Message(message))
        }
    }
}

/// Only the same luck, as often, can be compared, and only the same buckets drawn into one chart.
fn check_alike(subjects: &[Subject]) -> Result<(), CommandError> {
    let Some((first, others)) = subjects.split_first() else { return Ok(()) };
    for other in others {
        let (one, two) = (&first.scenario, &other.scenario);
        let differs = if one.seed != two.seed {
            Some(("seed", format!("--seed {}", one.seed)))
        } else if one.replicas != two.replicas {
            Some(("number of replicas", format!("--replicas {}", one.replicas.max(two.replicas))))
        } else if one.bucket != two.bucket {
            Some(("`bucket`", format!("--set bucket={}ms", one.bucket.as_ms())))
        } else {
            None
        };
        if let Some((what, flag)) = differs {
            let message = format!(
                "`{}` and `{}` have another {what}, so that they cannot be compared; add `{flag}`",
                first.file.display(),
                other.file.display()
            );
            return Err(CommandError::Message(message));
        }
    }
    Ok(())
}

/// That of the one scenario, or one for the comparison of several.
fn default_folder(subjects: &[Subject]) -> PathBuf {
    let first = &subjects[0].scenario.name;
    let is_one = subjects.iter().all(|subject| subject.scenario.name == *first);
    let name = if is_one { first.clone() } else { "comparison".to_owned() };
    Path::new("output").join(name)
}

/// All variants in one summary, under the names of the comparison.
fn side_by_side(subjects: &[Subject], summaries: Vec<Summary>, reference: &str) -> Summary {
    let mut all: Option<Summary> = None;
    for (subject, mut summary) in subjects.iter().zip(summaries) {
        for (variant, name) in summary.variants.iter_mut().zip(&subject.names) {
            if let Some(reached) = summary.precision.as_mut()
                && let Some(what) = reached.widest.strip_suffix(&format!(" in {}", variant.name))
            {
                reached.widest = format!("{what} in {name}");
            }
            variant.name.clone_from(name);
        }
        // Whether they are met is the business of `run` and `test`.
        summary.expectations.clear();
        match &mut all {
            None => all = Some(summary),
            Some(all) => {
                if all.scenario.name != summary.scenario.name {
                    all.scenario.name += &format!(", {}", summary.scenario.name);
                    all.scenario.sha256 += &format!(", {}", summary.scenario.sha256);
                }
                all.partial |= summary.partial;
                all.precision = wider(all.precision.take(), summary.precision);
                all.variants.extend(summary.variants);
            }
        }
    }
    let mut summary = all.expect("there are at least two to compare");
    summary.comparison = Comparison::of(&summary, reference);
    summary
}

/// The precision that is further from what was asked for.
fn wider(one: Option<Reached>, other: Option<Reached>) -> Option<Reached> {
    let reached = |it: &Option<Reached>| it.as_ref().map_or(0.0, |it| it.reached.unwrap_or(f64::INFINITY));
    if reached(&other) > reached(&one) { other } else { one }
}

/// The command that gives the same results, whatever the defaults of a later version are.
fn again(arguments: &CompareArguments, subjects: &[Subject], reference: &str) -> Again {
    let first = &subjects[0].scenario;
    Again::new("compare", arguments.files.iter().map(PathBuf::as_path))
        .with("--vary", &arguments.vary)
        .with("--reference", [reference])
        .settings(&arguments.settings, first.seed, first.replicas)
        .precision(&arguments.precision)
        .output(arguments.output.as_deref(), &arguments.shown)
}
