//! What the headline figures do not cover: requests that had not ended, and variants in which there were none.

use crate::experiment::{Summary, VariantSummary};
use crate::number::{self, Style};
use crate::report::text::Counted;
use crate::report::text::sentences::Sentences;

/// Further sentences would bury the tables; the column of open requests has the figures of all variants.
const SHOWN: usize = 8;

/// Fewer open requests than this share of all change no figure that is worth a sentence; they have their column.
const OPEN_TOLD: f64 = 0.01;

/// After a blank line a sentence for every variant that needs one; variants that need the same share it. Nothing if none
/// does.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let mut sentences = Sentences::default();
    for variant in &summary.variants {
        if let Some(sentence) = sentence(variant) {
            sentences.add(format!("`{}`", variant.name), sentence);
        }
    }
    let rest =
        |hidden| format!("and {}: see the columns `requests` and `open at the end`", Counted(hidden, "more variant"));
    match sentences.render(summary.variants.len() > 1, SHOWN, rest, width) {
        none if none.is_empty() => none,
        some => format!("\n{some}"),
    }
}

/// What a reader of this variant's row would get wrong without it.
fn sentence(variant: &VariantSummary) -> Option<String> {
    let of = |metric| variant.metrics.get(metric);
    let largest = |metric| of(metric).and_then(|stat| stat.max);
    if largest("requests")? == 0.0 {
        return Some("no client made a request, so there is nothing to measure".to_owned());
    }
    if of("open")?.mean? < OPEN_TOLD * of("requests")?.mean? {
        return None;
    }
    if of("success_ratio")?.n == 0 {
        return Some(
            "every request was still open when the run ended, so there is no success ratio and no latency".to_owned(),
        );
    }
    let replicas = variant.replicas.len() as u32;
    let [open, requests] = ["open", "requests"].map(|metric| number::figure(of(metric), Style::Count, replicas));
    let were = if open == "1" { "was" } else { "were" };
    Some(format!(
        "{open} of {requests} requests {were} still open when the run ended; success and latency cover only the others"
    ))
}
