//! `stormsim presets`, as it is read and as programs read it.

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::Value;
use stormsim::analysis::PresetExplained;
use stormsim::presets::{PRESETS, Preset};
use stormsim::report::presets;

fn stormsim(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("stormsim").unwrap().arg("presets").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_list_says_what_each_does_in_a_few_words() {
    let (all, names) = (PresetExplained::all(), PRESETS.iter().map(|preset| preset.name));
    for (width, snapshot) in [(80, "list_80"), (200, "list_200")] {
        let list = presets::list(&all, width);
        assert_snapshot!(snapshot, list);
        assert!(list.lines().all(|line| line.chars().count() <= width));
        assert!(names.clone().all(|name| list.lines().any(|line| line.trim_start().starts_with(name))));
    }
}

/// At 80 columns nothing is wider but what can be copied: settings, and lines of TOML.
#[test]
fn one_of_them_is_toml_with_comments() {
    let one = |name: &str, width| {
        let preset = Preset::find(name).unwrap();
        presets::one(preset, &PresetExplained::of(preset), width)
    };
    assert_snapshot!("envoy_80", one("envoy", 80));
    assert_snapshot!("aws_200", one("aws-standard-2.1", 200));
    for preset in PRESETS {
        let text = one(preset.name, 80);
        let comments = text.lines().filter(|line| line.starts_with('#') && !line.starts_with("#   "));
        let too_wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("# - `");
        assert_eq!(comments.clone().find(too_wide), None, "{}", preset.name);
        assert!(comments.count() > 4, "{}", preset.name);
    }
}

#[test]
fn programs_get_all_of_it() {
    let (code, json, _) = stormsim(&["--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["schema_version"]), (0, &Value::from(1)));
    let all = json["presets"].as_array().unwrap();
    assert_eq!(all.len(), PRESETS.len());
    let named = |name: &str| all.iter().find(|preset| preset["name"] == name).unwrap();
    let aws = named("aws-standard-2.1");
    assert_eq!((&aws["attempts"], &aws["read"]), (&Value::from(3), &Value::from("code")));
    let wait = serde_json::json!({ "retry": 2, "least_ms": 0.0, "most_ms": 100.0, "mean_ms": 50.0 });
    assert_eq!(aws["waits"][1], wait);
    assert_eq!(aws["waits_throttled"][0]["most_ms"], 1000.0);
    assert_eq!(aws["policy"]["budget"]["aws_quota"]["mode"], "standard-2.1");
    assert!(aws["call"].is_null() && named("envoy").get("waits_throttled").is_none());
    assert_eq!(named("envoy")["call"]["total_timeout"], "15s");
    assert!(named("tenacity")["attempts"].is_null());
    assert_eq!(named("p-retry")["waits"].as_array().unwrap().len(), 10);
    let (_, one, _) = stormsim(&["envoy", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&one).unwrap()["presets"], Value::from(vec![named("envoy").clone()]));
}

#[test]
fn a_name_that_is_none_is_an_error() {
    let (code, out, error) = stormsim(&["envoi"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        error,
        "error: there is no preset `envoi`; did you mean `envoy`?\nhelp: `stormsim presets` lists the presets\n"
    );
}
