//! What breakers, throttles and hedges of calls, and the ejection of servers, become.

use stormsim::failure::{ErrorKind, ErrorSet};
use stormsim::plan::{Capacity, Guard, Hedge, Plan};
use stormsim::policy::{
    Backoff, Badness, Breaker, CapOrder, Counts, Ejection, Jitter, Over, Position, Schedule, Throttle, ThrottleRule,
    Trip,
};
use stormsim::scenario::Overrides;
use stormsim::time::Span;

use crate::{SMALL, only_plan, parse, set};

fn with(settings: &[&str]) -> Plan {
    only_plan(&parse(SMALL, &set(settings))).clone()
}

/// The breaker with these keys beside `open_for = "5s"`.
fn breaker(keys: &str) -> Guard<Breaker> {
    let plan = with(&[&format!("clients.web.calls.db.breaker={{ open_for = \"5s\", {keys} }}")]);
    *plan.calls[0].breaker.clone().expect("it has one")
}

fn trip(trip: &str) -> Trip {
    breaker(&format!("trip = {trip}")).rule.trip
}

/// It opens for 5 s, which may grow.
fn opens(factor: f64, cap: Span, jitter: Jitter) -> Schedule {
    Schedule::new(Backoff::Exponential { base: Span::from_s(5), factor }, cap, CapOrder::BeforeJitter, jitter)
}

#[test]
fn every_trip_is_what_it_says() {
    assert_eq!(trip("{ consecutive = 5 }"), Trip::Consecutive(5));
    let second = Span::from_s(1);
    let count = |sliding| Trip::Count { failures: 6, window: second, sliding };
    assert_eq!(trip("{ count = { failures = 6, window = \"1s\" } }"), count(true));
    assert_eq!(trip("{ count = { failures = 6, window = \"1s\", sliding = true } }"), count(true));
    assert_eq!(trip("{ count = { failures = 6, window = \"1s\", sliding = false } }"), count(false));
    let ratio = |of, share, over, min_calls| Trip::Ratio { of, share, over, min_calls };
    let of_failures = |share, over, min_calls| ratio(Badness::Failure, share, over, min_calls);
    assert_eq!(
        trip("{ ratio = { failures = 0.5, window = \"10s\", min_calls = 20 } }"),
        of_failures(500_000, Over::Time(Span::from_s(10)), 20)
    );
    assert_eq!(
        trip("{ ratio = { failures = 1, calls = 100, min_calls = 7 } }"),
        of_failures(1_000_000, Over::Calls(100), 7)
    );
    let slow = Badness::SlowerThan(Span::from_s(2));
    assert_eq!(
        trip("{ slow = { over = \"2s\", ratio = 0.25, window = \"1m\", min_calls = 1 } }"),
        ratio(slow, 250_000, Over::Time(Span::from_s(60)), 1)
    );
    assert_eq!(
        trip("{ slow = { over = \"2s\", ratio = 0.25, calls = 10, min_calls = 10 } }"),
        ratio(slow, 250_000, Over::Calls(10), 10)
    );
}

/// As in Resilience4j, where a minimum of 100 with a window of 10 calls is one of 10: it could never be reached. A window
/// of time may hold any number.
#[test]
fn a_minimum_beyond_the_calls_looked_at_is_all_of_them() {
    let least = |over: &str| match trip(&format!("{{ ratio = {{ failures = 0.5, {over}, min_calls = 100 }} }}")) {
        Trip::Ratio { min_calls, .. } => min_calls,
        other => panic!("{other:?}"),
    };
    assert_eq!(least("calls = 10"), 10);
    assert_eq!(least("window = \"10s\""), 100);
}

/// Shares are compared in millionths: 0.07 of 100 are 7, and not 7.000000000000001. A smaller one is no zero, at which
/// a breaker would open without a failure.
#[test]
fn a_share_is_exact() {
    let share = |share: &str| match trip(&format!("{{ ratio = {{ failures = {share}, calls = 9, min_calls = 9 }} }}")) {
        Trip::Ratio { share, .. } => share,
        other => panic!("{other:?}"),
    };
    assert_eq!(["0.07", "0.29", "0.000001", "0.0000004"].map(share), [70_000, 290_000, 1, 1]);
}

#[test]
fn every_key_of_a_breaker_has_its_effect() {
    let least = Guard {
        rule: Breaker {
            trip: Trip::Consecutive(5),
            failure_on: ErrorSet::FAILURES,
            open: opens(1.0, Span::UNLIMITED, Jitter::None),
            half_open: 1,
            counts: Counts::Attempts,
            position: Position::Inside,
        },
        by_instance: true,
    };
    let breaker = |keys: &str| breaker(&format!("trip = {{ consecutive = 5 }}{keys}"));
    assert_eq!(breaker(""), least);
    let but = |change: fn(&mut Guard<Breaker>)| {
        let mut other = least.clone();
        change(&mut other);
        other
    };
    assert_eq!(breaker(", shared_by = \"instance\""), least);
    assert_eq!(breaker(", shared_by = \"group\""), but(|it| it.by_instance = false));
    assert_eq!(breaker(", half_open = 10"), but(|it| it.rule.half_open = 10));
    assert_eq!(breaker(", half_open = \"unlimited\""), but(|it| it.rule.half_open = Breaker::NO_LIMIT));
    assert_eq!(
        breaker(", failure_on = [\"timeout\"]"),
        but(|it| it.rule.failure_on = [ErrorKind::Timeout].into_iter().collect())
    );
    assert_eq!(breaker(", counts = \"calls\""), but(|it| it.rule.counts = Counts::Calls));
    // What stands outside sees calls, unless it is said otherwise.
    assert_eq!(
        breaker(", position = \"outside\""),
        but(|it| (it.rule.position, it.rule.counts) = (Position::Outside, Counts::Calls))
    );
    assert_eq!(
        breaker(", position = \"outside\", counts = \"attempts\""),
        but(|it| it.rule.position = Position::Outside)
    );
    let minute = Span::from_s(60);
    assert_eq!(breaker(", open_factor = 2").rule.open, opens(2.0, Span::UNLIMITED, Jitter::None));
    assert_eq!(breaker(", open_factor = 2, open_cap = \"1m\"").rule.open, opens(2.0, minute, Jitter::None));
    assert_eq!(breaker(", open_cap = \"none\", open_jitter = \"none\""), least);
    assert_eq!(breaker(", open_jitter = { spread = 0.5 }").rule.open, opens(1.0, Span::UNLIMITED, Jitter::Spread(0.5)));
}

fn throttle(choice: &str) -> Guard<Throttle> {
    let plan = with(&[&format!("clients.web.calls.db.throttle={choice}")]);
    *plan.calls[0].throttle.clone().expect("it has one")
}

#[test]
fn a_throttle_has_the_defaults_of_its_source() {
    let guard = |rule, window_s, failure_on, by_instance| Guard {
        rule: Throttle { rule, failure_on, window: Span::from_s(window_s) },
        by_instance,
    };
    let adaptive = |k| ThrottleRule::Adaptive { k };
    // The SRE book: twice as many as are accepted, of two minutes.
    assert_eq!(throttle("{ adaptive = {} }"), guard(adaptive(2.0), 120, ErrorSet::FAILURES, true));
    let overloaded: ErrorSet = [ErrorKind::Overloaded].into_iter().collect();
    assert_eq!(
        throttle("{ adaptive = { k = 1.1, window = \"30s\", failure_on = [\"overloaded\"], shared_by = \"group\" } }"),
        guard(adaptive(1.1), 30, overloaded, false)
    );
    // Envoy's proto: 95 %, 1.0, 80 %, 30 s.
    let admission = |success, aggression, max| ThrottleRule::Admission { success, aggression, max };
    assert_eq!(throttle("{ admission = {} }"), guard(admission(0.95, 1.0, 0.8), 30, ErrorSet::FAILURES, true));
    assert_eq!(
        throttle(
            "{ admission = { success = 0.9, aggression = 2, max = 1, window = \"2m\", failure_on = [\"overloaded\"], \
             shared_by = \"group\" } }"
        ),
        guard(admission(0.9, 2.0, 1.0), 120, overloaded, false)
    );
}

#[test]
fn every_key_of_a_hedge_has_its_effect() {
    let hedge = |keys: &str| {
        let plan = with(&[&format!("clients.web.calls.db.hedge={{ after = \"100ms\"{keys} }}")]);
        let Hedge { after, copies, in_flight, by_instance, cancel_losers } = plan.calls[0].hedge.expect("it has one");
        Hedge { after: after.after, copies, in_flight, by_instance, cancel_losers }
    };
    let least = Hedge {
        after: Span::from_ms(100),
        copies: 1,
        in_flight: Capacity::NO_LIMIT,
        by_instance: true,
        cancel_losers: true,
    };
    assert_eq!(hedge(""), least);
    assert_eq!(hedge(", in_flight = \"unlimited\", cancel_losers = true, shared_by = \"instance\""), least);
    assert_eq!(hedge(", copies = 3"), Hedge { copies: 3, ..least });
    assert_eq!(hedge(", in_flight = 8"), Hedge { in_flight: 8, ..least });
    assert_eq!(hedge(", cancel_losers = false"), Hedge { cancel_losers: false, ..least });
    assert_eq!(hedge(", shared_by = \"group\""), Hedge { by_instance: false, ..least });
}

/// The ejection of a service with so many servers.
fn ejection(instances: u32, keys: &str) -> Ejection {
    let plan = with(&[&format!("services.db.instances={instances}"), &format!("services.db.ejection={{ {keys} }}")]);
    plan.services[0].capacity.ejection.expect("it has one")
}

#[test]
fn an_ejection_has_the_defaults_of_envoy() {
    let thirty_s = Span::from_s(30);
    let envoy =
        Ejection { consecutive: 5, ejected_for: thirty_s, longest: thirty_s, most: 1, failure_on: ErrorSet::FAILURES };
    assert_eq!(ejection(10, ""), envoy);
    assert_eq!(ejection(10, "consecutive = 3"), Ejection { consecutive: 3, ..envoy });
    // It does not grow, unless it is said up to what.
    let minute = Span::from_s(60);
    assert_eq!(ejection(10, "ejected_for = \"1m\""), Ejection { ejected_for: minute, longest: minute, ..envoy });
    assert_eq!(ejection(10, "max_ejected_for = \"1m\""), Ejection { longest: minute, ..envoy });
    assert_eq!(ejection(10, "max_ejected_for = \"30s\""), envoy);
    let timeouts = [ErrorKind::Timeout].into_iter().collect();
    assert_eq!(ejection(10, "failure_on = [\"timeout\"]"), Ejection { failure_on: timeouts, ..envoy });
    // The whole number below the share: of five servers 10 % are none.
    let most = |(instances, keys)| ejection(instances, keys).most;
    assert_eq!(
        [(5, ""), (9, ""), (10, ""), (19, ""), (5, "max_share = 0.2"), (5, "max_share = 1"), (5, "max_share = 0")]
            .map(most),
        [0, 0, 1, 1, 1, 5, 0]
    );
}

#[test]
fn without_a_word_there_is_nothing_of_all_this() {
    for settings in [
        &[][..],
        &[
            "clients.web.calls.db.breaker=none",
            "clients.web.calls.db.throttle=none",
            "clients.web.calls.db.hedge=none",
            "services.db.ejection=none",
        ][..],
    ] {
        let plan = with(settings);
        assert!(plan.calls[0].breaker.is_none() && plan.calls[0].throttle.is_none() && plan.calls[0].hedge.is_none());
        assert_eq!(plan.services[0].capacity.ejection, None);
    }
}

/// What a file switches on a variant switches off, by the word for nothing, and leaves everything else as it was. Calls of
/// services have all of it, too.
#[test]
fn variants_switch_off_what_the_file_has() {
    let text = SMALL.replace("[services.db]", "[services.db]\ninstances = 5\nejection = { max_share = 0.2 }\n")
        + "[services.db.calls.cache]\n\
           breaker = { trip = { consecutive = 5 }, open_for = \"5s\" }\n\
           throttle = { adaptive = {} }\n\
           hedge = { after = \"100ms\" }\n\
           [services.cache]\n\
           [variants.as-it-is]\n\
           [variants.no-breaker]\n\"services.db.calls.cache.breaker\" = \"none\"\n\
           [variants.no-throttle]\n\"services.db.calls.cache.throttle\" = \"none\"\n\
           [variants.no-hedge]\n\"services.db.calls.cache.hedge\" = \"none\"\n\
           [variants.no-ejection]\n\"services.db.ejection\" = \"none\"\n\
           [variants.another-trip]\n\
           \"services.db.calls.cache.breaker.trip\" = { ratio = { failures = 0.5, calls = 9, min_calls = 9 } }\n\
           [variants.another-throttle]\n\"services.db.calls.cache.throttle\" = { admission = {} }\n";
    let scenario = parse(&text, &Overrides::default());
    let has = scenario.variants().iter().map(|(name, plan)| {
        let call = &plan.calls[1];
        let ejects = plan.services[0].capacity.ejection.is_some();
        (name.as_str(), [call.breaker.is_some(), call.throttle.is_some(), call.hedge.is_some(), ejects])
    });
    let expected = [
        ("as-it-is", [true, true, true, true]),
        ("no-breaker", [false, true, true, true]),
        ("no-throttle", [true, false, true, true]),
        ("no-hedge", [true, true, false, true]),
        ("no-ejection", [true, true, true, false]),
        ("another-trip", [true, true, true, true]),
        ("another-throttle", [true, true, true, true]),
    ];
    assert_eq!(has.collect::<Vec<_>>(), expected);
    let call = |variant: usize| &scenario.variants()[variant].1.calls[1];
    let trip = call(5).breaker.as_ref().expect("it has one").rule.trip;
    assert!(matches!(trip, Trip::Ratio { .. }), "{trip:?} takes the place of the other");
    let rule = call(6).throttle.as_ref().expect("it has one").rule.rule;
    assert!(matches!(rule, ThrottleRule::Admission { .. }), "{rule:?} takes the place of the other");
}
