//! What a value of the wrong form, or a key of another tool, is answered with: the form that is expected, by an example
//! in its place. The snapshots are the specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

use crate::told::unbroken;

const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
arrivals = { burst = {} }
calls.db = { retry = "patient" }

[services.db]

[retries.patient]
max_retries = 2

[faults.outage]
on = ["db"]
until = "10s"
effect = "refuse"
"#;

/// `GOOD` with each of these settings: what is wrong with it, and the way out. Every error must have one.
fn told(settings: &[&str]) -> String {
    let answer = |setting: &&str| {
        let overrides = Overrides { set: vec![(*setting).to_owned()], ..Overrides::default() };
        let errors = match Scenario::parse("shop.toml", GOOD, Path::new(""), &overrides) {
            Ok(_) => panic!("nothing is wrong with {setting}"),
            Err(errors) => unbroken(&errors.to_string()),
        };
        let said: Vec<&str> = errors.lines().filter(|line| line.starts_with("error: ")).collect();
        let ways_out: Vec<&str> = errors.lines().filter_map(|line| line.trim().strip_prefix("= ")).collect();
        let ways_out: Vec<&str> = ways_out.into_iter().filter(|line| line.starts_with("help: ")).collect();
        assert_eq!(said.len(), ways_out.len(), "{errors}");
        let lines = said.iter().zip(ways_out).map(|(error, help)| format!("  {error}\n  {help}"));
        format!("{setting}\n{}", lines.collect::<Vec<_>>().join("\n"))
    };
    settings.iter().map(answer).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_value_in_place_of_a_table_is_put_where_it_was_meant() {
    assert_snapshot!(told(&[
        "services.db.queue=10",
        "services.db.queue='lifo'",
        "services.db.contention=0.02",
        "services.db.limiter={ token_bucket = 100 }",
        "clients.web.calls.db.pool=5",
        "clients.web.arrivals={ poisson = 100 }",
        "services.db.service_time={ exponential = '5ms' }",
        "faults.outage.effect={ slow = 3 }",
        "faults.outage.effect={ slow = '200ms' }",
        "faults.outage.effect={ loss = 0.1 }",
        "faults.outage.random='10s'",
        "recovery='10s'",
        "retries.patient.retry_after='floor'",
    ]));
}

/// Two keys could take the value, and the table need have neither: an example is all that can be said.
#[test]
fn a_value_that_may_be_meant_for_several_keys_is_not_guessed() {
    assert_snapshot!(told(&[
        "recovery=10",
        "services.db.queue=true",
        "clients.web.calls.db=5",
        "faults.outage.effect={ fail = 0.5 }",
        "retries.patient.retry_after='2s'",
    ]));
}

#[test]
fn a_value_of_the_wrong_kind_is_shown_an_example() {
    assert_snapshot!(told(&[
        "services.db.limiter=100",
        "services.db.cancel=true",
        "services.db.contention={ knee = -1, slope = 0.1 }",
        "services.db.holds_worker='yes'",
        "clients.web.calls.db.avoid_previous=1",
        "faults.outage.on='db'",
        "faults.outage.on=5",
        "faults.outage.on=['db', 5]",
        "faults.outage.effect=5",
        "faults.outage.effect={ fail = { correlation = true } }",
        "faults.outage.effect={ fail = { retry_after = '2' } }",
        "retries.patient.jitter=0.2",
        "retries.patient.budget=10",
        "services.db.calls='x'",
    ]));
}

/// A choice that takes settings is shown with those that it must have, or with the first.
#[test]
fn a_choice_without_its_settings_is_shown_with_them() {
    assert_snapshot!(told(&[
        "services.db.limiter='token_bucket'",
        "services.db.queue={ drop = 'codel' }",
        "faults.outage.effect='slow'",
        "faults.outage.effect='fail'",
        "clients.web.arrivals='poisson'",
    ]));
}

/// `"none"` for what is absent, `"unlimited"` for limits: whoever took the other one is told which.
#[test]
fn the_other_word_for_nothing_is_answered_with_the_right_one() {
    assert_snapshot!(told(&[
        "clients.web.calls.db.pool={ size = 1, max_wait = 'unlimited' }",
        "faults.outage.every='unlimited'",
        "retries.patient.cap='off'",
        "services.db.workers='none'",
        "services.db.queue={ limit = 'none' }",
        "faults.outage.first_instances='one'",
    ]));
}

#[test]
fn keys_of_other_tools_and_of_tables_further_in_are_answered_with_ours() {
    assert_snapshot!(told(&[
        "faults.outage.window=5",
        "faults.outage.windows='20 s'",
        "faults.outage.targets='db'",
        "faults.outage.correlation=true",
        "faults.outage.retry_after='2'",
        "faults.outage.effect='down'",
        "clients.web.calls.db.max_retries=3",
        "clients.web.calls.db.nonsense=3",
        "services.db.limit=3",
        "services.db.timeout='1s'",
    ]));
}
