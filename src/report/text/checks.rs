//! The expectations of many files at once: a line each, failures first.

use std::path::Path;

use crate::experiment::{Judgement, Summary, Verdict};
use crate::report::number;
use crate::report::text::expectations::{coloured, conclusion, mark};
use crate::report::text::partial;
use crate::report::verdict::{condition, metric, not_settled, place, result, subject};

/// A line for each expectation of each file, failures first, with what came out and the 95 % interval of a mean, and a
/// sentence that sums them up. `all`: those that were met or not judged, too.
pub(super) fn render(files: &[(&Path, &Summary)], skipped: &[&Path], all: bool) -> String {
    let verdicts: Vec<(&Path, &Summary, &Verdict)> = files
        .iter()
        .flat_map(|&(file, summary)| summary.expectations.iter().map(move |verdict| (file, summary, verdict)))
        .collect();
    let of = |judgement| verdicts.iter().filter(move |(_, _, verdict)| verdict.judgement == judgement);
    let failed = of(Judgement::NotMet).count();
    let others = of(Judgement::NotJudged).chain(of(Judgement::Met)).filter(|_| all);
    let lines: String =
        of(Judgement::NotMet).chain(others).map(|&(file, summary, verdict)| line(file, summary, verdict)).collect();
    let empty: String = files
        .iter()
        .filter(|(_, summary)| all && summary.expectations.is_empty())
        .map(|(file, _)| format!(" -      {}: expects nothing\n", file.display()))
        .collect();
    let cut: String = files
        .iter()
        .filter(|(_, summary)| summary.partial)
        .map(|(file, summary)| format!(" partial {}: {}\n", file.display(), partial::in_all(summary)))
        .chain(skipped.iter().map(|file| format!(" not run {}\n", file.display())))
        .collect();
    if !all && failed == 0 {
        return cut;
    }
    let verdicts: Vec<&Verdict> = verdicts.into_iter().map(|(_, _, verdict)| verdict).collect();
    format!("{} {}\n", coloured(&(lines + &empty + &cut)), conclusion(&verdicts))
}

fn line(file: &Path, summary: &Summary, verdict: &Verdict) -> String {
    let (mark, variant, subject) = (mark(verdict), &verdict.variant, subject(verdict));
    // Whoever has to look at the row is taken to it.
    let is_worth_a_look = verdict.judgement == Judgement::NotMet || verdict.straddles;
    let file = if is_worth_a_look { place(file, verdict) } else { file.display().to_string() };
    let (metric, condition, result) = (metric(verdict), condition(verdict, summary), result(verdict, summary));
    let interval = match verdict.ci95 {
        Some([low, high]) if low < high => format!(" [{}, {}]", number::six_digits(low), number::six_digits(high)),
        _ => String::new(),
    };
    let doubt = not_settled(verdict).map_or(String::new(), |doubt| format!("; {doubt}"));
    format!(" {mark:6} {file}: {variant}: {subject} {metric} {condition}: {result}{interval}{doubt}\n")
}
