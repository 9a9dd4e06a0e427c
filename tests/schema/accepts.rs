//! As much of JSON Schema as the schema of the format uses, without patterns.

use serde_json::{Map, Value};

/// Whether a value is what a schema describes; `root` is where its references lead.
pub fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let rules = schema.as_object().expect("a schema is an object");
    rules.iter().all(|(rule, argument)| match rule.as_str() {
        "$ref" => {
            let pointer = argument.as_str().unwrap().trim_start_matches('#');
            accepts(root, root.pointer(pointer).expect("the reference leads somewhere"), value)
        }
        "anyOf" => argument.as_array().unwrap().iter().any(|one| accepts(root, one, value)),
        "oneOf" => argument.as_array().unwrap().iter().filter(|one| accepts(root, one, value)).count() == 1,
        "type" => has_type(argument.as_str().unwrap(), value),
        "const" => value == argument,
        "enum" => argument.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|number| number >= argument.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= argument.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > argument.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= argument.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| accepts(root, argument, item))),
        "required" => value.as_object().is_none_or(|table| {
            argument.as_array().unwrap().iter().all(|key| table.contains_key(key.as_str().unwrap()))
        }),
        "properties" | "additionalProperties" => value.as_object().is_none_or(|table| has_keys(root, rules, table)),
        "$schema" | "$defs" | "title" | "description" | "default" | "examples" | "pattern" | "propertyNames" => true,
        other => panic!("the schema uses `{other}`, which this check does not know"),
    })
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("unknown type {other}"),
    }
}

fn has_keys(root: &Value, rules: &Map<String, Value>, table: &Map<String, Value>) -> bool {
    table.iter().all(|(key, value)| {
        match (rules.get("properties").and_then(|keys| keys.get(key)), rules.get("additionalProperties")) {
            (Some(schema), _) => accepts(root, schema, value),
            (None, Some(Value::Bool(allowed))) => *allowed,
            (None, Some(schema)) => accepts(root, schema, value),
            (None, None) => true,
        }
    })
}
