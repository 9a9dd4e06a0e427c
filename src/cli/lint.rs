//! `stormsim lint`: what will go wrong, without a run.

use std::path::{Path, PathBuf};

use stormsim::analysis::lint::{self, Rule};
use stormsim::import;
use stormsim::report::github;
use stormsim::report::lint as report;
use stormsim::scenario::{Diagnostics, Overrides, ScenarioFile, Severity};

use crate::cli::args::{LintArguments, LintFormat};
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit, paths};

/// Looks at every file and prints what the rules find; or says what rules there are.
pub fn run(arguments: &LintArguments, terminal: &Terminal) -> Result<Exit, CommandError> {
    let LintArguments { paths, explain, rules, deny_warnings, allow, show_allowed, format, quiet } = arguments;
    if *rules {
        terminal.result(&report::rules(terminal.width()))?;
        return Ok(Exit::Good);
    }
    if let Some(id) = explain {
        terminal.result(&report::explanation(named(id)?, terminal.width()))?;
        return Ok(Exit::Good);
    }
    let files = paths::lintable(paths)?;
    let allow: Vec<&Rule> = allow.iter().map(|id| named(id)).collect::<Result<_, _>>()?;
    let looked = |file: &'_ PathBuf| {
        let mut linted = look(file);
        if let Ok(linted) = &mut linted {
            allow.iter().for_each(|rule| linted.allow(rule, "by `--allow`"));
        }
        linted
    };
    let looked: Vec<report::Looked<'_>> = files.iter().map(|file| (file.as_path(), looked(file))).collect();
    let least = if *quiet && !deny_warnings { Severity::Error } else { Severity::Warning };
    let shown = report::Shown { least, allowed: *show_allowed, quiet: *quiet };
    let mut exit = Exit::Good;
    for (_, looked) in &looked {
        exit = exit.max(match looked {
            Err(wrong) => {
                terminal.message(&wrong.render(true, terminal.width()));
                Exit::Error
            }
            Ok(linted) if linted.count(Severity::Error) > 0 => Exit::Failed,
            Ok(linted) if *deny_warnings && linted.count(Severity::Warning) > 0 => Exit::Failed,
            Ok(_) => Exit::Good,
        });
    }
    terminal.result(&match format {
        LintFormat::Text => report::text(&looked, shown, terminal.width()),
        LintFormat::Json => report::json(&looked),
        LintFormat::Sarif => report::sarif(&looked),
        LintFormat::Github => github::findings(&looked, shown, terminal.width()),
    })?;
    Ok(exit)
}

/// Looks at a scenario, or at a file of another product as the scenario that it makes.
fn look(file: &Path) -> Result<lint::Linted, Diagnostics> {
    if paths::is_scenario(file) {
        return lint::lint(&ScenarioFile::read(file)?, &Overrides::default());
    }
    let text = import::read(file)?;
    match import::guess(&text) {
        Some(format) => lint::imported(&import::import(format, &file.display().to_string(), &text)?),
        None if paths::is_configuration(file) => Err(import::unrecognised(&file.display().to_string())),
        // It may be a scenario under another name; if not, that is what is told.
        None => lint::lint(&ScenarioFile::read(file)?, &Overrides::default()),
    }
}

fn named(id: &str) -> Result<&'static Rule, CommandError> {
    lint::rule(id).ok_or_else(|| {
        let meant: Vec<String> = lint::meant(id).into_iter().map(|id| format!("`{id}`")).collect();
        let hint = if meant.is_empty() {
            "`stormsim lint --rules` lists them".to_owned()
        } else {
            format!("did you mean {}?", meant.join(" or "))
        };
        CommandError::Message(format!("there is no rule `{id}`: {hint}"))
    })
}
