//! What is missing of a run that was cut short, variant by variant.

use crate::experiment::{CutShort, Fullest, Summary, VariantSummary};
use crate::number::{self, Style};
use crate::report::text::sentences::Sentences;
use crate::report::text::{WARNING, styled};

/// Further sentences would bury the tables; `summary.json` has all of them.
const SHOWN: usize = 20;

/// A warning, and a sentence for every variant that is not whole; nothing if all are.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    if !summary.partial {
        return String::new();
    }
    let mut sentences = Sentences::default();
    for variant in summary.variants.iter().filter(|variant| variant.partial) {
        sentences.add(format!("`{}`", variant.name), sentence(variant, summary.replicas));
    }
    let rest = |hidden| format!("and {} more: see `partial` in summary.json", number::whole(hidden));
    let warning = styled(WARNING, "Partial: the run was cut short, and the figures cover only what it got done.");
    format!("{warning}\n{}", sentences.render(summary.variants.len() > 1, SHOWN, rest, width))
}

/// `23 of 40 replicas finished`, of all variants together.
pub(in crate::report) fn in_all(summary: &Summary) -> String {
    let finished: u32 = summary.variants.iter().map(|variant| variant.replicas_finished).sum();
    finished_of(finished as usize, summary.replicas as usize * summary.variants.len())
}

/// The same of a variant `wanted` replicas of which were to run: why nothing is judged by its figures.
pub(in crate::report) fn in_variant(variant: &VariantSummary, wanted: u32) -> String {
    finished_of(variant.replicas_finished as usize, wanted as usize)
}

fn finished_of(finished: usize, wanted: usize) -> String {
    match (finished, wanted) {
        (0, 1) => "the only replica did not finish".to_owned(),
        (0, _) => format!("none of {} replicas finished", number::whole(wanted)),
        _ => format!("{} of {} replicas finished", number::whole(finished), number::whole(wanted)),
    }
}

fn sentence(variant: &VariantSummary, wanted: u32) -> String {
    let finished = in_variant(variant, wanted);
    let Some(CutShort { replicas, replica, at_s, fullest, .. }) = &variant.cut_short else { return finished };
    let with = match fullest {
        Some(Fullest { service, in_progress }) => {
            format!(" with {} in progress at `{service}`", number::whole(*in_progress as usize))
        }
        None => String::new(),
    };
    let others = match replicas - 1 {
        0 => String::new(),
        1 => "; so was 1 more".to_owned(),
        others => format!("; so were {} more", number::whole(others as usize)),
    };
    let at_s = number::plain(*at_s, Style::Count, 4);
    format!("{finished}; replica {replica} was cut short at {at_s} s{with}{others}")
}
