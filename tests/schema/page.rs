//! The reference page: one section for each kind of table and each choice, in the order in which a file leads to them.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::{Map, Value};
use stormsim::scenario::schema::Notes;

const HEAD: &str = "\
# The scenario format

Every key that a scenario file may have. The page is made from the doc comments in `src/scenario/tables`, as is
`schema/scenario.json`; `UPDATE_SCHEMA=1 cargo test --test schema` writes both anew. For completion and checks in an
editor begin a file with `#:schema` and the path of `schema/scenario.json`, or of what `stormsim schema` prints.

A choice is written as a table with one key, such as `{ burst = { at = \"0s\" } }`, or as a bare string where it takes no
settings. Durations are strings of a number and a unit: `ns`, `us`, `ms`, `s`, `m`, `h`, `d`. Names are made of letters,
digits, `_` and `-`. The path of a setting, as `--set` and `[variants]` use it, is the path of its table and its key. What `expect` can
measure is listed in [metrics.md](metrics.md).
";

/// Where a definition is used, by its name.
type Uses = IndexMap<String, Vec<String>>;

/// The whole page.
pub fn write(schema: &Value) -> String {
    let mut page = HEAD.to_owned();
    let mut uses = Uses::new();
    collect(schema, schema, "", &mut uses);
    section(&mut page, schema, schema, &[]);
    for (name, paths) in &uses {
        section(&mut page, schema, &schema["$defs"][name], paths);
    }
    page
}

/// Notes every definition that a schema leads to with the paths on which it does.
fn collect(root: &Value, schema: &Value, path: &str, uses: &mut Uses) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if let Some(name) = definition(schema) {
        let paths = uses.entry(name.to_owned()).or_default();
        paths.push(path.to_owned());
        collect(root, &root["$defs"][name], path, uses);
    }
    for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        collect(root, property, &below(key), uses);
    }
    if let Some(named @ Value::Object(_)) = schema.get("additionalProperties") {
        collect(root, named, &below("NAME"), uses);
    }
    if let Some(items) = schema.get("items") {
        collect(root, items, &format!("{path}[]"), uses);
    }
    for rule in ["anyOf", "oneOf"] {
        schema.get(rule).and_then(Value::as_array).into_iter().flatten().for_each(|one| collect(root, one, path, uses));
    }
}

fn definition(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)?.strip_prefix("#/$defs/")
}

fn section(page: &mut String, root: &Value, schema: &Value, paths: &[String]) {
    let _ = write!(page, "\n## {}\n\n", heading(schema));
    match paths {
        [] => {}
        [first, second, third, _, others @ ..] if !others.is_empty() => {
            let _ = write!(page, "At `{first}`, `{second}`, `{third}` and {} other places. ", paths.len() - 3);
        }
        _ => {
            let _ =
                write!(page, "At {}. ", paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", "));
        }
    }
    let _ = writeln!(page, "{}", schema["description"].as_str().unwrap());
    if let Some(keys) = schema.get("properties").and_then(Value::as_object) {
        page.push_str(&keys_table(root, keys));
    } else if let Some(tags) = schema.get("oneOf").and_then(Value::as_array) {
        page.push_str(&tags_table(root, tags));
    } else if let Some(forms) = schema.get("anyOf").and_then(Value::as_array) {
        page.push('\n');
        for form in forms {
            let _ = writeln!(page, "- {}: {}", kind(root, form), form["description"].as_str().unwrap());
        }
    }
}

fn keys_table(root: &Value, keys: &Map<String, Value>) -> String {
    let mut table = "\n| key | type | default | example | meaning |\n|---|---|---|---|---|\n".to_owned();
    for (key, property) in keys {
        let notes = Notes::of(property["description"].as_str().unwrap());
        let absence = notes.required.or(notes.default).unwrap();
        let cells = [&*kind(root, property), absence, notes.example.unwrap(), notes.meaning].map(escape);
        let _ = writeln!(table, "| `{key}` | {} |", cells.join(" | "));
    }
    table
}

fn tags_table(root: &Value, tags: &[Value]) -> String {
    let mut table = "\n| choice | takes | meaning |\n|---|---|---|\n".to_owned();
    for tag in tags {
        let meaning = escape(tag["description"].as_str().unwrap());
        let _ = match tag.get("properties").and_then(Value::as_object).and_then(|one| one.iter().next()) {
            Some((name, payload)) => writeln!(table, "| `{name}` | {} | {meaning} |", escape(&kind(root, payload))),
            None => writeln!(table, "| `{}` | nothing | {meaning} |", tag["const"]),
        };
    }
    table
}

/// A cell of a table must not end it.
pub fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

/// What may stand somewhere, in words.
fn kind(root: &Value, schema: &Value) -> String {
    if let Some(name) = definition(schema) {
        let target = &root["$defs"][name];
        let anchor = heading(target).to_lowercase().replace(' ', "-");
        return format!("[{}](#{anchor})", target["title"].as_str().unwrap());
    }
    if let Some(forms) = schema.get("anyOf").and_then(Value::as_array) {
        return forms.iter().map(|form| kind(root, form)).collect::<Vec<_>>().join(" or ");
    }
    if let Some(word) = schema.get("const") {
        return format!("`{word}`");
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    match schema["type"].as_str().expect("a schema of the format has one of these") {
        "string" => match schema.get("pattern").and_then(Value::as_str) {
            None => "string".to_owned(),
            Some(pattern) if pattern.ends_with("(ns|us|ms|s|m|h|d)$") => "duration".to_owned(),
            Some(pattern) if pattern.ends_with("(ns|us|ms|s|m|h|d|%)$") => "duration or percentage".to_owned(),
            Some(_) => "name".to_owned(),
        },
        "boolean" => "`true` or `false`".to_owned(),
        "integer" => format!("whole number{}", range(schema)),
        "number" => format!("number{}", range(schema)),
        "array" => format!("list: {}", kind(root, &schema["items"])),
        "object" => match &schema["additionalProperties"] {
            named @ Value::Object(_) => format!("by name: {}", kind(root, named)),
            _ => "table".to_owned(),
        },
        other => panic!("unknown type {other}"),
    }
}

fn range(schema: &Value) -> String {
    let [minimum, above, maximum] = ["minimum", "exclusiveMinimum", "maximum"].map(|rule| schema.get(rule));
    match (minimum, above, maximum) {
        (Some(low), _, Some(high)) if low == high => format!(" {low}"),
        (Some(low), _, Some(high)) => format!(" from {low} to {high}"),
        (Some(low), _, None) => format!(" of at least {low}"),
        (None, Some(low), Some(high)) => format!(" above {low}, at most {high}"),
        (None, Some(low), None) => format!(" above {low}"),
        (None, None, _) => String::new(),
    }
}

/// "a client group" as a heading: "Client group".
fn heading(schema: &Value) -> String {
    let title = schema["title"].as_str().unwrap();
    let title = title.strip_prefix("an ").or(title.strip_prefix("a ")).unwrap_or(title);
    title[..1].to_uppercase() + &title[1..]
}
