//! What an importer has understood of a file, setting by setting, each with where it comes from.

use std::mem::discriminant;

use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{Node, Value as Read};
use crate::scenario::Diagnostic;
use crate::scenario::source::Place;
use crate::time::Span;

/// What an importer has understood so far.
#[derive(Debug, Default)]
pub struct Draft {
    /// Policies, calls and services, in the order of the file.
    pub blocks: Vec<Block>,
    /// What one should know of them.
    pub remarks: Vec<Remark>,
    /// What is wrong with the file.
    pub errors: Vec<Diagnostic>,
}

/// A table of the scenario.
#[derive(Debug)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Its name: of the policy, the service, or the label of the call.
    pub name: String,
    /// What it comes from.
    pub place: Place,
    /// Its settings; at most one for each path.
    pub settings: Vec<Setting>,
    /// What is not in it, in words, a line each.
    pub left_out: Vec<String>,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A retry policy.
    Policy,
    /// A call to this service.
    Call {
        /// The name of the service.
        to: String,
    },
    /// A service.
    Service,
}

/// A setting of a block.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its path in the block, such as `backoff.exponential.base`.
    pub path: &'static str,
    /// What it is set to.
    pub value: toml_edit::Value,
    /// Where that comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The file says so here.
    File(Place),
    /// The product does that where the file says nothing: why, in a few words.
    Default(String),
}

/// What one should know of something in the file.
#[derive(Debug)]
pub struct Remark {
    /// What sort of thing.
    pub sort: Sort,
    /// Where it is.
    pub place: Place,
    /// What it is: lower case, names in back-ticks.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Remark {
    /// As a message.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(self.message.as_str()).at(&self.place).maybe_hint(self.hint.clone())
    }
}

/// Sorts of remarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// It does something else than one would think.
    Surprise,
    /// No scenario can say it.
    LeftOut,
    /// The importer does not know it.
    Unknown,
}

impl Draft {
    /// Begins a block; its name is made of `name`, and differs from that of all others of its kind.
    pub fn block(&self, kind: Kind, name: &str, place: &Place) -> Block {
        let is_same = |block: &&Block| discriminant(&block.kind) == discriminant(&kind);
        let is_taken = |name: &str| self.blocks.iter().filter(is_same).any(|block| block.name == name);
        Block { name: unique(name, is_taken), kind, place: place.clone(), settings: Vec::new(), left_out: Vec::new() }
    }

    /// Something surprises.
    pub fn surprise(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<String>) {
        self.remark(Sort::Surprise, place, message.into(), Some(hint.into()));
    }

    /// Something cannot be said in a scenario. It stays visible as a comment on the block.
    pub fn leave_out(&mut self, block: &mut Block, field: &Field<'_>, why: &str) {
        block.left_out.push(format!("{} ({why})", field.said()));
        self.pass_over(field, why);
    }

    /// Something cannot be said in a scenario, and is about no block of it.
    pub fn pass_over(&mut self, field: &Field<'_>, why: &str) {
        let message = format!("`{}` is not in the scenario: {why}", field.name);
        self.remark(Sort::LeftOut, &field.place(), message, None);
    }

    /// What of these keys is there cannot be said in a scenario, all for one reason.
    pub fn leave_out_all(&mut self, block: &mut Block, section: &mut Section<'_>, keys: &[&str], why: &str) {
        for key in keys {
            if let Some(field) = section.field(key) {
                self.leave_out(block, &field, why);
            }
        }
    }

    /// What is left of a section is unknown. It stays visible as a comment on the block.
    pub fn unknown(&mut self, block: Option<&mut Block>, section: &Section<'_>) {
        let fields: Vec<Field<'_>> = section.unknown().collect();
        for field in &fields {
            let message = format!("`{}` is not known here", field.path);
            self.remark(Sort::Unknown, &field.place(), message, None);
        }
        if let Some(block) = block {
            block.left_out.extend(fields.iter().map(|field| format!("{} (not known here)", field.said())));
        }
    }

    /// Something is not in the scenario, and belongs to no block of it.
    pub fn aside(&mut self, place: &Place, message: impl Into<String>) {
        self.remark(Sort::LeftOut, place, message.into(), None);
    }

    /// What several blocks have in common is said once.
    fn remark(&mut self, sort: Sort, place: &Place, message: String, hint: Option<String>) {
        let is_it = |it: &Remark| it.sort == sort && it.place == *place && it.message == message;
        if !self.remarks.iter().any(is_it) {
            self.remarks.push(Remark { sort, place: place.clone(), message, hint });
        }
    }

    /// Something is wrong.
    pub fn wrong(&mut self, place: &Place, message: impl Into<Box<str>>, hint: impl Into<Box<str>>) {
        self.errors.push(Diagnostic::new(message).at(place).hint(hint));
    }

    /// The scalar that a field is, or an error.
    pub fn text<'t>(&mut self, field: &Field<'t>) -> Option<&'t str> {
        match &field.node.value {
            Read::Scalar(text) if is_placeholder(text) => {
                let hint = "put in what stands there when it runs, and import that";
                self.wrong(&field.node.place, format!("`{}` is a placeholder", field.path), hint);
                None
            }
            Read::Scalar(text) => Some(text),
            _ => {
                self.not_a(&field.path, field.node, "a single value");
                None
            }
        }
    }

    /// What a field says, as `parse` understands it, which says what it must be: "a whole number".
    pub fn parsed<T>(&mut self, field: &Field<'_>, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(field)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(must_be) => {
                let message = format!("`{}` must be {must_be}, not {text:?}", field.path);
                self.wrong(&field.node.place, message, "see the reference of the format");
                None
            }
        }
    }

    /// A whole number.
    pub fn whole(&mut self, field: &Field<'_>) -> Option<u64> {
        self.parsed(field, |text| text.parse().map_err(|_| "a whole number of at least 0".to_owned()))
    }

    /// A whole number from `least` to what 31 bits hold, which is what products count with.
    pub fn count(&mut self, field: &Field<'_>, least: u32) -> Option<u64> {
        const MOST: u32 = i32::MAX as u32;
        self.parsed(field, |text| {
            let count = text.parse().ok().filter(|count| (least..=MOST).contains(count));
            count.map(u64::from).ok_or_else(|| format!("a whole number from {least} to {MOST}"))
        })
    }

    /// A duration above zero.
    pub fn above_zero(&mut self, field: &Field<'_>, parse: impl FnOnce(&str) -> Result<Span, String>) -> Option<Span> {
        self.parsed(field, |text| match parse(text) {
            Ok(span) if span == Span::ZERO => Err("longer than zero".to_owned()),
            parsed => parsed,
        })
    }

    /// The table at a key; none if there is none, and an error if there is something else.
    pub fn table<'t>(&mut self, section: &mut Section<'t>, key: &str) -> Option<Section<'t>> {
        let field = section.field(key)?;
        self.table_of(&field, section.keys())
    }

    /// The table that a field is, in a section whose keys are compared in this way; an error if it is something else.
    pub fn table_of<'t>(&mut self, field: &Field<'t>, keys: Keys) -> Option<Section<'t>> {
        let table = field.section(keys);
        if table.is_none() {
            self.not_a(&field.path, field.node, "a table");
        }
        table
    }

    /// The tables of the list at a key; an error for what is none.
    pub fn tables<'t>(&mut self, section: &mut Section<'t>, key: &str) -> Vec<Section<'t>> {
        let Some(field) = section.field(key) else { return Vec::new() };
        let Read::List(items) = &field.node.value else {
            self.not_a(&field.path, field.node, "a list of tables");
            return Vec::new();
        };
        for (at, item) in items.iter().enumerate().filter(|(_, item)| item.table().is_none()) {
            self.not_a(&format!("{}[{at}]", field.path), item, "a table");
        }
        field.sections(section.keys())
    }

    fn not_a(&mut self, path: &str, node: &Node, must_be: &str) {
        let message = format!("`{path}` must be {must_be}, and is {}", node.value.kind());
        self.wrong(&node.place, message, "see the reference of the format");
    }

    /// A number.
    pub fn number(&mut self, field: &Field<'_>) -> Option<f64> {
        self.parsed(field, |text| {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| "a number".to_owned())
        })
    }

    /// `true` or `false`.
    pub fn truth(&mut self, field: &Field<'_>) -> Option<bool> {
        self.parsed(field, |text| match text.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("`true` or `false`".to_owned()),
        })
    }
}

impl Block {
    /// One that becomes no table: it gathers what is left out of several.
    pub fn scratch(place: &Place) -> Self {
        let name = String::new();
        Self { kind: Kind::Service, name, place: place.clone(), settings: Vec::new(), left_out: Vec::new() }
    }

    /// Sets what the file says.
    pub fn read(&mut self, path: &'static str, value: impl Into<toml_edit::Value>, field: &Field<'_>) {
        self.set(path, value.into(), Origin::File(field.place()));
    }

    /// Sets what the product does where the file says nothing.
    pub fn default(&mut self, path: &'static str, value: impl Into<toml_edit::Value>, why: impl Into<String>) {
        self.set(path, value.into(), Origin::Default(why.into()));
    }

    fn set(&mut self, path: &'static str, value: toml_edit::Value, origin: Origin) {
        self.settings.retain(|setting| setting.path != path);
        self.settings.push(Setting { path, value, origin });
    }
}

/// A name of a scenario, made of any text: other letters than it may have become dashes.
pub fn name_of(text: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let mut name: String = text.chars().take(NAME_MAX).map(letter).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    match name.trim_matches('-') {
        "" => "unnamed".to_owned(),
        // It stands for no retries.
        "none" => "none-".to_owned() + "1",
        name => name.to_owned(),
    }
}

/// The longest name that is taken over.
const NAME_MAX: usize = 60;

/// The name, with a number if it is taken.
fn unique(text: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let name = name_of(text);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name)).expect("there is always another")
}

/// Whether a text stands for another that somebody puts in later.
pub fn is_placeholder(text: &str) -> bool {
    ["{{", "${", "$(", "<%"].iter().any(|mark| text.contains(mark))
}
