//! What the scenario file said must come out, and whether it did: failures first.

use crate::experiment::{Judgement, Summary, Verdict};
use crate::number;
use crate::report::text::grid::{self, Column};
use crate::report::text::sentences::Sentences;
use crate::report::text::{BAD, Counted, GOOD, TITLE, WARNING, styled};
use crate::report::verdict::{came_out, condition, metric, not_settled, result, subject};
use crate::wrap;

pub(super) const FAILED: &str = "FAILED";
/// Further sentences on what is not settled would bury the table.
const UNSETTLED_SHOWN: usize = 8;
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
    format!("{}{} {conclusion}\n", coloured(&rows), unsettled(summary, width))
}

/// A sentence for those whose interval has a bound in it, with the replicas that would tell.
fn unsettled(summary: &Summary, width: usize) -> String {
    let mut sentences = Sentences::default();
    for verdict in &summary.expectations {
        if let Some(sentence) = not_settled(verdict) {
            sentences.add(format!("{}, {} {}", verdict.variant, subject(verdict), metric(verdict)), sentence);
        }
    }
    let rest = |hidden| format!("and {} not settled: see `settles_at` in summary.json", Counted(hidden, "more"));
    sentences.render(true, UNSETTLED_SHOWN, rest, width)
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
