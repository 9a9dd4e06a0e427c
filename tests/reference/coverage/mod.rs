//! What the random plans reach. A test that compares random plans is worth what happens in them.

mod budgets;
mod callers;
mod cancelling;
mod clients;
mod effects;
mod ejections;
mod faults;
mod guards;
mod hedges;
mod outages;
mod pools;
mod servers;
mod services;
mod stores;
mod waits;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use stormsim::dist::replica_key;
use stormsim::failure::StopReason;
use stormsim::metrics::End;
use stormsim::plan::{CallId, Group, Plan, Timeout};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use crate::reference::record::{Attempt, AttemptEnd, Call, CallResult, Caller, Record, Request, StepCall, Work};
use crate::reference::{interpreter, random_plan};

/// Of as many plans as the engine is held against at least 25 show each case, in different company. And no plan is so
/// large that the tests that use them would have to be few.
#[test]
fn random_plans_reach_every_case_and_stay_small() {
    let (plans, mut runner) = (random_plan(), TestRunner::deterministic());
    let mut events_max = 0;
    let mut reached: Vec<(&str, u32)> = Vec::new();
    for seed in 0..25_000 {
        let plan = plans.new_tree(&mut runner).expect("no plan is rejected").current().plan();
        let record = interpreter::run(&plan, seed, 0);
        events_max = events_max.max(record.events);
        let cases = Cases { plan: &plan, replica_key: replica_key(seed, 0), record: &record }.all();
        reached.resize(cases.len(), ("", 0));
        for ((name, plans), (case, shown)) in reached.iter_mut().zip(cases) {
            *name = case;
            *plans += u32::from(shown);
        }
    }
    assert!(reached.iter().all(|&(_, plans)| plans >= 25), "plans of 25,000 that show a case: {reached:#?}");
    assert!(events_max <= 12_000, "{events_max} events");
}

/// One replica, to be asked what it shows.
struct Cases<'a> {
    plan: &'a Plan,
    replica_key: u64,
    record: &'a Record,
}

impl Cases<'_> {
    /// Whatever the rules treat in a way of its own, and whether it happened.
    fn all(&self) -> Vec<(&'static str, bool)> {
        [
            self.arrivals(),
            self.endings_of_attempts(),
            self.ways_on_the_network(),
            self.retries(),
            self.kinds_of_waits(),
            self.what_decides_on_retries(),
            self.deadlines(),
            self.steps(),
            self.fallbacks(),
            self.budgets(),
            self.rules_of_budgets(),
            self.levels_of_budgets(),
            self.abandoned_retries(),
            self.windows_of_faults(),
            self.lost_on_the_way(),
            self.struck_at_the_door(),
            self.changed_service(),
            self.crashes(),
            self.fewer_workers(),
            self.loads(),
            self.delays_of_servers(),
            self.balancing(),
            self.doors(),
            self.queues(),
            self.workers(),
            self.cancellations(),
            self.abandonings(),
            self.pools(),
            self.breakers(),
            self.trips(),
            self.probes(),
            self.throttles(),
            self.copies_sent(),
            self.ends_of_copies(),
            self.losers(),
            self.hedged_operations(),
            self.ejections(),
            self.picks_beside_ejected(),
            self.keys(),
            self.known_results(),
            self.in_progress(),
            self.taken_over(),
            self.executions(),
            self.unknown_requests(),
            self.limits_of_the_run(),
        ]
        .concat()
    }

    fn limits_of_the_run(&self) -> Vec<(&'static str, bool)> {
        let drained = self.record.ended == End::Drained;
        let (warmup, end) = (self.plan.warmup, self.record.end);
        let last_request_end = self.record.requests.iter().filter_map(|it| it.ended.as_ref().map(|end| end.at)).max();
        vec![
            ("work open at the horizon", !drained && self.work(|it| it.ended.is_none())),
            (
                "an attempt on the network at the horizon",
                !drained && self.attempt(|it| it.sent.is_some() && it.lost.is_none() && self.work_of(it).is_none()),
            ),
            ("work that outlasts all requests", drained && last_request_end < Some(end)),
            ("work in progress at the warmup", self.work(|it| it.arrived.at < warmup && it.presence(end).end > warmup)),
            ("an event at the warmup", warmup > Instant::ZERO && self.attempt(|it| it.sent == Some(warmup))),
            ("a run that ends before its warmup", end < warmup),
            (
                "a window measured while something happens",
                self.plan
                    .windows
                    .iter()
                    .any(|window| self.attempt(|it| it.sent.is_some_and(|sent| window.contains(&sent)))),
            ),
        ]
    }

    fn request(&self, shows: impl Fn(&Request) -> bool) -> bool {
        self.record.requests.iter().any(shows)
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

    fn step_call(&self, shows: impl Fn(&Work, CallId, &StepCall) -> bool) -> bool {
        self.work(|work| {
            let steps = self.plan.steps_of(work.service).zip(&work.steps);
            steps.flat_map(|(ids, states)| ids.iter().zip(states)).any(|(&id, state)| shows(work, id, state))
        })
    }

    fn work_of(&self, attempt: &Attempt) -> Option<&Work> {
        self.record.works.iter().find(|work| self.record.attempts[work.attempt].key == attempt.key)
    }

    fn waited(&self, shows: impl Fn(Span) -> bool) -> bool {
        self.record.notes.iter().any(|(_, note)| matches!(*note, Note::Waiting { wait, .. } if shows(wait)))
    }

    fn stopped(&self, by: StopReason) -> bool {
        self.call(|it| matches!(it.result(), Some(Err((_, reason))) if reason == by))
    }

    /// Whether the service was done before with the work that made a call.
    fn is_orphan_at(&self, call: &Call, at: Instant) -> bool {
        match call.caller {
            Caller::Work(place) => self.record.works[place.work].ended.is_some_and(|(moment, _)| moment.at < at),
            Caller::Request(_) => false,
        }
    }

    fn is_fallback(&self, call: &Call) -> bool {
        self.plan.calls.iter().any(|other| other.fallback == Some(call.id))
    }

    fn group(&self, request: &Request) -> &Group {
        &self.plan.groups[request.group.index()]
    }

    fn settings(&self, attempt: &Attempt) -> &stormsim::plan::Call {
        &self.plan.calls[attempt.id.index()]
    }

    fn timeout(&self, attempt: &Attempt) -> Option<Instant> {
        after(self.record.attempts[attempt.first].started, self.settings(attempt).timeout)
    }

    fn limit(&self, attempt: &Attempt) -> Option<Instant> {
        self.record.calls[attempt.call].limit
    }
}

impl Attempt {
    fn end(&self) -> Option<AttemptEnd> {
        self.ended.map(|(_, end)| end)
    }
}

impl Call {
    fn result(&self) -> Option<CallResult> {
        self.ended.map(|(_, result)| result)
    }
}

fn after(start: Instant, limit: Timeout) -> Option<Instant> {
    (limit != Timeout::NONE).then(|| start + limit.after)
}
