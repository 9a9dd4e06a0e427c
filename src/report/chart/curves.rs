//! A panel of curves: figures against a setting, a line with dots per variant, with the intervals behind them.

use plotters::style::RGBColor;

use super::canvas::{Area, Canvas};
use super::lines::Lines;
use super::scale::Scale;
use crate::experiment::{Measure, Stat, Statistic};

/// Of the dot at a figure.
pub(super) const DOT_RADIUS: i32 = 4;
/// Closer dots would hide their line.
const DOT_DISTANCE: usize = 12;
/// Half the width of the caps of an interval.
const CAP: i32 = 4;
const STROKE: i32 = 2;
/// How dark bands are.
const BAND: f64 = 0.16;

/// A figure of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    /// Its column.
    pub x: i32,
    /// The figure.
    pub value: f64,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// Whether it is defined in all replicas.
    pub complete: bool,
}

impl Spot {
    /// What was measured over so many replicas; none where it is undefined. Only means have intervals.
    pub fn of(x: i32, measure: &Measure, stat: &Stat, replicas: u32) -> Option<Self> {
        let value = measure.statistic.of(stat).filter(|value| value.is_finite())?;
        let interval = stat.ci95.filter(|[low, high]| measure.statistic == Statistic::Mean && low < high);
        Some(Self { x, value, interval, complete: stat.n >= replicas })
    }
}

/// The figures of a variant from left to right.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    color: RGBColor,
    /// Neighbours, which a line joins.
    runs: Vec<Vec<Spot>>,
    /// How dense the spots are.
    dots: bool,
}

impl Curve {
    /// A line through these spots, which are spread over so many columns; none where there is no figure, and so a gap.
    pub fn joined(color: RGBColor, spots: impl IntoIterator<Item = Option<Spot>>, columns: usize) -> Self {
        let spots: Vec<_> = spots.into_iter().collect();
        let dots = spots.len() * DOT_DISTANCE <= columns;
        let runs = spots.split(Option::is_none).map(|run| gathered(run.iter().flatten().copied()));
        Self { color, runs: runs.filter(|run| !run.is_empty()).collect(), dots }
    }

    /// Spots between which there is nothing.
    pub fn apart(color: RGBColor, spots: impl IntoIterator<Item = Spot>) -> Self {
        let runs = gathered(spots.into_iter()).into_iter().map(|spot| vec![spot]).collect();
        Self { color, runs, dots: true }
    }

    /// Its spots.
    pub fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.runs.iter().flatten()
    }

    /// Whether a single spot can be seen.
    pub fn has_dots(&self) -> bool {
        self.dots
    }
}

/// Of spots that share a column those with the lowest and the highest figure.
fn gathered(spots: impl Iterator<Item = Spot>) -> Vec<Spot> {
    let mut gathered: Vec<Spot> = Vec::new();
    for spot in spots {
        match &mut gathered[..] {
            [.., low, high] if low.x == spot.x && high.x == spot.x => {
                if spot.value < low.value {
                    *low = spot;
                } else if spot.value > high.value {
                    *high = spot;
                }
            }
            [.., other] if other.x == spot.x && spot.value < other.value => {
                gathered.insert(gathered.len() - 1, spot);
            }
            _ => gathered.push(spot),
        }
    }
    gathered
}

/// How far the values of curves reach, with their intervals, as far as these do not press the curves flat or exceed the
/// `most` that there can be; none without a figure.
pub(super) fn reach(curves: &[Curve], most: f64) -> Option<(f64, f64)> {
    let spots = || curves.iter().flat_map(Curve::spots);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |ends: Option<(f64, f64)>, value| {
            let (min, max) = ends.unwrap_or((value, value));
            Some((min.min(value), max.max(value)))
        })
    };
    let (min, max) = ends(&mut spots().map(|spot| spot.value))?;
    let (low, high) = ends(&mut spots().flat_map(|spot| spot.interval.unwrap_or([spot.value; 2])))?;
    let room = (max - min).max(max / 4.0);
    // What cannot be below zero has no interval there either.
    Some((low.max(min - room).max(0.0).min(min), high.min(max + room).min(most).max(max)))
}

/// Draws curves, of at most as many variants as there are colours, into an area. Dots may reach beyond it.
pub(super) fn draw(canvas: &Canvas<'_>, curves: &[Curve], values: &Scale, area: &Area) {
    for curve in curves {
        for run in &curve.runs {
            match run[..] {
                [spot] => draw_whisker(canvas, &spot, curve.color, values),
                _ => draw_band(canvas, run, curve.color, values),
            }
        }
    }
    let beyond = DOT_RADIUS + 2;
    let mut lines = Lines::within(Area {
        x: area.x.start - beyond..area.x.end + beyond,
        y: area.y.start - beyond..area.y.end + beyond,
    });
    for (number, curve) in curves.iter().enumerate() {
        let at = |spot: &Spot| (spot.x, values.at(spot.value));
        for run in &curve.runs {
            for pair in run.windows(2) {
                lines.add_stroke(number, at(&pair[0]), at(&pair[1]));
            }
            if curve.dots || run.len() == 1 {
                run.iter().for_each(|spot| lines.add_disc(number, at(spot), DOT_RADIUS, spot.complete));
            }
        }
    }
    lines.draw(canvas, &curves.iter().map(|curve| curve.color).collect::<Vec<_>>());
}

/// What lies between the intervals of neighbours.
fn draw_band(canvas: &Canvas<'_>, run: &[Spot], color: RGBColor, values: &Scale) {
    let rows = |spot: &Spot| spot.interval.unwrap_or([spot.value; 2]).map(|end| f64::from(values.at(end)));
    for pair in run.windows(2) {
        let ([left_low, left_high], [right_low, right_high]) = (rows(&pair[0]), rows(&pair[1]));
        for x in pair[0].x..pair[1].x {
            let share = f64::from(x - pair[0].x) / f64::from(pair[1].x - pair[0].x);
            let low = left_low + (right_low - left_low) * share;
            let high = left_high + (right_high - left_high) * share;
            canvas.tint(&Area { x: x..x + 1, y: high.round() as i32..low.round() as i32 }, color, BAND);
        }
    }
}

/// An interval as a bar with a cap at each end.
fn draw_whisker(canvas: &Canvas<'_>, spot: &Spot, color: RGBColor, values: &Scale) {
    let Some([low, high]) = spot.interval.map(|ends| ends.map(|end| values.at(end))) else { return };
    canvas.fill(&Area { x: spot.x..spot.x + 1, y: high..low }, color);
    let middle = values.at(spot.value);
    // Caps that the dot hides in part would change its shape.
    for y in [low, high].into_iter().filter(|y| (middle - y).abs() > DOT_RADIUS + STROKE) {
        canvas.fill(&Area { x: spot.x - CAP..spot.x + CAP + 1, y: y - STROKE / 2..y }, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: RGBColor = RGBColor(0, 0, 0);

    fn spot(x: i32, value: f64) -> Spot {
        Spot { x, value, interval: None, complete: true }
    }

    #[test]
    fn a_missing_figure_is_a_gap() {
        let spots = [Some(spot(0, 1.0)), Some(spot(50, 2.0)), None, Some(spot(150, 3.0)), None];
        let runs: Vec<_> = Curve::joined(BLACK, spots, 200).runs.iter().map(Vec::len).collect();
        assert_eq!(runs, [2, 1]);
    }

    /// However many figures share a column, their lowest and their highest stand for them.
    #[test]
    fn a_column_keeps_its_extremes() {
        let values = [5.0, 9.0, 2.0, 7.0, 1.0, 8.0];
        let curve = Curve::joined(BLACK, values.map(|value| Some(spot(3, value))), 100);
        assert_eq!(curve.spots().map(|spot| spot.value).collect::<Vec<_>>(), [1.0, 9.0]);
        let falling = Curve::joined(BLACK, [9.0, 1.0].map(|value| Some(spot(3, value))), 100);
        assert_eq!(falling.spots().count(), 2);
    }

    /// An interval from -90 to 110 around 10 beside figures up to 20 does not decide the axis.
    #[test]
    fn wide_intervals_are_cut() {
        let wide = Spot { interval: Some([-90.0, 110.0]), ..spot(0, 10.0) };
        let narrow = Spot { interval: Some([19.0, 21.0]), ..spot(50, 20.0) };
        let curve = |spots: [Spot; 2]| Curve::joined(BLACK, spots.map(Some), 200);
        assert_eq!(reach(&[curve([wide, narrow])], f64::INFINITY), Some((0.0, 30.0)));
        assert_eq!(reach(&[curve([narrow, narrow])], f64::INFINITY), Some((19.0, 21.0)));
        assert_eq!(reach(&[curve([narrow, narrow])], 20.5), Some((19.0, 20.5)));
        assert_eq!(reach(&[], f64::INFINITY), None);
    }
}
