//! The engine against the reference interpreter: the same story, note by note, and the same counts.

use std::fmt::{Debug, Write};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, contextualize_config};
use stormsim::metrics::{Bucket, CallTally, Latency, Outcome, RequestTally, ServiceTally, Timeline, WindowOutcome};
use stormsim::plan::Plan;
use stormsim::sim::{Note, simulate, simulate_tapped};
use stormsim::time::Instant;

use crate::reference::{interpret, random_plan};

/// The same plans every time, so that a change that breaks nothing passes every time. `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` lead to others.
fn config() -> Config {
    let cases = 25_000;
    contextualize_config(Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })
}

proptest! {
    #![proptest_config(config())]

    /// Each plan has groups, layers, faults and policies of its own, and most of its times are multiples of 5 ms: a
    /// rule of order that the engine breaks anywhere shows as a note out of its place.
    #[test]
    fn the_engine_tells_the_same_story_as_the_interpreter(sketch in random_plan(), seed: u64, replica in 0..3u32) {
        let plan = sketch.plan();
        let (expected_notes, expected) = interpret(&plan, seed, replica);
        let mut notes: Vec<(Instant, Note)> = Vec::new();
        let outcome = simulate_tapped(&plan, seed, replica, &mut notes);
        if let Some(difference) = first_different_note(&expected_notes, &notes) {
            return Err(TestCaseError::fail(difference));
        }
        let differences = differences(&plan, &expected, &outcome);
        prop_assert!(differences.is_empty(), "{}", differences);
        // Without a tap the engine is compiled anew: it must still be the same engine.
        prop_assert!(simulate(&plan, seed, replica) == outcome, "the outcome depends on whether somebody watches");
    }
}

/// The first place where the stories part, with what came just before it and comes after.
fn first_different_note(expected: &[(Instant, Note)], actual: &[(Instant, Note)]) -> Option<String> {
    const BEFORE: usize = 10;
    const AFTER: usize = 4;
    let length = expected.len().max(actual.len());
    let place = (0..length).find(|&i| expected.get(i) != actual.get(i))?;
    let mut text = format!("note {place} differs\n");
    for (at, note) in &expected[place.saturating_sub(BEFORE)..place] {
        let _ = writeln!(text, "      both {:>12} ns {note:?}", at.as_ns());
    }
    for (who, notes) in [("  expected", expected), ("the engine", actual)] {
        for (at, note) in notes.iter().skip(place).take(1 + AFTER) {
            let _ = writeln!(text, "{who} {:>12} ns {note:?}", at.as_ns());
        }
        if notes.len() <= place {
            let _ = writeln!(text, "{who} has ended");
        }
    }
    Some(text)
}

/// A line for each field in which two outcomes differ; empty if none does.
fn differences(plan: &Plan, expected: &Outcome, actual: &Outcome) -> String {
    let mut found = Differences(String::new());
    found.compare("replica", &expected.replica, &actual.replica);
    found.compare("warmup", &expected.warmup, &actual.warmup);
    found.compare("end", &expected.end, &actual.end);
    found.compare("ended", &expected.ended, &actual.ended);
    found.compare("events", &expected.events, &actual.events);
    found.compare_window(plan, "", &whole(expected), &whole(actual));
    found.compare("faults", &expected.faults, &actual.faults);
    found.compare("windows.len()", &expected.windows.len(), &actual.windows.len());
    for (expected, actual) in expected.windows.iter().zip(&actual.windows) {
        let place = format!("windows[{}..{}].", expected.from.as_ns(), expected.until.as_ns());
        found.compare_window(plan, &place, expected, actual);
    }
    found.compare("faults.len()", &expected.faults.len(), &actual.faults.len());
    for ((name, expected), actual) in plan.labels.faults.iter().zip(&expected.faults).zip(&actual.faults) {
        found.compare(&format!("faults[{name}]"), expected, actual);
    }
    found.compare_timeline(plan, &expected.timeline, &actual.timeline);
    if found.0.is_empty() && expected != actual {
        found.0.push_str("the outcomes differ in a field that is not shown");
    }
    found.0
}

/// The counts of the whole run, like those of a window.
fn whole(outcome: &Outcome) -> WindowOutcome {
    WindowOutcome {
        from: outcome.warmup,
        until: outcome.end,
        groups: outcome.groups.clone(),
        calls: outcome.calls.clone(),
        services: outcome.services.clone(),
        all_requests: outcome.all_requests.clone(),
        all_calls: outcome.all_calls.clone(),
    }
}

struct Differences(String);

impl Differences {
    fn compare<T: PartialEq + Debug + ?Sized>(&mut self, field: &str, expected: &T, actual: &T) {
        if expected != actual {
            let _ = writeln!(self.0, "{field}\n    expected {expected:?}\n  the engine {actual:?}");
        }
    }

    /// `place` goes before the name of each field.
    fn compare_window(&mut self, plan: &Plan, place: &str, expected: &WindowOutcome, actual: &WindowOutcome) {
        self.compare(&format!("{place}from and until"), &(expected.from, expected.until), &(actual.from, actual.until));
        self.compare_requests(&format!("{place}all_requests"), &expected.all_requests, &actual.all_requests);
        self.compare_call(&format!("{place}all_calls"), &expected.all_calls, &actual.all_calls);
        self.compare(&format!("{place}groups.len()"), &expected.groups.len(), &actual.groups.len());
        for ((name, expected), actual) in plan.labels.groups.iter().zip(&expected.groups).zip(&actual.groups) {
            self.compare_requests(&format!("{place}groups[{name}]"), expected, actual);
        }
        self.compare(&format!("{place}calls.len()"), &expected.calls.len(), &actual.calls.len());
        for ((name, expected), actual) in plan.labels.calls.iter().zip(&expected.calls).zip(&actual.calls) {
            self.compare_call(&format!("{place}calls[{name}]"), expected, actual);
        }
        self.compare(&format!("{place}services.len()"), &expected.services.len(), &actual.services.len());
        for ((name, expected), actual) in plan.labels.services.iter().zip(&expected.services).zip(&actual.services) {
            self.compare_service(&format!("{place}services[{name}]"), expected, actual);
        }
    }

    fn compare_timeline(&mut self, plan: &Plan, expected: &Timeline, actual: &Timeline) {
        self.compare("timeline.bucket", &expected.bucket, &actual.bucket);
        self.compare_series("timeline.scenario", &expected.scenario, &actual.scenario);
        let series = [
            ("groups", &plan.labels.groups, &expected.groups, &actual.groups),
            ("calls", &plan.labels.calls, &expected.calls, &actual.calls),
            ("services", &plan.labels.services, &expected.services, &actual.services),
        ];
        for (kind, names, expected, actual) in series {
            self.compare(&format!("timeline.{kind}.len()"), &expected.len(), &actual.len());
            for ((name, expected), actual) in names.iter().zip(expected).zip(actual) {
                self.compare_series(&format!("timeline.{kind}[{name}]"), expected, actual);
            }
        }
        self.compare("timeline.tokens.len()", &expected.tokens.len(), &actual.tokens.len());
        for (budget, (expected, actual)) in expected.tokens.iter().zip(&actual.tokens).enumerate() {
            self.compare(&format!("timeline.tokens[{budget}]"), expected, actual);
        }
    }

    fn compare_requests(&mut self, field: &str, expected: &RequestTally, actual: &RequestTally) {
        let counts = |tally: &RequestTally| RequestTally { latency: Latency::default(), ..tally.clone() };
        self.compare(&format!("{field}, latency left out"), &counts(expected), &counts(actual));
        self.compare_times(&format!("{field}.latency"), &expected.latency, &actual.latency);
    }

    fn compare_call(&mut self, field: &str, expected: &CallTally, actual: &CallTally) {
        let counts = |tally: &CallTally| CallTally { pool_waits: Latency::default(), ..tally.clone() };
        self.compare(&format!("{field}, waits left out"), &counts(expected), &counts(actual));
        self.compare_times(&format!("{field}.pool_waits"), &expected.pool_waits, &actual.pool_waits);
    }

    fn compare_service(&mut self, field: &str, expected: &ServiceTally, actual: &ServiceTally) {
        let counts = |tally: &ServiceTally| ServiceTally { queue_waits: Latency::default(), ..tally.clone() };
        self.compare(&format!("{field}, waits left out"), &counts(expected), &counts(actual));
        self.compare_times(&format!("{field}.queue_waits"), &expected.queue_waits, &actual.queue_waits);
    }

    /// By their figures: the bins of a histogram fill a page.
    fn compare_times(&mut self, field: &str, expected: &Latency, actual: &Latency) {
        let figures = |times: &Latency| {
            (times.count(), times.mean_ms(), times.quantile_ms(0.5), times.quantile_ms(0.99), times.max_ms())
        };
        self.compare(field, &figures(expected), &figures(actual));
    }

    fn compare_series(&mut self, field: &str, expected: &[Bucket], actual: &[Bucket]) {
        self.compare(&format!("{field}.len()"), &expected.len(), &actual.len());
        for (expected, actual) in expected.iter().zip(actual) {
            self.compare(&format!("{field}, bucket {}", expected.index), expected, actual);
        }
    }
}
