//! The rules, event by event. Read it beside the documentation of `stormsim::sim`.

use stormsim::dist::{Dist, Purpose, attempt_key, call_key, draw, happens, mix, replica_key, request_key};
use stormsim::failure::ErrorKind;
use stormsim::metrics::End;
use stormsim::plan::{Arrivals, CallId, Effect, FaultId, GroupId, Plan};
use stormsim::policy::{Attempted, Verdict};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Agenda, Class, Event};
use super::record::{Attempt, AttemptEnd, Call, CallResult, Caller, Moment, Record, Reply, Request, RequestEnd, Work};

/// Tells the story of one replica.
pub fn run(plan: &Plan, seed: u64, replica: u32) -> Record {
    let mut interpreter = Interpreter::start(plan, replica_key(seed, replica));
    while let Some((at, event)) = interpreter.next() {
        interpreter.now = at;
        interpreter.record.events += 1;
        interpreter.happen(event);
    }
    let mut record = interpreter.record;
    (record.end, record.ended) = match plan.horizon {
        // With a horizon the run goes on to it, also when there is nothing left to do.
        Some(horizon) => (horizon, End::Horizon),
        None => (interpreter.now, End::Drained),
    };
    record
}

struct Interpreter<'plan> {
    plan: &'plan Plan,
    replica_key: u64,
    now: Instant,
    agenda: Agenda,
    /// By group.
    requests_begun: Vec<u32>,
    record: Record,
}

impl<'plan> Interpreter<'plan> {
    fn start(plan: &'plan Plan, replica_key: u64) -> Self {
        let mut interpreter = Self {
            plan,
            replica_key,
            now: Instant::ZERO,
            agenda: Agenda::default(),
            requests_begun: vec![0; plan.groups.len()],
            record: Record {
                notes: Vec::new(),
                requests: Vec::new(),
                calls: Vec::new(),
                attempts: Vec::new(),
                works: Vec::new(),
                events: 0,
                end: Instant::ZERO,
                ended: End::Drained,
            },
        };
        for window in plan.faults.iter().flat_map(|fault| &fault.windows) {
            interpreter.agenda.schedule(window.start, Class::FaultTransition, Event::FaultTransition);
            interpreter.agenda.schedule(window.end, Class::FaultTransition, Event::FaultTransition);
        }
        for group in (0..plan.groups.len() as u32).map(GroupId) {
            interpreter.schedule_next_arrival(group);
        }
        interpreter
    }

    /// The next event, unless the run ends before it.
    fn next(&mut self) -> Option<(Instant, Event)> {
        let over = match self.plan.horizon {
            Some(horizon) => self.agenda.next_at().is_some_and(|at| at >= horizon),
            None => self.agenda.only_fault_transitions(),
        };
        if over { None } else { self.agenda.pop() }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::FaultTransition => {}
            Event::Arrival(group) => self.arrival(group),
            Event::Arrive { attempt } => self.arrive(attempt),
            Event::Served { work, struck: Ok(()) } => self.begin_next_step(work),
            Event::Served { work, struck: Err(error) } => self.answer_with(work, Reply::Error(error)),
            Event::Answer { work } => self.answer(work),
            Event::Timer { attempt } => self.timer(attempt),
            Event::Wake { call } => self.start_attempt(call),
        }
    }

    fn note(&mut self, note: Note) {
        self.record.notes.push((self.now, note));
    }

    fn moment(&self) -> Moment {
        Moment { at: self.now, event: self.record.events }
    }

    fn schedule_after(&mut self, delay: Span, event: Event) {
        self.agenda.schedule(self.now + delay, Class::Normal, event);
    }

    fn schedule_next_arrival(&mut self, group: GroupId) {
        let settings = &self.plan.groups[group.index()];
        let Arrivals::Burst { at } = settings.arrivals;
        if self.requests_begun[group.index()] < settings.clients {
            self.agenda.schedule(at, Class::Normal, Event::Arrival(group));
        }
    }

    // The client's side.

    fn arrival(&mut self, group: GroupId) {
        let settings = &self.plan.groups[group.index()];
        let n = self.requests_begun[group.index()];
        self.requests_begun[group.index()] += 1;
        let (client, ordinal) = (n % settings.clients, u64::from(n / settings.clients));
        self.note(Note::RequestBegan { group, client, ordinal });

        let key = request_key(self.replica_key, settings.key, client, ordinal);
        let luck = draw(key, Purpose::Choice);
        let choice = settings.choices.iter().find(|(bound, _)| luck <= *bound);
        let &(_, call) = choice.expect("the last bound is the largest number there is");
        self.record.requests.push(Request { group, began: self.now, ended: None });
        self.begin_call(call, key, Caller::Request(self.record.requests.len() - 1), true);

        self.schedule_next_arrival(group);
    }

    // The caller's side, whether client or service.

    fn begin_call(&mut self, id: CallId, caller_key: u64, caller: Caller, on_first_path: bool) {
        self.record.calls.push(Call {
            id,
            key: call_key(caller_key, self.plan.calls[id.index()].key, 0),
            caller,
            on_first_path,
            began: self.now,
            attempts: 0,
            previous_wait: Span::ZERO,
            ended: None,
        });
        self.start_attempt(self.record.calls.len() - 1);
    }

    fn start_attempt(&mut self, call: usize) {
        let this = &mut self.record.calls[call];
        this.attempts += 1;
        let (id, number, began) = (this.id, this.attempts, this.began);
        let key = attempt_key(this.key, number, 0);
        let on_first_path = this.on_first_path && number == 1;
        self.note(Note::Sent { call: id, attempt: number, key });

        let attempt = self.record.attempts.len();
        self.schedule_after(Span::ZERO, Event::Arrive { attempt });
        let settings = &self.plan.calls[id.index()];
        let limits = [(self.now, settings.timeout.after), (began, settings.total_timeout.after)];
        let give_up_at = limits.into_iter().filter(|(_, after)| *after != Span::UNLIMITED).map(|(t, after)| t + after);
        let timer = give_up_at.min().map(|at| self.agenda.schedule(at, Class::Timeout, Event::Timer { attempt }));
        self.record.attempts.push(Attempt {
            call,
            id,
            number,
            key,
            on_first_path,
            sent: self.now,
            timer,
            ended: None,
            answered_late: false,
        });
    }

    fn answer(&mut self, work: usize) {
        let Work { attempt, answered, .. } = self.record.works[work];
        let (_, reply) = answered.expect("an answer is scheduled when the work is answered");
        let this = &mut self.record.attempts[attempt];
        let (call, key, late) = (this.call, this.key, this.ended.is_some());
        if late {
            this.answered_late = true;
            return self.note(Note::Answer { key, late });
        }
        this.ended = Some((self.now, AttemptEnd::Answered(reply.result())));
        if let Some(timer) = this.timer {
            self.agenda.cancel(timer);
        }
        self.note(Note::Answer { key, late });
        match reply.result() {
            Ok(()) => self.end_call(call, Ok(())),
            Err(error) => self.attempt_failed(attempt, error),
        }
    }

    fn timer(&mut self, attempt: usize) {
        let this = &mut self.record.attempts[attempt];
        this.ended = Some((self.now, AttemptEnd::GivenUp));
        let (call, key) = (this.call, this.key);
        // At exactly the total timeout it has passed.
        let error = if self.remaining(call) == Span::ZERO { ErrorKind::Deadline } else { ErrorKind::Timeout };
        self.note(Note::TimedOut { key, error });
        self.attempt_failed(attempt, error);
    }

    /// What is left of the total timeout of a call.
    fn remaining(&self, call: usize) -> Span {
        let Call { id, began, .. } = self.record.calls[call];
        match self.plan.calls[id.index()].total_timeout.after {
            Span::UNLIMITED => Span::UNLIMITED,
            total => (began + total).since(self.now),
        }
    }

    fn attempt_failed(&mut self, attempt: usize, error: ErrorKind) {
        let Attempt { call, id, number, key, .. } = self.record.attempts[attempt];
        let verdict = self.plan.policy_of(id).decide(Attempted {
            attempt: number,
            error,
            remaining: self.remaining(call),
            previous_wait: self.record.calls[call].previous_wait,
            key,
        });
        match verdict {
            Verdict::Retry(wait) => {
                self.note(Note::Waiting { key, wait });
                self.record.calls[call].previous_wait = wait;
                // A wait of zero is scheduled too: it is not among the phases that are skipped.
                self.schedule_after(wait, Event::Wake { call });
            }
            Verdict::Stop(reason) => self.end_call(call, Err((error, reason))),
        }
    }

    fn end_call(&mut self, call: usize, result: CallResult) {
        let this = &mut self.record.calls[call];
        this.ended = Some(result);
        let (id, caller, attempts) = (this.id, this.caller, this.attempts);
        let key = attempt_key(this.key, attempts, 0);
        self.note(Note::CallEnded { call: id, key, result });
        match caller {
            Caller::Request(request) => {
                self.record.requests[request].ended = Some(RequestEnd { at: self.now, result, attempts });
            }
            Caller::Work(work) => self.own_call_ended(work, result),
        }
    }

    // The service's side.

    fn arrive(&mut self, attempt: usize) {
        let Attempt { id, key, .. } = self.record.attempts[attempt];
        let service = self.plan.calls[id.index()].target;
        self.note(Note::Arrived { service, key });
        let work = self.record.works.len();
        self.record.works.push(Work {
            attempt,
            service,
            arrived: self.moment(),
            steps_begun: 0,
            calls_awaited: 0,
            answered: None,
        });
        match self.fault_that_strikes(work).map(|fault| &self.plan.faults[fault.index()]) {
            None => {
                let time = &self.plan.services[service.index()].service_time;
                self.serve(work, time, time.sample(key, Purpose::Service), Ok(()));
            }
            Some(fault) => match &fault.effect {
                Effect::Refuse => self.answer_with(work, Reply::TurnedAway),
                Effect::Fail { error, delay, .. } => {
                    self.serve(work, delay, delay.sample(mix(key, fault.key), Purpose::FaultDelay), Err(*error));
                }
            },
        }
    }

    /// The first fault, in file order, that hits this arrival.
    fn fault_that_strikes(&self, work: usize) -> Option<FaultId> {
        let Work { attempt, service, .. } = self.record.works[work];
        let key = self.record.attempts[attempt].key;
        let strikes = self.plan.faults.iter().position(|fault| {
            let active = fault.windows.iter().any(|window| window.contains(&self.now));
            let chosen = match fault.effect {
                Effect::Refuse => true,
                Effect::Fail { probability, .. } => happens(draw(mix(key, fault.key), Purpose::Fault), probability),
            };
            active && fault.targets.contains(&service) && chosen
        });
        strikes.map(|index| FaultId(index as u32))
    }

    /// Spends the sample `time` of `dist` on a work. What takes constantly no time is no event.
    fn serve(&mut self, work: usize, dist: &Dist, time: Span, struck: Result<(), ErrorKind>) {
        let served = Event::Served { work, struck };
        if *dist == Dist::ZERO { self.happen(served) } else { self.schedule_after(time, served) }
    }

    fn begin_next_step(&mut self, work: usize) {
        let this = &mut self.record.works[work];
        let Some(calls) = self.plan.steps_of(this.service).nth(this.steps_begun) else {
            return self.answer_with(work, Reply::Success);
        };
        this.steps_begun += 1;
        this.calls_awaited = calls.len();
        let Attempt { key, on_first_path, .. } = self.record.attempts[this.attempt];
        for &call in calls {
            self.begin_call(call, key, Caller::Work(work), on_first_path);
        }
    }

    fn own_call_ended(&mut self, work: usize, result: CallResult) {
        let this = &mut self.record.works[work];
        if this.answered.is_some() {
            // A call made beside this one has failed already: nobody waits for this one.
            return;
        }
        match result {
            Ok(()) => {
                this.calls_awaited -= 1;
                if this.calls_awaited == 0 {
                    self.begin_next_step(work);
                }
            }
            Err((error, _)) => self.answer_with(work, Reply::Error(error)),
        }
    }

    fn answer_with(&mut self, work: usize, reply: Reply) {
        let answered = self.moment();
        let this = &mut self.record.works[work];
        this.answered = Some((answered, reply));
        let key = self.record.attempts[this.attempt].key;
        self.note(Note::Answered { key, result: reply.result() });
        self.schedule_after(Span::ZERO, Event::Answer { work });
    }
}
