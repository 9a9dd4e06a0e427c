//! JUnit XML, for servers and editors that show test results: a suite per scenario file, a case per expectation and
//! variant.
//!
//! Only what the schema of Jenkins knows (`junit-10.xsd` of its xUnit plugin, in all of its versions) is written, so no
//! count of skipped cases stands at the root, and the place of an expectation and the reason for skipping it are text.
//! Nothing depends on when, where or how fast it was run.

use std::io;
use std::path::Path;

use indexmap::IndexMap;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::experiment::{Judgement, Position, Regressions, Summary, Trend, Verdict};
use crate::report::text::Counted;
use crate::report::{regression, verdict};
use crate::scenario::{Diagnostic, Diagnostics};

const WRITES: &str = "it is written to memory";

/// A case: what it is called, and what became of it.
struct Case {
    name: String,
    result: Outcome,
    /// What else is to be said.
    notes: Vec<String>,
}

enum Outcome {
    Passed,
    Failed {
        message: String,
        kind: &'static str,
        body: String,
    },
    /// There is nothing to judge, as the file is no scenario.
    Wrong {
        message: String,
        body: String,
    },
    Skipped(String),
}

/// The cases of a file.
struct Suite<'a> {
    file: &'a Path,
    scenario: String,
    cases: Vec<Case>,
    notes: Vec<String>,
}

/// All files as one document. `skipped` are those that were not simulated because somebody interrupted.
pub fn report(files: &[(&Path, &Summary)], skipped: &[&Path]) -> String {
    let simulated = files.iter().map(|(file, summary)| Suite::of(file, summary));
    document(&simulated.chain(skipped.iter().copied().map(Suite::not_run)).collect::<Vec<_>>())
}

/// The document where files are no scenarios, so that nothing was simulated: neither these nor `skipped`, the others.
pub fn errors(wrong: &[(&Path, Diagnostics)], skipped: &[&Path]) -> String {
    let wrong = wrong.iter().map(|(file, diagnostics)| Suite::wrong(file, diagnostics));
    document(&wrong.chain(skipped.iter().copied().map(Suite::not_run)).collect::<Vec<_>>())
}

fn document(suites: &[Suite<'_>]) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None))).expect(WRITES);
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let count = |is: fn(&Case) -> bool| cases().filter(|case| is(case)).count().to_string();
    let root = writer.create_element("testsuites").with_attributes([
        ("name", env!("CARGO_PKG_NAME")),
        ("tests", &cases().count().to_string()),
        ("failures", &count(Case::has_failed)),
        ("errors", &count(Case::is_wrong)),
    ]);
    root.write_inner_content(|writer| suites.iter().try_for_each(|suite| suite.write(writer))).expect(WRITES);
    String::from_utf8(writer.into_inner()).expect("it was made of strings") + "\n"
}

impl<'a> Suite<'a> {
    fn of(file: &'a Path, summary: &'a Summary) -> Self {
        let expected = summary.expectations.iter().map(|verdict| Case::of_verdict(file, summary, verdict));
        let kept = summary.baseline.iter().flat_map(|regressions| Case::of_baseline(file, summary, regressions));
        let notes = summary.baseline.iter().flat_map(regression::notes).collect();
        Self { file, scenario: summary.scenario.name.clone(), cases: numbered(expected.chain(kept)), notes }
    }

    /// A case that is in error, with all that is wrong with the file.
    fn wrong(file: &'a Path, diagnostics: &Diagnostics) -> Self {
        let line = |error: &Diagnostic| match diagnostics.position_in_file(error) {
            Some(Position { line, .. }) => format!("{}:{line}: {}", file.display(), error.in_a_line()),
            None => format!("{}: {}", file.display(), error.in_a_line()),
        };
        let lines: Vec<String> = diagnostics.iter().map(line).collect();
        let message = Counted(lines.len(), "error").to_string();
        let result = Outcome::Wrong { message, body: lines.join("\n") };
        let case = Case { name: "is a scenario".to_owned(), result, notes: Vec::new() };
        // Nobody knows what it is called: as a scenario that does not say so, like its file.
        let scenario = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, scenario, cases: vec![case], notes: Vec::new() }
    }

    fn not_run(file: &'a Path) -> Self {
        Self { file, scenario: String::new(), cases: Vec::new(), notes: vec!["not run".to_owned()] }
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let count = |is: fn(&Case) -> bool| self.cases.iter().filter(|case| is(case)).count().to_string();
        let element = writer.create_element("testsuite").with_attributes([
            ("name", legal(&self.file.display().to_string()).as_str()),
            ("tests", &self.cases.len().to_string()),
            ("failures", &count(Case::has_failed)),
            ("errors", &count(Case::is_wrong)),
            ("skipped", &count(|case| matches!(case.result, Outcome::Skipped(_)))),
        ]);
        if self.cases.is_empty() && self.notes.is_empty() {
            return element.write_empty().map(drop);
        }
        let content = |writer: &mut Writer<Vec<u8>>| {
            self.cases.iter().try_for_each(|case| case.write(&self.scenario, writer))?;
            write_notes(&self.notes, writer)
        };
        element.write_inner_content(content).map(drop)
    }
}

impl Case {
    fn of_verdict(file: &Path, summary: &Summary, verdict: &Verdict) -> Self {
        let name = verdict::name(verdict, summary);
        let outcome = verdict::outcome(verdict, summary);
        let result = match verdict.judgement {
            Judgement::Met => Outcome::Passed,
            Judgement::NotJudged => Outcome::Skipped(verdict::result(verdict, summary)),
            Judgement::NotMet => {
                let body = format!("{}: {name}: {outcome}", verdict::place(file, verdict));
                Outcome::Failed { message: verdict::result(verdict, summary), kind: "expectation", body }
            }
        };
        Self { name, result, notes: verdict::not_settled(verdict).into_iter().collect() }
    }

    /// One for each variant, so that its name is there in every run.
    fn of_baseline<'a>(
        file: &'a Path,
        summary: &'a Summary,
        regressions: &'a Regressions,
    ) -> impl Iterator<Item = Self> + 'a {
        summary.variants.iter().map(move |variant| {
            let changes = |trend| {
                let changes = regressions.changes.iter();
                let changes = changes.filter(move |change| change.variant == variant.name && change.trend == trend);
                changes.map(|change| regression::change(change, regressions)).collect::<Vec<_>>()
            };
            let mut unmatched = regressions.unmatched.iter();
            let not_compared = unmatched.find(|part| part.variant == variant.name && part.is_variant());
            let worse = changes(Trend::Worse);
            let result = match (not_compared, worse.len()) {
                (Some(part), _) => Outcome::Skipped(regression::unmatched(part)),
                (None, 0) => Outcome::Passed,
                (None, count) => Outcome::Failed {
                    message: format!("{} {}", Counted(count, "figure"), regression::worse(regressions)),
                    kind: "baseline",
                    body: format!("{}:\n{}", file.display(), worse.join("\n")),
                },
            };
            let notes = [changes(Trend::MayBeChance), changes(Trend::Better)].concat();
            Self { name: format!("{}: no worse than the baseline", variant.name), result, notes }
        })
    }

    fn has_failed(&self) -> bool {
        matches!(self.result, Outcome::Failed { .. })
    }

    fn is_wrong(&self) -> bool {
        matches!(self.result, Outcome::Wrong { .. })
    }

    fn write(&self, scenario: &str, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let name = legal(&self.name);
        let element = writer.create_element("testcase").with_attributes([("classname", scenario), ("name", &name)]);
        if matches!(self.result, Outcome::Passed) && self.notes.is_empty() {
            return element.write_empty().map(drop);
        }
        let content = |writer: &mut Writer<Vec<u8>>| {
            match &self.result {
                Outcome::Passed => {}
                Outcome::Skipped(why) => {
                    writer.create_element("skipped").write_text_content(BytesText::new(&legal(why)))?;
                }
                Outcome::Failed { message, kind, body } => write_reason("failure", kind, message, body, writer)?,
                Outcome::Wrong { message, body } => write_reason("error", "scenario", message, body, writer)?,
            }
            write_notes(&self.notes, writer)
        };
        element.write_inner_content(content).map(drop)
    }
}

fn write_reason(tag: &str, kind: &str, message: &str, body: &str, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let element = writer.create_element(tag).with_attributes([("message", legal(message).as_str()), ("type", kind)]);
    element.write_text_content(BytesText::new(&legal(body))).map(drop)
}

fn write_notes(notes: &[String], writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let text = legal(&notes.join("\n"));
    writer.create_element("system-out").write_text_content(BytesText::new(&text)).map(drop)
}

/// Servers tell cases apart by their names: of equal ones, which come from equal rows, the second and later ones get a
/// number.
fn numbered(cases: impl Iterator<Item = Case>) -> Vec<Case> {
    let mut seen: IndexMap<String, usize> = IndexMap::new();
    let number = |case: Case| {
        let count = seen.entry(case.name.clone()).or_default();
        *count += 1;
        let name = if *count == 1 { case.name } else { format!("{} ({count})", case.name) };
        Case { name, ..case }
    };
    cases.map(number).collect()
}

/// The text without the characters that no XML 1.0 may have, however it is escaped; the names of files may have them.
fn legal(text: &str) -> String {
    let is_legal = |c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if is_legal(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_xml_may_have_is_replaced() {
        assert_eq!(legal("a\u{1}b\u{1b}[1m\tö\u{fffe}\u{1f600}"), "a\u{fffd}b\u{fffd}[1m\tö\u{fffd}\u{1f600}");
    }
}
