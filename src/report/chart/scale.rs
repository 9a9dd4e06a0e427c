//! From values to pixels, and the round values that an axis names.

/// Maps values onto a line of pixels.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    kind: Kind,
    from: f64,
    to: f64,
    /// The pixel of `from`.
    first: i32,
    /// The pixel of `to`.
    last: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Linear,
    Logarithmic,
}

impl Scale {
    /// From 0 at the pixel `first` to `to` at the pixel `last`, which may be the lower number.
    pub fn linear(to: f64, (first, last): (i32, i32)) -> Self {
        Self { kind: Kind::Linear, from: 0.0, to, first, last }
    }

    /// From 1 at the pixel `first` to `to` at the pixel `last`, equal factors at equal distances.
    pub fn logarithmic(to: f64, (first, last): (i32, i32)) -> Self {
        Self { kind: Kind::Logarithmic, from: 1.0, to, first, last }
    }

    /// The pixel of a value; values beyond the ends are at the ends.
    pub fn at(&self, value: f64) -> i32 {
        let value = value.clamp(self.from, self.to);
        let share = match self.kind {
            Kind::Linear => (value - self.from) / (self.to - self.from),
            Kind::Logarithmic => libm::log(value / self.from) / libm::log(self.to / self.from),
        };
        self.first + (share * f64::from(self.last - self.first)).round() as i32
    }
}

/// Multiples of 1, 2 or 5 times a power of ten from 0 to the first that is not below `max`: about `count` of them.
/// `max` is above zero.
pub(super) fn linear_ticks(max: f64, count: u32) -> Vec<f64> {
    let raw = max / f64::from(count);
    let power = libm::pow(10.0, libm::log10(raw).floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= raw * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    // A value that rounding put just above a multiple needs no further tick.
    let last = (max / step - 1e-9).ceil() as u32;
    (0..=last).map(|i| f64::from(i) * step).collect()
}

/// Powers of ten from 1 to the first that is not below `max`.
pub(super) fn powers_of_ten(max: f64) -> Vec<f64> {
    let last = (libm::log10(max) - 1e-9).ceil().max(1.0) as i32;
    (0..=last).map(|exponent| 10f64.powi(exponent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_maximum() {
        assert_eq!(linear_ticks(1_000.0, 5), [0.0, 200.0, 400.0, 600.0, 800.0, 1_000.0]);
        assert_eq!(linear_ticks(27.0, 6), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(linear_ticks(1.0, 4), [0.0, 0.5, 1.0]);
        assert_eq!(powers_of_ten(640.0), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(powers_of_ten(1_000.0), [1.0, 10.0, 100.0, 1_000.0]);
        for max in [1e-9, 0.3, 7.0, 159.43, 65.3, 1e12] {
            for count in 2..12 {
                let ticks = linear_ticks(max, count);
                let step = ticks[1];
                assert!(*ticks.last().unwrap() >= max * (1.0 - 1e-6), "{max} in {count}: {ticks:?}");
                assert!(
                    ticks.len() <= count as usize + 2 && max + step > *ticks.last().unwrap(),
                    "{max} in {count}: {ticks:?}"
                );
            }
        }
    }

    #[test]
    fn scales_hit_both_ends_and_halve_in_their_own_measure() {
        let up = Scale::linear(10.0, (300, 100));
        assert_eq!([0.0, 5.0, 10.0, 99.0].map(|value| up.at(value)), [300, 200, 100, 100]);
        let log = Scale::logarithmic(100.0, (0, 400));
        assert_eq!([0.5, 1.0, 10.0, 100.0].map(|value| log.at(value)), [0, 0, 200, 400]);
    }
}
