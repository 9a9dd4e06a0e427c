//! Faults, recoveries and answers to Retry-After that cannot be: each mistake has its own message, its place, and the
//! way out.

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

/// Every effect on every kind of target: what does not fit says so, and says where it does.
#[test]
fn effects_fit_some_kinds_of_targets_and_no_others() {
    let effects = [
        ("\"refuse\"", [true, false, false]),
        ("{ fail = {} }", [true, true, false]),
        ("\"blackhole\"", [true, true, false]),
        ("\"pause\"", [true, false, false]),
        ("\"crash\"", [true, false, false]),
        ("{ slow = { add = \"1s\" } }", [true, true, false]),
        ("{ capacity = { factor = 0.5 } }", [true, false, false]),
        ("{ loss = {} }", [false, true, false]),
        ("{ load = { factor = 2 } }", [false, false, true]),
    ];
    let shop = SHOP
        .replace("{ burst = {} }", "{ poisson = { rate = 5 } }")
        .replace("name =", "horizon = \"60s\"\nname =")
        .replace("instances = 3", "instances = 3\nworkers = 2");
    let mut refusals = Vec::new();
    for (effect, fits) in effects {
        for (target, fits) in ["front", "front->db", "web"].into_iter().zip(fits) {
            let text = format!("{shop}[faults.f]\non = [\"{target}\"]\neffect = {effect}\n");
            match Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()) {
                Ok(_) => assert!(fits, "{effect} on {target}"),
                Err(errors) => {
                    assert!(!fits, "{effect} on {target}:\n{errors}");
                    refusals.extend(errors.iter().map(|error| error.message().to_owned()));
                }
            }
        }
    }
    assert_snapshot!(refusals.join("\n"));
}

#[test]
fn times_that_contradict_themselves() {
    assert_snapshot!(errors_of_each(&[
        "[faults.f]\non = [\"db\"]\nlasts = \"1s\"\nevery = \"9s\"\nrandom = { up = \"1s\", down = \"1s\" }\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nlasts = \"1s\"\nuntil = \"9s\"\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nrandom = { up = \"0s\", down = { exponential = {} } }\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nlasts = \"0s\"\nevery = \"9s\"\neffect = \"refuse\"",
        "[faults.f]\non = [\"db\"]\nlasts = \"5\"\nevery = \"53d\"\neffect = \"pause\"",
    ]));
}

/// Pauses of which one is random, and of which both come again and again, with periods that drift apart.
#[test]
fn pauses_that_may_overlap_sooner_or_later() {
    let pause = |name: &str, times: &str| format!("[faults.{name}]\non = [\"db\"]\n{times}\neffect = \"pause\"\n");
    let random = pause("a", "from = \"5s\"\nuntil = \"50s\"\nrandom = { up = \"1m\", down = \"1s\" }");
    assert_snapshot!(errors_of_each(&[
        &(random + &pause("b", "from = \"49s\"\nlasts = \"9s\"")),
        &(pause("a", "lasts = \"1s\"\nevery = \"1m\"")
            + &pause("b", "from = \"30s\"\nlasts = \"1s\"\nevery = \"59s\"")),
    ]));
}

#[test]
fn settings_of_effects_that_do_not_exist() {
    let of_effects = [
        "{ fail = { probabilty = 1, errors = \"reset\", latency = \"1s\" } }",
        "{ fail = { error = \"unavalable\", work = \"yes\", retry_after = 60, delay = 1 } }",
        "{ slow = { factr = 2 } }",
        "{ slow = { factor = 10, add = 5 } }",
        "\"slow\"",
        "{ capacity = 0.5 }",
        "{ loss = { direction = \"reply\", probability = -0.1 } }",
        "{ load = { factor = -1 } }",
        "{ load = {} }",
        "{ refuse = {} }",
        "{ fail = {}, slow = {} }",
        "\"explode\"",
        "5",
    ];
    let faults = of_effects.map(|effect| format!("[faults.f]\non = [\"db\"]\neffect = {effect}"));
    assert_snapshot!(errors_of_each(&faults.each_ref().map(String::as_str)));
}

/// Without a horizon a run ends when no work is left: there must not be any for ever.
#[test]
fn silence_in_which_somebody_waits_for_ever() {
    let shop = SHOP.replace("[services.db]\n", "[services.db]\nworkers = 4\n");
    let errors = [
        "on = [\"front\", \"db\"]\nlasts = \"1s\"\neffect = \"blackhole\"",
        "on = [\"front->db\"]\neffect = { loss = { direction = \"response\" } }",
        // The timeout of `web->front` does not end the work.
        "on = [\"front\"]\neffect = \"pause\"",
        // One of four workers is left, and of this one none.
        "on = [\"db\"]\neffect = { capacity = { factor = 0.3 } }\n\
         [faults.g]\non = [\"front\", \"db\"]\nfrom = \"9s\"\neffect = { capacity = { factor = 0.3 } }",
    ];
    let shop = shop.replace("instances = 3", "instances = 3\nworkers = 9");
    let refused = |fault: &str, shop: &str| {
        let text = format!("{shop}[faults.f]\n{fault}");
        Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).unwrap_err().to_string()
    };
    let mut errors = errors.map(|fault| refused(fault, &shop)).to_vec();
    // Work that ends with its callers has callers that wait for ever.
    let cancelling = shop.replace("workers = 4", "cancel = \"running\"");
    errors.push(refused("on = [\"db\"]\neffect = \"pause\"", &cancelling));
    assert_snapshot!(errors.join("\n---\n"));
    // A connection may fail, and an answer that is on its way may not.
    let text = format!("{shop}[faults.f]\non = [\"front->db\"]\neffect = {{ loss = {{}} }}");
    let text = text.replace("calls.db = {}", "calls.db = { connect_timeout = \"1s\" }");
    assert!(Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).is_err());
}

#[test]
fn answers_to_retry_after_that_are_none() {
    assert_snapshot!(errors_of_each(&[
        "[retries.r]\nmax_retries = 1\nretry_after = \"replace\"",
        "[retries.r]\nmax_retries = 1\nretry_after = { rule = \"add\", beyond = \"stopp\", jiter = \"none\" }",
        "[retries.r]\nmax_retries = 1\nretry_after = { jitter = \"full\", at_most = 5 }",
    ]));
}

#[test]
fn recoveries_that_are_none() {
    let errors = [
        "{ hold = \"0s\", share = 1.5 }",
        "{ hold = \"1500ms\" }",
        "{ hold = 10, shares = 0.9 }",
        "\"10s\"",
        "{ hold = \"61s\" }\nhorizon = \"60s\"",
    ];
    let errors = errors.map(|recovery| {
        let text = format!("recovery = {recovery}\n{SHOP}");
        Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).unwrap_err().to_string()
    });
    assert_snapshot!(errors.join("\n---\n"));
}

/// What comes after a fault can be told only if the run goes on for long enough, and without another window.
#[test]
fn recoveries_that_no_run_can_tell() {
    let row = |times: &str, metric: &str| {
        format!(
            "[faults.f]\non = [\"db\"]\n{times}\neffect = \"refuse\"\n\
             [[expect]]\nfault = \"f\"\nmetric = \"{metric}\"\nat_most = 1\n"
        )
    };
    let parse = |shop: &str, row: &str| {
        Scenario::parse("shop.toml", &format!("{shop}{row}"), Path::new(""), &Overrides::default())
    };
    let minute = SHOP.replace("name =", "horizon = \"60s\"\nname =");
    let errors = [
        (&*minute, row("from = \"40s\"\nlasts = \"10.5s\"", "recovery_s")),
        (&minute, row("from = \"40s\"", "recovered")),
        (SHOP, row("from = \"40s\"", "recovered_at_s")),
        (&minute, row("from = \"60s\"\nlasts = \"1s\"", "recovered")),
        (&minute, row("lasts = \"4s\"\nevery = \"18s\"", "recovered")),
        (&minute, row("lasts = \"4s\"\nevery = \"13s\"", "recovered")),
    ];
    let errors = errors.map(|(shop, row)| parse(shop, &row).unwrap_err().to_string());
    // Only in some variants, of which the row is about one or all.
    let variants =
        "[variants.long]\n[variants.short]\nhorizon = \"59s\"\n[variants.patient]\n\"recovery.hold\" = \"30s\"\n";
    let fits = row("from = \"40s\"\nlasts = \"10s\"", "recovered");
    let of_all = parse(&minute, &format!("{variants}{fits}")).unwrap_err();
    assert_snapshot!(format!("{}\n---\n{of_all}", errors.join("\n---\n")));
    // Exactly as long as it takes; the last bad second is one of the run, whatever comes after it; and these go on.
    let good = [
        (&*minute, fits.clone()),
        (&minute, format!("{variants}{fits}variant = \"long\"\n")),
        (&minute, row("from = \"40s\"", "last_bad_s")),
        (SHOP, row("from = \"40s\"\nlasts = \"10s\"", "recovered")),
        (&minute, row("random = { up = \"20s\", down = \"20s\" }", "recovered")),
    ];
    for (shop, row) in good {
        if let Err(errors) = parse(shop, &row) {
            panic!("{errors}");
        }
    }
}

/// The mistake of a variant is shown on its line, that of a flag in the flag.
#[test]
fn mistakes_of_variants_and_flags_are_shown_where_they_are() {
    let text = format!(
        "{SHOP}[faults.f]\non = [\"front\"]\nlasts = \"5s\"\neffect = \"refuse\"\n\
         [variants.good]\n\"faults.f.effect\" = \"crash\"\n\
         [variants.bad]\n\"faults.f.first_instances\" = 5\n\"faults.f.every\" = \"1s\"\n\"faults.f.effect\" = {{ slow = {{}} }}\n"
    );
    let of_variant = Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).unwrap_err();
    let set = ["faults.f.on=[\"fronts\"]", "faults.f.effect.fail.epoch=0s", "recovery.hold=90ms", "faults.g.lasts=1s"];
    let flags = Overrides { set: set.map(str::to_owned).to_vec(), ..Overrides::default() };
    let (good, _) = text.split_once("[variants.good]").unwrap();
    let of_flags = Scenario::parse("shop.toml", good, Path::new(""), &flags).unwrap_err();
    assert_snapshot!(format!("{of_variant}\n---\n{of_flags}"));
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

/// 3 workers are left 0.16 of: 0.48 is none, and 0.5 would be one.
#[test]
fn capacities_of_which_nothing_is_or_can_be_left() {
    let shop = SHOP.replace("instances = 3", "instances = 3\nworkers = 3");
    let parse = |factor: &str, target: &str| {
        let text = format!("{shop}[faults.f]\non = [{target}]\neffect = {{ capacity = {{ factor = {factor} }} }}");
        Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default())
    };
    assert!(parse("0.17", "\"front\"").is_ok());
    let errors = [("0.5", "\"front\", \"db\""), ("0.16", "\"front\""), ("0", "\"front\"")];
    assert_snapshot!(errors.map(|(factor, target)| parse(factor, target).unwrap_err().to_string()).join("\n---\n"));
}

/// Ten million windows of 2 ms each are 20,000 s. Without a horizon, requests that begin until then make the run as long.
#[test]
fn faults_that_come_too_often() {
    let parse = |length: &str, times: &str| {
        let shop = SHOP.replace("[clients.web]", &format!("{length}\n[clients.web]"));
        let text = format!("{shop}[faults.f]\non = [\"db\"]\n{times}\neffect = \"refuse\"");
        Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default())
    };
    let repeated = "from = \"1s\"\nlasts = \"1ms\"\nevery = \"2ms\"";
    let random = "random = { up = { exponential = { mean = \"2ns\" } }, down = \"1ns\" }";
    assert!(parse("horizon = \"20001s\"", repeated).is_ok());
    assert!(parse("", repeated).is_ok(), "nobody knows how long the run is");
    assert!(parse("", "lasts = \"1us\"\nevery = \"1ms\"").is_ok());
    let often = "lasts = \"1us\"\nevery = \"999us\"";
    assert!(parse("horizon = \"1m\"", &format!("until = \"30ms\"\n{random}")).is_ok());
    let until = "[clients.other]\ncalls.db = {}\nuntil = \"20002s\"\narrivals = { constant = { rate = 1 } }";
    let errors = [("horizon = \"20002s\"", repeated), (until, repeated), ("horizon = \"1m\"", random), ("", often)];
    assert_snapshot!(errors.map(|(length, times)| parse(length, times).unwrap_err().to_string()).join("\n---\n"));
}
