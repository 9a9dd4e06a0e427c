//! Texts that went wrong.

use std::path::Path;

use proptest::prelude::*;
use stormsim::scenario::{Overrides, Scenario};

use crate::faults::EVERYTHING;
use crate::{THREE_TIER, set};

/// One slip of an editor: a piece deleted, doubled, or written over.
fn mutate(text: &str, kind: u8, at: usize, len: usize, with: &str) -> String {
    let boundary = |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap();
    let start = boundary(at % text.len());
    let end = boundary((start + len).min(text.len())).max(start);
    let (before, piece, after) = (&text[..start], &text[start..end], &text[end..]);
    match kind {
        0 => format!("{before}{after}"),
        1 => format!("{before}{piece}{piece}{after}"),
        _ => format!("{before}{with}{after}"),
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

proptest! {
    /// No text makes the reader panic, and every error is shown: a message that cannot be rendered would panic too.
    #[test]
    fn no_mutation_of_a_scenario_panics(
        slips in prop::collection::vec((0u8..3, any::<usize>(), 0usize..40, "[\\[\\]{}=\"'.#\\na-z0-9ü-]{0,6}"), 1..4),
        good in prop::sample::select(vec![THREE_TIER, EVERYTHING]),
        flag in "[a-z.]{0,12}=?[\\[{\"a-z0-9.-]{0,8}",
    ) {
        let text = slips.iter().fold(good.to_owned(), |text, (kind, at, len, with)| {
            if text.is_empty() { text } else { mutate(&text, *kind, *at, *len, with) }
        });
        for overrides in [Overrides::default(), set(&[&flag])] {
            if let Err(errors) = Scenario::parse("test.toml", &text, Path::new(""), &overrides) {
                prop_assert!(errors.iter().len() > 0);
                // Without blanks, for a long message is wrapped, between words or after a hyphen.
                let shown = without_blanks(&errors.to_string());
                for error in errors.iter() {
                    let first_line = error.message().lines().next().unwrap_or_default();
                    prop_assert!(shown.contains(&without_blanks(first_line)), "{first_line:?} is not in:\n{errors}");
                }
            }
        }
    }
}
