//! What rules find.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::{Serialize, Serializer};

use crate::analysis::lint::{Rule, words};
use crate::experiment::Position;
use crate::import::Remark;
use crate::scenario::places::{Effective, Found, Places};
use crate::scenario::source::Place;
use crate::scenario::{Allowed, BASE, Diagnostic, Severity};

/// What a rule has found at one place of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is.
    #[serde(serialize_with = "in_a_word")]
    pub severity: Severity,
    /// What it is.
    pub message: String,
    /// What it does in this file: a sentence with its figure.
    pub figure: String,
    /// What to use instead.
    pub instead: Cow<'static, str>,
    /// The setting that it is about.
    pub path: String,
    /// In which variants it is so, in the order of the file.
    pub variants: Vec<String>,
    /// Where it is.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// The reason for which it is allowed; none if it is not.
    pub allowed: Option<String>,
    #[serde(skip)]
    place: Option<Place>,
}

fn in_a_word<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(severity.name())
}

impl Finding {
    /// What is to be known of a file that was imported.
    pub(super) fn remark(rule: &'static Rule, remark: &Remark, position: Option<Position>) -> Self {
        Self {
            rule: rule.id,
            severity: rule.severity,
            message: remark.message.clone(),
            figure: remark.sort.consequence().to_owned(),
            instead: remark.hint.clone().map_or(Cow::Borrowed(rule.instead), Cow::Owned),
            path: String::new(),
            variants: vec![BASE.to_owned()],
            position,
            allowed: None,
            place: Some(remark.place.clone()),
        }
    }

    /// The same at another place.
    pub(super) fn at(self, place: &Place, position: Option<Position>) -> Self {
        Self { place: Some(place.clone()), position, ..self }
    }

    /// Where it begins.
    pub(super) fn start(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.start)
    }

    /// In which variants it is so, in words; none if it is in all of so many.
    pub(super) fn within(&self, variants: usize) -> Option<String> {
        let noun = if self.variants.len() == 1 { "variant" } else { "variants" };
        let names = words::names(self.variants.iter().map(String::as_str));
        (self.variants.len() < variants).then(|| format!("in {noun} {names}"))
    }

    /// As a message; `variants` are those of the file.
    pub(super) fn diagnostic(&self, variants: usize) -> Diagnostic {
        let message = Diagnostic::new(self.message.as_str()).breaks(self.rule, self.severity);
        let message = match &self.place {
            Some(place) => message.at(place),
            None => message,
        };
        let message = message.note(self.figure.as_str());
        let message = match &self.allowed {
            Some(reason) => message.note(format!("allowed: {reason}")),
            None => message,
        };
        let message = match self.within(variants) {
            Some(within) => message.note(within),
            None => message,
        };
        message.hint(&*self.instead)
    }
}

/// Something that a rule sees.
pub(super) struct Hit {
    /// The path of the table that it is about.
    pub owner: String,
    /// The key of it that it is about: the first of these that is there.
    pub keys: &'static [&'static str],
    /// What it is: lower case, names in back-ticks.
    pub message: String,
    /// What it does in this file: a sentence with its figure, in lower case.
    pub figure: String,
}

/// Where rules put what they find.
pub(super) struct Findings<'a> {
    places: &'a Places,
    allowed: &'a [Allowed],
    rule: &'static Rule,
    variant: &'a str,
    effective: Effective,
    /// Variants of which the same is said are told once.
    found: IndexMap<Key, Finding>,
    /// Which rule of which row of what is allowed has allowed something.
    used: BTreeSet<(usize, &'static str)>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    rule: &'static str,
    path: String,
    start: Option<usize>,
    message: String,
    figure: String,
    allowed: Option<usize>,
}

impl<'a> Findings<'a> {
    /// `rule` is the one that comes first.
    pub fn new(places: &'a Places, allowed: &'a [Allowed], rule: &'static Rule) -> Self {
        let effective = places.effective("");
        Self { places, allowed, rule, variant: "", effective, found: IndexMap::new(), used: BTreeSet::new() }
    }

    /// What comes now is about this variant.
    pub fn about(&mut self, variant: &'a str) {
        (self.variant, self.effective) = (variant, self.places.effective(variant));
    }

    /// What comes now is from this rule.
    pub fn from(&mut self, rule: &'static Rule) {
        self.rule = rule;
    }

    /// A rule sees something.
    pub fn add(&mut self, hit: Hit) {
        let Hit { owner, keys, message, figure } = hit;
        let found = self.effective.find(&owner, keys);
        self.insert(found, message, figure);
    }

    fn insert(&mut self, Found { path, place }: Found, message: String, figure: String) {
        let Rule { id, severity, instead, .. } = *self.rule;
        let rows = self.allowed.iter().enumerate();
        let mut allowing = rows.filter(|(_, row)| allows(row, id, &path, self.variant)).map(|(at, _)| at).peekable();
        let first = allowing.peek().copied();
        self.used.extend(allowing.map(|at| (at, id)));
        let start = place.as_ref().map(|place| place.start);
        let key = Key {
            rule: id,
            path: path.clone(),
            start,
            message: message.clone(),
            figure: figure.clone(),
            allowed: first,
        };
        match self.found.entry(key) {
            Entry::Occupied(mut known) => {
                let variants = &mut known.get_mut().variants;
                if variants.last().is_none_or(|last| last != self.variant) {
                    variants.push(self.variant.to_owned());
                }
            }
            Entry::Vacant(new) => {
                let position = place.as_ref().and_then(|place| self.places.position(place));
                let variants = vec![self.variant.to_owned()];
                let allowed = first.map(|at| self.allowed[at].reason.clone());
                new.insert(Finding {
                    rule: id,
                    severity,
                    message,
                    figure,
                    instead: Cow::Borrowed(instead),
                    path,
                    variants,
                    position,
                    allowed,
                    place,
                });
            }
        }
    }

    /// What was found, and what is allowed for nothing: `unused` says that. In the order of the places.
    pub fn judged(self, unused: &'static Rule, variants: &[String]) -> Vec<Finding> {
        let rules = self.allowed.iter().enumerate().flat_map(|(at, row)| row.rules.iter().map(move |rule| (at, rule)));
        let idle = rules.filter(|(at, (rule, _))| !self.used.contains(&(*at, *rule)));
        let idle = idle.map(|(at, (rule, place))| (&self.allowed[at], rule, place));
        let idle = idle.map(|(row, rule, place)| Finding {
            rule: unused.id,
            severity: unused.severity,
            message: format!("`{rule}` is allowed{}, but it finds nothing", whereabouts(row)),
            figure: idle_figure(row, self.places),
            instead: Cow::Borrowed(unused.instead),
            path: "allow".to_owned(),
            variants: variants.to_vec(),
            position: self.places.position(place),
            allowed: None,
            place: Some(place.clone()),
        });
        let mut findings: Vec<Finding> = idle.collect();
        findings.extend(self.found.into_values());
        findings.sort_by_key(Finding::start);
        findings
    }
}

/// Where a row allows something, for a sentence.
fn whereabouts(row: &Allowed) -> String {
    let at = row.at.as_ref().map(|at| format!(" at `{at}`"));
    let variants: Vec<String> = row.variants.iter().map(|name| format!("`{name}`")).collect();
    let variants = (!variants.is_empty()).then(|| format!(" in {}", variants.join(", ")));
    [at, variants].into_iter().flatten().collect()
}

/// What is wrong with a row that allows nothing.
fn idle_figure(row: &Allowed, places: &Places) -> String {
    match &row.at {
        Some(at) if !places.has(at) => format!("the file has no `{at}`"),
        _ => "what is allowed for nothing hides what comes later".to_owned(),
    }
}

/// Whether a row allows what a rule finds at a path in a variant.
fn allows(row: &Allowed, rule: &str, path: &str, variant: &str) -> bool {
    row.rules.iter().any(|(id, _)| *id == rule)
        && row.at.as_deref().is_none_or(|at| is_beneath(path, at))
        && (row.variants.is_empty() || row.variants.iter().any(|name| name == variant))
}

/// Whether a path is `at`, or leads on from there.
fn is_beneath(path: &str, at: &str) -> bool {
    path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
