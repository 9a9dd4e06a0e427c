//! What a preset comes to: how many attempts, after which waits.

use std::path::Path;

use serde::{Serialize, Serializer};

use crate::policy::{RetryPolicy, Schedule, WaitRange};
use crate::presets::{About, PRESETS, Preset, Reading};
use crate::scenario::{Overrides, Scenario};
use crate::time::Span;

/// The most waits that are told of.
const WAITS_MAX: usize = 16;

/// A preset with what it comes to.
#[derive(Clone, Debug, Serialize)]
pub struct PresetExplained {
    /// Its name.
    pub name: &'static str,
    /// The product, as people call it.
    pub product: String,
    /// Which version of it was read.
    pub version: String,
    /// What was read.
    pub source: Vec<String>,
    /// How it was read.
    pub read: Reading,
    /// What surprises, what differs, and what cannot be said here.
    pub notes: Vec<String>,
    /// Attempts in all; none if their number is not limited.
    pub attempts: Option<u32>,
    /// The wait before each retry, the first sixteen of them.
    pub waits: Vec<PresetWait>,
    /// The same after an error that says that the caller is throttled, if that makes a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_throttled: Option<Vec<PresetWait>>,
    /// The keys of the policy.
    #[serde(rename = "policy")]
    pub keys: toml::Table,
    /// The keys of a call that belong to it.
    pub call: Option<toml::Table>,
    /// The policy that they say.
    #[serde(skip)]
    pub policy: RetryPolicy,
}

/// The wait before a retry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PresetWait {
    /// Which retry; 1 is the first.
    pub retry: u32,
    /// Between which bounds it lies, and its mean.
    #[serde(flatten, serialize_with = "in_ms")]
    pub range: WaitRange,
}

fn in_ms<S: Serializer>(range: &WaitRange, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct InMs {
        least_ms: f64,
        /// None where the jitter has no upper bound.
        most_ms: Option<f64>,
        mean_ms: Option<f64>,
    }

    let &WaitRange { shortest, longest, mean_ns } = range;
    let most_ms = (longest != Span::UNLIMITED).then(|| longest.as_ms());
    InMs { least_ms: shortest.as_ms(), most_ms, mean_ms: mean_ns.map(|ns| ns / 1e6) }.serialize(serializer)
}

impl PresetExplained {
    /// Of a preset.
    pub fn of(preset: &'static Preset) -> Self {
        let policy = policy(preset);
        let About { product, version, source, read, notes, policy: keys, call } = preset.about();
        let attempts = Some(policy.max_attempts).filter(|&attempts| attempts != u32::MAX);
        let retries = attempts.map_or(WAITS_MAX, |attempts| (attempts as usize - 1).min(WAITS_MAX));
        let waits = |schedule: &Schedule| {
            let waits = (1..).zip(schedule.ranges()).take(retries);
            waits.map(|(retry, range)| PresetWait { retry, range }).collect()
        };
        Self {
            name: preset.name,
            product,
            version,
            source,
            read,
            notes,
            attempts,
            waits: waits(&policy.schedule),
            waits_throttled: policy.throttled.as_deref().map(waits),
            keys,
            call,
            policy,
        }
    }

    /// Of every preset, in their order.
    pub fn all() -> Vec<Self> {
        PRESETS.iter().map(Self::of).collect()
    }
}

/// The policy of a preset: that of a call which names it.
fn policy(preset: &Preset) -> RetryPolicy {
    let text = format!(
        "version = 1\nname = \"preset\"\nhorizon = \"1s\"\nservices.api = {{}}\n\
         clients.web = {{ arrivals = {{ burst = {{}} }}, calls.api.retry = \"{}\" }}\n",
        preset.name
    );
    let scenario = Scenario::parse("preset", &text, Path::new(""), &Overrides::default());
    let scenario = scenario.unwrap_or_else(|errors| unreachable!("every preset is a policy: {errors}"));
    let (_, plan) = &scenario.variants()[0];
    plan.policy_of(plan.groups[0].choices[0].1).clone()
}
