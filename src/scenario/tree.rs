//! The tree of a variant: the file with the settings of the variant, of `--set` and of `--vary`, on its way to tables.

use indexmap::IndexSet;

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::overrides::{self, Created, Setting};
use crate::scenario::presets::{self, Library};
use crate::scenario::reader::{Read, Reader};
use crate::scenario::tables::ScenarioTable;

/// The tree of a variant.
pub struct Tree {
    root: Node,
    created: Vec<Created>,
    /// The policies that calls use in the file with the settings of the variant, whatever flags make of them.
    in_file: Vec<String>,
    errors: Vec<Diagnostic>,
}

/// What a tree says.
pub struct Typed {
    /// Its tables.
    pub tables: ScenarioTable,
    /// What the settings created.
    pub created: Vec<Created>,
    /// What was wrong so far.
    pub errors: Vec<Diagnostic>,
}

impl Tree {
    /// Of a file with these settings. The last one that is about a thing counts; only of what varies nothing may be lost.
    pub fn of(root: &Table, [variant, set, varied]: [&[Setting]; 3]) -> Self {
        let mut root = Node { place: 0..0, value: Value::Table(root.clone()) };
        let mut errors = Vec::new();
        let mut created = overrides::apply(&mut root, [variant], &mut errors);
        let in_file = presets::used(&root).into_keys().collect();
        created.extend(overrides::apply(&mut root, set.chunks(1).chain(varied.chunks(1)), &mut errors));
        // What is wrong with a path has been told.
        if errors.is_empty() {
            overrides::check_lost(&root, varied, &mut errors);
        }
        Self { root, created, in_file, errors }
    }

    /// The names of the policies that its calls use, with the flags and without them.
    pub fn policies(&self) -> impl Iterator<Item = String> {
        presets::used(&self.root).into_keys().chain(self.in_file.iter().cloned())
    }

    /// Its tables, with presets beneath its policies; `used` are the policies that this or any other variant uses.
    pub fn typed(self, used: &IndexSet<String>, library: &mut impl Library) -> Typed {
        let Self { mut root, mut created, mut errors, .. } = self;
        presets::lay(&mut root, &mut created, used, library);
        let mut reader = Reader::default();
        let tables = ScenarioTable::read(&root, &mut reader).unwrap_or_default();
        errors.append(&mut reader.errors);
        Typed { tables, created, errors }
    }
}
