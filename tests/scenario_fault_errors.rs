//! Faults that cannot be: each mistake has its own message, its place, and the way out.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

const SHOP: &str = "version = 1
name = \"shop\"
[clients.web]
arrivals = { burst = {} }
calls.front = { timeout = \"1s\" }
[services.front]
instances = 3
calls.db = {}
[services.db]
";

/// The errors of each fault in turn, with the shop before it.
fn errors_of_each(faults: &[&str]) -> String {
    let errors = faults.iter().map(|fault| {
        let text = format!("{SHOP}{fault}");
        match Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()) {
            Ok(_) => panic!("nothing is wrong with:\n{fault}"),
            Err(errors) => errors.to_string(),
        }
    });
    errors.collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn targets_that_are_not_there_or_do_not_fit() {
    assert_snapshot!(errors_of_each(&[
        "[faults.f]\non = [\"dbb\", \"front->dbb\", \"front\", \"front\"]\neffect = \"refuse\"",
        "[faults.f]\non = [\"front->db\"]\neffect = \"pause\"",
        "[faults.f]\non = [\"web\"]\neffect = \"crash\"",
        "[faults.f]\non = [\"db\"]\neffect = { loss = {} }\n[faults.g]\non = [\"db\"]\neffect = { load = { factor = 2 } }",
        "[faults.f]\non = [\"web\"]\neffect = { load = { factor = 2 } }",
        "[faults.f]\non = [\"front->db\"]\nfirst_instances = 1\neffect = { slow = { factor = 2 } }",
        "[faults.f]\non = [\"front->db\"]\neffect = { fail = { work = true } }",
        "[faults.f]\non = [\"front\"]\nfirst_instances = 5\neffect = \"refuse\"",
        "[faults.f]\non = [\"front\"]\nfirst_instances = 0\neffect = \"refuse\"",
    ]));
}

#[test]
fn times_that_cannot_be() {
    assert_snapshot!(errors_of_each(&[
        "[faults.f]\non = [\"db\"]\nevery = \"10s\"\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nlasts = \"10s\"\nevery = \"10s\"\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nrandom = { up = \"1s\" }\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nrandom = { up = \"1s\", down = \"0s\" }\neffect = \"refuse\"",
    ]));
    let pauses = "[faults.a]\non = [\"front\"]\nlasts = \"5s\"\nevery = \"60s\"\neffect = \"pause\"\n\
                  [faults.b]\non = [\"db\", \"front\"]\nfrom = \"124s\"\nuntil = \"130s\"\neffect = \"pause\"\n";
    let text = SHOP.replace("name =", "horizon = \"300s\"\nname =") + pauses;
    let errors = Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).unwrap_err();
    assert_snapshot!("pauses", errors);
    // One second later the first has ended.
    let text = text.replace("124s", "125s");
    assert!(Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).is_ok());
}

#[test]
fn effects_that_say_too_little_or_too_much() {
    assert_snapshot!(errors_of_each(&[
        "[faults.f]\non = [\"db\"]\neffect = { slow = {} }",
        "[faults.f]\non = [\"db\"]\neffect = { slow = { factor = 2, add = \"1s\" } }",
        "[faults.f]\non = [\"db\"]\neffect = { slow = { factor = 0 } }",
        "[faults.f]\non = [\"db\"]\neffect = { capacity = {} }",
        "[faults.f]\non = [\"db\"]\neffect = { capacity = { factor = 1.5 } }",
        "[faults.f]\non = [\"db\"]\neffect = { fail = { work = true, delay = \"1s\", epoch = \"0s\", correlation = 2 } }",
        "[faults.f]\non = [\"front->db\"]\neffect = \"blackhole\"",
    ]));
}
