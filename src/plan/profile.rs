//! A rate that changes over time, and the time at which a given number of requests is due.

use crate::time::Instant;

/// A piecewise linear rate. It is zero before the first piece; the last piece has no end.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The pieces in the order of time; at least one.
    pieces: Vec<Piece>,
    /// The number of requests expected before each piece.
    due: Vec<f64>,
}

/// A stretch of time over which the rate is constant or grows evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// When it begins.
    pub from: Instant,
    /// The rate there, in requests/s; not negative.
    pub rate: f64,
    /// The change of the rate, in requests/s per second. Zero in the last piece.
    pub slope: f64,
}

impl Piece {
    /// Requests expected in the first `t_s` seconds of the piece.
    fn due_after(&self, t_s: f64) -> f64 {
        t_s * (self.rate + self.slope * t_s / 2.0)
    }

    /// When, in seconds from its start, `due` requests are expected: the smaller positive root of
    /// `slope t^2 / 2 + rate t = due`, in the form that loses no digits where the slope is small.
    fn time_of(&self, due: f64) -> f64 {
        let discriminant = (self.rate * self.rate + 2.0 * self.slope * due).max(0.0);
        2.0 * due / (self.rate + discriminant.sqrt())
    }
}

impl Profile {
    /// Puts a profile together from pieces in the order of time, of which there is at least one.
    pub fn new(pieces: Vec<Piece>) -> Self {
        let mut due = vec![0.0];
        for pair in pieces.windows(2) {
            let length_s = pair[1].from.since(pair[0].from).as_s();
            due.push(due[due.len() - 1] + pair[0].due_after(length_s));
        }
        Self { pieces, due }
    }

    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The highest rate, in requests/s. A piece that grows is highest at its end.
    pub fn peak(&self) -> f64 {
        let ends = self.pieces.windows(2).map(|pair| {
            let length_s = pair[1].from.since(pair[0].from).as_s();
            pair[0].rate + pair[0].slope * length_s
        });
        self.pieces.iter().map(|piece| piece.rate).chain(ends).fold(0.0, f64::max)
    }

    /// The instant at which `due` requests are expected, counted from the start of the profile; none if there never
    /// are. `due` is above zero. By the time-change theorem a Poisson process of rate 1 in `due` becomes one with
    /// this profile in time (Devroye, Non-Uniform Random Variate Generation, 1986, VI.1.3).
    pub fn instant_of(&self, due: f64) -> Option<Instant> {
        let at = self.due.partition_point(|&before| before < due) - 1;
        let piece = &self.pieces[at];
        let t_ns = piece.time_of(due - self.due[at]) * 1e9;
        // A rate of zero makes the time infinite.
        (t_ns < Instant::LIMIT.as_ns() as f64).then(|| Instant::from_ns(piece.from.as_ns() + t_ns.round() as u64))
    }

    /// The number of requests expected before `at`.
    pub fn due_before(&self, at: Instant) -> f64 {
        let begun = self.pieces.partition_point(|piece| piece.from <= at);
        match begun.checked_sub(1) {
            None => 0.0,
            Some(last) => self.due[last] + self.pieces[last].due_after(at.since(self.pieces[last].from).as_s()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(points: &[(u64, f64, f64)]) -> Profile {
        let piece = |&(from_s, rate, slope)| Piece { from: Instant::from_ns(from_s * 1_000_000_000), rate, slope };
        Profile::new(points.iter().map(piece).collect())
    }

    /// 10/s for 10 s, a ramp from 10 to 30/s over 10 s, then 30/s: 100, then 100 + 10 t + t^2, then 300 + 30 t.
    #[test]
    fn counts_and_instants_are_inverse() {
        let profile = profile(&[(5, 10.0, 0.0), (15, 10.0, 2.0), (25, 30.0, 0.0)]);
        for (due, expected_s) in [(50.0, 10.0), (100.0, 15.0), (175.0, 20.0), (300.0, 25.0), (330.0, 26.0)] {
            let at = profile.instant_of(due).unwrap();
            assert!((at.as_s() - expected_s).abs() < 1e-8, "{due} at {}", at.as_s());
            assert!((profile.due_before(at) - due).abs() < 1e-6);
        }
        assert_eq!(profile.due_before(Instant::ZERO), 0.0);
    }

    /// Nothing is due while the rate is zero, and never if it stays so.
    #[test]
    fn a_rate_of_zero_makes_a_pause_or_an_end() {
        let paused = profile(&[(0, 1.0, 0.0), (10, 0.0, 0.0), (20, 1.0, 0.0)]);
        assert_eq!(paused.instant_of(11.0), Some(Instant::from_ns(21_000_000_000)));
        let ended = profile(&[(0, 1.0, 0.0), (10, 0.0, 0.0)]);
        assert_eq!(ended.instant_of(10.5), None);
    }

    /// A ramp down to zero reaches its last request before it reaches zero.
    #[test]
    fn a_ramp_may_fall_to_zero() {
        let falling = profile(&[(0, 10.0, -1.0), (10, 0.0, 0.0)]);
        assert!((falling.instant_of(49.5).unwrap().as_s() - 9.0).abs() < 1e-9);
        assert_eq!(falling.instant_of(50.5), None);
    }
}
