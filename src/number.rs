//! Figures for people: as many digits as mean something, thousands grouped, times in a unit of their size.

use crate::experiment::{Measure, Stat, Statistic};
use crate::metrics::catalogue::Unit;

/// What kind of figure it is, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `1,234.5`.
    Count,
    /// `27x`.
    Factor,
    /// A share, as `99.95 %`.
    Share,
    /// Seconds, as `13.99 s` or `850 ms`.
    Seconds,
    /// Milliseconds, written like seconds.
    Milliseconds,
}

impl Style {
    /// How a metric is written.
    pub(crate) fn of(metric: &str, unit: Unit) -> Self {
        match (metric, unit) {
            ("amplification" | "executions_per_request", _) => Self::Factor,
            // Its mean is the share of the replicas that did.
            ("recovered", _) | (_, Unit::Ratio) => Self::Share,
            (_, Unit::Seconds) => Self::Seconds,
            (_, Unit::Milliseconds) => Self::Milliseconds,
            (_, Unit::Count | Unit::PerSecond) => Self::Count,
        }
    }
}

/// Marks a figure that some replicas lack.
pub(crate) const INCOMPLETE: char = '*';

/// The mean with half its confidence interval, `159.4 ± 0.5`, or a bound of that where it is too small to be read,
/// `100.000 ± <0.001`; alone where all replicas agree or there is only one. `-` where it is undefined; with
/// [`INCOMPLETE`] where it is so in some of the `replicas`.
pub(crate) fn figure(stat: Option<&Stat>, style: Style, replicas: u32) -> String {
    let Some((stat, mean)) = stat.and_then(|stat| Some((stat, stat.mean?))) else { return "-".to_owned() };
    let half = stat.ci95.map(|[low, high]| (high - low) / 2.0);
    let mut text = written(mean, half, style);
    if stat.n < replicas {
        text.push(INCOMPLETE);
    }
    text
}

/// The figure of a measure, a mean with its interval, as [`figure`].
pub(crate) fn measured(stat: &Stat, measure: &Measure, replicas: u32) -> String {
    let style = Style::of(measure.metric, measure.unit);
    match measure.statistic {
        Statistic::Mean => figure(Some(stat), style, replicas),
        statistic => statistic.of(stat).map_or("-".to_owned(), |value| plain(value, style, 4)),
    }
}

/// A value without interval, to so many significant digits; all of a whole number.
pub(crate) fn plain(value: f64, style: Style, digits: i32) -> String {
    let (scale, unit) = scaling(value, style);
    let value = value * scale;
    format!("{}{unit}", rounded(value, telling(value, style, digits)))
}

/// A number of things, with grouped thousands.
pub(crate) fn whole(count: usize) -> String {
    grouped(count as f64, 0)
}

/// A number of things to two digits, which is not less than it: `1,300` of 1,234.
pub(crate) fn rounded_up(count: u32) -> String {
    let step = 10u32.pow(count.max(1).ilog10().saturating_sub(1));
    whole(count.next_multiple_of(step) as usize)
}

/// An instant of the run, in seconds as scenario files have it, however many these are.
pub(crate) fn instant(seconds: f64) -> String {
    // Virtual time ends after 52 days, and has nanoseconds.
    format!("{} s", rounded(seconds, 9))
}

/// A value in its own unit with six significant digits, for comparison with a condition.
pub(crate) fn six_digits(value: f64) -> String {
    rounded(value, significant(value, 6))
}

/// A figure with its unit, as `summary.json` has that, where it is one.
pub(crate) fn in_unit(figure: &str, unit: &str) -> String {
    match unit {
        "s" | "ms" => format!("{figure} {unit}"),
        "1/s" => format!("{figure}/s"),
        _ => figure.to_owned(),
    }
}

fn written(mean: f64, half: Option<f64>, style: Style) -> String {
    // Rounding in the summation leaves a spread of about 1e-16 of the value where there is none.
    let Some(half) = half.filter(|half| *half > mean.abs() * 1e-9) else { return plain(mean, style, 4) };
    let (scale, unit) = scaling(mean, style);
    let (mean, half) = (mean * scale, half * scale);
    let decimals = uncertain(half).min(readable(mean, style));
    let step = libm::pow(10.0, -(decimals as f64));
    // Rounded, it would be zero, which it is not.
    let half = if half < step / 2.0 { format!("<{}", grouped(step, decimals)) } else { grouped(half, decimals) };
    format!("{} ± {half}{unit}", grouped(mean, decimals))
}

/// The most decimals of a value that anybody reads, however small its interval: those of six digits, and of times four.
fn readable(value: f64, style: Style) -> usize {
    let decimals = telling(value, style, 6);
    if matches!(style, Style::Seconds | Style::Milliseconds) { decimals.min(4) } else { decimals }
}

/// What to multiply a value by, and the unit that it then has.
pub(crate) fn scaling(value: f64, style: Style) -> (f64, &'static str) {
    match style {
        Style::Count => (1.0, ""),
        Style::Factor => (1.0, "x"),
        Style::Share => (100.0, " %"),
        Style::Seconds => time_unit(value),
        Style::Milliseconds => {
            let (per_second, unit) = time_unit(value / 1e3);
            (per_second / 1e3, unit)
        }
    }
}

/// Units per second, and the unit's name, for a time of this size.
fn time_unit(seconds: f64) -> (f64, &'static str) {
    match seconds.abs() {
        0.0 => (1.0, " s"),
        small if small < 1e-6 => (1e9, " ns"),
        small if small < 1e-3 => (1e6, " µs"),
        small if small < 1.0 => (1e3, " ms"),
        medium if medium < 120.0 => (1.0, " s"),
        large if large < 7_200.0 => (1.0 / 60.0, " min"),
        large if large < 172_800.0 => (1.0 / 3_600.0, " h"),
        _ => (1.0 / 86_400.0, " d"),
    }
}

/// Decimals that show the first digit of an uncertainty, and its second after a 1 (0.14, but 0.5).
fn uncertain(half: f64) -> usize {
    let exponent = exponent(half);
    let leading = half / libm::pow(10.0, f64::from(exponent));
    decimals(if leading < 1.95 { 1 } else { 0 } - exponent)
}

/// Decimals that show `digits` significant digits, and of a share that it is not all.
fn telling(value: f64, style: Style, digits: i32) -> usize {
    let decimals = significant(value, digits);
    // What matters of 99.9974 % is the rest.
    if style == Style::Share && value > 50.0 { decimals.max(significant(100.0 - value, 2)) } else { decimals }
}

/// Decimals that show `digits` significant digits.
fn significant(value: f64, digits: i32) -> usize {
    let wanted = digits - 1 - exponent(value);
    // Rounded up to the next power of ten it has a digit more before the point.
    let carries = value.abs() * libm::pow(10.0, f64::from(wanted)) >= libm::pow(10.0, f64::from(digits)) - 0.5;
    decimals(wanted - i32::from(carries))
}

/// The power of ten of the leading digit; 0 for zero.
fn exponent(value: f64) -> i32 {
    if value == 0.0 { 0 } else { libm::log10(value.abs()).floor() as i32 }
}

fn decimals(wanted: i32) -> usize {
    wanted.clamp(0, 9) as usize
}

/// With grouped thousands and without trailing zeros.
fn rounded(value: f64, decimals: usize) -> String {
    let text = grouped(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    if value < 0.0 && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        grouped.push('-');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(value: f64, style: Style) -> String {
        plain(value, style, 4)
    }

    #[test]
    fn noise_is_not_shown_and_thousands_are_grouped() {
        let counts = [27.000_000_000_000_004, 0.0, -0.0, 999.0, 1_000.0, 1_234_567.8, 159.43, 0.000_123_456, -1_500.0];
        let shown = counts.map(|count| alone(count, Style::Count));
        assert_eq!(shown, ["27", "0", "0", "999", "1,000", "1,234,568", "159.4", "0.0001235", "-1,500"]);
        assert_eq!((alone(27.0, Style::Factor), alone(2.5, Style::Factor)), ("27x".to_owned(), "2.5x".to_owned()));
    }

    #[test]
    fn times_get_a_unit_of_their_size() {
        let shown =
            [0.0, 4e-9, 25e-6, 0.15, 13.986_43, 119.0, 150.0, 9_000.0, 200_000.0].map(|s| alone(s, Style::Seconds));
        assert_eq!(shown, ["0 s", "4 ns", "25 µs", "150 ms", "13.99 s", "119 s", "2.5 min", "2.5 h", "2.315 d"]);
        assert_eq!(alone(1_250.0, Style::Milliseconds), alone(1.25, Style::Seconds));
    }

    #[test]
    fn a_rounded_number_is_not_less() {
        let shown = [0, 7, 99, 100, 101, 1_234, 1_300, 9_901, 1_000_000].map(rounded_up);
        assert_eq!(shown, ["0", "7", "99", "100", "110", "1,300", "1,300", "10,000", "1,000,000"]);
    }

    /// As they stand in the scenario file: in a minute that is not whole nobody finds 500 s.
    #[test]
    fn instants_stay_in_seconds() {
        let shown = [0.0, 0.5, 60.1, 500.0, 86_400.0, 0.000_000_001].map(instant);
        assert_eq!(shown, ["0 s", "0.5 s", "60.1 s", "500 s", "86,400 s", "0.000000001 s"]);
    }

    /// "100 %" says that nothing failed; one failure in a million must not read like that.
    #[test]
    fn a_share_just_below_one_is_not_rounded_to_it() {
        let shown = [1.0, 0.999_999, 0.999_74, 0.5, 1.0 / 3.0, 0.000_012, 0.0].map(|share| alone(share, Style::Share));
        assert_eq!(shown, ["100 %", "99.9999 %", "99.974 %", "50 %", "33.33 %", "0.0012 %", "0 %"]);
    }

    #[test]
    fn the_interval_decides_the_digits() {
        let shown = |mean, half, style| written(mean, Some(half), style);
        assert_eq!(shown(159.434, 0.522, Style::Count), "159.4 ± 0.5");
        assert_eq!(shown(39_012.3, 138.0, Style::Count), "39,012 ± 138");
        assert_eq!(shown(13.986, 0.0176, Style::Seconds), "13.986 ± 0.018 s");
        assert_eq!(shown(0.25, 0.004, Style::Share), "25.0 ± 0.4 %");
        assert_eq!(shown(27.0, 1e-15, Style::Factor), "27x");
    }

    /// An interval that is not zero does not look like it, and a share that is not all does not either.
    #[test]
    fn a_tiny_interval_does_not_stretch_a_figure() {
        let shown = |mean, half, style| written(mean, Some(half), style);
        assert_eq!(shown(99.999_997_6, 0.000_001_5, Style::Milliseconds), "100.000 ± <0.001 ms");
        assert_eq!(shown(59.999_78, 0.000_07, Style::Seconds), "59.9998 ± 0.0001 s");
        assert_eq!(shown(59.999_78, 0.000_05, Style::Seconds), "59.9998 ± 0.0001 s");
        assert_eq!(shown(59.999_78, 0.000_049, Style::Seconds), "59.9998 ± <0.0001 s");
        assert_eq!(shown(1.234_567_8, 0.000_001, Style::Milliseconds), "1.2346 ± <0.0001 ms");
        assert_eq!(shown(123_456_789.0, 0.3, Style::Count), "123,456,789 ± <1");
        assert_eq!(shown(0.999_999_974, 0.000_000_004, Style::Share), "99.9999974 ± 0.0000004 %");
        assert_eq!(shown(0.999_97, 0.000_000_1, Style::Share), "99.9970 ± <0.0001 %");
    }

    /// The shown figure and interval differ from the true ones by a rounding in the last place, or the shown bound is
    /// above the interval: whatever their sizes, what is shown is true.
    #[test]
    fn what_is_shown_holds_for_every_size_of_interval() {
        for mean in [1.0, 2.5, 31.4, 999.999, 12_345.678] {
            for exponent in -8..3 {
                for leading in [1.0, 1.4, 3.3, 4.9, 5.1, 9.7] {
                    let half = leading * libm::pow(10.0, f64::from(exponent));
                    if half <= mean * 1e-9 {
                        // Taken for noise.
                        continue;
                    }
                    let text = written(mean, Some(half), Style::Count).replace(',', "");
                    let (shown, interval) = text.split_once(" ± ").unwrap();
                    let place = libm::pow(10.0, -(shown.split_once('.').map_or(0, |(_, tail)| tail.len()) as f64));
                    assert!((shown.parse::<f64>().unwrap() - mean).abs() <= place * 0.500_001, "{text}");
                    match interval.strip_prefix('<') {
                        Some(bound) => assert!(half < bound.parse().unwrap(), "{half}: {text}"),
                        None => {
                            let interval: f64 = interval.parse().unwrap();
                            assert!(interval > 0.0 && (interval - half).abs() <= place * 0.500_001, "{half}: {text}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_replicas_lack_is_marked() {
        let stat = |values: &[Option<f64>]| Stat::over(Unit::Count, values.iter().copied());
        assert_eq!(figure(Some(&stat(&[Some(4.0), None])), Style::Count, 2), "4*");
        assert_eq!(figure(Some(&stat(&[None, None])), Style::Count, 2), "-");
        assert_eq!(figure(None, Style::Count, 2), "-");
    }
}
