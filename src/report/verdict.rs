//! Expectations and what became of them, in words that all reports share.

use std::path::Path;

use crate::experiment::{Judgement, MetricTable, Summary, VariantSummary, Verdict};
use crate::number;
use crate::report::text::{Counted, partial};

/// What came out where there is no figure, and no more is known of that.
const UNDEFINED: &str = "undefined";

/// What an expectation of a variant is called from one run to the next: nothing in it depends on what came out.
pub(super) fn name(verdict: &Verdict, summary: &Summary) -> String {
    let windows = match verdict.windows {
        1 => String::new(),
        several => format!(", each of {several} windows"),
    };
    let metric = format!("{}{windows}{}", statistic(verdict), stretch(verdict.reach));
    format!("{}: {} {metric} {}", verdict.variant, subject(verdict), condition(verdict, summary))
}

/// Where an expectation stands, as editors and terminals open it.
pub(super) fn place(file: &Path, verdict: &Verdict) -> String {
    format!("{}:{}", file.display(), verdict.line)
}

/// What is to be said of a mean whose interval has a bound of the condition in it; none of others.
pub(super) fn not_settled(verdict: &Verdict) -> Option<String> {
    verdict.straddles.then(|| format!("not settled: {}", settles_at(verdict.settles_at)))
}

/// What came out with the interval of a mean, and whether that settles it.
pub(super) fn outcome(verdict: &Verdict, summary: &Summary) -> String {
    let result = result(verdict, summary);
    let interval = match verdict.ci95 {
        Some([low, high]) if low < high => format!(" [{}, {}]", number::six_digits(low), number::six_digits(high)),
        _ => String::new(),
    };
    let doubt = not_settled(verdict).map_or(String::new(), |doubt| format!("; {doubt}"));
    format!("{result}{interval}{doubt}")
}

/// How many replicas would tell; none for more than a scenario can have.
pub(super) fn settles_at(replicas: Option<u32>) -> String {
    match replicas {
        Some(replicas) => format!("about {} replicas would settle it", number::rounded_up(replicas)),
        None => "it would take more than 1,000,000 replicas to settle it".to_owned(),
    }
}

/// What it is about: `scenario`, `service db`.
pub(super) fn subject(verdict: &Verdict) -> String {
    thing(verdict.scope, &verdict.name)
}

/// A thing of a kind; the scenario has no name.
pub(super) fn thing(scope: &str, name: &str) -> String {
    if name.is_empty() { scope.to_owned() } else { format!("{scope} {name}") }
}

/// The metric that was judged, with its window.
pub(super) fn metric(verdict: &Verdict) -> String {
    let mut metric = statistic(verdict);
    if verdict.windows > 1 {
        let worst_of = if verdict.judgement == Judgement::NotJudged { "" } else { "worst of " };
        metric += &format!(", {worst_of}{} windows", verdict.windows);
    }
    metric + &stretch([verdict.from, verdict.until])
}

/// The metric, with the figure over the replicas unless that is the mean.
fn statistic(verdict: &Verdict) -> String {
    match verdict.statistic {
        "mean" => verdict.metric.to_owned(),
        statistic => format!("{}, {statistic}", verdict.metric),
    }
}

fn stretch([from, until]: [Option<f64>; 2]) -> String {
    let instant = number::instant;
    match (from, until) {
        (None, None) => String::new(),
        (Some(from), None) => format!(", from {}", instant(from)),
        (None, Some(until)) => format!(", until {}", instant(until)),
        (Some(from), Some(until)) => format!(", {} to {}", instant(from), instant(until)),
    }
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
pub(super) fn came_out(verdict: &Verdict, summary: &Summary) -> String {
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

fn in_unit(figure: &str, verdict: &Verdict, summary: &Summary) -> String {
    number::in_unit(figure, table(verdict, summary)[verdict.metric].unit)
}
