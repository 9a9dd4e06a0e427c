//! Where a scenario file says something: from the path of a setting to its place in the text.

use indexmap::{IndexMap, IndexSet};

use crate::experiment::Position;
use crate::scenario::ScenarioFile;
use crate::scenario::document::{self, Entry, Node, Table, Value};
use crate::scenario::overrides::{self, Setting};
use crate::scenario::presets::{self, Mentions};
use crate::scenario::source::{Place, Sources};

/// The places of a scenario file.
pub(crate) struct Places {
    sources: Sources,
    root: Table,
    variants: IndexMap<String, Vec<Setting>>,
}

/// Where something is said, or would be.
pub(crate) struct Found {
    /// The path that was looked for, as far as it goes.
    pub path: String,
    /// Its place; none if the file says nothing of it.
    pub place: Option<Place>,
}

/// What a variant says: the file with the settings of the variant in it, each in its place, and those of presets where
/// they are named.
pub(crate) struct Effective(Table);

impl Places {
    /// Of a file that is a scenario.
    pub fn of(file: &ScenarioFile) -> Self {
        let mut sources = Sources::default();
        sources.add(&file.name, &file.text);
        let root = document::parse(&file.text).root;
        // What is wrong with them has been reported to whoever made a scenario of the file.
        let variants = overrides::variants(&root, &mut Vec::new());
        Self { sources, root, variants }
    }

    /// What a variant says.
    pub fn effective(&self, variant: &str) -> Effective {
        let mut root = Node { place: 0..0, value: Value::Table(self.root.clone()) };
        let settings = self.variants.get(variant).map(Vec::as_slice);
        let mut created = overrides::apply(&mut root, settings, &mut Vec::new());
        // What a variant sets of what only others use has been refused.
        presets::lay(&mut root, &mut created, &IndexSet::new(), &mut Mentions);
        match root.value {
            Value::Table(table) => Effective(table),
            _ => Effective(Table::new()),
        }
    }

    /// Whether any variant says something at a path.
    pub fn has(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('.').collect();
        let says = |Effective(table): Effective| descend_table(&table, &names).0 == names.len();
        says(self.effective("")) || self.variants.keys().any(|variant| says(self.effective(variant)))
    }

    /// The line and the column of a place.
    pub fn position(&self, place: &Place) -> Option<Position> {
        self.sources.position(place)
    }

    /// The texts, for messages about these places.
    pub fn into_sources(self) -> Sources {
        self.sources
    }
}

impl Effective {
    /// Where one of these `keys` of `owner`, a path, is said: the first of them that is there; else where `owner` is, or
    /// as much of that as there is.
    pub fn find(&self, owner: &str, keys: &[&str]) -> Found {
        let Self(root) = self;
        let owner: Vec<&str> = owner.split('.').collect();
        for &key in keys {
            let path: Vec<&str> = owner.iter().copied().chain(key.split('.')).collect();
            let (depth, place) = descend_table(root, &path);
            if depth == path.len() {
                return Found { path: path.join("."), place };
            }
        }
        Found { path: owner.join("."), place: descend_table(root, &owner).1 }
    }
}

fn descend(value: &Value, path: &[&str]) -> (usize, Option<Place>) {
    match value {
        Value::Table(table) => descend_table(table, path),
        _ => (0, None),
    }
}

/// How many of the names lead to something in a table, and where that is; none if the first does not.
fn descend_table(table: &Table, path: &[&str]) -> (usize, Option<Place>) {
    let Some((name, rest)) = path.split_first() else { return (0, None) };
    let Some(entry) = table.get(*name) else { return (0, None) };
    let (depth, place) = descend(&entry.node.value, rest);
    (1 + depth, place.or_else(|| Some(place_of(entry))))
}

/// A key with its value; of a table only the key: it may be long.
fn place_of(Entry { key, node }: &Entry) -> Place {
    match node.value {
        Value::Table(_) => key.clone(),
        _ => key.start..node.place.end.max(key.end),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const TEXT: &str = r#"
[retries.patient]
max_retries = 2
backoff = { fixed = "1s" }
[services.db]
[variants.jittered]
"retries.patient.jitter" = "full"
"retries.patient.backoff" = { fixed = "2s" }
[variants.whole]
"retries.patient" = { max_retries = 3 }
[variants.other]
"retries.patient.max_attempts" = 9
"retries.patient.backoff" = { exponential = { base = "1s" } }
"#;

    fn found(variant: &str, owner: &str, keys: &[&str]) -> (String, String) {
        let (name, text, folder) = ("file".to_owned(), TEXT.to_owned(), PathBuf::new());
        let places = Places::of(&ScenarioFile { name, text, folder });
        let Found { path, place } = places.effective(variant).find(owner, keys);
        (path, place.map_or_else(String::new, |place| TEXT[place].to_owned()))
    }

    /// The variant's own setting is what counts there; what it does not set is where the file says it; and what nobody
    /// sets is missing where it would be.
    #[test]
    fn a_setting_is_where_it_was_set_last() {
        let at = |variant: &str, keys: &[&str]| found(variant, "retries.patient", keys);
        let pair = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        assert_eq!(
            at("base", &["backoff"]),
            pair("retries.patient.backoff", "backoff = { fixed = \"1s\" }".get(..7).unwrap())
        );
        assert_eq!(at("base", &["jitter"]), pair("retries.patient", "patient"));
        assert_eq!(at("jittered", &["jitter"]).1, "jitter\" = \"full\"");
        assert_eq!(at("jittered", &["backoff.fixed"]), pair("retries.patient.backoff.fixed", "fixed = \"2s\""));
        assert_eq!(
            at("jittered", &["max_attempts", "max_retries"]),
            pair("retries.patient.max_retries", "max_retries = 2")
        );
        assert_eq!(at("whole", &["max_retries"]), pair("retries.patient.max_retries", "max_retries = 3"));
        // What a setting has taken the place of is not there any more.
        let limit = &["max_retries", "max_attempts"];
        assert_eq!(at("other", limit).0, "retries.patient.max_attempts");
        assert_eq!(at("other", &["backoff.fixed", "backoff"]).0, "retries.patient.backoff");
        assert_eq!(found("base", "services.db", &["queue"]), pair("services.db", "db"));
        assert_eq!(found("base", "services.cache", &["queue"]), pair("services.cache", "services"));
    }
}
