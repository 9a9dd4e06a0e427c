//! JSON, with comments and commas at the end of lists.

use indexmap::map;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};

use super::{Entry, NODES_MAX, Node, Table, Value, empty, template_hint, too_much};
use crate::scenario::Diagnostic;
use crate::scenario::source::Place;

/// Reads a text; none if it is `null`.
pub fn parse(text: &str) -> Result<Option<Node>, Diagnostic> {
    // Files that Windows has written may begin with it.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let range = error.range();
        let place = range.start.min(text.len())..range.end.min(text.len());
        let message = Diagnostic::new(format!("this is not JSON: {}", lower(&error.kind().to_string()))).at(&place);
        message.maybe_hint(template_hint(text, &place).map(str::to_owned))
    })?;
    let value = parsed.value.ok_or_else(empty)?;
    let mut nodes = 0;
    convert(value, &mut nodes).map(Some)
}

/// Messages begin with a small letter here.
fn lower(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn convert(value: ast::Value<'_>, nodes: &mut usize) -> Result<Node, Diagnostic> {
    let place = place_of(&value);
    *nodes += 1;
    if *nodes > NODES_MAX {
        return Err(too_much(&place));
    }
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(truth) => Value::Scalar(truth.value.to_string()),
        ast::Value::NumberLit(number) => Value::Scalar(number.value.to_owned()),
        ast::Value::StringLit(text) => Value::Scalar(text.value.into_owned()),
        ast::Value::Array(array) => {
            Value::List(array.elements.into_iter().map(|item| convert(item, nodes)).collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => {
            let mut table = Table::new();
            for property in object.properties {
                let key = place_of(&property.name);
                let node = convert(property.value, nodes)?;
                match table.entry(property.name.into_string()) {
                    map::Entry::Vacant(free) => _ = free.insert(Entry { key, node }),
                    map::Entry::Occupied(taken) => {
                        let error = Diagnostic::new(format!("`{}` is there twice", taken.key())).at(&key);
                        return Err(error.context(&taken.get().key, "the first one").hint("take one of the two out"));
                    }
                }
            }
            Value::Table(table)
        }
    };
    Ok(Node { place, value })
}

fn place_of(ranged: &impl Ranged) -> Place {
    let range = ranged.range();
    range.start..range.end
}
