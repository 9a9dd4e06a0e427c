//! What the settings of a scenario mean, for people.

mod calls;
mod paths;
mod services;

use crate::analysis::Explanation;
use crate::number::{self, Style};
use crate::report::text::grid::Column;
use crate::report::text::{TITLE, styled};
use crate::time::Span;
use crate::wrap;

/// Stands for a blank where no line may end.
const KEPT: char = '\u{a0}';

/// Everything, for a page of `width` columns.
pub(super) fn render(name: &str, explanations: &[Explanation], width: usize) -> String {
    let of_variants = |explanation: &Explanation| {
        let names: Vec<String> = explanation.variants.iter().map(|name| format!("`{name}`")).collect();
        let heading = format!("{}: {}", styled(TITLE, name), names.join(", "));
        let sections = [
            wrap::words(heading.split(' '), ["", "  "], width),
            calls::settings(&explanation.calls, width),
            calls::courses(&explanation.calls, width),
            calls::sentences(&explanation.calls, width),
            calls::chances(&explanation.calls, width),
            calls::timeouts(&explanation.calls, width),
            paths::render(explanation, width),
            services::render(explanation, width),
        ];
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
    };
    explanations.iter().map(of_variants).collect::<Vec<_>>().join("\n")
}

/// A sentence in lines of at most `width` characters, none of which ends at a [`KEPT`] blank.
fn sentence(text: &str, indents: [&str; 2], width: usize) -> String {
    wrap::words(text.split(' '), indents, width).replace(KEPT, " ")
}

/// A quantity that stays in one line.
fn kept(quantity: &str) -> String {
    quantity.replace(' ', &KEPT.to_string())
}

fn column<T>(head: &str, rows: &[T], cell: impl Fn(&T) -> String) -> Column {
    Column { head: head.to_owned(), cells: rows.iter().map(cell).collect() }
}

/// "250 ms", and "52.12 d or more" where the clock ends.
fn time(seconds: f64) -> String {
    let written = number::plain(seconds, Style::Seconds, 4);
    if seconds >= Span::LIMIT.as_s() { format!("{written} or more") } else { written }
}

fn time_or(none: &str, seconds: Option<f64>) -> String {
    seconds.map_or_else(|| none.to_owned(), time)
}

/// A number of attempts.
fn count(attempts: Option<u32>) -> String {
    attempts.map_or_else(|| "no limit".to_owned(), |attempts| number::whole(attempts as usize))
}

/// "1 attempt", "3 attempts".
fn attempts(count: u64) -> String {
    let noun = if count == 1 { "attempt" } else { "attempts" };
    format!("{} {noun}", number::whole(count as usize))
}
