//! Baselines on the command line: read and checked before anything is simulated, saved after everything was.

use std::path::Path;

use stormsim::experiment::baseline::{Baseline, Kept};
use stormsim::experiment::{Regressions, Summary};
use stormsim::report::baseline::{BaselineError, Target, read};
use stormsim::scenario::Scenario;

use crate::cli::args::TestArguments;
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

/// How much worse a figure may be where nobody says so.
const TOLERANCE_DEFAULT: f64 = 0.05;

/// What the scenarios are compared with, and where the result is kept for the next time; either may be absent.
pub struct Gate {
    before: Option<Baseline>,
    tolerance: f64,
    target: Option<Target>,
    /// The only variant that runs, if it is not all of them: that the others are not there means nothing.
    variant: Option<String>,
    quiet: bool,
}

impl Gate {
    /// Reads the baseline, and tries out where the new one goes.
    pub fn prepare(arguments: &TestArguments, scenarios: &[(&Path, Scenario)]) -> Result<Self, CommandError> {
        let message = |error: BaselineError| CommandError::Message(error.to_string());
        let before = arguments.baseline.as_deref().map(read).transpose().map_err(message)?;
        let target = arguments.save_baseline.as_deref().map(Target::prepare).transpose().map_err(message)?;
        if before.is_some() || target.is_some() {
            check_names(scenarios)?;
        }
        if let (Some(path), Some(baseline)) = (&arguments.baseline, &before) {
            check_scenarios(path, baseline, scenarios)?;
        }
        let gate = Self {
            before,
            tolerance: arguments.tolerance.unwrap_or(TOLERANCE_DEFAULT),
            target,
            variant: arguments.settings.variant.clone(),
            quiet: arguments.quiet,
        };
        // How many replicas a precision takes is only known at the end.
        let replicas = |scenario: &Scenario| arguments.precision.precision.is_none().then_some(scenario.replicas);
        for (_, scenario) in scenarios {
            gate.check_others(&scenario.name, scenario.seed, replicas(scenario))?;
        }
        Ok(gate)
    }

    /// The variants that are kept of a scenario beside the one that runs must have met the same luck as often.
    fn check_others(&self, name: &str, seed: u64, replicas: Option<u32>) -> Result<(), CommandError> {
        let (Some(target), Some(picked)) = (&self.target, &self.variant) else { return Ok(()) };
        let Some(kept) = target.kept().and_then(|baseline| baseline.scenarios.get(name)) else { return Ok(()) };
        let is_alike = kept.seed == seed && replicas.is_none_or(|replicas| replicas == kept.replicas);
        if is_alike || kept.variants.keys().all(|variant| variant == picked) {
            return Ok(());
        }
        let (path, seed, replicas) = (target.path().display(), kept.seed, kept.replicas);
        Err(CommandError::Message(format!(
            "cannot save the variant `{picked}` of `{name}` in the baseline `{path}`: the others there have the seed \
             {seed} and {replicas} replicas, which is not the same luck; add `--seed {seed} --replicas {replicas}`, or \
             save all variants, without `--variant`"
        )))
    }

    /// Says in the summary how it compares.
    pub fn compare(&self, summary: &mut Summary) {
        let kept = self.before.as_ref().and_then(|baseline| baseline.scenarios.get(&summary.scenario.name));
        summary.baseline = kept.map(|kept| self.against(summary, kept));
    }

    fn against(&self, summary: &Summary, kept: &Kept) -> Regressions {
        let mut regressions = Regressions::of(summary, kept, self.tolerance);
        if self.variant.is_some() {
            regressions.unmatched.retain(|part| summary.variants.iter().any(|variant| variant.name == part.variant));
        }
        regressions
    }

    /// Saves the new baseline, unless a part of it is missing. What is kept there and did not run stays as it is.
    pub fn save(
        &self,
        scenarios: &[(&Path, Scenario)],
        summaries: &[Summary],
        terminal: &Terminal,
    ) -> Result<(), CommandError> {
        let Some(target) = &self.target else { return Ok(()) };
        // A scenario that was not simulated has no summary.
        let is_missing = |at: usize| summaries.get(at).is_none_or(|summary| summary.partial);
        if let Some(at) = (0..scenarios.len()).find(|&at| is_missing(at)) {
            let file = scenarios[at].0.display();
            terminal.error(&format!("no baseline was saved: `{file}` did not run to its end"));
            return Ok(());
        }
        for summary in summaries {
            self.check_others(&summary.scenario.name, summary.seed, Some(summary.replicas))?;
        }
        let new = Baseline::of(summaries);
        let count = new.scenarios.len();
        let baseline = match target.kept() {
            Some(kept) => new.over(kept.clone(), self.variant.is_some()),
            None => new,
        };
        target.write(&baseline).map_err(|error| CommandError::Message(error.to_string()))?;
        if !self.quiet {
            let others = match baseline.scenarios.len() - count {
                0 => String::new(),
                1 => "; 1 scenario in it that did not run is as it was".to_owned(),
                several => format!("; {several} scenarios in it that did not run are as they were"),
            };
            terminal.message(&format!("baseline saved to {}{others}", target.path().display()));
        }
        Ok(())
    }
}

/// The exit code that a comparison with a baseline asks for.
pub fn exit_of(summary: &Summary) -> Exit {
    let is_worse = summary.baseline.as_ref().is_some_and(Regressions::is_worse);
    if is_worse { Exit::Failed } else { Exit::Good }
}

/// A baseline keeps scenarios by their names.
fn check_names(scenarios: &[(&Path, Scenario)]) -> Result<(), CommandError> {
    for (i, (file, scenario)) in scenarios.iter().enumerate() {
        if let Some((other, _)) = scenarios[..i].iter().find(|(_, other)| other.name == scenario.name) {
            return Err(CommandError::Message(format!(
                "`{}` and `{}` are both named `{}`, and a baseline keeps scenarios by their names; give one of them \
                 another `name`",
                other.display(),
                file.display(),
                scenario.name
            )));
        }
    }
    Ok(())
}

/// Every scenario must be in the baseline, and have met the same luck there.
fn check_scenarios(path: &Path, baseline: &Baseline, scenarios: &[(&Path, Scenario)]) -> Result<(), CommandError> {
    for (file, scenario) in scenarios {
        let (path, file, name) = (path.display(), file.display(), &scenario.name);
        let Some(kept) = baseline.scenarios.get(name) else {
            let names: Vec<String> = baseline.scenarios.keys().map(|name| format!("`{name}`")).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(CommandError::Message(format!(
                "the baseline `{path}` does not have the scenario `{name}` of `{file}`; it has {known}; make one that \
                 has it with `--save-baseline FILE`"
            )));
        };
        if kept.seed != scenario.seed {
            return Err(CommandError::Message(format!(
                "the baseline `{path}` has `{name}` with the seed {}, and not {}: only the same luck can be compared; \
                 add `--seed {}`",
                kept.seed, scenario.seed, kept.seed
            )));
        }
    }
    Ok(())
}
