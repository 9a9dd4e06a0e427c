//! What the scenario file said must come out, and whether it did: failures first.

use crate::experiment::{Judgement, MetricTable, Summary, VariantSummary, Verdict};
use crate::report::number;
use crate::report::text::grid::{self, Column};
use crate::report::text::{BAD, Counted, GOOD, TITLE, WARNING, partial, styled, wrap};

const FAILED: &str = "FAILED";
/// What came out where there is no figure, and no more is known of that.
const UNDEFINED: &str = "undefined";
/// Met expectations are listed up to this number of rows; beyond it they would bury the failed ones.
const PASSED_SHOWN: usize = 20;

/// Every expectation and a sentence that sums them up.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let all: Vec<&Verdict> = summary.expectations.iter().collect();
    let conclusion = conclusion(&all);
    let of = |judgement| all.iter().copied().filter(move |verdict| verdict.judgement == judgement);
    let mut listed: Vec<_> = of(Judgement::NotMet).chain(of(Judgement::NotJudged)).collect();
    if of(Judgement::Met).count() <= PASSED_SHOWN {
        listed.extend(of(Judgement::Met));
    }
    if listed.is_empty() {
        return format!(" {conclusion}\n");
    }
    let listed = Listed { verdicts: listed, summary };
    let rows = listed.table(width).unwrap_or_else(|| listed.list(width));
    format!("{} {conclusion}\n", coloured(&rows))
}

/// The scenario's name with the same sentence, then those that were not met; nothing if all that were judged were.
pub(super) fn failures(summary: &Summary) -> String {
    let all: Vec<&Verdict> = summary.expectations.iter().collect();
    let failed: Vec<_> = all.iter().copied().filter(|verdict| verdict.judgement == Judgement::NotMet).collect();
    if failed.is_empty() {
        return String::new();
    }
    let name = styled(TITLE, &summary.scenario.name);
    format!("{name}: {}\n{}", conclusion(&all), coloured(&Listed { verdicts: failed, summary }.list(usize::MAX)))
}

/// The layout counts the bytes of a colour as characters, so colours come after it.
pub(super) fn coloured(rows: &str) -> String {
    let mark = format!(" {} ", styled(BAD, FAILED));
    rows.lines().map(|line| line.replacen(&format!(" {FAILED} "), &mark, 1) + "\n").collect()
}

/// How many of all expectations were met.
pub(super) fn conclusion(all: &[&Verdict]) -> String {
    let count = |judgement| all.iter().filter(|verdict| verdict.judgement == judgement).count();
    let [met, not_met, not_judged] = [Judgement::Met, Judgement::NotMet, Judgement::NotJudged].map(count);
    let all = Counted(all.len(), "expectation");
    let sentence = match (met, not_met, not_judged) {
        (0, 0, 0) => "nothing was expected".to_owned(),
        (1, 0, 0) => "the expectation was met".to_owned(),
        (_, 0, 0) => format!("all {all} were met"),
        (0, 1, 0) => "the expectation was not met".to_owned(),
        (0, _, 0) => format!("none of the {all} was met"),
        (_, 1, 0) => format!("1 of {all} was not met"),
        (_, _, 0) => format!("{} of {all} were not met", number::whole(not_met)),
        (0, 0, 1) => "the expectation was not judged".to_owned(),
        (0, 0, _) => format!("none of the {all} was judged"),
        _ => {
            let parts = [(not_met, "not met"), (not_judged, "not judged"), (met, "met")];
            let parts = parts.iter().filter(|(count, _)| *count > 0);
            let parts: Vec<_> = parts.map(|(count, what)| format!("{} {what}", number::whole(*count))).collect();
            format!("{all}: {}", parts.join(", "))
        }
    };
    let style = match (not_met, not_judged) {
        (0, 0) => GOOD,
        (0, _) => WARNING,
        _ => BAD,
    };
    styled(style, &sentence)
}

/// Verdicts of a summary.
struct Listed<'a> {
    verdicts: Vec<&'a Verdict>,
    summary: &'a Summary,
}

impl Listed<'_> {
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
            column("expected", &|verdict| condition(verdict, self.summary)),
            column("came out", &|verdict| came_out(verdict, self.summary)),
        ];
        grid::of_text(&columns, width)
    }

    /// For a page that the table is too wide for: a line for the subject and a sentence below it, each.
    fn list(&self, width: usize) -> String {
        const INDENT: &str = "        ";
        let item = |verdict: &&Verdict| {
            let (mark, variant, subject) = (mark(verdict), &verdict.variant, subject(verdict));
            let (metric, condition) = (metric(verdict), condition(verdict, self.summary));
            let sentence = format!("{metric} {condition}: {}", result(verdict, self.summary));
            let sentence = wrap::words(sentence.split(' '), [INDENT; 2], width);
            format!(" {mark:6} {variant}: {subject}\n{sentence}")
        };
        self.verdicts.iter().map(item).collect()
    }
}

pub(super) fn mark(verdict: &Verdict) -> &'static str {
    match verdict.judgement {
        Judgement::Met => "ok",
        Judgement::NotMet => FAILED,
        Judgement::NotJudged => "-",
    }
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
        let worst_of = if verdict.judgement == Judgement::NotJudged { "" } else { "worst of " };
        metric += &format!(", {worst_of}{} windows", verdict.windows);
    }
    let instant = number::instant;
    match (verdict.from, verdict.until) {
        (None, None) => {}
        (Some(from), None) => metric += &format!(", from {}", instant(from)),
        (None, Some(until)) => metric += &format!(", until {}", instant(until)),
        (Some(from), Some(until)) => metric += &format!(", {} to {}", instant(from), instant(until)),
    }
    metric
}

/// What was expected, in the unit of the metric.
pub(super) fn condition(verdict: &Verdict, summary: &Summary) -> String {
    match verdict.condition.split_once(" ± ") {
        // A share has no unit.
        Some((value, tolerance)) if tolerance.ends_with('%') => {
            format!("{} ± {tolerance}", in_unit(value, verdict, summary))
        }
        _ => in_unit(&verdict.condition, verdict, summary),
    }
}

/// What came out, or why that does not count.
pub(super) fn result(verdict: &Verdict, summary: &Summary) -> String {
    let came_out = came_out(verdict, summary);
    let is_figure = verdict.actual.is_some() || came_out.starts_with(UNDEFINED);
    if is_figure { format!("came out {came_out}") } else { came_out }
}

/// A figure has six digits, but all of them where a miss would look like a hit: `27.0000001` is not `= 27`.
fn came_out(verdict: &Verdict, summary: &Summary) -> String {
    if verdict.judgement == Judgement::NotJudged {
        return format!("not judged: {}", partial::in_variant(variant(verdict, summary), summary.replicas));
    }
    let Some(actual) = verdict.actual else { return undefined(verdict, summary) };
    let short = number::six_digits(actual);
    let plain = short.replace(',', "");
    let failed = verdict.judgement == Judgement::NotMet;
    let looks_met = failed && verdict.condition.split_whitespace().any(|word| word == plain);
    in_unit(&if looks_met { actual.to_string() } else { short }, verdict, summary)
}

/// That there is no figure, or what that means where it is known.
fn undefined(verdict: &Verdict, summary: &Summary) -> String {
    let all = summary.replicas;
    let in_replicas = |count: u32| match all {
        1 => String::new(),
        _ => format!(" in {} of {}", number::whole(count as usize), Counted(all as usize, "replica")),
    };
    match verdict.metric {
        "recovered" | "recovery_s" | "recovered_at_s" => {
            let told = table(verdict, summary).get("recovered").map_or(0, |stat| stat.n);
            let untold = verdict.undefined.min(all - told);
            let parts = [("never recovered", verdict.undefined - untold), ("there is no telling", untold)];
            let parts = parts.iter().filter(|(_, count)| *count > 0);
            parts.map(|(what, count)| format!("{what}{}", in_replicas(*count))).collect::<Vec<_>>().join("; ")
        }
        "last_bad_s" => format!("no second was bad{}", in_replicas(verdict.undefined)),
        _ if all > 1 && verdict.undefined == all => format!("{UNDEFINED} in all {}", Counted(all as usize, "replica")),
        _ => format!("{UNDEFINED}{}", in_replicas(verdict.undefined)),
    }
}

/// The figures of what an expectation is about.
fn table<'a>(verdict: &Verdict, summary: &'a Summary) -> &'a MetricTable {
    let mut tables = variant(verdict, summary).tables();
    let found = tables.find(|&(kind, name, _)| kind.name() == verdict.scope && name == verdict.name);
    found.expect("an expectation is about something of its own summary").2
}

fn variant<'a>(verdict: &Verdict, summary: &'a Summary) -> &'a VariantSummary {
    let variant = summary.variants.iter().find(|variant| variant.name == verdict.variant);
    variant.expect("an expectation is about a variant of its own summary")
}

/// A figure with the unit of the metric, if that has one.
fn in_unit(figure: &str, verdict: &Verdict, summary: &Summary) -> String {
    match table(verdict, summary)[verdict.metric].unit {
        unit @ ("s" | "ms") => format!("{figure} {unit}"),
        "1/s" => format!("{figure}/s"),
        _ => figure.to_owned(),
    }
}
