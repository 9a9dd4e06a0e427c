//! What the scenario file said must come out, and whether it did: failures first.

use crate::experiment::{Summary, Verdict};
use crate::report::number::{self, Style};
use crate::report::text::grid::{self, Column};
use crate::report::text::{BAD, Counted, GOOD, styled};

const FAILED: &str = "FAILED";
/// Met expectations are listed up to this number of rows; beyond it they would bury the failed ones.
const PASSED_SHOWN: usize = 20;

/// Every expectation and a sentence that sums them up.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let (passed, mut listed): (Vec<_>, Vec<_>) = summary.expectations.iter().partition(|verdict| verdict.passed);
    let failed = listed.len();
    if passed.len() <= PASSED_SHOWN {
        listed.extend(&passed);
    }
    let rows = table(&listed, width).unwrap_or_else(|| list(&listed));
    coloured(&rows) + &conclusion(passed.len(), failed)
}

/// Those that were not met, and the same sentence; nothing if all were.
pub(super) fn failures(summary: &Summary) -> String {
    let (passed, failed): (Vec<_>, Vec<&Verdict>) = summary.expectations.iter().partition(|verdict| verdict.passed);
    if failed.is_empty() { String::new() } else { coloured(&list(&failed)) + &conclusion(passed.len(), failed.len()) }
}

/// The layout counts the bytes of a colour as characters, so colours come after it.
fn coloured(rows: &str) -> String {
    let mark = format!(" {} ", styled(BAD, FAILED));
    rows.lines().map(|line| line.replacen(&format!(" {FAILED} "), &mark, 1) + "\n").collect()
}

fn conclusion(passed: usize, failed: usize) -> String {
    let all = Counted(passed + failed, "expectation");
    let sentence = match (passed, failed) {
        (1, 0) => "the expectation was met".to_owned(),
        (_, 0) => format!("all {all} were met"),
        (0, 1) => "the expectation was not met".to_owned(),
        (0, _) => format!("none of {all} was met"),
        (_, 1) => format!("1 of {all} was not met"),
        _ => format!("{failed} of {all} were not met"),
    };
    format!(" {}\n", styled(if failed == 0 { GOOD } else { BAD }, &sentence))
}

fn table(verdicts: &[&Verdict], width: usize) -> Option<String> {
    let column = |head: &str, cell: fn(&Verdict) -> String| Column {
        head: head.to_owned(),
        cells: verdicts.iter().map(|verdict| cell(verdict)).collect(),
    };
    let columns = [
        column("", |verdict| mark(verdict).to_owned()),
        column("variant", |verdict| verdict.variant.clone()),
        column("of", subject),
        column("metric", metric),
        column("expected", |verdict| verdict.condition.clone()),
        column("came out", actual),
    ];
    grid::of_text(&columns, width)
}

/// For a page that the table is too wide for: two lines each.
fn list(verdicts: &[&Verdict]) -> String {
    let item = |verdict: &&Verdict| {
        let (mark, variant, subject) = (mark(verdict), &verdict.variant, subject(verdict));
        let (metric, condition, actual) = (metric(verdict), &verdict.condition, actual(verdict));
        format!(" {mark:6} {variant}: {subject}\n        {metric} {condition}: came out {actual}\n")
    };
    verdicts.iter().map(item).collect()
}

fn mark(verdict: &Verdict) -> &'static str {
    if verdict.passed { "ok" } else { FAILED }
}

fn subject(verdict: &Verdict) -> String {
    if verdict.name.is_empty() { verdict.scope.to_owned() } else { format!("{} {}", verdict.scope, verdict.name) }
}

fn metric(verdict: &Verdict) -> String {
    let mut metric = verdict.metric.to_owned();
    if verdict.statistic != "mean" {
        metric += &format!(", {}", verdict.statistic);
    }
    let time = |seconds| number::plain(seconds, Style::Seconds, 6);
    match (verdict.from, verdict.until) {
        (None, None) => {}
        (Some(from), None) => metric += &format!(", from {}", time(from)),
        (None, Some(until)) => metric += &format!(", until {}", time(until)),
        (Some(from), Some(until)) => metric += &format!(", {} to {}", time(from), time(until)),
    }
    metric
}

/// Six digits, but all of them where a miss would look like a hit: `27.0000001` is not `= 27`.
fn actual(verdict: &Verdict) -> String {
    let Some(actual) = verdict.actual else { return "undefined".to_owned() };
    let short = number::six_digits(actual);
    let plain = short.replace(',', "");
    let looks_met = !verdict.passed && verdict.condition.split_whitespace().any(|word| word == plain);
    if looks_met { actual.to_string() } else { short }
}
