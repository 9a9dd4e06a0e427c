//! The command that gives the same results, whatever the defaults of a later version are.

use std::fmt;
use std::path::Path;

use crate::cli::args::{PrecisionArguments, Settings, ShownArguments};

/// A command line.
#[derive(Clone, Debug)]
pub struct Again {
    words: Vec<String>,
}

impl Again {
    /// A command with its files.
    pub fn new<'f>(command: &str, files: impl IntoIterator<Item = &'f Path>) -> Self {
        let files = files.into_iter().map(|file| file.display().to_string());
        Self { words: ["stormsim".to_owned(), command.to_owned()].into_iter().chain(files).collect() }
    }

    /// A flag with each of these values.
    pub fn with<V: ToString>(mut self, flag: &str, values: impl IntoIterator<Item = V>) -> Self {
        self.words.extend(values.into_iter().flat_map(|value| [flag.to_owned(), value.to_string()]));
        self
    }

    /// A flag without a value, if it is set.
    pub fn when(mut self, is_set: bool, flag: &str) -> Self {
        self.words.extend(is_set.then(|| flag.to_owned()));
        self
    }

    /// How it is simulated: with this seed and so many replicas.
    pub fn settings(self, settings: &Settings, seed: u64, replicas: u32) -> Self {
        self.with("--seed", [seed])
            .with("--replicas", [replicas])
            .with("--set", &settings.set)
            .with("--max-in-progress", settings.max_in_progress)
            .with("--variant", &settings.variant)
    }

    /// How well things are to be known.
    pub fn precision(self, precision: &PrecisionArguments) -> Self {
        let most = precision.precision.map(|_| precision.max_replicas);
        self.with("--precision", precision.precision).with("--max-replicas", most)
    }

    /// Where the results go, if somebody has said so, and whether there are charts.
    pub fn output(self, folder: Option<&Path>, shown: &ShownArguments) -> Self {
        self.with("--output", folder.map(|folder| folder.display().to_string())).when(shown.no_charts, "--no-charts")
    }
}

impl fmt::Display for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only a zero byte cannot be quoted, and no argument holds one.
        let line = shlex::try_join(self.words.iter().map(String::as_str));
        f.write_str(&line.unwrap_or_else(|_| self.words.join(" ")))
    }
}
