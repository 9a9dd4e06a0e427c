//! What goes wrong, where and when; what servers say about when to try again; and when it counts as over.

use std::ops::Range;
use std::path::Path;

use stormsim::dist::{Dist, name_key};
use stormsim::failure::ErrorKind;
use stormsim::plan::{
    CallId, Capacity, Direction, Effect, Failure, Fault, GroupId, Recovery, ServiceId, Target, Windows,
};
use stormsim::policy::{Beyond, DelayRule, Jitter, ServerDelay};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::time::{Instant, Span};

use crate::{SMALL, only_plan, parse, s, set};

/// Every effect on every kind of target that it fits, and every kind of window.
pub const EVERYTHING: &str = r#"
version = 1
name = "everything"
horizon = "600s"
recovery = { hold = "30s", share = 0.5 }

[clients.web]
arrivals = { constant = { rate = 10 } }
calls.front = {}
calls.db = {}

[services.front]
calls.db = {}

[services.db]
instances = 4
workers = 8

[faults.refused]
on = ["db", "front"]
first_instances = 1
effect = "refuse"

[faults.failing]
on = ["front->db", "db"]
from = "10s"
until = "20s"
effect = { fail = { probability = 0.5, error = "overloaded", delay = "20ms", correlation = 0.25, epoch = "100ms", retry_after = "60s" } }

[faults.in-vain]
on = ["db"]
from = "10s"
lasts = "20s"
effect = { fail = { work = true } }

[faults.gone]
on = ["db", "web->front"]
lasts = "1s"
every = "60s"
effect = "blackhole"

[faults.frozen]
on = ["db"]
from = "5s"
until = "500s"
random = { up = { exponential = { mean = "60s" } }, down = "2s" }
first_instances = 4
effect = "pause"

[faults.crashed]
on = ["front"]
lasts = "1s"
effect = "crash"

[faults.ten-times]
on = ["db"]
effect = { slow = { factor = 10 } }

[faults.longer]
on = ["db", "web->db"]
effect = { slow = { add = { uniform = { min = "1ms", max = "2ms" } } } }

[faults.half]
on = ["db"]
effect = { capacity = { factor = 0.5 } }

[faults.requests]
on = ["web->front"]
effect = { loss = {} }

[faults.answers]
on = ["web->db"]
effect = { loss = { probability = 0.5, direction = "response" } }

[faults.surge]
on = ["web"]
lasts = "52d"
effect = { load = { factor = 4 } }
"#;

const WEB: Target = Target::Group(GroupId(0));
const FRONT: Target = Target::Service(ServiceId(0));
const DB: Target = Target::Service(ServiceId(1));
/// `web->front`, `web->db` and `front->db`.
const CALLS: [Target; 3] = [Target::Call(CallId(0)), Target::Call(CallId(1)), Target::Call(CallId(2))];

/// Half of all draws.
const HALF: u64 = 1 << 63;

fn fault(name: &str, targets: &[Target], windows: Windows, effect: Effect) -> Fault {
    Fault { key: name_key(name), targets: targets.to_vec(), first_instances: Capacity::NO_LIMIT, windows, effect }
}

fn once(window: Range<u64>) -> Windows {
    Windows::Once(s(window.start)..s(window.end))
}

fn always() -> Windows {
    Windows::Once(Instant::ZERO..Instant::LIMIT)
}

/// A failure of which nothing is said.
fn failure() -> Failure {
    Failure {
        probability: u64::MAX,
        error: ErrorKind::Unavailable,
        delay: Dist::ZERO,
        works: false,
        correlation: 0,
        epoch: Span::from_s(1),
        retry_after: None,
    }
}

fn failing() -> Effect {
    Effect::Fail(Failure {
        probability: HALF,
        error: ErrorKind::Overloaded,
        delay: Dist::Constant(Span::from_ms(20)),
        works: false,
        correlation: HALF / 2,
        epoch: Span::from_ms(100),
        retry_after: Some(Span::from_s(60)),
    })
}

fn frozen() -> Windows {
    let up = Dist::Exponential { mean: Span::from_s(60) };
    Windows::Random { within: s(5)..s(500), up, down: Dist::Constant(Span::from_s(2)) }
}

#[test]
fn every_effect_becomes_exactly_this() {
    let scenario = parse(EVERYTHING, &Overrides::default());
    let plan = only_plan(&scenario);
    let add = Dist::Uniform { min: Span::from_ms(1), values: 1_000_000, step: Span::from_ns(1) };
    let expected = [
        Fault { first_instances: 1, ..fault("refused", &[DB, FRONT], always(), Effect::Refuse) },
        fault("failing", &[CALLS[2], DB], once(10..20), failing()),
        fault("in-vain", &[DB], once(10..30), Effect::Fail(Failure { works: true, ..failure() })),
        fault(
            "gone",
            &[DB, CALLS[0]],
            Windows::Repeated { first: s(0)..s(1), every: Span::from_s(60) },
            Effect::BlackHole,
        ),
        Fault { first_instances: 4, ..fault("frozen", &[DB], frozen(), Effect::Pause) },
        fault("crashed", &[FRONT], once(0..1), Effect::Crash),
        fault("ten-times", &[DB], always(), Effect::Slow { factor: 10.0, add: Dist::ZERO }),
        fault("longer", &[DB, CALLS[1]], always(), Effect::Slow { factor: 1.0, add }),
        fault("half", &[DB], always(), Effect::Capacity { factor: 0.5 }),
        fault("requests", &CALLS[..1], always(), Effect::Loss { probability: u64::MAX, direction: Direction::Request }),
        fault("answers", &CALLS[1..2], always(), Effect::Loss { probability: HALF, direction: Direction::Response }),
        fault("surge", &[WEB], once(0..52 * 86_400), Effect::Load { factor: 4.0 }),
    ];
    // One by one, so that the first difference is shown and not the whole.
    for (found, expected) in plan.faults.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(plan.faults.len(), expected.len());
    assert_eq!(plan.recovery, Recovery { hold: Span::from_s(30), share: 0.5 });
}

/// What is absent by default can be written as a word, and means the same.
#[test]
fn none_is_the_same_as_nothing() {
    let small = format!("{SMALL}[faults.f]\non = [\"db\"]\neffect = {{ fail = {{}} }}\n");
    let words = set(&[
        "faults.f.from=0s",
        "faults.f.until=none",
        "faults.f.every=none",
        "faults.f.random=none",
        "faults.f.first_instances=unlimited",
        "faults.f.effect.fail.probability=1",
        "faults.f.effect.fail.error=unavailable",
        "faults.f.effect.fail.delay=0s",
        "faults.f.effect.fail.work=false",
        "faults.f.effect.fail.correlation=0",
        "faults.f.effect.fail.epoch=1s",
        "faults.f.effect.fail.retry_after=none",
        "retries.r.retry_after=none",
        "recovery.hold=10s",
        "recovery.share=0.95",
    ]);
    let nothing = parse(&small, &Overrides::default());
    assert_eq!(only_plan(&parse(&small, &words)), only_plan(&nothing));
    // There are two words for a window that never ends, and for ignoring what a server says.
    for word in ["faults.f.lasts=none", "retries.r.retry_after=ignore"] {
        assert_eq!(only_plan(&parse(&small, &set(&[word]))), only_plan(&nothing), "{word}");
    }
    assert_eq!(
        only_plan(&nothing).faults,
        [fault("f", &[Target::Service(ServiceId(0))], always(), Effect::Fail(failure()))]
    );
}

#[test]
fn a_policy_may_listen_to_servers() {
    let delay = |setting: &str| {
        let scenario = parse(SMALL, &set(&[&format!("retries.r.retry_after={setting}")]));
        only_plan(&scenario).policy_of(CallId(0)).server_delay.clone()
    };
    let floor = ServerDelay { rule: DelayRule::Floor, ..ServerDelay::IGNORE };
    assert_eq!(delay("ignore"), ServerDelay::IGNORE);
    assert_eq!(delay("{}"), floor);
    assert_eq!(
        delay("{ rule = \"floor\", jitter = \"none\", at_most = \"unlimited\", beyond = \"clamp\" }"),
        floor,
        "the defaults"
    );
    assert_eq!(
        delay(
            "{ rule = \"replace\", jitter = { uniform = { min = \"0s\", max = \"6ns\" } }, at_most = \"300s\", beyond = \"stop\" }"
        ),
        ServerDelay {
            rule: DelayRule::Replace,
            jitter: Jitter::Add(Dist::Uniform { min: Span::ZERO, values: 6, step: Span::from_ns(1) }),
            at_most: Span::from_s(300),
            beyond: Beyond::Stop,
            ..ServerDelay::IGNORE
        }
    );
    assert_eq!(
        delay("{ rule = \"floor\", beyond = \"ignore\", upward = 0.5, over_own = \"5s\", required = true }"),
        ServerDelay {
            jitter: Jitter::Upward(0.5),
            beyond: Beyond::Ignore,
            over_own: Span::from_s(5),
            required: true,
            ..floor
        }
    );
    assert_eq!(delay("{ rule = \"ignore\" }").rule, DelayRule::Ignore);
}

/// One of an exclusive pair, or another tag, replaces its twin.
#[test]
fn a_setting_on_the_command_line_takes_the_place_of_its_twin() {
    let fault = |settings: &[&str]| {
        let scenario = parse(EVERYTHING, &set(settings));
        only_plan(&scenario).faults[6].clone()
    };
    let slow = |factor, ms| Effect::Slow { factor, add: Dist::Constant(Span::from_ms(ms)) };
    assert_eq!(fault(&["faults.ten-times.effect.slow.factor=3"]).effect, slow(3.0, 0));
    assert_eq!(fault(&["faults.ten-times.effect.slow.add=200ms"]).effect, slow(1.0, 200));
    assert_eq!(fault(&["faults.ten-times.effect=refuse"]).effect, Effect::Refuse);
    assert_eq!(fault(&["faults.ten-times.effect.capacity.factor=1"]).effect, Effect::Capacity { factor: 1.0 });
    assert_eq!(fault(&["faults.ten-times.lasts=5s", "faults.ten-times.until=7s"]).windows, once(0..7));
    assert_eq!(
        fault(&["faults.ten-times.lasts=5s", "faults.ten-times.random.down=1s", "faults.ten-times.every=9s"]).windows,
        Windows::Repeated { first: s(0)..s(5), every: Span::from_s(9) }
    );
}

/// A fault that ends after virtual time does has an open end.
#[test]
fn times_beyond_the_end_of_virtual_time_are_open() {
    let fault = set(&["faults.half.from=30d", "faults.half.lasts=30d"]);
    let scenario = parse(EVERYTHING, &fault);
    let from = s(30 * 86_400);
    assert_eq!(only_plan(&scenario).faults[8].windows, Windows::Once(from..Instant::LIMIT));
}

/// The other side of the errors of runs that never end: in these somebody stops waiting, or is answered in the end.
#[test]
fn silence_that_somebody_ends_needs_no_horizon() {
    let is_good = |settings: &[&str], fault: &str| {
        let text = EVERYTHING.replace("horizon = \"600s\"\n", "").replace(
            "arrivals = { constant = { rate = 10 } }",
            "until = \"60s\"\narrivals = { constant = { rate = 10 } }",
        );
        let (before, _) = text.split_once("[faults.").unwrap();
        let text = format!("{before}[faults.f]\n{fault}\n");
        if let Err(errors) = Scenario::parse("test.toml", &text, Path::new(""), &set(settings)) {
            panic!("{settings:?}\n{errors}");
        }
    };
    let limited = ["clients.web.calls.db.timeout=1s", "services.front.calls.db.total_timeout=1s"];
    // Only the calls to what is silent matter, and each limit does.
    is_good(&limited, "on = [\"db\"]\neffect = \"blackhole\"");
    is_good(&["clients.web.calls.db.timeout=1s"], "on = [\"web->db\"]\neffect = { loss = {} }");
    is_good(&["services.front.calls.db.connect_timeout=1s"], "on = [\"front->db\"]\neffect = \"blackhole\"");
    // A deadline that callers tell is one of the calls beneath.
    is_good(
        &["clients.web.calls.front.timeout=1s", "clients.web.calls.front.propagate_deadline=true"],
        "on = [\"front->db\"]\neffect = { loss = { direction = \"response\" } }",
    );
    // What is paused goes on when that is over, or ends with its callers.
    is_good(&[], "on = [\"db\"]\nlasts = \"10s\"\neffect = \"pause\"");
    let ends = [&limited[..], &["services.db.cancel=running"]].concat();
    is_good(&ends, "on = [\"db\"]\neffect = \"pause\"");
    // One of eight workers is left, also by both of two faults; by three only for a while.
    let [first, for_good, for_a_while] = ["", "[faults.g]\n", "[faults.h]\nlasts = \"10s\"\n"]
        .map(|head| format!("{head}on = [\"db\"]\neffect = {{ capacity = {{ factor = 0.3 }} }}\n"));
    is_good(&[], &first);
    is_good(&[], &format!("{first}{for_good}"));
    is_good(&[], &format!("{first}{for_good}{for_a_while}"));
    // Nothing is ever lost.
    is_good(&[], "on = [\"web->db\"]\neffect = { loss = { probability = 0 } }");
    // These answer.
    for effect in ["\"refuse\"", "\"crash\"", "{ fail = {} }", "{ slow = { factor = 1000 } }"] {
        is_good(&[], &format!("on = [\"db\"]\neffect = {effect}"));
    }
}
