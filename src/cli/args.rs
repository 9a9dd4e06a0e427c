//! The arguments of every command.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use stormsim::import;
use stormsim::report::files::Charts;

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
    /// Compare variants, files, or values of a setting with one of them, replica by replica on the same luck.
    Compare(CompareArguments),
    /// Simulate every combination of some settings' values: a row for each in sweep.csv, and a chart.
    Sweep(SweepArguments),
    /// Find the value of a setting at which a condition begins or ceases to hold.
    Frontier(FrontierArguments),
    /// Check the expectations of scenario files and folders: a line each, failures first.
    Test(TestArguments),
    /// Say what a scenario's settings mean without simulating it: waits, attempts, times to give up, what multiplies.
    Explain(ExplainArguments),
    /// Find in scenario files what will go wrong in the next outage, without simulating them.
    Lint(LintArguments),
    /// List the retry behaviour of products that calls can name as their policy, or say all of one.
    Presets(PresetsArguments),
    /// Write a scenario to start from, for one of the usual cases; without a name, list what there is.
    Init(InitArguments),
    /// Make a scenario of a configuration file of another product: its retries, timeouts and breakers.
    Import(ImportArguments),
    /// Print the JSON Schema of scenario files, for completion and checks in an editor.
    Schema,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// The format of the file.
    #[arg(value_name = "FORMAT", value_parser = PossibleValuesParser::new(import::Format::ALL.map(import::Format::name)))]
    pub format: String,
    /// The file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A scenario to put the settings into: policies under their names, the others into the calls that they are about.
    /// What comes of it is printed, the file stays as it is.
    #[arg(long, value_name = "SCENARIO")]
    pub into: Option<PathBuf>,
    /// Write the scenario to this file, which must not exist, and not to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Say nothing of what surprises or is left out.
    #[arg(short, long)]
    pub quiet: bool,
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
    /// The same for programs: of a run the content of summary.json, of several files an array.
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
    /// How well to know what comes out.
    #[command(flatten)]
    pub precision: PrecisionArguments,
    /// What to show of it.
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Scenario files; of each all variants are compared.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A setting that varies, and its values: PATH=v1,v2, or PATH=10..100/10 for ten values, or PATH=log:1..1000/7.
    /// With several all combinations are compared.
    #[arg(long, value_name = "PATH=VALUES")]
    pub vary: Vec<String>,
    /// The variant that the others are compared with [default: the first].
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// The folder for the results [default: output/<scenario name>, or output/comparison of several scenarios].
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How to simulate.
    #[command(flatten)]
    pub settings: Settings,
    /// How well to know what comes out.
    #[command(flatten)]
    pub precision: PrecisionArguments,
    /// What to show of it.
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// Arguments of `sweep`.
#[derive(Debug, Args)]
pub struct SweepArguments {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A setting that varies, and its values: PATH=v1,v2, or PATH=10..100/10 for ten values, or PATH=log:1..1000/7
    /// [default: `vary` in the `[sweep]` table of the file]. With several every combination is simulated.
    #[arg(long, value_name = "PATH=VALUES")]
    pub vary: Vec<String>,
    /// A figure to measure and show: a metric such as success_ratio, or that of one thing by its path, such as
    /// services.db.amplification [default: `metrics` in the `[sweep]` table, else all of the scenario and its faults].
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// Keep the cells that an earlier sweep in the same folder has finished, however it ended.
    #[arg(long)]
    pub resume: bool,
    /// The folder for the results [default: output/<scenario name>].
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How to simulate.
    #[command(flatten)]
    pub settings: Settings,
    /// How well to know what comes out.
    #[command(flatten)]
    pub precision: PrecisionArguments,
    /// What to show of it.
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// Arguments of `frontier`.
#[derive(Debug, Args)]
pub struct FrontierArguments {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The setting that varies, and from where to where: PATH=10..100, or PATH=log:1..1000 to go by ratios.
    #[arg(long, value_name = "PATH=FROM..TO")]
    pub vary: String,
    /// What is to begin or cease to hold, such as 'recovered < 0.5' or 'services.db.amplification > 2'.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub condition: String,
    /// How many values to look at first, evenly spaced: with more, fewer changes to and fro are missed.
    #[arg(long, value_name = "N", default_value_t = 9, allow_negative_numbers = true, value_parser = points)]
    pub points: u32,
    /// How close to look where the condition changes, as a share of the range.
    #[arg(long, value_name = "SHARE", default_value = "0.5%", allow_hyphen_values = true, value_parser = resolution)]
    pub resolution: f64,
    /// The folder for the results [default: output/<scenario name>].
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How to simulate.
    #[command(flatten)]
    pub settings: Settings,
    /// What to show of it.
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How likely an attempt fails, for what is said about success.
    #[arg(long, value_name = "SHARE", default_value = "1%", allow_hyphen_values = true, value_parser = probability)]
    pub failure: f64,
    /// The share of a callee's answers that may come after a timeout.
    #[arg(long, value_name = "SHARE", default_value = "0.1%", allow_hyphen_values = true, value_parser = rarity)]
    pub false_timeouts: f64,
    /// Override a setting in every variant: PATH=VALUE, such as retries.patient.max_retries=2. VALUE is TOML, else a
    /// string.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Explain only this variant.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Arguments of `lint`.
#[derive(Debug, Args)]
pub struct LintArguments {
    /// Scenario files and files that can be imported, and folders with files that end in `.toml` or look like the latter.
    #[arg(value_name = "PATH", required_unless_present_any = ["explain", "rules"])]
    pub paths: Vec<PathBuf>,
    /// Say what a rule is about, with an example and what to use instead.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["paths", "rules"])]
    pub explain: Option<String>,
    /// List all rules.
    #[arg(long, conflicts_with = "paths")]
    pub rules: bool,
    /// Fail on warnings, too.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Allow what this rule finds in any of the files: what a scenario says in `[[allow]]`, other files cannot.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["explain", "rules"])]
    pub allow: Vec<String>,
    /// Show what is allowed, too, with the reason; `json` and `sarif` always have it.
    #[arg(long)]
    pub show_allowed: bool,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = LintFormat::Text, conflicts_with_all = ["explain", "rules"])]
    pub format: LintFormat,
    /// Print nothing but errors, and warnings that are denied; `json` and `sarif` print all.
    #[arg(short, long)]
    pub quiet: bool,
}

/// What `lint` prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// Findings with the lines that they are about, for people.
    Text,
    /// An array of files, each with its findings.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions, at the lines that they are about.
    Github,
}

/// Arguments of `presets`.
#[derive(Debug, Args)]
pub struct PresetsArguments {
    /// Which one to print, as TOML to paste [default: list them].
    #[arg(value_name = "PRESET")]
    pub preset: Option<String>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// Which scenario to start from [default: list them].
    #[arg(value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// The file to write, or `-` for standard output [default: TEMPLATE.toml]. What is there already is kept.
    #[arg(short, long, value_name = "FILE", requires = "template")]
    pub output: Option<PathBuf>,
}

/// What to show of the results.
#[derive(Debug, Args)]
pub struct ShownArguments {
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print nothing but errors, and of a run the expectations that were not met.
    #[arg(short, long)]
    pub quiet: bool,
    /// Do not draw charts.
    #[arg(long)]
    pub no_charts: bool,
}

impl ShownArguments {
    /// Whether charts are drawn.
    pub fn charts(&self) -> Charts {
        if self.no_charts { Charts::Skip } else { Charts::Draw }
    }
}

/// How well the means that matter are to be known.
#[derive(Debug, Args)]
pub struct PrecisionArguments {
    /// Add replicas until half of the 95 % interval of every mean that matters is at most this share of it: those that
    /// expectations are about; of a sweep those that are measured.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// The most replicas of each variant to add to.
    #[arg(
        long, value_name = "N", requires = "precision", default_value_t = 10_000,
        allow_negative_numbers = true, value_parser = replicas
    )]
    pub max_replicas: u32,
}

/// What all commands share that simulate.
#[derive(Debug, Args)]
pub struct Settings {
    /// How many replicas of each variant, instead of the number in the file.
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = replicas)]
    pub replicas: Option<u32>,
    /// The seed, instead of the one in the file.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]. The results do not depend on it.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Override a setting in every variant: PATH=VALUE, such as retries.patient.max_retries=2. VALUE is TOML, else a
    /// string.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// End a replica that has more calls or pieces of work in progress at once [default: 268435456, some 30 GB].
    /// Expectations of its variant are not judged then; `run` writes what it has counted so far, marked as partial.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = max_in_progress)]
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
    /// How well to know what comes out.
    #[command(flatten)]
    pub precision: PrecisionArguments,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = TestFormat::Text)]
    pub format: TestFormat,
    /// Compare with what `--save-baseline` has left in this file, and fail where a figure has become worse.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// How much worse than in the baseline a mean may be, relative to it: 5% or 0.05 [default: 5%].
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = tolerance, requires = "baseline")]
    pub tolerance: Option<f64>,
    /// Save what comes out in this file, for `--baseline`; both together compare with the old one first.
    #[arg(long, value_name = "FILE")]
    pub save_baseline: Option<PathBuf>,
    /// Print nothing but errors, failed expectations and what has become worse; `json` and `junit` print all.
    #[arg(short, long)]
    pub quiet: bool,
}

/// What `test` prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// A line for each expectation, for people.
    Text,
    /// The content of summary.json; of several files an array.
    Json,
    /// JUnit XML: a test suite per file, a test case per expectation and variant.
    Junit,
    /// Annotations of GitHub Actions, at the lines of the expectations.
    Github,
}

fn replicas(text: &str) -> Result<u32, String> {
    let replicas = whole(text, 1..=1_000_000, "leave it out for the number in the file")?;
    Ok(u32::try_from(replicas).expect("the range is within u32"))
}

fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0..=u64::MAX, "leave it out for the seed in the file")
}

fn points(text: &str) -> Result<u32, String> {
    let points = whole(text, 2..=1_000, "leave it out for 9")?;
    Ok(u32::try_from(points).expect("the range is within u32"))
}

fn resolution(text: &str) -> Result<f64, String> {
    share(text, 0.5).ok_or_else(|| "a share of the range is expected, above 0 and up to 50%, such as `0.5%`".to_owned())
}

fn precision(text: &str) -> Result<f64, String> {
    share(text, 1.0).ok_or_else(|| {
        let number = text.parse::<f64>().ok().filter(|number| (1.0..=100.0).contains(number));
        let meant = number.map_or(String::new(), |_| format!("; for {text} per cent write `{text}%`"));
        format!("a share of the mean is expected, above 0 and up to 100%, such as `1%`{meant}")
    })
}

fn probability(text: &str) -> Result<f64, String> {
    share(text, 1.0).ok_or_else(|| "a probability is expected, above 0 and up to 100%, such as `1%`".to_owned())
}

fn rarity(text: &str) -> Result<f64, String> {
    share(text, 0.5)
        .ok_or_else(|| "a share of the answers is expected, above 0 and up to 50%, such as `0.1%`".to_owned())
}

/// A share above zero, in percent or as a number.
fn share(text: &str, most: f64) -> Option<f64> {
    let share = match text.strip_suffix('%') {
        // By an exponent and not by a division, so that 0.1 % are 0.001.
        Some(percent) => format!("{}e-2", percent.trim()).parse().ok()?,
        None => text.parse().ok()?,
    };
    (0.0 < share && share <= most).then_some(share)
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    counted(text, "leave it out for one thread per processor")
}

/// A share of one, also in per cent.
fn tolerance(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let expected = "a share from 0% to 100% is expected, such as `5%` or `0.05`";
    let number: f64 = number.parse().map_err(|_| expected.to_owned())?;
    let share = number / scale;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    let is_percent = scale == 1.0 && (1.0..=100.0).contains(&number);
    Err(if is_percent { format!("{expected}; for {number} per cent write `{number}%`") } else { expected.to_owned() })
}

fn max_in_progress(text: &str) -> Result<NonZeroUsize, String> {
    counted(text, "leave it out for the most that there can be, 268435456")
}

fn counted(text: &str, way_out: &str) -> Result<NonZeroUsize, String> {
    let number = whole(text, 1..=u64::from(u32::MAX), way_out)?;
    let number = usize::try_from(number).ok().and_then(NonZeroUsize::new);
    Ok(number.expect("the range is within usize and leaves out zero"))
}

/// A whole number of this range, or what is expected and what to do without it.
fn whole(text: &str, range: RangeInclusive<u64>, way_out: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("a whole number from {} to {} is expected; {way_out}", range.start(), range.end()))
}
