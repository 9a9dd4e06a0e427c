//! What the TOML parser says of a text, in words for somebody who knows their system better than TOML.

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::punctuation::{self, LeftOpen};
use crate::scenario::source::{Lines, Place};

/// The parser's words for a key that is there twice. Like all its words they are pinned by the tests of the messages.
const DUPLICATE_KEY: &str = "duplicate key";

/// The parser's words for a text without quotes.
const UNQUOTED: &str = "string values must be quoted";

/// What the parser takes a text without quotes for, by its first letter.
const TAKEN_FOR: [&str; 3] = ["invalid boolean", "invalid float", "invalid integer number"];

/// The quotes of word processors.
const CURLY_QUOTES: [char; 5] = ['“', '”', '„', '‘', '’'];

/// Ways out that depend on the parser's words alone.
const HINTS: [(&str, &str); 19] = [
    ("key with no value", "write `key = value`"),
    ("invalid key-value pair", "write `key = value`"),
    ("unquoted keys cannot be empty", "write a name there, of letters, digits, `-` and `_`"),
    ("invalid unquoted key", "names are made of letters, digits, `-` and `_`"),
    ("extra `=`", "one is enough"),
    ("unclosed table", "close the bracket: `[services.db]`"),
    ("unclosed array table", "close both brackets: `[[expect]]`"),
    ("missing comma between array elements", "write a comma between the two"),
    ("missing comma between key-value pairs", "write a comma between the two"),
    ("missing assignment between key-value pairs", "write `key = value`"),
    ("missing key for inline table element", "write `key = value`"),
    ("extra comma in array", "remove the comma"),
    ("extra comma in inline table", "remove the comma"),
    ("unexpected key or value", "each setting has a line of its own"),
    ("unexpected leading zero", "write the number without it"),
    ("redundant numeric sign", "one sign is enough"),
    ("invalid mantissa", "write a digit before the point: `0.5`"),
    ("invalid fraction", "write a digit after the point: `5.0`"),
    ("missing escaped value", "write a backslash as `\\\\`, or put the text into single quotes"),
];

/// An error of the parser.
#[derive(Clone, Debug)]
pub struct Slip<'a> {
    /// Where it is.
    pub place: Place,
    line: usize,
    message: &'a str,
}

impl Slip<'_> {
    /// Whether a key is there twice, after which the rest of the text can be read all the same.
    pub fn is_duplicate_key(&self) -> bool {
        self.message == DUPLICATE_KEY
    }

    /// Whether it says no more than that a bracket is open, which was opened before.
    fn is_of_open(&self, bracket: &LeftOpen, lines: &Lines) -> bool {
        let is_at_end = ["unclosed inline table", "unclosed array"].iter().any(|end| self.message.starts_with(end));
        is_at_end || self.line > lines.number(bracket.place.start)
    }
}

/// The errors of the parser in the order of their places. One slip often makes several; the first on its line says what
/// it is, and the others are left out.
pub fn slips<'a>(text: &str, errors: &'a [toml::de::Error]) -> Vec<Slip<'a>> {
    let lines = Lines::of(text);
    let mut slips: Vec<Slip> = errors
        .iter()
        .map(|error| {
            let place = error.span().unwrap_or(0..0);
            Slip { line: lines.number(place.start), place, message: error.message() }
        })
        .collect();
    slips.sort_by_key(|slip| slip.place.start);
    slips.dedup_by_key(|slip| slip.line);
    slips
}

/// What is wrong with a text, by its slips.
pub fn describe(text: &str, slips: &[Slip<'_>]) -> Vec<Diagnostic> {
    let open = if slips.is_empty() { None } else { punctuation::left_open(text) };
    // Whatever comes after a bracket that is left open is read as if it stood in it.
    let is_before = |slip: &Slip| open.as_ref().is_none_or(|open| slip.place.start < open.place.start);
    let (before, after) = slips.split_at(slips.partition_point(is_before));
    let mut diagnostics: Vec<Diagnostic> = before.iter().map(|slip| describe_one(text, slip)).collect();
    if let (Some(open), Some((first, others))) = (open, after.split_first()) {
        let error = if first.is_of_open(&open, &Lines::of(text)) {
            left_open(text, &open, first)
        } else {
            describe_one(text, first)
        };
        let errors = if others.len() == 1 { "error" } else { "errors" };
        let follow = format!("{} more {errors} of syntax may follow from it", others.len());
        diagnostics.push(if others.is_empty() { error } else { error.note(follow) });
    }
    diagnostics
}

/// A bracket that nothing closes, with the first place where that shows.
fn left_open(text: &str, LeftOpen { place, closers }: &LeftOpen, shown: &Slip<'_>) -> Diagnostic {
    let error = Diagnostic::new(format!("`{}` is not closed", &text[place.clone()]));
    let error = error.at(place).label("opened here").hint(format!("close it with `{closers}`"));
    let is_at_end = text[shown.place.start..].trim().is_empty();
    if is_at_end { error } else { error.context(&shown.place, "still open here") }
}

/// What is wrong at a single place.
fn describe_one(text: &str, slip: &Slip<'_>) -> Diagnostic {
    let line = text[..slip.place.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[line..].find('\n').map_or(text.len(), |len| line + len);
    let comma = punctuation::decimal_comma(&text[line..line_end], line);
    let comma = comma.filter(|comma| comma.place().is_some_and(|place| place.start <= slip.place.start));
    comma.unwrap_or_else(|| in_words(text, slip.message, &slip.place))
}

/// The parser's message in other words.
fn in_words(text: &str, message: &str, place: &Place) -> Diagnostic {
    let found = text.get(place.clone()).unwrap_or_default();
    let (message, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let error = match message {
        DUPLICATE_KEY => Diagnostic::new(format!("`{found}` is there twice"))
            .hint("remove one of the two; if they are tables, put their keys into one"),
        UNQUOTED if found.is_empty() => Diagnostic::new("a value is missing").hint("write one after the `=`"),
        UNQUOTED => unquoted(found),
        _ if TAKEN_FOR.contains(&message) && found.starts_with(|c: char| c.is_ascii_alphabetic()) => unquoted(found),
        _ if matches!(expected, "`\"`" | "`'`") => {
            let quote = expected.trim_matches('`').repeat(if message.contains("multi-line") { 3 } else { 1 });
            Diagnostic::new("a string has no end").hint(format!("close it with `{quote}`"))
        }
        _ => match message.strip_prefix("cannot extend value of type ") {
            Some(rest) => closed(found, rest),
            None => other(&text[place.start.min(text.len())..], message, expected),
        },
    };
    error.at(place)
}

/// A text without quotes, or with those of a word processor.
fn unquoted(found: &str) -> Diagnostic {
    if let truth @ ("true" | "false") = found.to_ascii_lowercase().as_str() {
        return Diagnostic::new(format!("`{found}` is no value")).hint(format!("write `{truth}`"));
    }
    let meant = found.trim_matches(CURLY_QUOTES);
    let straight = if meant == found { "" } else { ", with straight quotes" };
    Diagnostic::new(UNQUOTED).hint(format!("write `{meant:?}`{straight}"))
}

/// A dotted key or a header that leads into what is closed.
fn closed(found: &str, rest: &str) -> Diagnostic {
    if rest.starts_with("inline table") {
        Diagnostic::new(format!("`{found}` stands in braces: no key can be added from outside"))
            .hint("write the key within the braces")
    } else {
        Diagnostic::new(format!("`{found}` is a value: there are no keys in it"))
            .hint("remove that value, or the key beneath it")
    }
}

/// What needs no other words; `rest` is the text from there on.
fn other(rest: &str, message: &str, expected: &str) -> Diagnostic {
    let line = rest.lines().next().unwrap_or_default();
    let hint = match message {
        "unclosed table" if line.contains(']') => Some("names have no spaces in them, and a dot between them"),
        "invalid unquoted key" if rest.starts_with(':') => Some("write `=` between a key and its value"),
        "unexpected key or value" if rest.starts_with("//") => Some("comments begin with `#`"),
        "unexpected key or value" if rest.starts_with([',', ';']) => Some("remove it: a setting ends with its line"),
        _ => HINTS.iter().find(|(known, _)| *known == message).map(|&(_, hint)| hint),
    };
    let error = Diagnostic::new(message).maybe_hint(hint.map(str::to_owned));
    // "expected nothing" is no news.
    if expected.is_empty() || expected == "nothing" { error } else { error.label(format!("expected {expected}")) }
}
