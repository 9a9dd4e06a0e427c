//! What a rule is.

use std::path::Path;

use crate::analysis::lint::findings::Findings;
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::{Linted, imported, lint};
use crate::import::{self, Format};
use crate::scenario::{Diagnostics, Overrides, ScenarioFile, Severity};

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

    /// In what its example is written, as the highlighting of code calls it.
    pub fn example_language(&self) -> &'static str {
        match self.check {
            Check::Import(_) => "json",
            Check::Variant(_) | Check::Allowed => "toml",
        }
    }

    /// What all rules say of its example, with these settings in it where it is a scenario.
    ///
    /// # Errors
    /// With these settings it is none.
    pub fn linted_example(&self, set: &[&str]) -> Result<Linted, Diagnostics> {
        match self.check {
            Check::Import(format) => imported(&import::import(format, "example.json", self.example.bad.trim_start())?),
            Check::Variant(_) | Check::Allowed => {
                let set = set.iter().map(|&set| set.to_owned()).collect();
                lint(&self.example.file("example.toml"), &Overrides { set, ..Overrides::default() })
            }
        }
    }
}

/// How a rule looks.
pub(super) enum Check {
    /// At one variant after the other.
    Variant(fn(&Subject<'_>, &mut Findings<'_>)),
    /// At what is allowed in the file, once all others have found what they find.
    Allowed,
    /// At a file of another product, while it is imported. The example is one of this format.
    Import(Format),
}

/// An example of what a rule finds.
pub struct Example {
    /// A scenario in which it finds something, without `version`, `name` and `horizon`; or a file that is imported.
    pub bad: &'static str,
    /// Settings, each `PATH=VALUE`, with which it does not.
    pub good: &'static [&'static str],
}

impl Example {
    /// The scenario, as a file of that name.
    fn file(&self, name: &str) -> ScenarioFile {
        let text = format!("version = 1\nname = \"example\"\nhorizon = \"60s\"\n{}", self.bad.trim_start());
        ScenarioFile::of(name, text, Path::new(""))
    }
}
