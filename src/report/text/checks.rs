//! The expectations of many files at once: a line each, failures first.

use std::path::Path;

use crate::experiment::{Summary, Verdict};
use crate::report::number;
use crate::report::text::expectations::{actual, coloured, conclusion, mark, metric, subject};
use crate::report::text::how_far;

/// A line for each expectation of each file, with what came out and the 95 % interval of a mean, and a sentence that
/// sums them up. `all`: those that were met, too.
pub(super) fn render(files: &[(&Path, &Summary)], skipped: &[&Path], all: bool) -> String {
    let judged: Vec<(&Path, u32, &Verdict)> = files
        .iter()
        .flat_map(|(file, summary)| summary.expectations.iter().map(|verdict| (*file, summary.replicas, verdict)))
        .collect();
    let (passed, failed): (Vec<_>, Vec<_>) = judged.into_iter().partition(|(_, _, verdict)| verdict.passed);
    let listed = failed.iter().chain(passed.iter().filter(|_| all));
    let lines: String = listed.map(|&(file, replicas, verdict)| line(file, replicas, verdict)).collect();
    let empty: String = files
        .iter()
        .filter(|(_, summary)| all && summary.expectations.is_empty())
        .map(|(file, _)| format!(" -      {}: expects nothing\n", file.display()))
        .collect();
    let cut: String = files
        .iter()
        .filter(|(_, summary)| summary.partial)
        .map(|(file, summary)| format!(" partial {}: cut short.{}\n", file.display(), how_far(summary)))
        .chain(skipped.iter().map(|file| format!(" not run {}\n", file.display())))
        .collect();
    if !all && failed.is_empty() {
        return cut;
    }
    format!("{} {}\n", coloured(&(lines + &empty + &cut)), conclusion(passed.len(), failed.len()))
}

fn line(file: &Path, replicas: u32, verdict: &Verdict) -> String {
    let (mark, file, variant, subject) = (mark(verdict), file.display(), &verdict.variant, subject(verdict));
    let (metric, condition, actual) = (metric(verdict), &verdict.condition, actual(verdict, replicas));
    let interval = match verdict.ci95 {
        Some([low, high]) if low < high => format!(" [{}, {}]", number::six_digits(low), number::six_digits(high)),
        _ => String::new(),
    };
    format!(" {mark:6} {file}: {variant}: {subject} {metric} {condition}: came out {actual}{interval}\n")
}
