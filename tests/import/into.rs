//! What was imported, put into a scenario that is there.

use stormsim::Overrides;
use stormsim::import::{self, Format};

use crate::{at, imported, is_said, lines, parsed, sample, samples};

/// What is put into the scenario that is made of it is there already, in whatever form, and changes nothing.
#[test]
fn an_import_into_its_own_scenario_changes_nothing() {
    let names = std::fs::read_dir(samples()).expect("it is there");
    let mut seen = 0;
    for name in names.map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8")) {
        let text = sample(&name);
        let imported = imported(import::guess(&text).expect("each has its format"), &text);
        let own = imported.scenario();
        let merged = imported.merged_into(&own).expect("it is TOML");
        let notes = lines(&merged.notes);
        assert!(notes.iter().all(|note| note.contains("is that of the file now")), "{name}: {notes:?}");
        let meaning = |text: &str| parsed(text, &Overrides::default()).meaning();
        assert_eq!(meaning(&merged.text), meaning(&own), "{name}\n{}", merged.text);
        seen += 1;
    }
    assert!(seen >= Format::ALL.len(), "{seen} samples");
}

/// A scenario of somebody, with calls in this form.
fn scenario(calls: &str) -> String {
    format!(
        "# My own words.\nversion = 1\nname = \"mine\"\nhorizon = \"5s\"\n\n[clients.web]  # who comes\n\
         arrivals = {{ poisson = {{ rate = 20 }} }}\n{calls}\n\
         [services.shop]\nservice_time = \"1ms\"  # measured\n\n\
         # What it was.\n[retries.Shop]\nmax_retries = 9\nbackoff = {{ fixed = \"1s\" }}\n"
    )
}

const SETTINGS: &str =
    r#"{"Clients": {"Shop": {"Retry": {"Delay": "00:00:01"}, "AttemptTimeout": {"Timeout": "00:00:03"}}}}"#;

/// Inline, dotted, or under headers: settings take the place of those that were there, and leave the others alone.
#[test]
fn calls_of_every_form_take_settings() {
    for calls in [
        "calls.Shop = { to = \"shop\", timeout = \"9s\", network = \"2ms\", pool = { size = 3 } }\n",
        "calls.Shop.to = \"shop\"\ncalls.Shop.timeout = \"9s\"\ncalls.Shop.network = \"2ms\"\ncalls.Shop.pool.size = 3\n",
        "[clients.web.calls.Shop]\nto = \"shop\"  # where to\ntimeout = \"9s\"\nnetwork = \"2ms\"\n\
         [clients.web.calls.Shop.pool]\nsize = 3\n",
        // Another label: there is one import for all that goes there, if names are the same.
        "[clients.web.calls]\nother = { to = \"Shop\", timeout = \"9s\", network = \"2ms\", pool = { size = 3 } }\n",
    ] {
        let text = scenario(calls)
            .replace("[services.shop]", if calls.contains("\"Shop\"") { "[services.Shop]" } else { "[services.shop]" });
        let merged = imported(Format::Dotnet, SETTINGS).merged_into(&text).expect("it is TOML");
        let notes = lines(&merged.notes);
        assert!(notes.len() == 1 && notes[0].contains("had a policy `retries.Shop`"), "{calls}: {notes:?}");
        parsed(&merged.text, &Overrides::default());
        let table: toml::Table = merged.text.parse().expect("TOML");
        let label = if calls.contains("other") { "other" } else { "Shop" };
        let call = |key: &str| at(&table, &format!("clients.web.calls.{label}.{key}"));
        assert_eq!(["timeout", "network", "pool.size", "retry"].map(call), ["\"3s\"", "\"2ms\"", "1000", "\"Shop\""]);
        let policy = |key: &str| at(&table, &format!("retries.Shop.{key}"));
        assert_eq!(["backoff.decorrelated_v2.base", "backoff.fixed"].map(policy), ["\"1s\"", "none"]);
        for comment in ["# My own words.", "# who comes", "# measured"] {
            assert!(merged.text.contains(comment), "{comment} of\n{}", merged.text);
        }
    }
}

#[test]
fn calls_that_are_nowhere_are_told() {
    let merged = imported(Format::Dotnet, SETTINGS).merged_into(&scenario("calls.shop = {}\n")).expect("it is TOML");
    let notes = lines(&merged.notes);
    assert!(is_said(&notes, &["no call `Shop`", "retry = \"Shop\""]) && notes.len() == 2, "{notes:?}");
    assert!(merged.text.contains("\n# [clients.callers.calls.Shop]\n"), "{}", merged.text);
    let error = imported(Format::Dotnet, SETTINGS).merged_into("[a\nb").expect_err("it is no TOML");
    assert!(!error.is_empty());
}

/// That a product has no limit of its own says nothing of somebody else's.
#[test]
fn limits_of_others_stay() {
    let file = r#"{"methodConfig": [{"name": [{"service": "Shop"}], "waitForReady": false}]}"#;
    let text = scenario("calls.Shop = { to = \"shop\", timeout = \"700ms\", total_timeout = \"9s\" }\n");
    let merged = imported(Format::Grpc, file).merged_into(&text).expect("it is TOML");
    let table: toml::Table = merged.text.parse().expect("TOML");
    let limits = ["timeout", "total_timeout"].map(|key| at(&table, &format!("clients.web.calls.Shop.{key}")));
    assert_eq!(limits, ["\"700ms\"", "\"9s\""]);
}
