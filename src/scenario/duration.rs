//! Durations as they are written: a number and a unit.

use std::sync::LazyLock;

use fundu::{CustomDurationParser, CustomTimeUnit, Multiplier, ParseError, TimeUnit};

use crate::scenario::{number, suggest};
use crate::time::Span;

/// The units, smallest first, with their nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A thousand million times what the units are: the parser's seconds are nanoseconds here, and its fractions are
/// parts of a nanosecond, which it would cut off otherwise.
static PARSER: LazyLock<CustomDurationParser<'static>> = LazyLock::new(|| {
    let unit =
        |name: &'static [&'static str], nanoseconds| CustomTimeUnit::new(TimeUnit::Second, name, Some(nanoseconds));
    CustomDurationParser::builder()
        .time_units(&[
            unit(&["ns"], Multiplier(1, 0)),
            unit(&["us"], Multiplier(1, 3)),
            unit(&["ms"], Multiplier(1, 6)),
            unit(&["s"], Multiplier(1, 9)),
            unit(&["m"], Multiplier(60, 9)),
            unit(&["h"], Multiplier(3_600, 9)),
            unit(&["d"], Multiplier(86_400, 9)),
        ])
        .disable_exponent()
        .disable_infinity()
        .allow_negative()
        .build()
});

/// Why a text is no duration: what follows its path in a message, and the way out.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// "is negative".
    pub what: String,
    /// The way out.
    pub hint: String,
}

/// How many nanoseconds a unit has; none of what is no unit.
pub fn nanoseconds(unit: &str) -> Option<u64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|&(_, nanoseconds)| nanoseconds)
}

/// Reads a duration such as `250ms` or `1.5s`.
///
/// # Errors
/// It has no unit, an unknown one or several, is no number, has a space in it, is negative, not a whole number of
/// nanoseconds, or does not fit into virtual time ([`Span::LIMIT`]).
pub fn parse(text: &str) -> Result<Span, Fault> {
    let fault = |what: String, hint: String| Err(Fault { what, hint });
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(number_len(trimmed));
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return fault(
            format!("must be a duration, not {text:?}"),
            "write a number and a unit, such as `\"250ms\"`".into(),
        );
    }
    if unit.is_empty() {
        return fault("has no unit".into(), format!("write `\"{number}ms\"` or `\"{number}s\"`; {}", units()));
    }
    if position(unit.trim()).is_none() {
        return Err(unknown_unit(trimmed, number, unit.trim()));
    }
    if number.len() + unit.trim().len() != text.len() {
        return fault("has a space in it".into(), format!("write `\"{number}{}\"`, without a space", unit.trim()));
    }
    let too_long = || fault("is too long".into(), "virtual time ends after 52 days".into());
    match PARSER.parse(text) {
        Ok(_) if number.starts_with('-') => fault("is negative".into(), "durations start at `\"0s\"`".into()),
        Ok(scaled) => {
            let scaled = std::time::Duration::try_from(scaled).unwrap_or(std::time::Duration::MAX);
            if scaled.as_secs() >= Span::LIMIT.as_ns() {
                too_long()
            } else if scaled.subsec_nanos() > 0 {
                fault("is not a whole number of nanoseconds".into(), "the clock counts in nanoseconds".into())
            } else {
                Ok(Span::from_ns(scaled.as_secs()))
            }
        }
        Err(ParseError::Overflow) => too_long(),
        Err(_) => {
            fault(format!("must be a duration, not {text:?}"), "write a number and a unit, such as `\"250ms\"`".into())
        }
    }
}

fn units() -> String {
    format!("units are {}", suggest::list(UNITS.map(|(unit, _)| unit)))
}

fn position(unit: &str) -> Option<usize> {
    UNITS.iter().position(|(known, _)| *known == unit)
}

/// How many bytes at the start of a text are those of a number.
fn number_len(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '+' | '-' | '.')).unwrap_or(text.len())
}

fn unknown_unit(text: &str, number: &str, unit: &str) -> Fault {
    if let Some(single) = in_one_unit(text) {
        return Fault { what: "has more than one unit".into(), hint: format!("write `\"{single}\"`") };
    }
    let readings: Vec<_> = number::readings(text).into_iter().filter(|reading| parse(reading).is_ok()).collect();
    if !readings.is_empty() {
        let readings: Vec<_> = readings.iter().map(|reading| format!("{reading:?}")).collect();
        return Fault { what: "has a comma in it".into(), hint: format!("write {}", number::either(&readings)) };
    }
    let hint = intended(unit).map_or_else(units, |unit| format!("write `\"{number}{unit}\"`"));
    Fault { what: format!("has an unknown unit `{unit}`"), hint }
}

/// `90m` for `1h30m`: the sum of several durations in the largest of their units in which it is whole.
fn in_one_unit(text: &str) -> Option<String> {
    let mut total = Span::ZERO;
    let mut smallest = UNITS.len() - 1;
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let number = number_len(rest);
        let letters = rest[number..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - number);
        let (single, after) = rest.split_at(number + letters);
        smallest = smallest.min(position(&single[number..])?);
        total = total + parse(single).ok()?;
        rest = after.trim_start();
    }
    let (unit, nanoseconds) = UNITS[..=smallest].iter().rev().find(|&&(_, unit)| total.as_ns().is_multiple_of(unit))?;
    Some(format!("{}{unit}", total.as_ns() / nanoseconds))
}

/// The unit that was meant by a longer word or a capital.
fn intended(unit: &str) -> Option<&'static str> {
    const LONG: [(&str, &[&str]); 7] = [
        ("ns", &["nano", "nanos", "nanosecond", "nanoseconds"]),
        ("us", &["µs", "μs", "micro", "micros", "microsecond", "microseconds"]),
        ("ms", &["milli", "millis", "millisecond", "milliseconds", "msec", "msecs"]),
        ("s", &["sec", "secs", "second", "seconds"]),
        ("m", &["min", "mins", "minute", "minutes"]),
        ("h", &["hr", "hrs", "hour", "hours"]),
        ("d", &["day", "days"]),
    ];
    let unit = unit.to_lowercase();
    LONG.iter().find(|(short, long)| unit == *short || long.contains(&unit.as_str())).map(|&(short, _)| short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> u64 {
        parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}")).as_ns()
    }

    fn fault(text: &str) -> String {
        match parse(text) {
            Ok(span) => panic!("{text} was taken as {span:?}"),
            Err(fault) => format!("{}; {}", fault.what, fault.hint),
        }
    }

    #[test]
    fn every_unit_is_exact() {
        assert_eq!(ns("7ns"), 7);
        assert_eq!(ns("1us"), 1_000);
        assert_eq!(ns("250ms"), 250_000_000);
        assert_eq!(ns("1s"), 1_000_000_000);
        assert_eq!(ns("2m"), 120_000_000_000);
        assert_eq!(ns("1h"), 3_600_000_000_000);
        assert_eq!(ns("52d"), 52 * 86_400_000_000_000);
        assert_eq!(ns("0s"), 0);
        assert_eq!(ns("1.5s"), 1_500_000_000);
        assert_eq!(ns("0.000000001s"), 1, "a fraction may go down to one nanosecond");
        assert_eq!(ns("4503599627370495ns"), (1 << 52) - 1, "the last one below the limit of 2^52 ns");
    }

    #[test]
    fn each_mistake_has_its_own_words() {
        let limit = "is too long; virtual time ends after 52 days";
        assert_eq!(fault("4503599627370496ns"), limit);
        assert_eq!(fault("53d"), limit);
        assert_eq!(fault("99999999999999999999999999d"), limit);
        assert_eq!(fault("-5s"), "is negative; durations start at `\"0s\"`");
        assert_eq!(fault("0.5ns"), "is not a whole number of nanoseconds; the clock counts in nanoseconds");
        assert_eq!(fault("5 seconds"), "has an unknown unit `seconds`; write `\"5s\"`");
        assert_eq!(fault("5S"), "has an unknown unit `S`; write `\"5s\"`");
        for text in ["20 ms", " 20ms", "20ms ", "20\tms"] {
            assert_eq!(fault(text), "has a space in it; write `\"20ms\"`, without a space", "{text:?}");
        }
        assert_eq!(fault("1h30m"), "has more than one unit; write `\"90m\"`");
        assert_eq!(fault("1h 0.5m"), "has more than one unit; write `\"3630s\"`");
        assert_eq!(fault("1s500ms"), "has more than one unit; write `\"1500ms\"`");
        let units = "units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d`";
        assert_eq!(fault("5parsecs"), format!("has an unknown unit `parsecs`; {units}"));
        assert_eq!(fault("5"), format!("has no unit; write `\"5ms\"` or `\"5s\"`; {units}"));
        for text in ["", "soon", "s", "1.2.3s", "--1s"] {
            assert!(fault(text).starts_with("must be a duration"), "{text}");
        }
    }
}
