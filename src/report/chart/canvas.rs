//! A ground to draw on: filled boxes and text, in pixels, and PNG bytes at the end.
//!
//! Drawing into memory with an embedded font cannot fail for any reason that a caller could mend, so errors are bugs
//! and panic.

use std::ops::Range;

use plotters::backend::BitMapBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::Rectangle;
use plotters::style::{Color, RGBColor};

use super::font::Font;
use super::palette;

/// Pixels from one stroke of a hatch to the next.
const HATCH: i32 = 6;
const DRAWS: &str = "drawing into memory does not fail";
const ENCODES: &str = "a PNG of a buffer of its size can be written to memory";

/// A box of pixels, from the top left corner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// Columns.
    pub x: Range<i32>,
    /// Rows.
    pub y: Range<i32>,
}

/// Which point of a text is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Its left end.
    Left,
    /// Its middle.
    Middle,
    /// Its right end.
    Right,
}

/// What a chart is drawn on.
pub(super) struct Canvas<'a> {
    area: DrawingArea<BitMapBackend<'a>, Shift>,
}

/// Lets `draw` fill a ground of this size, and encodes it.
pub(super) fn png(size: (u32, u32), draw: impl FnOnce(&Canvas<'_>)) -> Vec<u8> {
    let mut pixels = vec![0; (size.0 * size.1 * 3) as usize];
    {
        let canvas = Canvas { area: BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area() };
        canvas.area.fill(&palette::GROUND).expect(DRAWS);
        draw(&canvas);
        canvas.area.present().expect(DRAWS);
    }
    encode(size, &pixels)
}

fn encode((width, height): (u32, u32), pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect(ENCODES);
    writer.write_image_data(pixels).expect(ENCODES);
    writer.finish().expect(ENCODES);
    bytes
}

impl Canvas<'_> {
    /// Fills a box; nothing of an empty one.
    pub fn fill(&self, area: &Area, color: RGBColor) {
        if area.x.is_empty() || area.y.is_empty() {
            return;
        }
        // A filled rectangle of plotters' bitmaps ends before its second corner.
        let corners = [(area.x.start, area.y.start), (area.x.end, area.y.end)];
        self.area.draw(&Rectangle::new(corners, color.filled())).expect(DRAWS);
    }

    /// Mixes so large a share of a colour into a box; what is there shines through.
    pub fn tint(&self, area: &Area, color: RGBColor, share: f64) {
        if area.x.is_empty() || area.y.is_empty() {
            return;
        }
        let corners = [(area.x.start, area.y.start), (area.x.end, area.y.end)];
        self.area.draw(&Rectangle::new(corners, color.mix(share).filled())).expect(DRAWS);
    }

    /// Fills a box with diagonal strokes, which meet those of the boxes beside it.
    pub fn hatch(&self, area: &Area, color: RGBColor) {
        for (x, y) in area.y.clone().flat_map(|y| area.x.clone().map(move |x| (x, y))) {
            if (x + y).rem_euclid(HATCH) < HATCH / 3 {
                self.area.draw_pixel((x, y), &color).expect(DRAWS);
            }
        }
    }

    /// Fills a circle, with smooth edges.
    pub fn disc(&self, (x, y): (i32, i32), radius: i32, color: RGBColor) {
        for dy in -radius - 1..=radius + 1 {
            for dx in -radius - 1..=radius + 1 {
                let distance = f64::from(dx * dx + dy * dy).sqrt();
                let share = (f64::from(radius) + 0.5 - distance).clamp(0.0, 1.0);
                self.area.draw_pixel((x + dx, y + dy), &color.mix(share)).expect(DRAWS);
            }
        }
    }

    /// Writes a line of text with its baseline at `y`.
    pub fn text(&self, text: &str, font: Font, color: RGBColor, align: Align, (x, y): (i32, i32)) {
        let left = match align {
            Align::Left => x,
            Align::Middle => x - font.width(text) / 2,
            Align::Right => x - font.width(text),
        };
        font.set(text, |dx, dy, share| {
            self.area.draw_pixel((left + dx, y + dy), &color.mix(f64::from(share))).expect(DRAWS);
        });
    }
}
