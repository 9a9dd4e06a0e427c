//! Configuration files of other products as scenarios: retry policies, timeouts, breakers and what else they say.
//!
//! A text becomes a tree that knows its places (`tree`); an importer, one file per format, asks it for what it knows
//! (`section`) and says what that means, setting by setting, each with where it comes from (`draft`); of that a
//! scenario is made, or settings in one that is there (`write`). What nobody asked for is unknown, and is told; what
//! no scenario can say stays visible as a comment. To add a format: its file here, and its line in [`Format`].

mod aws;
mod dotnet;
mod draft;
mod envoy;
mod grpc;
mod istio;
mod kubernetes;
mod linkerd;
mod resilience4j;
mod section;
mod statuses;
mod tree;
mod values;
mod write;

pub(crate) use draft::{Remark, Sort};

use std::fmt;
use std::path::Path;

use draft::{Block, Draft, Kind, Origin};
use tree::{Node, Syntax};
use write::Source;

use crate::scenario::file::{self, What};
use crate::scenario::source::{Place, Sources};
use crate::scenario::{Diagnostic, Diagnostics, Severity};

/// A format of configuration files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// gRPC service config.
    Grpc,
    /// Envoy: listeners, routes and clusters.
    Envoy,
    /// Istio: virtual services and destination rules.
    Istio,
    /// Linkerd: service profiles and annotations.
    Linkerd,
    /// Resilience4j in Spring Boot.
    Resilience4j,
    /// AWS shared config file.
    Aws,
    /// .NET application settings with resilience options.
    Dotnet,
}

/// How files of a format are read.
struct Importer {
    /// The name of the format on the command line.
    name: &'static str,
    /// What files of it are called.
    title: &'static str,
    /// In what they are written.
    syntax: Syntax,
    /// Whether a document looks like one of them.
    is_like: fn(&Node) -> bool,
    /// Reads the documents of one.
    read: fn(&[Node], &mut Draft),
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Grpc, Self::Envoy, Self::Istio, Self::Linkerd, Self::Resilience4j, Self::Aws, Self::Dotnet];

    const fn importer(self) -> &'static Importer {
        match self {
            Self::Grpc => &grpc::IMPORTER,
            Self::Envoy => &envoy::IMPORTER,
            Self::Istio => &istio::IMPORTER,
            Self::Linkerd => &linkerd::IMPORTER,
            Self::Resilience4j => &resilience4j::IMPORTER,
            Self::Aws => &aws::IMPORTER,
            Self::Dotnet => &dotnet::IMPORTER,
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        self.importer().name
    }

    /// What files of it are called.
    pub const fn title(self) -> &'static str {
        self.importer().title
    }

    /// Whether a document looks like one of this format.
    fn is_like(self, document: &Node) -> bool {
        (self.importer().is_like)(document)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// The format that a text looks like; none if it looks like none of them.
pub fn guess(text: &str) -> Option<Format> {
    [Syntax::Json, Syntax::Yaml, Syntax::Ini].into_iter().find_map(|syntax| {
        let documents = tree::parse(syntax, text).ok()?;
        let is_like = |format: &Format| documents.iter().any(|document| format.is_like(document));
        Format::ALL.into_iter().filter(|format| format.importer().syntax == syntax).find(is_like)
    })
}

/// What is said of a scenario that is no TOML.
pub fn no_toml(path: &Path, why: &str) -> Diagnostics {
    let error = Diagnostic::new(format!("`{}` is no TOML: {why}", path.display()));
    Diagnostics::new(Sources::default(), vec![error])
}

/// What is said of a file that looks like none of the formats. `name` is what messages call it.
pub fn unrecognised(name: &str) -> Diagnostics {
    let titles: Vec<&str> = Format::ALL.into_iter().map(Format::title).collect();
    let error = Diagnostic::new(format!("`{name}` is no scenario, and looks like no file that can be imported"));
    let hint =
        format!("what can be imported: {}; `stormsim import FORMAT FILE` says what is missing", titles.join(", "));
    Diagnostics::new(Sources::default(), vec![error.hint(hint)])
}

/// What a file says.
#[derive(Debug)]
pub struct Imported {
    format: Format,
    name: String,
    text: String,
    blocks: Vec<Block>,
    remarks: Vec<Remark>,
}

/// A scenario with what was imported in it.
#[derive(Debug)]
pub struct Merged {
    /// Its text.
    pub text: String,
    /// What one should know of that: calls for which it has no place, and policies that are others now.
    pub notes: Diagnostics,
}

/// Reads a file in a format.
///
/// # Errors
/// It cannot be read, is something else, or something in it is wrong.
pub fn load(format: Format, path: &Path) -> Result<Imported, Diagnostics> {
    import(format, &path.display().to_string(), &read(path)?)
}

/// The text of a configuration file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<String, Diagnostics> {
    let what = What { folder: "name a file in it", large: "import the part that is about retries" };
    file::read_text(path, &what).map_err(|error| Diagnostics::new(Sources::default(), vec![error]))
}

/// Reads a text in a format. `name` is what messages call it.
///
/// # Errors
/// It is something else, or something in it is wrong.
pub fn import(format: Format, name: &str, text: &str) -> Result<Imported, Diagnostics> {
    let fail = |errors| {
        let mut sources = Sources::default();
        sources.add(name, text);
        Err(Diagnostics::new(sources, errors))
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let documents = match tree::parse(format.importer().syntax, text) {
        Ok(documents) => documents,
        Err(error) => return fail(vec![error.maybe_hint(other_format(format, text))]),
    };
    if !documents.iter().any(|document| format.is_like(document)) {
        let error = Diagnostic::new(format!("this is no {format}")).at(&(0..0));
        return fail(vec![
            error
                .maybe_hint(other_format(format, text))
                .hint_else(|| "what a file of each format has at its top is in `docs/import.md`".to_owned()),
        ]);
    }
    let mut draft = Draft::default();
    (format.importer().read)(&documents, &mut draft);
    let Draft { blocks, mut remarks, mut errors } = draft;
    if blocks.is_empty() && errors.is_empty() {
        let error = Diagnostic::new("nothing in it is about retries or timeouts").at(&(0..0));
        // It may have been meant to be.
        let surprises = remarks.iter().filter(|remark| remark.sort == Sort::Surprise);
        errors.extend(surprises.map(Remark::diagnostic));
        errors.push(error.hint("what is read of a file of each format is in `docs/import.md`"));
    }
    if !errors.is_empty() {
        return fail(errors);
    }
    remarks.sort_by_key(|remark| (remark.place.start, remark.sort));
    Ok(Imported { format, name: name.to_owned(), text: text.to_owned(), blocks, remarks })
}

/// What to do with a file that looks like one of another format.
fn other_format(format: Format, text: &str) -> Option<String> {
    let other = guess(text).filter(|other| *other != format)?;
    Some(format!("it looks like a {other}: `stormsim import {} FILE`", other.name()))
}

impl Imported {
    /// A scenario that can be run.
    pub fn scenario(&self) -> String {
        write::scenario(self.format.title(), &Source::new(&self.name, &self.text), &self.blocks)
    }

    /// The text of a scenario with what was imported in it.
    ///
    /// # Errors
    /// It is no TOML: why.
    pub fn merged_into(&self, scenario: &str) -> Result<Merged, String> {
        let source = Source::new(&self.name, &self.text);
        let write::Merged { text, homeless, replaced } =
            write::merged(scenario, &source, &self.blocks).map_err(|error| error.to_string())?;
        let homeless = homeless.iter().map(|(label, to)| {
            let message = format!("the scenario has no call `{label}`, and not one alone that goes to `{to}`");
            let retry =
                self.policy_of(label).map_or_else(String::new, |policy| format!(", such as `retry = \"{policy}\"`"));
            let hint =
                format!("its settings are at the end, as comments: put them into the call that they are about{retry}");
            Diagnostic::new(message).breaks(Sort::LeftOut.id(), Severity::Warning).hint(hint)
        });
        let replaced = replaced.iter().map(|name| {
            let message = format!("the scenario had a policy `retries.{name}`, which is that of the file now");
            let hint =
                "calls and variants that name it follow the new one: give the old one another name if they should not";
            Diagnostic::new(message).breaks(Sort::Surprise.id(), Severity::Warning).hint(hint)
        });
        let notes = Diagnostics::new(Sources::default(), homeless.chain(replaced).collect());
        Ok(Merged { text, notes })
    }

    /// The policy of a call.
    fn policy_of(&self, label: &str) -> Option<&str> {
        let call = self.blocks.iter().find(|it| matches!(it.kind, Kind::Call { .. }) && it.name == label)?;
        call.settings.iter().find(|setting| setting.path == "retry")?.value.as_str()
    }

    /// What one should know of it, each with the id of its rule, in the order of the places.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = (&'static str, &Remark)> {
        self.remarks.iter().map(|remark| (remark.sort.id(), remark))
    }

    /// What one should know of it, with the lines of the file.
    pub fn messages(&self) -> Diagnostics {
        let list = self.remarks().map(|(id, remark)| remark.diagnostic().breaks(id, Severity::Warning));
        Diagnostics::new(self.sources(), list.collect())
    }

    /// The text, for messages about its places.
    pub(crate) fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        sources.add(&self.name, &self.text);
        sources
    }

    /// Where the file says what is at a path of the scenario, or what that is part of; none if it says nothing of it.
    pub(crate) fn place(&self, path: &str) -> Option<Place> {
        let (block, rest) = self.blocks.iter().find_map(|block| {
            let rest = path.strip_prefix(&block.path())?;
            Some((block, if rest.is_empty() { rest } else { rest.strip_prefix('.')? }))
        })?;
        let said = block.settings.iter().find_map(|setting| match &setting.origin {
            Origin::File(place) if is_beneath(rest, setting.path) || is_beneath(setting.path, rest) => Some(place),
            _ => None,
        });
        // A service is assumed but for what the file says of it.
        let whole = (block.kind != Kind::Service).then_some(&block.place);
        said.or(whole).cloned()
    }
}

/// Whether a path is `at`, or leads on from there.
fn is_beneath(path: &str, at: &str) -> bool {
    path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Block {
    /// Its path in a scenario of its own.
    fn path(&self) -> String {
        match self.kind {
            Kind::Policy => format!("retries.{}", self.name),
            Kind::Call { .. } => format!("clients.{}.calls.{}", write::CALLERS, self.name),
            Kind::Service => format!("services.{}", self.name),
        }
    }
}

impl Sort {
    /// The id of the rule of the linter that stands for it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Surprise => "import-surprise",
            Self::LeftOut => "import-left-out",
            Self::Unknown => "import-unknown",
        }
    }

    /// What it does to a scenario: a sentence, in lower case.
    pub(crate) const fn consequence(self) -> &'static str {
        match self {
            Self::Surprise => "what is meant and what happens in an outage may be two things",
            Self::LeftOut => "what is simulated goes without it",
            Self::Unknown => "what it should do is not simulated",
        }
    }
}
