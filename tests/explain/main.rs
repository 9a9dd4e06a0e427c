//! `stormsim explain` against the simulator: the same scenario, explained and run, comes to the same figures.

mod bounds;
mod callee;
mod herds;
mod random;
mod text;

use std::path::Path;

use stormsim::analysis::{
    CallExplained, Course, Explanation, FAILURE_DEFAULT, FALSE_TIMEOUTS_DEFAULT, Fate, Hop, Questions, Unfit, explain,
};
use stormsim::experiment::{Experiment, Summary, VariantSummary};
use stormsim::scenario::{Overrides, Scenario};

const QUESTIONS: Questions = Questions { failure: FAILURE_DEFAULT, false_timeouts: FALSE_TIMEOUTS_DEFAULT };

/// A scenario, what is explained of it, and what comes out of a run.
struct Both {
    explained: Vec<Explanation>,
    summary: Summary,
}

impl Both {
    fn of(scenario: &Scenario) -> Self {
        Self { explained: explain(scenario, QUESTIONS), summary: Experiment::new(scenario).run(|| ()) }
    }

    /// Of a file of the project.
    fn of_file(path: &str, set: &[&str]) -> Self {
        let overrides = Overrides {
            set: set.iter().map(|&set| set.to_owned()).collect(),
            replicas: Some(1),
            ..Overrides::default()
        };
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        Self::of(&Scenario::load(&file, &overrides).unwrap_or_else(|wrong| panic!("{wrong}")))
    }

    /// Of one call with these settings to a service that takes so long, with this policy; and more.
    fn of_call(call: &str, service_time: &str, policy: &str, more: &str) -> Self {
        let text = format!(
            "version = 1\nname = \"both\"\nreplicas = 1\n[clients.app]\narrivals = {{ burst = {{ at = \"0s\" }} }}\n\
             calls.server = {{ retry = \"policy\" {call} }}\n[services.server]\nservice_time = \"{service_time}\"\n\
             [retries.policy]\n{policy}\n{more}\n"
        );
        let scenario = Scenario::parse("both", &text, Path::new(""), &Overrides::default());
        Self::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")))
    }

    fn explanation(&self, variant: &str) -> &Explanation {
        let mut all = self.explained.iter();
        all.find(|explanation| explanation.variants.iter().any(|name| name == variant)).expect("it is a variant")
    }

    fn call(&self, variant: &str, call: &str) -> &CallExplained {
        self.explanation(variant).calls.iter().find(|one| one.call == call).expect("it is a call")
    }

    fn run(&self, variant: &str) -> &VariantSummary {
        self.summary.variants.iter().find(|one| one.name == variant).expect("it is a variant")
    }

    fn metric(&self, variant: &str, metric: &str) -> f64 {
        self.run(variant).metrics[metric].mean.expect("it is defined")
    }

    fn of_service(&self, variant: &str, service: &str, metric: &str) -> f64 {
        self.run(variant).services[service][metric].mean.expect("it is defined")
    }
}

/// How many attempts there are at most, and when the call is given up at the latest.
fn ends(course: &Course) -> (Option<u64>, Option<f64>) {
    (course.most, course.given_up.map(|end| end.as_s()))
}

/// Each layer tries three times: 27 at the last one (and 3 if only the first one does).
#[test]
fn layers_multiply() {
    let both = Both::of_file("scenarios/three-tier.toml", &[]);
    for (variant, product) in [("every-layer", 27), ("entry-only", 3), ("no-retries", 1)] {
        let [path] = &both.explanation(variant).paths[..] else { panic!("there is one path") };
        assert_eq!(path.attempts, Some(product));
        assert_eq!(both.of_service(variant, "db", "amplification"), product as f64);
        let factors: Option<Vec<u32>> = path.hops.iter().map(|hop| hop.attempts).collect();
        assert_eq!(factors.expect("all are limited").iter().map(|&it| u64::from(it)).product::<u64>(), product);
        // What is left without the retries of a layer that has some.
        let left = |hop: &Hop| if hop.attempts == Some(1) { product } else { product / 3 };
        assert!(path.hops.iter().all(|hop| hop.without_retries == Some(left(hop))), "{variant}");
    }
}

/// wrapper 12 x sdk 3. (After microsoft/openaivec, issue 186.)
#[test]
fn a_product_is_told_with_what_each_layer_contributes() {
    let both = Both::of_file("tests/figures/layer-product.toml", &[]);
    for (variant, factors) in [("both", [1, 12, 3]), ("wrapper-only", [1, 12, 1])] {
        let [path] = &both.explanation(variant).paths[..] else { panic!("there is one path") };
        let told: Vec<u32> = path.hops.iter().map(|hop| hop.attempts.expect("it is limited")).collect();
        assert_eq!(told, factors);
        assert_eq!(path.attempts.expect("it is limited") as f64, both.of_service(variant, "api", "arrivals"));
        // That nobody gives up: there is no total time limit.
        assert!(path.hops.iter().all(|hop| hop.gives_up_s.is_none()));
    }
}

/// Base 100 ms, 4 retries: 400 ms, 1 s and 1.5 s in all, and 750 ms in the mean with full jitter.
#[test]
fn schedules_add_up() {
    let exponential = "backoff = { exponential = { base = \"100ms\", factor = 2.0 } }";
    let policies = [
        ("backoff = { fixed = \"100ms\" }".to_owned(), 0.4, 0.4),
        ("backoff = { linear = { step = \"100ms\" } }".to_owned(), 1.0, 1.0),
        (exponential.to_owned(), 1.5, 1.5),
        (format!("{exponential}\njitter = \"full\""), 1.5, 0.75),
    ];
    let down = "[faults.down]\non = [\"server\"]\neffect = \"refuse\"";
    for (policy, longest, mean) in policies {
        let both = Both::of_call("", "1ms", &format!("max_retries = 4\n{policy}"), down);
        let call = both.call("base", "app->server");
        let sum: f64 = call.waits.iter().map(|wait| wait.mean_s.expect("it has a simple form")).sum();
        assert!((sum - mean).abs() < 1e-12, "{policy}: {sum}");
        let end = call.refused.given_up.expect("it ends").as_s();
        assert_eq!(end, longest, "{policy}");
        let run = both.metric("base", "completion_s");
        assert!(if mean < longest { run < end } else { run == end }, "{policy}: {run}");
    }
}

/// A timeout of 1.5 s, three retries after 1, 2 and 4 s: 13 s.
#[test]
fn the_worst_case_is_what_a_call_without_an_answer_takes() {
    let both = Both::of_file("tests/figures/worst-case.toml", &[]);
    let call = both.call("thirteen-seconds", "app->a");
    assert_eq!(ends(&call.silent), (Some(4), Some(13.0)));
    assert_eq!(both.metric("thirteen-seconds", "give_up_max_ms"), 13_000.0);
    // b calls c three times with 300 ms each, and a waits for 800 ms: b goes on for another 100 ms.
    let [path] = &both.explanation("a-gives-up-first").paths[..] else { panic!("there is one path") };
    let outlives = path.hops[2].outlives_s.expect("it goes on");
    assert!((outlives - 0.1).abs() < 1e-9, "{outlives}");
    let sojourn = both.of_service("a-gives-up-first", "b", "sojourn_mean_ms");
    assert_eq!(sojourn, 800.0 + 100.0);
}

/// Per-try and total timeouts. (After istio/istio, issues 21137 and 13167.)
#[test]
fn totals_cut_tries() {
    let both = Both::of_file("tests/figures/try-and-total.toml", &[]);
    let cases = [("total-only", 1, 2.0), ("both", 4, 2.0), ("both-ten-attempts", 4, 2.0), ("per-try-only", 4, 12.0)];
    for (variant, attempts, end) in cases {
        let call = both.call(variant, "app->server");
        assert_eq!(ends(&call.failing), (Some(attempts), Some(end)), "{variant}");
        assert_eq!(call.worst_s, Some(end), "{variant}");
        assert_eq!(both.metric(variant, "attempts"), attempts as f64, "{variant}");
        assert_eq!(both.metric(variant, "completion_s"), end, "{variant}");
    }
    let errors = "[faults.errors]\non = [\"server\"]\neffect = { fail = { delay = \"500ms\" } }";
    for (call, end) in [(", timeout = \"200ms\"", 0.4), ("", 1.0)] {
        let both = Both::of_call(&format!(", total_timeout = \"10s\" {call}"), "500ms", "max_attempts = 2", errors);
        assert_eq!(ends(&both.call("base", "app->server").failing), (Some(2), Some(end)));
        assert_eq!((both.metric("base", "attempts"), both.metric("base", "completion_s")), (2.0, end));
    }
}

/// A deadline of 250 ms, attempts that fail after 60 ms, and room asked for another: three of five.
#[test]
fn a_deadline_leaves_room_for_three_of_five() {
    let both = Both::of_file("tests/figures/deadline-waits.toml", &[]);
    let call = both.call("given-waits", "app->server");
    let (attempts, end) = ends(&call.failing);
    assert_eq!(attempts.expect("a limit") as f64, both.metric("given-waits", "attempts"));
    assert_eq!(end.map(|end| end * 1e3), Some(both.metric("given-waits", "give_up_max_ms")));
    let unfit = |attempts_are, fit| Unfit { attempts_are, configured: 5, fit, limit_s: 0.25 };
    assert_eq!(call.unfit, [unfit(Fate::Failing, 3), unfit(Fate::Silent, 1)]);
    assert!(call.has_budget, "it may refuse some of them");
    // A wait of all that is left is one; the attempt after it has no time, but is sent.
    for variant in ["fourth-wait", "longer-than-left", "exactly-what-is-left"] {
        let (attempts, end) = ends(&both.call(variant, "app->server").refused);
        assert_eq!(attempts.expect("a limit") as f64, both.metric(variant, "attempts"), "{variant}");
        assert_eq!(end.map(|end| end * 1e3), Some(both.metric(variant, "give_up_max_ms")), "{variant}");
    }
}

/// 10, 60, 310, 1,560 and 7,810 minutes. (After matrix-org/synapse, issue 14513.)
#[test]
fn uncapped_backoff_is_told_attempt_by_attempt() {
    let both = Both::of_file("tests/figures/backoff-cliff.toml", &[]);
    let course = &both.call("times-five", "homeserver->peer").refused;
    let minutes: Vec<f64> = course.starts[1..6].iter().map(|start| start.latest.as_s() / 60.0).collect();
    assert_eq!(minutes, [10.0, 60.0, 310.0, 1_560.0, 7_810.0]);
    assert_eq!(course.given_up, None);
    // The outage is over after 1,600 minutes.
    let first_after = minutes.iter().find(|minute| **minute >= 1_600.0).expect("there is one");
    assert_eq!(both.metric("times-five", "completion_s"), first_after * 60.0);
}

/// Without a wait and without a limit there is no end. (After holon-run/holon, issue 2991.)
#[test]
fn a_hot_loop_has_no_end() {
    let both = Both::of_file("scenarios/hot-loop.toml", &[]);
    let endless = |explanation: &&Explanation| {
        let call = &explanation.calls[0];
        call.max_attempts.is_none() && call.waits.iter().all(|wait| wait.longest_s == Some(0.0))
    };
    let hot = both.explained.iter().find(endless).expect("one of the variants is hot");
    assert_eq!((ends(&hot.calls[0].refused), hot.calls[0].worst_s), ((None, None), None));
    assert_eq!(hot.paths[0].attempts, None);
}

/// 50/s of requests with four attempts are 200/s for a service that can do 160/s, and with three 150/s: what does not
/// come back, and what does.
#[test]
fn what_is_vulnerable_does_not_come_back() {
    use stormsim::analysis::Standing;
    let both = Both::of_file("scenarios/metastable.toml", &[]);
    let cases = [("two-seconds", 200.0, Standing::Vulnerable), ("three-attempts", 150.0, Standing::Stable)];
    for (variant, failing, standing) in cases {
        let [service] = &both.explanation(variant).services[..] else { panic!("there is one service") };
        assert_eq!((service.capacity_rps, service.offered_rps), (Some(160.0), Some(50.0)));
        assert_eq!((service.failing_rps, service.standing), (Some(failing), Some(standing)), "{variant}");
        let recovered = both.run(variant).faults["slowdown"]["recovered"].mean;
        assert_eq!(recovered, Some(f64::from(u8::from(standing == Standing::Stable))), "{variant}");
    }
}

/// 0.01^3 with three attempts, and 0.99 whatever the attempts if all fail together.
#[test]
fn success_is_told_for_failures_apart_and_together() {
    let both = Both::of_call("", "1ms", "max_attempts = 3", "");
    let success = both.call("base", "app->server").success;
    assert!((success.independent - 0.999_999).abs() < 1e-12 && success.correlated == 0.99, "{success:?}");
    assert!((success.independent_attempts.expect("a limit") - 1.0101).abs() < 1e-12, "{success:?}");
    assert!((success.correlated_attempts.expect("a limit") - 1.02).abs() < 1e-12, "{success:?}");
}

/// Of an exponential time with the mean 10 ms a share of 0.1 % is above 10 ms x ln 1,000 = 69.1 ms, to which ways of 2
/// ms are added. Ways that vary likewise are each above 10 ms x ln 3,000 = 80.1 ms in a third of 0.1 %.
#[test]
fn a_timeout_is_told_for_a_share_of_false_ones() {
    let mean = "{ exponential = { mean = \"10ms\" } }";
    let callee = |network: &str| {
        let text = format!(
            "version = 1\nname = \"both\"\nclients.app.arrivals = {{ burst = {{ at = \"0s\" }} }}\n\
             clients.app.calls.server = {{ network = {network} }}\nservices.server = {{ service_time = {mean} }}\n"
        );
        let scenario = Scenario::parse("both", &text, Path::new(""), &Overrides::default()).expect("it is right");
        explain(&scenario, QUESTIONS)[0].calls[0].callee.expect("it makes no calls")
    };
    let constant = callee("\"2ms\"");
    assert!((constant.timeout_for_that_s - 0.073_077_553).abs() < 1e-9, "{constant:?}");
    // The service time alone: the median of a sum is not the sum of the medians.
    for callee in [constant, callee(mean)] {
        assert!((callee.p50_s - 0.006_931_472).abs() < 1e-9, "{callee:?}");
        assert!((callee.p99_s - 0.046_051_702).abs() < 1e-9, "{callee:?}");
    }
    assert!((callee(mean).timeout_for_that_s - 3.0 * 0.080_063_676).abs() < 1e-8);
}

/// 1,000 clients fail at the same instant. Without jitter all are back together; with full jitter 153 are expected in
/// the last tenth of the first second, and the densest window of a run has a few more by chance.
#[test]
fn the_densest_100_ms_are_told() {
    let both = Both::of_file("scenarios/backoff.toml", &[]);
    for variant in ["fixed", "exponential"] {
        let told = both.call(variant, "fleet->server").retry_peak.expect("it has a simple form");
        assert_eq!(told, both.metric(variant, "retry_peak"), "{variant}");
    }
    let told = both.call("full-jitter", "fleet->server").retry_peak.expect("it has a simple form");
    assert!((told - 153.4).abs() < 0.3, "{told}");
    let run = both.metric("full-jitter", "retry_peak");
    assert!((told - 3.0 * told.sqrt()..told + 4.0 * told.sqrt()).contains(&run), "{run}");
    let walk = both.call("decorrelated", "fleet->server");
    assert_eq!((walk.first_peak, walk.retry_peak), (Some(1_000.0), None));
    // 600 timers on the minute, and 10 in each of its seconds: of 60 seconds one has some more by chance.
    let both = Both::of_file("scenarios/cron-herd.toml", &[]);
    let first = |variant| both.call(variant, "timers->job").first_peak;
    let run = |variant: &str| both.run(variant).metrics["attempt_peak"].mean.expect("it is defined");
    assert_eq!((first("on-the-minute"), run("on-the-minute")), (Some(600.0), 600.0));
    assert_eq!(first("whole-seconds"), Some(10.0));
    assert!((10.0..25.0).contains(&run("whole-seconds")), "{}", run("whole-seconds"));
}
