//! What came out before, as a file keeps it: by scenario and variant the figures that are gated, of every replica.

use std::mem;

use indexmap::IndexMap;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::experiment::{Summary, VariantSummary};
use crate::metrics::catalogue::{ScopeKind, Values};

/// The version of the format.
const SCHEMA_VERSION: u32 = 1;

/// What came out of some scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Version of this format; 1.
    #[serde(deserialize_with = "known_version")]
    pub schema_version: u32,
    /// What made it.
    pub tool: Tool,
    /// By the name of the scenario.
    pub scenarios: IndexMap<String, Kept>,
}

/// The program that made a baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `stormsim`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What is kept of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// SHA-256 of the file, in hex; for whoever asks what it was made from. Of variants that were saved one by one,
    /// that of the last.
    pub sha256: String,
    /// The seed.
    pub seed: u64,
    /// How many replicas every variant has.
    pub replicas: u32,
    /// By the name of the variant.
    pub variants: IndexMap<String, KeptVariant>,
}

/// What is kept of a variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptVariant {
    /// Of the scenario as a whole.
    pub metrics: KeptTable,
    /// By service.
    pub services: IndexMap<String, KeptTable>,
    /// By fault.
    pub faults: IndexMap<String, KeptTable>,
}

/// By metric the value of each replica, in their order.
pub type KeptTable = IndexMap<String, Values>;

impl Baseline {
    /// Keeps these summaries, whose scenarios have different names and which are not partial.
    pub fn of<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Self {
        let tool = Tool { name: env!("CARGO_PKG_NAME").to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
        let scenarios = summaries.into_iter().map(|summary| (summary.scenario.name.clone(), Kept::of(summary)));
        Self { schema_version: SCHEMA_VERSION, tool, scenarios: scenarios.collect() }
    }

    /// Puts these into `kept` and leaves the rest of it as it is. Of a scenario that both have, all variants are
    /// replaced, or of `some_variants` those that are here.
    pub fn over(self, kept: Self, some_variants: bool) -> Self {
        let mut scenarios = kept.scenarios;
        for (name, mut new) in self.scenarios {
            let old = scenarios.get_mut(&name).filter(|_| some_variants);
            if let Some(old) = old {
                let mut variants = mem::take(&mut old.variants);
                variants.extend(new.variants);
                new.variants = variants;
            }
            scenarios.insert(name, new);
        }
        Self { scenarios, ..self }
    }

    /// The first table that has not a value for each replica, as `scenario, variant, metric`; none if all have.
    pub fn damage(&self) -> Option<String> {
        self.scenarios.iter().find_map(|(scenario, kept)| {
            kept.variants.iter().find_map(|(variant, tables)| {
                let mut metrics = tables.tables().flat_map(|(.., table)| table);
                let (metric, values) = metrics.find(|(_, values)| values.len() != kept.replicas as usize)?;
                let (found, wanted) = (values.len(), kept.replicas);
                Some(format!("`{metric}` of variant `{variant}` of `{scenario}` has {found} values, not {wanted}"))
            })
        })
    }
}

impl Kept {
    fn of(summary: &Summary) -> Self {
        Self {
            sha256: summary.scenario.sha256.clone(),
            seed: summary.seed,
            replicas: summary.replicas,
            variants: summary.variants.iter().map(|variant| (variant.name.clone(), KeptVariant::of(variant))).collect(),
        }
    }
}

impl KeptVariant {
    fn of(variant: &VariantSummary) -> Self {
        let mut kept = Self::default();
        for gated in variant.gated() {
            let table = match gated.kind {
                ScopeKind::Service => kept.services.entry(gated.name.to_owned()).or_default(),
                ScopeKind::Fault => kept.faults.entry(gated.name.to_owned()).or_default(),
                _ => &mut kept.metrics,
            };
            // Also what is defined nowhere: what is not there counts as never recorded.
            table.insert(gated.column.name.to_owned(), gated.values);
        }
        kept
    }

    /// The figures of one thing; none if it was not there.
    pub fn table(&self, kind: ScopeKind, name: &str) -> Option<&KeptTable> {
        match kind {
            ScopeKind::Service => self.services.get(name),
            ScopeKind::Fault => self.faults.get(name),
            _ => Some(&self.metrics),
        }
    }

    /// The figures of everything, the scenario first.
    pub fn tables(&self) -> impl Iterator<Item = (ScopeKind, &str, &KeptTable)> {
        let services = self.services.iter().map(|(name, table)| (ScopeKind::Service, name.as_str(), table));
        let faults = self.faults.iter().map(|(name, table)| (ScopeKind::Fault, name.as_str(), table));
        [(ScopeKind::Scenario, "", &self.metrics)].into_iter().chain(services).chain(faults)
    }
}

/// Files of other versions are told apart by their first key, before anything else in them is taken for wrong.
fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        SCHEMA_VERSION => Ok(SCHEMA_VERSION),
        other => {
            Err(D::Error::custom(format!("unknown schema version {other} (this stormsim reads {SCHEMA_VERSION})")))
        }
    }
}
