//! What a rule is about, in Markdown: a section of the reference page, and what `--explain` prints.

use std::fmt::Write as _;

use crate::analysis::lint::Rule;
use crate::wrap::{sentence, words};

/// The width for which the lines of an example's messages are laid out.
const EXAMPLE_WIDTH: usize = 100;

/// A rule explained, with paragraphs of `width` columns.
pub fn explanation(rule: &Rule, width: usize) -> String {
    let paragraph = |text: &str| words(sentence(text), ["", ""], width);
    let mut section = format!("## {}\n\n", rule.id);
    section += &paragraph(&format!("**{}.** {}", capitalised(rule.severity.name()), rule.finds));
    section.push('\n');
    section += &paragraph(rule.why);
    let _ = write!(section, "\n```{}\n{}```\n\n", rule.example_language(), rule.example.bad.trim_start());
    let _ = write!(section, "```text\n{}\n```\n\n", says(rule));
    section +=
        &paragraph(&format!("**Instead:** {}{}", rule.instead, if rule.example.good.is_empty() { "." } else { ":" }));
    if !rule.example.good.is_empty() {
        let good: Vec<String> = rule.example.good.iter().map(|setting| spaced(setting)).collect();
        let _ = write!(section, "\n```toml\n{}\n```\n", good.join("\n"));
    }
    section
}

/// What the rule says of its example.
fn says(rule: &Rule) -> String {
    let messages = match rule.linted_example(&[]) {
        Ok(linted) => linted.messages_of(rule),
        Err(wrong) => wrong,
    };
    messages.render(false, EXAMPLE_WIDTH)
}

/// `a.b=1` as it stands in a file: `a.b = 1`.
fn spaced(setting: &str) -> String {
    setting.split_once('=').map_or_else(|| setting.to_owned(), |(path, value)| format!("{path} = {value}"))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
