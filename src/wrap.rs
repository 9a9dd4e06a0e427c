//! Sentences and lists that are broken at the width of the page.

/// Sets words in lines of at most `width` characters; a word that is longer has a line of its own and is never cut. The
/// first line begins with `first`, the others with `rest`; each ends with a newline. No words make no line.
pub(crate) fn words<'a>(words: impl IntoIterator<Item = &'a str>, [first, rest]: [&str; 2], width: usize) -> String {
    let mut text = String::new();
    let mut taken = 0;
    for word in words {
        let length = word.chars().count();
        if text.is_empty() {
            text += first;
            taken = first.chars().count() + length;
        } else if taken + 1 + length > width {
            text.push('\n');
            text += rest;
            taken = rest.chars().count() + length;
        } else {
            text.push(' ');
            taken += 1 + length;
        }
        text += word;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// The units that stay with their number.
const UNITS: [&str; 8] = ["ns", "µs", "ms", "s", "min", "h", "d", "%"];

/// What stays between its numbers.
const OPERATORS: [&str; 2] = ["x", "="];

/// The words of a text, for [`words`]: what stands in back-ticks is one, so that it can be copied, and so is a number with
/// its unit, or with others: `3 x 3 = 9`.
pub(crate) fn sentence(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.match_indices(' ').map(|(at, _)| at).find(|&at| is_gap(&text[..at], &text[at + 1..]));
        rest = end.map(|end| &text[end + 1..]);
        Some(end.map_or(text, |end| &text[..end]))
    })
}

/// Whether a line may end between the beginning of a text and what follows.
fn is_gap(before: &str, after: &str) -> bool {
    let is_quoted = before.matches('`').count() % 2 == 1 && after.contains('`');
    let next = after.split(|c: char| !c.is_alphabetic() && c != '%').next().unwrap_or_default();
    let is_quantity = before.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&next);
    let last = before.rsplit(' ').next().unwrap_or_default();
    let is_sum =
        OPERATORS.contains(&last) || OPERATORS.iter().any(|operator| after.starts_with(&format!("{operator} ")));
    !is_quoted && !is_quantity && !is_sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_up_to_the_width_and_words_stay_whole() {
        let text = |width| words("aa bb µµ dd".split(' '), [" ", "   "], width);
        assert_eq!(text(12), " aa bb µµ dd\n", "a character is a column, however many bytes it has");
        assert_eq!(text(11), " aa bb µµ\n   dd\n");
        assert_eq!(text(1), " aa\n   bb\n   µµ\n   dd\n");
        assert_eq!(words([], [" ", " "], 80), "");
    }

    #[test]
    fn a_number_keeps_its_unit() {
        let words: Vec<&str> = sentence("up to 101 ms, of 5 % and 3 seconds (4.6 min) 7").collect();
        assert_eq!(words, ["up", "to", "101 ms,", "of", "5 %", "and", "3", "seconds", "(4.6 min)", "7"]);
        assert_eq!(sentence("of 3 x 3 = 9 in").collect::<Vec<_>>(), ["of", "3 x 3 = 9", "in"]);
    }

    #[test]
    fn what_is_quoted_is_one_word() {
        let words: Vec<&str> = sentence("write `a = 1`, or `b`").collect();
        assert_eq!(words, ["write", "`a = 1`,", "or", "`b`"]);
        assert_eq!(sentence("an `open one").collect::<Vec<_>>(), ["an", "`open", "one"], "nothing is quoted");
        assert_eq!(sentence("").collect::<Vec<_>>(), [""]);
    }
}
