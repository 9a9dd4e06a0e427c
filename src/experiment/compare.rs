//! Variants against one of them, replica by replica: all meet the same luck, so that what they differ in is their own.

use indexmap::IndexMap;
use serde::Serialize;

use crate::experiment::gated::Gated;
use crate::experiment::{Stat, Summary, VariantSummary};
use crate::metrics::catalogue::{self, ScopeKind};

/// Every variant against the reference.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The variant that the others are compared with.
    pub reference: String,
    /// The others, in their order.
    pub contrasts: Vec<Contrast>,
}

/// One variant against the reference.
#[derive(Clone, Debug, Serialize)]
pub struct Contrast {
    /// The variant.
    pub name: String,
    /// By metric of the scenario as a whole, in the order of the catalogue.
    pub metrics: Differences,
    /// By fault that both have: the metrics that a baseline would gate.
    pub faults: IndexMap<String, Differences>,
}

/// By metric.
pub type Differences = IndexMap<&'static str, Difference>;

/// A metric of a variant against that of the reference, over the replicas in which both are defined.
///
/// The interval is that of the mean of the differences, replica by replica, by Student's t. Where replicas meet the same
/// luck in both, it is narrower than what the two intervals alone would tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The reference.
    pub reference: Stat,
    /// The variant.
    pub value: Stat,
    /// The variant's values less those of the reference.
    pub difference: Stat,
    /// The mean of the variant's values divided by that of the reference; none where that is zero.
    pub ratio: Option<f64>,
    /// What that shows.
    pub shown: Shown,
}

/// What a comparison shows about a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// Nothing: it is defined in no replica of both.
    Nothing,
    /// It is the same in every replica.
    Same,
    /// It is lower.
    Lower,
    /// It is higher.
    Higher,
    /// It differs in some, but the interval of the difference covers zero, or there is none because only one of several
    /// pairs of replicas has it.
    NoDifference,
}

impl Comparison {
    /// Compares the variants of a summary with the one of this name; none if there is no such variant.
    pub fn of(summary: &Summary, reference: &str) -> Option<Self> {
        let against = summary.variants.iter().find(|variant| variant.name == reference)?;
        let others = summary.variants.iter().filter(|variant| variant.name != reference);
        let contrasts = others.map(|variant| {
            let rows = pairs(against, variant);
            let metric = |(at, column): (usize, catalogue::Column)| {
                let values = rows.iter().filter_map(|&(one, other)| {
                    Some((against.replicas[one].values[at]?, variant.replicas[other].values[at]?))
                });
                (column.name, Difference::of(column.unit, values.collect(), rows.len()))
            };
            Contrast {
                name: variant.name.clone(),
                metrics: catalogue::columns(ScopeKind::Scenario).into_iter().enumerate().map(metric).collect(),
                faults: of_faults(against, variant, &rows),
            }
        });
        Some(Self { reference: reference.to_owned(), contrasts: contrasts.collect() })
    }
}

/// The positions of the replicas that ran to their end in both, by their numbers.
fn pairs(reference: &VariantSummary, variant: &VariantSummary) -> Vec<(usize, usize)> {
    // Both are in the order of their numbers; one that was interrupted lacks some.
    let mut others = variant.replicas.iter().enumerate().peekable();
    let pair = reference.replicas.iter().enumerate().filter_map(|(at, row)| {
        while others.next_if(|(_, other)| other.replica < row.replica).is_some() {}
        let (other_at, other) = others.peek().filter(|(_, other)| other.replica == row.replica)?;
        (!row.partial && !other.partial).then_some((at, *other_at))
    });
    pair.collect()
}

fn of_faults(
    reference: &VariantSummary,
    variant: &VariantSummary,
    rows: &[(usize, usize)],
) -> IndexMap<String, Differences> {
    let mut faults: IndexMap<String, Differences> = IndexMap::new();
    let others = variant.gated();
    for figure in reference.gated().iter().filter(|figure| figure.kind == ScopeKind::Fault) {
        let is_same =
            |other: &&Gated<'_>| (other.kind, other.name, other.column) == (figure.kind, figure.name, figure.column);
        let Some(other) = others.iter().find(is_same) else { continue };
        let values = rows.iter().filter_map(|&(one, another)| Some((figure.values[one]?, other.values[another]?)));
        let difference = Difference::of(figure.column.unit, values.collect(), rows.len());
        faults.entry(figure.name.to_owned()).or_default().insert(figure.column.name, difference);
    }
    faults
}

impl Difference {
    /// From pairs of the reference's and the variant's value in a replica.
    /// Of these pairs, out of so many pairs of replicas.
    pub(super) fn of(unit: catalogue::Unit, pairs: Vec<(f64, f64)>, replicas: usize) -> Self {
        let reference = Stat::over(unit, pairs.iter().map(|(reference, _)| Some(*reference)));
        let value = Stat::over(unit, pairs.iter().map(|(_, value)| Some(*value)));
        let difference = Stat::over(unit, pairs.iter().map(|(reference, value)| Some(value - reference)));
        let ratio = reference.mean.zip(value.mean).filter(|(reference, _)| *reference != 0.0);
        let ratio = ratio.map(|(reference, value)| value / reference);
        let shown = Shown::of(&difference, replicas);
        Self { reference, value, difference, ratio, shown }
    }
}

impl Shown {
    /// As files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Same => "same",
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::NoDifference => "no_difference",
        }
    }

    fn of(difference: &Stat, replicas: usize) -> Self {
        let Some(mean) = difference.mean else { return Self::Nothing };
        if difference.min == Some(0.0) && difference.max == Some(0.0) {
            return Self::Same;
        }
        match difference.ci95 {
            // A single pair has no interval, and shows nothing; unless it is all there is, of scenarios without chance.
            None if replicas > 1 => Self::NoDifference,
            Some([low, high]) if low <= 0.0 && 0.0 <= high => Self::NoDifference,
            _ if mean < 0.0 => Self::Lower,
            _ => Self::Higher,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::catalogue::Unit;

    fn shown(pairs: &[(f64, f64)]) -> Shown {
        Difference::of(Unit::Count, pairs.to_vec(), 20).shown
    }

    /// Two variants that differ by exactly one in each replica, however much the replicas differ: the interval of the
    /// difference is that one number, where those of the two means overlap widely.
    #[test]
    fn what_the_replicas_share_cancels_out() {
        let pairs: Vec<_> = (0..20).map(|i| (f64::from(i * 100), f64::from(i * 100 + 1))).collect();
        let difference = Difference::of(Unit::Count, pairs, 20);
        assert_eq!((difference.difference.mean, difference.difference.ci95), (Some(1.0), Some([1.0, 1.0])));
        assert_eq!(difference.shown, Shown::Higher);
        let (one, other) = (difference.reference.ci95.unwrap(), difference.value.ci95.unwrap());
        assert!(one[1] > other[0], "{one:?} and {other:?} overlap");
    }

    /// Differences of -1 and 3 have the mean 1, and at two replicas an interval of 1 ± 25.4.
    #[test]
    fn what_may_be_chance_shows_no_difference() {
        assert_eq!(shown(&[(10.0, 9.0), (10.0, 13.0)]), Shown::NoDifference);
        assert_eq!(shown(&[(10.0, 9.0), (20.0, 19.0)]), Shown::Lower);
        assert_eq!(shown(&[(10.0, 10.0), (20.0, 20.0)]), Shown::Same);
        assert_eq!(shown(&[(10.0, 12.0)]), Shown::NoDifference, "one of 20 pairs");
        assert_eq!(Difference::of(Unit::Count, vec![(10.0, 12.0)], 1).shown, Shown::Higher, "all that there is");
        assert_eq!(shown(&[]), Shown::Nothing);
    }

    #[test]
    fn a_ratio_to_nothing_is_none() {
        let ratio = |pairs: &[(f64, f64)]| Difference::of(Unit::Count, pairs.to_vec(), 20).ratio;
        assert_eq!(ratio(&[(1_000.0, 160.0), (1_000.0, 158.0)]), Some(0.159));
        assert_eq!(ratio(&[(0.0, 5.0)]), None);
    }
}
