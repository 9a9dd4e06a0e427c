//! What the random plans reach. A test that compares random plans is worth what happens in them.

use std::ops::Range;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::End;
use stormsim::plan::{Plan, Timeout};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use crate::reference::record::{Attempt, AttemptEnd, Call, Caller, Record, Reply, Work};
use crate::reference::{interpreter, random_plan};

/// Of 1,000 plans at least 20 show each case: a run of 10,000 then meets each some 200 times or more, in different
/// company. And no plan is so large that the tests that use them would have to be few.
#[test]
fn random_plans_reach_every_case_and_stay_small() {
    let mut runner = TestRunner::deterministic();
    let mut events_max = 0;
    let mut reached: Vec<(&str, u32)> = Vec::new();
    for seed in 0..1_000 {
        let plan = random_plan().new_tree(&mut runner).expect("no plan is rejected").current().plan();
        let record = interpreter::run(&plan, seed, 0);
        events_max = events_max.max(record.events);
        let cases = Cases { plan: &plan, record: &record }.all();
        reached.resize(cases.len(), ("", 0));
        for ((name, plans), (case, shown)) in reached.iter_mut().zip(cases) {
            *name = case;
            *plans += u32::from(shown);
        }
    }
    assert!(reached.iter().all(|&(_, plans)| plans >= 20), "plans of 1,000 that show a case: {reached:#?}");
    assert!(events_max <= 2_000, "{events_max} events");
}

/// One replica, to be asked what it shows.
struct Cases<'a> {
    plan: &'a Plan,
    record: &'a Record,
}

impl Cases<'_> {
    /// Whatever the rules treat in a way of its own, and whether it happened.
    fn all(&self) -> Vec<(&'static str, bool)> {
        let drained = self.record.ended == End::Drained;
        vec![
            ("an answer at exactly the timeout", self.attempt(|it| answered_at(it, self.timeout(it)))),
            ("an answer at exactly the deadline", self.attempt(|it| answered_at(it, self.deadline(it)))),
            ("an attempt that begins at the deadline", self.attempt(|it| self.deadline(it) == Some(it.sent))),
            ("given up at the timeout", self.attempt(|it| given_up_at(it, self.timeout(it)))),
            ("given up at the deadline", self.attempt(|it| given_up_at(it, self.deadline(it)))),
            (
                "given up at both",
                self.attempt(|it| given_up_at(it, self.timeout(it)) && given_up_at(it, self.deadline(it))),
            ),
            ("a late answer", self.attempt(|it| it.answered_late)),
            ("a retry at once", self.waited(|wait| wait == Span::ZERO)),
            ("a retry after a wait", self.waited(|wait| wait > Span::ZERO)),
            ("a success after a retry", self.call(|it| it.ended == Some(Ok(())) && it.attempts > 1)),
            ("stopped by the kind of error", self.stopped(|_, reason| reason == StopReason::NotRetryable)),
            ("stopped by the count", self.stopped(|_, reason| reason == StopReason::Exhausted)),
            (
                "stopped by the deadline after an error",
                self.stopped(|error, reason| reason == StopReason::Deadline && error != ErrorKind::Deadline),
            ),
            (
                "a failed call that fails a service",
                self.call(|it| matches!((it.caller, it.ended), (Caller::Work(_), Some(Err(_))))),
            ),
            ("turned away", self.work(|it| matches!(it.answered, Some((_, Reply::TurnedAway))))),
            ("an arrival as a fault begins", self.arrival_at_edge(|window| window.start)),
            ("an arrival as a fault ends", self.arrival_at_edge(|window| window.end)),
            ("work open at the horizon", !drained && self.work(|it| it.answered.is_none())),
            ("work that outlasts all requests", drained && self.last_request_end() < Some(self.record.end)),
        ]
    }

    fn attempt(&self, shows: impl Fn(&Attempt) -> bool) -> bool {
        self.record.attempts.iter().any(shows)
    }

    fn call(&self, shows: impl Fn(&Call) -> bool) -> bool {
        self.record.calls.iter().any(shows)
    }

    fn work(&self, shows: impl Fn(&Work) -> bool) -> bool {
        self.record.works.iter().any(shows)
    }

    fn waited(&self, shows: impl Fn(Span) -> bool) -> bool {
        self.record.notes.iter().any(|(_, note)| matches!(*note, Note::Waiting { wait, .. } if shows(wait)))
    }

    fn stopped(&self, shows: impl Fn(ErrorKind, StopReason) -> bool) -> bool {
        self.call(|it| matches!(it.ended, Some(Err((error, reason))) if shows(error, reason)))
    }

    fn arrival_at_edge(&self, edge: impl Fn(&Range<Instant>) -> Instant) -> bool {
        self.work(|it| {
            let faults = self.plan.faults.iter().filter(|fault| fault.targets.contains(&it.service));
            faults.flat_map(|fault| &fault.windows).any(|window| edge(window) == it.arrived.at)
        })
    }

    fn last_request_end(&self) -> Option<Instant> {
        self.record.requests.iter().filter_map(|it| it.ended.as_ref().map(|end| end.at)).max()
    }

    fn timeout(&self, attempt: &Attempt) -> Option<Instant> {
        after(attempt.sent, self.plan.calls[attempt.id.index()].timeout)
    }

    fn deadline(&self, attempt: &Attempt) -> Option<Instant> {
        after(self.record.calls[attempt.call].began, self.plan.calls[attempt.id.index()].total_timeout)
    }
}

fn after(start: Instant, limit: Timeout) -> Option<Instant> {
    (limit != Timeout::NONE).then(|| start + limit.after)
}

fn answered_at(attempt: &Attempt, limit: Option<Instant>) -> bool {
    matches!(attempt.ended, Some((at, AttemptEnd::Answered(_))) if limit == Some(at))
}

fn given_up_at(attempt: &Attempt, limit: Option<Instant>) -> bool {
    matches!(attempt.ended, Some((at, AttemptEnd::GivenUp)) if limit == Some(at))
}
