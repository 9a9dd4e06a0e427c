//! Everything that happened in one replica. Nothing is ever removed.

use stormsim::failure::{ErrorKind, Refusal, StopReason};
use stormsim::metrics::End;
use stormsim::plan::{CallId, GroupId, ServiceId};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::Slot;

/// A point in the story: when, and within which event. Earlier events are less, also at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// When.
    pub at: Instant,
    /// The number of the event; the first is 1.
    pub event: u64,
}

/// How a call, or a request, ended.
pub type CallResult = Result<(), (ErrorKind, StopReason)>;

/// The story of one replica.
pub struct Record {
    /// What was told on the way.
    pub notes: Vec<(Instant, Note)>,
    /// Every request.
    pub requests: Vec<Request>,
    /// Every call that was made, by clients and services.
    pub calls: Vec<Call>,
    /// Every attempt of them, as its caller sees it.
    pub attempts: Vec<Attempt>,
    /// Every attempt that arrived, as its service sees it.
    pub works: Vec<Work>,
    /// What each state of each budget holds in the unit of its rule, where that cannot be counted from the rest.
    pub tokens: Vec<Vec<u64>>,
    /// What the states of each budget hold together at the start, in millionths of a token; none of windows, whose level
    /// does not only change when something happens, and of those that count no tokens.
    pub tokens_at_start: Vec<Option<u128>>,
    /// Each change of that.
    pub token_changes: Vec<TokenChange>,
    /// What they hold at the end, windows too.
    pub tokens_left: Vec<Option<u128>>,
    /// How many events happened.
    pub events: u64,
    /// Up to when the story goes.
    pub end: Instant,
    /// Why it ends there.
    pub ended: End,
}

impl Record {
    /// Whether nobody waits for an answer, and no service is at work.
    pub fn nothing_is_in_progress(&self) -> bool {
        self.calls.iter().all(Call::is_over) && self.works.iter().all(|work| work.ended.is_some())
    }
}

/// A change of what the states of a budget hold together.
pub struct TokenChange {
    /// When.
    pub at: Instant,
    /// Which budget, by position in the plan.
    pub budget: usize,
    /// What they hold after it, in millionths of a token.
    pub level: u128,
}

/// What a client wants.
pub struct Request {
    /// Whose it is.
    pub group: GroupId,
    /// Which client's.
    pub client: u32,
    /// Its key.
    pub key: u64,
    /// When it began.
    pub began: Instant,
    /// Whether it succeeded on degraded work.
    pub degraded: bool,
    /// How it ended, if it did.
    pub ended: Option<RequestEnd>,
}

/// The end of a request: that of the one call it makes.
pub struct RequestEnd {
    /// When.
    pub at: Instant,
    /// How.
    pub result: CallResult,
    /// How many attempts the client's own call made, those that were turned away among them.
    pub attempts: u32,
    /// Whether nobody knows what was done of what it was to write.
    pub is_unknown: bool,
    /// Whether it is put aside as a dead letter.
    pub is_dead_letter: bool,
}

/// Who made a call.
#[derive(Clone, Copy)]
pub enum Caller {
    /// A request, by position in the record.
    Request(usize),
    /// A work.
    Work(Place),
}

/// The place of a call among those of the work that makes it. A fallback has the place of the call that failed.
#[derive(Clone, Copy)]
pub struct Place {
    /// The work, by position in the record.
    pub work: usize,
    /// Which of its steps, from 0.
    pub step: usize,
    /// Which call of the step, from 0.
    pub call: usize,
    /// Which copy of that call, from 0.
    pub copy: u32,
}

/// A call that was made.
pub struct Call {
    /// Which call of the plan.
    pub id: CallId,
    /// Its key.
    pub key: u64,
    /// What it is about.
    pub operation: u64,
    /// Who made it.
    pub caller: Caller,
    /// Whether every attempt above it, on the path from the client, is the first of its call.
    pub on_first_path: bool,
    /// When it began.
    pub began: Instant,
    /// When it must have ended, if there is a limit.
    pub limit: Option<Instant>,
    /// How many attempts were started.
    pub started: u32,
    /// How many of them were sent.
    pub sent: u32,
    /// When it was to be tried again, and after which error.
    pub retries: Vec<(Instant, ErrorKind)>,
    /// The backoff before the latest attempt; zero before there was one.
    pub previous_backoff: Span,
    /// The server that an attempt reached last while its caller waited for it.
    pub previous_server: Option<u32>,
    /// The timer of its end, while that is armed.
    pub timer: Option<Slot>,
    /// The end of the wait for the next attempt, while it waits.
    pub wake: Option<Slot>,
    /// When and how it ended, if it did.
    pub ended: Option<(Instant, CallResult)>,
    /// When it was abandoned, if it was: then it ends with nothing.
    pub abandoned: Option<Instant>,
}

impl Call {
    /// Whether it has ended, with a result or with nothing.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.abandoned.is_some()
    }
}

/// One attempt of a call, as its caller sees it.
pub struct Attempt {
    /// The call, by position in the record.
    pub call: usize,
    /// Which call of the plan.
    pub id: CallId,
    /// Its number; 1 is the first.
    pub number: u32,
    /// Its key.
    pub key: u64,
    /// The key of its operation that it brings along, if one is sent.
    pub brings: Option<u64>,
    /// When its clock started.
    pub started: Instant,
    /// When it was sent, if it was.
    pub sent: Option<Instant>,
    /// Whether it was the first of its call to be sent, and so was every attempt above it.
    pub on_first_path: bool,
    /// Whether another of its call was sent before.
    pub is_retry: bool,
    /// The server that an attempt of its call had reached last, while its caller waited for it, when this one was sent.
    pub avoids: Option<u32>,
    /// Whether it has one of its caller's slots.
    pub has_slot: bool,
    /// When it was lost, if it was: it never arrives.
    pub lost: Option<Instant>,
    /// The server that was a black hole to it, if one was.
    pub swallowed: Option<u32>,
    /// The deadline that its target is told, if any.
    pub deadline_told: Option<Instant>,
    /// The deadline that the queues of its target know of, if any.
    pub deadline: Option<Instant>,
    /// Its timer, while that is armed.
    pub timer: Option<Slot>,
    /// How it ended for the caller, if it did.
    pub ended: Option<(Instant, AttemptEnd)>,
    /// When the answer came, if that was after the caller had given up.
    pub answered_late: Option<Instant>,
}

impl Attempt {
    /// Whether it waits for a slot.
    pub fn waits_for_slot(&self) -> bool {
        self.sent.is_none() && self.ended.is_none()
    }
}

/// How an attempt ended for its caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// Answered in time.
    Answered(Result<(), ErrorKind>),
    /// The caller waited no longer.
    GivenUp,
    /// It got no slot.
    TurnedAway(ErrorKind),
    /// Its call was abandoned.
    Abandoned,
}

/// One attempt that arrived, as its service sees it.
pub struct Work {
    /// The attempt, by position in the record. Its key is the work's.
    pub attempt: usize,
    /// Where.
    pub service: ServiceId,
    /// Which server of the service; none if it was given up before it arrived and nobody looked at it.
    pub server: Option<u32>,
    /// When it arrived.
    pub arrived: Moment,
    /// When it began to wait for a worker, and when it ceased to, if it did.
    pub queued: Option<(Moment, Option<Moment>)>,
    /// When a worker took it up, if one did.
    pub began: Option<Moment>,
    /// When that worker was free again.
    pub freed: Option<Moment>,
    /// When the store of the service knew about it, if it did, and what.
    pub recognised: Option<(Moment, Known)>,
    /// The key under which the store has noted that it does, or did, its operation. It is taken away again when the
    /// work is cancelled, or reset by a crash.
    pub does: Option<u64>,
    /// When its side effect took place, if it did.
    pub executed: Option<Instant>,
    /// The error that a fault has for it: a failure that struck it, or a crash that ended it.
    pub struck: Option<Struck>,
    /// How long its service takes; zero before a worker took it up.
    pub service_time: Span,
    /// The end of the last pause that has begun since **Served** was scheduled, if one has.
    pub begins_anew: Option<Instant>,
    /// From when on it is worked on without a pause, as was known when that was scheduled.
    pub resumed: Option<Instant>,
    /// **Served**, while that is to come.
    pub served: Option<Slot>,
    /// Its service, when that was over or was cut short.
    pub service_spent: Option<Spent>,
    /// The calls of each step that it began.
    pub steps: Vec<Vec<StepCall>>,
    /// Whether an optional call beneath it failed.
    pub degraded: bool,
    /// How the service was done with it, if it was.
    pub ended: Option<(Moment, WorkEnd)>,
}

impl Work {
    /// Whether it waits for a worker.
    pub fn is_queued(&self) -> bool {
        matches!(self.queued, Some((_, None)))
    }

    /// Whether a worker works on it, and not only waits for its calls.
    pub fn is_in_service(&self) -> bool {
        self.began.is_some() && self.served.is_some()
    }

    /// Whether it has a worker.
    pub fn has_worker(&self) -> bool {
        self.began.is_some() && self.freed.is_none()
    }
}

/// What a store knows about an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The key was that of another operation.
    OtherOperation,
    /// The operation is being done by this work, by position in the record.
    BeingDone(usize),
    /// This one has done it.
    Done(usize),
}

/// A failure that a work is going to be answered with.
#[derive(Clone, Copy)]
pub struct Struck {
    /// The error.
    pub error: ErrorKind,
    /// When it says that it is worth trying again, if it does.
    pub retry_after: Option<Span>,
}

/// What a caller is told.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// How it went.
    pub result: Result<(), ErrorKind>,
    /// When it is worth trying again after an error; none if it is not said.
    pub retry_after: Option<Span>,
    /// Whether it is a success on degraded work.
    pub degraded: bool,
}

/// Service time that was worked off.
#[derive(Clone, Copy)]
pub struct Spent {
    /// Until when.
    pub until: Instant,
    /// How long.
    pub took: Span,
    /// Whether a client still awaited it then.
    pub awaited: bool,
}

/// One call of a step that a work began.
#[derive(Clone, Copy)]
pub struct StepCall {
    /// Copies to make; none if the call is not made.
    pub copies: u32,
    /// Copies made so far.
    pub begun: u32,
    /// Copies that succeeded.
    pub succeeded: u32,
    /// Copies that failed, fallbacks and all.
    pub failed: u32,
}

/// How a service was done with a work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WorkEnd {
    /// The work is done.
    Success,
    /// The work failed, or a fault had it fail.
    Error(ErrorKind),
    /// Turned away at the door, by this.
    TurnedAway(Refusal),
    /// Discarded when its turn came.
    Dropped,
    /// Its caller had given up.
    Cancelled,
}

impl WorkEnd {
    /// As the caller sees it: to it, being turned away or dropped is an error like any other. Of what was cancelled it
    /// sees nothing.
    pub fn answer(self) -> Option<Result<(), ErrorKind>> {
        match self {
            Self::Success => Some(Ok(())),
            Self::Error(kind) => Some(Err(kind)),
            Self::TurnedAway(Refusal::Fault) => Some(Err(ErrorKind::Refused)),
            Self::TurnedAway(Refusal::Limiter) => Some(Err(ErrorKind::RateLimited)),
            Self::TurnedAway(Refusal::InFlight | Refusal::Queue) | Self::Dropped => Some(Err(ErrorKind::Overloaded)),
            Self::Cancelled => None,
        }
    }
}
