//! Which services a report for people names when there are more than one can take in.

use indexmap::IndexMap;

use crate::experiment::{Stat, Summary, VariantSummary};

/// The services to show, in file order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection<'a> {
    /// Their names.
    pub names: Vec<&'a str>,
    /// How many were left out: those that rank lowest.
    pub hidden: usize,
}

impl Selection<'_> {
    /// For the subtitle of a chart: which services it shows, if not all; `of_these` says what they have most of.
    pub fn remark(&self, of_these: &str) -> String {
        match self.hidden {
            0 => String::new(),
            hidden => format!(", the {} services {of_these} ({hidden} more in summary.csv)", self.names.len()),
        }
    }
}

/// At most `limit` of the services of all variants: those amplified most in any variant.
pub(crate) fn most_amplified(summary: &Summary, limit: usize) -> Selection<'_> {
    ranked(&summary.variants, "amplification", limit, |_, _| true)
}

/// At most `limit` of the services that are `among` those in question in any of these variants: those with the highest
/// mean of a metric in any of them.
pub(crate) fn ranked<'a>(
    variants: &'a [VariantSummary],
    metric: &str,
    limit: usize,
    among: impl Fn(&VariantSummary, &str) -> bool,
) -> Selection<'a> {
    let mut peaks: IndexMap<&str, f64> = IndexMap::new();
    for variant in variants {
        for (name, table) in &variant.services {
            if !variants.iter().any(|variant| among(variant, name)) {
                continue;
            }
            let peak = peaks.entry(name).or_insert(0.0);
            *peak = peak.max(table.get(metric).and_then(|stat| stat.mean).unwrap_or(0.0));
        }
    }
    let mut order: Vec<usize> = (0..peaks.len()).collect();
    order.sort_by(|&a, &b| peaks[b].total_cmp(&peaks[a]));
    order.truncate(limit);
    order.sort_unstable();
    let hidden = peaks.len() - order.len();
    Selection {
        names: order.into_iter().map(|i| *peaks.get_index(i).expect("a position in the map").0).collect(),
        hidden,
    }
}

/// The amplification of a service; none where the variant lacks it.
pub(crate) fn amplification<'a>(variant: &'a VariantSummary, service: &str) -> Option<&'a Stat> {
    variant.services.get(service)?.get("amplification")
}
