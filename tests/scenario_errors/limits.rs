//! Files beyond every measure: they are refused soon, with few words, and without being read to their end.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

const GOOD: &str =
    "version = 1\nname = \"shop\"\n[clients.web]\narrivals = { burst = {} }\ncalls.db = {}\n[services.db]\n";

fn errors(text: &str) -> stormsim::scenario::Diagnostics {
    Scenario::parse("shop.toml", text, Path::new(""), &Overrides::default()).unwrap_err()
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// The first errors are those of the first lines; all of them are still there for programs.
#[test]
fn the_first_hundred_errors_are_shown_and_the_others_counted() {
    let keys = |count| errors(&format!("{GOOD}{}", lines(count, |n| format!("key{n} = 1\n"))));
    let shown = |count| keys(count).to_string();
    let endings = [99, 100, 101, 40_000].map(|count| {
        let text = shown(count);
        assert_eq!(text.matches("error: ").count(), count.min(100));
        let (_, ending) = text.rsplit_once(" not a key of a service\n").unwrap();
        ending.trim_start().to_owned()
    });
    assert_snapshot!(endings.join("\n---\n"));
    assert_eq!(keys(40_000).iter().len(), 40_000);
}

/// A word as long as the file is not compared with every name letter by letter: that would take gigabytes.
#[test]
fn a_name_of_a_megabyte_is_just_unknown() {
    let errors = errors(&format!("{GOOD}{} = 1\n", "k".repeat(1 << 20)));
    assert_eq!(errors.iter().len(), 1);
    assert!(errors.iter().next().unwrap().message().starts_with("unknown key `services.db.kkk"));
}

/// Reading an endless file to its end would take all memory.
#[test]
#[cfg(unix)]
fn endless_files_and_endless_values_are_not_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |errors: stormsim::scenario::Diagnostics| {
        errors.to_string().replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
    };
    let scenario = shown(Scenario::load(Path::new("/dev/zero"), &Overrides::default()).unwrap_err());
    let parse =
        |text: &str| shown(Scenario::parse("shop.toml", text, folder.path(), &Overrides::default()).unwrap_err());
    let samples = parse(&format!("{GOOD}service_time = {{ samples = {{ file = \"/dev/zero\" }} }}\n"));
    std::fs::write(folder.path().join("long.csv"), format!("value_s\n{}\n", "1".repeat(400))).unwrap();
    let long = parse(&format!("{GOOD}service_time = {{ samples = {{ file = \"long.csv\" }} }}\n"));
    assert_snapshot!([scenario, samples, long].join("\n\n"));
}

/// The largest file that is allowed is read: the limit refuses one byte more, and not one less.
#[test]
fn a_scenario_may_have_sixteen_mebibytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.toml");
    let load = |len: usize| {
        let comment = "#".repeat(len - GOOD.len());
        std::fs::write(&path, format!("{GOOD}{comment}")).unwrap();
        Scenario::load(&path, &Overrides::default())
    };
    assert!(load(16 << 20).is_ok());
    assert!(load((16 << 20) + 1).is_err());
}

/// Each within its own limit, and all together more than memory holds: one more than that is refused, and what is just
/// allowed is not. (Nothing is simulated.)
#[test]
fn servers_and_pools_are_counted_all_together() {
    let services = |count| lines(count, |n| format!("[services.s{n}]\ninstances = 10000\n"));
    let pools = |count| format!("clients.web.count = {count}\nclients.web.calls.db.pool = {{ size = 1 }}\n");
    let text = |pools: &str, services: &str| {
        format!(
            "version = 1\nname = \"shop\"\n{pools}clients.web.calls.db.to = \"db\"\n\
                 clients.web.arrivals = {{ burst = {{}} }}\n[services.db]\n{services}"
        )
    };
    let many = text(&pools((1 << 24) + 1), &services(100));
    assert_snapshot!(errors(&many));
    let parse = |text: &str| Scenario::parse("shop.toml", text, Path::new(""), &Overrides::default());
    // `db` has one server, so that 99 times 10,000 is the most that 10,000 each leave room for.
    assert!(parse(&text(&pools(1 << 24), &services(99))).is_ok());
}
