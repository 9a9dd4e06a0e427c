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
