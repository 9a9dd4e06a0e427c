//! The retry behaviour of products, as policies to name: `preset = "envoy"` in a policy, or `retry = "envoy"` in a call.
//!
//! A preset is a file of data: what it is about and how that is known, the keys of a policy, and those of a call that
//! belong to it but are taken over by hand. What is put beneath a policy is in [`scenario`](crate::scenario), what it
//! comes to in [`analysis`](crate::analysis).

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::scenario::suggest;

/// Where somebody learns which presets there are.
pub(crate) const LISTED: &str = "`stormsim presets` lists the presets";

/// The retry behaviour of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal,)+) => {
        /// All of them: proxies, frameworks and libraries by language, and what only breaks.
        pub const PRESETS: &[Preset] =
            &[$(Preset { name: $name, text: include_str!(concat!($name, ".toml")) },)+];
    };
}

presets! {
    "grpc",
    "envoy",
    "istio",
    "linkerd",
    "nginx",
    "haproxy",
    "aws-legacy",
    "aws-standard-pre2026",
    "aws-standard-2.1",
    "google-gax",
    "kafka-producer",
    "client-go",
    "kubelet-crashloop",
    "finagle",
    "resilience4j",
    "spring-retry",
    "spring-7",
    "failsafe",
    "polly-v8",
    "dotnet-standard",
    "cenkalti-backoff",
    "go-retryablehttp",
    "retry-go",
    "urllib3",
    "tenacity",
    "axios-retry",
    "p-retry",
    "got",
    "tower",
    "backon",
    "retry-policies",
    "tokio-retry",
    "hystrix",
    "gobreaker",
}

/// The names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    PRESETS.iter().map(|preset| preset.name)
}

/// What the file of a preset says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
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
    /// The keys of a policy.
    pub policy: toml::Table,
    /// The keys of a call that belong to it.
    pub call: Option<toml::Table>,
}

/// How the facts of a preset were read. Single facts that were not are marked in the notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// In the source.
    Code,
    /// In the documentation.
    Documentation,
    /// In what others say.
    SecondHand,
    /// From memory.
    Recall,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "code",
            Self::Documentation => "documentation",
            Self::SecondHand => "second-hand",
            Self::Recall => "recall",
        })
    }
}

impl Preset {
    /// The preset with this name, or whose policy is called so.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name || preset.policy_name() == name)
    }

    /// What a policy is called that is made of it: versions have dots, names of policies have none.
    pub fn policy_name(&self) -> Cow<'static, str> {
        if self.name.contains('.') { Cow::Owned(self.name.replace('.', "-")) } else { Cow::Borrowed(self.name) }
    }

    /// The preset with this name, for whoever asks for it.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn named(name: &str) -> Result<&'static Self, UnknownPreset> {
        Self::find(name).ok_or_else(|| UnknownPreset {
            name: name.to_owned(),
            nearest: suggest::nearest(name, names())
                .map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?")),
        })
    }

    /// What its file says.
    pub fn about(&self) -> About {
        toml::from_str(self.text).expect("every preset is one")
    }

    /// The keys of its policy, as lines of TOML.
    pub fn policy(&self) -> &'static str {
        let (_, policy) = self.text.split_once("\n[policy]\n").expect("every preset has a policy");
        policy.split_once("\n[call]\n").map_or(policy, |(policy, _)| policy)
    }

    /// The keys of a call that belong to it, as lines of TOML.
    pub fn call(&self) -> Option<&'static str> {
        self.text.split_once("\n[call]\n").map(|(_, call)| call)
    }
}

/// There is no preset with this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no preset `{name}`{nearest}\nhelp: {LISTED}")]
pub struct UnknownPreset {
    name: String,
    /// The one that may have been meant, as the end of a sentence.
    nearest: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::suggest::list;

    /// What is printed of a file is what is read of it, and a name never hides that calls are not tried again.
    #[test]
    fn every_file_is_a_preset() {
        for preset in PRESETS {
            let about = preset.about();
            let parts: [toml::Table; 2] = [Some(preset.policy()), preset.call()].map(|part| {
                toml::from_str(part.unwrap_or_default()).unwrap_or_else(|it| panic!("{}: {it}", preset.name))
            });
            assert_eq!(parts, [about.policy, about.call.unwrap_or_default()], "{}", preset.name);
            assert!(!about.source.is_empty() && !about.notes.is_empty(), "{}", preset.name);
            assert!(preset.text.lines().all(|line| line.chars().count() <= 120), "{}", preset.name);
        }
        let mut policies = PRESETS.iter().map(Preset::policy_name);
        assert!(policies.all(|name| !name.contains('.') && name != "none"), "a policy can be called so");
    }

    /// No name twice, and none that is hard to tell from another.
    #[test]
    fn a_name_that_is_none_is_answered_with_the_nearest() {
        let told = |name: &str| Preset::named(name).unwrap_err().to_string();
        assert_eq!(told("envoi"), format!("there is no preset `envoi`; did you mean `envoy`?\nhelp: {LISTED}"));
        assert_eq!(told("x"), format!("there is no preset `x`\nhelp: {LISTED}"));
        let same = names().filter(|name| Preset::find(name).is_none_or(|found| found.name != *name));
        assert_eq!(list(same), "");
        let mut all: Vec<&str> = names().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), PRESETS.len());
    }
}
