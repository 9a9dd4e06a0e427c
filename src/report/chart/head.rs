//! What every chart begins with: title, subtitle, legend. Below it is the chart's own ground.

use plotters::style::RGBColor;

use super::canvas::{Align, Canvas};
use super::font::Font;
use super::legend::{Entry, Legend, Mark};
use super::{MARGIN, WIDTH, palette};
use crate::experiment::{Summary, VariantSummary};
use crate::number::{self, INCOMPLETE};
use crate::report::coverage;

const TITLE_BASELINE: i32 = 38;
const SUBTITLE_BASELINE: i32 = 66;
const LEGEND_TOP: i32 = 80;

/// What a chart shows of the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Their mean.
    Mean,
    /// Every one of them.
    Each,
}

/// The head of a chart.
pub(super) struct Head {
    title: String,
    subtitle: String,
    legend: Legend,
}

impl Head {
    /// Of a chart of `what` the summary's scenario did, in the mean over the replicas.
    pub fn of(summary: &Summary, what: &str, remark: &str, entries: Vec<Entry>) -> Self {
        Self::showing(Shows::Mean, summary, what, remark, entries)
    }

    /// The same with a choice of what it shows of the replicas.
    pub fn showing(shows: Shows, summary: &Summary, what: &str, remark: &str, entries: Vec<Entry>) -> Self {
        let title = format!("{}: {what}", summary.scenario.name);
        Self::titled(&title, &(subtitle(shows, summary) + remark), entries)
    }

    /// Of these texts; what is too wide is shortened.
    pub fn titled(title: &str, subtitle: &str, entries: Vec<Entry>) -> Self {
        let room = WIDTH as i32 - 2 * MARGIN;
        Self {
            title: Font::TITLE.shortened(title, room),
            subtitle: Font::BODY.shortened(subtitle, room),
            legend: Legend::of(entries),
        }
    }

    /// How many rows of pixels it takes: those below belong to the chart.
    pub fn height(&self) -> i32 {
        LEGEND_TOP + self.legend.height()
    }

    /// Draws it at the top.
    pub fn draw(&self, canvas: &Canvas<'_>) {
        let left = |text: &str, font, color, y| canvas.text(text, font, color, Align::Left, (MARGIN, y));
        left(&self.title, Font::TITLE, palette::TEXT, TITLE_BASELINE);
        left(&self.subtitle, Font::BODY, palette::QUIET, SUBTITLE_BASELINE);
        self.legend.draw(canvas, LEGEND_TOP);
    }
}

/// The variants that a chart shows: as many as there are colours.
pub(super) fn shown(summary: &Summary) -> &[VariantSummary] {
    first(&summary.variants)
}

/// As many of all variants as there are colours.
pub(super) fn first<T>(variants: &[T]) -> &[T] {
    &variants[..variants.len().min(palette::VARIANTS.len())]
}

/// What the subtitle says where a chart shows the first `shown` of `all` such things only.
pub(super) fn left_out(shown: usize, all: usize, things: &str) -> String {
    if shown < all { format!(", the first {shown} of {} {things}", number::whole(all)) } else { String::new() }
}

/// These variants, each with its colour.
pub(super) fn colored(summary: &Summary) -> impl Iterator<Item = (&VariantSummary, RGBColor)> {
    shown(summary).iter().zip(palette::VARIANTS)
}

/// The legend's entries for the variants.
pub(super) fn entries(summary: &Summary) -> impl Iterator<Item = Entry> {
    colored(summary).map(|(variant, color)| Entry { mark: Mark::Series(color), label: variant.name.clone() })
}

/// What the signs in these labels mean, for the subtitle.
pub(super) fn explained<'a>(labels: impl Iterator<Item = &'a str> + Clone) -> String {
    let any = |sign| labels.clone().any(|label| label.contains(sign));
    let mut text = String::new();
    if any('±') {
        text += ", ± 95 % interval of the mean";
    }
    if any(INCOMPLETE) {
        text += &format!(", {INCOMPLETE} undefined in some replicas");
    }
    text
}

/// What the figures are and where they come from.
fn subtitle(shows: Shows, summary: &Summary) -> String {
    let mut text = match summary.replicas {
        0 | 1 => format!("one replica, seed {}", summary.seed),
        _ => {
            let shown = if shows == Shows::Mean { "mean over" } else { "each of" };
            format!("{shown} {}, seed {}", coverage::replicas(summary), summary.seed)
        }
    };
    text += &left_out(shown(summary).len(), summary.variants.len(), "variants");
    if summary.partial {
        text += ", cut short";
    }
    text
}
