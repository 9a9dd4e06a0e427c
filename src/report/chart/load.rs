//! What clients ask for and what they get, over time: a panel per variant on one scale, against the capacity of the
//! service that they call.

use plotters::style::RGBColor;

use super::backdrop::Backdrop;
use super::head::{self, Head};
use super::legend::{Entry, Mark};
use super::level::Level;
use super::panel::{Line, Panel, Plot, Reach};
use super::steps::{Gather, points};
use super::{palette, stack};
use crate::experiment::{LoadMeans, Summary, VariantSummary};
use crate::number::{self, Style};

/// Rows that all panels share, with their headings, and the least and the most that one of them has without it.
const ROOM: i32 = 880;
const HEIGHT_MIN: i32 = 60;
const HEIGHT_MAX: i32 = 200;

/// A line: its name, its colour and the value of a bucket.
type Shown = (&'static str, RGBColor, fn(&LoadMeans) -> f64);
const LINES: [Shown; 3] = [
    ("attempts of the clients", palette::VARIANTS[1], |load| load.attempts_rps),
    ("first attempts", palette::VARIANTS[0], |load| load.first_attempts_rps),
    ("requests that succeeded (goodput)", palette::VARIANTS[2], |load| load.succeeded_rps),
];

/// `load.png`: attempts, first attempts and successes of the clients per second, by variant.
pub fn load(summary: &Summary) -> Vec<u8> {
    let variants = head::shown(summary);
    let all = Backdrop::with_recoveries(summary);
    let height = ROOM / variants.len().max(1) as i32 - Plot::above(&all);
    let height = height.clamp(HEIGHT_MIN, HEIGHT_MAX);
    let backdrops = Backdrop::of_each(summary);
    let named = variants.len() > 1;
    let panels = variants.iter().zip(&backdrops).map(|(variant, backdrop)| panel(variant, backdrop, named, height));
    let panels: Vec<_> = panels.collect();
    let lines = LINES.map(|(name, color, _)| Entry { mark: Mark::Series(color), label: name.to_owned() });
    let capacity = panels.iter().any(|panel| !panel.levels.is_empty()).then(|| Entry {
        mark: Mark::Level(palette::LEVEL),
        label: "capacity of the service that they call".to_owned(),
    });
    let entries = lines.into_iter().chain(capacity).chain(all.legend()).collect();
    let head = Head::of(summary, "offered load and goodput over time", ", values per second", entries);
    stack::chart(&head, &panels, summary)
}

fn panel<'a>(variant: &VariantSummary, backdrop: &'a Backdrop<'a>, named: bool, height: i32) -> Panel<'a> {
    let line = |(_, color, value): Shown| Line { color, points: points(&variant.load, |load| load.index, value) };
    Panel {
        backdrop,
        heading: if named { variant.name.clone() } else { "All clients".to_owned() },
        heading_of_none: if named { format!("{}: no attempt", variant.name) } else { "No attempt".to_owned() },
        height,
        reach: Reach::Shared,
        style: Style::Count,
        gather: Gather::Mean,
        lines: LINES.map(line).into(),
        levels: capacity(variant).into_iter().collect(),
    }
}

/// That of the service that the clients call; none if they call several, whose capacities say nothing about the sum of
/// their loads.
fn capacity(variant: &VariantSummary) -> Option<Level> {
    let mut called = variant.limits.iter().filter(|(_, limits)| limits.called_by_clients);
    let (Some((name, _)), None) = (called.next(), called.next()) else { return None };
    let value = variant.services.get(name)?.get("capacity_rps")?.mean?;
    let label = format!("capacity {}", number::plain(value, Style::Count, 3));
    Some(Level { value, label, color: palette::LEVEL })
}
