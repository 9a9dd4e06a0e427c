//! The arguments of every command.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Retry-storm simulator: what your timeouts, retries and backoff will do in the next outage.
#[derive(Debug, Parser)]
#[command(name = "stormsim", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to use colours; NO_COLOR is honoured.
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate scenario files: a table, CSV and JSON files, charts.
    Run(RunArguments),
    /// Check the expectations of scenario files and folders: a line each, failures first.
    Test(TestArguments),
    /// Print the JSON Schema of scenario files, for completion and checks in an editor.
    Schema,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that has them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a run prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Text,
    /// The content of summary.json; of several files an array.
    Json,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Scenario files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The folder for the results [default: output/<scenario name>]; with several files each gets a folder in it.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How to simulate.
    #[command(flatten)]
    pub settings: Settings,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print nothing but errors and failed expectations.
    #[arg(short, long)]
    pub quiet: bool,
    /// Do not draw charts.
    #[arg(long)]
    pub no_charts: bool,
}

/// What `run` and `test` share.
#[derive(Debug, Args)]
pub struct Settings {
    /// How many replicas of each variant, instead of the number in the file.
    #[arg(short = 'n', long, value_name = "N")]
    pub replicas: Option<u32>,
    /// The seed, instead of the one in the file.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]. The results do not depend on it.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Override a setting in every variant: PATH=VALUE, such as retries.patient.max_retries=2. VALUE is TOML, else a
    /// string.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// End a replica that has more calls or pieces of work in progress at once [default: 268435456, some 30 GB].
    /// Expectations of its variant are not judged then; `run` writes what it has counted so far, marked as partial.
    #[arg(long, value_name = "N")]
    pub max_in_progress: Option<NonZeroUsize>,
    /// Run only this variant.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
}

/// Arguments of `test`.
#[derive(Debug, Args)]
pub struct TestArguments {
    /// Scenario files, and folders in which every file that ends in `.toml` is one.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to simulate.
    #[command(flatten)]
    pub settings: Settings,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print nothing but errors and failed expectations.
    #[arg(short, long)]
    pub quiet: bool,
}
