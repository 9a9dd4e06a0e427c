//! The columns of the CSV files, with what stands in them. The files take their headers from here, and so does
//! `docs/metrics.md`.

/// A column of a CSV file.
#[derive(Clone, Copy, Debug)]
pub struct CsvColumn {
    /// Its header.
    pub name: &'static str,
    /// The unit of its figures; none for texts, and where another column says it.
    pub unit: Option<&'static str>,
    /// What stands in it, in a sentence without a capital and a full stop.
    pub meaning: &'static str,
}

const fn text(name: &'static str, meaning: &'static str) -> CsvColumn {
    CsvColumn { name, unit: None, meaning }
}

const fn figure(name: &'static str, meaning: &'static str) -> CsvColumn {
    CsvColumn { name, unit: Some("the metric's"), meaning }
}

const fn count(name: &'static str, meaning: &'static str) -> CsvColumn {
    CsvColumn { name, unit: Some("count"), meaning }
}

const VARIANT: CsvColumn = text("variant", "the variant; `base` for a file without variants");
const SCOPE: CsvColumn = text("scope", "what the row is about: `scenario`, `client`, `call`, `service`, or `fault`");
const NAME: CsvColumn = text("name", "which of them: a call is `caller->label`; empty for the scenario");

/// The last column of every file.
pub const PARTIAL: CsvColumn = CsvColumn {
    name: "partial",
    unit: None,
    meaning: "1 if the variant was cut short or not all of its replicas ran, and else 0",
};

/// Of `summary.csv`.
pub static SUMMARY: [CsvColumn; 16] = [
    VARIANT,
    SCOPE,
    NAME,
    text("metric", "the metric, by its name on this page"),
    text("unit", "its unit"),
    figure("mean", "the mean over the replicas in which the metric has a value, as are all that follow"),
    figure("sd", "their standard deviation; none for a single one"),
    figure("ci95_low", "lower bound of the 95 % interval of the mean, by Student's t"),
    figure("ci95_high", "upper bound of that interval"),
    figure("min", "the least"),
    figure("p1", "the 1st percentile; between two values by linear interpolation, as for those that follow"),
    figure("p50", "the median"),
    figure("p99", "the 99th percentile"),
    figure("max", "the largest"),
    count("replicas", "how many replicas these are: those in which the metric has a value"),
    PARTIAL,
];

/// Of `frontier.csv`, before those of `summary.csv`.
pub static FRONTIER: [CsvColumn; 2] = [
    text("value", "the value of the setting that varies, as `--set` takes it"),
    text("holds", "1 if the condition holds there, 0 if not; empty where the figure is undefined"),
];

/// Of `comparison.csv`.
pub static COMPARISON: [CsvColumn; 14] = [
    text("variant", "the variant that is compared with the reference"),
    text("scope", "what the row is about: `scenario`, or `fault`"),
    text("name", "which fault; empty for the scenario"),
    text("metric", "the metric, by its name on this page"),
    text("unit", "its unit"),
    figure("reference", "the mean of the reference, over the replicas in which the metric has a value in both"),
    figure("mean", "that of the variant"),
    figure("difference", "the mean of the differences, replica by replica"),
    figure("ci95_low", "lower bound of the 95 % interval of that mean, by Student's t"),
    figure("ci95_high", "upper bound of that interval"),
    CsvColumn { name: "ratio", unit: Some("ratio"), meaning: "`mean / reference`; none if that is 0" },
    text(
        "shown",
        "`lower` or `higher`; `no_difference` if the interval covers 0; `same` in every replica; `nothing` if there are \
         none. A single pair shows nothing, unless there is one replica",
    ),
    count("replicas", "how many replicas these are"),
    CsvColumn {
        name: PARTIAL.name,
        unit: None,
        meaning: "1 if either of the two was cut short or not all of its replicas ran, and else 0",
    },
];

/// Of `replicas.csv`; every metric of the scenario comes after them, in the order of the catalogue, and then
/// [`PARTIAL`], which is about the replica there.
pub static REPLICAS: [CsvColumn; 3] = [
    VARIANT,
    text("replica", "which replica, from 0"),
    text("seed", "the seed of the scenario; with the number of the replica it decides every draw"),
];

/// Of `timeline.csv`.
pub static TIMELINE: [CsvColumn; 18] = [
    VARIANT,
    CsvColumn { name: "time_s", unit: Some("s"), meaning: "where the bucket begins; it is one `bucket` wide" },
    text("scope", "what the row is about: `scenario`, `client`, `call`, or `service`"),
    NAME,
    count("attempts", "attempts sent; of a client group those of its own calls, of a service those that arrived"),
    count("retries", "those of them that were retries of their own call"),
    count(
        "succeeded",
        "requests that succeeded; of a call attempts answered with success in time, of a service arrivals answered \
         with success",
    ),
    count(
        "failed",
        "requests that ended without success, `failed` or `unknown`; of a call attempts that failed or were given up, of a \
         service arrivals answered with an error, refused or dropped",
    ),
    count("timeouts", "attempts that their caller stopped waiting for; of a service those of the calls to it"),
    count(
        "in_flight",
        "requests that are open, a mean over the bucket's time; of a call attempts that the caller waits for, of a \
         service arrivals in progress",
    ),
    count(
        "queued",
        "arrivals that wait for a worker, a mean over the bucket's time; of a call attempts that wait for a slot of \
         the caller's `pool`",
    ),
    count("attempts_max", "the most `attempts` of any replica"),
    count("retries_max", "the most `retries` of any replica"),
    count("busy", "workers taken, a mean over the bucket's time; only of services with limits"),
    count(
        "budget_refused",
        "calls that were not tried again because the retry budget refused; of a client group its own calls, of a \
         service those to it",
    ),
    count("hedges", "of `attempts` the hedges; of a service those sent to it"),
    count(
        "tokens_left",
        "tokens in the retry budgets of all callers together at the end of the bucket, of a client group in those of its \
         own calls; a replica that has ended keeps its last level. Empty for services, without a budget that has tokens, \
         if those of different rules would have to be added up, and for a `windowed_ratio`, in which they also change \
         when nothing happens",
    ),
    PARTIAL,
];
