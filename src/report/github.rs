//! Workflow commands of GitHub Actions: what is wrong, at its line of the scenario file in a pull request.

use std::fmt::{self, Write as _};
use std::path::Path;

use indexmap::IndexMap;

use crate::analysis::lint::{Finding, Linted};
use crate::experiment::{Judgement, Position, Regressions, Summary, Trend, Verdict};
use crate::report::lint::{self, Looked, Shown};
use crate::report::{regression, text, verdict};
use crate::scenario::{self, Diagnostics};

/// An annotation for every expectation that was not met, was not judged or is not settled, and for what has changed
/// against a baseline; then the sentences that sum up. With `quiet` only errors, and nothing if there are none.
///
/// `skipped` are files that were not simulated because somebody interrupted.
pub fn annotations(files: &[(&Path, &Summary)], skipped: &[&Path], quiet: bool) -> String {
    let mut all = Vec::new();
    for &(file, summary) in files {
        all.extend(summary.expectations.iter().filter_map(|verdict| of_verdict(file, summary, verdict)));
        all.extend(summary.baseline.iter().flat_map(|regressions| of_changes(file, regressions)));
    }
    all.extend(skipped.iter().map(|file| Annotation {
        severity: Severity::Warning,
        file,
        position: None,
        title: "not run",
        message: format!("{} was not run", file.display()),
    }));
    all.retain(|annotation| !quiet || annotation.severity == Severity::Error);
    all.sort_by_key(|annotation| annotation.severity);
    let lines: String = all.iter().map(Annotation::to_string).collect();
    if quiet { lines } else { lines + &text::unmatched(files) + &text::conclusions(files) }
}

/// An annotation for every finding of the lint rules that is shown and not allowed, and for what is wrong with files that
/// are no scenarios; then how many there are.
pub fn findings(files: &[Looked<'_>], shown: Shown, width: usize) -> String {
    let mut text = String::new();
    for (file, looked) in files {
        match looked {
            Ok(linted) => {
                text.extend(linted.shown(shown.least).map(|finding| of_finding(file, linted, finding).to_string()))
            }
            Err(wrong) => text += &errors(file, wrong),
        }
    }
    if shown.quiet { text } else { text + &lint::conclusion(files, width) }
}

fn of_finding<'a>(file: &'a Path, linted: &Linted, finding: &Finding) -> Annotation<'a> {
    let said = format!("{}: {}", finding.message, finding.figure);
    let lines = [Some(said), linted.within(finding), Some(finding.instead.clone().into_owned())];
    let message = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
    Annotation { severity: finding.severity.into(), file, position: finding.position, title: finding.rule, message }
}

impl From<scenario::Severity> for Severity {
    fn from(severity: scenario::Severity) -> Self {
        match severity {
            scenario::Severity::Error => Self::Error,
            scenario::Severity::Warning => Self::Warning,
        }
    }
}

/// An annotation for every error of a scenario file.
pub fn errors(file: &Path, diagnostics: &Diagnostics) -> String {
    let annotation = |error| Annotation {
        severity: Severity::Error,
        file,
        position: diagnostics.position_in_file(error),
        title: "wrong scenario",
        message: error.in_a_line(),
    };
    diagnostics.iter().map(|error| annotation(error).to_string()).collect()
}

fn of_verdict<'a>(file: &'a Path, summary: &Summary, verdict: &Verdict) -> Option<Annotation<'a>> {
    let (severity, title) = match verdict.judgement {
        Judgement::NotMet => (Severity::Error, "expectation not met"),
        Judgement::NotJudged => (Severity::Warning, "expectation not judged"),
        Judgement::Met if verdict.straddles => (Severity::Warning, "expectation not settled"),
        Judgement::Met => return None,
    };
    let position = Some(Position { line: verdict.line, column: verdict.column });
    let message = format!("{}: {}", verdict::name(verdict, summary), verdict::outcome(verdict, summary));
    Some(Annotation { severity, file, position, title, message })
}

/// One for all changes of a variant that go the same way: GitHub shows few annotations of a step.
fn of_changes<'a>(file: &'a Path, regressions: &Regressions) -> Vec<Annotation<'a>> {
    let mut lines: IndexMap<(Trend, &str), Vec<String>> = IndexMap::new();
    for change in &regressions.changes {
        let line = regression::change(change, regressions);
        lines.entry((change.trend, &change.variant)).or_default().push(line);
    }
    let annotation = |((trend, _), lines): ((Trend, &str), Vec<String>)| {
        let (severity, title) = match trend {
            Trend::Worse => (Severity::Error, "worse than the baseline"),
            Trend::MayBeChance => (Severity::Warning, "perhaps worse than the baseline"),
            Trend::Better => (Severity::Notice, "better than the baseline"),
        };
        Annotation { severity, file, position: None, title, message: lines.join("\n") }
    };
    lines.into_iter().map(annotation).collect()
}

/// How much an annotation matters, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Error,
    Warning,
    Notice,
}

/// A line of output that GitHub shows at a line of a file.
struct Annotation<'a> {
    severity: Severity,
    file: &'a Path,
    position: Option<Position>,
    title: &'static str,
    message: String,
}

impl fmt::Display for Annotation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Notice => "notice",
        };
        // Paths are those of the repository, which do not begin with a dot.
        let file = self.file.strip_prefix(".").unwrap_or(self.file).display().to_string();
        write!(f, "::{command} file={}", Property(&file))?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ",line={line},col={column}")?;
        }
        writeln!(f, ",title={}::{}", Property(self.title), Data(&self.message))
    }
}

/// Text after the second `::`, in which a percent sign and the ends of lines are escaped.
struct Data<'a>(&'a str);

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '%' => f.write_str("%25"),
            '\r' => f.write_str("%0D"),
            '\n' => f.write_str("%0A"),
            other => f.write_char(other),
        })
    }
}

/// The value of a property, in which a colon and a comma are escaped, too.
struct Property<'a>(&'a str);

impl fmt::Display for Property<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = Data(self.0).to_string().replace(':', "%3A").replace(',', "%2C");
        f.write_str(&escaped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GitHub documents it: a percent sign first of all, or it would be escaped twice; colons and commas end
    /// properties, and in a message they end nothing.
    #[test]
    fn what_would_end_a_property_or_the_message_is_escaped() {
        let annotation = Annotation {
            severity: Severity::Error,
            file: Path::new("./odd, 100%:name.toml"),
            position: Some(Position { line: 7, column: 3 }),
            title: "expectation not met",
            message: "a: 5 %, and\r\nmore: %0A".to_owned(),
        };
        assert_eq!(
            annotation.to_string(),
            "::error file=odd%2C 100%25%3Aname.toml,line=7,col=3,title=expectation not met::\
             a: 5 %25, and%0D%0Amore: %250A\n"
        );
    }

    #[test]
    fn without_a_place_it_is_about_the_file() {
        let annotation = Annotation {
            severity: Severity::Notice,
            file: Path::new("a.toml"),
            position: None,
            title: "better than the baseline",
            message: "x".to_owned(),
        };
        assert_eq!(annotation.to_string(), "::notice file=a.toml,title=better than the baseline::x\n");
    }
}
