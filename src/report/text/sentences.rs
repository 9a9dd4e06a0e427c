//! Sentences about variants, each of them once, with the names of all that it is true of.

use indexmap::IndexMap;

use crate::wrap;

/// A space at which no line ends; it is shown as any other.
pub(super) const NO_BREAK: &str = "\u{a0}";

/// What is said, in the order in which it was first said, and of whom.
#[derive(Default)]
pub(super) struct Sentences(IndexMap<String, Vec<String>>);

impl Sentences {
    /// Says something of somebody, whose name comes as it is to be shown.
    pub fn add(&mut self, subject: String, sentence: String) {
        self.0.entry(sentence).or_default().push(subject);
    }

    /// At most `shown` of them, each from a line of its own on, and what `rest` says of the number of subjects whose
    /// sentence is not among them. The names come before the sentence if they are needed.
    pub fn render(self, named: bool, shown: usize, rest: impl Fn(usize) -> String, width: usize) -> String {
        let hidden: usize = self.0.values().skip(shown).map(Vec::len).sum();
        let line = |(sentence, subjects): (String, Vec<String>)| match named {
            true => format!("{}: {sentence}", subjects.join(", ")),
            false => sentence,
        };
        let rest = (hidden > 0).then(|| rest(hidden));
        let lines = self.0.into_iter().take(shown).map(line).chain(rest);
        let text: String = lines.map(|line| wrap::words(line.split(' '), [" ", "   "], width)).collect();
        text.replace(NO_BREAK, " ")
    }
}
