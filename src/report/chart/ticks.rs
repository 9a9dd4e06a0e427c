//! The round values that an axis names.

use crate::number::{self, Style};

/// Multiples of 1, 2 or 5 times a power of ten, about `count` of them: from the last that is not above `min` to the
/// first that is not below `max`, which is above `min`.
pub(super) fn linear((min, max): (f64, f64), count: u32) -> Vec<f64> {
    let step = round_up((max - min) / f64::from(count));
    // A value that rounding put just beyond a multiple needs no further tick.
    let first = (min / step + 1e-9).floor() as i64;
    let last = (max / step - 1e-9).ceil() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// The smallest of 1, 2 and 5 times powers of ten that is not below a value above zero.
pub(super) fn round_up(value: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(value).floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// Beyond this number the ticks of a logarithmic axis are thinned out.
const LOGARITHMIC_MAX: usize = 10;

/// Round counts, at equal factors as far as that goes, that enclose `min` to `max`; `min` is at least 1.
pub(super) fn counts(min: f64, max: f64) -> Vec<f64> {
    from_power(0, min, max)
}

/// The same for values that may be below 1, but are above zero.
pub(super) fn decades(min: f64, max: f64) -> Vec<f64> {
    from_power(-12, min, max)
}

/// Multiples of 1, 2 or 5 times powers of ten from this one on.
fn from_power(least: i32, min: f64, max: f64) -> Vec<f64> {
    let powers = || (least..=19).map(|exponent| libm::pow(10.0, f64::from(exponent)));
    let fine: Vec<_> = powers().flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * power)).collect();
    thinned(&fine, &powers().collect::<Vec<_>>(), min, max)
}

/// How neighbouring values are written, with as many digits as it takes to tell them apart, and three at least.
pub(super) fn labels(values: &[f64]) -> Vec<String> {
    let written = |digits| values.iter().map(|&value| number::plain(value, Style::Count, digits)).collect::<Vec<_>>();
    let differ = |labels: &Vec<String>| {
        let mut pairs = labels.windows(2).zip(values.windows(2));
        pairs.all(|(labels, values)| labels[0] != labels[1] || values[0] == values[1])
    };
    (3..9).map(written).find(differ).unwrap_or_else(|| written(9))
}

/// Of these durations in seconds, each about twice the one before, those beyond the decimal ones are round to people.
const CLOCK_S: [f64; 15] = [
    60.0,
    120.0,
    300.0,
    600.0,
    1_200.0,
    3_600.0,
    7_200.0,
    18_000.0,
    36_000.0,
    86_400.0,
    172_800.0,
    432_000.0,
    864_000.0,
    1_728_000.0,
    5_184_000.0,
];
/// And the ones that remain where there is no room for all of them.
const COARSE_CLOCK_S: [f64; 5] = [60.0, 600.0, 7_200.0, 86_400.0, 5_184_000.0];

/// Round durations in ms, from 1 ns on, that enclose `min` to `max`, which are above zero.
pub(super) fn durations_ms(min: f64, max: f64) -> Vec<f64> {
    let ms = |seconds: &[f64]| -> Vec<f64> { seconds.iter().map(|second| second * 1e3).collect() };
    let powers = || (-6..=4).map(|exponent| libm::pow(10.0, f64::from(exponent)));
    let fine = powers().flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * power)).filter(|ms| *ms <= 20_000.0);
    let fine: Vec<_> = fine.chain(ms(&CLOCK_S)).collect();
    let coarse: Vec<_> = powers().chain(ms(&COARSE_CLOCK_S)).collect();
    thinned(&fine, &coarse, min, max)
}

fn thinned(fine: &[f64], coarse: &[f64], min: f64, max: f64) -> Vec<f64> {
    let ticks = enclosing(fine, min, max);
    if ticks.len() <= LOGARITHMIC_MAX { ticks.to_vec() } else { enclosing(coarse, min, max).to_vec() }
}

/// From the last value that is not above `min` to the first that is not below `max`, as far as there are such; at least
/// two.
fn enclosing(ascending: &[f64], min: f64, max: f64) -> &[f64] {
    let first = ascending.partition_point(|tick| *tick <= min * (1.0 + 1e-9)).saturating_sub(1);
    let end = (ascending.partition_point(|tick| *tick < max * (1.0 - 1e-9)) + 1).clamp(2, ascending.len());
    // A single value is put at the upper end, if there is one below.
    let first = first.min(end - 2);
    &ascending[first..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_enclose_the_values() {
        assert_eq!(linear((0.0, 1_000.0), 5), [0.0, 200.0, 400.0, 600.0, 800.0, 1_000.0]);
        assert_eq!(linear((0.0, 27.0), 6), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(linear((0.0, 1.0), 4), [0.0, 0.5, 1.0]);
        assert_eq!(linear((133.0, 199.0), 6), [120.0, 140.0, 160.0, 180.0, 200.0]);
        assert_eq!(linear((-7.0, 12.0), 4), [-10.0, -5.0, 0.0, 5.0, 10.0, 15.0]);
        for max in [1e-9, 0.3, 7.0, 159.43, 65.3, 1e12] {
            for min in [0.0, 0.4 * max] {
                for count in 2..12 {
                    let ticks = linear((min, max), count);
                    let (step, last) = (ticks[1] - ticks[0], ticks[ticks.len() - 1]);
                    assert!(ticks[0] <= min && last >= max * (1.0 - 1e-6), "{min} to {max} in {count}: {ticks:?}");
                    assert!(ticks.len() <= count as usize + 3, "{min} to {max} in {count}: {ticks:?}");
                    assert!(ticks[0] + step > min && max + step > last, "{min} to {max} in {count}: {ticks:?}");
                }
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_thinned_out_over_many_decades() {
        assert_eq!(counts(37.0, 640.0), [20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(counts(1.0, 90_000.0), [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0]);
        assert_eq!(counts(1.0, 1.0), [1.0, 2.0]);
        assert_eq!(decades(0.03, 0.2), [0.02, 0.05, 0.1, 0.2]);
    }

    #[test]
    fn labels_have_the_digits_that_tell_neighbours_apart() {
        assert_eq!(labels(&[0.0, 500.0, 1_000.0]), ["0", "500", "1,000"]);
        assert_eq!(labels(&[1.0, 1.0005, 1.001]), ["1", "1.0005", "1.001"]);
        assert_eq!(labels(&[31.6227766, 100.0]), ["31.6", "100"]);
        assert_eq!(labels(&[7.0, 7.0]), ["7", "7"]);
    }

    #[test]
    fn durations_beyond_seconds_are_those_of_clocks() {
        assert_eq!(durations_ms(100.0, 412.0), [100.0, 200.0, 500.0]);
        assert_eq!(durations_ms(100.0, 100.0), [50.0, 100.0]);
        assert_eq!(durations_ms(15_000.0, 100_000.0), [10_000.0, 20_000.0, 60_000.0, 120_000.0]);
        let wide: Vec<_> = durations_ms(0.4, 700_000.0);
        assert_eq!(wide, [0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0, 60_000.0, 600_000.0, 7_200_000.0]);
    }
}
