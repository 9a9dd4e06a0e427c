//! Everything that happened in one replica. Nothing is ever removed.

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::End;
use stormsim::plan::{CallId, GroupId, ServiceId};
use stormsim::policy::Admission;
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::Slot;
use super::waits::Wait;

pub use super::work::{Known, Spent, StepCall, Struck, Work, WorkEnd};

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
    /// Every move of a breaker, and whatever else happened to it that is no outcome.
    pub breakers: Vec<BreakerStep>,
    /// When a copy of an attempt was due and was not sent, of which call, and why.
    pub left_out: Vec<(Instant, CallId, LeftOut)>,
    /// The servers that the balancer ejected.
    pub ejections: Vec<Ejected>,
    /// When it would have ejected another, but as many were ejected as may be.
    pub spared: Vec<(Instant, ServiceId)>,
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
    /// The waits before its retries so far.
    pub waits: Vec<Wait>,
    /// The server that was picked last for an attempt while its caller waited for it.
    pub previous_server: Option<u32>,
    /// What its breaker said when it was asked last, if it let something through.
    pub let_through: Option<LetThrough>,
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

/// A breaker has let a call, or an attempt of it, through.
#[derive(Clone, Copy)]
pub struct LetThrough {
    /// The word of the breaker.
    pub admission: Admission,
    /// How often the breaker had moved then.
    pub moves: usize,
    /// Whether it was half-open.
    pub is_probe: bool,
    /// Whether something that was let through has counted.
    pub is_counted: bool,
    /// Whether what was let through is over.
    pub is_over: bool,
    /// Whether an attempt was sent since.
    pub was_sent: bool,
}

/// One attempt of a call, as its caller sees it; and where a call is hedged, one copy of it. The first copy stands for
/// the attempt as a whole, too: it is sent first, if any is.
pub struct Attempt {
    /// The call, by position in the record.
    pub call: usize,
    /// Which call of the plan.
    pub id: CallId,
    /// Its number; 1 is the first.
    pub number: u32,
    /// Which copy of it, as they come due; 0 is the first.
    pub hedge: u32,
    /// The first copy, by position in the record: of that itself, its own.
    pub first: usize,
    /// Its key.
    pub key: u64,
    /// The key of its operation that it brings along, if one is sent.
    pub brings: Option<u64>,
    /// When its clock started; of other copies than the first, when it was due.
    pub started: Instant,
    /// When it was sent, if it was.
    pub sent: Option<Instant>,
    /// Whether it was the first of its call to be sent, and so was every attempt above it.
    pub on_first_path: bool,
    /// Whether another of its call was sent before.
    pub is_retry: bool,
    /// The server that had been picked last for an attempt of its call, while its caller waited for it, when this one
    /// was sent.
    pub avoids: Option<u32>,
    /// The server that was picked for it, if one was.
    pub picked: Option<u32>,
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
    /// Its timer, while that is armed: of a first copy, that of the attempt.
    pub timer: Option<Slot>,
    /// The timer of a copy that finds nobody, while that is armed.
    pub copy_timer: Option<Slot>,
    /// The timer for the next copy, while that is armed; of a first copy.
    pub hedge_timer: Option<Slot>,
    /// How many copies more were due; of a first copy.
    pub due: u32,
    /// How it ended for the caller, if it did.
    pub ended: Option<(Instant, AttemptEnd)>,
    /// When the attempt ended with all of its copies, if it did; of a first copy.
    pub over: Option<Instant>,
    /// When the answer came, if that was after the caller had given up.
    pub answered_late: Option<Instant>,
}

impl Attempt {
    /// What has started at this instant, and has not been sent yet. `first` is the position of its first copy.
    pub fn new(
        call: usize,
        id: CallId,
        number: u32,
        key: u64,
        brings: Option<u64>,
        started: Instant,
        first: usize,
    ) -> Self {
        Self {
            call,
            id,
            number,
            hedge: 0,
            first,
            key,
            brings,
            started,
            sent: None,
            on_first_path: false,
            is_retry: false,
            avoids: None,
            picked: None,
            has_slot: false,
            lost: None,
            swallowed: None,
            deadline_told: None,
            deadline: None,
            timer: None,
            copy_timer: None,
            hedge_timer: None,
            due: 0,
            ended: None,
            over: None,
            answered_late: None,
        }
    }

    /// Whether it is an attempt that has not ended with all of its copies.
    pub fn is_active(&self) -> bool {
        self.hedge == 0 && self.over.is_none()
    }

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
    /// Another copy of it was answered with success.
    Outrun,
    /// It was not let through, or got no slot.
    TurnedAway(ErrorKind),
    /// Its call was abandoned.
    Abandoned,
}

/// What became of a breaker, or of what it was told.
#[derive(Clone, Copy)]
pub struct BreakerStep {
    /// When.
    pub at: Instant,
    /// The call that asked it, or told it, by position in the record.
    pub by: usize,
    /// What.
    pub what: BreakerMove,
}

/// How a breaker moves, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerMove {
    /// From closed to open.
    Opens,
    /// From open to half-open.
    HalfOpens,
    /// From half-open to closed.
    Closes,
    /// From half-open to open.
    OpensAgain,
    /// Not at all: it has moved since it let through what has ended.
    IgnoresOutcome,
    /// Not at all: it is open, and lets nothing through.
    Rejects,
    /// Not at all: it is half-open, and as many probes were let through as may be.
    RejectsProbe,
    /// Not at all: a probe is over that has not counted.
    TakesBackProbe,
}

impl BreakerMove {
    /// Whether it is elsewhere after that.
    pub fn is_move(self) -> bool {
        matches!(self, Self::Opens | Self::HalfOpens | Self::Closes | Self::OpensAgain)
    }
}

/// A server that the balancer ejected.
#[derive(Clone, Copy)]
pub struct Ejected {
    /// Of this service.
    pub service: ServiceId,
    /// Which.
    pub server: u32,
    /// When.
    pub from: Instant,
    /// Until when.
    pub until: Instant,
}

/// Why a copy that was due was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// As many hedges as may be were under way.
    InFlight,
    /// The pool of the caller had no slot for it.
    NoSlot,
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
