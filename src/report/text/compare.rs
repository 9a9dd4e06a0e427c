//! What a comparison shows: a table for each variant, and a sentence that says it in words.

use crate::experiment::{Comparison, Contrast, Difference, Shown, Stat, Summary};
use crate::report::number::{self, Style};
use crate::report::text::figures::{Headline, SCENARIO};
use crate::report::text::grid::{self, Column};
use crate::report::text::wrap;

/// What a sentence may be about, the most telling first.
const TOLD: [(&str, &str, Style); 6] = [
    ("success_ratio", "success", Style::Share),
    ("retry_peak", "retry peak", Style::Count),
    ("attempts", "attempts", Style::Count),
    ("amplification", "amplification", Style::Factor),
    ("last_retry_s", "tail", Style::Seconds),
    ("latency_p99_ms", "p99 latency", Style::Milliseconds),
];

/// From this factor on, a ratio says more than the two figures.
const TELLING_RATIO: f64 = 1.5;

/// The comparison of a summary, for a page of `width` columns; nothing without one.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let Some(comparison) = &summary.comparison else { return String::new() };
    let tables: String = comparison
        .contrasts
        .iter()
        .map(|contrast| table(comparison, contrast, summary.replicas, width) + "\n")
        .collect();
    let sentences: String =
        comparison.contrasts.iter().map(|contrast| sentence(contrast, summary.replicas, width)).collect();
    tables + &sentences
}

/// The headline figures of a variant beside those of the reference: those that are defined and not the same.
fn table(comparison: &Comparison, contrast: &Contrast, replicas: u32, width: usize) -> String {
    let rows: Vec<(&Headline, &Difference)> = SCENARIO
        .iter()
        .filter_map(|headline| Some((headline, contrast.metrics.get(headline.metric)?)))
        .filter(|(_, difference)| !matches!(difference.shown, Shown::Nothing | Shown::Same))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let cells = |cell: &dyn Fn(&Headline, &Difference) -> String| -> Vec<String> {
        rows.iter().map(|(headline, difference)| cell(headline, difference)).collect()
    };
    let of = |stat: &Stat, headline: &Headline| number::figure(Some(stat), headline.style, replicas);
    let labels = Column { head: "metric".to_owned(), cells: cells(&|headline, _| headline.head.replace('\n', " ")) };
    let columns = [
        Column { head: comparison.reference.clone(), cells: cells(&|headline, row| of(&row.reference, headline)) },
        Column { head: contrast.name.clone(), cells: cells(&|headline, row| of(&row.value, headline)) },
        Column { head: "difference".to_owned(), cells: cells(&|headline, row| of(&row.difference, headline)) },
        Column {
            head: "ratio".to_owned(),
            cells: cells(&|_, row| row.ratio.map_or("-".to_owned(), |ratio| number::plain(ratio, Style::Factor, 3))),
        },
    ];
    grid::render(&labels, &columns, width)
}

/// What a variant does to the figures that matter, in a sentence.
fn sentence(contrast: &Contrast, replicas: u32, width: usize) -> String {
    let told = TOLD.iter().filter_map(|(metric, name, style)| {
        let difference = contrast.metrics.get(metric)?;
        Some((difference.shown, *name, tell(difference, name, *style)?))
    });
    let (shown, open): (Vec<_>, Vec<_>) = told.partition(|(shown, ..)| *shown != Shown::NoDifference);
    let mut parts: Vec<String> = shown.into_iter().map(|(_, _, text)| text).collect();
    if !open.is_empty() {
        let names: Vec<&str> = open.iter().map(|(_, name, _)| *name).collect();
        parts.push(format!("no difference shown at n = {replicas} in {}", names.join(", ")));
    } else if parts.is_empty() {
        parts.push("the same in every figure".to_owned());
    }
    let text = format!("{}: {}", contrast.name, parts.join("; "));
    wrap::words(text.split_whitespace(), ["", "  "], width)
}

/// "retry peak 159 [159, 160] against 1,000: 6.3 times lower"; none of what is the same.
fn tell(difference: &Difference, name: &str, style: Style) -> Option<String> {
    let (value, reference) = (difference.value.mean?, difference.reference.mean?);
    let is_time = matches!(style, Style::Seconds | Style::Milliseconds);
    let direction = match difference.shown {
        Shown::Nothing | Shown::Same => return None,
        Shown::NoDifference => return Some(String::new()),
        Shown::Lower if is_time => "shorter",
        Shown::Lower => "lower",
        Shown::Higher if is_time => "longer",
        Shown::Higher => "higher",
    };
    let interval = match difference.value.ci95 {
        Some([low, high]) if low < high => {
            format!(" [{}, {}]", number::plain(low, style, 4), number::plain(high, style, 4))
        }
        _ => String::new(),
    };
    let written = |value| number::plain(value, style, 4);
    let factor = difference.ratio.map(|ratio| if ratio < 1.0 { 1.0 / ratio } else { ratio });
    let times = match factor.filter(|factor| factor.is_finite() && *factor >= TELLING_RATIO) {
        Some(factor) => format!(": {} times {direction}", number::plain(factor, Style::Count, 2)),
        None => String::new(),
    };
    Some(format!("{name} {}{interval} against {}{times}", written(value), written(reference)))
}
