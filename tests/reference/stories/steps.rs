//! The calls of a service: copies, optional calls, calls by chance, and those for which nobody waits any more.

use std::collections::BTreeSet;

use stormsim::dist::{attempt_key, call_key, name_key};
use stormsim::failure::ErrorKind;
use stormsim::metrics::Outcome;
use stormsim::plan::{Plan, ServiceId};
use stormsim::sim::Note;

use crate::hand_made::{HandMade, Link};
use crate::reference::interpret;
use crate::{ALWAYS, at, failing, tell};

/// What happens after the first `ms` milliseconds.
fn story_after(ms: u64, plan: &Plan) -> (Vec<String>, Outcome) {
    let (story, outcome) = tell(plan);
    let time = |line: &str| line.split(' ').next().and_then(|ms| ms.parse::<u64>().ok()).expect("whole milliseconds");
    (story.into_iter().filter(|line| time(line) > ms).collect(), outcome)
}

/// Three copies of which two must succeed, all at 10 ms: the second one decides, and the third comes for nobody.
#[test]
fn enough_copies_are_enough() {
    let mut plan = HandMade::new();
    let shard = plan.service("shard", 10, &[]);
    let search = plan.service("search", 0, &[&[Link::to(shard).copies(3, 2)]]);
    plan.client("web", 0, Link::to(search));
    let (story, outcome) = story_after(0, &plan.0);
    assert_eq!(
        story,
        [
            "10 ms: search->shard copy 0 #1 is answered",
            "10 ms: search->shard copy 1 #1 is answered",
            "10 ms: search->shard copy 2 #1 is answered",
            "10 ms: search->shard copy 0 #1 has its answer",
            "10 ms: search->shard succeeds with search->shard copy 0 #1",
            "10 ms: search->shard copy 1 #1 has its answer",
            "10 ms: search->shard succeeds with search->shard copy 1 #1",
            "10 ms: web->search #1 is answered",
            "10 ms: search->shard copy 2 #1 has its answer",
            "10 ms: search->shard succeeds with search->shard copy 2 #1",
            "10 ms: web->search #1 has its answer",
            "10 ms: web->search succeeds with web->search #1",
        ]
    );
    assert_eq!((outcome.services[0].arrivals, outcome.all_requests.succeeded_first_try), (3, 1));
}

/// Four copies of which three must succeed: after the second failure they cannot, and its error is that of the caller.
/// Each copy tries twice; the last two go on to their own end, although the caller has answered.
#[test]
fn too_few_copies_fail_when_that_is_certain() {
    let mut plan = HandMade::new();
    let shard = plan.service("shard", 10, &[]);
    let search = plan.service("search", 0, &[&[Link::to(shard).copies(4, 3).attempts(2, 5)]]);
    plan.client("web", 0, Link::to(search));
    plan.fault(shard, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let (story, outcome) = story_after(6, &plan.0);
    let ends: Vec<_> = story.iter().filter(|line| line.contains("fails") || line.contains("web")).collect();
    assert_eq!(
        ends,
        [
            "7 ms: search->shard fails with search->shard copy 0 #2: unavailable, exhausted",
            "7 ms: search->shard fails with search->shard copy 1 #2: unavailable, exhausted",
            "7 ms: web->search #1 is answered: unavailable",
            "7 ms: search->shard fails with search->shard copy 2 #2: unavailable, exhausted",
            "7 ms: search->shard fails with search->shard copy 3 #2: unavailable, exhausted",
            "7 ms: web->search #1 has its answer",
            "7 ms: web->search fails with web->search #1: unavailable, exhausted",
        ]
    );
    assert_eq!((outcome.calls[0].attempts, outcome.calls[0].errors), (8, 8));
}

/// `b` fails for good at 1 ms, and with it its caller. `c` has failed as well and does not know that nobody waits: it
/// tries again at 6 ms, fails, and falls back to `d`.
#[test]
fn an_orphan_goes_on_retries_and_fallback_included() {
    let mut plan = HandMade::new();
    let (b, c, d) = (plan.service("b", 9, &[]), plan.service("c", 9, &[]), plan.service("d", 9, &[]));
    let orphan = Link::to(c).attempts(2, 5).if_failed(Link::to(d));
    let a = plan.service("a", 0, &[&[Link::to(b), orphan]]);
    plan.client("web", 0, Link::to(a));
    plan.fault(b, 0, ALWAYS, failing(ErrorKind::Internal, 1));
    plan.fault(c, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let (story, outcome) = story_after(0, &plan.0);
    assert_eq!(
        story,
        [
            "1 ms: a->b #1 is answered: internal",
            "1 ms: a->c #1 is answered: unavailable",
            "1 ms: a->b #1 has its answer",
            "1 ms: a->b fails with a->b #1: internal, not_retryable",
            "1 ms: web->a #1 is answered: internal",
            "1 ms: a->c #1 has its answer",
            "1 ms: a->c #1 failed, wait 5 ms",
            "1 ms: web->a #1 has its answer",
            "1 ms: web->a fails with web->a #1: internal, not_retryable",
            "6 ms: a->c #2 is sent",
            "6 ms: a->c #2 arrives at c",
            "7 ms: a->c #2 is answered: unavailable",
            "7 ms: a->c #2 has its answer",
            "7 ms: a->c fails with a->c #2: unavailable, exhausted",
            "7 ms: a->d #1 is sent",
            "7 ms: a->d #1 arrives at d",
            "16 ms: a->d #1 is answered",
            "16 ms: a->d #1 has its answer",
            "16 ms: a->d succeeds with a->d #1",
        ]
    );
    assert_eq!((outcome.end, outcome.all_requests.last_end), (at(16), Some(at(1))));
}

/// The ads fail and the page comes without them: two layers up the request succeeds, and is marked.
#[test]
fn a_failed_optional_call_degrades_all_above_it() {
    let mut plan = HandMade::new();
    let (text, ads) = (plan.service("text", 10, &[]), plan.service("ads", 10, &[]));
    let page = plan.service("page", 0, &[&[Link::to(text), Link::to(ads).optional()]]);
    let gateway = plan.service("gateway", 0, &[&[Link::to(page)]]);
    plan.client("web", 0, Link::to(gateway));
    plan.fault(ads, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let (story, outcome) = story_after(0, &plan.0);
    assert_eq!(story[2], "1 ms: page->ads fails with page->ads #1: unavailable, exhausted");
    assert_eq!(story.last().map(String::as_str), Some("10 ms: web->gateway succeeds with web->gateway #1"));
    let requests = &outcome.all_requests;
    assert_eq!((requests.succeeded, requests.degraded, requests.succeeded_first_try), (1, 1, 1));
}

/// Without a required call that waits, an optional one that fails lets the next step begin at once; and what the
/// failure of a required call after it makes of the request is a failure, however degraded.
#[test]
fn degraded_work_that_fails_has_failed() {
    let mut plan = HandMade::new();
    let (ads, text) = (plan.service("ads", 10, &[]), plan.service("text", 10, &[]));
    let page = plan.service("page", 0, &[&[Link::to(ads).optional()], &[Link::to(text)]]);
    plan.client("web", 0, Link::to(page));
    plan.fault(ads, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    plan.fault(text, 0, ALWAYS, failing(ErrorKind::Internal, 1));
    let (story, outcome) = story_after(0, &plan.0);
    assert_eq!(
        story[2..4],
        ["1 ms: page->ads fails with page->ads #1: unavailable, exhausted", "1 ms: page->text #1 is sent"]
    );
    let requests = &outcome.all_requests;
    assert_eq!((requests.failed_by[ErrorKind::Internal as usize], requests.degraded), (1, 0));
}

/// A call that is never made holds nothing up: the step of which it is all is over as it begins.
#[test]
fn a_call_that_is_not_made_has_settled() {
    let mut plan = HandMade::new();
    let (rare, text) = (plan.service("rare", 10, &[]), plan.service("text", 10, &[]));
    let page = plan.service("page", 5, &[&[Link::to(rare).copies(3, 2).probability(0.0)], &[Link::to(text)]]);
    plan.client("web", 0, Link::to(page));
    let (story, outcome) = story_after(0, &plan.0);
    assert_eq!(story[..2], ["5 ms: page->text #1 is sent", "5 ms: page->text #1 arrives at text"]);
    assert_eq!((outcome.services[0].arrivals, outcome.all_requests.succeeded), (0, 1));
}

/// Of 1,000 works half make the call, and each that does makes all of its three copies.
#[test]
fn one_draw_decides_about_all_copies() {
    let mut plan = HandMade::new();
    let shard = plan.service("shard", 1, &[]);
    let search = plan.service("search", 0, &[&[Link::to(shard).copies(3, 3).probability(0.5)]]);
    plan.clients("web", 1_000, at(0), &[(u64::MAX, Link::to(search))]);
    let (notes, _) = interpret(&plan.0, 42, 0);
    let arrived = |at: ServiceId| {
        notes.iter().filter_map(move |(_, note)| match *note {
            Note::Arrived { service, key } if service == at => Some(key),
            _ => None,
        })
    };
    let at_shard: BTreeSet<u64> = arrived(shard).collect();
    let copies_of = |work: u64| {
        let keys = (0..3).map(move |copy| attempt_key(call_key(work, name_key("shard"), copy), 1, 0));
        keys.filter(|key| at_shard.contains(key)).count()
    };
    let copies: Vec<usize> = arrived(search).map(copies_of).collect();
    let all = copies.iter().filter(|&&copies| copies == 3).count();
    assert_eq!(copies.iter().filter(|&&copies| copies == 0).count() + all, 1_000);
    // Binomial with a standard deviation of 15.8: 6 of them are 95.
    assert!((405..=595).contains(&all), "{all}");
}
