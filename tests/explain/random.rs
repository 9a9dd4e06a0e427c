//! What is said of calls with random settings, against runs of them.

use std::path::Path;

use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, contextualize_config};
use stormsim::analysis::Course;
use stormsim::scenario::{Overrides, Scenario};

use crate::Both;

/// Clients that each make the call once.
const CLIENTS: u32 = 40;

/// The same cases every time. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` lead to others.
fn config() -> Config {
    let config = Config { cases: 1_500, rng_seed: RngSeed::Fixed(11), failure_persistence: None, ..Config::default() };
    contextualize_config(config)
}

/// How all attempts fail, and which course tells how that goes.
#[derive(Clone, Debug)]
enum Fails {
    Refused,
    Late { delay_ms: u32, retry_after_ms: Option<u32> },
    Silently,
    Unreachable,
}

/// A call, its policy and its fault.
#[derive(Clone, Debug)]
struct Case {
    call: String,
    policy: String,
    /// An error that it retries, if it retries any.
    error: &'static str,
    fails: Fails,
    /// Whether all clients fare alike, so that what is said is not only a bound.
    is_exact: bool,
}

/// Times on a grid, so that some are the same.
fn ms(least: u32, most: u32) -> impl Strategy<Value = u32> {
    (least / 5..most / 5).prop_map(|steps| steps * 5)
}

/// A call: its text, and whether hedges may be left out, or what finds nobody depends on a tie.
fn call() -> impl Strategy<Value = (String, bool)> {
    let hedge = option::of((ms(5, 60), 1..4_u32, option::of(1..3_u32)));
    let limits = (option::of(ms(5, 120)), option::of(ms(10, 400)), option::of(ms(5, 120)));
    (limits, option::of(ms(0, 30)), hedge, option::weighted(0.2, 1..4_u32)).prop_map(
        |((timeout, total, connect), network, hedge, pool)| {
            let mut text = String::new();
            let limits = [("timeout", timeout), ("total_timeout", total), ("connect_timeout", connect)];
            for (key, value) in limits.into_iter().chain([("network", network)]) {
                text += &value.map_or(String::new(), |ms| format!(", {key} = \"{ms}ms\""));
            }
            let mut varies = false;
            if let Some((after, copies, in_flight)) = hedge {
                let in_flight_text = in_flight.map_or(String::new(), |limit| format!(", in_flight = {limit}"));
                text += &format!(", hedge = {{ after = \"{after}ms\", copies = {copies}{in_flight_text} }}");
                varies = in_flight.is_some() || pool.is_some() || connect == Some(after);
            }
            text += &pool.map_or(String::new(), |size| format!(", pool = {{ size = {size} }}"));
            (text, varies)
        },
    )
}

fn backoff() -> impl Strategy<Value = String> {
    prop_oneof![
        ms(0, 60).prop_map(|wait| format!("fixed = \"{wait}ms\"")),
        ms(5, 40).prop_map(|step| format!("linear = {{ step = \"{step}ms\" }}")),
        (ms(5, 40), prop_oneof![Just(1.0), Just(1.5), Just(3.0)])
            .prop_map(|(base, factor)| format!("exponential = {{ base = \"{base}ms\", factor = {factor:?} }}")),
        (ms(0, 50), ms(0, 50)).prop_map(|(one, other)| format!("explicit = [\"{one}ms\", \"{other}ms\"]")),
    ]
}

/// A policy: its text, an error that it retries, if it retries any, and whether its waits are drawn, or a server's.
fn policy() -> impl Strategy<Value = (String, &'static str, bool)> {
    let jitter = option::of(prop_oneof![
        Just("\"full\""),
        Just("\"equal\""),
        Just("{ spread = 0.4 }"),
        Just("{ add = { uniform = { min = \"0s\", max = \"30ms\" } } }"),
    ]);
    let retry_on = option::weighted(
        0.4,
        prop_oneof![Just("refused"), Just("timeout"), Just("unavailable"), Just("deadline"), Just("")],
    );
    let rule = option::weighted(0.4, prop_oneof![Just("floor"), Just("replace")]);
    let limits = (1..7_u32, option::of(ms(0, 60)), option::of(ms(5, 100)));
    (limits, backoff(), jitter, retry_on, rule).prop_map(|((attempts, room, cap), backoff, jitter, retry_on, rule)| {
        let mut text = format!("max_attempts = {attempts}\nbackoff = {{ {backoff} }}\n");
        text += &room.map_or(String::new(), |room| format!("min_attempt = \"{room}ms\"\n"));
        text += &cap.map_or(String::new(), |cap| format!("cap = \"{cap}ms\"\n"));
        text += &jitter.map_or(String::new(), |jitter| format!("jitter = {jitter}\n"));
        text += &match retry_on {
            None => String::new(),
            Some("") => "retry_on = []\n".to_owned(),
            Some(kind) => format!("retry_on = [\"{kind}\"]\n"),
        };
        text += &rule.map_or(String::new(), |rule| format!("retry_after = {{ rule = \"{rule}\" }}\n"));
        let error = retry_on.filter(|kind| !kind.is_empty()).unwrap_or("unavailable");
        (text, error, jitter.is_some() || rule.is_some())
    })
}

fn fails() -> impl Strategy<Value = Fails> {
    prop_oneof![
        Just(Fails::Refused),
        (ms(0, 100), option::of(ms(0, 100)))
            .prop_map(|(delay_ms, retry_after_ms)| Fails::Late { delay_ms, retry_after_ms }),
        Just(Fails::Silently),
        Just(Fails::Unreachable),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    (call(), policy(), fails()).prop_map(|((call, varies), (policy, error, is_drawn), fails)| Case {
        call,
        policy,
        error,
        fails,
        is_exact: !varies && !is_drawn,
    })
}

impl Case {
    fn both(&self) -> Both {
        let fault = match &self.fails {
            Fails::Refused => "on = [\"server\"]\neffect = \"refuse\"".to_owned(),
            Fails::Late { delay_ms, retry_after_ms } => {
                let retry_after = retry_after_ms.map_or(String::new(), |ms| format!(", retry_after = \"{ms}ms\""));
                let failure = format!("error = \"{}\", delay = \"{delay_ms}ms\"{retry_after}", self.error);
                format!("on = [\"server\"]\neffect = {{ fail = {{ {failure} }} }}")
            }
            Fails::Silently => "on = [\"app->server\"]\neffect = { loss = { probability = 1.0 } }".to_owned(),
            Fails::Unreachable => "on = [\"app->server\"]\neffect = \"blackhole\"".to_owned(),
        };
        let text = format!(
            "version = 1\nname = \"random\"\nreplicas = 1\nhorizon = \"1h\"\n[clients.app]\ncount = {CLIENTS}\n\
             arrivals = {{ burst = {{ at = \"0s\" }} }}\ncalls.server = {{ retry = \"policy\" {} }}\n\
             [services.server]\n[retries.policy]\n{}[faults.down]\n{fault}\n",
            self.call, self.policy
        );
        let scenario = Scenario::parse("random", &text, Path::new(""), &Overrides::default());
        Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")))
    }

    fn course<'a>(&self, both: &'a Both) -> &'a Course {
        let call = both.call("base", "app->server");
        match self.fails {
            Fails::Refused => &call.refused,
            Fails::Late { .. } => &call.failing,
            Fails::Silently => &call.silent,
            // Who does not mind waits as for an answer.
            Fails::Unreachable => call.unreachable.as_ref().unwrap_or(&call.silent),
        }
    }
}

proptest! {
    #![proptest_config(config())]

    /// No request makes fewer or more attempts, or takes longer, than is said; where nothing is drawn, all make as many
    /// and take as long as is said.
    #[test]
    fn runs_are_within_what_is_said(case in case()) {
        let both = case.both();
        let course = case.course(&both);
        let metric = |name: &str| both.run("base").metrics[name].mean;
        let sent = metric("attempts").expect("a count") - metric("hedges").expect("a count");
        let mean = sent / f64::from(CLIENTS);
        let [fewest, most] = [course.fewest, course.most].map(|count| count.expect("it is followed") as f64);
        prop_assert!((fewest..=most).contains(&mean), "{mean} {course:?}");
        let call = both.call("base", "app->server");
        let longest_ms = metric("give_up_max_ms");
        let end_ms = course.given_up.map(|end| end.as_ms());
        if case.is_exact {
            prop_assert_eq!((fewest, longest_ms), (most, end_ms), "{:?}", course);
        }
        // Who never gives up is said to have no end.
        prop_assert!(end_ms.is_none_or(|end| longest_ms.is_some_and(|longest| longest <= end)), "{longest_ms:?}");
        if let (Some(worst_s), Some(longest_ms)) = (call.worst_s, longest_ms) {
            prop_assert!(longest_ms <= worst_s * 1e3 + 1e-6, "{longest_ms} {call:?}");
        }
        let hop = &both.explanation("base").paths[0].hops[0];
        prop_assert!(hop.attempts.is_some_and(|attempts| mean <= f64::from(attempts)), "{mean} {hop:?}");
        let product = both.explanation("base").paths[0].attempts.expect("it is limited");
        prop_assert!(metric("attempts").expect("a count") <= f64::from(CLIENTS) * product as f64);
    }
}
