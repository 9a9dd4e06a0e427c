//! The curve of Polly's exponential backoff with jitter, "decorrelated jitter v2".
//!
//! With `g(t) = 2^t * tanh(sqrt(4 t))` and `t_k = k + U(0, 1)` the wait before retry `k + 1` is
//! `(g(t_k) - g(t_(k - 1))) * base / 1.4`, the first `g(t_0) * base / 1.4`. So the waits are steps along one curve that
//! doubles with each retry, and how far along it a client has come differs by up to a retry from others.

use crate::dist::unit;
use crate::time::Span;

/// Makes the median of the first wait about the base.
const SCALE: f64 = 1.4;

/// A mean is reckoned from so many pairs of pieces, each pair as a parabola: good for nine digits.
const PAIRS: u32 = 32;

/// How far along the curve a call is after the wait before this retry: the sum of its waits, if no cap cut any. At most
/// [`Span::LIMIT`].
pub fn position(base: Span, retry: u32, draw: u64) -> Span {
    at(base, f64::from(retry - 1) + unit(draw))
}

/// The wait that leads from one position to the next.
pub fn between(previous: Span, position: Span) -> Span {
    if position == Span::LIMIT {
        // Beyond the end of virtual time; how far beyond is not known.
        return Span::LIMIT;
    }
    Span::from_ns(position.as_ns().saturating_sub(previous.as_ns()))
}

/// The position at `t`.
pub fn at(base: Span, t: f64) -> Span {
    Span::from_ns_f64(height(t) * base.as_ns() as f64 / SCALE)
}

/// The mean of the positions between `t` and `t + 1`, in ns.
pub fn mean_ns(base: Span, t: f64) -> f64 {
    // Over the square root of `t`, in which the curve is smooth also where it begins.
    let (from, to) = (libm::sqrt(t), libm::sqrt(t + 1.0));
    let piece = (to - from) / f64::from(2 * PAIRS);
    let value = |index: u32| {
        let root = from + piece * f64::from(index);
        2.0 * root * height(root * root)
    };
    let pair = |pair: u32| value(2 * pair) + 4.0 * value(2 * pair + 1) + value(2 * pair + 2);
    (0..PAIRS).map(pair).sum::<f64>() * piece / 3.0 * base.as_ns() as f64 / SCALE
}

fn height(t: f64) -> f64 {
    libm::exp2(t) * libm::tanh(libm::sqrt(4.0 * t))
}
