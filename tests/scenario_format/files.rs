//! Scenarios as files, and the files that they name.

use std::path::Path;

use stormsim::dist::Dist;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::time::Span;

use crate::{SMALL, only_plan};

/// SHA-256 of "" is e3b0c442...; the hash of a scenario is of its bytes as they are.
#[test]
fn the_hash_is_that_of_the_file() {
    use sha2::{Digest, Sha256};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toml");
    std::fs::write(&path, SMALL).unwrap();
    let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
    let expected: String = Sha256::digest(SMALL).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(scenario.sha256, expected);
}

#[test]
fn samples_are_read_from_beside_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latencies.csv"), "when,value_s\n1, 0.25\n2,1e-9\n").unwrap();
    let text =
        SMALL.replace("[services.db]", "[services.db]\nservice_time = { samples = { file = \"latencies.csv\" } }");
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    let scenario = Scenario::load(&folder.path().join("small.toml"), &Overrides::default()).unwrap();
    assert_eq!(
        only_plan(&scenario).services[0].service_time,
        Dist::Samples(vec![Span::from_ms(250), Span::from_ns(1)])
    );
}

/// The scenarios that come with the simulator are the first that anybody copies.
#[test]
fn every_scenario_of_the_repository_is_good() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for folder in ["scenarios", "tests/figures"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                Scenario::load(&path, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
                count += 1;
            }
        }
    }
    assert!(count >= 2, "both example scenarios are there");
}
