//! A setting that varies, and how its values are written along an axis.

use super::font::Font;
use super::ticks;
use crate::experiment::axis::{Axis, Quantity};
use crate::scenario::duration;

/// With fewer pixels a text says nothing.
const TEXT_MIN: i32 = 64;
/// Blank between two labels.
pub(super) const GAP: i32 = 12;

/// The setting.
pub(super) struct Setting<'a> {
    axis: &'a Axis,
    /// Its values in `unit`, if all of them are numbers, or times.
    pub figures: Option<Vec<f64>>,
    /// The unit of times, as scenario files have it; empty else.
    unit: &'a str,
}

impl<'a> Setting<'a> {
    /// The one that this axis varies.
    pub fn of(axis: &'a Axis) -> Self {
        match axis.figures() {
            Some((Quantity::Seconds, seconds)) => {
                let unit = unit_of_longest(&axis.values, &seconds);
                let per_second = 1e9 / duration::nanoseconds(unit).unwrap_or(1_000_000_000) as f64;
                Self { axis, figures: Some(seconds.iter().map(|second| second * per_second).collect()), unit }
            }
            Some((Quantity::Number, figures)) => Self { axis, figures: Some(figures), unit: "" },
            None => Self { axis, figures: None, unit: "" },
        }
    }

    /// How many values it has.
    pub fn len(&self) -> usize {
        self.axis.values.len()
    }

    /// Its path, and the unit of the labels.
    pub fn title(&self) -> String {
        title(&self.axis.path, self.unit)
    }

    /// Which values have a label where each of them has `slot` pixels: all, or every second, fifth, tenth, and so on,
    /// for the labels to fit beside each other. Texts can be set in several lines.
    pub fn beside_each_other(&self, slot: f64) -> Vec<(usize, String)> {
        self.thinned(slot, |labels, room| {
            let widest = labels.iter().map(|(_, label)| Font::BODY.width(label)).max().unwrap_or(0);
            let needed = if self.figures.is_some() { widest } else { widest.min(TEXT_MIN) };
            f64::from(needed + GAP) <= room
        })
    }

    /// The same for labels one above the other that are `height` pixels high.
    pub fn above_each_other(&self, slot: f64, height: i32) -> Vec<(usize, String)> {
        self.thinned(slot, |_, room| f64::from(height) <= room)
    }

    fn thinned(&self, slot: f64, fit: impl Fn(&[(usize, String)], f64) -> bool) -> Vec<(usize, String)> {
        let mut step = 1;
        loop {
            // So narrow is no label: nothing needs to be written to know that these do not fit.
            if step as f64 * slot >= f64::from(GAP) || step >= self.len() {
                let labels = self.labels(&(0..self.len()).step_by(step).collect::<Vec<_>>());
                if labels.len() <= 1 || fit(&labels, step as f64 * slot) {
                    return labels;
                }
            }
            step = ticks::round_up(step as f64 + 1.0) as usize;
        }
    }

    /// The values at these positions, as they are written.
    fn labels(&self, positions: &[usize]) -> Vec<(usize, String)> {
        let labels = match &self.figures {
            Some(figures) => ticks::labels(&positions.iter().map(|&at| figures[at]).collect::<Vec<_>>()),
            None => positions.iter().map(|&at| self.axis.values[at].trim_matches(['"', '\'']).to_owned()).collect(),
        };
        positions.iter().copied().zip(labels).collect()
    }
}

/// A path with the unit of its values.
pub(super) fn title(path: &str, unit: &str) -> String {
    if unit.is_empty() { path.to_owned() } else { format!("{path} ({unit})") }
}

/// The unit in which the longest of these times is written.
fn unit_of_longest<'a>(values: &'a [String], seconds: &[f64]) -> &'a str {
    let longest = values.iter().zip(seconds).max_by(|(_, a), (_, b)| a.total_cmp(b));
    longest.map_or("s", |(value, _)| {
        value.trim_matches('"').trim().trim_start_matches(|letter: char| !letter.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &str, slot: f64) -> Vec<String> {
        let axis = Axis::parse(axis).unwrap();
        Setting::of(&axis).beside_each_other(slot).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_thinned_until_they_fit() {
        assert_eq!(labels("a=10..100/10", 60.0).len(), 10);
        assert_eq!(labels("a=10..100/10", 30.0), ["10", "30", "50", "70", "90"]);
        assert_eq!(
            labels("a=1..100000/100000", 0.01),
            ["1", "10,001", "20,001", "30,001", "40,001", "50,001", "60,001", "70,001", "80,001", "90,001"]
        );
        assert_eq!(labels("a=none,full,equal", 1.0), ["none"]);
    }

    /// A text of any length can be set in lines of some width; a number has to stay whole.
    #[test]
    fn long_texts_do_not_thin_out_each_other() {
        let long = "payments-ledger-of-the-european-region";
        assert_eq!(labels(&format!("a={long},{long}-2"), 110.0).len(), 2);
        assert_eq!(labels("a=100000000000000,200000000000000", 110.0).len(), 1);
    }

    #[test]
    fn times_have_the_unit_of_the_longest() {
        let axis = Axis::parse("services.db.timeout=500ms,1s,2.5s").unwrap();
        let setting = Setting::of(&axis);
        assert_eq!(setting.figures, Some(vec![0.5, 1.0, 2.5]));
        assert_eq!(setting.title(), "services.db.timeout (s)");
    }
}
