//! Slips of punctuation that the parser notices late, or takes for something else: a bracket that is left open, and a
//! decimal comma. Both show in the tokens of a text, whatever these mean.

use std::iter::Peekable;

use toml_parser::Source;
use toml_parser::lexer::{Lexer, Token, TokenKind};

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::number;
use crate::scenario::source::Place;

/// The first bracket of a value that nothing closes, with those that are open within it on the same line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOpen {
    /// Where it is.
    pub place: Place,
    /// What is missing, such as `} }`.
    pub closers: String,
}

/// A bracket that is open, by its kind and place.
type Open = (TokenKind, Place);

/// Looks for a bracket that is left open. The brackets of headers are none of a value.
pub fn left_open(text: &str) -> Option<LeftOpen> {
    let mut tokens = Source::new(text).lex().peekable();
    let mut open: Vec<Open> = Vec::new();
    let mut left: Vec<Open> = Vec::new();
    let mut starts_line = true;
    while let Some(token) = tokens.next() {
        match token.kind() {
            TokenKind::LeftSquareBracket if starts_line && open.is_empty() => skip_line(&mut tokens),
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => open.push((token.kind(), place(token))),
            TokenKind::RightSquareBracket => close(&mut open, TokenKind::LeftSquareBracket, &mut left),
            TokenKind::RightCurlyBracket => close(&mut open, TokenKind::LeftCurlyBracket, &mut left),
            _ => {}
        }
        starts_line = token.kind() == TokenKind::Newline || starts_line && token.kind() == TokenKind::Whitespace;
    }
    left.extend(open);
    left.sort_by_key(|(_, place)| place.start);
    let (_, place) = left.first()?.clone();
    let line = text[place.start..].lines().next().unwrap_or_default().len();
    let of_line = left.iter().filter(|(_, other)| other.start < place.start + line).rev();
    let closers = of_line.map(|&(kind, _)| if kind == TokenKind::LeftCurlyBracket { "}" } else { "]" });
    let closers = closers.collect::<Vec<_>>().join(" ");
    Some(LeftOpen { place, closers })
}

/// Goes on to the end of the line, which is left to be read.
fn skip_line(tokens: &mut Peekable<Lexer<'_>>) {
    while tokens.next_if(|token| token.kind() != TokenKind::Newline).is_some() {}
}

/// Closes the last bracket of this kind. What is open within it is left so; if there is none, nothing is closed.
fn close(open: &mut Vec<Open>, kind: TokenKind, left: &mut Vec<Open>) {
    if let Some(at) = open.iter().rposition(|&(other, _)| other == kind) {
        left.extend(open.drain(at + 1..));
        open.pop();
    }
}

/// The first number with a decimal comma that is a value of a key, in a text that starts at `start`.
pub fn decimal_comma(text: &str, start: usize) -> Option<Diagnostic> {
    let tokens: Vec<Token> = Source::new(text).lex().filter(|token| token.kind() != TokenKind::Whitespace).collect();
    tokens.windows(4).find_map(|window| {
        let [equals, whole, comma, fraction] = window else { return None };
        let kinds = [equals, whole, comma, fraction].map(Token::kind);
        if kinds != [TokenKind::Equals, TokenKind::Atom, TokenKind::Comma, TokenKind::Atom] {
            return None;
        }
        let (from, until) = (whole.span().start(), fraction.span().end());
        let number = &text[from..until];
        let readings = number::readings(number);
        let error = Diagnostic::new(format!("`{number}` has a comma in it")).at(&(start + from..start + until));
        (!readings.is_empty()).then(|| error.hint(format!("write {}", number::either(&readings))))
    })
}

fn place(token: Token) -> Place {
    token.span().start()..token.span().end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> Option<(&str, String)> {
        left_open(text).map(|LeftOpen { place, closers }| (&text[place.start..], closers))
    }

    #[test]
    fn the_first_bracket_that_nothing_closes_is_found() {
        let cases = [
            ("a = { b = { c = 1 }\n[d]\ne = {}\n", "{ b = { c = 1 }\n[d]\ne = {}\n", "}"),
            ("a = { b = [ 1\n[d]\n", "{ b = [ 1\n[d]\n", "] }"),
            ("a = { b = [ 1 }\nc = 2\n", "[ 1 }\nc = 2\n", "]"),
            ("a = [\n  [1, 2],\n  [3, 4\n]\n", "[\n  [1, 2],\n  [3, 4\n]\n", "]"),
        ];
        for (text, from, closers) in cases {
            assert_eq!(left(text), Some((from, closers.to_owned())), "{text}");
        }
    }

    /// What looks like a bracket and is none, and headers, which the parser answers well.
    #[test]
    fn strings_comments_and_headers_open_nothing() {
        for text in
            ["a = \"{\"", "a = '['", "a = 1 # {", "[a\nb = 1", "[[a]\nb = 1", " [a\n", "a = [{ b = 1 }]", "a = 1 }"]
        {
            assert_eq!(left(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_of_numbers_has_no_decimal_comma() {
        for text in ["a = [0,5]", "a = { b = 1, c = 2 }", "a = { b = x,5 }", "a = '0,5'", "# a = 0,5", "a = 0, 5"] {
            assert_eq!(decimal_comma(text, 0).map(|error| error.message().to_owned()), None, "{text}");
        }
        let found = decimal_comma("a = { b = { c = 0,5 } }", 100).expect("there is one");
        assert_eq!(found.place(), Some(&(116..119)));
    }
}
