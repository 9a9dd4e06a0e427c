//! What a comparison shows: a table for each variant, and a sentence that says it in words.

use indexmap::IndexMap;

use crate::experiment::{Comparison, Contrast, Difference, Shown, Stat, Summary};
use crate::number::{self, Style};
use crate::report::text::figures::SCENARIO;
use crate::report::text::grid::{self, Column};
use crate::wrap;

/// What a sentence may be about, the most telling first.
const TOLD: [(&str, &str, Style); 6] = [
    ("success_ratio", "success", Style::Share),
    ("retry_peak", "retry peak", Style::Count),
    ("attempts", "attempts", Style::Count),
    ("amplification", "amplification", Style::Factor),
    ("last_retry_s", "tail", Style::Seconds),
    ("latency_p99_ms", "p99 latency", Style::Milliseconds),
];

/// The same of a fault.
const TOLD_OF_FAULTS: [(&str, &str, Style); 2] =
    [("recovered", "recovered from", Style::Share), ("recovery_s", "recovery from", Style::Seconds)];

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
    let sentences: String = comparison.contrasts.iter().map(|contrast| sentence(contrast, width)).collect();
    tables + &sentences
}

/// A figure that is told: what it is called, how it is written, and how the two differ in it.
type Told<'a> = (String, Style, &'a Difference);

/// The headline figures of a variant beside those of the reference: those that are defined and not the same.
fn table(comparison: &Comparison, contrast: &Contrast, replicas: u32, width: usize) -> String {
    let whole = SCENARIO.iter().filter_map(|headline| {
        Some((headline.head.replace('\n', " "), headline.style, contrast.metrics.get(headline.metric)?))
    });
    let rows: Vec<Told<'_>> = whole
        .chain(of_faults(contrast))
        .filter(|(_, _, difference)| !matches!(difference.shown, Shown::Nothing | Shown::Same))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let cells = |cell: &dyn Fn(&Told<'_>) -> String| -> Vec<String> { rows.iter().map(cell).collect() };
    let of = |stat: &Stat, style: Style| number::figure(Some(stat), style, replicas);
    let labels = Column { head: "metric".to_owned(), cells: cells(&|(name, ..)| name.clone()) };
    let ratio = |difference: &Difference| {
        difference.ratio.map_or("-".to_owned(), |ratio| number::plain(ratio, Style::Factor, 3))
    };
    let columns = [
        Column { head: comparison.reference.clone(), cells: cells(&|(_, style, row)| of(&row.reference, *style)) },
        Column { head: contrast.name.clone(), cells: cells(&|(_, style, row)| of(&row.value, *style)) },
        Column { head: "difference".to_owned(), cells: cells(&|(_, style, row)| of(&row.difference, *style)) },
        Column { head: "ratio".to_owned(), cells: cells(&|(_, _, row)| ratio(row)) },
    ];
    grid::render(&labels, &columns, width)
}

/// What is told of faults, fault by fault.
fn of_faults(contrast: &Contrast) -> impl Iterator<Item = Told<'_>> {
    contrast.faults.iter().flat_map(|(fault, metrics)| {
        TOLD_OF_FAULTS
            .iter()
            .filter_map(move |(metric, name, style)| Some((format!("{name} `{fault}`"), *style, metrics.get(metric)?)))
    })
}

/// What a variant does to the figures that matter, in a sentence.
fn sentence(contrast: &Contrast, width: usize) -> String {
    let whole = TOLD
        .iter()
        .filter_map(|(metric, name, style)| Some(((*name).to_owned(), *style, contrast.metrics.get(metric)?)));
    let told: Vec<Told<'_>> = whole.chain(of_faults(contrast)).collect();
    let mut parts: Vec<String> = told.iter().filter_map(|(name, style, it)| tell(it, name, *style)).collect();
    // In as many pairs as there are: not all replicas need to have a figure.
    let mut open: IndexMap<u32, Vec<&str>> = IndexMap::new();
    for (name, _, difference) in told.iter().filter(|(_, _, difference)| difference.shown == Shown::NoDifference) {
        open.entry(difference.difference.n).or_default().push(name);
    }
    parts.extend(open.iter().map(|(n, names)| format!("no difference shown at n = {n} in {}", names.join(", "))));
    if parts.is_empty() {
        parts.push(unnoticed(contrast));
    }
    let text = format!("{}: {}", contrast.name, parts.join("; "));
    wrap::words(text.split_whitespace(), ["", "  "], width)
}

/// What is said where none of the figures that matter differs.
fn unnoticed(contrast: &Contrast) -> String {
    let all = contrast.metrics.values().chain(contrast.faults.values().flat_map(|metrics| metrics.values()));
    let others = all.filter(|difference| !matches!(difference.shown, Shown::Nothing | Shown::Same)).count();
    match others {
        0 => "the same in every figure".to_owned(),
        1 => "the same in these figures; it differs in another one, see comparison.csv".to_owned(),
        _ => format!("the same in these figures; it differs in {others} others, see comparison.csv"),
    }
}

/// "retry peak 159 [159, 160] against 1,000: 6.3 times lower"; none of what is the same.
fn tell(difference: &Difference, name: &str, style: Style) -> Option<String> {
    let (value, reference) = (difference.value.mean?, difference.reference.mean?);
    let is_time = matches!(style, Style::Seconds | Style::Milliseconds);
    let direction = match difference.shown {
        Shown::Nothing | Shown::Same | Shown::NoDifference => return None,
        Shown::Lower if is_time => "shorter",
        Shown::Lower => "lower",
        Shown::Higher if is_time => "longer",
        Shown::Higher => "higher",
    };
    let written = |value| number::plain(value, style, 4);
    let bracket = |[low, high]: [f64; 2]| format!("[{}, {}]", written(low), written(high));
    let spread = |stat: &Stat| stat.ci95.filter(|[low, high]| low < high);
    let interval = spread(&difference.value).map_or(String::new(), |ci95| format!(" {}", bracket(ci95)));
    // Where the two intervals alone would leave it open, that of the difference does not.
    let is_narrow = difference.value.ci95.is_some_and(|[low, high]| low <= reference && reference <= high);
    let by = difference.difference.mean.zip(spread(&difference.difference)).filter(|_| is_narrow);
    let by = by.map_or(String::new(), |(mean, ci95)| format!(" (difference {} {})", written(mean), bracket(ci95)));
    let factor = difference.ratio.map(|ratio| if ratio < 1.0 { 1.0 / ratio } else { ratio });
    let times = match factor.filter(|factor| factor.is_finite() && *factor >= TELLING_RATIO) {
        Some(factor) => format!(": {} times {direction}", number::plain(factor, Style::Count, 2)),
        None => String::new(),
    };
    Some(format!("{name} {}{interval} against {}{by}{times}", written(value), written(reference)))
}
