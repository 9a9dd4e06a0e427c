//! Where texts come from: the file and each `--set`, laid end to end so that one range names a place in any of them.

use std::ops::Range;

/// A range of bytes in the texts of one [`Sources`].
pub type Place = Range<usize>;

/// The texts of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

/// One text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name under which messages show it: a path, or `--set`.
    pub name: String,
    /// What it says.
    pub text: String,
    start: usize,
}

impl Sources {
    /// Adds a text and returns its index and where its places start.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        // One byte apart, so that the empty place at the end of a text is not the start of the next.
        let start = self.list.last().map_or(0, |last| last.start + last.text.len() + 1);
        self.list.push(Source { name: name.to_owned(), text: text.to_owned(), start });
        start
    }

    /// The text that holds a place, and the place within that text, on character boundaries.
    pub fn find(&self, place: &Place) -> Option<(&Source, Range<usize>)> {
        let source = self.list.iter().rev().find(|source| source.start <= place.start)?;
        let is_boundary = |at: &usize| source.text.is_char_boundary(*at);
        let (start, end) = (place.start - source.start, place.end.saturating_sub(source.start));
        let len = source.text.len();
        let start = (0..=start.min(len)).rev().find(is_boundary)?;
        let end = (end.clamp(start, len)..=len).find(is_boundary)?;
        Some((source, start..end))
    }

    /// The number of the line on which a place begins, from 1, in its own text.
    pub fn line(&self, place: &Place) -> Option<usize> {
        let (source, range) = self.find(place)?;
        Some(line_of(&source.text, range.start))
    }
}

/// The number of the line that holds a byte, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_belongs_to_the_text_in_which_it_starts() {
        let mut sources = Sources::default();
        assert_eq!(sources.add("file", "one\ntwo"), 0);
        let second = sources.add("--set", "ü=1");
        assert_eq!(second, 8);
        let found = |place: Place| sources.find(&place).map(|(source, range)| (source.name.as_str(), range));
        assert_eq!(found(4..7), Some(("file", 4..7)));
        assert_eq!(found(7..7), Some(("file", 7..7)), "the end of the first text is not the second");
        assert_eq!(found(second..second + 1), Some(("--set", 0..2)), "no place ends within a character");
        assert_eq!(sources.line(&(4..7)), Some(2));
        assert_eq!(sources.line(&(second..second)), Some(1));
    }
}
