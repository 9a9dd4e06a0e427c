//! From the tree to typed tables. Every error is reported and reading goes on, so that one pass finds them all.

use std::{iter, mem};

use indexmap::IndexMap;

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::document::{Entry, Node, Table, Value};
use crate::scenario::field::{Field, Named, Or, Spanned, Word};
use crate::scenario::shape::{ChoiceShape, Shape, TableShape};
use crate::scenario::source::Place;
use crate::scenario::values::is_name;
use crate::scenario::{duration, examples, suggest, synonyms};

/// Something that can stand in a scenario.
pub trait Read: Sized {
    /// What it looks like.
    const SHAPE: Shape;

    /// Reads it; none if it is wrong, which has been reported then.
    fn read(node: &Node, reader: &mut Reader) -> Option<Self>;
}

/// The way to the value being read, and the errors so far.
#[derive(Debug, Default)]
pub struct Reader {
    path: Vec<String>,
    /// The place of the value of the key being read, and the key's doc comment.
    key: Option<(Place, &'static str)>,
    /// What was wrong.
    pub errors: Vec<Diagnostic>,
}

impl Reader {
    /// The path of the value being read, in back-ticks.
    pub fn path(&self) -> String {
        format!("`{}`", self.path.join("."))
    }

    /// Reports an error; none, for the caller to return.
    pub fn refuse<T>(&mut self, error: Diagnostic) -> Option<T> {
        self.errors.push(error);
        None
    }

    /// Reports that the value is not what belongs here.
    pub fn mismatch<T>(&mut self, node: &Node, expected: &str) -> Option<T> {
        self.mismatch_with(node, expected, None)
    }

    /// Reports that the value is not what belongs here, with the way out where one is known.
    pub fn mismatch_with<T>(&mut self, node: &Node, expected: &str, hint: Option<String>) -> Option<T> {
        match node.value {
            Value::Damaged => None,
            _ => {
                let message = format!("{} must be {expected}, not {}", self.path(), node.value);
                self.refuse(Diagnostic::new(message).at(&node.place).maybe_hint(hint))
            }
        }
    }

    /// Reads what stands under a key.
    pub fn under<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(key.to_owned());
        let value = read(self);
        self.path.pop();
        value
    }

    /// Reads a value with its place.
    pub fn spanned<T: Read>(&mut self, node: &Node) -> Option<Spanned<T>> {
        T::read(node, self).map(|value| Spanned { place: node.place.clone(), value })
    }

    /// Reads a key of a table, with its doc comment, or what has a name that the user chose. Where the value itself is
    /// wrong and no better way out is known, the comment's example is one.
    pub fn field<T: Read>(&mut self, entry: &Entry, doc: Option<&'static str>) -> Field<T> {
        let node = &entry.node;
        let around = mem::replace(&mut self.key, doc.map(|doc| (node.place.clone(), doc)));
        let errors_before = self.errors.len();
        let value = self.spanned(node);
        let example = self.example(node).map(|example| format!("write for example `{example}`"));
        self.hint_at(node, errors_before, |error| error.maybe_hint(example.clone()));
        self.key = around;
        Field::present(entry.key.clone(), value)
    }

    /// The key being read with the value that its doc comment has for an example, if this is what stands under it.
    fn example(&self, node: &Node) -> Option<String> {
        let (place, doc) = self.key.as_ref()?;
        let example = examples::of_key(doc).filter(|_| *place == node.place)?;
        Some(format!("{} = {example}", self.path.last()?))
    }

    /// Changes the hints of those errors since there were so many that are about this value and not about a part of it,
    /// other than an item of a list.
    fn hint_at(&mut self, node: &Node, errors_before: usize, change: impl Fn(Diagnostic) -> Diagnostic) {
        let items = match &node.value {
            Value::List(items) => &items[..],
            _ => &[],
        };
        for error in &mut self.errors[errors_before..] {
            if iter::once(node).chain(items).any(|whole| error.place() == Some(&whole.place)) {
                *error = change(error.clone());
            }
        }
    }

    /// Reports that something else stands where a table must; `fits` says for each of its keys whether it could stand
    /// there.
    pub fn no_table<T>(&mut self, node: &Node, shape: &TableShape, fits: &[bool]) -> Option<T> {
        let meant = examples::key_meant(shape, fits).map(|key| (key, node.value.to_string()));
        // An example for the key is better than one for its kind of table, but not than what was probably meant.
        let table = match meant {
            None if self.example(node).is_some() => None,
            meant => Some(examples::of_table(shape, meant)),
        };
        let hint = table.zip(self.path.last()).map(|(table, key)| format!("write for example `{key} = {table}`"));
        self.mismatch_with(node, &format!("a table that describes {}", shape.noun), hint)
    }

    /// Reports a key that the table being read does not have, and returns the one that was probably meant.
    pub fn unknown_key(&mut self, key: &str, place: &Place, shape: &TableShape) -> Option<&'static str> {
        self.errors.push(unknown_key(&self.path.join("."), key, place, shape));
        suggest::nearest(key, shape.names())
    }

    /// Reports each second key of a pair that exclude each other.
    pub fn exclusive(&mut self, table: &Table, shape: &TableShape) {
        for &(one, other) in shape.exclusive {
            if let (Some((_, _, first)), Some((_, _, second))) = (table.get_full(one), table.get_full(other)) {
                let (first, second) =
                    if first.key.start < second.key.start { (first, second) } else { (second, first) };
                let message = format!("{} has both `{one}` and `{other}`", self.owner(shape));
                let error = Diagnostic::new(message).at(&second.key).context(&first.key, "the other one");
                self.errors.push(error.hint("keep one of the two"));
            }
        }
    }

    /// What the table being read is called in messages: its path, or its noun where it has none.
    fn owner(&self, shape: &TableShape) -> String {
        if self.path.is_empty() { shape.noun.to_owned() } else { self.path() }
    }

    /// Splits a choice into its tag and what the tag takes.
    pub fn tag<'a>(&mut self, node: &'a Node, shape: &ChoiceShape) -> Option<(&'a str, Option<&'a Node>)> {
        match &node.value {
            Value::String(tag) => Some((tag, None)),
            Value::Table(table) if table.len() == 1 => {
                table.first().map(|(tag, entry)| (tag.as_str(), Some(&entry.node)))
            }
            Value::Table(table) if table.len() > 1 => {
                let tags = suggest::list(table.keys().map(String::as_str));
                let second = table.get_index(1).map_or(&node.place, |(_, entry)| &entry.key);
                let message = format!("{} must be one thing, not {} at once: {tags}", self.path(), table.len());
                self.refuse(Diagnostic::new(message).at(second).hint("keep one of them"))
            }
            _ => {
                let Some(example) = self.example(node) else {
                    return self.mismatch(node, &format!("{} such as {}", shape.noun, examples::of_choice(shape)));
                };
                let hint = format!("write for example `{example}`; choices: {}", suggest::list(shape.names()));
                self.mismatch_with(node, shape.noun, Some(hint))
            }
        }
    }

    /// Reports a tag that the choice being read does not have, or not in this form.
    pub fn refuse_tag<T>(&mut self, node: &Node, tag: &str, shape: &ChoiceShape) -> Option<T> {
        // The key of the tag, if it is one.
        let place = match &node.value {
            Value::Table(table) => table.first().map_or(&node.place, |(_, entry)| &entry.key),
            _ => &node.place,
        };
        let path = self.path();
        let error = match shape.find(tag) {
            Some(Some(_)) => Diagnostic::new(format!("{path} says `{tag}`, but not with what"))
                .hint(format!("write {}", examples::of_tag(shape, tag))),
            Some(None) => Diagnostic::new(format!("{path} says `{tag}`, which takes no settings"))
                .hint(format!("write {}", examples::of_tag(shape, tag))),
            None => {
                let wanting = shape.tag_of_duration().filter(|_| duration::parse(tag).is_ok());
                Diagnostic::new(format!("{path} has an unknown choice `{tag}`"))
                    .maybe_hint(wanting.map(|wanting| format!("write `{{ {wanting} = \"{tag}\" }}`")))
                    .maybe_hint(synonyms::meant(shape.noun, tag))
                    .maybe_hint(unknown_choice(tag, shape))
            }
        };
        self.refuse(error.at(place))
    }
}

/// That a table has no such key.
pub fn unknown_key(table_path: &str, key: &str, place: &Place, shape: &TableShape) -> Diagnostic {
    let path = if table_path.is_empty() { format!("`{key}`") } else { format!("`{table_path}.{key}`") };
    Diagnostic::new(format!("unknown key {path}"))
        .at(place)
        .label(format!("not a key of {}", shape.noun))
        .maybe_hint(synonyms::meant(shape.noun, key))
        .maybe_hint(examples::further_in(shape, key))
        .maybe_hint(suggest::hint(key, "keys", shape.names()))
        .hint_else(|| format!("`docs/format.md` lists the keys of {}", shape.noun))
}

/// The way out for a tag that a choice does not have.
pub fn unknown_choice(tag: &str, shape: &ChoiceShape) -> Option<String> {
    suggest::hint(tag, "choices", shape.names())
}

/// Whether a value could stand where this is read.
pub fn fits<T: Read>(node: &Node) -> bool {
    T::read(node, &mut Reader::default()).is_some()
}

impl<T: Read> Read for Named<T> {
    const SHAPE: Shape = Shape::Named(&T::SHAPE);

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            return reader.mismatch(node, "a table of named tables");
        };
        let mut named = IndexMap::new();
        for (name, entry) in table {
            if !is_name(name) {
                reader.errors.push(bad_name(name, &entry.key));
            }
            let field = reader.under(name, |reader| reader.field(entry, None));
            named.insert(name.clone(), field);
        }
        Some(Self(named))
    }
}

/// That a name has characters which names do not have.
pub fn bad_name(name: &str, place: &Place) -> Diagnostic {
    Diagnostic::new(format!("`{name}` is not a name"))
        .at(place)
        .hint("names are made of letters, digits, `-` and `_`, because they become folders and paths")
}

/// For the large tags of a choice.
impl<T: Read> Read for Box<T> {
    const SHAPE: Shape = T::SHAPE;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::read(node, reader).map(Self::new)
    }
}

impl<T: Read> Read for Vec<Spanned<T>> {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let items = match &node.value {
            Value::List(items) => items,
            single @ Value::String(_) => {
                let error = Diagnostic::new(format!("{} must be a list", reader.path())).at(&node.place);
                return reader.refuse(error.hint(format!("write `[{single}]`")));
            }
            _ => return reader.mismatch(node, "a list in square brackets"),
        };
        let good: Self = items.iter().filter_map(|item| reader.spanned(item)).collect();
        // A list that lost an item says something else.
        (good.len() == items.len()).then_some(good)
    }
}

impl<W: Word, T: Read> Read for Or<W, T> {
    const SHAPE: Shape = T::SHAPE;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::String(text) if text == W::TEXT => Some(Self::Word(W::WORD)),
            // What is wrong within a table is not the table itself: the word is no way out for that.
            Value::Table(_) if matches!(Self::SHAPE, Shape::Table(_)) => T::read(node, reader).map(Self::Value),
            _ => {
                let errors_before = reader.errors.len();
                let read = T::read(node, reader).map(Self::Value);
                let word = format!("`\"{}\"`", W::TEXT);
                let hint = match reader.example(node) {
                    Some(example) => format!("write for example `{example}`, or {word}"),
                    None => format!("or write {word}"),
                };
                // Another word is hardly a slip in a single value, but rather in this one.
                let is_word = match &node.value {
                    Value::String(text) => text.bytes().all(|byte| byte.is_ascii_alphabetic()),
                    _ => false,
                } && !matches!(Self::SHAPE, Shape::Table(_));
                reader.hint_at(node, errors_before, |error| {
                    if is_word { error.hint(&*hint) } else { error.maybe_hint(Some(hint.clone())) }
                });
                read
            }
        }
    }
}
