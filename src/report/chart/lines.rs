//! The lines of a plot. Where several of them cover a pixel they take turns, as dashes, so that none hides another.

use std::ops::Range;

use plotters::style::RGBColor;

use super::canvas::{Area, Canvas};

/// How many lines a plot may have.
const LINES: usize = 8;
/// Pixels until the next line has its turn.
const DASH: usize = 6;
/// Half the thickness of a slanted line.
const HALF_STROKE: f64 = 1.0;

/// How much of a pixel each line covers, of 255.
type Cover = [u8; LINES];

/// Which lines cover which pixels of an area.
pub(super) struct Lines {
    area: Area,
    /// Row by row.
    cover: Vec<Cover>,
}

impl Lines {
    /// No line yet.
    pub fn within(area: Area) -> Self {
        Self { cover: vec![[0; LINES]; area.x.len() * area.y.len()], area }
    }

    /// Line number `line`, of at most 8, covers these pixels. Those outside of the area are left out.
    pub fn add(&mut self, line: usize, part: &Area) {
        self.add_shape(line, part, |_, _| 1.0);
    }

    /// It runs from one point to another, with smooth edges.
    pub fn add_stroke(&mut self, line: usize, from: (i32, i32), to: (i32, i32)) {
        let (run, rise) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length2 = run * run + rise * rise;
        let x = from.0.min(to.0) - 2..from.0.max(to.0) + 3;
        let y = from.1.min(to.1) - 2..from.1.max(to.1) + 3;
        self.add_shape(line, &Area { x, y }, |x, y| {
            let (dx, dy) = (f64::from(x - from.0), f64::from(y - from.1));
            let along = if length2 > 0.0 { ((dx * run + dy * rise) / length2).clamp(0.0, 1.0) } else { 0.0 };
            let (off_x, off_y) = (dx - along * run, dy - along * rise);
            HALF_STROKE + 0.5 - (off_x * off_x + off_y * off_y).sqrt()
        });
    }

    /// It has a disc around a point; open, with a hole in it, if it is not `filled`.
    pub fn add_disc(&mut self, line: usize, (x, y): (i32, i32), radius: i32, filled: bool) {
        let part = Area { x: x - radius - 1..x + radius + 2, y: y - radius - 1..y + radius + 2 };
        let radius = f64::from(radius);
        self.add_shape(line, &part, |at_x, at_y| {
            let (dx, dy) = (f64::from(at_x - x), f64::from(at_y - y));
            let distance = (dx * dx + dy * dy).sqrt();
            let disc = radius + 0.5 - distance;
            if filled { disc } else { disc.min(distance - (radius - 2.0)) }
        });
    }

    /// It covers so large a share of the pixels of this part; what is beyond 0 to 1 counts as these.
    fn add_shape(&mut self, line: usize, part: &Area, share: impl Fn(i32, i32) -> f64) {
        let width = self.area.x.len();
        for y in within(&part.y, &self.area.y) {
            for x in within(&part.x, &self.area.x) {
                let at = (y - self.area.y.start) as usize * width + (x - self.area.x.start) as usize;
                let cover = &mut self.cover[at][line];
                *cover = (*cover).max((share(x, y).clamp(0.0, 1.0) * 255.0).round() as u8);
            }
        }
    }

    /// Draws them, each in the colour of its number.
    pub fn draw(&self, canvas: &Canvas<'_>, colors: &[RGBColor]) {
        for (row, y) in self.cover.chunks(self.area.x.len()).zip(self.area.y.clone()) {
            let line_at = |x: usize| turn(&row[x], (x + y as usize) / DASH).map(|line| (line, row[x][line]));
            let mut start = 0;
            for end in 1..=row.len() {
                // Neighbours of one line are drawn together.
                if end < row.len() && line_at(end) == line_at(start) {
                    continue;
                }
                if let Some((line, cover)) = line_at(start) {
                    let x = self.area.x.start + start as i32..self.area.x.start + end as i32;
                    canvas.tint(&Area { x, y: y..y + 1 }, colors[line], f64::from(cover) / 255.0);
                }
                start = end;
            }
        }
    }
}

/// As much of a part as lies within the whole.
fn within(part: &Range<i32>, whole: &Range<i32>) -> Range<i32> {
    part.start.max(whole.start)..part.end.min(whole.end)
}

/// Which of the lines that cover the pixel has its turn, if any does. What only touches it beside others has none:
/// edges would be ragged.
fn turn(cover: &Cover, time: usize) -> Option<usize> {
    let most = cover.iter().copied().max().filter(|most| *most > 0)?;
    let has_turn = |line: &usize| cover[*line] >= most.div_ceil(2);
    let count = (0..LINES).filter(has_turn).count();
    (0..LINES).filter(has_turn).nth(time % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_line_has_every_turn_and_several_alternate() {
        let all = |lines: &[usize]| {
            let mut cover = [0; LINES];
            lines.iter().for_each(|line| cover[*line] = 255);
            cover
        };
        assert_eq!([0, 1, 2].map(|time| turn(&all(&[2]), time)), [Some(2); 3]);
        assert_eq!([0, 1, 2, 3].map(|time| turn(&all(&[1, 3]), time)), [Some(1), Some(3), Some(1), Some(3)]);
        assert_eq!(turn(&all(&[]), 5), None);
        assert_eq!([0, 1].map(|time| turn(&[255, 60, 0, 0, 0, 0, 0, 0], time)), [Some(0); 2], "it only touches");
    }

    /// Two pixels thick: the covered shares of a column, or of a row where it is steep, add up to that.
    #[test]
    fn slanted_lines_are_as_thick_as_level_ones() {
        for (from, to) in [((5, 20), (95, 20)), ((5, 20), (95, 25)), ((20, 5), (20, 95)), ((20, 5), (25, 95))] {
            let mut lines = Lines::within(Area { x: 0..100, y: 0..100 });
            lines.add_stroke(0, from, to);
            let at = |x: usize, y: usize| f64::from(lines.cover[y * 100 + x][0]) / 255.0;
            let across: f64 = (0..100).map(|i| if to.0 == 95 { at(50, i) } else { at(i, 50) }).sum();
            assert!((across - 2.0).abs() < 0.05, "{from:?} to {to:?}: {across}");
        }
    }

    #[test]
    fn an_open_disc_has_a_hole() {
        let mut lines = Lines::within(Area { x: 0..20, y: 0..20 });
        lines.add_disc(0, (10, 10), 5, false);
        let row = |x: usize| lines.cover[10 * 20 + x][0];
        assert_eq!([10, 12, 14, 17].map(row), [0, 0, 255, 0]);
    }
}
