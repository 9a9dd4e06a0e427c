//! Settings by path, from variants and from flags, applied to the tree before it is typed.
//!
//! A path leads along the [`Shape`] of the format. Missing tables are created on the way; what excludes the new
//! setting (the other of a pair of keys, another tag of a choice) is taken out. A table is merged into a table key by
//! key; everything else, a choice included, replaces what was there.
//!
//! Settings come in layers: those of a variant, then each flag. Room is made for a whole layer before any of it is put
//! in, so that what excludes each other within one layer stays side by side, and is found as it would be in the file.

use indexmap::IndexMap;

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::document::{self, Entry, Node, Table, Value};
use crate::scenario::reader::{Read, bad_name, unknown_choice, unknown_key};
use crate::scenario::shape::{ChoiceShape, Shape};
use crate::scenario::source::{Place, Sources};
use crate::scenario::tables::ScenarioTable;
use crate::scenario::values::is_name;
use crate::scenario::{punctuation, unbuilt};

/// What the command line changes of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `PATH=VALUE`, applied in order after the variant's own settings; VALUE is TOML, else a string.
    pub set: Vec<String>,
    /// What varies: the same, applied after `set`.
    pub vary: Vec<String>,
    /// The only variant to run; every one if none.
    pub variant: Option<String>,
    /// The seed, instead of the file's.
    pub seed: Option<u64>,
    /// The number of replicas, instead of the file's; from 1 to 1,000,000.
    pub replicas: Option<u32>,
    /// Whether the expectations of the file are left out, because nothing is judged: then they refuse nothing either.
    pub without_expectations: bool,
}

impl Overrides {
    /// What they change beside seed and replicas, as text: each `PATH=VALUE`, then `variant=NAME`. What varies is not
    /// the same for all that is told in one report.
    pub(crate) fn texts(&self) -> Vec<String> {
        let variant = self.variant.iter().map(|name| format!("variant={name}"));
        self.set.iter().cloned().chain(variant).collect()
    }
}

/// One setting by path.
#[derive(Clone, Debug)]
pub struct Setting {
    path: Vec<Segment>,
    value: Node,
}

impl Setting {
    /// Its path.
    fn written(&self) -> String {
        self.path.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>().join(".")
    }
}

#[derive(Clone, Debug)]
struct Segment {
    name: String,
    place: Place,
}

/// A named table that exists only because a setting's path names it.
#[derive(Clone, Debug)]
pub struct Created {
    /// The table of the format that it is in, such as `services`.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Where the path names it.
    pub place: Place,
}

/// Why most of what is closed to variants or flags is so.
const OF_THE_FILE: &str = "it belongs to the file as a whole: set it there";

/// What a variant may not set, because it belongs to all variants together, and why.
const SHARED_BY_VARIANTS: [(&str, &str); 9] = [
    ("version", OF_THE_FILE),
    ("name", OF_THE_FILE),
    ("seed", OF_THE_FILE),
    ("replicas", OF_THE_FILE),
    ("bucket", "all variants share the buckets of one timeline: set it for the file as a whole"),
    ("allow", OF_THE_FILE),
    ("expect", OF_THE_FILE),
    ("variants", OF_THE_FILE),
    ("sweep", OF_THE_FILE),
];

/// What flags may not set, and why.
const CLOSED_TO_FLAGS: [(&str, &str); 4] = [
    ("allow", OF_THE_FILE),
    ("expect", OF_THE_FILE),
    ("variants", OF_THE_FILE),
    ("sweep", "`stormsim sweep` has flags for it: `--vary` and `--metric`"),
];

/// What `--vary` may not set either, and why.
const CLOSED_TO_AXES: [(&str, &str); 4] = [
    ("name", "it changes nothing that is simulated"),
    ("version", "it changes nothing that is simulated"),
    ("seed", "all meet the same luck, so that they can be compared: `--seed N` sets that"),
    ("replicas", "all run as often: `--replicas N` sets that"),
];

/// The settings of each variant of a file.
pub fn variants(root: &Table, errors: &mut Vec<Diagnostic>) -> IndexMap<String, Vec<Setting>> {
    let Some(Value::Table(variants)) = root.get("variants").map(|entry| &entry.node.value) else {
        return IndexMap::new();
    };
    let mut all = IndexMap::new();
    for (name, entry) in variants {
        let mut settings = Vec::new();
        if let Value::Table(table) = &entry.node.value {
            for (key, entry) in table {
                match setting_of_variant(key, entry) {
                    Ok(setting) => settings.push(setting),
                    Err(error) => errors.push(error),
                }
            }
        }
        all.insert(name.clone(), settings);
    }
    all
}

fn setting_of_variant(key: &str, entry: &Entry) -> Result<Setting, Diagnostic> {
    let path = split(key, &entry.key).ok_or_else(|| bad_path(key, &entry.key))?;
    check_root(&path, &SHARED_BY_VARIANTS, "a variant")?;
    Ok(Setting { path, value: entry.node.clone() })
}

/// The settings of the flags. Each flag becomes a text of its own, called `--set` or `--vary`.
pub fn flags(overrides: &Overrides, sources: &mut Sources, errors: &mut Vec<Diagnostic>) -> Vec<Setting> {
    let axes = [&CLOSED_TO_FLAGS[..], &CLOSED_TO_AXES].concat();
    let set = overrides.set.iter().map(|text| ("--set", &CLOSED_TO_FLAGS[..], text));
    let vary = overrides.vary.iter().map(|text| ("--vary", &axes[..], text));
    set.chain(vary)
        .filter_map(|(name, closed, text)| {
            let start = sources.add(name, text);
            flag(text, start, |path| check_root(path, closed, &format!("`{name}`")))
                .map_err(|error| errors.push(error))
                .ok()
        })
        .collect()
}

fn flag(
    text: &str,
    start: usize,
    check: impl FnOnce(&[Segment]) -> Result<(), Diagnostic>,
) -> Result<Setting, Diagnostic> {
    let whole = start..start + text.len();
    let Some((path_text, value_text)) = text.split_once('=') else {
        let error = Diagnostic::new(format!("`{text}` sets nothing")).at(&whole);
        return Err(error.hint("write `PATH=VALUE`, such as `services.db.service_time=5ms`"));
    };
    let path_place = start..start + path_text.len();
    let path = split(path_text.trim_end(), &path_place).ok_or_else(|| bad_path(path_text, &path_place))?;
    check(&path)?;
    let value_start = whole.end - value_text.trim_start().len();
    let value_text = value_text.trim();
    let value_place = value_start..value_start + value_text.len();
    let value = match document::parse_value(value_text, value_start) {
        Some(node) => node,
        None if value_text.is_empty() => {
            return Err(Diagnostic::new(format!("`{text}` has no value")).at(&whole).hint("write `PATH=VALUE`"));
        }
        // What opens a bracket or a quote was meant as TOML.
        None if value_text.starts_with(['[', '{', '"', '\'']) => {
            let error = Diagnostic::new("the value is not TOML").at(&value_place);
            let error = error.hint("quote the strings in it, and close what is open");
            return Err(punctuation::decimal_comma(value_text, value_start).unwrap_or(error));
        }
        None => Node { place: value_place, value: Value::String(value_text.to_owned()) },
    };
    Ok(Setting { path, value })
}

/// A path as its names with their places; none if it is no path.
fn split(path: &str, place: &Place) -> Option<Vec<Segment>> {
    // A quoted key of the file; one with escapes in it is longer and is no path anyway.
    let mut start = place.start + usize::from(place.len() == path.len() + 2);
    path.split('.')
        .map(|name| {
            let place = start..start + name.len();
            start = place.end + 1;
            is_name(name).then(|| Segment { name: name.to_owned(), place })
        })
        .collect()
}

fn bad_path(path: &str, place: &Place) -> Diagnostic {
    let hint = "a path is names with dots between them, such as `retries.patient.backoff`";
    Diagnostic::new(format!("`{path}` is not a path")).at(place).hint(hint)
}

fn check_root(path: &[Segment], closed: &[(&str, &str)], who: &str) -> Result<(), Diagnostic> {
    let root = &path[0];
    let Some((_, why)) = closed.iter().find(|(name, _)| *name == root.name) else { return Ok(()) };
    Err(Diagnostic::new(format!("{who} cannot set `{}`", root.name)).at(&root.place).hint(*why))
}

/// Applies layers of settings in order to the tree of a file, and returns what they created.
pub fn apply<'a>(
    root: &mut Node,
    layers: impl IntoIterator<Item = &'a [Setting]>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Created> {
    let mut walk = Walk { trail: Vec::new(), errors, created: Vec::new() };
    for layer in layers {
        for setting in layer {
            make_room(root, ScenarioTable::SHAPE, &setting.path, &setting.value);
        }
        for setting in layer {
            walk.set(root, ScenarioTable::SHAPE, &setting.path, &setting.value);
        }
    }
    walk.created
}

/// Reports the flags that another one has taken away again: two keys of which a table has one, two tags of a choice.
pub fn check_lost(root: &Node, flags: &[Setting], errors: &mut Vec<Diagnostic>) {
    for flag in flags {
        let is_there = flag.path.iter().try_fold(root, |node, segment| match &node.value {
            Value::Table(table) => table.get(&segment.name).map(|entry| &entry.node),
            _ => None,
        });
        if is_there.is_none() {
            let place = flag.path[0].place.start..flag.path[flag.path.len() - 1].place.end;
            let error = Diagnostic::new(format!("`{}` is taken away by what is set after it", flag.written()));
            errors.push(error.at(&place).hint("the two exclude each other: set one of them"));
        }
    }
}

/// Reports what varies and is set, too: every value would be the last that was set.
pub fn check_varied(set: &[Setting], varied: &[Setting], errors: &mut Vec<Diagnostic>) {
    for one in varied.iter().filter(|one| !replaced(set, std::slice::from_ref(one)).is_empty()) {
        let place = one.path[0].place.start..one.path[one.path.len() - 1].place.end;
        let error = Diagnostic::new(format!("`{}` varies, and `--set` sets it, too", one.written())).at(&place);
        errors.push(error.hint("take one of the two out"));
    }
}

/// Those of the paths that a variant sets itself, or a part of, or all that they are a part of.
pub fn replaced(variant: &[Setting], paths: &[Setting]) -> Vec<String> {
    let touches = |one: &Setting, other: &Setting| {
        let mut pairs = one.path.iter().zip(&other.path);
        pairs.all(|(one, other)| one.name == other.name)
    };
    paths.iter().filter(|path| variant.iter().any(|own| touches(own, path))).map(Setting::written).collect()
}

/// Takes out what a setting excludes.
fn make_room(node: &mut Node, shape: Shape, path: &[Segment], value: &Node) {
    match (path.split_first(), shape, &value.value) {
        (Some((segment, rest)), _, _) => make_room_under(node, shape, &segment.name, rest, value),
        (None, Shape::Table(_) | Shape::Named(_), Value::Table(items)) => {
            items.iter().for_each(|(key, entry)| make_room_under(node, shape, key, &[], &entry.node));
        }
        // It replaces what is there.
        _ => {}
    }
}

fn make_room_under(node: &mut Node, shape: Shape, key: &str, rest: &[Segment], value: &Node) {
    let Value::Table(table) = &mut node.value else { return };
    let inner = match shape {
        Shape::Table(shape) => {
            shape.twins(key).for_each(|twin| drop(table.shift_remove(twin)));
            shape.find(key)
        }
        Shape::Named(inner) => Some(*inner),
        Shape::Choice(shape) => shape.find(key).flatten().inspect(|_| table.retain(|tag, _| tag == key)),
        Shape::Value | Shape::Duration => None,
    };
    if let (Some(inner), Some(entry)) = (inner, table.get_mut(key)) {
        make_room(&mut entry.node, inner, rest, value);
    }
}

struct Walk<'a> {
    trail: Vec<String>,
    errors: &'a mut Vec<Diagnostic>,
    created: Vec<Created>,
}

impl Walk<'_> {
    fn set(&mut self, node: &mut Node, shape: Shape, path: &[Segment], value: &Node) {
        let Some((segment, rest)) = path.split_first() else {
            return self.replace_or_merge(node, shape, value);
        };
        let Some(inner) = self.step(shape, segment) else { return };
        let table = table_of(node);
        if matches!(shape, Shape::Named(_)) && !table.contains_key(&segment.name) {
            self.note_created(segment);
        }
        let place = &segment.place;
        let entry = table.entry(segment.name.clone()).or_insert_with(|| Entry::empty(place.clone()));
        if rest.is_empty() {
            entry.key = place.clone();
        }
        self.trail.push(segment.name.clone());
        self.set(&mut entry.node, inner, rest, value);
        self.trail.pop();
    }

    fn replace_or_merge(&mut self, node: &mut Node, shape: Shape, value: &Node) {
        match (shape, &value.value) {
            (Shape::Table(_) | Shape::Named(_), Value::Table(items)) => {
                table_of(node);
                for (key, entry) in items {
                    let segment = Segment { name: key.clone(), place: entry.key.clone() };
                    self.set(node, shape, &[segment], &entry.node);
                }
            }
            _ => *node = value.clone(),
        }
    }

    /// What stands under a name of a path; none if nothing can, which is reported.
    fn step(&mut self, shape: Shape, segment: &Segment) -> Option<Shape> {
        let Segment { name, place } = segment;
        let path = self.trail.join(".");
        let error = match shape {
            Shape::Table(shape) => match shape.find(name) {
                Some(inner) => return Some(inner),
                None => unknown_key(&path, name, place, shape),
            },
            Shape::Named(inner) if is_name(name) => return Some(*inner),
            Shape::Named(_) => bad_name(name, place),
            Shape::Choice(shape) => match shape.find(name) {
                Some(Some(inner)) => return Some(inner),
                found => no_such_tag(&path, segment, found.is_some(), shape),
            },
            Shape::Value | Shape::Duration => {
                Diagnostic::new(format!("`{path}` is a single value: there is no `{name}` in it")).at(place)
            }
        };
        self.errors.push(error);
        None
    }

    fn note_created(&mut self, segment: &Segment) {
        if let [table] = self.trail.as_slice() {
            let Segment { name, place } = segment.clone();
            self.created.push(Created { table: table.clone(), name, place });
        }
    }
}

fn no_such_tag(path: &str, Segment { name, place }: &Segment, bare: bool, shape: &ChoiceShape) -> Diagnostic {
    if bare {
        let error = Diagnostic::new(format!("`{name}` takes no settings")).at(place);
        return error.hint(format!("set `{path}` to `\"{name}\"`"));
    }
    if shape.unbuilt.contains(&name.as_str()) {
        return unbuilt::refusal(&format!("`{path}.{name}`"), place);
    }
    Diagnostic::new(format!("`{path}` has an unknown choice `{name}`"))
        .at(place)
        .maybe_hint(unknown_choice(name, shape))
}

/// The table at a node; what is no table gives way to an empty one.
fn table_of(node: &mut Node) -> &mut Table {
    if !matches!(node.value, Value::Table(_)) {
        node.value = Value::Table(Table::new());
    }
    match &mut node.value {
        Value::Table(table) => table,
        _ => unreachable!("it has just become one"),
    }
}
