//! The embedded font. Its licence stands beside it in `fonts/`.
//!
//! Text is set here and not by plotters, which cuts the place of every glyph to whole pixels and leaves out the blank
//! on its left: at these sizes words come apart.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, Glyph, ScaleFont, point};

const VALID: &str = "the embedded font is valid";
static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("fonts/Roboto-Regular-Latin.ttf")).expect(VALID));
static MEDIUM: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("fonts/Roboto-Medium-Latin.ttf")).expect(VALID));

/// A font size and weight of the charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Font {
    /// From the highest ascender to the lowest descender, in pixels.
    size: i32,
    medium: bool,
}

impl Font {
    /// Of the chart's title.
    pub const TITLE: Self = Self { size: 26, medium: true };
    /// Of panel titles.
    pub const HEADING: Self = Self { size: 18, medium: true };
    /// Of everything else.
    pub const BODY: Self = Self { size: 18, medium: false };

    /// How far below a point the baseline lies for capitals and digits to be centred on it: half their height, which is
    /// 1456 of the 2400 units of Roboto's size.
    pub const fn half_capital(self) -> i32 {
        self.size * 1_456 / 2_400 / 2
    }

    /// How many pixels wide a text is.
    pub fn width(self, text: &str) -> i32 {
        let font = self.face().as_scaled(self.size as f32);
        let width: f32 = text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum();
        width.ceil() as i32
    }

    /// The text, or as much of it as fits into `width` pixels with an ellipsis.
    pub fn shortened(self, text: &str, width: i32) -> String {
        let mut shown = text.to_owned();
        let mut kept = text.chars().count();
        while self.width(&shown) > width && kept > 0 {
            kept -= 1;
            shown = text.chars().take(kept).chain(['…']).collect();
        }
        shown
    }

    /// The text, or as much of its end as fits into `width` pixels after an ellipsis: the last part of a path is what
    /// it is about.
    pub fn ending(self, text: &str, width: i32) -> String {
        let mut shown = text.to_owned();
        let mut cut = 0;
        while self.width(&shown) > width && cut < text.chars().count() {
            cut += 1;
            shown = ['…'].into_iter().chain(text.chars().skip(cut)).collect();
        }
        shown
    }

    /// The text in lines of at most `width` pixels: cut at blanks and hyphens where there are such, and the last of
    /// `lines` shortened.
    pub fn wrapped(self, text: &str, width: i32, lines: usize) -> Vec<String> {
        let mut wrapped = Vec::new();
        let mut rest = text;
        while self.width(rest) > width && wrapped.len() + 1 < lines {
            let ends = rest.char_indices().map(|(start, letter)| start + letter.len_utf8());
            let fitting: Vec<_> = ends.take_while(|&end| self.width(rest[..end].trim_end()) <= width).collect();
            let soft = fitting.iter().rev().find(|&&end| rest[..end].ends_with([' ', '-', '_', '.', ',']));
            let Some(&end) = soft.or(fitting.last()) else { break };
            wrapped.push(rest[..end].trim_end().to_owned());
            rest = rest[end..].trim_start();
        }
        wrapped.push(self.shortened(rest, width));
        wrapped
    }

    /// Sets a line of text from the origin of its baseline on: `ink` is told every pixel and the share of it that is
    /// covered.
    pub fn set(self, text: &str, mut ink: impl FnMut(i32, i32, f32)) {
        let font = self.face().as_scaled(self.size as f32);
        let mut caret = 0.0;
        for letter in text.chars() {
            let mut glyph: Glyph = font.scaled_glyph(letter);
            glyph.position = point(caret, 0.0);
            caret += font.h_advance(glyph.id);
            if let Some(outline) = font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|x, y, share| ink(corner.x as i32 + x as i32, corner.y as i32 + y as i32, share));
            }
        }
    }

    fn face(self) -> &'static FontRef<'static> {
        if self.medium { &MEDIUM } else { &REGULAR }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_wide_ends_in_an_ellipsis_and_fits() {
        let name = "payments-ledger-of-the-european-region-2";
        let width = Font::BODY.width(name);
        assert_eq!(Font::BODY.shortened(name, width), name);
        let shortened = Font::BODY.shortened(name, width - 1);
        assert!(shortened.ends_with('…') && Font::BODY.width(&shortened) < width, "{shortened}");
    }

    #[test]
    fn a_path_that_is_too_wide_keeps_its_end() {
        let path = "clients.web.calls.gateway.retry.max_attempts";
        let width = Font::BODY.width(path);
        assert_eq!(Font::BODY.ending(path, width), path);
        let ending = Font::BODY.ending(path, width / 2);
        assert!(ending.starts_with('…') && ending.ends_with("max_attempts"), "{ending}");
        assert!(Font::BODY.width(&ending) <= width / 2, "{ending}");
        assert_eq!(Font::BODY.ending(path, 0), "…");
    }

    #[test]
    fn lines_are_cut_where_words_end_and_fit() {
        let wrapped = |text: &str, letters: &str, lines| Font::BODY.wrapped(text, Font::BODY.width(letters), lines);
        assert_eq!(wrapped("payments-ledger of Europe", "payments-ledger", 3), ["payments-ledger", "of Europe"]);
        assert_eq!(wrapped("payments-ledger of Europe", "payments-l", 3), ["payments-", "ledger of", "Europe"]);
        assert_eq!(wrapped("nnnnnn", "nnn", 3), ["nnn", "nnn"], "where there is no word, anywhere");
        assert_eq!(wrapped("one two", "one two", 3), ["one two"]);
        let last = &wrapped("one two three four", "threes", 2)[1];
        assert!(last.starts_with("two") || last.ends_with('…'), "{last}");
        assert_eq!(wrapped("one", "", 3), ["…"]);
    }

    /// Every letter that a chart may write has a glyph; id 0 is the box that stands for a missing one.
    #[test]
    fn the_font_has_every_sign_that_charts_use() {
        for letter in (' '..='~').chain("…±µ×".chars()) {
            for font in [Font::BODY, Font::HEADING] {
                assert_ne!(font.face().glyph_id(letter).0, 0, "{letter:?}");
            }
        }
    }
}
