//! The text as a tree: every key and value with its place. Nothing here knows what the keys mean.

use std::fmt;

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::source::Place;
use crate::scenario::syntax;

/// A table, in the order of the file.
pub type Table = IndexMap<String, Entry>;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where the key is.
    pub key: Place,
    /// The value.
    pub node: Node,
}

impl Entry {
    /// A table without keys.
    pub fn empty(place: Place) -> Self {
        Self { key: place.clone(), node: Node { place, value: Value::Table(Table::new()) } }
    }
}

/// A value with its place. The place of a table is its header or the key that made it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    String(String),
    /// An integer; what does not fit is at the end of the range.
    Integer(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or a time of day.
    Date,
    /// An array.
    List(Vec<Node>),
    /// A table.
    Table(Table),
    /// Something that is no TOML. It has been reported, so that nobody needs to report it again.
    Damaged,
}

impl fmt::Display for Value {
    /// What was found, for messages: a short value as it is, else its kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 40;
        match self {
            Self::String(text) if text.chars().count() <= SHOWN_MAX => write!(f, "{text:?}"),
            Self::String(_) => f.write_str("a long string"),
            Self::Integer(number) if number.unsigned_abs() > u128::from(u64::MAX) => {
                f.write_str("a number beyond 64 bits")
            }
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Boolean(truth) => truth.fmt(f),
            Self::Date => f.write_str("a date"),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Damaged => f.write_str("this"),
        }
    }
}

/// What could be read of a text.
pub struct Parsed {
    /// The tree.
    pub root: Table,
    /// Errors of syntax: one for each line at most, and one for all that may follow from a bracket left open.
    pub errors: Vec<Diagnostic>,
    /// Whether keys may be lost or in the wrong table, so that the tree is not worth checking.
    pub broken: bool,
}

/// Reads a whole text as TOML, as far as it goes.
pub fn parse(text: &str) -> Parsed {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut root = convert_table(table.get_ref(), 0);
    let slips = syntax::slips(text, &errors);
    // After a key that is there twice the tree is sound, after a wrong value too: only that value is unknown.
    let of_tree = slips.iter().filter(|slip| !slip.is_duplicate_key());
    let mut damages: Vec<Damage> =
        of_tree.map(|slip| Damage { place: slip.place.clone(), is_contained: false }).collect();
    damage(&mut root, &mut damages);
    let broken = damages.iter().any(|damage| !damage.is_contained);
    Parsed { root, errors: syntax::describe(text, &slips), broken }
}

/// Reads a text of which it is known that it is TOML, and which starts at `start`.
pub fn parse_known(text: &str, start: usize) -> Table {
    convert_table(DeTable::parse(text).expect("it is known to be TOML").get_ref(), start)
}

/// Reads the value of a flag, which starts at `start`; none if it is no TOML.
pub fn parse_value(text: &str, start: usize) -> Option<Node> {
    DeValue::parse(text).ok().map(|value| convert(&value, start))
}

/// An error of syntax on its way into the tree.
struct Damage {
    place: Place,
    /// Whether a plain value holds all of it.
    is_contained: bool,
}

/// Marks the plain values that hold damages as damaged. The damages come in the order of their places, so that each
/// value finds its own at once.
fn damage(table: &mut Table, damages: &mut [Damage]) {
    for entry in table.values_mut() {
        let Node { place, value } = &mut entry.node;
        match value {
            Value::Table(inner) => damage(inner, damages),
            Value::List(_) => {}
            _ => {
                let first = damages.partition_point(|damage| damage.place.start < place.start);
                let held = damages[first..].iter_mut().take_while(|damage| damage.place.start < place.end);
                for damage in held.filter(|damage| damage.place.end <= place.end && !damage.place.is_empty()) {
                    damage.is_contained = true;
                    *value = Value::Damaged;
                }
            }
        }
    }
}

fn convert_table(table: &DeTable<'_>, start: usize) -> Table {
    table
        .iter()
        .map(|(key, value)| {
            let entry = Entry { key: shift(key.span(), start), node: convert(value, start) };
            (key.get_ref().clone().into_owned(), entry)
        })
        .collect()
}

fn convert(value: &Spanned<DeValue<'_>>, start: usize) -> Node {
    let place = shift(value.span(), start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let edge = if number.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
            Value::Integer(i128::from_str_radix(number.as_str(), number.radix()).unwrap_or(edge))
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(truth) => Value::Boolean(*truth),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.iter().map(|item| convert(item, start)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, start)),
    };
    Node { place, value }
}

fn shift(span: Place, start: usize) -> Place {
    span.start + start..span.end + start
}
