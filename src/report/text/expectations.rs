//! What the scenario file said must come out, and whether it did: failures first.

use crate::experiment::{Summary, Verdict};
use crate::report::number::{self, Style};
use crate::report::text::grid::{self, Column};
use crate::report::text::{BAD, Counted, GOOD, TITLE, styled};

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
    if listed.is_empty() {
        return format!(" {}\n", conclusion(passed.len(), failed));
    }
    let judged = Judged { verdicts: listed, replicas: summary.replicas };
    let rows = judged.table(width).unwrap_or_else(|| judged.list());
    format!("{} {}\n", coloured(&rows), conclusion(passed.len(), failed))
}

/// The scenario's name with the same sentence, then those that were not met; nothing if all were.
pub(super) fn failures(summary: &Summary) -> String {
    let (passed, failed): (Vec<_>, Vec<&Verdict>) = summary.expectations.iter().partition(|verdict| verdict.passed);
    if failed.is_empty() {
        return String::new();
    }
    let name = styled(TITLE, &summary.scenario.name);
    let conclusion = conclusion(passed.len(), failed.len());
    let judged = Judged { verdicts: failed, replicas: summary.replicas };
    format!("{name}: {conclusion}\n{}", coloured(&judged.list()))
}

/// The layout counts the bytes of a colour as characters, so colours come after it.
pub(super) fn coloured(rows: &str) -> String {
    let mark = format!(" {} ", styled(BAD, FAILED));
    rows.lines().map(|line| line.replacen(&format!(" {FAILED} "), &mark, 1) + "\n").collect()
}

pub(super) fn conclusion(passed: usize, failed: usize) -> String {
    let all = Counted(passed + failed, "expectation");
    let sentence = match (passed, failed) {
        (0, 0) => "nothing was expected".to_owned(),
        (1, 0) => "the expectation was met".to_owned(),
        (_, 0) => format!("all {all} were met"),
        (0, 1) => "the expectation was not met".to_owned(),
        (0, _) => format!("none of the {all} was met"),
        (_, 1) => format!("1 of {all} was not met"),
        _ => format!("{failed} of {all} were not met"),
    };
    styled(if failed == 0 { GOOD } else { BAD }, &sentence)
}

/// Verdicts over so many replicas.
struct Judged<'a> {
    verdicts: Vec<&'a Verdict>,
    replicas: u32,
}

impl Judged<'_> {
    /// None if it is wider than the page.
    fn table(&self, width: usize) -> Option<String> {
        let column = |head: &str, cell: &dyn Fn(&Verdict) -> String| Column {
            head: head.to_owned(),
            cells: self.verdicts.iter().map(|verdict| cell(verdict)).collect(),
        };
        let columns = [
            column("", &|verdict| mark(verdict).to_owned()),
            column("variant", &|verdict| verdict.variant.clone()),
            column("of", &subject),
            column("metric", &metric),
            column("expected", &|verdict| verdict.condition.clone()),
            column("came out", &|verdict| actual(verdict, self.replicas)),
        ];
        grid::of_text(&columns, width)
    }

    /// For a page that the table is too wide for: two lines each.
    fn list(&self) -> String {
        let item = |verdict: &&Verdict| {
            let (mark, variant, subject) = (mark(verdict), &verdict.variant, subject(verdict));
            let (metric, condition, actual) = (metric(verdict), &verdict.condition, actual(verdict, self.replicas));
            format!(" {mark:6} {variant}: {subject}\n        {metric} {condition}: came out {actual}\n")
        };
        self.verdicts.iter().map(item).collect()
    }
}

pub(super) fn mark(verdict: &Verdict) -> &'static str {
    if verdict.passed { "ok" } else { FAILED }
}

pub(super) fn subject(verdict: &Verdict) -> String {
    if verdict.name.is_empty() { verdict.scope.to_owned() } else { format!("{} {}", verdict.scope, verdict.name) }
}

pub(super) fn metric(verdict: &Verdict) -> String {
    let mut metric = verdict.metric.to_owned();
    if verdict.statistic != "mean" {
        metric += &format!(", {}", verdict.statistic);
    }
    if verdict.windows > 1 {
        metric += &format!(", worst of {} windows", verdict.windows);
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

/// A figure has six digits, but all of them where a miss would look like a hit: `27.0000001` is not `= 27`.
pub(super) fn actual(verdict: &Verdict, replicas: u32) -> String {
    let Some(actual) = verdict.actual else {
        return match replicas {
            1 => "undefined".to_owned(),
            all if verdict.undefined == all => format!("undefined in all {}", Counted(all as usize, "replica")),
            all => format!("undefined in {} of {}", verdict.undefined, Counted(all as usize, "replica")),
        };
    };
    let short = number::six_digits(actual);
    let plain = short.replace(',', "");
    let looks_met = !verdict.passed && verdict.condition.split_whitespace().any(|word| word == plain);
    if looks_met { actual.to_string() } else { short }
}
