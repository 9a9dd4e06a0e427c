//! Single values of the format, with the range each may have.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::analysis::lint;
use crate::experiment::Statistic;
use crate::experiment::axis::Axis;
use crate::failure::ErrorKind;
use crate::policy::MICRO;
use crate::presets::{self, Preset};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::document::{Node, Value};
use crate::scenario::reader::{Read, Reader, bad_name};
use crate::scenario::shape::Shape;
use crate::scenario::{duration, number, suggest};
use crate::time::Span;

/// What a name looks like, as a regular expression.
pub const NAME_PATTERN: &str = "^[A-Za-z0-9_-]+$";

/// What a path looks like, as a regular expression.
const PATH_PATTERN: &str = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$";

/// What a duration looks like, as a regular expression.
const DURATION_PATTERN: &str = r"^[0-9]*\.?[0-9]+(ns|us|ms|s|m|h|d)$";

/// What the reserve of a deadline looks like, as a regular expression.
const RESERVE_PATTERN: &str = r"^[0-9]*\.?[0-9]+(ns|us|ms|s|m|h|d|%)$";

/// Whether a text can be a name: letters, digits, `_` and `-`, at least one.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Gives a value a schema that is written out where the value is used.
macro_rules! inline_schema {
    ([$($generic:tt)*] $value:ty, $name:expr, $schema:tt) => {
        impl<$($generic)*> JsonSchema for $value {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

/// A duration such as `"250ms"`.
#[derive(Clone, Copy, Debug)]
pub struct Duration(pub Span);

inline_schema!([] Duration, "Duration", { "type": "string", "pattern": DURATION_PATTERN });

impl Read for Duration {
    const SHAPE: Shape = Shape::Duration;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Value::String(text) = &node.value else {
            return match &node.value {
                number @ (Value::Integer(_) | Value::Float(_)) => {
                    let message = format!("{} has no unit", reader.path());
                    let hint = format!("write `\"{number}s\"` or `\"{number}ms\"`, in quotes");
                    reader.refuse(Diagnostic::new(message).at(&node.place).hint(hint))
                }
                _ => reader.mismatch(node, "a duration such as `\"250ms\"`"),
            };
        };
        match duration::parse(text) {
            Ok(span) => Some(Self(span)),
            Err(fault) => {
                let message = format!("{} {}", reader.path(), fault.what);
                reader.refuse(Diagnostic::new(message).at(&node.place).hint(fault.hint))
            }
        }
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug)]
pub struct Whole<const MIN: u64, const MAX: u64>(pub u64);

inline_schema!([const MIN: u64, const MAX: u64] Whole<MIN, MAX>, format!("Whole_{MIN}_{MAX}"), {
    "type": "integer", "minimum": MIN, "maximum": MAX,
});

impl<const MIN: u64, const MAX: u64> Read for Whole<MIN, MAX> {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.value {
            Value::Integer(number) if (i128::from(MIN)..=i128::from(MAX)).contains(&number) => {
                Some(Self(u64::try_from(number).expect("the range is within u64")))
            }
            _ => {
                let expected = if MIN == MAX { MIN.to_string() } else { format!("a whole number from {MIN} to {MAX}") };
                let is_whole = |number: f64| number.fract() == 0.0 && number >= MIN as f64 && number <= MAX as f64;
                reader.mismatch_with(node, &expected, plain_number(&node.value, is_whole))
            }
        }
    }
}

/// The version of the format; only 1 exists.
pub type Version = Whole<1, 1>;

/// How many clients a group has.
pub type Count = Whole<1, { 1 << 28 }>;

/// How many replicas of each variant are run.
pub type Replicas = Whole<1, 1_000_000>;

/// A seed: any number of 64 bits.
pub type Seed = Whole<0, { u64::MAX }>;

/// Attempts of a call; the largest 32-bit number stands for "unlimited" in a plan.
pub type Attempts = Whole<1, { u32::MAX as u64 - 1 }>;

/// Retries of a call: one less than its attempts.
pub type Retries = Whole<0, { u32::MAX as u64 - 2 }>;

/// Tokens that come whole.
pub type WholeTokens = Whole<0, 1_000_000_000>;

/// How many copies of a call run in parallel, or must succeed.
pub type Copies = Whole<1, 10_000>;

/// How many requests a client makes: more than a run can hold.
pub type Requests = Whole<1, 1_000_000_000_000>;

/// Declares numbers with a fraction: name, meaning, range in words, range as a condition, range as a schema.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident, $words:literal, $within:expr, $schema:tt;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub f64);

        inline_schema!([] $name, stringify!($name), $schema);

        impl Read for $name {
            const SHAPE: Shape = Shape::Value;

            fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
                let within: fn(f64) -> bool = $within;
                match as_number(&node.value) {
                    Some(number) if number.is_finite() && within(number) => Some(Self(number)),
                    _ => reader.mismatch_with(node, $words, plain_number(&node.value, within)),
                }
            }
        }
    )+};
}

numbers! {
    /// A share or a probability, from 0 to 1.
    Share, "a number from 0 to 1", |x| (0.0..=1.0).contains(&x), { "type": "number", "minimum": 0, "maximum": 1 };
    /// A share above 0, at most 1.
    AboveZeroShare, "a number above 0, at most 1", |x| x > 0.0 && x <= 1.0,
        { "type": "number", "exclusiveMinimum": 0, "maximum": 1 };
    /// A factor or a weight, above 0.
    Positive, "a number above 0", |x| x > 0.0, { "type": "number", "exclusiveMinimum": 0 };
    /// A factor of at least 1.
    AtLeastOne, "a number of at least 1", |x| x >= 1.0, { "type": "number", "minimum": 1 };
    /// A tolerance, 0 or above.
    NotNegative, "a number of at least 0", |x| x >= 0.0, { "type": "number", "minimum": 0 };
    /// A rate in requests/s, above 0.
    Rate, "a number of requests/s above 0, at most 1e9", |x| x > 0.0 && x <= RATE_MAX,
        { "type": "number", "exclusiveMinimum": 0, "maximum": RATE_MAX as u64 };
    /// Retries for each request of a windowed budget.
    Ratio, "a number from 0 to 1000", |x| (0.0..=1000.0).contains(&x),
        { "type": "number", "minimum": 0, "maximum": 1000 };
    /// A rate in requests/s that may be 0.
    RateOrZero, "a number of requests/s from 0 to 1e9", |x| (0.0..=RATE_MAX).contains(&x),
        { "type": "number", "minimum": 0, "maximum": RATE_MAX as u64 };
}

/// The largest rate, in requests/s: one request per tick of the clock.
const RATE_MAX: f64 = 1e9;

fn as_number(value: &Value) -> Option<f64> {
    match *value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}

/// The way out for a number that was written as a text or in per cent, if that number is within the range.
fn plain_number(value: &Value, within: impl Fn(f64) -> bool) -> Option<String> {
    let good = |number: &String| number.parse().is_ok_and(&within);
    match value {
        Value::String(text) => {
            number::meant(text).filter(good).map(|number| format!("write a plain number: `{number}`"))
        }
        _ => {
            let percent = as_number(value)?;
            let share = number::share_of_percent(percent).filter(good)?;
            Some(format!("for {percent} % write `{share}`"))
        }
    }
}

/// Tokens of a retry budget, in millionths.
#[derive(Clone, Copy, Debug)]
pub struct Tokens(pub u64);

/// The most tokens; so many millionths are still exact as a floating-point number.
const TOKENS_MAX: f64 = 1e9;

inline_schema!([] Tokens, "Tokens", { "type": "number", "minimum": 0, "maximum": TOKENS_MAX as u64 });

impl Read for Tokens {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let range = 0.0..=TOKENS_MAX;
        let Some(tokens) = as_number(&node.value).filter(|tokens| range.contains(tokens)) else {
            return reader.mismatch(node, "a number from 0 to 1e9");
        };
        let micro = (tokens * MICRO as f64).round();
        // Both sides are the number nearest to the same decimal fraction, if it has no more than six decimals.
        if micro / MICRO as f64 == tokens {
            Some(Self(micro as u64))
        } else {
            reader.mismatch(node, "a number with at most 6 decimals")
        }
    }
}

/// `true` or `false`.
impl Read for bool {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.value {
            Value::Boolean(truth) => Some(truth),
            _ => {
                let hint = match &node.value {
                    Value::String(text) if ["true", "yes", "on"].contains(&text.as_str()) => {
                        "write `true`, without quotes"
                    }
                    Value::String(text) if ["false", "no", "off"].contains(&text.as_str()) => {
                        "write `false`, without quotes"
                    }
                    _ => "write `true` or `false`, without quotes",
                };
                reader.mismatch_with(node, "`true` or `false`", Some(hint.to_owned()))
            }
        }
    }
}

/// What is kept back of a deadline.
#[derive(Clone, Copy, Debug)]
pub enum Reserve {
    /// A time.
    Time(Span),
    /// A share of the time until then, from 0 to below 1.
    Share(f64),
}

inline_schema!([] Reserve, "Reserve", { "type": "string", "pattern": RESERVE_PATTERN });

impl Read for Reserve {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Value::String(text) = &node.value else {
            return reader.mismatch(node, "a duration such as `\"50ms\"` or a share such as `\"10%\"`");
        };
        let Some(percent) = text.strip_suffix('%') else {
            return Duration::read(node, reader).map(|Duration(span)| Self::Time(span));
        };
        match percent.parse::<f64>() {
            Ok(percent) if (0.0..100.0).contains(&percent) => Some(Self::Share(percent / 100.0)),
            _ => reader.mismatch(node, "from `\"0%\"` to below `\"100%\"`"),
        }
    }
}

/// Any text.
#[derive(Clone, Debug)]
pub struct Text(pub String);

inline_schema!([] Text, "Text", { "type": "string" });

impl Read for Text {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(Self(text.clone())),
            _ => reader.mismatch(node, "a string in quotes"),
        }
    }
}

/// A rule of `stormsim lint`.
#[derive(Clone, Copy, Debug)]
pub struct RuleId(pub &'static str);

/// The rules that can be allowed.
fn allowable() -> impl Iterator<Item = &'static str> {
    lint::RULES.iter().filter(|rule| rule.can_be_allowed()).map(|rule| rule.id)
}

inline_schema!([] RuleId, "RuleId", { "enum": allowable().collect::<Vec<_>>() });

impl Read for RuleId {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Text(text) = Text::read(node, reader)?;
        match lint::rule(&text) {
            Some(rule) if rule.can_be_allowed() => return Some(Self(rule.id)),
            Some(_) => {
                let error = Diagnostic::new(format!("{}: `{text}` cannot be allowed", reader.path()));
                return reader.refuse(error.at(&node.place).hint("take out what is allowed for nothing"));
            }
            None => {}
        }
        let error = Diagnostic::new(format!("{} has an unknown rule `{text}`", reader.path())).at(&node.place);
        let hint = suggest::hint(&text, "rules", allowable());
        reader.refuse(error.maybe_hint(hint).hint_else(|| "`stormsim lint --rules` lists them".to_owned()))
    }
}

/// The name of a policy of the file, or of a preset.
#[derive(Clone, Debug)]
pub struct PolicyName(pub String);

inline_schema!([] PolicyName, "PolicyName", { "anyOf": [
    { "type": "string", "pattern": NAME_PATTERN },
    { "enum": presets::names().filter(|name| !is_name(name)).collect::<Vec<_>>() },
] });

impl Read for PolicyName {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Text(text) = Text::read(node, reader)?;
        if is_name(&text) {
            return Some(Self(text));
        }
        // The policy that was made of it is called so.
        if let Some(preset) = Preset::find(&text) {
            return Some(Self(preset.policy_name().into_owned()));
        }
        let error = bad_name(&text, &node.place);
        reader.refuse(match suggest::nearest(&text, presets::names()) {
            Some(preset) => error.hint(format!("did you mean `{preset}`?")),
            None => error,
        })
    }
}

/// The name of a preset. What that says has been put beneath the table that names it, see
/// [`presets`](crate::scenario::presets).
#[derive(Clone, Copy, Debug)]
pub struct PresetName;

inline_schema!([] PresetName, "PresetName", { "enum": presets::names().collect::<Vec<_>>() });

impl Read for PresetName {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Text(text) = Text::read(node, reader)?;
        if Preset::find(&text).is_some() {
            return Some(Self);
        }
        let error = Diagnostic::new(format!("{} has an unknown preset `{text}`", reader.path())).at(&node.place);
        let hint = suggest::hint(&text, "presets", presets::names());
        reader.refuse(error.maybe_hint(hint).hint_else(|| presets::LISTED.to_owned()))
    }
}

/// The path of a setting: names with dots between them.
#[derive(Clone, Debug)]
pub struct PathText(pub String);

inline_schema!([] PathText, "PathText", { "type": "string", "pattern": PATH_PATTERN });

impl Read for PathText {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Text(text) = Text::read(node, reader)?;
        if text.split('.').all(is_name) {
            return Some(Self(text));
        }
        let error = Diagnostic::new(format!("{} is no path: `{text}`", reader.path())).at(&node.place);
        reader.refuse(error.hint("a path is names with dots between them, such as `retries.patient.backoff`"))
    }
}

/// A setting with the values that it takes.
#[derive(Clone, Debug)]
pub struct AxisText(pub Axis);

inline_schema!([] AxisText, "AxisText", { "type": "string", "pattern": "=" });

impl Read for AxisText {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Text(text) = Text::read(node, reader)?;
        match Axis::parse(&text) {
            Ok(axis) => Some(Self(axis)),
            Err(error) => reader.refuse(Diagnostic::new(error.to_string()).at(&node.place)),
        }
    }
}

/// A name: letters, digits, `_` and `-`.
#[derive(Clone, Debug)]
pub struct Name(pub String);

inline_schema!([] Name, "Name", { "type": "string", "pattern": NAME_PATTERN });

impl Read for Name {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Text(text) = Text::read(node, reader)?;
        if is_name(&text) { Some(Self(text)) } else { reader.refuse(bad_name(&text, &node.place)) }
    }
}

/// What a figure must be.
const FIGURE: &str = "a number, or a duration such as `\"250ms\"`";

/// A figure of an expectation: a number in the unit of the metric, or a duration.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    /// In the unit of the metric.
    Number(f64),
    /// To be converted to the unit of the metric.
    Time(Span),
}

inline_schema!([] Figure, "Figure", {
    "anyOf": [{ "type": "number" }, { "type": "string", "pattern": DURATION_PATTERN }],
});

impl Read for Figure {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match (&node.value, as_number(&node.value)) {
            (_, Some(number)) if number.is_finite() => Some(Self::Number(number)),
            // A number with a unit of its own, but of no time: which unit the metric has is not known here.
            (Value::String(text), _) if number::meant(text).is_some() => {
                reader.mismatch_with(node, FIGURE, plain_number(&node.value, |_| true))
            }
            (Value::String(_), _) => Duration::read(node, reader).map(|Duration(span)| Self::Time(span)),
            _ => reader.mismatch(node, FIGURE),
        }
    }
}

/// Declares a value that is one of a closed list of names.
macro_rules! one_of {
    ($value:ty, $name:literal, $what:literal, $plural:literal, $all:expr) => {
        inline_schema!([] $value, $name, { "enum": $all.iter().map(|one| one.name()).collect::<Vec<_>>() });

        impl Read for $value {
            const SHAPE: Shape = Shape::Value;

            fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
                let Text(text) = Text::read(node, reader)?;
                if let Some(&one) = $all.iter().find(|one| one.name() == text) {
                    return Some(one);
                }
                let error = Diagnostic::new(format!("{} has an unknown {} `{text}`", reader.path(), $what))
                    .at(&node.place)
                    .maybe_hint(suggest::hint(&text, $plural, $all.iter().map(|one| one.name())));
                reader.refuse(error)
            }
        }
    };
}

one_of!(ErrorKind, "ErrorKind", "error", "errors", ErrorKind::ALL);
one_of!(Statistic, "Statistic", "statistic", "statistics", Statistic::ALL);
