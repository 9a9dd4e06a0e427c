//! Times of .NET.

use crate::import::values::decimal;
use crate::time::Span;

/// The longest time of any of these options.
const DAY: u64 = 86_400_000_000_000;

/// A time from `least` to a day, such as `00:00:02.500`.
pub fn time(text: &str, least: Span) -> Result<Span, String> {
    let must_be = || {
        let from = if least == Span::ZERO { "0".to_owned() } else { format!("{} ms", least.as_ms()) };
        format!("a time such as `00:00:02.500`, from {from} to a day (a plain number is in days)")
    };
    parse(text.trim()).filter(|span| *span >= least && span.as_ns() <= DAY).ok_or_else(must_be)
}

/// `d`, `[d.]hh:mm[:ss[.fffffff]]`, or `d:hh:mm:ss[.fffffff]`.
fn parse(text: &str) -> Option<Span> {
    let parts: Vec<&str> = text.split(':').collect();
    let (days, hours, minutes, seconds) = match parts[..] {
        [days] => (days, "0", "0", "0"),
        [hours, minutes] => split_days(hours, minutes, "0"),
        [hours, minutes, seconds] => split_days(hours, minutes, seconds),
        [days, hours, minutes, seconds] => (days, hours, minutes, seconds),
        _ => return None,
    };
    let whole = |text: &str, unit: u64, most: u64| {
        let number: u64 = text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten()?;
        (number <= most).then(|| decimal(text, unit)).flatten()
    };
    let days = whole(days, DAY, 10_000)?;
    let hours = whole(hours, 3_600_000_000_000, 23)?;
    let minutes = whole(minutes, 60_000_000_000, 59)?;
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let second = whole(second, 1_000_000_000, 59)?;
    let fraction = (1..=7).contains(&fraction.len()).then(|| decimal(&format!("0.{fraction}"), 1_000_000_000))??;
    let sum: u64 = [days, hours, minutes, second, fraction].into_iter().map(Span::as_ns).sum();
    (sum <= Span::LIMIT.as_ns()).then_some(Span::from_ns(sum))
}

/// The days of `d.hh`, if there are any.
fn split_days<'t>(hours: &'t str, minutes: &'t str, seconds: &'t str) -> (&'t str, &'t str, &'t str, &'t str) {
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    (days, hours, minutes, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_dotnet() {
        let ms = |text| time(text, Span::ZERO).ok().map(Span::as_ms);
        assert_eq!(
            ["00:00:02", "0:0:2", "00:00:02.500", "00:01", "0.01:02:03", "0:01:02:03.0000001", "1", " 00:00:00 "]
                .map(ms),
            [2e3, 2e3, 2.5e3, 6e4, 3_723e3, 3_723_000.000_1, 8.64e7, 0.0].map(Some)
        );
        let wrong =
            ["", "2", "-1", "00:00:60", "24:00:00", "00:60:00", "2s", "00:00:02.", "00:00:02.12345678", "1.00:00:01"];
        assert_eq!(wrong.map(ms), [None; 10]);
        assert_eq!(["1:2:3:4:5", ":::", "1e400", "99999999999999999999"].map(ms), [None; 4]);
    }
}
