//! Keys that are paths: `resilience4j.retry.instances.catalog`, `HttpClients:Catalog:Retry`.

use indexmap::map;

use super::{Entry, Node, Table, Value};
use crate::scenario::Diagnostic;

/// Keys that lead deeper than this stay as they are: no configuration goes there.
const DEPTH_MAX: usize = 32;

/// The tree with a table for each part of a key that has separators in it.
pub fn nested(node: &Node, separator: char) -> Result<Node, Diagnostic> {
    deeper(node, separator, 0)
}

fn deeper(node: &Node, separator: char, depth: usize) -> Result<Node, Diagnostic> {
    let value = match &node.value {
        Value::Table(table) if depth < DEPTH_MAX => {
            let mut out = Table::new();
            for (key, entry) in table {
                // What is in brackets is one name, whatever is in it.
                let parts: Vec<&str> = if key.contains('[') { vec![key] } else { key.split(separator).collect() };
                let parts = if depth + parts.len() <= DEPTH_MAX { parts } else { vec![key.as_str()] };
                let node = deeper(&entry.node, separator, depth + parts.len())?;
                insert(&mut out, &parts, Entry { key: entry.key.clone(), node })?;
            }
            Value::Table(out)
        }
        value => value.clone(),
    };
    Ok(Node { place: node.place.clone(), value })
}

/// Puts an entry where its parts lead. Tables that meet there become one.
fn insert(table: &mut Table, parts: &[&str], entry: Entry) -> Result<(), Diagnostic> {
    let (first, rest) = parts.split_first().expect("a key has parts");
    let entry = rest.iter().rev().fold(entry, |inner, part| {
        let (key, place) = (inner.key.clone(), inner.node.place.clone());
        let table = Table::from_iter([((*part).to_owned(), inner)]);
        Entry { key, node: Node { place, value: Value::Table(table) } }
    });
    match table.entry((*first).to_owned()) {
        map::Entry::Vacant(free) => _ = free.insert(entry),
        map::Entry::Occupied(mut taken) => {
            let there = taken.get().key.clone();
            match (&mut taken.get_mut().node.value, entry.node.value) {
                (Value::Table(table), Value::Table(more)) => {
                    for (key, inner) in more {
                        insert(table, &[&key], inner)?;
                    }
                }
                _ => {
                    let error = Diagnostic::new(format!("`{}` is there twice", parts.join("."))).at(&entry.key);
                    return Err(error.context(&there, "the first one").hint("take one of the two out"));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::plain;
    use super::super::{Syntax, parse};
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        let node = &parse(Syntax::Yaml, text).unwrap()[0];
        nested(node, '.').map(|node| plain(&node)).map_err(|error| error.in_a_line())
    }

    #[test]
    fn parts_of_keys_become_tables_that_meet_what_is_there() {
        assert_eq!(
            expanded("a.b.c: 1\na:\n  b: {d: 2}\n  e.f: [{g.h: 3}]\n\"[x.y]\": 4\n"),
            Ok(r#"{"a":{"b":{"c":"1","d":"2"},"e":{"f":[{"g.h":"3"}]}},"[x.y]":"4"}"#.to_owned())
        );
    }

    #[test]
    fn what_is_there_twice_is_told() {
        for text in ["a.b: 1\na: {b: 2}\n", "a: 1\na.b: 2\n", "a.b: 1\na: 2\n"] {
            assert!(expanded(text).unwrap_err().contains("is there twice"), "{text}");
        }
    }

    #[test]
    fn keys_that_go_on_and_on_stay_as_they_are() {
        let key = ["a"; 500].join(".");
        assert_eq!(expanded(&format!("{key}: 1")), Ok(format!("{{{key:?}:\"1\"}}")));
    }
}
