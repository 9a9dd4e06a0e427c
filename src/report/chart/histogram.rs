//! An axis of counts, cut into bins that gather them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::scale::Scale;
use super::ticks;

/// Bins of a linear axis are at least so wide, in pixels.
const BIN_MIN: f64 = 6.0;
/// A bin that is wider, in pixels, hides where in it the few counts of a small sample lie.
const BIN_MAX: f64 = 24.0;
/// Bins of a logarithmic axis are about so wide, in pixels: narrower ones would hold now more, now fewer whole numbers.
const FACTOR_BIN: f64 = 10.0;
/// Where the ticks of a linear axis begin to be too close.
const TICKS: u32 = 8;
/// A linear axis covers at least so many counts, so that its ticks are whole numbers.
const SPAN_MIN: f64 = 10.0;
/// Between the place of zero and the lower end of a logarithmic axis, which has no zero, in pixels.
const ZERO_GAP: i32 = 64;

/// The axis.
pub(super) struct Bins {
    cut: Cut,
    scale: Scale,
    /// Columns of the bin of zero, if the scale has no place for it.
    zero: Option<Range<i32>>,
    ticks: Vec<f64>,
}

/// What a bin covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// So many successive counts.
    Equal(f64),
    /// One of so many equal factors per power of ten.
    Factors(f64),
}

/// A bin that is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    /// Its columns.
    pub x: Range<i32>,
    /// How many counts are in it.
    pub count: usize,
}

impl Bins {
    /// A linear axis on these pixels. The narrowest sample is cut into about as many bins as its size deserves, twice
    /// the cube root (Rice's rule), as long as they are neither too narrow nor too wide to the eye.
    pub fn linear(samples: &[Vec<f64>], pixels: (i32, i32)) -> Self {
        let [min, max] = ends(samples.iter().flatten()).unwrap_or([0.0; 2]);
        let low = if min == max { 0.0 } else { min };
        let ticks = ticks::linear((low, max.max(low + SPAN_MIN)), TICKS);
        let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
        let deserved = samples.iter().filter_map(|sample| {
            let [min, max] = ends(sample)?;
            (max > min).then(|| (max - min) / (2.0 * libm::cbrt(sample.len() as f64)))
        });
        let [visible, wide] = [BIN_MIN, BIN_MAX].map(|bin| bin * (last - first) / f64::from(pixels.1 - pixels.0));
        let width = deserved.reduce(f64::min).unwrap_or(visible).clamp(visible, wide);
        let cut = Cut::Equal(ticks::round_up(width.max(1.0)));
        let range = (first.min(cut.edges(cut.bin(min)).0), last.max(cut.edges(cut.bin(max)).1));
        Self { cut, scale: Scale::linear(range, pixels), zero: None, ticks }
    }

    /// A logarithmic axis. Zero, if there is one, has a place of its own at the left.
    pub fn logarithmic(samples: &[Vec<f64>], (left, right): (i32, i32)) -> Self {
        let all = || samples.iter().flatten();
        let zero = all().any(|count| *count == 0.0).then(|| left..left + FACTOR_BIN as i32);
        let left = if zero.is_some() { left + ZERO_GAP } else { left };
        let [min, max] = ends(all().filter(|count| **count > 0.0)).unwrap_or([1.0; 2]);
        let ticks = ticks::counts(min, max);
        let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
        let cut = Cut::Factors((f64::from(right - left) / FACTOR_BIN / libm::log10(last / first)).floor().max(1.0));
        let range = (first.min(cut.edges(cut.bin(min)).0), last.max(cut.edges(cut.bin(max)).1));
        Self { cut, scale: Scale::logarithmic(range, (left, right)), zero, ticks }
    }

    /// The bars of a sample, from left to right.
    pub fn bars(&self, sample: &[f64]) -> Vec<Bar> {
        let mut bins: BTreeMap<i64, Bar> = BTreeMap::new();
        for &count in sample {
            let bar = match &self.zero {
                Some(zero) if count == 0.0 => bins.entry(i64::MIN).or_insert(Bar { x: zero.clone(), count: 0 }),
                _ => {
                    let bin = self.cut.bin(count);
                    let (from, until) = self.cut.edges(bin);
                    let x = self.scale.at(from)..self.scale.at(until);
                    bins.entry(bin).or_insert(Bar { x, count: 0 })
                }
            };
            bar.count += 1;
        }
        bins.into_values().collect()
    }

    /// The values that the axis names, and their columns.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, i32)> {
        let zero = self.zero.iter().map(|zero| (0.0, (zero.start + zero.end) / 2));
        zero.chain(self.ticks.iter().map(|&tick| (tick, self.scale.at(tick))))
    }
}

impl Cut {
    /// The number of the bin that holds a count; above zero if bins are factors.
    fn bin(self, count: f64) -> i64 {
        match self {
            Self::Equal(width) => (count / width).floor() as i64,
            // Powers of ten are the lower edges of bins, whatever rounding says.
            Self::Factors(per_decade) => (libm::log10(count) * per_decade + 1e-9).floor() as i64,
        }
    }

    /// Where a bin begins and ends on the axis. Bins of whole counts end halfway between two.
    fn edges(self, bin: i64) -> (f64, f64) {
        match self {
            Self::Equal(width) => (bin as f64 * width - 0.5, (bin + 1) as f64 * width - 0.5),
            Self::Factors(per_decade) => {
                let edge = |bin: i64| libm::pow(10.0, bin as f64 / per_decade);
                (edge(bin), edge(bin + 1))
            }
        }
    }
}

fn ends<'a>(counts: impl IntoIterator<Item = &'a f64>) -> Option<[f64; 2]> {
    counts.into_iter().fold(None, |ends, &count| {
        let [min, max] = ends.unwrap_or([count; 2]);
        Some([min.min(count), max.max(count)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(bins: &Bins, sample: &[f64]) -> Vec<usize> {
        bins.bars(sample).iter().map(|bar| bar.count).collect()
    }

    /// Every count is in exactly one bin, and bins lie side by side within the axis, whatever it looks like.
    #[test]
    fn bars_keep_every_count_and_do_not_overlap() {
        let samples = [vec![0.0, 0.0, 7.0], (130..200).map(f64::from).collect(), vec![1_000.0; 20], vec![]];
        for bins in [Bins::linear(&samples, (100, 1_100)), Bins::logarithmic(&samples, (100, 1_100))] {
            for sample in &samples {
                let bars = bins.bars(sample);
                assert_eq!(bars.iter().map(|bar| bar.count).sum::<usize>(), sample.len());
                assert!(
                    bars.iter().all(|bar| 100 <= bar.x.start && bar.x.len() >= 5 && bar.x.end <= 1_100),
                    "{bars:?}"
                );
                assert!(bars.windows(2).all(|pair| pair[0].x.end <= pair[1].x.start), "{bars:?}");
            }
        }
    }

    /// 100 different counts, 80 of each: Rice's rule wants 40 bins of 2.5, which is rounded up to 5, on 100 counts as
    /// on 1,000 pixels. Ten of them, 8 of each, deserve 8 bins, of a pixel each beside the other sample: they get two.
    #[test]
    fn a_bin_covers_a_round_number_of_counts() {
        let wide: Vec<f64> = (100..200).flat_map(|count| [f64::from(count); 80]).collect();
        let bins = Bins::linear(std::slice::from_ref(&wide), (0, 1_000));
        assert_eq!(counts(&bins, &wide), [400; 20]);
        let narrow: Vec<f64> = (100..110).flat_map(|count| [f64::from(count); 8]).collect();
        let bins = Bins::linear(&[wide, narrow.clone()], (0, 200));
        assert_eq!(counts(&bins, &narrow), [40; 2]);
    }

    #[test]
    fn one_count_is_one_bar_on_an_axis_from_zero() {
        for count in [0.0, 3.0, 1_000.0] {
            let bins = Bins::linear(&[vec![count; 20]], (0, 1_000));
            assert_eq!(counts(&bins, &[count; 20]), [20]);
            assert_eq!(bins.ticks().next().map(|(tick, _)| tick), Some(0.0), "{count}");
        }
    }

    #[test]
    fn zero_has_its_place_beside_a_logarithmic_axis_only_if_it_occurs() {
        let ticks = |sample: &[f64]| -> Vec<f64> {
            Bins::logarithmic(&[sample.to_vec()], (0, 1_000)).ticks().map(|(tick, _)| tick).collect()
        };
        assert_eq!(ticks(&[0.0, 40.0, 900.0]), [0.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(ticks(&[40.0, 900.0]), [20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(ticks(&[0.0]), [0.0, 1.0, 2.0]);
    }
}
