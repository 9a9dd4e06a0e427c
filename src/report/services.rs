//! Which services a report for people names when there are more than one can take in.

use indexmap::IndexMap;

use crate::experiment::{Stat, Summary, VariantSummary};

/// The services to show, in file order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection<'a> {
    /// Their names.
    pub names: Vec<&'a str>,
    /// How many were left out: those with the lowest amplification.
    pub hidden: usize,
}

/// At most `limit` of the services of all variants: those amplified most in any variant.
pub(crate) fn most_amplified(summary: &Summary, limit: usize) -> Selection<'_> {
    let mut peaks: IndexMap<&str, f64> = IndexMap::new();
    for variant in &summary.variants {
        for name in variant.services.keys() {
            let peak = peaks.entry(name).or_insert(0.0);
            *peak = peak.max(amplification(variant, name).and_then(|stat| stat.mean).unwrap_or(0.0));
        }
    }
    let mut ranked: Vec<usize> = (0..peaks.len()).collect();
    ranked.sort_by(|&a, &b| peaks[b].total_cmp(&peaks[a]));
    ranked.truncate(limit);
    ranked.sort_unstable();
    let hidden = peaks.len() - ranked.len();
    Selection {
        names: ranked.into_iter().map(|i| *peaks.get_index(i).expect("a position in the map").0).collect(),
        hidden,
    }
}

/// The amplification of a service; none where the variant lacks it.
pub(crate) fn amplification<'a>(variant: &'a VariantSummary, service: &str) -> Option<&'a Stat> {
    variant.services.get(service)?.get("amplification")
}
