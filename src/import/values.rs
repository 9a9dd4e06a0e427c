//! How formats write durations and errors, and how a scenario does.

use toml_edit::{Array, Value};

use crate::failure::ErrorKind;
use crate::time::Span;

/// A duration, as a scenario writes it: in the largest unit of which it is a whole number.
pub fn duration(span: Span) -> String {
    const UNITS: [(u64, &str); 5] =
        [(60_000_000_000, "m"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let ns = span.as_ns();
    let is_whole = |(unit, _): &&(u64, &str)| ns.is_multiple_of(*unit) && (ns >= 2 * unit || *unit < 60_000_000_000);
    let (unit, name) = UNITS.iter().find(is_whole).unwrap_or(&(1, "ns"));
    if ns == 0 { "0s".to_owned() } else { format!("{}{name}", ns / unit) }
}

/// Errors, as a scenario lists them: in their usual order, each once.
pub fn errors(kinds: impl IntoIterator<Item = ErrorKind>) -> Value {
    let mut kinds: Vec<ErrorKind> = kinds.into_iter().collect();
    kinds.sort();
    kinds.dedup();
    Value::Array(kinds.into_iter().map(ErrorKind::name).collect::<Array>())
}

/// A share of so many per cent, as a scenario writes it.
pub fn share(of: f64) -> Value {
    number(percent(of))
}

/// A number of protocol buffers of 32 bits without sign, as far as a scenario goes.
pub fn count(text: &str) -> Result<i64, String> {
    text.parse::<u32>().map(i64::from).map_err(|_| format!("a whole number from 0 to {}", u32::MAX))
}

/// A number, without a point if it is whole.
pub fn number(number: f64) -> Value {
    let is_whole = number == number.trunc() && number.abs() < 1e15;
    if is_whole { Value::from(number as i64) } else { Value::from(number) }
}

/// A share of so many per cent, without the noise of the division.
pub fn percent(percent: f64) -> f64 {
    (percent * 1e4).round() / 1e6
}

/// A duration of protocol buffers in JSON: seconds with an `s`, such as `0.25s`.
pub fn seconds(text: &str) -> Result<Span, String> {
    let number = text.strip_suffix('s').filter(|number| number.ends_with(|last: char| last.is_ascii_digit()));
    let number =
        number.filter(|number| number.parse::<f64>().is_ok_and(|it| it >= 0.0) && !number.contains(['e', 'E']));
    let number = number.ok_or_else(|| "seconds with an `s`, such as `0.25s`".to_owned())?;
    decimal(number, 1_000_000_000).ok_or_else(|| "at most 52 days, where virtual time ends".to_owned())
}

/// A duration as Go and Kubernetes write it: numbers with units, such as `1m30s`, `500ms`.
pub fn go_duration(text: &str) -> Result<Span, String> {
    let must_be = || "a duration such as `250ms` or `1m30s`".to_owned();
    if text == "0" {
        return Ok(Span::ZERO);
    }
    let mut rest = text;
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let after = &rest[number..];
        let unit = after.len() - after.trim_start_matches(|c: char| c.is_alphabetic()).len();
        let span = decimal(&rest[..number], unit_ns(&after[..unit]).ok_or_else(must_be)?).ok_or_else(must_be)?;
        sum = sum.checked_add(span.as_ns()).filter(|sum| *sum <= Span::LIMIT.as_ns()).ok_or_else(must_be)?;
        rest = &after[unit..];
    }
    if text.is_empty() { Err(must_be()) } else { Ok(Span::from_ns(sum)) }
}

fn unit_ns(unit: &str) -> Option<u64> {
    crate::scenario::duration::nanoseconds(match unit {
        "µs" | "μs" => "us",
        unit => unit,
    })
}

/// So many units of `unit_ns`; none if it is no number, negative, or beyond virtual time. What is below a nanosecond is
/// cut off.
pub fn decimal(number: &str, unit_ns: u64) -> Option<Span> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(18)];
    let parts: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let ns = whole.checked_mul(u128::from(unit_ns))?.checked_add(parts * u128::from(unit_ns) / scale)?;
    u64::try_from(ns).ok().filter(|ns| *ns <= Span::LIMIT.as_ns()).map(Span::from_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_a_scenario_reads_them() {
        for (ns, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500_000, "1500us"),
            (250_000_000, "250ms"),
            (1_500_000_000, "1500ms"),
            (60_000_000_000, "60s"),
            (120_000_000_000, "2m"),
        ] {
            assert_eq!(duration(Span::from_ns(ns)), text);
            assert_eq!(crate::scenario::duration::parse(text), Ok(Span::from_ns(ns)));
        }
    }

    #[test]
    fn each_format_has_its_own_durations() {
        let ms = |span: Result<Span, String>| span.ok().map(Span::as_ms);
        assert_eq!(
            ["0.25s", "3s", "1.000000001s"].map(|text| ms(seconds(text))),
            [Some(250.0), Some(3000.0), Some(1000.000001)]
        );
        assert_eq!(["250ms", "s", "", "-1s", "1e3s", "1.s", "1s s"].map(|text| ms(seconds(text))), [None; 7]);
        assert_eq!(
            ["1m30s", "500ms", "1.5h", "0"].map(|text| ms(go_duration(text))),
            [Some(90e3), Some(500.0), Some(5.4e6), Some(0.0)]
        );
        assert_eq!(["", "5", "ms", "-1s", "1m 30s", "1x", "99999999h"].map(|text| ms(go_duration(text))), [None; 7]);
    }
}
