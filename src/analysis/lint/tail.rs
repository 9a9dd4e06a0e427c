//! How likely it is that chance alone makes much more of something than usual.

/// A term that adds no more than this share to a sum is not looked at, nor are those after it, which are smaller.
const NEGLIGIBLE: f64 = 1e-15;

/// The chance that of so many, each of which fails with this chance by itself, `least` or more fail, where that is more
/// than the mean: the upper tail of a binomial distribution.
///
/// It is the sum of its terms. The usual form by the incomplete beta function takes ever more steps the more of them
/// there are, and libraries cut them off.
pub fn at_least(least: u64, of: u64, failing: f64) -> f64 {
    if least > of || failing <= 0.0 {
        return 0.0;
    }
    if failing >= 1.0 {
        return 1.0;
    }
    let (k, n) = (least as f64, of as f64);
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    let first = ways + k * libm::log(failing) + (n - k) * libm::log1p(-failing);
    let (mut sum, mut term) = (0.0, 1.0);
    for number in least..=of {
        sum += term;
        let number = number as f64;
        term *= (n - number) / (number + 1.0) * failing / (1.0 - failing);
        if term < NEGLIGIBLE * sum {
            break;
        }
    }
    libm::exp(first) * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two heads or more of three: 3/8 + 1/8. The others are sums in exact fractions by a separate program.
    #[test]
    fn a_tail_is_the_sum_of_its_terms() {
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-6, "{found}, not {wanted}");
        near(at_least(2, 3, 0.5), 0.5);
        near(at_least(8, 100, 0.05), 1.279605e-01);
        near(at_least(60, 1_000, 0.05), 8.673218e-02);
        near(at_least(100, 1_000, 0.05), 8.410251e-11);
        near(at_least(50_500, 1_000_000, 0.05), 1.104112e-02);
        assert_eq!([at_least(4, 3, 0.5), at_least(3, 3, 0.0), at_least(3, 3, 1.0)], [0.0, 0.0, 1.0]);
    }
}
