//! Numbers that were written as texts: with quotes, a per cent sign, or a unit that a plain number goes without.

/// What may follow a number that is meant as it stands.
const UNITS: [&str; 6] = ["x", "X", "×", "/s", "rps", ""];

/// Of per cent. By an exponent and not by a division, so that 99.9 % are 0.999.
const PERCENT: &str = "e-2";

/// The number that a text was meant to be, as TOML writes it: `3` for `3x`, `0.99` for `99%`; none if it is no number.
pub fn meant(text: &str) -> Option<String> {
    let text = text.trim();
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
    fn what_is_no_number_is_not_guessed() {
        for text in ["", "%", "x", "3xx", "inf", "nan", "1e5", "1s", "three", "--1", &"9".repeat(400)] {
            assert_eq!(meant(text), None, "{text}");
        }
    }
}
