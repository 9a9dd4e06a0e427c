//! What was imported as a scenario: one that can be run as it is, or settings in one that is there.

use std::collections::BTreeSet;

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::import::draft::{Block, Kind, Origin, Setting};
use crate::scenario::source::Lines;

/// The client group that makes the calls, where the file does not say who does.
pub const CALLERS: &str = "callers";

/// What stands beside what no configuration file says.
const ASSUMED: &str = "assumed";

/// The text that was imported, to be quoted.
pub struct Source<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it says.
    pub text: &'a str,
    lines: Lines,
}

impl<'a> Source<'a> {
    /// A text.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, lines: Lines::of(text) }
    }

    /// Where a value comes from, in a comment.
    fn comment(&self, origin: &Origin) -> String {
        /// Longer values are not repeated.
        const QUOTED_MAX: usize = 60;
        match origin {
            Origin::Default(why) => format!("# {why}"),
            Origin::File(place) => {
                let line = self.lines.number(place.start);
                let said: String = self.text[place.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
                // A comment ends with the line, and holds no control characters.
                let is_quotable = said.chars().count() <= QUOTED_MAX && !said.chars().any(char::is_control);
                if is_quotable { format!("# line {line}: {said}") } else { format!("# line {line}") }
            }
        }
    }
}

/// A scenario that can be run. `title` says what the source is.
pub fn scenario(title: &str, source: &Source<'_>, blocks: &[Block]) -> String {
    let mut text = format!(
        "# {title} of {}, as a scenario.\n\
         #\n\
         # No configuration file says how many requests come, how long work takes, or what goes wrong: what is marked\n\
         # \"{ASSUMED}\" here is. Put your own figures in before you believe a result.\n\n",
        quoted_line(source.name)
    );
    let stem = source.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = super::draft::name_of(stem.split('.').find(|part| !part.is_empty()).unwrap_or_default());
    text += &format!("version = 1\nname = \"{name}\"\nhorizon = \"60s\"  # {ASSUMED}\n");
    let services = services(blocks);
    if blocks.iter().any(|block| matches!(block.kind, Kind::Call { .. })) {
        text += &format!("\n[clients.{CALLERS}]\narrivals = {{ poisson = {{ rate = 100 }} }}  # {ASSUMED}\n");
    }
    let mut told = BTreeSet::new();
    let of = |wanted: fn(&Kind) -> bool| blocks.iter().filter(move |block| wanted(&block.kind));
    for call in of(|kind| matches!(kind, Kind::Call { .. })) {
        let path = ["clients", CALLERS, "calls", &call.name];
        text += &table(&path, source, &left_out(call, &mut told), call.target(), &call.settings);
    }
    for service in &services {
        let block = of(|kind| *kind == Kind::Service).find(|block| block.name == **service);
        let above = block.map_or_else(String::new, |block| left_out(block, &mut told));
        let settings = block.map_or(&[][..], |block| &block.settings);
        text += &table(&["services", service], source, &above, Some(("service_time", "10ms", ASSUMED)), settings);
    }
    for policy in of(|kind| *kind == Kind::Policy) {
        text += &table(&["retries", &policy.name], source, &left_out(policy, &mut told), None, &policy.settings);
    }
    if !services.is_empty() {
        let names: Vec<String> = services.iter().map(|name| format!("{name:?}")).collect();
        text += &format!(
            "\n[faults.outage]  # {ASSUMED}\non = [{}]\nfrom = \"20s\"\nuntil = \"30s\"\neffect = \"refuse\"\n",
            names.join(", ")
        );
    }
    text
}

/// A text in a comment of one line.
fn quoted_line(text: &str) -> String {
    format!("`{}`", one_line(text))
}

/// What a comment can hold of a text.
fn one_line(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// What is not in a block, as comments above it, a line each; what has been told already is not told again.
fn left_out(block: &Block, told: &mut BTreeSet<String>) -> String {
    let lines = block.left_out.iter().map(|line| one_line(line)).filter(|line| told.insert(line.clone()));
    lines.map(|line| format!("# not in here: {line}\n")).collect()
}

/// The services of a scenario: those that are called, and those that are there anyway, in the order of the file.
fn services(blocks: &[Block]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let names = blocks.iter().filter_map(|block| match &block.kind {
        Kind::Call { to } => Some(to.as_str()),
        Kind::Service => Some(block.name.as_str()),
        Kind::Policy => None,
    });
    names.filter(|name| seen.insert(*name)).collect()
}

/// A table with its tables, with comments above it, each setting with its origin beside it. What is said of `first`, a
/// key with its value that is no setting of the file, stands beside that.
fn table(
    path: &[&str],
    source: &Source<'_>,
    above: &str,
    first: Option<(&str, &str, &str)>,
    settings: &[Setting],
) -> String {
    let mut document = DocumentMut::new();
    let mut table: &mut Table = document.as_table_mut();
    for name in path {
        table.set_implicit(true);
        table = table_in(table, name);
    }
    table.set_implicit(false);
    table.decor_mut().set_prefix(format!("\n{above}"));
    if let Some((key, value, why)) = first {
        let mut value = Value::from(value);
        if !why.is_empty() {
            value.decor_mut().set_suffix(format!("  # {why}"));
        }
        table.insert(key, Item::Value(value));
    }
    settings.iter().for_each(|setting| put(table, setting, Some(source.comment(&setting.origin))));
    aligned(&document.to_string())
}

impl Block {
    /// The key that says where a call goes, if its label does not; with nothing to be said of it.
    fn target(&self) -> Option<(&str, &str, &str)> {
        match &self.kind {
            Kind::Call { to } if *to != self.name => Some(("to", to, "")),
            _ => None,
        }
    }
}

/// The table of that name, which is made if it is not there.
fn table_in<'t>(table: &'t mut Table, name: &str) -> &'t mut Table {
    let item = table.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if !item.is_table() {
        *item = Item::Table(Table::new());
    }
    item.as_table_mut().expect("it has just become one")
}

/// Puts a setting into a table, with a comment if there is one.
fn put(table: &mut Table, setting: &Setting, comment: Option<String>) {
    let mut names: Vec<&str> = setting.path.split('.').collect();
    let key = names.pop().expect("a path has a name");
    let mut inner = table;
    for name in names {
        inner = table_in(inner, name);
        // One that holds nothing but tables needs no header of its own.
        inner.set_implicit(true);
    }
    let mut value = setting.value.clone();
    if let Some(comment) = comment {
        value.decor_mut().set_suffix(format!("  {comment}"));
    }
    inner.insert(key, Item::Value(value));
}

/// The comments of each run of lines in one column.
fn aligned(text: &str) -> String {
    /// Comments further to the right stay where they are.
    const COLUMN_MAX: usize = 60;
    let split = |line: &str| line.split_once("  # ").map(|(left, right)| (left.to_owned(), right.to_owned()));
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for run in lines.chunk_by(|one, other| split(one).is_some() == split(other).is_some()) {
        let pairs: Vec<_> = run.iter().map(|line| split(line)).collect();
        let widths = pairs.iter().flatten().map(|(left, _)| left.chars().count());
        let column = widths.filter(|width| *width <= COLUMN_MAX).max().unwrap_or(0);
        for (line, pair) in run.iter().zip(&pairs) {
            match pair {
                Some((left, right)) => out += &format!("{left:column$}  # {right}\n"),
                None => out += &format!("{line}\n"),
            }
        }
    }
    out
}

/// What came of putting settings into a scenario.
pub struct Merged {
    /// The scenario. What it has no place for is at its end, as comments.
    pub text: String,
    /// The calls that it has no place for, as (label, service).
    pub homeless: Vec<(String, String)>,
    /// The policies that were there and are others now.
    pub replaced: Vec<String>,
}

/// Puts what was imported into the text of a scenario, which is TOML: policies under their names, the settings of calls
/// into the calls with that label, or to that service if there is one import for it, the settings of services into
/// those of that name.
///
/// # Errors
/// The text is no TOML.
pub fn merged(text: &str, source: &Source<'_>, blocks: &[Block]) -> Result<Merged, toml_edit::TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let (mut homeless, mut replaced) = (Vec::new(), Vec::new());
    let mut told = BTreeSet::new();
    let mut rest = String::new();
    for block in blocks {
        match &block.kind {
            Kind::Policy => {
                let policies = document.get("retries").and_then(Item::as_table_like);
                if policies.is_some_and(|policies| policies.contains_key(&block.name)) {
                    replaced.push(block.name.clone());
                }
                let policy = fresh(document.as_table_mut(), &block.name);
                // The comment above a policy that was there stays.
                let before = policy.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or("\n");
                let prefix = format!("{before}{}", left_out(block, &mut told));
                policy.decor_mut().set_prefix(prefix);
                for setting in &block.settings {
                    put(policy, setting, Some(source.comment(&setting.origin)));
                }
            }
            Kind::Call { to } => {
                let is_only =
                    blocks.iter().filter(|other| matches!(&other.kind, Kind::Call { to: it } if it == to)).count() == 1;
                let mut calls = calls(&mut document);
                calls.retain(|(label, target, _)| *label == block.name || (is_only && target == to));
                if calls.is_empty() {
                    homeless.push((block.name.clone(), to.clone()));
                    let path = ["clients", CALLERS, "calls", &block.name];
                    let table = table(&path, source, &left_out(block, &mut told), block.target(), &block.settings);
                    rest += &commented(&table);
                }
                for (_, _, call) in calls {
                    overlay(call, source, &block.settings);
                }
            }
            Kind::Service => {
                let services = document.get_mut("services").and_then(Item::as_table_like_mut);
                if let Some(service) = services.and_then(|services| services.get_mut(&block.name)) {
                    overlay(service, source, &block.settings);
                }
            }
        }
    }
    Ok(Merged { text: document.to_string() + &rest, homeless, replaced })
}

/// Lines as comments.
fn commented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("# {line}\n") }).collect()
}

/// Whether a setting says only that the product has no limit of its own: one of somebody else stays then.
fn is_no_limit(setting: &Setting) -> bool {
    let is_limit = ["timeout", "total_timeout", "connect_timeout"].contains(&setting.path);
    is_limit && matches!(setting.origin, Origin::Default(_)) && setting.value.as_str() == Some("none")
}

/// An empty table `retries.NAME`, with the comment that it had before.
fn fresh<'t>(root: &'t mut Table, name: &str) -> &'t mut Table {
    if !root.get("retries").is_some_and(Item::is_table) {
        let retries = root.remove("retries").and_then(|item| item.into_table().ok()).unwrap_or_else(|| {
            let mut retries = Table::new();
            retries.set_implicit(true);
            retries
        });
        root.insert("retries", Item::Table(retries));
    }
    let retries = table_in(root, "retries");
    let policy = table_in(retries, name);
    policy.clear();
    policy
}

/// All calls of a scenario: label, service, and where its settings are.
fn calls(document: &mut DocumentMut) -> Vec<(String, String, &mut Item)> {
    let mut found = Vec::new();
    for (owners, item) in document.as_table_mut().iter_mut() {
        let (true, Some(owners)) = (["clients", "services"].contains(&owners.get()), item.as_table_like_mut()) else {
            continue;
        };
        for (_, owner) in owners.iter_mut() {
            let calls = owner.as_table_like_mut().and_then(|owner| owner.get_mut("calls"));
            let Some(calls) = calls.and_then(Item::as_table_like_mut) else { continue };
            for (label, call) in calls.iter_mut() {
                let label = label.get().to_owned();
                let to = call.as_table_like().and_then(|call| call.get("to")?.as_str()).unwrap_or(&label).to_owned();
                found.push((label, to, call));
            }
        }
    }
    found
}

/// Puts settings into a table of whatever form. What a setting is part of takes the place of what was there; what
/// stands above that stays.
fn overlay(item: &mut Item, source: &Source<'_>, settings: &[Setting]) {
    let mut is_gone = BTreeSet::new();
    for setting in settings {
        let comment = source.comment(&setting.origin);
        let has_lines = matches!(item, Item::Table(_));
        let Some(table) = item.as_table_like_mut() else { return };
        if let Some(Item::Value(old)) = table.get_mut(setting.path) {
            if is_no_limit(setting) {
                continue;
            }
            let mut value = setting.value.clone();
            *value.decor_mut() = old.decor().clone();
            if has_lines {
                value.decor_mut().set_suffix(format!("  {comment}"));
            }
            *old = value;
            continue;
        }
        let first = setting.path.split('.').next().expect("a path has a name");
        if is_gone.insert(first) {
            table.remove(first);
        }
        match &mut *item {
            Item::Table(table) if !table.is_dotted() => put(table, setting, Some(comment)),
            item => {
                if let Some(table) = item.as_table_like_mut() {
                    put_inline(table, setting);
                }
            }
        }
    }
    // What stood before the closing brace stands before a comma now.
    if let Some(table) = item.as_inline_table_mut() {
        table.fmt();
    }
}

/// Puts a setting into a table that has no lines of its own for it.
fn put_inline(table: &mut dyn TableLike, setting: &Setting) {
    let mut names: Vec<&str> = setting.path.split('.').collect();
    let key = names.pop().expect("a path has a name");
    let Some((first, rest)) = names.split_first() else {
        table.insert(key, Item::Value(setting.value.clone()));
        return;
    };
    let item = table.entry(first).or_insert_with(|| Item::Value(Value::InlineTable(InlineTable::new())));
    let mut inner = item.as_inline_table_mut().expect("what was there has been taken out");
    for &name in rest {
        let value = inner.entry(name).or_insert_with(|| Value::InlineTable(InlineTable::new()));
        inner = value.as_inline_table_mut().expect("a path leads through tables");
    }
    inner.insert(key, setting.value.clone());
}
