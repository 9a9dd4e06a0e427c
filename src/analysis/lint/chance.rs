//! How likely an answer takes longer than so long, where nothing is wrong.

use crate::dist::Dist;
use crate::plan::{Call, Plan};
use crate::time::Span;

/// The share of attempts that a callee answers later than after `limit`, at least: of services that call nobody, by
/// their service time and the shortest way there and back. None of others: what they wait for has no one distribution.
pub fn slower(plan: &Plan, call: &Call, limit: Span) -> Option<f64> {
    let service = &plan.services[call.target.index()];
    if !service.steps.is_empty() {
        return None;
    }
    let (way, _) = call.network.bounds();
    let ways = way + way;
    if ways > limit {
        return Some(1.0);
    }
    Some(above(&service.service_time, limit - ways))
}

/// The share of the samples above a limit.
pub fn above(dist: &Dist, limit: Span) -> f64 {
    let (least, most) = dist.bounds();
    if least > limit {
        return 1.0;
    }
    if most.is_some_and(|most| most <= limit) {
        return 0.0;
    }
    if let Dist::Samples(samples) = dist {
        return samples.iter().filter(|&&sample| sample > limit).count() as f64 / samples.len() as f64;
    }
    // The quantile function ascends: halved until a double cannot tell the two sides apart.
    let (mut below, mut beyond) = (0.0, 1.0);
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = f64::midpoint(below, beyond);
        if middle < 1.0 && dist.quantile(middle) <= limit {
            below = middle;
        } else {
            beyond = middle;
        }
    }
    1.0 - below
}

/// How many attempts a request makes in the mean, if each fails by itself with this chance, out of so many at most.
/// Without a limit of attempts (`u32::MAX`) and without a success it has no end.
pub fn attempts(failing: f64, max: u32) -> f64 {
    match max {
        u32::MAX => 1.0 / (1.0 - failing),
        max if failing >= 1.0 => f64::from(max),
        max => (1.0 - libm::pow(failing, f64::from(max))) / (1.0 - failing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exponential, mean 10 ms: exp(-3) is above 30 ms. Lognormal, 20 and 100 ms: half and a hundredth. Uniform over
    /// 5 to 15 ms: 30 % is above 12 ms. Linear between 50 % at 10 ms and 90 % at 50 ms: 30 % above 30 ms.
    #[test]
    fn the_quantile_function_is_turned_round() {
        let ms = Span::from_ms;
        let near = |dist: &Dist, limit, share: f64| {
            let above = above(dist, limit);
            assert!((above - share).abs() < 1e-6, "{dist:?} above {limit:?}: {above}, not {share}");
        };
        near(&Dist::Exponential { mean: ms(10) }, ms(30), libm::exp(-3.0));
        let long = Dist::lognormal(ms(20), ms(100));
        near(&long, ms(20), 0.5);
        near(&long, ms(100), 0.01);
        near(&Dist::Uniform { min: ms(5), values: 10_000_000, step: Span::from_ns(1) }, ms(12), 0.3);
        let points = Dist::Percentiles(vec![(0.5, ms(10)), (0.9, ms(50))]);
        near(&points, ms(30), 0.3);
        near(&points, ms(50), 0.0);
        near(&Dist::Samples([10, 20, 30, 40].map(ms).to_vec()), ms(20), 0.5);
        near(&Dist::Constant(ms(10)), ms(10), 0.0);
        near(&Dist::Constant(ms(10)), ms(9), 1.0);
        near(&Dist::Exponential { mean: Span::ZERO }, Span::ZERO, 0.0);
    }

    #[test]
    fn attempts_are_a_sum_of_powers() {
        assert_eq!(attempts(0.5, 3), 1.75);
        assert_eq!(attempts(0.0, 3), 1.0);
        assert_eq!(attempts(1.0, 3), 3.0);
        assert_eq!(attempts(0.5, u32::MAX), 2.0);
        assert_eq!(attempts(1.0, u32::MAX), f64::INFINITY);
    }
}
