//! A panel of a heat map, and the places of its parts, which are the same in all panels.

use std::ops::Range;

use super::canvas::{Align, Area, Canvas};
use super::color_scale::{ColorScale, KEY};
use super::font::Font;
use super::foot::Foot;
use super::heat_map::{Choice, Tile};
use super::setting::{GAP, Setting};
use super::{MARGIN, WIDTH, palette};
use crate::experiment::SweepSummary;
use crate::experiment::axis::Axis;
use crate::number::{self, INCOMPLETE, Style};

/// Blank columns between two panels.
const GUTTER: i32 = 36;
/// Rows that the name of the measure, that of the variant, and the title of the upward axis take.
const LINE: i32 = 26;
/// Rows above them.
const TOP: i32 = 14;
/// Larger cells would not be read more easily.
const CELL_MAX: (i32, i32) = (220, 64);
/// Rows of the cells of a panel that has the whole width, and the most of them where they are many.
const ROWS: usize = 560;
const ROWS_MAX: usize = 1_000;
/// The labels of the upward axis take at most so many columns.
const LABELS_MAX: i32 = 150;
/// Rows of a line of them, blank rows between two of them, and the most lines of each.
const LABEL: i32 = 20;
const LABEL_GAP: i32 = 4;
const LABEL_LINES: usize = 3;
/// Cells of so many pixels are set apart from each other.
const APART: i32 = 8;
/// In narrower cells nothing is written, in lower ones neither.
const WRITTEN_MIN: (i32, i32) = (26, 22);
/// Blank columns beside what is written, at least.
const PADDING: i32 = 6;
/// A key is not wider.
const KEY_MAX: i32 = 320;
/// Digits of the figures in cells: three if there is room for them.
const DIGITS: [i32; 2] = [3, 2];

/// The values of an axis on pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cells {
    /// How many values there are.
    all: usize,
    /// There is room for every so manieth of them.
    step: usize,
    /// Pixels of each.
    size: i32,
}

impl Cells {
    fn of(all: usize, pixels: usize, size_max: i32) -> Self {
        let step = all.div_ceil(pixels).max(1);
        Self { all, step, size: ((pixels / all.div_ceil(step).max(1)) as i32).min(size_max) }
    }

    fn pixels(self) -> i32 {
        self.all.div_ceil(self.step) as i32 * self.size
    }

    /// The values that are shown, with the pixels of each.
    fn shown(self) -> impl Iterator<Item = (usize, Range<i32>)> {
        let starts = (0..).step_by(self.size as usize);
        (0..self.all).step_by(self.step).zip(starts).map(move |(at, start)| (at, start..start + self.size))
    }

    fn middle(self, at: usize) -> i32 {
        (at / self.step) as i32 * self.size + self.size / 2
    }

    /// Pixels per value, shown or not.
    fn slot(self) -> f64 {
        f64::from(self.size) / self.step as f64
    }

    fn remark(self) -> String {
        if self.step > 1 { format!(", 1 of {} values shown", number::whole(self.step)) } else { String::new() }
    }
}

/// The places.
pub(super) struct Layout<'a> {
    up: Setting<'a>,
    right: Setting<'a>,
    columns: usize,
    /// Rows above the key of a panel.
    heading: i32,
    /// From the left of a panel to its cells.
    labels: i32,
    /// How many columns a panel has, with those of the labels.
    width: i32,
    rows: Cells,
    cells: Cells,
    up_labels: Vec<(usize, String)>,
    foot: Foot,
}

impl<'a> Layout<'a> {
    /// With so many panels beside each other, each of which says of which variant it is if there are several.
    pub fn of(up: &'a Axis, right: &'a Axis, columns: usize, variants: bool) -> Self {
        let (up, right) = (Setting::of(up), Setting::of(right));
        let width = (WIDTH as i32 - 2 * MARGIN + GUTTER) / columns as i32 - GUTTER;
        let rows = match columns {
            1 => up.len().clamp(ROWS, ROWS_MAX),
            _ => ROWS / columns + ROWS / 4,
        };
        let rows = Cells::of(up.len(), rows, CELL_MAX.1);
        let up_labels = up.above_each_other(rows.slot(), LABEL + LABEL_GAP);
        let widest = up_labels.iter().map(|(_, label)| Font::BODY.width(label)).max().unwrap_or(0);
        let labels = widest.min(LABELS_MAX).min(width / 3) + 10;
        let cells = Cells::of(right.len(), (width - labels) as usize, CELL_MAX.0);
        let named = right.beside_each_other(cells.slot());
        let room = named.get(1).map_or(f64::from(width - labels), |(second, _)| cells.slot() * *second as f64) as i32;
        let ticks: Vec<_> = named.into_iter().map(|(at, label)| (cells.middle(at), label)).collect();
        let title = Font::BODY.ending(&(right.title() + &cells.remark()), width - labels);
        let foot = Foot::of(0..cells.pixels(), ticks, room - GAP, title);
        let heading = TOP + if variants { 2 * LINE } else { LINE };
        Self { up, right, columns, heading, labels, width, rows, cells, up_labels, foot }
    }

    /// How many columns the key takes.
    pub fn key_columns(&self) -> i32 {
        (self.width - self.labels).min(KEY_MAX)
    }

    /// With how many digits figures can be written into cells, if they can. Where cells are too small, none is looked
    /// at.
    pub fn digits(&self, tiles: impl Iterator<Item = Tile> + Clone, style: Style) -> Option<i32> {
        let fits = |digits: &i32| {
            let fits = |tile| Font::BODY.width(&written(tile, style, *digits)) + PADDING <= self.cells.size;
            tiles.clone().all(fits)
        };
        let large = self.cells.size >= WRITTEN_MIN.0 && self.rows.size >= WRITTEN_MIN.1;
        DIGITS.into_iter().filter(|_| large).find(fits)
    }

    /// Rows above the cells of a panel.
    fn cells_top(&self) -> i32 {
        self.heading + KEY + LINE
    }

    /// Rows of a panel.
    fn panel_height(&self) -> i32 {
        self.cells_top() + self.rows.pixels() + self.foot.height()
    }

    /// Rows of so many panels.
    pub fn height(&self, panels: usize) -> i32 {
        panels.div_ceil(self.columns) as i32 * self.panel_height()
    }

    /// Draws the values of both axes at the cells whose lower left corner this is.
    fn draw_labels(&self, canvas: &Canvas<'_>, (left, bottom): (i32, i32)) {
        let step = self.up_labels.get(1).map_or(self.up.len(), |(second, _)| *second) as f64;
        let lines = ((self.rows.slot() * step) as usize / LABEL as usize).clamp(1, LABEL_LINES);
        for (at, label) in &self.up_labels {
            let lines = Font::BODY.wrapped(label, self.labels - 10, lines);
            let first =
                bottom - self.rows.middle(*at) + Font::BODY.half_capital() - (lines.len() as i32 - 1) * LABEL / 2;
            for (line, y) in lines.iter().zip((first..).step_by(LABEL as usize)) {
                canvas.text(line, Font::BODY, palette::QUIET, Align::Right, (left - 10, y));
            }
        }
        self.foot.draw_ticks(canvas, (left, bottom + 1));
        self.foot.draw_labels(canvas, (left, bottom));
    }

    /// The upper left corner of a panel, where the first begins in row `top`.
    pub fn corner(&self, number: usize, top: i32) -> (i32, i32) {
        let (column, row) = ((number % self.columns) as i32, (number / self.columns) as i32);
        (MARGIN + column * (self.width + GUTTER), top + row * self.panel_height())
    }
}

/// The grid in colours.
pub(super) struct Panel<'a> {
    /// What it shows.
    pub choice: Choice<'a>,
    /// The variant's name, if there are several.
    pub variant: Option<&'a str>,
    /// How figures are written.
    pub style: Style,
    /// Their colours; none where there is no figure.
    pub colors: Option<ColorScale>,
    /// How many digits of them stand in the cells; none where none do.
    pub digits: Option<i32>,
}

impl Panel<'_> {
    /// Draws it from this corner on.
    pub fn draw(&self, canvas: &Canvas<'_>, summary: &SweepSummary, layout: &Layout<'_>, (left, top): (i32, i32)) {
        let write = |text: &str, font: Font, baseline| {
            let text = font.ending(text, layout.width);
            canvas.text(&text, font, palette::TEXT, Align::Left, (left, top + baseline));
        };
        let heading = match self.colors.as_ref().map(|colors| colors.remark) {
            None => format!("{}: undefined everywhere", self.choice.measure),
            Some("") => self.choice.measure.to_string(),
            Some(remark) => format!("{} ({remark})", self.choice.measure),
        };
        write(&heading, Font::HEADING, TOP + LINE - 8);
        write(self.variant.unwrap_or(""), Font::BODY, TOP + 2 * LINE - 8);
        write(&(layout.up.title() + &layout.rows.remark()), Font::BODY, layout.cells_top() - 10);
        let (cells_left, cells_top) = (left + layout.labels, top + layout.cells_top());
        if let Some(colors) = &self.colors {
            colors.draw_key(canvas, (cells_left, top + layout.heading), layout.key_columns());
        }
        self.draw_cells(canvas, summary, layout, (cells_left, cells_top));
        layout.draw_labels(canvas, (cells_left, cells_top + layout.rows.pixels()));
    }

    fn draw_cells(&self, canvas: &Canvas<'_>, summary: &SweepSummary, layout: &Layout<'_>, (left, top): (i32, i32)) {
        let bottom = top + layout.rows.pixels();
        let frame = Area { x: left - 1..left + layout.cells.pixels() + 1, y: top - 1..bottom + 1 };
        canvas.fill(&frame, palette::MESH);
        // Between cells that are large enough the mesh is seen.
        let gap = if layout.rows.size.min(layout.cells.size) >= APART { 1 } else { 0 };
        for (row, y) in layout.rows.shown() {
            for (column, x) in layout.cells.shown() {
                let tile = self.choice.tile(summary, row * layout.right.len() + column);
                let area = Area { x: left + x.start..left + x.end - gap, y: bottom - y.end..bottom - y.start - gap };
                self.draw_cell(canvas, tile, &area);
            }
        }
    }

    fn draw_cell(&self, canvas: &Canvas<'_>, tile: Tile, area: &Area) {
        let (Tile::Figure { value, .. }, Some(colors)) = (tile, &self.colors) else {
            canvas.fill(area, palette::GROUND);
            if tile != Tile::Missing {
                canvas.hatch(area, palette::AXIS);
            }
            return;
        };
        let (color, text_color) = colors.colors(value);
        canvas.fill(area, color);
        if let Some(digits) = self.digits {
            let middle = (area.y.start + area.y.end) / 2 + Font::BODY.half_capital();
            let at = ((area.x.start + area.x.end) / 2, middle);
            canvas.text(&written(tile, self.style, digits), Font::BODY, text_color, Align::Middle, at);
        }
    }
}

/// What stands in a cell.
fn written(tile: Tile, style: Style, digits: i32) -> String {
    let Tile::Figure { value, complete } = tile else { return String::new() };
    let mut text = number::plain(value, style, digits);
    if !complete {
        text.push(INCOMPLETE);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many values there are, what is shown of them lies within the pixels, side by side, and begins with the
    /// first.
    #[test]
    fn values_share_the_pixels_evenly() {
        for all in [1, 2, 7, 100, 560, 561, 1_000, 1_000_000] {
            let cells = Cells::of(all, 560, 64);
            let shown: Vec<_> = cells.shown().collect();
            assert_eq!((shown[0].0, shown[0].1.start), (0, 0));
            assert_eq!(shown.last().map(|(_, pixels)| pixels.end), Some(cells.pixels()));
            assert!(cells.pixels() <= 560 && cells.size >= 1, "{all}: {cells:?}");
            assert!(shown.windows(2).all(|pair| pair[0].1.end == pair[1].1.start), "{all}");
            assert!(shown.iter().all(|(at, pixels)| pixels.contains(&cells.middle(*at))), "{all}");
        }
        assert_eq!(Cells::of(561, 560, 64).remark(), ", 1 of 2 values shown");
        assert_eq!(Cells::of(560, 560, 64).remark(), "");
    }
}
