//! How keys, tables and choices are written, as a way out for whoever wrote something else: the examples of their doc
//! comments, put together.

use crate::scenario::schema::Notes;
use crate::scenario::shape::{ChoiceShape, KeyShape, Shape, TableShape};

/// The first example in the doc comment of a key.
pub fn of_key(doc: &str) -> Option<&str> {
    Notes::of(doc.trim()).example?.split('`').nth(1)
}

/// A table with what it must have, or with its first key if it need not have any. `meant` is one of its keys with the
/// value for it.
pub fn of_table(shape: &TableShape, meant: Option<(&str, String)>) -> String {
    let is_meant = |key: &KeyShape| meant.as_ref().is_some_and(|(name, _)| *name == key.name);
    let mut chosen: Vec<&KeyShape> = shape.keys.iter().filter(|key| is_meant(key)).collect();
    for key in shape.keys.iter().filter(|key| is_required(key)) {
        if chosen.iter().all(|other| other.name != key.name && !shape.twins(key.name).any(|twin| twin == other.name)) {
            chosen.push(key);
        }
    }
    if chosen.is_empty() {
        chosen.extend(shape.keys.first());
    }
    let entries = shape.keys.iter().filter(|key| chosen.iter().any(|other| other.name == key.name)).filter_map(|key| {
        let value = match &meant {
            Some((name, value)) if *name == key.name => value,
            _ => of_key(key.doc)?,
        };
        Some(format!("{} = {value}", key.name))
    });
    format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
}

/// The key of a table for which a value was probably meant that stands in place of the table: the first that the table
/// must have, or the only one. `fits` says for each key whether the value could be its own.
pub fn key_meant(shape: &TableShape, fits: &[bool]) -> Option<&'static str> {
    let fitting = || shape.keys.iter().zip(fits).filter(|&(_, &fits)| fits).map(|(key, _)| key);
    let only = fitting().next().filter(|_| fitting().count() == 1);
    fitting().find(|key| is_required(key)).or(only).map(|key| key.name)
}

fn is_required(key: &KeyShape) -> bool {
    Notes::of(key.doc.trim()).required.is_some()
}

/// How a tag of a choice is written, in back-ticks.
pub fn of_tag(shape: &ChoiceShape, tag: &str) -> String {
    match shape.find(tag) {
        Some(Some(Shape::Table(table))) => format!("`{{ {tag} = {} }}`", of_table(table, None)),
        Some(Some(_)) => format!("`{{ {tag} = ... }}`"),
        _ => format!("`\"{tag}\"`"),
    }
}

/// How the first tag of a choice is written.
pub fn of_choice(shape: &ChoiceShape) -> String {
    shape.tags.first().map_or_else(String::new, |&(tag, _)| of_tag(shape, tag))
}

/// Where a key belongs that a table does not have, if that is in a table within it.
pub fn further_in(shape: &TableShape, key: &str) -> Option<String> {
    let place = shape.keys.iter().find_map(|outer| within(outer.name, outer.shape, key))?;
    Some(format!("it belongs further in: write `{place}`"))
}

/// `shape` stands under `name`: how a key somewhere within it is written.
fn within(name: &str, shape: Shape, key: &str) -> Option<String> {
    match shape {
        Shape::Table(table) => {
            let own = table.keys.iter().find(|own| own.name == key);
            let own = own.and_then(|own| Some(format!("{key} = {}", of_key(own.doc)?)));
            let inner = own.or_else(|| table.keys.iter().find_map(|inner| within(inner.name, inner.shape, key)))?;
            Some(format!("{name} = {{ {inner} }}"))
        }
        Shape::Choice(choice) => {
            let inner = choice.tags.iter().find_map(|&(tag, takes)| within(tag, takes?, key))?;
            Some(format!("{name} = {{ {inner} }}"))
        }
        Shape::Value | Shape::Duration | Shape::Named(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tables::{FaultTable, ServiceTable, SlowTable};

    #[test]
    fn a_table_is_shown_with_what_it_must_have() {
        assert_eq!(of_table(&FaultTable::TABLE, None), "{ on = [\"db\"], effect = \"refuse\" }");
        assert_eq!(of_table(&ServiceTable::TABLE, None), "{ service_time = \"5ms\" }");
        let meant = Some(("first_instances", "2".to_owned()));
        assert_eq!(of_table(&FaultTable::TABLE, meant), "{ on = [\"db\"], first_instances = 2, effect = \"refuse\" }");
    }

    /// `factor` and `add` are both required in place of the other.
    #[test]
    fn keys_that_exclude_each_other_are_not_shown_together() {
        assert_eq!(of_table(&SlowTable::TABLE, None), "{ factor = 10 }");
        assert_eq!(of_table(&SlowTable::TABLE, Some(("add", "\"1s\"".to_owned()))), "{ add = \"1s\" }");
    }

    #[test]
    fn a_key_of_an_inner_table_is_found() {
        assert_eq!(
            further_in(&FaultTable::TABLE, "correlation").unwrap(),
            "it belongs further in: write `effect = { fail = { correlation = 1.0 } }`"
        );
        assert_eq!(
            further_in(&ServiceTable::TABLE, "knee").unwrap(),
            "it belongs further in: write `contention = { knee = 50 }`"
        );
        assert_eq!(further_in(&ServiceTable::TABLE, "timeout"), None, "calls are what a user names");
    }
}
