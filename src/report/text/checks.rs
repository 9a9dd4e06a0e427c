//! The expectations of many files at once, and what has changed against a baseline: a line each, failures first.

use std::path::Path;

use crate::experiment::{Change, Judgement, Regressions, Summary, Trend, Verdict};
use crate::report::regression;
use crate::report::text::expectations::{FAILED, coloured, conclusion, mark};
use crate::report::text::{BAD, Counted, GOOD, WARNING, partial, styled};
use crate::report::verdict::{condition, metric, outcome, place, subject};

/// A file and what came out of it.
type Tested<'a> = (&'a Path, &'a Summary);

/// A line for each expectation of each file and for each change against a baseline, failures first, with what came out
/// and the 95 % interval of a mean, and the sentences that sum them up. `all`: what is no failure, too.
pub(super) fn render(files: &[Tested<'_>], skipped: &[&Path], all: bool) -> String {
    let verdicts: Vec<(Tested<'_>, &Verdict)> =
        files.iter().flat_map(|&file| file.1.expectations.iter().map(move |verdict| (file, verdict))).collect();
    let judged = |wanted: Judgement| -> String {
        let of = verdicts.iter().filter(|(_, verdict)| verdict.judgement == wanted);
        of.map(|&(file, verdict)| line(file, verdict)).collect()
    };
    let changes = |wanted: Trend| -> String {
        let of = changes(files).filter(|(_, _, change)| change.trend == wanted);
        of.map(|(file, regressions, change)| changed(file, regressions, change)).collect()
    };
    let failures = judged(Judgement::NotMet) + &changes(Trend::Worse);
    let cut: String = files
        .iter()
        .filter(|(_, summary)| summary.partial)
        .map(|(file, summary)| format!(" partial {}: {}\n", file.display(), partial::in_all(summary)))
        .chain(skipped.iter().map(|file| format!(" not run {}\n", file.display())))
        .collect();
    if !all && failures.is_empty() {
        return cut;
    }
    let others = [
        changes(Trend::MayBeChance),
        judged(Judgement::NotJudged),
        judged(Judgement::Met),
        changes(Trend::Better),
        unmatched(files),
        expecting_nothing(files),
    ];
    let others = if all { others.concat() } else { String::new() };
    coloured(&(failures + &others + &cut)) + &conclusions(files)
}

/// How many expectations were met, and what has changed against a baseline.
pub(super) fn conclusions(files: &[Tested<'_>]) -> String {
    let verdicts: Vec<&Verdict> = files.iter().flat_map(|(_, summary)| &summary.expectations).collect();
    let Some(regressions) = files.iter().find_map(|(_, summary)| summary.baseline.as_ref()) else {
        return format!(" {}\n", conclusion(&verdicts));
    };
    let count = |trend| changes(files).filter(|(_, _, change)| change.trend == trend).count();
    let worse = match count(Trend::Worse) {
        0 => format!("nothing is {}", regression::worse(regressions)),
        some => format!("{} {}", Counted(some, "figure"), regression::worse(regressions)),
    };
    let others = [(count(Trend::MayBeChance), "worse, which may be chance"), (count(Trend::Better), "better")];
    let others = others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
    let style = match (count(Trend::Worse), count(Trend::MayBeChance)) {
        (0, 0) => GOOD,
        (0, _) => WARNING,
        _ => BAD,
    };
    let sentence = format!("against the baseline: {worse}{}", others.collect::<String>());
    format!(" {}\n {}\n", conclusion(&verdicts), styled(style, &sentence))
}

/// A line for everything that was not compared with a baseline.
pub(super) fn unmatched(files: &[Tested<'_>]) -> String {
    let of_file = |&(file, summary): &Tested<'_>| {
        let lines = summary.baseline.iter().flat_map(regression::notes);
        lines.map(|what| format!(" -      {}: {what}\n", file.display())).collect::<String>()
    };
    files.iter().map(of_file).collect()
}

fn expecting_nothing(files: &[Tested<'_>]) -> String {
    // Where there is a baseline, that is what it expects.
    let empty = files.iter().filter(|(_, summary)| summary.expectations.is_empty() && summary.baseline.is_none());
    empty.map(|(file, _)| format!(" -      {}: expects nothing\n", file.display())).collect()
}

fn changes<'a>(files: &'a [Tested<'_>]) -> impl Iterator<Item = (&'a Path, &'a Regressions, &'a Change)> {
    files.iter().flat_map(|&(file, summary)| {
        let regressions = summary.baseline.iter();
        regressions.flat_map(move |all| all.changes.iter().map(move |change| (file, all, change)))
    })
}

fn line((file, summary): Tested<'_>, verdict: &Verdict) -> String {
    let (mark, variant, subject) = (mark(verdict), &verdict.variant, subject(verdict));
    // Whoever has to look at the row is taken to it.
    let is_worth_a_look = verdict.judgement == Judgement::NotMet || verdict.straddles;
    let file = if is_worth_a_look { place(file, verdict) } else { file.display().to_string() };
    let (metric, condition, outcome) = (metric(verdict), condition(verdict, summary), outcome(verdict, summary));
    format!(" {mark:6} {file}: {variant}: {subject} {metric} {condition}: {outcome}\n")
}

fn changed(file: &Path, regressions: &Regressions, change: &Change) -> String {
    let mark = match change.trend {
        Trend::Worse => FAILED,
        Trend::MayBeChance => "unsure",
        Trend::Better => "better",
    };
    format!(" {mark:6} {}: {}\n", file.display(), regression::change(change, regressions))
}
