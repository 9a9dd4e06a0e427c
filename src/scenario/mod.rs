//! The scenario file: from TOML to plans, or to every error that keeps it from becoming one.
//!
//! The text is parsed with recovery into a tree that knows its places (`document`). Variants and flags change the
//! tree by path (`overrides`), and presets are put beneath the policies that name them (`presets`). Then it is read into
//! typed tables (`reader`, `tables`), whose names and defaults are resolved (`resolve`) before [`plan`](crate::plan) compiles them. Each of these reports all errors it finds and
//! goes on, so that a wrong file yields all of them at once. To add a key: a line in its table, its meaning in
//! `resolve`, and one line less in `unbuilt`; [`schema`] and the reference page are made from its doc comment.

mod counts;
mod declare;
mod diagnostics;
mod document;
pub(crate) mod duration;
mod examples;
mod field;
pub(crate) mod file;
mod number;
mod overrides;
pub(crate) mod places;
mod presets;
mod punctuation;
mod reader;
mod resolve;
pub mod schema;
mod shape;
pub(crate) mod source;
pub(crate) mod suggest;
mod synonyms;
mod syntax;
mod tables;
mod tree;
mod unbuilt;
mod values;

pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use overrides::Overrides;

use std::fmt::{self, Write as _};
use std::iter;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use sha2::{Digest, Sha256};

use crate::experiment::axis::Axis;
use crate::experiment::{Expectation, Measure};
use crate::plan::{Draft, Plan, compile};
use crate::scenario::presets::Texts;
use crate::scenario::resolve::{BUCKET_DEFAULT, Judged};
use crate::scenario::source::{Place, Sources};
use crate::scenario::tables::ScenarioTable;
use crate::scenario::tree::{Tree, Typed};
use crate::scenario::values::{Duration, Name, Whole};
use crate::time::Span;

/// The seed of a scenario that has none.
const SEED_DEFAULT: u64 = 42;

/// The replicas of a scenario that does not say how many.
const REPLICAS_DEFAULT: u32 = 20;

/// The most replicas.
const REPLICAS_MAX: u32 = 1_000_000;

/// The name of the one variant of a file without variants.
pub(crate) const BASE: &str = "base";

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name; letters, digits, `-` and `_`.
    pub name: String,
    /// The seed.
    pub seed: u64,
    /// Replicas per variant; at least 1.
    pub replicas: u32,
    /// Width of a bucket of the timeline, the same for all variants.
    pub bucket: Span,
    /// SHA-256 of the file, in hex. It covers neither the overrides nor the files and presets that the scenario
    /// names.
    pub sha256: String,
    /// What the command line changed beside seed and replicas: each `PATH=VALUE` in its order, then `variant=NAME`.
    pub overrides: Vec<String>,
    /// What must come out.
    pub expectations: Vec<Expectation>,
    /// What a sweep varies, if the file says so.
    pub axes: Vec<Axis>,
    /// What a sweep measures, if the file says so.
    pub measures: Vec<Measure>,
    /// What `stormsim lint` may find.
    pub allowed: Vec<Allowed>,
    /// What varies though a variant sets it itself: the variant, and the path.
    pub replaced: Vec<(String, String)>,
    variants: Vec<(String, Plan)>,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, or is no scenario; see [`Scenario::parse`].
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, Diagnostics> {
        ScenarioFile::read(path)?.scenario(overrides)
    }

    /// Reads the text of a scenario. `name` is what messages call it; files that it names are relative to `folder`.
    ///
    /// # Errors
    /// All that is wrong with the text and with the overrides, each with its place.
    pub fn parse(name: &str, text: &str, folder: &Path, overrides: &Overrides) -> Result<Self, Diagnostics> {
        let mut sources = Sources::default();
        sources.add(name, text);
        let mut errors = Vec::new();
        match build(text, folder, overrides, &mut sources, &mut errors) {
            Some(scenario) if errors.is_empty() => Ok(scenario),
            _ => Err(Diagnostics::new(sources, errors)),
        }
    }

    /// A hash of all that is simulated: of the plans of its variants, and so of the files and presets that it names, too.
    pub fn meaning(&self) -> String {
        struct Hashed(Sha256);

        impl fmt::Write for Hashed {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.update(text);
                Ok(())
            }
        }

        let mut hash = Hashed(Sha256::new());
        write!(hash, "{:?}", self.variants).expect("hashing does not fail");
        hex(&hash.0.finalize())
    }

    /// The variants to run, by name, in the order of the file; `base` for a file without variants.
    pub fn variants(&self) -> &[(String, Plan)] {
        &self.variants
    }
}

/// Rules of `stormsim lint` that may find something in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Their ids, each with its place.
    pub(crate) rules: Vec<(&'static str, Place)>,
    /// Why.
    pub reason: String,
    /// Only what they find at this path, or beneath it; anything if none.
    pub at: Option<String>,
    /// Only what they find in these variants; in any if there are none.
    pub variants: Vec<String>,
}

/// A scenario file that was read once, to be taken with different settings.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    name: String,
    text: String,
    folder: PathBuf,
}

impl ScenarioFile {
    /// Reads the text.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        let text = file::read_scenario(path).map_err(|error| Diagnostics::new(Sources::default(), vec![error]))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { name: path.display().to_string(), text, folder })
    }

    /// A text that is not a file. `name` is what messages call it; files that it names are relative to `folder`.
    pub fn of(name: &str, text: String, folder: &Path) -> Self {
        Self { name: name.to_owned(), text, folder: folder.to_owned() }
    }

    /// The scenario with these overrides.
    ///
    /// # Errors
    /// It is none; see [`Scenario::parse`].
    pub fn scenario(&self, overrides: &Overrides) -> Result<Scenario, Diagnostics> {
        Scenario::parse(&self.name, &self.text, &self.folder, overrides)
    }
}

/// One variant on its way to a plan.
struct Draughted {
    name: String,
    tables: ScenarioTable,
    draft: Draft,
}

/// Reads, checks and compiles. With an error reported, what is returned is not to be used.
fn build(
    text: &str,
    folder: &Path,
    overrides: &Overrides,
    sources: &mut Sources,
    errors: &mut Vec<Diagnostic>,
) -> Option<Scenario> {
    let parsed = document::parse(text);
    errors.extend(parsed.errors);
    if parsed.broken {
        return None;
    }
    if parsed.root.is_empty() {
        let error = Diagnostic::new("the scenario is empty").at(&(0..0));
        errors.push(error.hint("begin with `version = 1`, a `name` and a `[clients.web]`"));
        return None;
    }
    let variants = overrides::variants(&parsed.root, errors);
    let flags = overrides::flags(overrides, sources, errors);
    // Those that vary come last.
    let (set, varied) = flags.split_at(flags.len().saturating_sub(overrides.vary.len()));
    overrides::check_varied(set, varied, errors);
    let mut replaced = Vec::new();
    let base = Tree::of(&parsed.root, [&[], set, varied]);
    let trees: Vec<(String, Tree)> = variants
        .into_iter()
        .map(|(name, settings)| {
            let paths = overrides::replaced(&settings, varied);
            replaced.extend(paths.into_iter().map(|path| (name.clone(), path)));
            (name, Tree::of(&parsed.root, [&settings, set, varied]))
        })
        .collect();
    let used: IndexSet<String> =
        iter::once(&base).chain(trees.iter().map(|(_, tree)| tree)).flat_map(Tree::policies).collect();
    let mut texts = Texts::new(sources);
    let Typed { tables: base, created, errors: mut wrong } = base.typed(&used, &mut texts);
    errors.append(&mut wrong);
    let drafts = if trees.is_empty() {
        let draft = resolve::resolve(&base, &created, folder, errors);
        vec![Draughted { name: BASE.to_owned(), tables: base.clone(), draft }]
    } else {
        let (mut found, count) = (Found::default(), trees.len());
        let drafts = trees.into_iter().map(|(name, tree)| {
            let Typed { tables, created, errors: mut own } = tree.typed(&used, &mut texts);
            let draft = resolve::resolve(&tables, &created, folder, &mut own);
            found.add(&name, own);
            Draughted { name, tables, draft }
        });
        let drafts = drafts.collect();
        found.report(count, errors);
        drafts
    };
    let names: Vec<&str> = drafts.iter().map(|one| one.name.as_str()).collect();
    let allowed = resolve::allowed(&base.allow, &names, errors);
    let judged: Vec<Judged<'_>> =
        drafts.iter().map(|one| Judged { name: &one.name, tables: &one.tables, draft: &one.draft }).collect();
    let only = overrides.variant.as_deref();
    let (expectations, windows) = resolve::expectations(&base.expect, &judged, only, sources, errors);
    check_overrides(overrides, &judged, errors);
    if !errors.is_empty() {
        return None;
    }
    let chosen = |name: &str| overrides.variant.as_deref().is_none_or(|only| only == name);
    replaced.retain(|(name, _): &(String, String)| chosen(name));
    let variants =
        drafts.into_iter().filter(|one| chosen(&one.name)).map(|one| (one.name, compile(one.draft, windows.clone())));
    let replicas = base.replicas.get().map(|&Whole(replicas)| u32::try_from(replicas).expect("at most a million"));
    let Name(name) = base.name.get()?;
    let axes = resolve::axes(&base.sweep, errors);
    let mut scenario = Scenario {
        name: name.clone(),
        seed: overrides.seed.or(base.seed.get().map(|&Whole(seed)| seed)).unwrap_or(SEED_DEFAULT),
        replicas: overrides.replicas.or(replicas).unwrap_or(REPLICAS_DEFAULT),
        bucket: base.bucket.get().map_or(BUCKET_DEFAULT, |&Duration(span)| span),
        sha256: sha256(text),
        overrides: overrides.texts(),
        expectations,
        axes,
        measures: Vec::new(),
        allowed,
        replaced,
        variants: variants.collect(),
    };
    scenario.measures = resolve::measures(&base.sweep, &scenario, errors);
    Some(scenario)
}

fn check_overrides(overrides: &Overrides, variants: &[Judged<'_>], errors: &mut Vec<Diagnostic>) {
    if let Some(only) = &overrides.variant
        && !variants.iter().any(|variant| variant.name == only)
    {
        let names = variants.iter().map(|variant| variant.name);
        let error = Diagnostic::new(format!("there is no variant `{only}`"));
        errors.push(error.maybe_hint(suggest::hint(only, "variants", names)));
    }
    if overrides.replicas.is_some_and(|replicas| !(1..=REPLICAS_MAX).contains(&replicas)) {
        errors.push(Diagnostic::new(format!("the number of replicas must be from 1 to {REPLICAS_MAX}")));
    }
}

/// Errors of the variants, so that one which several have is told once.
#[derive(Default)]
struct Found(IndexMap<Diagnostic, Vec<String>>);

impl Found {
    fn add(&mut self, variant: &str, errors: Vec<Diagnostic>) {
        for error in errors {
            let variants = self.0.entry(error).or_default();
            // An error may be found twice in one variant.
            if variants.last().is_none_or(|last| last != variant) {
                variants.push(variant.to_owned());
            }
        }
    }

    /// Reports each error, with the variants it is about unless it is about all of them or about the file as it stands.
    fn report(mut self, variant_count: usize, errors: &mut Vec<Diagnostic>) {
        let known: IndexSet<&Diagnostic> = errors.iter().collect();
        self.0.retain(|error, _| !known.contains(error));
        for (error, variants) in self.0 {
            errors.push(if variants.len() < variant_count {
                error.note(format!("in variant {}", suggest::list(variants.iter().map(String::as_str))))
            } else {
                error
            });
        }
    }
}

fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
