//! What a person reads in the terminal: the headline figures of every variant, the services, the expectations.

mod caveats;
mod checks;
mod compare;
mod expectations;
mod explain;
mod failed;
mod figures;
mod frontier;
mod grid;
pub(super) mod partial;
mod recovery;
mod sentences;
mod sweep;
mod templates;

use std::fmt;
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::analysis::Explanation;
use crate::experiment::{FrontierSummary, Reached, Summary, SweepSummary};
use crate::number::{self, INCOMPLETE};
use crate::report::coverage;
use crate::templates::Template;
use crate::wrap;

const TITLE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Everything, for a page of `width` columns, with a newline at its end. Tables that are wider are continued below;
/// names are never cut. It carries ANSI colours: remove them where they are not wanted.
pub fn report(summary: &Summary, width: usize) -> String {
    let tables = figures::render(summary, width);
    let mut sections = vec![heading(summary, tables.contains(INCOMPLETE), width), tables];
    if !summary.expectations.is_empty() {
        sections.push(expectations::render(summary, width));
    }
    sections.join("\n")
}

/// What a comparison shows, for a page of `width` columns, with a newline at its end: the figures of every variant, then
/// each beside those of the reference.
pub fn comparison(summary: &Summary, width: usize) -> String {
    let tables = figures::variants(summary, width);
    [heading(summary, tables.contains(INCOMPLETE), width), tables, compare::render(summary, width)].join("\n")
}

/// What a sweep found, for a page of `width` columns, with a newline at its end. `resumed` of its cells were kept from an
/// earlier one.
pub fn sweep(sweep: &SweepSummary, resumed: usize, width: usize) -> String {
    sweep::render(sweep, resumed, width)
}

/// What the settings of a scenario mean, for a page of `width` columns, with a newline at its end.
pub fn explanations(name: &str, explanations: &[Explanation], width: usize) -> String {
    explain::render(name, explanations, width)
}

/// Where a condition begins or ceases to hold, for a page of `width` columns, with a newline at its end.
pub fn frontier(frontier: &FrontierSummary, width: usize) -> String {
    frontier::render(frontier, width)
}

/// The expectations of several files, and what has changed against a baseline, a line each, failures first; with `quiet`
/// only the failures, and nothing if there are none.
///
/// `skipped` are files that were not simulated because somebody interrupted.
pub fn checks(files: &[(&Path, &Summary)], skipped: &[&Path], quiet: bool) -> String {
    checks::render(files, skipped, !quiet)
}

/// How many expectations of several files were met, and what has changed against a baseline.
pub(super) fn conclusions(files: &[(&Path, &Summary)]) -> String {
    checks::conclusions(files)
}

/// A line for everything that could not be compared with a baseline.
pub(super) fn unmatched(files: &[(&Path, &Summary)]) -> String {
    checks::unmatched(files)
}

/// Only the expectations that were not met, after a line that names the scenario; nothing if all were.
pub fn failures(summary: &Summary) -> String {
    expectations::failures(summary)
}

/// Scenarios to start from, for a page of `width` columns, and how to get one.
pub fn templates(templates: &[Template], width: usize) -> String {
    templates::list(templates, width)
}

/// A table of text; none if it is wider than `width` columns.
pub(super) fn table<const N: usize>(heads: &[&str; N], rows: &[[String; N]], width: usize) -> Option<String> {
    let cells = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
    let columns: Vec<grid::Column> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| grid::Column { head: (*head).to_owned(), cells: cells(at) })
        .collect();
    grid::of_text(&columns, width)
}

/// Where a scenario to start from was written, and what to do with it.
pub fn started(file: &Path) -> String {
    templates::written(file)
}

/// Where the files `names` were written, for a page of `width` columns. A name, or the path `dir`, is never broken.
pub fn files(dir: &Path, names: &[impl AsRef<str>], width: usize) -> String {
    let place = format!("{}:", dir.display());
    let listed = names.iter().enumerate().map(|(i, name)| {
        let comma = if i + 1 < names.len() { "," } else { "" };
        format!("{}{comma}", name.as_ref())
    });
    let listed: Vec<_> = ["written to".to_owned(), place].into_iter().chain(listed).collect();
    wrap::words(listed.iter().map(String::as_str), ["", "  "], width)
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

fn heading(summary: &Summary, incomplete: bool, width: usize) -> String {
    let replicas = coverage::replicas(summary);
    let variants = Counted(summary.variants.len(), "variant");
    let mut lines = styled(TITLE, &summary.scenario.name);
    let each = if summary.variants.len() > 1 { " each" } else { "" };
    lines += &format!(": {variants}, {replicas}{each}, seed {}\n", summary.seed);
    let sentence = match summary.replicas {
        _ if summary.variants.iter().all(|variant| variant.replicas.is_empty()) => String::new(),
        0 | 1 => "One replica: single values, without intervals.".to_owned(),
        _ => format!("Mean over {replicas}; ± gives the 95 % interval of the mean by Student's t."),
    };
    lines += &wrap::words(sentence.split_whitespace(), ["", "  "], width);
    if incomplete {
        lines += &format!("{INCOMPLETE} Mean of the replicas in which it is defined; it is not in all of them.\n");
    }
    if let Some(reached) = &summary.precision {
        lines += &precision(reached, summary.replicas, width);
    }
    lines + &partial::render(summary, width)
}

/// What came of a precision that was asked for.
fn precision(reached: &Reached, replicas: u32, width: usize) -> String {
    let share = |share: f64| number::plain(share, number::Style::Share, 3);
    let (wanted, replicas) = (share(reached.wanted), number::whole(replicas as usize));
    let widest = &reached.widest;
    if reached.is_good() {
        let sentence = format!(
            "{replicas} replicas are enough for ± {wanted} of every mean that is expected; the widest is {widest}, ± {}.",
            share(reached.reached.unwrap_or(0.0))
        );
        return wrap::words(sentence.split(' '), ["", "  "], width);
    }
    let known =
        reached.reached.map_or("not known at all".to_owned(), |reached| format!("known to ± {}", share(reached)));
    let sentence = format!(
        "{replicas} replicas are not enough for ± {wanted}: {widest} is {known}; a higher `--max-replicas` allows more."
    );
    wrap::words(sentence.split(' '), ["", "  "], width).lines().map(|line| styled(WARNING, line) + "\n").collect()
}

/// A count and its noun, in the plural where need be.
pub(super) struct Counted(pub usize, pub &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, noun) = self;
        write!(f, "{} {noun}{}", number::whole(*count), if *count == 1 { "" } else { "s" })
    }
}
