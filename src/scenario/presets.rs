//! Presets, put beneath the policies that name them before the tree is typed.
//!
//! A policy with `preset = "envoy"` has the keys of that preset where it has none of its own, leaf by leaf: the last word
//! is that of the policy, as if its keys were settings by path. A call that names a preset as its policy, where there is no
//! policy of that name, makes one; what variants and flags set by the path of such a policy lies over the preset, too.

use indexmap::{IndexMap, IndexSet};

use crate::presets::Preset;
use crate::scenario::document::{self, Entry, Node, Table, Value};
use crate::scenario::overrides::Created;
use crate::scenario::reader::Read;
use crate::scenario::shape::Shape;
use crate::scenario::source::{Place, Sources};
use crate::scenario::tables::RetryTable;

/// The table of the policies.
const RETRIES: &str = "retries";

/// The key of a policy that names its preset.
const PRESET: &str = "preset";

/// Who makes calls.
const CALLERS: [&str; 2] = ["clients", "services"];

/// Where the text of a preset is, as far as messages are concerned.
pub trait Library {
    /// The policy of a preset that is named at `place`.
    fn policy(&mut self, preset: &Preset, place: &Place) -> Table;
}

/// The presets are texts beside that of the scenario, each added when it is first used.
pub struct Texts<'s> {
    sources: &'s mut Sources,
    policies: IndexMap<&'static str, Table>,
}

impl<'s> Texts<'s> {
    /// None is used yet.
    pub fn new(sources: &'s mut Sources) -> Self {
        Self { sources, policies: IndexMap::new() }
    }
}

impl Library for Texts<'_> {
    fn policy(&mut self, preset: &Preset, _: &Place) -> Table {
        let policy = self.policies.entry(preset.name).or_insert_with(|| {
            let start = self.sources.add(&format!("preset `{}`", preset.name), preset.text);
            policy_of(preset, start)
        });
        policy.clone()
    }
}

/// What comes from a preset is where that is named: it has no other place in the file.
pub struct Mentions;

impl Library for Mentions {
    fn policy(&mut self, preset: &Preset, place: &Place) -> Table {
        let mut policy = policy_of(preset, 0);
        policy.values_mut().for_each(|entry| move_to(entry, place));
        policy
    }
}

fn policy_of(preset: &Preset, start: usize) -> Table {
    match document::parse_known(preset.text, start).swap_remove("policy").map(|entry| entry.node.value) {
        Some(Value::Table(policy)) => policy,
        _ => unreachable!("every preset has a policy"),
    }
}

fn move_to(Entry { key, node }: &mut Entry, place: &Place) {
    fn move_node(node: &mut Node, place: &Place) {
        node.place = place.clone();
        match &mut node.value {
            Value::Table(table) => table.values_mut().for_each(|entry| move_to(entry, place)),
            Value::List(items) => items.iter_mut().for_each(|item| move_node(item, place)),
            _ => {}
        }
    }
    *key = place.clone();
    move_node(node, place);
}

/// The names of policies that the calls of a tree use, each with the place of the first that names it. A preset is there by
/// the name of its policy.
pub fn used(root: &Node) -> IndexMap<String, Place> {
    let mut used = IndexMap::new();
    let Value::Table(root) = &root.value else { return used };
    let tables = |table: &'static str| table_in(root, table).into_iter().flat_map(Table::values);
    for caller in CALLERS.into_iter().flat_map(tables) {
        let Value::Table(caller) = &caller.node.value else { continue };
        for call in table_in(caller, "calls").into_iter().flat_map(Table::values) {
            let Value::Table(call) = &call.node.value else { continue };
            if let Some(Node { place, value: Value::String(name) }) = call.get("retry").map(|entry| &entry.node) {
                used.entry(policy_name(name)).or_insert_with(|| place.clone());
            }
        }
    }
    used
}

fn policy_name(name: &str) -> String {
    Preset::find(name).map_or_else(|| name.to_owned(), |preset| preset.policy_name().into_owned())
}

fn table_in<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    match &table.get(key)?.node.value {
        Value::Table(inner) => Some(inner),
        _ => None,
    }
}

/// Puts presets beneath the policies of a tree, of which `created` exist only because a setting's path names them.
/// What a flag sets of a preset that only others use, which are `elsewhere`, is no policy here.
pub fn lay(root: &mut Node, created: &mut Vec<Created>, elsewhere: &IndexSet<String>, library: &mut impl Library) {
    let used = used(root);
    let Value::Table(root) = &mut root.value else { return };
    let retries = root.entry(RETRIES.to_owned()).or_insert_with(|| Entry::empty(0..0));
    let Value::Table(policies) = &mut retries.node.value else { return };
    created.retain(|Created { table, name, .. }| {
        let is_idle = table == RETRIES && elsewhere.contains(name) && !used.contains_key(name);
        let is_to_go =
            is_idle && Preset::find(name).is_some() && policies.get(name).is_some_and(|it| !names_preset(it));
        if is_to_go {
            policies.shift_remove(name);
        }
        !is_to_go
    });
    for (name, place) in &used {
        let is_free = !policies.contains_key(name) || created.iter().any(|it| it.table == RETRIES && it.name == *name);
        let Some(preset) = Preset::find(name).filter(|_| is_free) else { continue };
        let policy = policies.entry(name.clone()).or_insert_with(|| Entry::empty(place.clone()));
        if !names_preset(policy) {
            lay_beneath(policy, library.policy(preset, place));
        }
    }
    for policy in policies.values_mut() {
        let Value::Table(own) = &policy.node.value else { continue };
        let Some(named) = own.get(PRESET) else { continue };
        let Value::String(name) = &named.node.value else { continue };
        if let Some(preset) = Preset::find(name) {
            let beneath = library.policy(preset, &(named.key.start..named.node.place.end.max(named.key.end)));
            lay_beneath(policy, beneath);
        }
    }
    if policies.is_empty() {
        root.shift_remove(RETRIES);
    }
}

fn names_preset(Entry { node, .. }: &Entry) -> bool {
    matches!(&node.value, Value::Table(table) if table.contains_key(PRESET))
}

fn lay_beneath(policy: &mut Entry, beneath: Table) {
    // What is no table says nothing of keys, and is reported as what it is.
    if matches!(policy.node.value, Value::Table(_)) {
        let mut whole = Node { place: policy.node.place.clone(), value: Value::Table(beneath) };
        lay_over(&mut whole, RetryTable::SHAPE, &policy.node);
        policy.node = whole;
    }
}

/// Puts what `own` says over what is there, and takes out what that excludes.
fn lay_over(below: &mut Node, shape: Shape, own: &Node) {
    let (Shape::Table(_) | Shape::Choice(_), Value::Table(items)) = (shape, &own.value) else {
        *below = own.clone();
        return;
    };
    below.place = own.place.clone();
    if !matches!(below.value, Value::Table(_)) {
        below.value = Value::Table(Table::new());
    }
    let Value::Table(table) = &mut below.value else { unreachable!("it has just become one") };
    let find = |key: &str| match shape {
        Shape::Table(shape) => shape.find(key),
        Shape::Choice(shape) => shape.find(key).flatten(),
        _ => None,
    };
    // All of it makes room before any of it is put in: what excludes each other within it is found as ever.
    table.retain(|key, _| match shape {
        Shape::Table(shape) => !shape.twins(key).any(|twin| items.contains_key(twin)),
        _ => items.contains_key(key),
    });
    for (key, Entry { key: place, node }) in items {
        match (table.get_mut(key), find(key)) {
            (Some(entry), Some(inner)) => {
                entry.key = place.clone();
                lay_over(&mut entry.node, inner, node);
            }
            _ => drop(table.insert(key.clone(), Entry { key: place.clone(), node: node.clone() })),
        }
    }
}
