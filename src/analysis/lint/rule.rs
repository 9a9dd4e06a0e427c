//! What a rule is.

use std::path::Path;

use crate::analysis::lint::findings::Findings;
use crate::analysis::lint::subject::Subject;
use crate::scenario::{ScenarioFile, Severity};

/// A rule about the settings of a scenario. Each is a file of its own.
pub struct Rule {
    /// Its name: lower case, with dashes.
    pub id: &'static str,
    /// How bad it is what it finds. An error is what nobody can have meant, or what brings services down.
    pub severity: Severity,
    /// What it finds, as a sentence.
    pub finds: &'static str,
    /// Why that is a fault, as paragraphs in Markdown.
    pub why: &'static str,
    /// What to use instead, as a sentence that begins with a small letter: it is the way out in messages, too.
    pub instead: &'static str,
    /// What it finds something in, and what it does not.
    pub example: Example,
    /// How it looks.
    pub(super) check: Check,
}

impl Rule {
    /// Whether what it finds can be allowed. What is allowed for nothing cannot.
    pub fn can_be_allowed(&self) -> bool {
        matches!(self.check, Check::Variant(_))
    }
}

/// How a rule looks.
pub(super) enum Check {
    /// At one variant after the other.
    Variant(fn(&Subject<'_>, &mut Findings<'_>)),
    /// At what is allowed in the file, once all others have found what they find.
    Allowed,
}

/// An example of what a rule finds.
pub struct Example {
    /// A scenario in which it finds something; without `version`, `name` and `horizon`.
    pub bad: &'static str,
    /// Settings, each `PATH=VALUE`, with which it does not.
    pub good: &'static [&'static str],
}

impl Example {
    /// The scenario, as a file of that name.
    pub fn file(&self, name: &str) -> ScenarioFile {
        let text = format!("version = 1\nname = \"example\"\nhorizon = \"60s\"\n{}", self.bad.trim_start());
        ScenarioFile::of(name, text, Path::new(""))
    }
}
