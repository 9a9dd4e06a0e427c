//! The tables of figures: one row per variant, then one per client group and variant, per service and variant, and per
//! call with a pool and variant.

use indexmap::{IndexMap, IndexSet};

use crate::experiment::{MetricTable, Stat, Summary, VariantSummary};
use crate::number::{self, Style};
use crate::report::services;
use crate::report::text::grid::{self, Column};
use crate::report::text::{Counted, caveats, failed, recovery};

/// More services, or client groups, than this are not taken in at a glance.
const NAMES_SHOWN: usize = 20;

/// A metric worth a column.
pub(super) struct Headline {
    pub(super) metric: &'static str,
    pub(super) head: &'static str,
    pub(super) style: Style,
    shown: Shown,
}

/// Which figures make a column worth its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Any that is defined.
    Always,
    /// One above zero: of what is no news where there is none.
    AboveZero,
}

impl Headline {
    const fn new(metric: &'static str, head: &'static str, style: Style) -> Self {
        Self { metric, head, style, shown: Shown::Always }
    }

    const fn above_zero(metric: &'static str, head: &'static str, style: Style) -> Self {
        Self { metric, head, style, shown: Shown::AboveZero }
    }

    /// Whether a row with this figure needs the column.
    fn says_something(&self, stat: &Stat) -> bool {
        match self.shown {
            Shown::Always => stat.n > 0,
            Shown::AboveZero => stat.max > Some(0.0),
        }
    }
}

const REQUESTS: Headline = Headline::new("requests", "requests", Style::Count);
const OPEN: Headline = Headline::above_zero("open", "open at\nthe end", Style::Count);
const SUCCESS: Headline = Headline::new("success_ratio", "success\nratio", Style::Share);
const LATENCY: Headline = Headline::new("latency_p99_ms", "p99 latency\nof successes", Style::Milliseconds);
const UNKNOWN: Headline = Headline::above_zero("unknown", "outcome\nunknown", Style::Count);
const DEAD_LETTERS: Headline = Headline::above_zero("dead_letters", "dead\nletters", Style::Count);
const ATTEMPTS: Headline = Headline::new("attempts", "attempts", Style::Count);

/// Of a scenario as a whole.
pub(super) const SCENARIO: [Headline; 14] = [
    REQUESTS,
    OPEN,
    SUCCESS,
    UNKNOWN,
    DEAD_LETTERS,
    ATTEMPTS,
    Headline::new("retries", "retries", Style::Count),
    Headline::above_zero("hedges", "hedges", Style::Count),
    Headline::above_zero("breaker_rejected", "breaker\nrejected", Style::Count),
    Headline::above_zero("throttled", "throttled", Style::Count),
    Headline::new("amplification", "amplification", Style::Factor),
    Headline::new("retry_peak", "retry peak\nper 100 ms", Style::Count),
    Headline::new("last_retry_s", "last retry\nat", Style::Seconds),
    LATENCY,
];

const CLIENT: [Headline; 7] = [
    REQUESTS,
    OPEN,
    SUCCESS,
    UNKNOWN,
    DEAD_LETTERS,
    LATENCY,
    Headline::new("give_up_max_ms", "longest wait\nto fail", Style::Milliseconds),
];

const SERVICE: [Headline; 13] = [
    Headline::new("arrivals", "arrivals", Style::Count),
    Headline::new("amplification", "amplification", Style::Factor),
    Headline::new("arrival_peak", "arrival peak\nper 100 ms", Style::Count),
    Headline::new("in_flight_max", "most\nin flight", Style::Count),
    Headline::above_zero("executions_per_request", "executions\nper request", Style::Factor),
    Headline::above_zero("duplicate_effects", "duplicate\neffects", Style::Count),
    Headline::above_zero("ejections", "servers\nejected", Style::Count),
    Headline::above_zero("refused", "refused", Style::Count),
    Headline::above_zero("dropped", "dropped", Style::Count),
    Headline::above_zero("utilisation", "workers\ntaken", Style::Share),
    Headline::above_zero("queue_max", "most\nwaiting", Style::Count),
    Headline::above_zero("queue_wait_p99_ms", "p99 wait\nfor a worker", Style::Milliseconds),
    Headline::above_zero("wasted_ratio", "work\nwasted", Style::Share),
];

const POOL: [Headline; 3] = [
    ATTEMPTS,
    Headline::new("pool_rejected", "no slot\nin time", Style::Count),
    Headline::new("pool_wait_p99_ms", "p99 wait\nfor a slot", Style::Milliseconds),
];

/// All tables that have something to say.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let mut text = variants(summary, width) + &caveats::render(summary, width);
    text += &recovery::render(summary, width);
    text += &failed::render(summary, width);
    text += &by_client(summary, width);
    text += &by_service(summary, width);
    text += &by_pool(summary, width);
    text
}

/// A row for each variant.
pub(super) fn variants(summary: &Summary, width: usize) -> String {
    let names = summary.variants.iter().map(|variant| variant.name.clone()).collect();
    let rows: Vec<_> = summary.variants.iter().map(|variant| Some(Row::of(variant, &variant.metrics))).collect();
    let labels = Column { head: "variant".to_owned(), cells: names };
    grid::render(&labels, &columns(&SCENARIO, &rows), width)
}

/// Nothing for a single group: its row would be that of the scenario.
fn by_client(summary: &Summary, width: usize) -> String {
    let groups: IndexSet<&str> =
        summary.variants.iter().flat_map(|variant| variant.clients.keys()).map(String::as_str).collect();
    if groups.len() < 2 {
        return String::new();
    }
    let hidden = groups.len().saturating_sub(NAMES_SHOWN);
    let shown = groups.into_iter().take(NAMES_SHOWN);
    let mut text = by_name(summary, "clients", shown, |variant| &variant.clients, &CLIENT, width);
    if hidden > 0 {
        text += &format!(" {}: see summary.csv\n", Counted(hidden, "more client group"));
    }
    text
}

fn by_service(summary: &Summary, width: usize) -> String {
    let selection = services::most_amplified(summary, NAMES_SHOWN);
    if selection.names.is_empty() {
        return String::new();
    }
    let mut text = by_name(summary, "service", selection.names, |variant| &variant.services, &SERVICE, width);
    if selection.hidden > 0 {
        text += &format!(" {} with less amplification: see summary.csv\n", Counted(selection.hidden, "more service"));
    }
    text
}

/// The calls that have a pool: its slots were waited for, if for no time, or were not to be had.
fn by_pool(summary: &Summary, width: usize) -> String {
    let has_pool = |table: &MetricTable| {
        table.get("pool_wait_p99_ms").is_some_and(|stat| stat.n > 0)
            || table.get("pool_rejected").is_some_and(|stat| stat.max > Some(0.0))
    };
    let calls: IndexSet<&str> = summary
        .variants
        .iter()
        .flat_map(|variant| &variant.calls)
        .filter(|(_, table)| has_pool(table))
        .map(|(name, _)| name.as_str())
        .collect();
    if calls.is_empty() {
        return String::new();
    }
    let hidden = calls.len().saturating_sub(NAMES_SHOWN);
    let shown = calls.into_iter().take(NAMES_SHOWN);
    let mut text = by_name(summary, "pool of", shown, |variant| &variant.calls, &POOL, width);
    if hidden > 0 {
        text += &format!(" {}: see summary.csv\n", Counted(hidden, "more pool"));
    }
    text
}

/// A table after a blank line. With one variant it has a row per name; with several a line for the name, and their rows
/// below it.
fn by_name<'a>(
    summary: &'a Summary,
    head: &str,
    names: impl IntoIterator<Item = &'a str>,
    tables_of: fn(&VariantSummary) -> &IndexMap<String, MetricTable>,
    headlines: &[Headline],
    width: usize,
) -> String {
    let grouped = summary.variants.len() > 1;
    let (mut labels, mut rows) = (Vec::new(), Vec::new());
    for name in names {
        if grouped {
            labels.push(name.to_owned());
            rows.push(None);
        }
        for variant in &summary.variants {
            if let Some(table) = tables_of(variant).get(name) {
                labels.push(if grouped { format!("  {}", variant.name) } else { name.to_owned() });
                rows.push(Some(Row::of(variant, table)));
            }
        }
    }
    let labels = Column { head: head.to_owned(), cells: labels };
    format!("\n{}", grid::render(&labels, &columns(headlines, &rows), width))
}

/// Where the figures of a row come from.
struct Row<'a> {
    table: &'a MetricTable,
    /// How many replicas of its variant have figures.
    replicas: u32,
}

impl<'a> Row<'a> {
    fn of(variant: &VariantSummary, table: &'a MetricTable) -> Self {
        Self { table, replicas: variant.replicas.len() as u32 }
    }
}

/// The cells of the rows; blanks where there is none. A metric that is undefined throughout, such as the latency of
/// successes where nothing succeeded, has no column, unless that leaves none.
fn columns(headlines: &[Headline], rows: &[Option<Row>]) -> Vec<Column> {
    let cell = |row: &Option<Row>, headline: &Headline| match row {
        Some(Row { table, replicas }) => number::figure(table.get(headline.metric), headline.style, *replicas),
        None => String::new(),
    };
    let needed = |headline: &&Headline| {
        let mut stats = rows.iter().flatten().filter_map(|row| row.table.get(headline.metric));
        stats.any(|stat| headline.says_something(stat))
    };
    let mut shown: Vec<_> = headlines.iter().filter(needed).collect();
    if shown.is_empty() {
        shown = headlines.iter().filter(|headline| headline.shown == Shown::Always).collect();
    }
    shown
        .into_iter()
        .map(|headline| Column {
            head: headline.head.to_owned(),
            cells: rows.iter().map(|row| cell(row, headline)).collect(),
        })
        .collect()
}
