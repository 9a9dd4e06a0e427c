//! Single values of the format, with the range each may have.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::experiment::Statistic;
use crate::failure::ErrorKind;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::document::{Node, Value};
use crate::scenario::reader::{Read, Reader, bad_name};
use crate::scenario::shape::Shape;
use crate::scenario::{duration, suggest};
use crate::time::Span;

/// What a name looks like, as a regular expression.
pub const NAME_PATTERN: &str = "^[A-Za-z0-9_-]+$";

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

inline_schema!([] Duration, "Duration", { "type": "string", "pattern": r"^[0-9]*\.?[0-9]+(ns|us|ms|s|m|h|d)$" });

impl Read for Duration {
    const SHAPE: Shape = Shape::Value;

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
            _ if MIN == MAX => reader.mismatch(node, &MIN.to_string()),
            _ => reader.mismatch(node, &format!("a whole number from {MIN} to {MAX}")),
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
                match number(&node.value) {
                    Some(number) if number.is_finite() && within(number) => Some(Self(number)),
                    _ => reader.mismatch(node, $words),
                }
            }
        }
    )+};
}

numbers! {
    /// A share or a probability, from 0 to 1.
    Share, "a number from 0 to 1", |x| (0.0..=1.0).contains(&x), { "type": "number", "minimum": 0, "maximum": 1 };
    /// A factor or a weight, above 0.
    Positive, "a number above 0", |x| x > 0.0, { "type": "number", "exclusiveMinimum": 0 };
    /// A factor of at least 1.
    AtLeastOne, "a number of at least 1", |x| x >= 1.0, { "type": "number", "minimum": 1 };
    /// A tolerance, 0 or above.
    NotNegative, "a number of at least 0", |x| x >= 0.0, { "type": "number", "minimum": 0 };
}

fn number(value: &Value) -> Option<f64> {
    match *value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
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

/// A figure of an expectation: a number in the unit of the metric, or a duration.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    /// In the unit of the metric.
    Number(f64),
    /// To be converted to the unit of the metric.
    Time(Span),
}

inline_schema!([] Figure, "Figure", { "type": ["number", "string"] });

impl Read for Figure {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match (&node.value, number(&node.value)) {
            (_, Some(number)) if number.is_finite() => Some(Self::Number(number)),
            (Value::String(_), _) => Duration::read(node, reader).map(|Duration(span)| Self::Time(span)),
            _ => reader.mismatch(node, "a number, or a duration such as `\"250ms\"`"),
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
