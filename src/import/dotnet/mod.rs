//! Application settings of .NET (`appsettings.json`) with options for resilience handlers of HTTP clients.
//!
//! What they mean is in the code of `Microsoft.Extensions.Http.Resilience` and of Polly 8. Where such a section stands
//! is up to the application: each table that has the sections of `HttpStandardResilienceOptions` is taken for one, and
//! for what `AddStandardResilienceHandler` makes of it.

mod handler;
mod retry;
mod time;

use crate::import::Importer;
use crate::import::draft::Draft;
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{self, Node, Syntax, Table, Value};

use handler::Handler;

/// How application settings are read.
pub const IMPORTER: Importer =
    Importer { name: "dotnet", title: ".NET settings of resilience handlers", syntax: Syntax::Json, is_like, read };

/// The sections of the options, each with a key that tells it from other things of that name.
const SECTIONS: [(&str, &[&str]); 5] = [
    ("TotalRequestTimeout", &["Timeout"]),
    ("AttemptTimeout", &["Timeout"]),
    ("Retry", &["MaxRetryAttempts", "BackoffType", "UseJitter", "MaxDelay", "ShouldRetryAfterHeader"]),
    ("CircuitBreaker", &["FailureRatio", "MinimumThroughput", "SamplingDuration", "BreakDuration"]),
    ("RateLimiter", &["DefaultRateLimiterOptions"]),
];

/// What the options of hedging handlers have, and others have not.
const OF_HEDGING: [&str; 2] = ["Hedging", "Endpoint"];

/// Whether there are options of a handler anywhere in a document.
fn is_like(document: &Node) -> bool {
    match tree::nested(document, ':') {
        Ok(document) => has_options(&document),
        // What is there twice is told when it is read.
        Err(_) => has_options(document),
    }
}

fn has_options(node: &Node) -> bool {
    match &node.value {
        Value::Table(table) => is_options(table) || table.values().any(|entry| has_options(&entry.node)),
        Value::List(items) => items.iter().any(has_options),
        Value::Null | Value::Scalar(_) => false,
    }
}

/// The table at a key, in any case.
fn inner<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    table.iter().find(|(name, _)| Keys::AnyCase.same(name, key)).and_then(|(_, entry)| entry.node.table())
}

/// Whether a table is the options of a handler.
fn is_options(table: &Table) -> bool {
    let has = |inner: &Table, key: &&str| inner.keys().any(|name| Keys::AnyCase.same(name, key));
    SECTIONS.iter().any(|(section, keys)| inner(table, section).is_some_and(|it| keys.iter().any(|key| has(it, key))))
}

/// Reads application settings.
fn read(documents: &[Node], draft: &mut Draft) {
    let Some(document) = documents.first() else { return };
    let document = match tree::nested(document, ':') {
        Ok(document) => document,
        Err(error) => return draft.errors.push(error),
    };
    let Some(root) = Section::document(&document, Keys::AnyCase) else { return };
    let mut found = Vec::new();
    if document.table().is_some_and(is_options) {
        found.push(("http".to_owned(), root));
    } else {
        options("http", root, &mut found);
    }
    for (name, section) in found {
        if let Some(hedging) = of_hedging(&section) {
            let message =
                format!("`{}` is for a hedging handler, of which no importer knows what it does", section.path);
            draft.aside(&hedging, message);
            continue;
        }
        let is_first = draft.blocks.is_empty();
        Handler::read(section, draft).write(&name, is_first, draft);
    }
}

/// Where it is said that options are for a handler that hedges.
fn of_hedging(section: &Section<'_>) -> Option<crate::scenario::source::Place> {
    let is_one = |field: &Field<'_>| OF_HEDGING.iter().any(|key| Keys::AnyCase.same(field.name, key));
    section.unknown().find(is_one).map(|field| field.place())
}

/// The options beneath a section, each with the name of what they are for.
fn options<'t>(name: &str, mut section: Section<'t>, found: &mut Vec<(String, Section<'t>)>) {
    for field in section.all() {
        let name = if is_general(field.name) { name } else { field.name };
        let table = field.section(Keys::AnyCase);
        let inner = table.into_iter().chain(field.sections(Keys::AnyCase));
        for section in inner {
            if is_options(section.table()) {
                found.push((name.to_owned(), section));
            } else {
                options(name, section, found);
            }
        }
    }
}

/// Whether a key says what its settings are, and not for what.
fn is_general(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["resilience", "resiliency", "options", "handler", "policy", "settings"].iter().any(|end| key.ends_with(end))
}
