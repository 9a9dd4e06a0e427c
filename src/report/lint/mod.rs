//! What the lint rules found, for people, programs and code scanning; and the rules themselves.

mod page;
mod sarif;
mod sections;

pub use page::page;
pub use sarif::sarif;
pub use sections::explanation;

use std::path::Path;

use serde::Serialize;

use crate::analysis::lint::{Finding, Linted, RULES};
use crate::experiment::Position;
use crate::number;
use crate::report::json;
use crate::report::text::Counted;
use crate::scenario::{Diagnostics, Severity};
use crate::wrap::{sentence, words};

/// A file that was looked at, and what came of it: what rules found, or that it is no scenario.
pub type Looked<'a> = (&'a Path, Result<Linted, Diagnostics>);

/// What to show of findings.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Those that are as bad as this.
    pub least: Severity,
    /// Those that are allowed, too.
    pub allowed: bool,
    /// No line that sums up.
    pub quiet: bool,
}

/// Findings with the lines of the files that they are about, for a page of `width` columns, and a line that sums up. It carries ANSI colours. Files that are no scenarios are
/// left out.
pub fn text(files: &[Looked<'_>], shown: Shown, width: usize) -> String {
    let linted = || files.iter().filter_map(|(_, looked)| looked.as_ref().ok());
    let mut text = String::new();
    for linted in linted() {
        let messages = linted.messages(shown.least, shown.allowed);
        if messages.iter().len() > 0 {
            text += &messages.render(true, width);
            text += "\n\n";
        }
    }
    if shown.quiet { text } else { text + &conclusion(files, width) }
}

/// How many findings there are, in a line.
pub(super) fn conclusion(files: &[Looked<'_>], width: usize) -> String {
    let linted = || files.iter().filter_map(|(_, looked)| looked.as_ref().ok());
    let count = |severity| linted().map(|linted| linted.count(severity)).sum::<usize>();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let found = match (errors, warnings) {
        (0, 0) => "nothing found".to_owned(),
        (0, warnings) => Counted(warnings, "warning").to_string(),
        (errors, 0) => Counted(errors, "error").to_string(),
        (errors, warnings) => format!("{}, {}", Counted(errors, "error"), Counted(warnings, "warning")),
    };
    let allowed = linted().map(Linted::allowed).sum::<usize>();
    let allowed = if allowed > 0 { format!("; {} allowed", number::whole(allowed)) } else { String::new() };
    let wrong = match files.len() - linted().count() {
        0 => String::new(),
        1 => "; 1 file is no scenario".to_owned(),
        wrong => format!("; {} files are no scenarios", number::whole(wrong)),
    };
    let sum = format!("{}: {found}{allowed}{wrong}", Counted(linted().count(), "file"));
    words(sentence(&sum), ["", "  "], width)
}

/// The rules, a line each, for a page of `width` columns.
pub fn rules(width: usize) -> String {
    let longest = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let line = |id: &str, severity: Severity, finds: &str| {
        let head = format!("{id:longest$}  {:7}  ", severity.name());
        let indent = " ".repeat(head.len());
        words(sentence(finds), [&head, &indent], width)
    };
    RULES.iter().map(|rule| line(rule.id, rule.severity, rule.finds)).collect()
}

/// Everything as JSON: an array of files, each with its findings, or with what is wrong with it.
pub fn json(files: &[Looked<'_>]) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        file: String,
        findings: &'a [Finding],
        errors: Vec<Wrong>,
    }

    #[derive(Serialize)]
    struct Wrong {
        message: String,
        #[serde(flatten)]
        position: Option<Position>,
    }

    let file = |(file, looked): &'_ Looked<'_>| {
        let errors = looked.as_ref().err().into_iter().flat_map(|wrong| {
            wrong.iter().map(|error| Wrong { message: error.in_a_line(), position: wrong.position_in_file(error) })
        });
        (file.display().to_string(), errors.collect::<Vec<_>>())
    };
    let files: Vec<File<'_>> = files
        .iter()
        .map(|looked| {
            let (name, errors) = file(looked);
            let findings = looked.1.as_ref().map_or(&[][..], |linted| &linted.findings);
            File { file: name, findings, errors }
        })
        .collect();
    String::from_utf8(json::pretty(&files)).expect("JSON is UTF-8")
}
