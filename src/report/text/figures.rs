//! The tables of figures: one row per variant, then one per service and variant.

use crate::experiment::{MetricTable, Summary};
use crate::report::number::{self, Style};
use crate::report::services;
use crate::report::text::Counted;
use crate::report::text::grid::{self, Column};

/// More services than this are not taken in at a glance.
const SERVICES_SHOWN: usize = 20;

/// A metric worth a column.
struct Headline {
    metric: &'static str,
    head: &'static str,
    style: Style,
}

const SCENARIO: [Headline; 8] = [
    Headline { metric: "requests", head: "requests", style: Style::Count },
    Headline { metric: "success_ratio", head: "success\nratio", style: Style::Share },
    Headline { metric: "attempts", head: "attempts", style: Style::Count },
    Headline { metric: "retries", head: "retries", style: Style::Count },
    Headline { metric: "amplification", head: "amplification", style: Style::Factor },
    Headline { metric: "retry_peak", head: "retry peak\nper 100 ms", style: Style::Count },
    Headline { metric: "last_retry_s", head: "last retry\nat", style: Style::Seconds },
    Headline { metric: "latency_p99_ms", head: "p99 latency\nof successes", style: Style::Milliseconds },
];

const SERVICE: [Headline; 4] = [
    Headline { metric: "arrivals", head: "arrivals", style: Style::Count },
    Headline { metric: "amplification", head: "amplification", style: Style::Factor },
    Headline { metric: "arrival_peak", head: "arrival peak\nper 100 ms", style: Style::Count },
    Headline { metric: "in_flight_max", head: "most\nin flight", style: Style::Count },
];

/// Both tables.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let selection = services::most_amplified(summary, SERVICES_SHOWN);
    let mut text = variants(summary, width);
    if !selection.names.is_empty() {
        text.push('\n');
        text += &by_service(summary, &selection.names, width);
    }
    if selection.hidden > 0 {
        text += &format!(" {} with less amplification: see summary.csv\n", Counted(selection.hidden, "more service"));
    }
    text
}

fn variants(summary: &Summary, width: usize) -> String {
    let names = summary.variants.iter().map(|variant| variant.name.clone()).collect();
    let tables: Vec<_> = summary.variants.iter().map(|variant| Some(&variant.metrics)).collect();
    let labels = Column { head: "variant".to_owned(), cells: names };
    grid::render(&labels, &columns(&SCENARIO, &tables, summary.replicas), width)
}

/// With one variant a row per service; with several a line that names the service, and their rows below it.
fn by_service(summary: &Summary, services: &[&str], width: usize) -> String {
    let grouped = summary.variants.len() > 1;
    let (mut names, mut tables) = (Vec::new(), Vec::new());
    for &service in services {
        if grouped {
            names.push(service.to_owned());
            tables.push(None);
        }
        for variant in &summary.variants {
            if let Some(table) = variant.services.get(service) {
                names.push(if grouped { format!("  {}", variant.name) } else { service.to_owned() });
                tables.push(Some(table));
            }
        }
    }
    let labels = Column { head: "service".to_owned(), cells: names };
    grid::render(&labels, &columns(&SERVICE, &tables, summary.replicas), width)
}

/// A row of figures per table; where there is none, blanks. A metric that is undefined throughout, such as the latency of
/// successes where nothing succeeded, has no column, unless that leaves none.
fn columns(headlines: &[Headline], tables: &[Option<&MetricTable>], replicas: u32) -> Vec<Column> {
    let cell = |table: &Option<&MetricTable>, headline: &Headline| match table {
        Some(table) => number::figure(table.get(headline.metric), headline.style, replicas),
        None => String::new(),
    };
    let defined = |headline: &&Headline| {
        tables.iter().flatten().any(|table| table.get(headline.metric).is_some_and(|stat| stat.n > 0))
    };
    let mut shown: Vec<_> = headlines.iter().filter(defined).collect();
    if shown.is_empty() {
        shown = headlines.iter().collect();
    }
    shown
        .into_iter()
        .map(|headline| Column {
            head: headline.head.to_owned(),
            cells: tables.iter().map(|table| cell(table, headline)).collect(),
        })
        .collect()
}
