//! Whether a run recovers after a fault: each rule by hand, and all of them against the list of requests.

mod story;

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner, contextualize_config};
use stormsim::experiment::{Experiment, Strain};
use stormsim::metrics::Aftermath::{Recovered, Unrecovered, Untold};
use stormsim::metrics::{Aftermath, End, Outcome};
use stormsim::plan::{Plan, Recovery};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;
use stormsim::time::{Instant, Span};

use crate::reference::aftermath::aftermath;
use crate::reference::{interpret, random_plan};
use story::{Story, ms};

/// Half of what begins in each of two seconds.
const HALF: Recovery = Recovery { hold: Span::from_s(2), share: 0.5 };

/// The aftermath of a fault in `[0 s, 1 s)` if the run has its horizon at `until_s`.
fn after(story: &Story, rule: Recovery, until_s: u64) -> Aftermath {
    story.tally(rule, &[(0, 1_000)], ms(until_s * 1_000), End::Horizon).aftermath
}

fn recovered(s: u64) -> Aftermath {
    Recovered(Span::from_s(s))
}

/// 20 requests begin in the two seconds after the fault, and 95 % of these are 19.
#[test]
fn the_share_must_be_reached_and_no_more() {
    let rule = Recovery { hold: Span::from_s(2), share: 0.95 };
    let story = |succeeded| Story::default().each_second(1, 10, succeeded).each_second(2, 10, 9);
    assert_eq!(after(&story(10), rule, 3), recovered(0));
    assert_eq!(after(&story(9), rule, 3), Unrecovered);
}

/// In binary 0.07 times 100 is 7.000000000000001, which is no reason to ask for 8.
#[test]
fn a_decimal_share_is_meant_as_it_is_written() {
    let rule = Recovery { hold: Span::from_s(1), share: 0.07 };
    assert_eq!(after(&Story::default().each_second(1, 100, 7), rule, 2), recovered(0));
    assert_eq!(after(&Story::default().each_second(1, 100, 6), rule, 2), Unrecovered);
    let all = Recovery { share: 1.0, ..rule };
    assert_eq!(after(&Story::default().each_second(1, 100, 99), all, 2), Unrecovered);
}

/// The second after the fault is fine, the next two are not, and then all is well: with a hold of one second the first
/// counts, with one of two seconds it is too short.
#[test]
fn what_does_not_hold_is_no_recovery() {
    let story = || {
        let story = Story::default().each_second(1, 10, 10).each_second(2, 10, 1).each_second(3, 10, 1);
        (4..8).fold(story, |story, second| story.each_second(second, 10, 10))
    };
    let all = |hold| Recovery { hold: Span::from_s(hold), share: 1.0 };
    assert_eq!(after(&story(), all(1), 8), recovered(0));
    assert_eq!(after(&story(), all(2), 8), recovered(3));
    assert_eq!(after(&story(), all(4), 8), recovered(3));
    assert_eq!(after(&story(), all(5), 8), Unrecovered, "no five good seconds are left");
}

/// Of 4 requests that begin in the last second 3 are open at its end. They are too young to count against it: 3 of the
/// remaining 5 succeed. One that has been open for longer counts.
#[test]
fn the_young_that_are_open_are_left_out() {
    let rule = Recovery { hold: Span::from_s(2), share: 0.6 };
    let others = || Story::default().each_second(1, 4, 2).succeeds(2_000, 2_100);
    let young = others().open(2_000).open(2_500).open(2_999);
    assert_eq!(after(&young, rule, 3), recovered(0));
    let old = others().open(1_999).open(2_500).open(2_999);
    assert_eq!(after(&old, rule, 3), Unrecovered, "3 of 6");
    // It ends exactly at the end of the hold, which is outside of it: still open.
    let ends_then = others().succeeds(2_000, 3_000).open(2_500).open(2_999);
    assert_eq!(after(&ends_then, rule, 3), recovered(0));
    let fails_before = others().fails(2_000, 2_999).open(2_500).open(2_999);
    assert_eq!(after(&fails_before, rule, 3), Unrecovered, "3 of 6");
}

/// The first two seconds hold together, because all succeed in the second one; but the first has nothing to show.
#[test]
fn a_good_second_has_a_success_of_its_own() {
    let late = |first_end| Story::default().succeeds(1_100, first_end).succeeds(1_200, 2_600).succeeds(2_100, 2_700);
    assert_eq!(after(&late(2_500), HALF, 4), recovered(1));
    assert_eq!(after(&late(1_999), HALF, 4), recovered(0));
}

/// Nothing begins any more: it takes until nobody waits. The request ends at 3.2 s, and the next second begins at 4 s.
#[test]
fn where_nothing_arrives_nothing_may_be_open() {
    assert_eq!(after(&Story::default(), HALF, 9), recovered(0));
    assert_eq!(after(&Story::default().fails(500, 3_200), HALF, 9), recovered(3));
    assert_eq!(after(&Story::default().fails(500, 3_000), HALF, 9), recovered(3), "open until 3 s");
    assert_eq!(after(&Story::default().fails(500, 2_999), HALF, 9), recovered(2));
    assert_eq!(after(&Story::default().open(500), HALF, 9), Unrecovered);
}

/// Nor is it a proof that nobody asks any more: of those who have come since the fault, at 1 s, half must have got what
/// they asked for. Those who came during it count for nothing.
#[test]
fn who_has_come_since_the_fault_decides_where_nothing_arrives() {
    let one_of = |well: usize, badly: usize| {
        let story = (0..badly).fold(Story::default(), |story, _| story.fails(1_500, 1_600));
        (0..well).fold(story, |story, _| story.succeeds(1_500, 1_600))
    };
    assert_eq!(after(&one_of(1, 1), HALF, 9), recovered(0), "one arrives, one succeeds, in the first second");
    assert_eq!(after(&one_of(0, 1), HALF, 9), Unrecovered);
    assert_eq!(after(&one_of(0, 1).fails(500, 1_200), HALF, 9), Unrecovered);
    let since = |began| Story::default().fails(began, 2_100).succeeds(900, 2_200);
    assert_eq!(after(&since(900), HALF, 9), recovered(2), "both had come before");
    assert_eq!(after(&since(1_000), HALF, 9), Unrecovered);
}

/// The run ends with its last event at 3.2 s, and the seconds from 4 s on are known to be idle. With a horizon there
/// only the one from 1 s on can be judged.
#[test]
fn after_a_run_that_drained_all_is_idle() {
    let story = || Story::default().fails(900, 1_300).fails(900, 3_200);
    let tally = |end| story().tally(HALF, &[(0, 1_000)], ms(3_200), end);
    assert_eq!(tally(End::Drained).aftermath, recovered(3), "nothing begins from 3 s on, but one is open then");
    assert_eq!(tally(End::Horizon).aftermath, Unrecovered);
    // What happens at 3 s sharp belongs to the second that begins then: the request is still open.
    let ends_then = Story::default().fails(900, 3_000).tally(HALF, &[(0, 1_000)], ms(3_000), End::Drained);
    assert_eq!(ends_then.aftermath, recovered(3));
}

/// Two seconds must hold after 1 s.
#[test]
fn without_the_time_to_hold_there_is_no_telling() {
    let story = Story::default().each_second(1, 10, 10).each_second(2, 10, 10);
    let until = |end: Instant| story.tally(HALF, &[(0, 1_000)], end, End::Horizon);
    assert_eq!(until(ms(3_000)).aftermath, recovered(0));
    let short = until(Instant::from_ns(2_999_999_999));
    assert_eq!((short.aftermath, short.observed), (Untold, Some(Span::from_ns(1_999_999_999))));
    let open = story.tally(HALF, &[(0, 9_000)], ms(3_000), End::Horizon);
    assert_eq!((open.windows, open.last_end, open.observed, open.aftermath), (1, None, None, Untold));
    let never = story.tally(HALF, &[], ms(3_000), End::Horizon);
    assert_eq!((never.windows, never.last_end, never.aftermath), (0, None, Untold));
}

/// Each second is good, also those between the windows, but only what comes after the last window counts: its seconds
/// begin at 5.5 s. What is open then belongs to the one before.
#[test]
fn only_what_comes_after_the_last_window_counts() {
    let story = (1..12).fold(Story::default(), |story, second| story.each_second(second, 10, 10));
    let windows = [(0, 1_000), (4_000, 5_500)];
    let tally = story.tally(HALF, &windows, ms(12_000), End::Horizon);
    assert_eq!((tally.windows, tally.last_end, tally.aftermath), (2, Some(ms(5_500)), recovered(0)));
    let short = story.tally(HALF, &windows, ms(7_400), End::Horizon);
    assert_eq!(short.aftermath, Untold, "that it recovered from the first window is no answer");
    let bad_until_9 = (6..9).fold(Story::default(), |story, second| story.each_second(second, 10, 0));
    let then_good = (9..14).fold(bad_until_9, |story, second| story.each_second(second, 10, 10));
    // From 7.5 s on half of them succeed, as is asked, but none in the first second.
    assert_eq!(then_good.tally(HALF, &windows, ms(14_000), End::Horizon).aftermath, recovered(3));
}

/// `goodput + 1 < share x begun`: of 10 requests 5 are asked for, so that 4 are just enough. The run ends within its
/// last second, which is whole only if nothing more would come.
#[test]
fn the_last_bad_second_forgives_one_request() {
    let story =
        Story::default().each_second(0, 10, 3).each_second(1, 10, 4).each_second(2, 10, 3).each_second(3, 10, 3);
    let last_bad = |until, ended| story.tally(HALF, &[(0, 1_000)], ms(until), ended).last_bad;
    assert_eq!(last_bad(2_000, End::Horizon), Some(ms(0)));
    assert_eq!(last_bad(3_999, End::Horizon), Some(ms(2_000)));
    assert_eq!(last_bad(3_999, End::Drained), Some(ms(3_000)));
    let good = Story::default().each_second(0, 10, 4);
    assert_eq!(good.tally(HALF, &[(0, 1_000)], ms(1_000), End::Horizon).last_bad, None);
}

fn scenario(text: &str) -> Scenario {
    Scenario::parse("recovery", text, Path::new(""), &Overrides::default()).unwrap()
}

/// `web` reaches `db` through `api`, `jobs` only by a fallback, `probe` not at all. All requests but those of `probe`
/// go well after the fault, and hers only count where she is concerned.
#[test]
fn only_groups_with_a_path_to_the_fault_count() {
    let recovery_from = |on: &str, effect: &str| {
        let text = format!(
            r#"
            version = 1
            name = "paths"
            horizon = "5s"
            clients.web = {{ until = "5s", arrivals = {{ constant = {{ rate = 10 }} }}, calls.api = {{}} }}
            clients.jobs = {{ until = "5s", arrivals = {{ constant = {{ rate = 10 }} }}, calls.worker = {{}} }}
            clients.probe = {{ until = "5s", arrivals = {{ constant = {{ rate = 100 }} }}, calls.status = {{}} }}
            services.api.calls = {{ db = {{}} }}
            services.worker.calls = {{ cache = {{ if_failed = "db" }}, db = {{}} }}
            services.cache = {{}}
            services.status = {{}}
            services.db = {{}}
            faults.broken = {{ on = ["status"], effect = "refuse" }}
            faults.outage = {{ on = ["{on}"], until = "2s", effect = {effect} }}
            "#
        );
        let scenario = scenario(&text);
        let plan = Plan { recovery: HALF, ..scenario.variants()[0].1.clone() };
        simulate(&plan, 1, 0).faults[1].aftermath
    };
    assert_eq!(recovery_from("db", "\"refuse\""), recovered(0));
    assert_eq!(recovery_from("web->api", "{ fail = {} }"), recovered(0));
    assert_eq!(recovery_from("worker->db", "{ fail = {} }"), recovered(0));
    assert_eq!(recovery_from("jobs", "{ load = { factor = 2 } }"), recovered(0));
    assert_eq!(recovery_from("status", "\"refuse\""), Unrecovered);
    assert_eq!(recovery_from("probe->status", "{ fail = {} }"), Unrecovered);
    assert_eq!(recovery_from("probe", "{ load = { factor = 2 } }"), Unrecovered);
}

/// `batch` asks ten times as often for a while; whom that may hurt is `web`, who meets her at `db` and fails for good.
#[test]
fn who_meets_a_group_at_a_service_is_exposed_to_its_load() {
    let text = r#"
        version = 1
        name = "neighbours"
        horizon = "5s"
        clients.web = { until = "5s", arrivals = { constant = { rate = 100 } }, calls.api = {} }
        clients.batch = { until = "5s", arrivals = { constant = { rate = 10 } }, calls.db = {} }
        services.api.calls = { db = {}, status = {} }
        services.db = {}
        services.status = {}
        faults.broken = { on = ["status"], effect = "refuse" }
        faults.surge = { on = ["batch"], until = "2s", effect = { load = { factor = 10 } } }
        "#;
    let plan = Plan { recovery: HALF, ..scenario(text).variants()[0].1.clone() };
    assert_eq!(simulate(&plan, 1, 0).faults[1].aftermath, Unrecovered);
}

/// The other way round: `jobs` fails for good, and she has a path to `db` by a fallback that is never made.
#[test]
fn a_fallback_is_a_path_even_where_it_is_not_taken() {
    let text = r#"
        version = 1
        name = "fallback"
        horizon = "5s"
        clients.web = { until = "5s", arrivals = { constant = { rate = 10 } }, calls.db = {} }
        clients.jobs = { until = "5s", arrivals = { constant = { rate = 100 } }, calls.worker = {} }
        services.worker.calls = { cache = { if_failed = "db" }, db = {} }
        services.cache = {}
        services.db = {}
        faults.outage = { on = ["db"], until = "2s", effect = "refuse" }
        faults.broken = { on = ["worker"], effect = "refuse" }
    "#;
    let plan = Plan { recovery: HALF, ..scenario(text).variants()[0].1.clone() };
    assert_eq!(simulate(&plan, 1, 0).faults[0].aftermath, Unrecovered, "100 of 110 requests fail each second");
}

/// Two arrivals per second and 3 attempts each while it is refused; the last 2 s before the horizon are beyond that.
/// Requests begin at 0.5 s, 1 s, ...: with a horizon of 6 s those from 4 s until 5.5 s are in its last 2 s.
#[test]
fn the_last_arrivals_are_those_before_the_horizon() {
    let last = |horizon: &str, until: &str| {
        let text = format!(
            r#"
            version = 1
            name = "last"
            {horizon}
            clients.web.until = "9s"
            clients.web.arrivals = {{ constant = {{ rate = 2 }} }}
            clients.web.calls.db = {{ retry = "thrice" }}
            services.db = {{}}
            retries.thrice = {{ max_attempts = 3 }}
            faults.outage = {{ on = ["db"], until = "{until}", effect = "refuse" }}
            "#
        );
        let plan = Plan { recovery: HALF, ..scenario(&text).variants()[0].1.clone() };
        simulate(&plan, 1, 0).services[0].arrivals_last_rps
    };
    assert_eq!(last("horizon = \"6s\"", "3s"), Some(2.0));
    assert_eq!(last("horizon = \"6s\"", "5s"), Some(4.0), "two requests with three attempts, two with one");
    assert_eq!(last("horizon = \"2s\"", "1s"), Some(2.5), "one with three attempts, two with one");
    assert_eq!(last("horizon = \"1.9s\"", "1s"), None);
    assert_eq!(last("", "3s"), None);
}

/// A fate of 30 requests and 3 windows on a grid of 250 ms, so that they often meet the borders of seconds, moved by at
/// most a nanosecond.
fn stories() -> impl Strategy<Value = (Story, Vec<Range<Instant>>)> {
    let instant = |steps: Range<u64>| {
        (steps, 0..6_u64).prop_map(|(step, jitter)| {
            let ns = step * 250_000_000;
            Instant::from_ns(match jitter {
                0 => ns + 1,
                1 => ns.saturating_sub(1),
                _ => ns,
            })
        })
    };
    let end = prop::option::weighted(0.8, (0..12_u64, prop::bool::weighted(0.7)));
    let life = (instant(0..60), end)
        .prop_map(|(began, end)| (began, end.map(|(steps, well)| (began + Span::from_ms(250 * steps), well))));
    let requests = prop::collection::vec(life, 0..30).prop_map(|requests| Story { requests });
    let windows = prop::collection::vec(instant(1..40), 0..=6).prop_map(|mut borders| {
        borders.sort_unstable();
        borders.dedup();
        borders.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
    });
    (requests, windows)
}

fn rules() -> impl Strategy<Value = Recovery> {
    let shares = prop::sample::select(vec![0.0, 0.07, 0.5, 0.75, 0.95, 1.0]);
    (1..5_u64, shares).prop_map(|(hold, share)| Recovery { hold: Span::from_s(hold), share })
}

fn config(cases: u32) -> Config {
    contextualize_config(Config { cases, rng_seed: RngSeed::Fixed(5), failure_persistence: None, ..Config::default() })
}

/// The recorder keeps running sums and forgets what it has seen; the other one counts the whole list for each second.
/// Every answer must be common, or the comparison would prove little.
#[test]
fn the_recorder_agrees_with_the_list_of_requests() {
    let seen = [const { Cell::new(0) }; 4];
    let cases = (stories(), rules(), 1..80_u64, prop::bool::ANY);
    let compared = TestRunner::new(config(20_000)).run(&cases, |((story, windows), rule, steps, has_horizon)| {
        let (end, ended) = if has_horizon {
            (ms(steps * 250), End::Horizon)
        } else {
            // All requests end; the last event is the end of the run.
            let last = story.requests.iter().filter_map(|(_, end)| *end).map(|(at, _)| at).max();
            (last.unwrap_or_default(), End::Drained)
        };
        let mut story = story;
        story.requests.retain(|(_, end)| has_horizon || end.is_some());
        let until = |at: Instant| if has_horizon { at < end } else { at <= end };
        let begun: Vec<_> = windows.iter().filter(|window| until(window.start)).cloned().collect();
        let lives: Vec<_> = story
            .requests
            .iter()
            .filter(|(began, _)| until(*began))
            .map(|&(began, end)| (began, end.filter(|(at, _)| until(*at))))
            .collect();
        let expected = aftermath(rule, &begun, &lives, end, ended);
        let answer = match expected.aftermath {
            Untold => 0,
            Unrecovered => 1,
            Recovered(Span::ZERO) => 2,
            Recovered(_) => 3,
        };
        seen[answer].set(seen[answer].get() + 1);
        prop_assert_eq!(&story.tally_of(rule, &windows, end, ended), &expected);
        Ok(())
    });
    compared.unwrap();
    let seen = seen.map(Cell::into_inner);
    let total: u32 = seen.iter().sum();
    assert!(seen.iter().all(|count| count * 40 > total), "untold, unrecovered, recovered at once and later: {seen:?}");
}

proptest! {
    #![proptest_config(config(2_000))]

    /// Every fault, whatever it is on, and every call path.
    #[test]
    fn the_engine_agrees_with_the_interpreter(sketch in random_plan(), rule in rules(), seed: u64) {
        let plan = Plan { recovery: rule, ..sketch.plan() };
        let (_, expected) = interpret(&plan, seed, 0);
        let outcome = simulate(&plan, seed, 0);
        prop_assert_eq!(&outcome.faults, &expected.faults);
        let last = |outcome: &Outcome| -> Vec<_> {
            outcome.services.iter().map(|service| service.arrivals_last_rps).collect()
        };
        prop_assert_eq!(last(&outcome), last(&expected));
    }
}

/// A cut of `front` ends at 2 s. Its clients ask five times as much then as `db`, behind it, can do, of which a half
/// is gone for good. What `db` has to do is the reason, and the half that is gone stands beside it.
#[test]
fn the_reason_may_lie_behind_what_was_struck() {
    let text = r#"
        version = 1
        name = "behind"
        replicas = 2
        horizon = "20s"
        recovery = { hold = "2s", share = 0.9 }
        clients.web = { arrivals = { constant = { rate = 100 } }, calls.front = { timeout = "1s" } }
        services.front.calls = { db = {} }
        services.db = { workers = 2, service_time = "100ms" }
        faults.cut = { on = ["front"], from = "1s", until = "2s", effect = "refuse" }
        faults.half = { on = ["db"], effect = { capacity = { factor = 0.5 } } }
        faults.gone = { on = ["db"], from = "1s", until = "2s", effect = { slow = { factor = 2 } } }
        "#;
    let summary = Experiment::new(&scenario(text)).run(|| ());
    let strains = &summary.variants[0].strains["cut"];
    let db = Strain {
        service: "db".to_owned(),
        arrivals_rps: 100.0,
        capacity_rps: 20.0,
        other_faults: vec!["half".to_owned()],
    };
    assert_eq!(strains.as_slice(), [db], "`front` has no capacity of its own");
}
