//! File, variant, flags: who has the last word.

use indexmap::IndexMap;
use proptest::prelude::*;
use stormsim::plan::CallId;
use stormsim::scenario::{Overrides, Scenario};

use crate::{SMALL, only_plan, parse, set};

fn attempts(scenario: &Scenario) -> Vec<(&str, u32)> {
    scenario.variants().iter().map(|(name, plan)| (name.as_str(), plan.policies[1].max_attempts)).collect()
}

/// File, then variant, then flags in their order; `max_attempts` takes the place of `max_retries` and back.
#[test]
fn the_last_override_wins() {
    let text = format!("{SMALL}[variants.a]\n[variants.b]\n\"retries.r.max_attempts\" = 5\n");
    assert_eq!(attempts(&parse(&text, &Overrides::default())), [("a", 2), ("b", 5)]);
    let flag = parse(&text, &set(&["retries.r.max_retries=7"]));
    assert_eq!(attempts(&flag), [("a", 8), ("b", 8)]);
    let flags = parse(&text, &set(&["retries.r.max_retries=7", "retries.r.max_attempts = 4"]));
    assert_eq!(attempts(&flags), [("a", 4), ("b", 4)]);
}

#[test]
fn only_the_chosen_variant_is_run() {
    let text = format!("{SMALL}[variants.a]\n[variants.b]\n\"retries.r.max_attempts\" = 5\n");
    let chosen = Overrides { variant: Some("b".into()), seed: Some(1), replicas: Some(3), ..Overrides::default() };
    let scenario = parse(&text, &chosen);
    assert_eq!(attempts(&scenario), [("b", 5)]);
    assert_eq!((scenario.seed, scenario.replicas), (1, 3));
}

proptest! {
    /// Whatever settings come in which order, from a variant and then from flags: for each thing that is set only the
    /// last one counts, where `max_retries` and `max_attempts` are one thing, and so are the arrivals with whatever
    /// tag.
    #[test]
    fn of_all_overrides_of_a_thing_the_last_one_counts(
        variant in prop::collection::vec((0usize..4, 0usize..2, 1u32..4), 0..4),
        flags in prop::collection::vec((0usize..4, 0usize..2, 1u32..4), 0..8),
    ) {
        let things = [
            ["retries.r.max_retries=N", "retries.r.max_attempts=N"],
            ["clients.web.arrivals={ burst = { at = \"Ns\" } }", "clients.web.arrivals={ closed = { think = \"Ns\", requests = 2 } }"],
            ["clients.web.calls.db.timeout=\"Ns\"", "clients.web.calls.db.timeout=\"none\""],
            ["retries.r.budget={ token_bucket = { max = N, per_success = 0 } }", "retries.r.budget=\"none\""],
        ];
        let text = |&(thing, form, n): &(usize, usize, u32)| things[thing][form].replace('N', &n.to_string());
        let mut own = IndexMap::new();
        for setting in &variant {
            // A table of TOML has no key twice, and no order that a reader would rely on.
            own.insert(setting.0, text(setting));
        }
        let lines: Vec<String> = own.values().map(|setting| {
            let (path, value) = setting.split_once('=').unwrap();
            format!("\"{path}\" = {value}\n")
        }).collect();
        let file = format!("{SMALL}[variants.v]\n{}", lines.concat());
        let flags_texts: Vec<String> = flags.iter().map(text).collect();
        let flags_texts: Vec<&str> = flags_texts.iter().map(String::as_str).collect();
        let all = parse(&file, &set(&flags_texts));

        let mut last = own;
        for setting in &flags {
            last.insert(setting.0, text(setting));
        }
        let last: Vec<&str> = last.values().map(String::as_str).collect();
        let expected = parse(SMALL, &set(&last));
        prop_assert_eq!(&all.variants()[0].1, only_plan(&expected));
    }
}

/// Another tag replaces the choice, a path into a choice keeps what else its tag has, and a table that is not there
/// is made: each is compared with the file that says the same.
#[test]
fn overrides_say_what_the_file_could_have_said() {
    let says = |settings: &[&str], file: &str| {
        let written = format!("{SMALL}{file}");
        assert_eq!(
            only_plan(&parse(SMALL, &set(settings))),
            only_plan(&parse(&written, &Overrides::default())),
            "{settings:?}"
        );
    };
    says(
        &[
            "retries.r.backoff={fixed=\"1s\"}",
            "retries.r.backoff.exponential={base=\"1s\", factor=3}",
            "retries.r.backoff.exponential.base=2s",
        ],
        "backoff = { exponential = { base = \"2s\", factor = 3 } }",
    );
    says(
        &["faults.f.on=[\"db\"]", "faults.f.effect=refuse", "faults.f.until=1s", "faults.f.lasts=2s"],
        "[faults.f]\non = [\"db\"]\neffect = \"refuse\"\nlasts = \"2s\"",
    );
    says(
        &["retries.r={ backoff = { fixed = \"1s\" }, max_attempts = 3 }", "retries.r.max_retries=1"],
        "backoff = { fixed = \"1s\" }",
    );
}

/// A quoted path and the same keys without quotes are one setting.
#[test]
fn a_variant_may_be_written_with_dotted_keys() {
    let quoted = format!("{SMALL}[variants.v]\n\"retries.r.max_retries\" = 4\n\"retries.r.jitter\" = \"full\"\n");
    let dotted = format!("{SMALL}[variants.v]\nretries.r.max_retries = 4\nretries.r.jitter = \"full\"\n");
    let plans = |text: &str| parse(text, &Overrides::default()).variants().to_vec();
    assert_eq!(plans(&quoted), plans(&dotted));
}

/// What a variant adds and uses is no misspelling.
#[test]
fn a_variant_may_add_a_policy_and_a_service_that_it_uses() {
    let added = r#"[variants.v]
"retries.new.max_retries" = 9
"clients.web.calls.db.retry" = "new"
"services.cache.service_time" = "1ms"
"services.db.calls.cache" = {}
"#;
    let scenario = parse(&format!("{SMALL}{added}"), &Overrides::default());
    let (_, plan) = &scenario.variants()[0];
    assert_eq!(plan.policy_of(CallId(0)).max_attempts, 10);
    assert_eq!(plan.labels.calls, ["web->db", "db->cache"]);
}
