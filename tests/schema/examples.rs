//! Puts the example of every key into a scenario, in its place, and reads that.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use stormsim::scenario::schema::Notes;
use stormsim::scenario::{Overrides, Scenario};

/// A scenario with what the examples name, and with something for each to fit: a key may stand in several of its tables
/// of one kind, and its example needs to fit one of them.
const AROUND: &str = r#"
version = 1
name = "examples"
horizon = "60s"
retries = { patient = { max_retries = 2 } }
variants = { fixed = {} }

[clients]
web = { arrivals = { constant = { rate = 1 } }, calls = { gateway = {} } }
more = { arrivals = { profile = [{ at = "0s", rate = 1 }, { at = "9s", rate = 2 }] }, calls = { gateway = {} } }
steady = { arrivals = { constant = { rate = 1 } }, calls = { gateway = {} } }

[services]
gateway = { calls = { orders = { propagate_deadline = true } } }
orders = { calls = { db = {}, cache = { to = "db" }, fanned-out = { to = "db", copies = 50 } } }
aside = { calls = { auth = { to = "db" }, shard = { to = "db" }, ads = { to = "db" } } }
db = { workers = 8, instances = 3 }

[faults]
outage = { on = ["db"], until = "2s", effect = "refuse" }
open = { on = ["db"], effect = "refuse" }
broken = { on = ["orders->db"], effect = "blackhole" }
peak = { on = ["steady"], effect = { load = { factor = 2 } } }

[[expect]]
metric = "attempts"
equals = 1
from = "0s"
[[expect]]
metric = "amplification"
service = "db"
at_most = 3
[[expect]]
metric = "attempts"
call = "orders->db"
at_least = 1
[[expect]]
metric = "completion_s"
at_most = "2s"
[[expect]]
metric = "windows"
fault = "outage"
equals = 1
"#;

/// Keys by their table and name, each with what its examples were answered with in every place where it may stand.
pub type Answers = IndexMap<String, Vec<Result<(), String>>>;

/// Tries every example in every place where its key may stand. Files are looked for in `folder`.
pub fn try_all(schema: &Value, folder: &Path) -> Answers {
    let around = toml::from_str::<toml::Table>(AROUND).expect("it is TOML");
    let document = serde_json::to_value(around).expect("it has no dates");
    let mut walk = Walk { root: schema, document, folder, steps: Vec::new(), answers: Answers::new() };
    walk.walk(schema);
    walk.answers
}

/// One step towards a place.
#[derive(Clone, Debug)]
enum Step<'a> {
    /// A key of the table with this schema, or a name.
    Key(&'a str, &'a Value),
    /// The tag of a choice, which nothing may stand beside.
    Tag(&'a str),
    /// A name that the scenario has.
    Name(String),
    /// An item of a list.
    Item(usize),
}

struct Walk<'a> {
    root: &'a Value,
    document: Value,
    folder: &'a Path,
    /// The way to what is being looked at.
    steps: Vec<Step<'a>>,
    answers: Answers,
}

impl<'a> Walk<'a> {
    /// Tries the examples of every key beneath a schema.
    fn walk(&mut self, schema: &'a Value) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = reference.trim_start_matches('#');
            self.walk(self.root.pointer(pointer).expect("the reference leads somewhere"));
        }
        for rule in ["anyOf", "oneOf"] {
            schema.get(rule).and_then(Value::as_array).into_iter().flatten().for_each(|one| self.walk(one));
        }
        for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // Nothing else is required in the schema.
            if schema.get("required").is_some() {
                self.under(Step::Tag(key), property);
            } else {
                self.try_key(schema, key, property);
                self.under(Step::Key(key, schema), property);
            }
        }
        if let Some(named @ Value::Object(_)) = schema.get("additionalProperties") {
            let here = found(&self.document, &self.steps).and_then(Value::as_object);
            let names: Vec<String> = here.into_iter().flat_map(|table| table.keys().cloned()).collect();
            names.into_iter().for_each(|name| self.under(Step::Name(name), named));
        }
        if let Some(items) = schema.get("items") {
            let here = found(&self.document, &self.steps).and_then(Value::as_array);
            let count = here.map_or(1, Vec::len);
            (0..count).for_each(|at| self.under(Step::Item(at), items));
        }
    }

    fn under(&mut self, step: Step<'a>, schema: &'a Value) {
        self.steps.push(step);
        self.walk(schema);
        self.steps.pop();
    }

    /// Tries the examples of a key of the table that is being looked at.
    fn try_key(&mut self, table: &'a Value, key: &'a str, property: &'a Value) {
        for example in property["examples"].as_array().into_iter().flatten() {
            let mut document = self.document.clone();
            let steps: Vec<Step> = self.steps.iter().cloned().chain([Step::Key(key, table)]).collect();
            put(&mut document, &steps, example);
            let title = table["title"].as_str().unwrap_or_default();
            let answer = read(&document, self.folder);
            self.answers.entry(format!("`{key} = {example}` of {title}")).or_default().push(answer);
        }
    }
}

/// What stands in a place; none if nothing does.
fn found<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(name, _) | Step::Tag(name) => value.get(name),
        Step::Name(name) => value.get(name),
        Step::Item(at) => value.get(at),
    })
}

/// Puts a value into a place. What is missing on the way is made, with what each table must have.
fn put(value: &mut Value, steps: &[Step], example: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = example.clone();
        return;
    };
    match step {
        Step::Key(key, schema) => {
            let table = table_of(value);
            let property = &schema["properties"][key];
            alternatives(property).for_each(|other| drop(table.remove(other)));
            let inner = table.entry(*key).or_insert(Value::Null);
            match (inner.as_object_mut(), example.as_object()) {
                // Of named tables the others stay: the scenario needs them.
                (Some(named), Some(example)) if rest.is_empty() && property["additionalProperties"].is_object() => {
                    named.extend(example.clone());
                }
                _ => put(inner, rest, example),
            }
            complete(table, &schema["properties"]);
        }
        Step::Tag(tag) => {
            let table = table_of(value);
            table.retain(|other, _| other == tag);
            put(table.entry(*tag).or_insert(Value::Null), rest, example);
        }
        Step::Name(name) => put(table_of(value).entry(name).or_insert(Value::Null), rest, example),
        Step::Item(at) => {
            if !value.is_array() {
                *value = json!([null]);
            }
            put(&mut value[at], rest, example);
        }
    }
}

/// The table in a place, in which something else may have stood.
fn table_of(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("it has just become one")
}

/// Adds the examples of the keys that a table must have.
fn complete(table: &mut Map<String, Value>, properties: &Value) {
    for (key, property) in properties.as_object().into_iter().flatten() {
        let is_required = notes(property).required.is_some();
        let is_there = table.contains_key(key) || alternatives(property).any(|other| table.contains_key(other));
        // One percentile is enough, and each says that another would do.
        let is_percentile = notes(property).required.is_some_and(|required| required.ends_with("another percentile"));
        if is_required && !is_there && !is_percentile {
            table.insert(key.clone(), property["examples"][0].clone());
        }
    }
}

/// The keys of which one must be there in place of this one.
fn alternatives(property: &Value) -> impl Iterator<Item = &str> {
    notes(property).required.into_iter().flat_map(|required| required.split('`').skip(1).step_by(2))
}

fn notes(property: &Value) -> Notes<'_> {
    Notes::of(property["description"].as_str().unwrap_or_default())
}

fn read(document: &Value, folder: &Path) -> Result<(), String> {
    let text = toml::to_string(document).expect("tables, lists, strings and numbers");
    let read = Scenario::parse("examples.toml", &text, folder, &Overrides::default());
    read.map(drop).map_err(|errors| errors.to_string())
}

/// The scenario itself is good: what is wrong with it and an example is wrong with the example.
#[test]
fn what_is_around_the_examples_is_good() {
    Scenario::parse("examples.toml", AROUND, Path::new(""), &Overrides::default()).expect("nothing is wrong with it");
}
