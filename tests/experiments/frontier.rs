//! `stormsim frontier`: the boundary of a published metastable failure, what is said where there is none, and the search
//! itself on figures that are known.

use std::fs;

use stormsim::experiment::axis::Range;
use stormsim::experiment::{Claim, Measure, Op, Search, Stat};
use stormsim::metrics::catalogue::Unit;
use stormsim::scenario::{Overrides, Scenario};

use crate::{METASTABLE, printed, refused, scratch, stormsim, text};

const RATE: &str = "clients.web.arrivals.constant.rate=10..100";
const NOT_RECOVERED: &str = "recovered < 0.5";

fn found(more: &[&str]) -> String {
    let folder = scratch();
    let arguments = [&[METASTABLE, "--vary", RATE, "--condition", NOT_RECOVERED, "--no-charts"], more].concat();
    printed(folder.path(), "frontier", &arguments)
}

/// The rate up to which a service recovers, as it is told: `two-seconds: recovers up to 42.8/s [...`.
fn recovers_up_to(printed: &str) -> f64 {
    let line = printed.lines().find(|line| line.starts_with(" two-seconds: recovers up to ")).expect("it is told");
    let rate = line.split_whitespace().nth(4).expect("a rate").strip_suffix("/s").expect("per second");
    rate.parse().expect("a number")
}

/// Four attempts of each request on a service that can do 160/s: retries alone allow 40/s. A trigger of two seconds
/// builds no backlog at a rate just above that, so that the frontier is between 42 and 43/s; one of ten seconds does, and
/// it is between 40 and 41/s. (After PierreZ/moonpool, issue 193, by an independent program.)
#[test]
fn the_frontier_of_a_metastable_failure_is_the_published_one() {
    let two_seconds = found(&["--variant", "two-seconds"]);
    assert!((42.0..43.0).contains(&recovers_up_to(&two_seconds)), "{two_seconds}");
    let told = "(retries alone allow 160 / 4 = 40/s, 25 % of the capacity of 160/s)";
    assert!(text_of(&two_seconds).contains(told), "{two_seconds}");
    let ten_seconds = found(&["--variant", "two-seconds", "--set", "faults.slowdown.lasts=10s"]);
    assert!((40.0..41.0).contains(&recovers_up_to(&ten_seconds)), "{ten_seconds}");
}

/// Without the line breaks of a narrow page.
fn text_of(printed: &str) -> String {
    printed.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = scratch();
    let csv = |threads: &str| {
        let arguments =
            [METASTABLE, "--vary", RATE, "--condition", NOT_RECOVERED, "-j", threads, "-n", "4", "-o", threads];
        printed(folder.path(), "frontier", &arguments);
        fs::read(folder.path().join(threads).join("frontier.csv")).expect("it was written")
    };
    assert!(csv("1") == csv("5"));
}

#[test]
fn whole_numbers_are_halved_to_neighbours() {
    let folder = scratch();
    let vary = "retries.eager.max_attempts=1..8";
    let arguments = [
        METASTABLE,
        "--variant",
        "two-seconds",
        "--vary",
        vary,
        "--condition",
        NOT_RECOVERED,
        "--points",
        "2",
        "-n",
        "6",
    ];
    let printed = printed(folder.path(), "frontier", &arguments);
    assert!(printed.contains("\n two-seconds: recovers up to 3 [3, 4]\n"), "{printed}");
}

/// Where the condition does not change there is an answer, but no frontier: exit code 1, as of an expectation that is not
/// met.
#[test]
fn a_condition_that_does_not_change_is_told_with_the_figures_at_the_ends() {
    let folder = scratch();
    let output = stormsim(
        folder.path(),
        "frontier",
        &[METASTABLE, "--variant", "no-fault", "--vary", RATE, "--condition", NOT_RECOVERED, "-n", "2"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let printed = text_of(&text(&output.stdout));
    assert!(printed.contains("no-fault: recovers everywhere in the range: 100 % at 10/s, 100 % at 100/s"), "{printed}");
    let output = stormsim(
        folder.path(),
        "frontier",
        &[METASTABLE, "--variant", "no-fault", "--vary", RATE, "--condition", "timeouts > 0", "-n", "2"],
    );
    let printed = text_of(&text(&output.stdout));
    assert!(printed.contains("no-fault: `timeouts > 0` nowhere in the range: 0 at 10/s, 0 at 100/s"), "{printed}");
}

#[test]
fn what_cannot_be_looked_for_is_refused() {
    let folder = scratch();
    let refused = |vary: &str, condition: &str| {
        refused(folder.path(), "frontier", &[METASTABLE, "--vary", vary, "--condition", condition])
    };
    assert_eq!(
        refused("clients.web.arrivals.constant.rate=10,20", NOT_RECOVERED),
        "error: `--vary`: `clients.web.arrivals.constant.rate=10,20` is no range; write `PATH=FROM..TO`, such as \
         `clients.web.arrivals.poisson.rate=10..100`\n"
    );
    assert!(refused("a=10..10", NOT_RECOVERED).contains("the ends of the range are the same"));
    assert!(refused("a=log:0..10", NOT_RECOVERED).contains("both ends of a logarithmic range are above 0"));
    let path = refused("clients.web.arrivals.constant.rat=10..20", NOT_RECOVERED);
    assert!(path.contains("`clients.web.arrivals.constant.rat`") && path.contains("did you mean `rate`?"), "{path}");
    let end = refused("clients.web.arrivals.constant.rate=-5..20", NOT_RECOVERED);
    assert!(end.contains("--vary:1:36"), "{end}");
    assert_eq!(
        refused(RATE, "recovered"),
        "error: `--condition`: `recovered` is no condition; write a figure, one of `<`, `<=`, `>`, `>=`, and a bound, such \
         as `recovered < 0.5`\n"
    );
    assert!(refused(RATE, "recoverd < 1").contains("there is no metric `recoverd`; did you mean `recovered`?"));
}

/// A condition on the mean of one metric.
fn claim(op: Op, bound: f64) -> Claim {
    let scenario = Scenario::load(METASTABLE.as_ref(), &Overrides::default()).expect("it is right");
    let measure = Measure::parse("success_ratio", &scenario).expect("every scenario has it");
    Claim { measure, op, bound }
}

/// Where the search ends, for a figure that is a function of the value, with so much to either side by chance.
fn searched(figure: impl Fn(f64) -> Option<f64>, spread: f64) -> (Vec<[f64; 4]>, usize) {
    let (_, range) = Range::of_path("x=0..100").expect("it is one");
    let claim = claim(Op::Above, 0.5);
    let search = Search { range: &range, is_whole: false, points: 9, resolution: 0.005, claim: &claim };
    let stat = |written: &String| {
        let figure = figure(written.parse().expect("a number"));
        Stat::over(Unit::Ratio, [-spread, spread].map(|off| figure.map(|figure| figure + off)))
    };
    let outcome = |(_, written): &(usize, String)| Some((stat(written), false));
    let found = search.run(1, |trials| trials.iter().map(outcome).collect());
    let (points, crossings) = &found[0];
    (crossings.iter().map(|it| [it.below, it.above, it.ci95[0], it.ci95[1]]).collect(), points.len())
}

/// It is followed to half a percent of the range, with as few trials as halving takes: 12.5 in five steps is 0.39.
#[test]
fn a_sharp_change_is_followed_to_the_resolution() {
    let (crossings, trials) = searched(|x| Some(if x > 42.3 { 1.0 } else { 0.0 }), 0.0);
    let [[below, above, low, high]] = crossings[..] else { panic!("{crossings:?}") };
    assert!(below <= 42.3 && 42.3 < above && above - below <= 0.5, "{below} {above}");
    assert_eq!((low, high), (below, above), "there is no doubt on either side");
    assert_eq!(trials, 9 + 5);
}

/// The interval of two values is 12.7062 times half of what is between them: 0.01 on either side are 0.127062. The
/// figure grows by 0.01 from one value to the next, so that 0.5 is within the interval from 37.3 to 62.7.
#[test]
fn a_slow_change_is_told_with_what_the_intervals_leave_open() {
    let (crossings, _) = searched(|x| Some(x / 100.0), 0.01);
    let [[below, above, low, high]] = crossings[..] else { panic!("{crossings:?}") };
    assert!(below <= 50.0 && 50.0 < above && above - below <= 0.5, "{below} {above}");
    assert!((36.7..37.3).contains(&low) && (62.7..63.3).contains(&high), "{low} {high}");
}

#[test]
fn every_change_to_and_fro_is_found() {
    let (crossings, _) = searched(|x| Some(f64::from((30.0..60.0).contains(&x))), 0.0);
    let at: Vec<f64> = crossings.iter().map(|[_, above, ..]| *above).collect();
    assert!(at.len() == 2 && (30.0..30.6).contains(&at[0]) && (60.0..60.6).contains(&at[1]), "{at:?}");
}

/// Where chance has it that the condition seems to change to and fro, the change that is told goes the way that the ends
/// show: above 50 there is another moment, at 52 to 54, at which it does not hold.
#[test]
fn a_change_that_is_told_goes_the_way_that_the_ends_show() {
    let figure = |x: f64| match x {
        x if x < 40.0 => 0.0,
        x if x > 60.0 => 1.0,
        x if (46.0..48.0).contains(&x) || x > 54.0 => 0.51,
        _ => 0.49,
    };
    let (crossings, _) = searched(|x| Some(figure(x)), 0.01);
    let [[below, above, low, high]] = crossings[..] else { panic!("{crossings:?}") };
    assert!(figure(below) < 0.5 && figure(above) > 0.5, "{below} {above}");
    assert!(low <= 40.0 && high >= 60.0 && high - low < 21.0, "{low} {high}");
}

/// Where the range ends before the intervals leave no doubt, that is said.
#[test]
fn what_the_range_does_not_settle_is_said() {
    let folder = scratch();
    let vary = "clients.web.arrivals.poisson.rate=38..40";
    let arguments = [
        METASTABLE,
        "--variant",
        "poisson-3s",
        "--vary",
        vary,
        "--condition",
        NOT_RECOVERED,
        "-n",
        "6",
        "--points",
        "3",
    ];
    let printed = text_of(&printed(folder.path(), "frontier", &arguments));
    assert!(printed.contains("not settled within the range"), "{printed}");
}

/// The search goes on where there begins or ceases to be a figure: it is above the bound from 55 on, and undefined from
/// 58 on, between two values that are looked at first.
#[test]
fn what_lies_before_the_undefined_is_found() {
    let (crossings, _) = searched(|x| (x < 58.0).then(|| f64::from(u8::from(x >= 55.0))), 0.0);
    let [[below, above, ..]] = crossings[..] else { panic!("{crossings:?}") };
    assert!(below < 55.0 && 55.0 <= above && above - below <= 0.5, "{below} {above}");
}

/// What is wrong between two right ends is told, and nothing is made of it.
#[test]
fn a_value_that_is_wrong_on_the_way_is_refused_with_its_place() {
    let folder = scratch();
    let two = "version = 1\nname = \"two\"\nhorizon = \"60s\"\n\
               clients.web = { arrivals = { constant = { rate = 10 } }, calls.svc = { timeout = \"1s\" } }\n\
               services.svc = { workers = 1, service_time = \"1ms\" }\n\
               faults.one = { on = [\"svc\"], from = \"20s\", lasts = \"5s\", effect = \"pause\" }\n\
               faults.two = { on = [\"svc\"], from = \"1s\", lasts = \"5s\", effect = \"pause\" }\n";
    fs::write(folder.path().join("two.toml"), two).expect("the folder is writable");
    let arguments = ["two.toml", "--vary", "faults.two.from=0s..40s", "--condition", "timeouts > 0", "-n", "1"];
    let output = stormsim(folder.path(), "frontier", &arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let told = text(&output.stderr);
    assert!(told.starts_with("error: the pauses `one` and `two` may overlap\n"), "{told}");
    assert!(told.ends_with("note: with from=20s\n"), "{told}");
}

#[test]
fn what_is_undefined_is_passed_over() {
    let (crossings, trials) = searched(|_| None, 0.0);
    assert_eq!((crossings, trials), (vec![], 9));
    let (crossings, _) = searched(|x| (x < 80.0).then(|| f64::from(x > 20.0)), 0.0);
    assert_eq!(crossings.len(), 1, "{crossings:?}");
}
