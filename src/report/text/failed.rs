//! Why requests failed, or ended with nobody knowing how, and why they were not tried again: a sentence per client group
//! and variant.

use crate::experiment::{MetricTable, Summary};
use crate::failure::{ErrorKind, StopReason};
use crate::number::{self, Style};
use crate::report::text::sentences::{NO_BREAK, Sentences};

/// More sentences would bury the tables; `summary.csv` has all figures.
const SHOWN: usize = 20;

/// After a blank line a sentence for every client group and variant in which requests ended badly; those that need the
/// same share it. Nothing if none did.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let variants = summary.variants.len() > 1;
    let groups = summary.variants.iter().any(|variant| variant.clients.len() > 1);
    let mut sentences = Sentences::default();
    for variant in &summary.variants {
        for (group, table) in &variant.clients {
            let Some(sentence) = sentence(table) else { continue };
            let subject = match (variants, groups) {
                (_, false) => format!("`{}`", variant.name),
                (true, true) => format!("`{group}` in `{}`", variant.name),
                (false, true) => format!("`{group}`"),
            };
            sentences.add(subject, sentence);
        }
    }
    let rest = |hidden| format!("and {} more: see `failed` and `unknown` in summary.csv", number::whole(hidden));
    match sentences.render(variants || groups, SHOWN, rest, width) {
        none if none.is_empty() => none,
        some => format!("\n{some}"),
    }
}

/// How many failed, with which errors, and of how many nobody knows; for which reasons nobody tried those again, and how
/// many were put aside.
fn sentence(table: &MetricTable) -> Option<String> {
    let mean = |metric: &str| table.get(metric)?.mean;
    let above_zero = |metric: &str| mean(metric).filter(|count| *count > 0.0);
    let (failed, unknown) = (above_zero("failed"), above_zero("unknown"));
    let ended_badly = failed.unwrap_or(0.0) + unknown.unwrap_or(0.0);
    if ended_badly == 0.0 {
        return None;
    }
    let count = |count| number::plain(count, Style::Count, 3);
    let of_all = format!(" of {}", count(mean("requests")?));
    let mut parts = Vec::new();
    if let Some(failed) = failed {
        let kinds = ErrorKind::ALL.iter().map(|kind| (kind.name(), mean(&format!("failed_{kind}"))));
        parts.push(format!("{}{of_all} failed: {}", count(failed), shares(kinds, failed)));
    }
    if let Some(unknown) = unknown {
        let of_all = if failed.is_some() { "" } else { &of_all };
        parts.push(format!("{}{of_all} with unknown outcome: a write got no answer", count(unknown)));
    }
    let reasons = StopReason::ALL.iter().map(|reason| (reason.name(), mean(&format!("stopped_{reason}"))));
    parts.push(format!("gave up: {}", shares(reasons, ended_badly)));
    if let Some(letters) = above_zero("dead_letters") {
        let letters = count(letters);
        parts.push(format!("{letters} dead letter{}", if letters == "1" { "" } else { "s" }));
    }
    Some(parts.join("; "))
}

/// What there was, each as a share of all, the largest first; of a single thing only its name.
fn shares(counts: impl Iterator<Item = (&'static str, Option<f64>)>, all: f64) -> String {
    let mut found: Vec<(&str, f64)> = counts.filter_map(|(name, count)| Some((name, count?))).collect();
    found.retain(|(_, count)| *count > 0.0);
    found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let shown = found.iter().map(|(name, count)| match found.len() {
        1 => (*name).to_owned(),
        // A name and its share stay in one line.
        _ => format!("{name} {}", number::plain(count / all, Style::Share, 3)).replace(' ', NO_BREAK),
    });
    shown.collect::<Vec<_>>().join(", ")
}
