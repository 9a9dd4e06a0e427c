//! Servers that fail and are ejected. In these stories a database has servers of which the first one is broken, and a
//! request comes every 10 ms.

use stormsim::failure::{ErrorKind, ErrorSet};
use stormsim::metrics::Outcome;
use stormsim::plan::{Arrivals, Balance, Capacity, Target};
use stormsim::policy::Ejection;
use stormsim::time::{Instant, Span};

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, tell};

/// After so many failures in a row, for 25 ms, then for 50 ms and no longer; so many servers at most.
fn ejection(consecutive: u32, most: u32) -> Ejection {
    let (ejected_for, longest) = (Span::from_ms(25), Span::from_ms(50));
    Ejection { consecutive, ejected_for, longest, most, failure_on: ErrorSet::FAILURES }
}

/// Who goes where, and who is ejected, in a run of so many requests; `broken` servers fail after 1 ms.
fn places(capacity: Capacity, broken: u32, requests: u64, link: fn(Link) -> Link) -> (Vec<String>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 2, &[]);
    plan.limit(db, capacity);
    plan.fault_on(&[Target::Service(db)], 0, ALWAYS, failing(ErrorKind::Unavailable, 1)).first_instances = broken;
    let arrivals = Arrivals::Trace((0..requests).map(|n| at(10 * n)).collect());
    plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link(Link::to(db)))]);
    let (story, outcome) = tell(&plan.0);
    let told = story.iter().filter_map(|line| {
        let (when, what) = line.split_once(" ms: ").expect("each line begins with the time");
        let (_, server) = what.split_once("server ")?;
        Some(if what.contains("goes") { format!("{when}: to {server}") } else { format!("{when}: {server}") })
    });
    (told.collect(), outcome)
}

/// In turn. The broken server is ejected with its second failure, at 21 ms, until 46 ms; then it needs two more, at
/// 51 ms and 71 ms, and is away for 50 ms, until 121 ms.
#[test]
fn a_server_is_ejected_for_longer_each_time() {
    let capacity = Capacity { instances: 2, ejection: Some(ejection(2, 1)), ..Capacity::UNLIMITED };
    let (told, outcome) = places(capacity, 1, 14, |link| link);
    assert_eq!(
        told,
        [
            "0: to 0",
            "10: to 1",
            "20: to 0",
            "21: 0 of db is ejected",
            "30: to 1",
            "40: to 1",
            "50: to 0",
            "60: to 1",
            "70: to 0",
            "71: 0 of db is ejected",
            "80: to 1",
            "90: to 1",
            "100: to 1",
            "110: to 1",
            "120: to 1",
            "130: to 0",
        ]
    );
    assert_eq!(outcome.services[0].ejections, 2);
}

/// Both servers are broken, and both may be ejected: then, at 20 ms, the balancer picks from both, and what the one says
/// that it picks does not count. At 30 ms the first one is back, whatever the counter says, but not the other.
#[test]
fn the_last_server_is_ejected_too() {
    let capacity = Capacity { instances: 2, ejection: Some(ejection(1, 2)), ..Capacity::UNLIMITED };
    let (told, outcome) = places(capacity, 2, 5, |link| link);
    assert_eq!(
        told,
        [
            "0: to 0",
            "1: 0 of db is ejected",
            "10: to 1",
            "11: 1 of db is ejected",
            "20: to 0",
            "30: to 0",
            "31: 0 of db is ejected",
            "40: to 1",
            "41: 1 of db is ejected"
        ]
    );
    assert_eq!(outcome.services[0].ejections, 4);
}

/// A retry avoids the server before, but not if that is the only one that is left: of two the first is ejected after
/// one failure, and the second, of which no more may be ejected, fails as well.
#[test]
fn the_previous_server_may_be_the_only_one_left() {
    let capacity =
        Capacity { instances: 2, balance: Balance::Primary, ejection: Some(ejection(1, 1)), ..Capacity::UNLIMITED };
    let (told, outcome) = places(capacity, 2, 1, |link| link.attempts(3, 0).avoid_previous());
    assert_eq!(told, ["0: to 0", "1: 0 of db is ejected", "1: to 1", "2: to 1"]);
    assert_eq!((outcome.services[0].ejections, outcome.calls[0].errors), (1, 3));
}
