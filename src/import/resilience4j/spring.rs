//! Spring's properties: documents over one another, keys with dots, placeholders, durations.

use indexmap::map;

use crate::import::draft::Draft;
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{self, Entry, Node, Table, Value};
use crate::import::values::decimal;
use crate::scenario::source::Place;
use crate::time::Span;

/// The properties of all documents that always count, the later over the earlier ones; none if there are none.
pub fn properties(documents: &[Node], draft: &mut Draft) -> Option<Node> {
    let mut merged: Option<Node> = None;
    let mut conditional: Vec<(String, Place)> = Vec::new();
    for document in documents {
        let document = match tree::nested(document, '.') {
            Ok(document) => document,
            Err(error) => {
                draft.errors.push(error);
                return None;
            }
        };
        let Some(mut section) = Section::document(&document, Keys::Loose) else { continue };
        if section.field(super::ROOT).is_none() {
            continue;
        }
        if let Some(condition) = condition(&mut section) {
            conditional.push(condition);
            continue;
        }
        match &mut merged {
            None => merged = Some(document),
            Some(Node { value: Value::Table(beneath), .. }) => {
                if let Value::Table(above) = document.value {
                    overlay(beneath, above);
                }
            }
            Some(_) => {}
        }
    }
    for (profile, place) in &conditional {
        let message = format!("this document counts only where `{profile}` is active");
        let hint = "take that line out to import it";
        if merged.is_none() {
            draft.wrong(place, message, hint);
        } else {
            draft.surprise(place, message + ": it is not in the scenario", hint);
        }
    }
    let mut merged = merged?;
    expand(&mut merged, draft);
    Some(merged)
}

/// On what it depends whether a document counts, with where that is said.
fn condition(document: &mut Section<'_>) -> Option<(String, Place)> {
    let mut spring = document.section("spring")?;
    let activate = spring.section("config").and_then(|mut config| config.section("activate"));
    let fields = [
        activate.and_then(|mut activate| activate.field("on-profile").or_else(|| activate.field("on-cloud-platform"))),
        spring.field("profiles").filter(|field| field.node.table().is_none()),
    ];
    let field = fields.into_iter().flatten().next()?;
    let texts: Vec<&str> = field.items().iter().filter_map(Node::scalar).collect();
    Some((texts.join(", "), field.place()))
}

/// Lays a table over another. Keys are the same in any spelling.
fn overlay(beneath: &mut Table, above: Table) {
    for (key, entry) in above {
        let same = beneath.keys().find(|there| Keys::Loose.same(there, &key)).cloned();
        match beneath.entry(same.unwrap_or(key)) {
            map::Entry::Vacant(free) => _ = free.insert(entry),
            map::Entry::Occupied(mut there) => match (&mut there.get_mut().node.value, entry) {
                (Value::Table(beneath), Entry { node: Node { value: Value::Table(above), .. }, .. }) => {
                    overlay(beneath, above);
                }
                (_, entry) => _ = there.insert(entry),
            },
        }
    }
}

/// Puts in what placeholders stand for if nothing else is set, beneath the properties that are read.
fn expand(document: &mut Node, draft: &mut Draft) {
    let Value::Table(table) = &mut document.value else { return };
    for (key, entry) in table {
        if Keys::Loose.same(key, super::ROOT) {
            defaults(&mut entry.node, draft);
        }
    }
}

fn defaults(node: &mut Node, draft: &mut Draft) {
    match &mut node.value {
        Value::Null => {}
        Value::List(items) => items.iter_mut().for_each(|item| defaults(item, draft)),
        Value::Table(table) => table.values_mut().for_each(|entry| defaults(&mut entry.node, draft)),
        Value::Scalar(text) => {
            let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
            let Some((name, value)) = inside.and_then(|inside| inside.split_once(':')) else { return };
            if value.contains("${") {
                return;
            }
            let message = format!("`{name}` may be set when it runs: the scenario has its default, `{value}`");
            draft.surprise(&node.place, message, "put in what is set there, and import that");
            *text = value.to_owned();
        }
    }
}

/// A truth value: Spring takes `yes` and `on` for `true`, too.
pub fn truth(field: &Field<'_>, draft: &mut Draft) -> Option<bool> {
    draft.parsed(field, |text| match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Ok(true),
        "false" | "no" | "off" => Ok(false),
        _ => Err("`true` or `false`".to_owned()),
    })
}

/// A duration: whole numbers of `ns`, `us`, `ms`, `s`, `m`, `h` or `d`, milliseconds without a unit, or ISO 8601.
pub fn duration(text: &str) -> Result<Span, String> {
    let must_be = || "a duration such as `500ms`, `2s` or `PT0.5S`; without a unit, milliseconds".to_owned();
    let span = if text.starts_with(['P', 'p']) { iso(text) } else { simple(text) };
    span.ok_or_else(must_be)
}

/// The same in whole milliseconds, as waits are.
pub fn milliseconds(text: &str) -> Result<Span, String> {
    const MILLISECOND: u64 = 1_000_000;
    duration(text).map(|span| Span::from_ns(span.as_ns() / MILLISECOND * MILLISECOND))
}

fn simple(text: &str) -> Option<Span> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &*text[digits.len()..].to_ascii_lowercase() {
        "" => 1_000_000,
        unit => crate::scenario::duration::nanoseconds(unit)?,
    };
    // Spring has no fractions here.
    decimal(digits, unit).filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// `P1DT2H3M4.5S`: parts from large to small, at least one.
fn iso(text: &str) -> Option<Span> {
    const PARTS: [(char, bool, u64); 4] = [
        ('D', false, 86_400_000_000_000),
        ('H', true, 3_600_000_000_000),
        ('M', true, 60_000_000_000),
        ('S', true, 1_000_000_000),
    ];
    let text = text.to_ascii_uppercase();
    let mut rest = text.strip_prefix('P')?;
    let mut sum = Span::ZERO.as_ns();
    let mut is_time = false;
    let mut parts = PARTS.iter();
    while !rest.is_empty() {
        if let (false, Some(time)) = (is_time, rest.strip_prefix('T')) {
            (rest, is_time) = (time, true);
            // A `T` with nothing behind it is none.
            if rest.is_empty() {
                return None;
            }
        }
        let at = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (number, letter) = (&rest[..at], rest[at..].chars().next()?);
        let (_, _, unit) = parts.find(|(name, in_time, _)| *name == letter && *in_time == is_time)?;
        if number.contains('.') && letter != 'S' {
            return None;
        }
        sum = sum.checked_add(decimal(number, *unit)?.as_ns()).filter(|sum| *sum <= Span::LIMIT.as_ns())?;
        rest = &rest[at + 1..];
    }
    (text.len() > 1).then_some(Span::from_ns(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_spring() {
        let ms = |text| duration(text).ok().map(Span::as_ms);
        assert_eq!(
            ["500ms", "2s", "0", "1500", "1m", "1H", "PT0.5S", "pt1m30s", "P1DT1H"].map(ms),
            [500.0, 2e3, 0.0, 1.5e3, 6e4, 3.6e6, 500.0, 9e4, 9e7].map(Some)
        );
        let wrong =
            ["1.5s", "-1s", "", "s", "5 s", "5x", "P", "PT", "PT5", "PT1.5H", "PT1S1M", "P1S", "1e400", "99999999d"];
        assert_eq!(wrong.map(ms), [None; 14]);
        assert_eq!(milliseconds("1999us").map(Span::as_ms), Ok(1.0));
    }
}
