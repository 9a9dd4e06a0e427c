//! What a scenario's settings mean, call by call, path by path and service by service, without a run.

use serde::Serialize;

use crate::analysis::answers::Longest;
use crate::analysis::call::CallExplained;
use crate::analysis::ladder::{Path, Paths, paths};
use crate::analysis::load::{ServiceLoad, loads};
use crate::plan::{CallId, Plan};
use crate::scenario::Scenario;

/// How likely an attempt fails, for what is said about success where nobody says otherwise.
pub const FAILURE_DEFAULT: f64 = 0.01;

/// The share of the answers that may come after the timeout, where nobody says otherwise.
pub const FALSE_TIMEOUTS_DEFAULT: f64 = 0.001;

/// What is asked beyond the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Questions {
    /// How likely an attempt fails.
    pub failure: f64,
    /// The share of a callee's answers that may come after a timeout.
    pub false_timeouts: f64,
}

/// All that is explained of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The variants that it is true of, in the order of the file.
    pub variants: Vec<String>,
    /// Every call, in the order of the file.
    pub calls: Vec<CallExplained>,
    /// Every path from clients through the call graph.
    pub paths: Vec<Path>,
    /// How many paths were left out, because there are too many; up to 2^64.
    pub paths_left_out: u64,
    /// Every service.
    pub services: Vec<ServiceLoad>,
}

/// Explains every variant of a scenario; those of which the same is true, together.
pub fn explain(scenario: &Scenario, questions: Questions) -> Vec<Explanation> {
    let mut explained: Vec<Explanation> = Vec::new();
    for (name, plan) in scenario.variants() {
        let mut one = of_plan(plan, questions);
        match explained.iter_mut().find(|other| is_same(other, &one)) {
            Some(other) => other.variants.push(name.clone()),
            None => {
                one.variants.push(name.clone());
                explained.push(one);
            }
        }
    }
    explained
}

fn is_same(one: &Explanation, other: &Explanation) -> bool {
    one.calls == other.calls && one.paths == other.paths && one.services == other.services
}

fn of_plan(plan: &Plan, questions: Questions) -> Explanation {
    let Paths { paths, left_out, deadlines } = paths(plan);
    let mut longest = Longest::new(plan, &deadlines);
    let calls = (0..).map(CallId).zip(&deadlines);
    let calls = calls.map(|(id, &deadline)| CallExplained::of(plan, id, deadline, &mut longest, questions)).collect();
    Explanation { variants: Vec::new(), calls, paths, paths_left_out: left_out, services: loads(plan) }
}
