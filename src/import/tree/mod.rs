//! Configuration files of any format as one kind of tree: every key and value with its place.
//!
//! Scalars keep the text that they have in the file: what is a number or a duration there, only the format knows.

mod flat;
mod ini;
mod json;
mod yaml;

pub use flat::nested;
use indexmap::IndexMap;

use crate::scenario::Diagnostic;
use crate::scenario::source::Place;

/// The most nodes of a tree. Aliases may stand for many.
const NODES_MAX: usize = 1_000_000;

/// A table, in the order of the file.
pub type Table = IndexMap<String, Entry>;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where the key is.
    pub key: Place,
    /// The value.
    pub node: Node,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// A string, a number, or a truth value, as it is written.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Scalar(_) => "a single value",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The table that it is; none if it is something else.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The scalar that it is; none if it is something else.
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }
}

/// In what a configuration file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// YAML, of which JSON is a part; one or several documents.
    Yaml,
    /// JSON, with comments and commas at the end of lists, as .NET takes it.
    Json,
    /// Sections in brackets, and `key = value` in lines.
    Ini,
}

/// Reads a text: the documents in it. Only YAML has several.
///
/// # Errors
/// It is not in that syntax, or it is too much of it.
pub fn parse(syntax: Syntax, text: &str) -> Result<Vec<Node>, Diagnostic> {
    match syntax {
        Syntax::Yaml => yaml::parse(text),
        Syntax::Json => json::parse(text).map(|node| node.into_iter().collect()),
        Syntax::Ini => ini::parse(text).map(|node| vec![node]),
    }
}

/// What is said of a template that nobody has expanded: its text is not what the product reads.
pub fn template_hint(text: &str, place: &Place) -> Option<&'static str> {
    let start = text[..place.start.min(text.len())].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.start.min(text.len())..].find('\n').map_or(text.len(), |at| place.start + at);
    let line = &text[start..end];
    line.contains("{{")
        .then_some("this is a template: expand it first, as with `helm template`, and import what that prints")
}

/// An empty text.
fn empty() -> Diagnostic {
    Diagnostic::new("the file is empty").at(&(0..0))
}

/// That there is too much.
fn too_much(place: &Place) -> Diagnostic {
    let message = format!("there are more than {NODES_MAX} values from here on, with what aliases stand for");
    Diagnostic::new(message).at(place).hint("import the part that is about retries")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree without places, as JSON.
    pub(super) fn plain(node: &Node) -> String {
        match &node.value {
            Value::Null => "null".to_owned(),
            Value::Scalar(text) => format!("{text:?}"),
            Value::List(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(",")),
            Value::Table(table) => {
                let pairs = table.iter().map(|(key, entry)| format!("{key:?}:{}", plain(&entry.node)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
            }
        }
    }

    fn all(syntax: Syntax, text: &str) -> Vec<String> {
        parse(syntax, text).unwrap().iter().map(plain).collect()
    }

    fn error(syntax: Syntax, text: &str) -> (String, Option<Place>) {
        let error = parse(syntax, text).expect_err("it is wrong");
        (error.in_a_line(), error.place().cloned())
    }

    #[test]
    fn the_three_syntaxes_yield_the_same_tree() {
        let expected = vec![r#"{"a":{"b":"1.50","c":["x","y"]},"d":"0.1s"}"#.to_owned()];
        assert_eq!(all(Syntax::Yaml, "a:\n  b: 1.50\n  c: [x, \"y\"]\nd: 0.1s\n"), expected);
        assert_eq!(
            all(Syntax::Json, "// why\n{\"a\": {\"b\": 1.50, \"c\": [\"x\", \"y\",]}, \"d\": \"0.1s\"}"),
            expected
        );
        assert_eq!(all(Syntax::Ini, "[a]\nb = 1\n# no\n[c d]\ne=f = g\n"), [r#"{"a":{"b":"1"},"c d":{"e":"f = g"}}"#]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "ü: 1\nkey: \"some value\"\nlist:\n- 7\n";
        let node = &parse(Syntax::Yaml, text).unwrap()[0];
        let entry = &node.table().unwrap()["key"];
        assert_eq!((&text[entry.key.clone()], &text[entry.node.place.clone()]), ("key", "\"some value\""));
        let text = "{\"ü\": 1, \"key\": [true]}";
        let node = &parse(Syntax::Json, text).unwrap()[0];
        let entry = &node.table().unwrap()["key"];
        assert_eq!((&text[entry.key.clone()], &text[entry.node.place.clone()]), ("\"key\"", "[true]"));
        let text = "[profile ü]\n  retry_mode =  standard  \n";
        let node = &parse(Syntax::Ini, text).unwrap()[0];
        let entry = &node.table().unwrap()["profile ü"];
        let setting = &entry.node.table().unwrap()["retry_mode"];
        assert_eq!(&text[entry.key.clone()], "profile ü");
        assert_eq!((&text[setting.key.clone()], &text[setting.node.place.clone()]), ("retry_mode", "standard"));
    }

    #[test]
    fn yaml_has_documents_aliases_and_merge_keys() {
        assert_eq!(all(Syntax::Yaml, "a: 1\n---\nb: 2\n---\n"), [r#"{"a":"1"}"#, r#"{"b":"2"}"#, "null"]);
        assert_eq!(
            all(Syntax::Yaml, "a: &x {b: 1}\nc: *x\nd: ~\ne:\n"),
            [r#"{"a":{"b":"1"},"c":{"b":"1"},"d":null,"e":null}"#]
        );
        let merged = "base: &x {b: 1, c: 2}\nuse:\n  <<: *x\n  c: 3\n";
        assert_eq!(all(Syntax::Yaml, merged), [r#"{"base":{"b":"1","c":"2"},"use":{"c":"3","b":"1"}}"#]);
    }

    /// Each level doubles what is there: 2^30 nodes, if they were made.
    #[test]
    fn aliases_that_multiply_are_refused() {
        let levels = (1..30).map(|level| format!("l{level}: &l{level} [*l{0}, *l{0}]\n", level - 1));
        let text = format!("l0: &l0 [x, y]\n{}", levels.collect::<String>());
        assert!(error(Syntax::Yaml, &text).0.contains("more than 1000000 values"));
    }

    #[test]
    fn what_is_wrong_names_its_place() {
        for (syntax, text, said) in [
            (Syntax::Yaml, "a: [1, 2\nb: 3\n", 2),
            (Syntax::Yaml, "a: 1\na: 2\n", 2),
            (Syntax::Yaml, "a: *missing\n", 1),
            (Syntax::Json, "{\n\"a\": 1,\n\"b\": }\n", 3),
            (Syntax::Json, "{\n\"a\": 1,\n\"a\": 2}\n", 3),
            (Syntax::Ini, "[a]\nno sense\n", 2),
            (Syntax::Ini, "[a\n", 1),
        ] {
            let (message, place) = error(syntax, text);
            let line = text[..place.expect("it has a place").start].matches('\n').count() + 1;
            assert_eq!(line, said, "{text:?}: {message}");
        }
    }

    #[test]
    fn depth_is_limited() {
        let yaml = "[".repeat(100_000);
        let blocks: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let json = "[".repeat(100_000);
        for (syntax, text) in [(Syntax::Yaml, &yaml), (Syntax::Yaml, &blocks), (Syntax::Json, &json)] {
            assert!(parse(syntax, text).is_err());
        }
    }

    /// Each alias is one level more around the one before it, though nothing is nested where it stands.
    #[test]
    fn depth_is_limited_with_what_aliases_stand_for() {
        let levels = |levels: usize| {
            let lines = (1..levels).map(|level| format!("l{level}: &l{level} [*l{}]\n", level - 1));
            format!("l0: &l0 [x]\n{}", lines.collect::<String>())
        };
        assert!(parse(Syntax::Yaml, &levels(99)).is_ok());
        assert!(error(Syntax::Yaml, &levels(100)).0.contains("more than 100 levels deep"));
    }

    #[test]
    fn an_empty_text_is_said_to_be_empty() {
        for syntax in [Syntax::Yaml, Syntax::Json] {
            assert!(error(syntax, "\n  \n").0.contains("empty"));
        }
        assert!(error(Syntax::Ini, "# nothing\n").0.contains("empty"));
    }
}
