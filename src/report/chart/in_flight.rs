//! What services have in progress over time, against what they can.

use super::backdrop::Backdrop;
use super::head::{self, Head};
use super::legend::{Entry, Mark};
use super::panel::{Line, Panel, Reach};
use super::steps::{Gather, points};
use super::{level, palette, stack};
use crate::experiment::{Summary, VariantSummary};
use crate::metrics::catalogue::ScopeKind;
use crate::number::{self, Style};
use crate::report::services::{self, Selection};

/// More services than this make a picture that no screen shows at once.
const SERVICES_SHOWN: usize = 6;
/// Rows of a panel.
const HEIGHT: i32 = 130;

/// `in_flight.png`: the number in progress, by service, with a line per variant and the ceiling.
pub fn in_flight(summary: &Summary) -> Vec<u8> {
    let services = shown(summary);
    let backdrop = Backdrop::of(summary);
    let panels: Vec<_> = services.names.iter().map(|name| panel(summary, &backdrop, name)).collect();
    let ceiling = panels.iter().any(|panel| !panel.levels.is_empty()).then(|| Entry {
        mark: Mark::Level(palette::LEVEL),
        label: "ceiling: max_in_flight, or workers and queue".to_owned(),
    });
    let entries = head::entries(summary).chain(ceiling).chain(backdrop.legend()).collect();
    let head = Head::of(summary, "in flight over time", &services.remark("with the most in flight"), entries);
    stack::chart(&head, &panels, summary)
}

/// Whether there is anything to show: a service with a limit on its workers or on what is in flight.
pub fn has_limits(summary: &Summary) -> bool {
    !shown(summary).names.is_empty()
}

fn shown(summary: &Summary) -> Selection<'_> {
    services::ranked(head::shown(summary), "in_flight_max", SERVICES_SHOWN, |variant, name| {
        variant.limits.get(name).is_some_and(|limits| limits.workers.is_some() || limits.in_flight.is_some())
    })
}

fn panel<'a>(summary: &Summary, backdrop: &'a Backdrop<'a>, service: &str) -> Panel<'a> {
    let line = |(variant, color): (&VariantSummary, _)| {
        let buckets = variant.series(ScopeKind::Service, service);
        Line { color, points: points(buckets, |bucket| bucket.index, |bucket| bucket.in_flight) }
    };
    let ceilings = head::colored(summary).map(|(variant, color)| {
        let ceiling = variant.limits.get(service).and_then(|limits| limits.in_flight);
        (color, ceiling.map(|ceiling| ceiling as f64))
    });
    Panel {
        backdrop,
        heading: format!("{service}: in flight"),
        heading_of_none: format!("{service}: nothing in flight"),
        height: HEIGHT,
        reach: Reach::Own,
        style: Style::Count,
        gather: Gather::Highest,
        lines: head::colored(summary).map(line).collect(),
        levels: level::of_variants(ceilings, |value| format!("ceiling {}", number::plain(value, Style::Count, 3))),
    }
}
