//! Scenarios of one call that names a preset.

use std::path::Path;

use stormsim::plan::Plan;
use stormsim::policy::RetryPolicy;
use stormsim::presets::Preset;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::{Note, simulate_tapped};
use stormsim::{Outcome, simulate};

/// One client that makes one request, whose call follows `retry`, and whatever else the file says.
pub fn text(retry: &str, rest: &str) -> String {
    format!(
        r#"version = 1
name = "preset"
horizon = "10m"

[clients.web]
arrivals = {{ burst = {{}} }}
calls.api = {{ retry = "{retry}" }}

[services.api]

{rest}"#
    )
}

/// The same with the keys of the call that the preset has.
pub fn text_with_call(preset: &str) -> String {
    let call = Preset::find(preset).and_then(Preset::call).expect("the preset has keys for the call");
    let lines: String = call.lines().map(|line| format!("calls.api.{line}\n")).collect();
    text(preset, "").replace(
        &format!("calls.api = {{ retry = \"{preset}\" }}\n"),
        &format!("calls.api.retry = \"{preset}\"\n{lines}"),
    )
}

/// What the command line sets.
pub fn set(texts: &[&str]) -> Overrides {
    Overrides { set: texts.iter().map(|&text| text.to_owned()).collect(), ..Overrides::default() }
}

/// The scenario, or what is wrong with it.
pub fn scenario(text: &str, overrides: &Overrides) -> Result<Scenario, String> {
    Scenario::parse("shop.toml", text, Path::new(""), overrides).map_err(|errors| errors.to_string())
}

/// The plan of the first variant.
pub fn plan(text: &str, overrides: &Overrides) -> Plan {
    let scenario = scenario(text, overrides).unwrap_or_else(|errors| panic!("{errors}"));
    scenario.variants()[0].1.clone()
}

/// The policy that the client's calls follow, with these settings by path.
pub fn policy(retry: &str, settings: &[&str]) -> RetryPolicy {
    let plan = plan(&text(retry, ""), &set(settings));
    plan.policies[plan.calls[0].policy.index()].clone()
}

/// The shortest and the longest wait before each of the first retries, in ms.
pub fn waits_ms<const N: usize>(policy: &RetryPolicy) -> [(f64, f64); N] {
    let ranges: Vec<_> = policy.schedule.ranges().take(N).collect();
    std::array::from_fn(|at| (ranges[at].shortest.as_ms(), ranges[at].longest.as_ms()))
}

/// The waits of a schedule without jitter, in ms.
pub fn exact_ms<const N: usize>(retry: &str, settings: &[&str]) -> [f64; N] {
    waits_ms(&policy(retry, settings)).map(|(shortest, longest)| {
        assert_eq!(shortest, longest, "{retry} {settings:?} draws its waits");
        shortest
    })
}

/// One replica with these settings.
pub fn run(text: &str, settings: &[&str]) -> Outcome {
    simulate(&plan(text, &set(settings)), 42, 0)
}

/// When attempts were sent in a replica, in ms, with their numbers.
pub fn sent(text: &str, settings: &[&str], replica: u32) -> Vec<(f64, u32)> {
    let mut notes = Vec::new();
    simulate_tapped(&plan(text, &set(settings)), 42, replica, &mut notes);
    let sent = notes.iter().filter_map(|(now, note)| match note {
        Note::Sent { attempt, .. } => Some((now.as_s() * 1e3, *attempt)),
        _ => None,
    });
    sent.collect()
}

/// How many attempts each request of a replica made, if they come one after the other.
pub fn attempts_of_requests(text: &str, settings: &[&str]) -> Vec<u32> {
    let mut attempts = Vec::new();
    for (_, attempt) in sent(text, settings, 0) {
        match attempts.last_mut() {
            Some(last) if attempt > 1 => *last = attempt,
            _ => attempts.push(attempt),
        }
    }
    attempts
}
