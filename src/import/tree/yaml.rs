//! YAML.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, options};
use indexmap::map;

use super::{Entry, NODES_MAX, Node, Table, Value, empty, template_hint, too_much};
use crate::scenario::Diagnostic;
use crate::scenario::source::Place;

/// The key whose tables lie beneath those that have it.
const MERGE: &str = "<<";

/// How deep values may be nested, what aliases stand for included.
const DEPTH_MAX: usize = 100;

/// Reads all documents of a text.
pub fn parse(text: &str) -> Result<Vec<Node>, Diagnostic> {
    let options = options! { emit_comments: false };
    let mut builder = Builder {
        text,
        parser: Parser::new_from_str_with_options(text, options),
        anchors: Vec::new(),
        nodes: 0,
        depth: 0,
    };
    let mut documents = Vec::new();
    while let Some((event, place)) = builder.next()? {
        match event {
            Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentEnd => {}
            // Anchors do not reach into the next document.
            Event::DocumentStart(..) => builder.anchors.clear(),
            first => documents.push(builder.node(first, place)?),
        }
    }
    if documents.is_empty() { Err(empty()) } else { Ok(documents) }
}

type Input<'t> = granit_parser::StrInput<'t>;

struct Builder<'t> {
    text: &'t str,
    parser: Parser<'t, Input<'t>>,
    anchors: Vec<Anchor>,
    /// How many nodes there are so far.
    nodes: usize,
    /// How many tables and lists are around what is read now.
    depth: usize,
}

/// What aliases of a name stand for.
struct Anchor {
    number: usize,
    node: Node,
    /// How many nodes that is.
    nodes: usize,
    /// How deep they are nested.
    height: usize,
}

impl<'t> Builder<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Place)>, Diagnostic> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                let place = self.place(&span);
                Ok(Some((event, place)))
            }
            Some(Err(error)) => Err(self.wrong(&error)),
        }
    }

    fn place(&self, span: &Span) -> Place {
        span.byte_range().unwrap_or(self.text.len()..self.text.len())
    }

    fn wrong(&self, error: &ScanError) -> Diagnostic {
        let at = error.marker().byte_offset().unwrap_or(self.text.len()).min(self.text.len());
        let place = at..at;
        let message = Diagnostic::new(format!("this is not YAML: {}", error.info())).at(&place);
        message.maybe_hint(template_hint(self.text, &place).map(str::to_owned))
    }

    /// The node that begins with this event.
    fn node(&mut self, event: Event<'t>, place: Place) -> Result<Node, Diagnostic> {
        let before = self.nodes;
        self.count(1, &place)?;
        let (anchor, node) = match event {
            Event::Alias(id) => return self.alias(id, place),
            Event::Scalar(text, style, anchor, _) => (anchor, Node { place, value: scalar(text, style) }),
            Event::SequenceStart(_, anchor, _) => (anchor, self.inside(place, Self::list)?),
            Event::MappingStart(_, anchor, _) => (anchor, self.inside(place, Self::table)?),
            _ => return Err(Diagnostic::new("this is not YAML: a value is missing").at(&place)),
        };
        if anchor != 0 {
            let (nodes, height) = (self.nodes - before, height(&node));
            self.anchors.push(Anchor { number: anchor, node: node.clone(), nodes, height });
        }
        Ok(node)
    }

    /// A table or a list, a level further down.
    fn inside(
        &mut self,
        place: Place,
        read: impl FnOnce(&mut Self, Place) -> Result<Node, Diagnostic>,
    ) -> Result<Node, Diagnostic> {
        self.check_depth(1, &place)?;
        self.depth += 1;
        let node = read(self, place);
        self.depth -= 1;
        node
    }

    fn check_depth(&self, more: usize, place: &Place) -> Result<(), Diagnostic> {
        if self.depth + more <= DEPTH_MAX {
            return Ok(());
        }
        let error = Diagnostic::new(format!("values are nested here more than {DEPTH_MAX} levels deep"));
        Err(error.at(place).hint("import the part that is about retries"))
    }

    fn count(&mut self, nodes: usize, place: &Place) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes > NODES_MAX { Err(too_much(place)) } else { Ok(()) }
    }

    fn alias(&mut self, number: usize, place: Place) -> Result<Node, Diagnostic> {
        // The anchor of a collection is known once that has ended.
        let Some(anchor) = self.anchors.iter().rfind(|anchor| anchor.number == number) else {
            return Err(Diagnostic::new("this alias is part of what it stands for").at(&place));
        };
        let (value, nodes) = (anchor.node.value.clone(), anchor.nodes);
        self.check_depth(anchor.height, &place)?;
        self.count(nodes, &place)?;
        Ok(Node { place, value })
    }

    fn list(&mut self, start: Place) -> Result<Node, Diagnostic> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                None => return Err(cut_off(&start)),
                Some((Event::SequenceEnd, end)) => {
                    return Ok(Node { place: start.start..end.end, value: Value::List(items) });
                }
                Some((event, place)) => items.push(self.node(event, place)?),
            }
        }
    }

    fn table(&mut self, start: Place) -> Result<Node, Diagnostic> {
        let mut table = Table::new();
        let mut merged = Vec::new();
        loop {
            let (event, key) = match self.next()? {
                None => return Err(cut_off(&start)),
                Some((Event::MappingEnd, end)) => {
                    merged.into_iter().for_each(|node| merge(&mut table, node));
                    return Ok(Node { place: start.start..end.end, value: Value::Table(table) });
                }
                Some(next) => next,
            };
            let Value::Scalar(name) = self.node(event, key.clone())?.value else {
                let error = Diagnostic::new("this key is no text").at(&key);
                return Err(error.maybe_hint(template_hint(self.text, &key).map(str::to_owned)));
            };
            let (event, place) = self.next()?.ok_or_else(|| cut_off(&start))?;
            let node = self.node(event, place)?;
            if name == MERGE {
                merged.push(node);
                continue;
            }
            match table.entry(name) {
                map::Entry::Vacant(free) => _ = free.insert(Entry { key, node }),
                map::Entry::Occupied(taken) => {
                    let error = Diagnostic::new(format!("`{}` is there twice", taken.key())).at(&key);
                    return Err(error.context(&taken.get().key, "the first one").hint("take one of the two out"));
                }
            }
        }
    }
}

/// How many tables and lists are within one another.
fn height(node: &Node) -> usize {
    match &node.value {
        Value::Null | Value::Scalar(_) => 0,
        Value::List(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Value::Table(table) => 1 + table.values().map(|entry| height(&entry.node)).max().unwrap_or(0),
    }
}

/// Lays a table, or each of a list of them, beneath another: what is there already counts.
fn merge(table: &mut Table, node: Node) {
    match node.value {
        Value::Table(beneath) => {
            for (key, entry) in beneath {
                table.entry(key).or_insert(entry);
            }
        }
        Value::List(items) => items.into_iter().for_each(|item| merge(table, item)),
        Value::Null | Value::Scalar(_) => {}
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value {
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" if style == ScalarStyle::Plain => Value::Null,
        _ => Value::Scalar(text.into_owned()),
    }
}

fn cut_off(start: &Place) -> Diagnostic {
    Diagnostic::new("this is not YAML: what begins here does not end").at(start)
}
