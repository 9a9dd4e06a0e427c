//! Tables of a configuration file on their way into a scenario: what is asked for is known, and the rest is not.

use crate::import::tree::{Entry, Node, Table, Value};
use crate::scenario::source::Place;

/// How the keys of a format are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// As they are.
    Exact,
    /// In any case.
    AnyCase,
    /// In any case, and with or without dashes and underscores: `max_retries`, `maxRetries`, `max-retries`.
    Loose,
}

impl Keys {
    /// Whether a key of a file is this one.
    pub fn same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Exact => one == other,
            Self::AnyCase => one.eq_ignore_ascii_case(other),
            Self::Loose => letters(one).eq(letters(other)),
        }
    }
}

fn letters(key: &str) -> impl Iterator<Item = char> {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase)
}

/// A table of a configuration file, with its path in it.
#[derive(Debug)]
pub struct Section<'t> {
    /// Where it is in the file, such as `routes[0].route.retry_policy`.
    pub path: String,
    /// The place of the key that it stands at, or its own.
    pub place: Place,
    keys: Keys,
    table: &'t Table,
    asked: Vec<bool>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Field<'t> {
    /// Where it is in the file.
    pub path: String,
    /// The key, as the file has it.
    pub name: &'t str,
    /// Where the key is.
    pub key: &'t Place,
    /// The value.
    pub node: &'t Node,
}

impl<'t> Section<'t> {
    /// A document; none if it is no table.
    pub fn document(node: &'t Node, keys: Keys) -> Option<Self> {
        Some(Self::new(String::new(), node.place.clone(), node.table()?, keys))
    }

    fn new(path: String, place: Place, table: &'t Table, keys: Keys) -> Self {
        Self { path, place, keys, table, asked: vec![false; table.len()] }
    }

    /// Where it begins: its first key.
    pub fn head(&self) -> Place {
        self.table.first().map_or_else(|| self.place.clone(), |(_, entry)| entry.key.clone())
    }

    /// What stands at a key; none if nothing does, or `null`.
    pub fn field(&mut self, key: &str) -> Option<Field<'t>> {
        let (at, (name, entry)) = self.table.iter().enumerate().find(|(_, (name, _))| self.keys.same(name, key))?;
        self.asked[at] = true;
        let Entry { key, node } = entry;
        let is_null = matches!(node.value, Value::Null);
        (!is_null).then(|| Field { path: beneath(&self.path, name), name, key, node })
    }

    /// The table at a key; none if there is none, or something else, which then counts as unknown.
    pub fn section(&mut self, key: &str) -> Option<Section<'t>> {
        let field = self.field(key)?;
        let section = field.section(self.keys);
        if section.is_none() {
            self.forget(key);
        }
        section
    }

    /// How its keys are compared.
    pub fn keys(&self) -> Keys {
        self.keys
    }

    /// The table that it is.
    pub fn table(&self) -> &'t Table {
        self.table
    }

    /// What can be left aside without a word: it is not about retries.
    pub fn skip(&mut self, keys: &[&str]) {
        keys.iter().for_each(|key| _ = self.field(key));
    }

    /// What nobody has asked for.
    pub fn unknown(&self) -> impl Iterator<Item = Field<'t>> {
        let rest = self.table.iter().zip(&self.asked).filter(|(_, asked)| !**asked);
        rest.map(|((name, Entry { key, node }), _)| Field { path: beneath(&self.path, name), name, key, node })
    }

    /// Every key with its value; all of them count as asked for.
    pub fn all(&mut self) -> Vec<Field<'t>> {
        self.asked.fill(true);
        let all = self.table.iter();
        all.map(|(name, Entry { key, node })| Field { path: beneath(&self.path, name), name, key, node }).collect()
    }

    fn forget(&mut self, key: &str) {
        if let Some(at) = self.table.keys().position(|name| self.keys.same(name, key)) {
            self.asked[at] = false;
        }
    }
}

impl<'t> Field<'t> {
    /// The table that it is; none if it is something else.
    pub fn section(&self, keys: Keys) -> Option<Section<'t>> {
        Some(Section::new(self.path.clone(), self.key.clone(), self.node.table()?, keys))
    }

    /// The tables of the list that it is; items that are none are left out.
    pub fn sections(&self, keys: Keys) -> Vec<Section<'t>> {
        let item = |(at, node): (usize, &'t Node)| {
            Some(Section::new(format!("{}[{at}]", self.path), node.place.clone(), node.table()?, keys))
        };
        match &self.node.value {
            Value::List(items) => items.iter().enumerate().filter_map(item).collect(),
            _ => Vec::new(),
        }
    }

    /// The items of the list that it is, or the field itself if it is a scalar.
    pub fn items(&self) -> &'t [Node] {
        match &self.node.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self.node),
        }
    }

    /// Its path, with its value if that is short: what stays visible of what is not taken over.
    pub fn said(&self) -> String {
        const VALUE_MAX: usize = 40;
        match self.node.scalar().filter(|value| value.chars().count() <= VALUE_MAX) {
            Some(value) => format!("{}: {value}", self.path),
            None => self.path.clone(),
        }
    }

    /// The key with its value.
    pub fn place(&self) -> Place {
        self.key.start..self.node.place.end.max(self.key.end)
    }
}

fn beneath(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
