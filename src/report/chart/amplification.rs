//! Amplification by service: bars grouped by service, one per variant, each with its value.

use super::head::{self, Head};
use super::rows::{self, Axis, Group, Mark, Row, Rows};
use super::scale::Scale;
use super::{blank, canvas, palette, ticks};
use crate::experiment::{Summary, VariantSummary};
use crate::number::Style;
use crate::report::services;

/// More bars than this cannot be read; the services amplified most are shown.
const BARS_SHOWN: usize = 36;
/// Above this the axis is logarithmic: on a linear one small values could not be told apart.
const LINEAR_MAX: f64 = 100.0;
const WHAT: &str = "amplification by service";

/// `amplification.png`: how many arrivals each original one became, by service and variant.
pub fn amplification(summary: &Summary) -> Vec<u8> {
    let services = services::most_amplified(summary, (BARS_SHOWN / head::shown(summary).len().max(1)).max(1));
    let groups: Vec<_> = services.names.iter().map(|name| group(summary, name)).collect();
    let entries = head::entries(summary).collect();
    let head = Head::of(summary, WHAT, &(services.remark("amplified most") + &rows::remark(&groups)), entries);
    if groups.is_empty() {
        return blank::chart(&head, "no service was called");
    }
    let values = groups.iter().flat_map(|group| &group.rows).filter_map(|row| row.value);
    let max = values.fold(1.0, f64::max);
    let bars = Rows::of(groups, Mark::Bar, head.height(), |pixels| axis(max, pixels));
    canvas::png((super::WIDTH, bars.height()), |canvas| {
        head.draw(canvas);
        bars.draw(canvas);
    })
}

fn group(summary: &Summary, service: &str) -> Group {
    let variants = head::shown(summary).iter().zip(palette::VARIANTS);
    let row = |(variant, color): (&VariantSummary, _)| {
        let replicas = variant.replicas.len() as u32;
        Row::of_mean(services::amplification(variant, service), color, Style::Factor, replicas)
    };
    Group { name: service.to_owned(), rows: variants.map(row).collect() }
}

/// The longest bar takes the whole length, and no tick is beyond it.
fn axis(max: f64, pixels: (i32, i32)) -> Axis {
    let (scale, mut ticks, title) = if max > LINEAR_MAX {
        let title = "arrivals per original arrival (logarithmic)";
        (Scale::logarithmic((1.0, max), pixels), ticks::counts(1.0, max), title)
    } else {
        (Scale::linear((0.0, max), pixels), ticks::linear((0.0, max), 8), "arrivals per original arrival")
    };
    ticks.retain(|tick| *tick <= max);
    Axis { ticks, style: Style::Factor, title, scale }
}
