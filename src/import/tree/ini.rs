//! Sections and settings in lines, as in the shared configuration files of the AWS SDKs.
//!
//! The crates that read such files do not say where a value stands, and messages here do: the format is a line at a
//! time, and that is all there is to it.

use indexmap::map;

use super::{Entry, Node, Table, Value, empty};
use crate::scenario::Diagnostic;
use crate::scenario::source::Place;

/// Reads a text: a table of sections, each a table of settings. A section that is there twice is one.
pub fn parse(text: &str) -> Result<Node, Diagnostic> {
    let mut sections = Table::new();
    let mut current: Option<String> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = start..start + line.len();
        start = place.end;
        // What is indented belongs to the setting above it: nested settings, of which none is about retries.
        let is_nested = line.starts_with([' ', '\t']) && is_open(&sections, current.as_deref());
        let content = trimmed(line, &place);
        if text[content.clone()].is_empty() || text[content.clone()].starts_with(['#', ';']) || is_nested {
            continue;
        }
        if text[content.clone()].starts_with('[') {
            current = Some(section(text, &content, &mut sections)?);
        } else {
            setting(text, &content, current.as_deref(), &mut sections)?;
        }
    }
    if sections.is_empty() { Err(empty()) } else { Ok(Node { place: 0..text.len(), value: Value::Table(sections) }) }
}

/// Whether the last setting of a section has no value, so that what is indented beneath it is that.
fn is_open(sections: &Table, current: Option<&str>) -> bool {
    let section = current.and_then(|name| sections.get(name)?.node.table());
    section.and_then(|table| table.last()).is_some_and(|(_, entry)| matches!(entry.node.value, Value::Null))
}

/// The name of the section that a line begins.
fn section(text: &str, line: &Place, sections: &mut Table) -> Result<String, Diagnostic> {
    let inside = text[line.clone()].strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((name, _)) = inside else {
        let error = Diagnostic::new("this section has no end").at(line);
        return Err(error.hint("close it, as in `[profile batch]`"));
    };
    let key = trimmed(name, &(line.start + 1..line.start + 1 + name.len()));
    let name = text[key.clone()].to_owned();
    let node = Node { place: key.clone(), value: Value::Table(Table::new()) };
    sections.entry(name.clone()).or_insert(Entry { key, node });
    Ok(name)
}

fn setting(text: &str, line: &Place, section: Option<&str>, sections: &mut Table) -> Result<(), Diagnostic> {
    let Some((key, value)) = text[line.clone()].split_once('=') else {
        let error = Diagnostic::new("this is no setting").at(line);
        return Err(error.hint("write `key = value`, or a section as in `[default]`"));
    };
    let Some(Value::Table(table)) = section.and_then(|name| sections.get_mut(name)).map(|entry| &mut entry.node.value)
    else {
        let error = Diagnostic::new("this setting is in no section").at(line);
        return Err(error.hint("begin with a section, such as `[default]`"));
    };
    let value_start = line.start + key.len() + 1;
    let place = trimmed(value, &(value_start..value_start + value.len()));
    let key = trimmed(key, &(line.start..line.start + key.len()));
    let value = match &text[place.clone()] {
        "" => Value::Null,
        value => Value::Scalar(value.to_owned()),
    };
    match table.entry(text[key.clone()].to_owned()) {
        map::Entry::Vacant(free) => _ = free.insert(Entry { key, node: Node { place, value } }),
        map::Entry::Occupied(taken) => {
            let error = Diagnostic::new(format!("`{}` is there twice", taken.key())).at(&key);
            return Err(error.context(&taken.get().key, "the first one").hint("take one of the two out"));
        }
    }
    Ok(())
}

/// The place of a text without the space around it.
fn trimmed(text: &str, place: &Place) -> Place {
    let start = place.start + (text.len() - text.trim_start().len());
    start..(start + text.trim().len())
}
