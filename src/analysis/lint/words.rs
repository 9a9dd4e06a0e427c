//! Figures as they stand in messages.

use crate::number::{Style, plain};
use crate::time::Span;

/// "1,000", "26.7".
pub fn count(value: f64) -> String {
    plain(value, Style::Count, 3)
}

/// "250 ms", "30 s".
pub fn time(span: Span) -> String {
    seconds(span.as_s())
}

/// The same of seconds.
pub fn seconds(value: f64) -> String {
    plain(value, Style::Seconds, 4)
}

/// "99.9 %".
pub fn share(value: f64) -> String {
    plain(value, Style::Share, 3)
}

/// "3 attempts", "1 attempt", "unlimited attempts".
pub fn attempts(max: u32) -> String {
    match max {
        u32::MAX => "unlimited attempts".to_owned(),
        1 => "1 attempt".to_owned(),
        max => format!("{} attempts", count(f64::from(max))),
    }
}

/// Names in back-ticks, with commas.
pub fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The first three of these names, and how many more there are.
pub fn first_names(names: &[&str]) -> String {
    match names.len() {
        ..=3 => self::names(names.iter().copied()),
        all => format!("{} and {} more", self::names(names[..3].iter().copied()), count((all - 3) as f64)),
    }
}
