//! Rules that find in a scenario's settings what will go wrong in the next outage, without a run.
//!
//! A rule looks at one variant's plan for what it means, and says which setting it is about by its path; where the file
//! says that is looked up when something is found. What somebody has thought about is allowed in the file itself, with
//! the reason. To add a rule: a file in `rules/`, and its line in the list there; the reference page is made from it.

mod chance;
mod endings;
mod findings;
mod grants;
mod limits;
mod rule;
mod rules;
mod storm;
mod subject;
mod tail;
mod waits;
mod words;

pub use findings::Finding;
pub use rule::{Example, Rule};
pub use rules::RULES;

use std::path::Path;

use findings::Findings;
use rule::Check;
use subject::Subject;

use crate::import::Imported;
use crate::scenario::places::Places;
use crate::scenario::source::Sources;
use crate::scenario::suggest;
use crate::scenario::{Diagnostics, Overrides, ScenarioFile, Severity};

/// What the rules say of a file.
#[derive(Clone, Debug)]
pub struct Linted {
    /// All findings, those that are allowed, too, in the order of their places.
    pub findings: Vec<Finding>,
    sources: Sources,
    /// How many variants the file has.
    variants: usize,
}

impl Linted {
    /// What is as bad as `least` and not allowed, or with `allowed` that, too; with the lines of the file that it is about.
    pub fn messages(&self, least: Severity, allowed: bool) -> Diagnostics {
        self.told(
            self.findings.iter().filter(|finding| finding.severity <= least && (allowed || finding.allowed.is_none())),
        )
    }

    /// What this rule has found, with the lines of the file that it is about.
    pub fn messages_of(&self, rule: &Rule) -> Diagnostics {
        self.told(self.findings.iter().filter(|finding| finding.rule == rule.id))
    }

    /// What is not allowed and as bad as `least`.
    pub fn shown(&self, least: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.allowed.is_none() && finding.severity <= least)
    }

    /// In which variants something was found, in words; none if it is in all of them.
    pub fn within(&self, finding: &Finding) -> Option<String> {
        finding.within(self.variants)
    }

    /// Allows what a rule has found, unless that is allowed already.
    pub fn allow(&mut self, rule: &Rule, reason: &str) {
        for finding in self.findings.iter_mut().filter(|finding| finding.rule == rule.id) {
            finding.allowed.get_or_insert_with(|| reason.to_owned());
        }
    }

    fn told<'a>(&self, findings: impl Iterator<Item = &'a Finding>) -> Diagnostics {
        let list = findings.map(|finding| finding.diagnostic(self.variants)).collect();
        Diagnostics::new(self.sources.clone(), list)
    }

    /// How many findings there are that are not allowed and as bad as this.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.allowed.is_none() && it.severity == severity).count()
    }

    /// How many findings are allowed.
    pub fn allowed(&self) -> usize {
        self.findings.iter().filter(|it| it.allowed.is_some()).count()
    }
}

/// Looks at a file of another product, as the scenario that it makes. Only what the file says is judged, at its places
/// in it, and not what a scenario must assume beside that.
///
/// # Errors
/// What it makes is no scenario.
pub fn imported(imported: &Imported) -> Result<Linted, Diagnostics> {
    let file = ScenarioFile::of("the scenario that it makes", imported.scenario(), Path::new(""));
    let Linted { findings, variants, .. } = lint(&file, &Overrides::default())?;
    let sources = imported.sources();
    let said = findings.into_iter().filter_map(|finding| {
        let place = imported.place(&finding.path)?;
        Some(finding.at(&place, sources.position(&place)))
    });
    let told = imported.remarks().map(|(id, remark)| {
        let rule = rule(id).expect("each sort of remark has a rule");
        Finding::remark(rule, remark, sources.position(&remark.place))
    });
    let mut findings: Vec<Finding> = said.chain(told).collect();
    findings.sort_by_key(Finding::start);
    Ok(Linted { findings, sources, variants })
}

/// The ids of all rules.
pub fn ids() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.id)
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// The ids that somebody may have meant who wrote this word: the nearest, or those that have it in them.
pub fn meant(word: &str) -> Vec<&'static str> {
    match suggest::nearest(word, ids()) {
        Some(nearest) => vec![nearest],
        None if word.is_empty() => Vec::new(),
        None => ids().filter(|id| id.contains(word)).collect(),
    }
}

/// Looks at all variants of a scenario file, with these overrides.
///
/// # Errors
/// The file is no scenario.
pub fn lint(file: &ScenarioFile, overrides: &Overrides) -> Result<Linted, Diagnostics> {
    let scenario = file.scenario(overrides)?;
    let places = Places::of(file);
    let unused = RULES.iter().copied().find(|rule| matches!(rule.check, Check::Allowed)).expect("there is one");
    let mut findings = Findings::new(&places, &scenario.allowed, unused);
    for (name, plan) in scenario.variants() {
        let subject = Subject::new(plan);
        findings.about(name);
        for &rule in RULES {
            if let Check::Variant(check) = rule.check {
                findings.from(rule);
                check(&subject, &mut findings);
            }
        }
    }
    let names: Vec<String> = scenario.variants().iter().map(|(name, _)| name.clone()).collect();
    let findings = findings.judged(unused, &names);
    Ok(Linted { findings, sources: places.into_sources(), variants: names.len() })
}
