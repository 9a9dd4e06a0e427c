//! Scenarios of one call that names a preset.

use std::path::Path;

use stormsim::Plan;
use stormsim::policy::RetryPolicy;
use stormsim::scenario::{Overrides, Scenario};

/// A client whose calls follow `retry`, and whatever else the file says.
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
