//! Numbers that were written as texts, with quotes, a per cent sign, or a unit that a plain number goes without; and
//! numbers with a comma in them.

use std::borrow::Cow;

/// What may follow a number that is meant as it stands.
const UNITS: [&str; 6] = ["x", "X", "×", "/s", "rps", ""];

/// Of per cent. By an exponent and not by a division, so that 99.9 % are 0.999.
const PERCENT: &str = "e-2";

/// The number that a text was meant to be, as TOML writes it: `3` for `3x`, `0.99` for `99%`, `0.5` for `0,5`; none if it
/// is no number, or may be one of two.
pub fn meant(text: &str) -> Option<String> {
    let text = match readings(text.trim()).as_slice() {
        [] => Cow::Borrowed(text.trim()),
        [only] => Cow::Owned(only.clone()),
        _ => return None,
    };
    match text.strip_suffix('%') {
        Some(percent) => decimal(percent.trim_end(), PERCENT),
        None => UNITS.iter().find_map(|unit| decimal(text.strip_suffix(unit)?.trim_end(), "")),
    }
}

/// The share that so many per cent are, as TOML writes it; none where that is not
/// likely meant: below 2, which is rather a share that is too large, and above 100.
pub fn share_of_percent(percent: f64) -> Option<String> {
    (2.0..=100.0).contains(&percent).then(|| decimal(&percent.to_string(), PERCENT)).flatten()
}

/// What a text that begins with a number with a comma in it may mean, as `0.5` for `0,5`; with three digits after the
/// comma, which may part the thousands too, the number without it comes first. Nothing if there is no such number.
pub fn readings(text: &str) -> Vec<String> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let Some((whole, rest)) = text.split_once(',') else { return Vec::new() };
    let fraction = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    if !is_number(whole.trim_start_matches(['-', '+'])) || !is_number(fraction) || rest.contains([',', '.']) {
        return Vec::new();
    }
    let thousands = (fraction.len() == 3 && !whole.trim_start_matches(['-', '+']).starts_with('0'))
        .then(|| format!("{whole}{rest}"));
    thousands.into_iter().chain([format!("{whole}.{rest}")]).collect()
}

/// One of these, in back-ticks: "`1000` or `1.000`".
pub fn either(readings: &[String]) -> String {
    readings.iter().map(|reading| format!("`{reading}`")).collect::<Vec<_>>().join(" or ")
}

fn decimal(digits: &str, exponent: &str) -> Option<String> {
    let is_decimal = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    let number: f64 = format!("{digits}{exponent}").parse().ok()?;
    (digits.chars().all(is_decimal) && number.is_finite()).then(|| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_without_a_unit_is_found() {
        let meant = |text| meant(text).unwrap_or_else(|| panic!("{text} was meant as a number"));
        assert_eq!([meant("3x"), meant("2.5 ×"), meant("100/s"), meant("-7")], ["3", "2.5", "100", "-7"]);
        assert_eq!([meant("99%"), meant("99.9 %"), meant("0.1%")], ["0.99", "0.999", "0.001"]);
        assert_eq!(
            [0.5, 1.5, 2.5, 99.9, 100.0, 101.0].map(share_of_percent),
            [None, None, Some("0.025".to_owned()), Some("0.999".to_owned()), Some("1".to_owned()), None]
        );
    }

    #[test]
    fn a_comma_is_a_point_or_parts_thousands() {
        assert_eq!(readings("0,5"), ["0.5"]);
        assert_eq!(readings("-1,25s"), ["-1.25s"]);
        assert_eq!(readings("10,000"), ["10000", "10.000"]);
        assert_eq!(readings("0,125"), ["0.125"], "nobody writes a thousand with a zero before it");
        for text in ["0.5", ",5", "5,", "1,000,000", "1,000.5", "a,5", "1, 5"] {
            assert!(readings(text).is_empty(), "{text}");
        }
        assert_eq!([meant("0,5"), meant("99,9 %"), meant("10,000")], [Some("0.5".into()), Some("0.999".into()), None]);
    }

    #[test]
    fn what_is_no_number_is_not_guessed() {
        for text in ["", "%", "x", "3xx", "inf", "nan", "1e5", "1s", "three", "--1", &"9".repeat(400)] {
            assert_eq!(meant(text), None, "{text}");
        }
    }
}
