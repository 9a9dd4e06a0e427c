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

/// A backoff: its text, and whether it draws by itself.
fn backoff() -> impl Strategy<Value = (String, bool)> {
    let factor = prop_oneof![Just(1.0), Just(1.5), Just(3.0)];
    let throttled = option::weighted(0.3, ms(5, 80));
    let plain = prop_oneof![
        ms(0, 60).prop_map(|wait| format!("fixed = \"{wait}ms\"")),
        ms(5, 40).prop_map(|step| format!("linear = {{ step = \"{step}ms\" }}")),
        (ms(5, 40), factor, throttled).prop_map(|(base, factor, throttled)| {
            let throttled = throttled.map_or(String::new(), |base| format!(", base_throttled = \"{base}ms\""));
            format!("exponential = {{ base = \"{base}ms\", factor = {factor:?}{throttled} }}")
        }),
        (ms(0, 50), ms(0, 50)).prop_map(|(one, other)| format!("explicit = [\"{one}ms\", \"{other}ms\"]")),
    ];
    let drawn = prop_oneof![
        ms(5, 40).prop_map(|base| format!("decorrelated = {{ base = \"{base}ms\" }}")),
        ms(5, 40).prop_map(|base| format!("decorrelated_v2 = {{ base = \"{base}ms\" }}")),
    ];
    prop_oneof![
        4 => plain.prop_map(|text| (text, false)),
        1 => drawn.prop_map(|text| (text, true)),
    ]
}

/// What bounds waits, and what is drawn around them: in whole steps, so that bounds and waits meet.
#[derive(Clone, Debug)]
struct Bounds {
    cap: Option<u32>,
    cap_order: &'static str,
    floor: Option<u32>,
    immediate: u32,
    granularity: Option<u32>,
    jitter: Option<&'static str>,
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let jitter = option::of(prop_oneof![
        Just("\"full\""),
        Just("\"equal\""),
        Just("{ spread = 0.4 }"),
        Just("{ upward = 0.7 }"),
        Just("{ add = { uniform = { min = \"0s\", max = \"30ms\" } } }"),
    ]);
    let order = prop_oneof![Just("before_jitter"), Just("after_jitter"), Just("both"), Just("narrow")];
    let steps =
        (prop_oneof![3 => Just(0_u32), 1 => 1..3_u32], option::weighted(0.25, prop_oneof![Just(1_u32), Just(5)]));
    (option::of(ms(5, 100)), order, option::weighted(0.25, ms(5, 60)), steps, jitter).prop_map(
        |(cap, cap_order, floor, (immediate, granularity), jitter)| Bounds {
            cap,
            cap_order,
            floor: floor.map(|floor| cap.map_or(floor, |cap| floor.min(cap))),
            immediate,
            granularity,
            jitter,
        },
    )
}

impl Bounds {
    /// As keys of a policy, as far as they fit its backoff.
    fn text(&self, draws_itself: bool) -> String {
        let jitter = self.jitter.filter(|_| !draws_itself);
        let is_window = !draws_itself && jitter.is_none_or(|jitter| !jitter.contains("add"));
        let cap_order = if self.cap_order == "narrow" && !is_window { "both" } else { self.cap_order };
        let time = |key: &str, ms: Option<u32>| ms.map_or(String::new(), |ms| format!("{key} = \"{ms}ms\"\n"));
        let mut text = format!("cap_order = \"{cap_order}\"\nimmediate = {}\n", self.immediate);
        text += &time("cap", self.cap);
        text += &time("floor", self.floor.filter(|_| !draws_itself));
        text += &time("granularity", self.granularity);
        text + &jitter.map_or(String::new(), |jitter| format!("jitter = {jitter}\n"))
    }
}

/// What is made of a server's delay.
fn retry_after() -> impl Strategy<Value = String> {
    let rule = prop_oneof![Just("floor"), Just("replace")];
    let beyond = prop_oneof![Just("clamp"), Just("stop"), Just("ignore")];
    let bounds = (option::weighted(0.4, (ms(0, 80), beyond)), option::weighted(0.3, ms(0, 40)));
    (rule, bounds, option::weighted(0.3, Just(0.5)), prop::bool::weighted(0.2)).prop_map(
        |(rule, (at_most, over_own), upward, required)| {
            let at_most = at_most.map_or(String::new(), |(at_most, beyond)| {
                format!(", at_most = \"{at_most}ms\", beyond = \"{beyond}\"")
            });
            let over_own = over_own.map_or(String::new(), |over| format!(", over_own = \"{over}ms\""));
            let upward = upward.map_or(String::new(), |share| format!(", upward = {share:?}"));
            format!("retry_after = {{ rule = \"{rule}\", required = {required}{at_most}{over_own}{upward} }}\n")
        },
    )
}

/// A policy: its text, an error that it retries, if it retries any, and whether its waits are drawn, or a server's.
fn policy() -> impl Strategy<Value = (String, &'static str, bool)> {
    let retry_on = option::weighted(
        0.4,
        prop_oneof![
            Just("refused"),
            Just("timeout"),
            Just("unavailable"),
            Just("rate_limited"),
            Just("deadline"),
            Just("")
        ],
    );
    let limits = (1..7_u32, option::of(ms(0, 60)), option::weighted(0.3, ms(0, 200)));
    (limits, backoff(), bounds(), retry_on, option::weighted(0.4, retry_after())).prop_map(
        |((attempts, room, elapsed), (backoff, draws_itself), bounds, retry_on, retry_after)| {
            let mut text = format!("max_attempts = {attempts}\nbackoff = {{ {backoff} }}\n");
            text += &bounds.text(draws_itself);
            text += &room.map_or(String::new(), |room| format!("min_attempt = \"{room}ms\"\n"));
            text += &elapsed.map_or(String::new(), |elapsed| format!("max_elapsed = \"{elapsed}ms\"\n"));
            text += &match retry_on {
                None => String::new(),
                Some("") => "retry_on = []\n".to_owned(),
                Some(kind) => format!("retry_on = [\"{kind}\"]\n"),
            };
            text += retry_after.as_deref().unwrap_or_default();
            let error = retry_on.filter(|kind| !kind.is_empty()).unwrap_or("unavailable");
            // The waits after any error are told together where they depend on it.
            let depends = backoff.contains("base_throttled");
            let is_drawn = bounds.jitter.is_some() || draws_itself || depends || retry_after.is_some();
            (text, error, is_drawn)
        },
    )
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
