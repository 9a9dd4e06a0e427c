//! The format as a JSON Schema, for editors and for the reference page: from the doc comments of the typed tables.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use crate::scenario::tables::ScenarioTable;

/// The JSON Schema (draft 2020-12) of a scenario file. Every key has a description and examples, and where its absence
/// means a value, that as its `default`.
///
/// Nothing is `required` in it: what a file leaves out may come from a variant.
pub fn json_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(add_values));
    settings.into_generator().into_root_schema_for::<ScenarioTable>().to_value()
}

/// The same as text: what `stormsim schema` prints and `schema/scenario.json` holds.
pub fn json_schema_text() -> String {
    format!("{:#}\n", json_schema())
}

/// What the description of a key says, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes<'a> {
    /// What the key means.
    pub meaning: &'a str,
    /// `Required`, or what else the file must have in its place; none for a key that may be absent.
    pub required: Option<&'a str>,
    /// What its absence means; none for a key that is required, or that only adds something.
    pub default: Option<&'a str>,
    /// One or two values in back-ticks, as they stand in a file.
    pub example: Option<&'a str>,
}

impl<'a> Notes<'a> {
    /// The parts of a description. They stand in this order, each but the meaning with its word before it.
    pub fn of(description: &'a str) -> Self {
        let (rest, example) = split(description, "Example: ");
        let (rest, default) = split(rest, "Default: ");
        let (meaning, required) = split(rest, "Required");
        let required = required.map(|_| rest[meaning.len()..].trim_start_matches(['.', ' ']));
        Self { meaning, required, default, example }
    }
}

/// The text before a sentence that begins with `word`, and the rest of that sentence; both without the full stop.
fn split<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let (before, sentence) = match text.rfind(&format!(". {word}")) {
        Some(at) => (&text[..at], Some(&text[at + 2 + word.len()..])),
        None => (text, None),
    };
    (before.trim_end_matches('.'), sentence.map(|sentence| sentence.trim_end_matches('.')))
}

/// States the default and the examples of a key as values too.
fn add_values(schema: &mut Schema) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for key in properties.values_mut().filter_map(Value::as_object_mut) {
        let Some(description) = key.get("description").and_then(Value::as_str) else { continue };
        let notes = Notes::of(description);
        // A default may be in words, such as "the label".
        let default = notes.default.and_then(|default| values(default).into_iter().next());
        let examples = notes.example.map(values);
        if let Some(default) = default {
            key.insert("default".to_owned(), default);
        }
        if let Some(examples) = examples {
            key.insert("examples".to_owned(), Value::Array(examples));
        }
    }
}

/// The TOML values that a text has in back-ticks.
fn values(text: &str) -> Vec<Value> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter_map(|value| {
            let table: toml::Table = toml::from_str(&format!("value = {value}")).ok()?;
            serde_json::to_value(&table["value"]).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_comes_apart_at_its_words() {
        let notes = Notes::of("A limit. Only so. Default: `\"none\"`, never. Example: `\"1s\"` or `2.5`.");
        assert_eq!((notes.meaning, notes.required), ("A limit. Only so", None));
        assert_eq!((notes.default, notes.example), (Some("`\"none\"`, never"), Some("`\"1s\"` or `2.5`")));
        assert_eq!(values(notes.example.unwrap()), [Value::from("1s"), Value::from(2.5)]);
        let notes = Notes::of("Attempts. Required, or `max_retries`. Example: `3`.");
        assert_eq!((notes.meaning, notes.required), ("Attempts", Some("Required, or `max_retries`")));
        assert!(values("the label, or `max`").is_empty(), "a default in words is no value");
    }
}
