//! Attempts and retries over time: two panels that share the time axis, a line per variant, the windows of
//! faults, and where clients had recovered from them.

use super::backdrop::Backdrop;
use super::head::{self, Head};
use super::panel::{Line, Panel, Plot, Reach};
use super::stack::{self, FOOT};
use super::steps::{Gather, points};
use crate::experiment::{BucketMeans, Summary, VariantSummary};
use crate::metrics::catalogue::ScopeKind;
use crate::number::{self, Style};

const HEIGHT: i32 = 700;

/// What a panel shows: its name and the value of a bucket.
type Shown = (&'static str, fn(&BucketMeans) -> f64);
const PANELS: [Shown; 2] = [("Attempts", |bucket| bucket.attempts), ("Retries", |bucket| bucket.retries)];

/// `timeline.png`: attempts above, retries below, per bucket.
pub fn timeline(summary: &Summary) -> Vec<u8> {
    let backdrop = Backdrop::with_recoveries(summary);
    let entries = head::entries(summary).chain(backdrop.legend()).collect();
    let head = Head::of(summary, "attempts and retries over time", "", entries);
    let room = HEIGHT - FOOT - head.height() - 2 * Plot::above(&backdrop);
    let [upper, lower] = PANELS;
    let panels = [panel(summary, &backdrop, upper, room / 2), panel(summary, &backdrop, lower, room - room / 2)];
    stack::chart(&head, &panels, summary)
}

fn panel<'a>(summary: &Summary, backdrop: &'a Backdrop<'a>, (name, value): Shown, height: i32) -> Panel<'a> {
    let line = |(variant, color): (&VariantSummary, _)| {
        let buckets = variant.series(ScopeKind::Scenario, "");
        Line { color, points: points(buckets, |bucket| bucket.index, value) }
    };
    Panel {
        backdrop,
        heading: format!("{name} per {}", number::plain(summary.bucket_ms, Style::Milliseconds, 3)),
        heading_of_none: format!("{name}: none"),
        height,
        reach: Reach::Own,
        style: Style::Count,
        gather: Gather::Highest,
        lines: head::colored(summary).map(line).collect(),
        levels: Vec::new(),
    }
}
