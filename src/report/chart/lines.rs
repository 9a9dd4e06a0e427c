//! The lines of a plot. Where several of them cover a pixel they take turns, as dashes, so that none hides another.

use std::ops::Range;

use plotters::style::RGBColor;

use super::canvas::{Area, Canvas};

/// Pixels until the next line has its turn.
const DASH: usize = 6;

/// Which lines cover which pixels of an area.
pub(super) struct Lines {
    area: Area,
    /// A bit per line, row by row.
    cover: Vec<u8>,
}

impl Lines {
    /// No line yet.
    pub fn within(area: Area) -> Self {
        Self { cover: vec![0; area.x.len() * area.y.len()], area }
    }

    /// Line number `line`, of at most 8, covers these pixels. Those outside of the area are left out.
    pub fn add(&mut self, line: usize, part: &Area) {
        let clip = |part: &Range<i32>, whole: &Range<i32>| {
            let within = |end: i32| (end.clamp(whole.start, whole.end) - whole.start) as usize;
            within(part.start)..within(part.end)
        };
        for y in clip(&part.y, &self.area.y) {
            for x in clip(&part.x, &self.area.x) {
                self.cover[y * self.area.x.len() + x] |= 1 << line;
            }
        }
    }

    /// Draws them, each in the colour of its number.
    pub fn draw(&self, canvas: &Canvas<'_>, colors: &[RGBColor]) {
        for (row, y) in self.cover.chunks(self.area.x.len()).zip(self.area.y.clone()) {
            let line_at = |x: usize| turn(row[x], (x + y as usize) / DASH);
            let mut start = 0;
            for end in 1..=row.len() {
                // Neighbours of one line are drawn together.
                if end < row.len() && line_at(end) == line_at(start) {
                    continue;
                }
                if let Some(line) = line_at(start) {
                    let x = self.area.x.start + start as i32..self.area.x.start + end as i32;
                    canvas.fill(&Area { x, y: y..y + 1 }, colors[line]);
                }
                start = end;
            }
        }
    }
}

/// Which of the lines in the set has its turn; none of an empty set.
fn turn(cover: u8, time: usize) -> Option<usize> {
    let lines = (0..8).filter(|line| cover >> line & 1 == 1);
    lines.cycle().nth(time % cover.count_ones().max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_line_has_every_turn_and_several_alternate() {
        assert_eq!([0, 1, 2].map(|time| turn(0b100, time)), [Some(2); 3]);
        assert_eq!([0, 1, 2, 3].map(|time| turn(0b1010, time)), [Some(1), Some(3), Some(1), Some(3)]);
        assert_eq!(turn(0, 5), None);
    }
}
