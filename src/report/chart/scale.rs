//! From values to pixels.

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
    /// From the value `from` at the pixel `first` to the value `to` at the pixel `last`, which may be the lower number.
    pub fn linear((from, to): (f64, f64), (first, last): (i32, i32)) -> Self {
        Self { kind: Kind::Linear, from, to, first, last }
    }

    /// The same with equal factors at equal distances; `from` is above zero.
    pub fn logarithmic((from, to): (f64, f64), (first, last): (i32, i32)) -> Self {
        Self { kind: Kind::Logarithmic, from, to, first, last }
    }

    /// Whether equal factors are at equal distances.
    pub fn is_logarithmic(&self) -> bool {
        self.kind == Kind::Logarithmic
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_hit_both_ends_and_halve_in_their_own_measure() {
        let up = Scale::linear((0.0, 10.0), (300, 100));
        assert_eq!([0.0, 5.0, 10.0, 99.0].map(|value| up.at(value)), [300, 200, 100, 100]);
        let log = Scale::logarithmic((1.0, 100.0), (0, 400));
        assert_eq!([0.5, 1.0, 10.0, 100.0].map(|value| log.at(value)), [0, 0, 200, 400]);
        let shifted = Scale::linear((100.0, 200.0), (0, 50));
        assert_eq!([0.0, 100.0, 150.0, 200.0].map(|value| shifted.at(value)), [0, 0, 25, 50]);
    }
}
