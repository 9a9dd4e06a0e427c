//! When requests begin.

use std::ops::Range;

use stormsim::dist::{Dist, Purpose, UnitPoisson, client_key, name_key, replica_key};
use stormsim::plan::{Arrivals, Piece, Profile};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use crate::hand_made::{HandMade, Link};
use crate::reference::interpret;
use crate::{at, tell};

/// The requests of `clients` clients of a service that takes 5 ms: when, whose, and which of theirs.
fn requests(clients: u32, window: Range<Instant>, arrivals: Arrivals) -> Vec<(Instant, u32, u64)> {
    let mut plan = HandMade::new();
    let db = plan.service("db", 5, &[]);
    plan.group("web", clients, window, arrivals, &[(u64::MAX, Link::to(db))]);
    let (notes, _) = interpret(&plan.0, 42, 0);
    let began = notes.into_iter().filter_map(|(at, note)| match note {
        Note::RequestBegan { client, ordinal, .. } => Some((at, client, ordinal)),
        _ => None,
    });
    began.collect()
}

/// Thirds of a second are not whole nanoseconds; the third request, at 1 s after the start, would be at the end of
/// the window. Requests go round the clients.
#[test]
fn a_constant_rate_is_rounded_to_nanoseconds() {
    let third = Arrivals::Constant { rate: 3.0 };
    let start = at(500).as_ns();
    let until = |after_ns| at(500)..Instant::from_ns(start + after_ns);
    let expected = [(333_333_333, 0, 0), (666_666_667, 1, 0), (1_000_000_000, 0, 1)]
        .map(|(after_ns, client, ordinal)| (Instant::from_ns(start + after_ns), client, ordinal));
    assert_eq!(requests(2, until(1_000_000_000), third.clone()), expected[..2]);
    assert_eq!(requests(2, until(1_000_000_001), third), expected);
}

/// Of six instants those in [10 ms, 20 ms) are left, two of them together.
#[test]
fn a_trace_is_cut_to_the_window() {
    let trace = Arrivals::Trace([5, 10, 15, 15, 20, 25].map(at).to_vec());
    assert_eq!(requests(2, at(10)..at(20), trace), [(at(10), 0, 0), (at(15), 1, 0), (at(15), 0, 1)]);
}

/// The process begins where the profile is when the window opens, 20 requests on, and the points of the stream follow
/// from there: what came before the window is not drawn, however much it was.
#[test]
fn a_poisson_process_begins_with_its_window() {
    let steady = Profile::new(vec![Piece { from: Instant::ZERO, rate: 1000.0, slope: 0.0 }]);
    let mut process = UnitPoisson::new(replica_key(42, 0), name_key("web"), 20.0);
    let points: Vec<Instant> =
        (0..200).map(|_| steady.instant_of(process.next_point()).expect("the rate never ends")).collect();
    let window = at(20)..at(60);
    let within: Vec<Instant> = points.into_iter().filter(|point| window.contains(point)).collect();
    let began: Vec<Instant> = requests(1, window, Arrivals::Poisson(steady)).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(began, within);
    // 40 are expected; a count outside of 40 +- 6 standard deviations would be that of another rate.
    assert!((3..=77).contains(&began.len()), "{}", began.len());
}

/// Every 10 ms, each client at an offset of its own, drawn once: client by client the same distance from the grid.
#[test]
fn a_periodic_client_keeps_its_offset() {
    let offset = Dist::Uniform { min: Span::ZERO, values: 10, step: Span::from_ms(1) };
    let periodic = Arrivals::Periodic { every: Span::from_ms(10), offset: offset.clone() };
    let mut expected = Vec::new();
    for client in 0..3 {
        let first = offset.sample(client_key(replica_key(42, 0), name_key("web"), client), Purpose::Offset);
        for ordinal in 0..3 {
            expected.push((at(7 + 10 * ordinal) + first, client, ordinal));
        }
    }
    let mut began = requests(3, at(7)..at(37), periodic);
    began.sort_unstable_by_key(|&(at, client, _)| (client, at));
    assert_eq!(began, expected);
}

/// All clients at 3 ms after the start, in their order; the fourth round would begin at the end of the window.
#[test]
fn periodic_clients_of_one_offset_begin_together() {
    let periodic = Arrivals::Periodic { every: Span::from_ms(10), offset: Dist::Constant(Span::from_ms(3)) };
    let began = requests(2, at(5)..at(38), periodic);
    let rounds = [8, 18, 28].into_iter().zip(0..).flat_map(|(ms, round)| [(at(ms), 0, round), (at(ms), 1, round)]);
    assert_eq!(began, rounds.collect::<Vec<_>>());
}

/// 5 ms of work and 10 ms of thought: every 15 ms from the start on. Three requests end it at 37 ms ...
#[test]
fn a_closed_client_thinks_after_each_request() {
    let closed = |requests| Arrivals::Closed { think: Dist::Constant(Span::from_ms(10)), requests };
    let expected = [(at(2), 0, 0), (at(17), 0, 1), (at(32), 0, 2), (at(47), 0, 3)];
    assert_eq!(requests(1, at(2)..Instant::LIMIT, closed(3)), expected[..3]);
    // ... and so does a window in which the fourth would begin at the end.
    assert_eq!(requests(1, at(2)..at(47), closed(u64::MAX)), expected[..3]);
    assert_eq!(requests(1, at(2)..Instant::from_ns(at(47).as_ns() + 1), closed(u64::MAX)), expected);
}

/// A client that does not think goes on at the instant at which its request ended, after what is already scheduled
/// there: the other client's answer.
#[test]
fn a_closed_client_that_does_not_think_goes_on_at_once() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 5, &[]);
    let closed = Arrivals::Closed { think: Dist::ZERO, requests: 2 };
    plan.group("web", 2, Instant::ZERO..Instant::LIMIT, closed, &[(u64::MAX, Link::to(db))]);
    let (story, outcome) = tell(&plan.0);
    let at_5_ms: Vec<_> = story.iter().filter(|line| line.starts_with("5 ms")).collect();
    assert_eq!(
        at_5_ms,
        [
            "5 ms: web->db #1 is answered",
            "5 ms: web->db #1 is answered",
            "5 ms: web->db #1 has its answer",
            "5 ms: web->db succeeds with web->db #1",
            "5 ms: web->db #1 has its answer",
            "5 ms: web->db succeeds with web->db #1",
            "5 ms: client 0 of web begins request 1",
            "5 ms: web->db #1 is sent",
            "5 ms: client 1 of web begins request 1",
            "5 ms: web->db #1 is sent",
            "5 ms: web->db #1 arrives at db",
            "5 ms: web->db #1 arrives at db",
        ]
    );
    assert_eq!((outcome.all_requests.succeeded, outcome.end), (4, at(10)));
}
