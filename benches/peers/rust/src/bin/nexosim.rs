//! The two workloads with NeXosim: models with ports, and events that a model schedules on itself. All clients are one
//! model. One thread, because a replica of stormsim has one.
//!
//! What is sent through a port arrives at the same instant and is no scheduled event; `events` counts what the models
//! handle, whichever way it came.

use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{Output, QuerySource, UniRequestor};
use nexosim::simulation::{EventKey, Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use peers::{Admission, Answer, Attempt, Calls, Counts, Next, Workers, exponential, full_jitter, generator, uniform};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Nothing can be scheduled for the present instant: the shortest delay is a nanosecond.
fn delay(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds).max(Duration::from_nanos(1))
}

fn main() {
    peers::main("nexosim", storm, chain);
}

// The storm: a client asks the server, which replies with an error, and the client backs off. A query, because it waits
// for no mailbox on its way back; an answer through an output would need mailboxes that hold one for every client.

#[derive(Serialize, Deserialize)]
struct Fleet {
    /// The call. The reply is whether it has succeeded.
    call: UniRequestor<(), bool>,
    clients: u32,
    generator: Pcg64,
    counts: Counts,
}

#[Model]
impl Fleet {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        self.counts.requests = self.clients.into();
        for _ in 0..self.clients {
            context.schedule_event(delay(0.0), schedulable!(Self::attempt), 1).expect("not in the past");
        }
    }

    #[nexosim(schedulable)]
    async fn attempt(&mut self, attempt: u32, context: &Context<Self>) {
        self.counts.attempts += 1;
        // The attempt and the query.
        self.counts.events += 2;
        if !self.call.send(()).await && attempt <= peers::STORM_RETRIES {
            let draw = uniform(&mut self.generator);
            let wait = full_jitter(draw, peers::STORM_BASE, peers::STORM_CAP, attempt);
            context.schedule_event(delay(wait), schedulable!(Self::attempt), attempt + 1).expect("not in the past");
        }
    }

    async fn counts(&mut self) -> Counts {
        self.counts
    }
}

#[derive(Serialize, Deserialize)]
struct Server;

#[Model]
impl Server {
    async fn request(&mut self) -> bool {
        false
    }
}

fn storm(clients: u32) -> Counts {
    let fleet_mailbox = Mailbox::new();
    let server_mailbox = Mailbox::new();
    let fleet = Fleet {
        call: UniRequestor::new(Server::request, &server_mailbox),
        clients,
        generator: generator(0),
        counts: Counts::default(),
    };
    let mut bench = SimInit::with_num_threads(1);
    let counts = QuerySource::new().connect(Fleet::counts, &fleet_mailbox).register(&mut bench);
    let mut simulation = bench
        .add_model(fleet, fleet_mailbox, "fleet")
        .add_model(Server, server_mailbox, "server")
        .init(MonotonicTime::EPOCH)
        .expect("the models are connected");
    simulation.run().expect("the simulation ends");
    simulation.process_query(&counts, ()).expect("the fleet replies")
}

// The chain.

#[derive(Serialize, Deserialize)]
struct Clients {
    call: Output<Attempt>,
    calls: Calls<EventKey>,
    generator: Pcg64,
    counts: Counts,
}

#[Model]
impl Clients {
    fn new() -> Self {
        Self { call: Output::new(), calls: Calls::default(), generator: generator(0), counts: Counts::default() }
    }

    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        self.next_arrival(context);
    }

    fn next_arrival(&mut self, context: &Context<Self>) {
        let gap = exponential(uniform(&mut self.generator), 1.0 / peers::RATE);
        context.schedule_event(delay(gap), schedulable!(Self::arrival), ()).expect("not in the past");
    }

    #[nexosim(schedulable)]
    async fn arrival(&mut self, _: (), context: &Context<Self>) {
        self.counts.events += 1;
        self.counts.requests += 1;
        let slot = self.calls.begin(None);
        self.send(slot, context).await;
        self.next_arrival(context);
    }

    async fn send(&mut self, slot: usize, context: &Context<Self>) {
        let attempt = self.calls.attempt(slot);
        let timer = context
            .schedule_keyed_event(delay(peers::TIMEOUTS[0]), schedulable!(Self::timeout), attempt)
            .expect("not in the past");
        self.calls.arm(slot, timer);
        self.call.send(attempt).await;
    }

    /// The answer to a call -- input port.
    async fn answered(&mut self, answer: Answer, context: &Context<Self>) {
        self.counts.events += 1;
        if self.calls.waits_for(answer.attempt) {
            if let Some(timer) = self.calls.disarm(answer.attempt.slot) {
                timer.cancel();
            }
            self.ended(answer, context);
        }
    }

    #[nexosim(schedulable)]
    async fn timeout(&mut self, attempt: Attempt, context: &Context<Self>) {
        self.counts.events += 1;
        self.ended(Answer { attempt, ok: false }, context);
    }

    #[nexosim(schedulable)]
    async fn retry(&mut self, slot: usize, context: &Context<Self>) {
        self.counts.events += 1;
        self.send(slot, context).await;
    }

    fn ended(&mut self, answer: Answer, context: &Context<Self>) {
        match self.calls.ended(answer.attempt.slot, answer.ok, || uniform(&mut self.generator)) {
            Next::Retry { slot, wait } => {
                context.schedule_event(delay(wait), schedulable!(Self::retry), slot).expect("not in the past");
            }
            Next::Over { ok, .. } => self.counts.completed += u64::from(ok),
        }
    }

    async fn counts(&mut self) -> Counts {
        Counts { attempts: self.calls.attempts, ..self.counts }
    }
}

#[derive(Serialize, Deserialize)]
struct Tier {
    /// The answers to whoever calls this tier.
    answer: Output<Answer>,
    /// The calls to the tier below.
    call: Output<Attempt>,
    /// How long this tier waits for an answer; none for the last, which makes no calls.
    timeout: Option<f64>,
    calls: Calls<EventKey>,
    workers: Workers,
    generator: Pcg64,
    counts: Counts,
}

#[Model]
impl Tier {
    fn new(index: usize) -> Self {
        Self {
            answer: Output::new(),
            call: Output::new(),
            timeout: peers::TIMEOUTS.get(index + 1).copied(),
            calls: Calls::default(),
            workers: Workers::default(),
            generator: generator(index as u64 + 1),
            counts: Counts::default(),
        }
    }

    /// A call -- input port.
    async fn arrive(&mut self, attempt: Attempt, context: &Context<Self>) {
        self.counts.events += 1;
        match self.workers.admit(attempt) {
            Admission::Begins => self.serve(attempt, context),
            Admission::Waits => {}
            Admission::Refused => self.answer.send(Answer { attempt, ok: false }).await,
        }
    }

    fn serve(&mut self, attempt: Attempt, context: &Context<Self>) {
        let time = exponential(uniform(&mut self.generator), peers::SERVICE);
        context.schedule_event(delay(time), schedulable!(Self::served), attempt).expect("not in the past");
    }

    #[nexosim(schedulable)]
    async fn served(&mut self, attempt: Attempt, context: &Context<Self>) {
        self.counts.events += 1;
        if self.timeout.is_some() {
            let slot = self.calls.begin(Some(attempt));
            self.send(slot, context).await;
        } else {
            self.finish(attempt, true, context).await;
        }
    }

    async fn finish(&mut self, attempt: Attempt, ok: bool, context: &Context<Self>) {
        self.answer.send(Answer { attempt, ok }).await;
        if let Some(next) = self.workers.release() {
            self.serve(next, context);
        }
    }

    async fn send(&mut self, slot: usize, context: &Context<Self>) {
        let attempt = self.calls.attempt(slot);
        let timeout = self.timeout.expect("the last tier makes no calls");
        let timer = context
            .schedule_keyed_event(delay(timeout), schedulable!(Self::timed_out), attempt)
            .expect("not in the past");
        self.calls.arm(slot, timer);
        self.call.send(attempt).await;
    }

    /// The answer to a call -- input port.
    async fn answered(&mut self, answer: Answer, context: &Context<Self>) {
        self.counts.events += 1;
        if self.calls.waits_for(answer.attempt) {
            if let Some(timer) = self.calls.disarm(answer.attempt.slot) {
                timer.cancel();
            }
            self.ended(answer, context).await;
        }
    }

    #[nexosim(schedulable)]
    async fn timed_out(&mut self, attempt: Attempt, context: &Context<Self>) {
        self.counts.events += 1;
        self.ended(Answer { attempt, ok: false }, context).await;
    }

    #[nexosim(schedulable)]
    async fn retry(&mut self, slot: usize, context: &Context<Self>) {
        self.counts.events += 1;
        self.send(slot, context).await;
    }

    async fn ended(&mut self, answer: Answer, context: &Context<Self>) {
        match self.calls.ended(answer.attempt.slot, answer.ok, || uniform(&mut self.generator)) {
            Next::Retry { slot, wait } => {
                context.schedule_event(delay(wait), schedulable!(Self::retry), slot).expect("not in the past");
            }
            Next::Over { work: Some(work), ok } => self.finish(work, ok, context).await,
            Next::Over { work: None, .. } => unreachable!("a tier calls because of work"),
        }
    }

    async fn counts(&mut self) -> Counts {
        Counts { attempts: self.calls.attempts, ..self.counts }
    }
}

fn chain() -> Counts {
    let mut clients = Clients::new();
    let [mut front, mut middle, mut back] = [0, 1, 2].map(Tier::new);
    let clients_mailbox = Mailbox::new();
    let front_mailbox = Mailbox::new();
    let middle_mailbox = Mailbox::new();
    let back_mailbox = Mailbox::new();

    clients.call.connect(Tier::arrive, &front_mailbox);
    front.answer.connect(Clients::answered, &clients_mailbox);
    front.call.connect(Tier::arrive, &middle_mailbox);
    middle.answer.connect(Tier::answered, &front_mailbox);
    middle.call.connect(Tier::arrive, &back_mailbox);
    back.answer.connect(Tier::answered, &middle_mailbox);

    let mut bench = SimInit::with_num_threads(1);
    let mut queries = vec![QuerySource::new().connect(Clients::counts, &clients_mailbox).register(&mut bench)];
    for mailbox in [&front_mailbox, &middle_mailbox, &back_mailbox] {
        queries.push(QuerySource::new().connect(Tier::counts, mailbox).register(&mut bench));
    }
    let mut simulation = bench
        .add_model(clients, clients_mailbox, "clients")
        .add_model(front, front_mailbox, "front")
        .add_model(middle, middle_mailbox, "middle")
        .add_model(back, back_mailbox, "back")
        .init(MonotonicTime::EPOCH)
        .expect("the models are connected");
    simulation.step_until(Duration::from_secs_f64(peers::HORIZON)).expect("the simulation ends");

    let mut counts = Counts::default();
    for query in queries {
        counts.add(simulation.process_query(&query, ()).expect("the models reply"));
    }
    counts
}
