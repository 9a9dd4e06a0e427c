//! The tables of figures: one row per variant, then one per client group and variant, and per service and variant.

use indexmap::{IndexMap, IndexSet};

use crate::experiment::{MetricTable, Stat, Summary, VariantSummary};
use crate::report::number::{self, Style};
use crate::report::services;
use crate::report::text::grid::{self, Column};
use crate::report::text::{Counted, caveats};

/// More services, or client groups, than this are not taken in at a glance.
const NAMES_SHOWN: usize = 20;

/// A metric worth a column.
struct Headline {
    metric: &'static str,
    head: &'static str,
    style: Style,
}

impl Headline {
    /// Whether a row with this figure needs the column. Open requests are news only where there are any.
    fn says_something(&self, stat: &Stat) -> bool {
        if self.metric == OPEN.metric { stat.max > Some(0.0) } else { stat.n > 0 }
    }
}

const REQUESTS: Headline = Headline { metric: "requests", head: "requests", style: Style::Count };
const OPEN: Headline = Headline { metric: "open", head: "open at\nthe end", style: Style::Count };
const SUCCESS: Headline = Headline { metric: "success_ratio", head: "success\nratio", style: Style::Share };
const LATENCY: Headline =
    Headline { metric: "latency_p99_ms", head: "p99 latency\nof successes", style: Style::Milliseconds };

const SCENARIO: [Headline; 9] = [
    REQUESTS,
    OPEN,
    SUCCESS,
    Headline { metric: "attempts", head: "attempts", style: Style::Count },
    Headline { metric: "retries", head: "retries", style: Style::Count },
    Headline { metric: "amplification", head: "amplification", style: Style::Factor },
    Headline { metric: "retry_peak", head: "retry peak\nper 100 ms", style: Style::Count },
    Headline { metric: "last_retry_s", head: "last retry\nat", style: Style::Seconds },
    LATENCY,
];

const CLIENT: [Headline; 5] = [
    REQUESTS,
    OPEN,
    SUCCESS,
    LATENCY,
    Headline { metric: "give_up_max_ms", head: "longest wait\nto fail", style: Style::Milliseconds },
];

const SERVICE: [Headline; 4] = [
    Headline { metric: "arrivals", head: "arrivals", style: Style::Count },
    Headline { metric: "amplification", head: "amplification", style: Style::Factor },
    Headline { metric: "arrival_peak", head: "arrival peak\nper 100 ms", style: Style::Count },
    Headline { metric: "in_flight_max", head: "most\nin flight", style: Style::Count },
];

/// All tables that have something to say.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let mut text = variants(summary, width) + &caveats::render(summary, width);
    text += &by_client(summary, width);
    text += &by_service(summary, width);
    text
}

fn variants(summary: &Summary, width: usize) -> String {
    let names = summary.variants.iter().map(|variant| variant.name.clone()).collect();
    let tables: Vec<_> = summary.variants.iter().map(|variant| Some(&variant.metrics)).collect();
    let labels = Column { head: "variant".to_owned(), cells: names };
    grid::render(&labels, &columns(&SCENARIO, &tables, summary.replicas), width)
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
    let (mut labels, mut tables) = (Vec::new(), Vec::new());
    for name in names {
        if grouped {
            labels.push(name.to_owned());
            tables.push(None);
        }
        for variant in &summary.variants {
            if let Some(table) = tables_of(variant).get(name) {
                labels.push(if grouped { format!("  {}", variant.name) } else { name.to_owned() });
                tables.push(Some(table));
            }
        }
    }
    let labels = Column { head: head.to_owned(), cells: labels };
    format!("\n{}", grid::render(&labels, &columns(headlines, &tables, summary.replicas), width))
}

/// A row of figures per table; where there is none, blanks. A metric that is undefined throughout, such as the latency
/// of successes where nothing succeeded, has no column, unless that leaves none.
fn columns(headlines: &[Headline], tables: &[Option<&MetricTable>], replicas: u32) -> Vec<Column> {
    let cell = |table: &Option<&MetricTable>, headline: &Headline| match table {
        Some(table) => number::figure(table.get(headline.metric), headline.style, replicas),
        None => String::new(),
    };
    let needed = |headline: &&Headline| {
        tables
            .iter()
            .flatten()
            .any(|table| table.get(headline.metric).is_some_and(|stat| headline.says_something(stat)))
    };
    let mut shown: Vec<_> = headlines.iter().filter(needed).collect();
    if shown.is_empty() {
        shown = headlines.iter().filter(|headline| headline.metric != OPEN.metric).collect();
    }
    shown
        .into_iter()
        .map(|headline| Column {
            head: headline.head.to_owned(),
            cells: tables.iter().map(|table| cell(table, headline)).collect(),
        })
        .collect()
}
