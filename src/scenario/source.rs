//! Where texts come from: the file and each `--set`, laid end to end so that one range names a place in any of them.

use std::ops::Range;

use crate::experiment::Position;

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
    lines: Lines,
}

impl Source {
    /// The whole lines that hold a range of the text: the number of the first, from 1, and where they are.
    pub fn lines(&self, range: &Range<usize>) -> (usize, Range<usize>) {
        let (first, last) = (self.lines.number(range.start), self.lines.number(range.end));
        let end = self.lines.starts.get(last).copied().unwrap_or(self.text.len());
        (first, self.lines.starts[first - 1]..end)
    }
}

/// Where the lines of a text begin, so that finding the line of a place does not take a walk through the text.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of a text, at least one.
    pub fn of(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The number of the line that holds a byte, from 1.
    pub fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }
}

impl Sources {
    /// Adds a text and returns its index and where its places start.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        // One byte apart, so that the empty place at the end of a text is not the start of the next.
        let start = self.list.last().map_or(0, |last| last.start + last.text.len() + 1);
        self.list.push(Source { name: name.to_owned(), text: text.to_owned(), start, lines: Lines::of(text) });
        start
    }

    /// The scenario file, which is added first; none if it could not be read.
    pub fn file(&self) -> Option<&Source> {
        self.list.first()
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

    /// The line and the character at which a place begins, both from 1, in its own text.
    pub fn position(&self, place: &Place) -> Option<Position> {
        let (source, range) = self.find(place)?;
        let (line, lines) = source.lines(&(range.start..range.start));
        Some(Position { line, column: source.text[lines.start..range.start].chars().count() + 1 })
    }

    /// The number of the line on which a place begins, from 1, in its own text.
    pub fn line(&self, place: &Place) -> Option<usize> {
        let (source, range) = self.find(place)?;
        Some(source.lines.number(range.start))
    }
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
        assert_eq!(sources.position(&(6..7)), Some(Position { line: 2, column: 3 }));
        let after_umlaut = second + 2..second + 3;
        assert_eq!(sources.position(&after_umlaut), Some(Position { line: 1, column: 2 }), "a character is a column");
        assert_eq!(sources.line(&(second..second)), Some(1));
    }

    #[test]
    fn lines_are_whole_and_counted_from_one() {
        let mut sources = Sources::default();
        sources.add("file", "one\ntwo\n\nfour");
        let lines = |range| sources.file().unwrap().lines(&range);
        assert_eq!(lines(5..6), (2, 4..8), "with the break that ends the line");
        assert_eq!(lines(3..3), (1, 0..4), "a break belongs to the line that it ends");
        assert_eq!(lines(8..8), (3, 8..9), "an empty line");
        assert_eq!(lines(1..13), (1, 0..13), "the last line ends with the text");
        assert_eq!(lines(13..13), (4, 9..13), "the end of the text is in its last line");
    }
}
