//! What clients make of their operations, and services of the side effects of theirs.

use stormsim::plan::{Effects, InProgressRule, Keys, Operations, Plan, Store};
use stormsim::scenario::Overrides;
use stormsim::time::Span;

use crate::{SMALL, only_plan, parse, set};

fn with(settings: &[&str]) -> Plan {
    only_plan(&parse(SMALL, &set(settings))).clone()
}

fn operations(settings: &[&str]) -> Operations {
    let [group] = with(settings).groups.try_into().unwrap_or_else(|_| panic!("one group"));
    group.operations
}

fn effects(settings: &[&str]) -> Effects {
    let [service] = with(settings).services.try_into().unwrap_or_else(|_| panic!("one service"));
    service.effects
}

#[test]
fn without_a_word_nobody_sends_keys_or_writes() {
    assert_eq!(operations(&[]), Operations { keys: Keys::None, dead_letters: false });
    assert_eq!(effects(&[]), Effects { writes: false, store: None });
    assert!(!with(&[]).tells_operations());
}

#[test]
fn every_kind_of_keys_and_both_ways_out() {
    let keys = [
        ("none", Keys::None),
        ("key", Keys::PerOperation),
        ("key_per_attempt", Keys::PerAttempt),
        ("key_reused", Keys::Reused),
    ];
    for (name, keys) in keys {
        let setting = format!("clients.web.idempotency={name}");
        assert_eq!(operations(&[&setting]), Operations { keys, dead_letters: false }, "{name}");
    }
    for (name, dead_letters) in [("fail", false), ("dead_letter", true)] {
        let setting = format!("clients.web.on_exhausted={name}");
        assert_eq!(operations(&[&setting]), Operations { keys: Keys::None, dead_letters }, "{name}");
    }
}

#[test]
fn a_service_writes_or_remembers_or_both() {
    assert_eq!(effects(&["services.db.writes=true"]), Effects { writes: true, store: None });
    let store = |settings: &str| effects(&[&format!("services.db.idempotency_store={settings}")]);
    let a_day = Store { ttl: Span::from_s(24 * 3600), in_progress: InProgressRule::Wait };
    assert_eq!(store("{ ttl = \"24h\" }"), Effects { writes: false, store: Some(a_day) });
    assert_eq!(store("{ ttl = \"1d\", in_progress = \"wait\" }"), Effects { writes: false, store: Some(a_day) });
    let short = Store { ttl: Span::from_ms(1), in_progress: InProgressRule::Refuse };
    assert_eq!(store("{ ttl = \"1ms\", in_progress = \"refuse\" }"), Effects { writes: false, store: Some(short) });
    let both = effects(&["services.db.writes=true", "services.db.idempotency_store.ttl=24h"]);
    assert_eq!(both, Effects { writes: true, store: Some(a_day) });
}

/// Nobody who sends a key reaches it, which is odd and no mistake of the file: a variant may change either side.
#[test]
fn a_store_that_no_key_reaches_is_no_error() {
    for keys in ["none", "key_per_attempt"] {
        let plan =
            with(&[&format!("clients.web.idempotency={keys}"), "services.db.idempotency_store={ ttl = \"24h\" }"]);
        assert!(plan.services[0].effects.store.is_some(), "{keys}");
    }
}

/// What a file switches on a variant switches off, by the word for nothing, and leaves everything else as it was.
#[test]
fn variants_switch_off_what_the_file_has() {
    let text = SMALL.replace(
        "[services.db]",
        "idempotency = \"key\"\non_exhausted = \"dead_letter\"\n[services.db]\nwrites = true\n\
         idempotency_store = { ttl = \"24h\", in_progress = \"refuse\" }",
    );
    // Keys of the client group come before the tables in it.
    let text = text.replace("calls.db = { retry = \"r\" }\n", "") + "[clients.web.calls.db]\nretry = \"r\"\n";
    let text = text
        + "[variants.as-it-is]\n\
           [variants.no-keys]\n\"clients.web.idempotency\" = \"none\"\n\
           [variants.no-store]\n\"services.db.idempotency_store\" = \"none\"\n\
           [variants.no-dead-letters]\n\"clients.web.on_exhausted\" = \"fail\"\n\
           [variants.reads]\n\"services.db.writes\" = false\n\
           [variants.patient]\n\"services.db.idempotency_store.in_progress\" = \"wait\"\n";
    let scenario = parse(&text, &Overrides::default());
    let all = Operations { keys: Keys::PerOperation, dead_letters: true };
    let store = Store { ttl: Span::from_s(24 * 3600), in_progress: InProgressRule::Refuse };
    let writes = Effects { writes: true, store: Some(store) };
    let expected = [
        ("as-it-is", all, writes),
        ("no-keys", Operations { keys: Keys::None, ..all }, writes),
        ("no-store", all, Effects { store: None, ..writes }),
        ("no-dead-letters", Operations { dead_letters: false, ..all }, writes),
        ("reads", all, Effects { writes: false, ..writes }),
        ("patient", all, Effects { store: Some(Store { in_progress: InProgressRule::Wait, ..store }), ..writes }),
    ];
    let became = scenario
        .variants()
        .iter()
        .map(|(name, plan)| (name.as_str(), plan.groups[0].operations, plan.services[0].effects));
    assert_eq!(became.collect::<Vec<_>>(), expected);
}
