//! The quantile function of the standard normal distribution.

/// Coefficients of the three rational approximations, from the constant term up.
type Polynomial = [f64; 8];

/// The number that a standard normal variate does not exceed with the probability `p`, in (0, 1): algorithm AS 241,
/// PPND16 (Wichura, Applied Statistics 37, 1988), with a relative error of about 1e-16.
///
/// Written out here because samples must be the same bits on every platform: this needs only arithmetic, a square root
/// and the logarithm of `libm`.
pub(super) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE_NUMERATOR, &CENTRE_DENOMINATOR);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-libm::log(tail)).sqrt();
    let distance = if r <= 5.0 {
        ratio(r - 1.6, &TAIL_NUMERATOR, &TAIL_DENOMINATOR)
    } else {
        ratio(r - 5.0, &FAR_NUMERATOR, &FAR_DENOMINATOR)
    };
    distance.copysign(q)
}

fn ratio(x: f64, numerator: &Polynomial, denominator: &Polynomial) -> f64 {
    let horner = |coefficients: &Polynomial| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    horner(numerator) / horner(denominator)
}

const CENTRE_NUMERATOR: Polynomial = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_DENOMINATOR: Polynomial = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_854e3,
];
const TAIL_NUMERATOR: Polynomial = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const TAIL_DENOMINATOR: Polynomial = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_NUMERATOR: Polynomial = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_DENOMINATOR: Polynomial = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of another implementation (Python's `statistics.NormalDist().inv_cdf`), in all three ranges and on both
    /// sides.
    #[test]
    fn known_quantiles() {
        for (p, known) in KNOWN {
            let ours = quantile(p);
            assert!((ours - known).abs() <= 4e-16 * known.abs().max(1.0), "{p}: {ours} is not {known}");
        }
    }

    const KNOWN: [(f64, f64); 12] = [
        (0.5, 0.0),
        (0.6, 0.2533471031357998),
        (0.1, -1.2815515655446008),
        (0.925, 1.439531470938456),
        (0.99, 2.3263478740408408),
        (0.01, -2.3263478740408408),
        (0.975, 1.9599639845400536),
        (0.999, 3.090232306167813),
        (1e-05, -4.2648907939228256),
        (1e-12, -7.034483825301132),
        (0.999999999, 5.997807019601638),
        (1e-15, -7.941345326170995),
    ];
}
