//! A chart that has nothing to show: its head, and a sentence that says why.

use super::canvas::{self, Align};
use super::font::Font;
use super::head::Head;
use super::{MARGIN, WIDTH, palette};

/// Rows below the head.
const HEIGHT: i32 = 120;

/// A chart with this sentence in the place of its figures.
pub(super) fn chart(head: &Head, sentence: &str) -> Vec<u8> {
    canvas::png((WIDTH, (head.height() + HEIGHT) as u32), |canvas| {
        head.draw(canvas);
        let at = (MARGIN, head.height() + HEIGHT / 2);
        canvas.text(sentence, Font::HEADING, palette::TEXT, Align::Left, at);
    })
}
