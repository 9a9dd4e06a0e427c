//! Everything that happened in one replica. Nothing is ever removed.

use stormsim::failure::{ErrorKind, StopReason};
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
    /// How many events happened.
    pub events: u64,
    /// Up to when the story goes.
    pub end: Instant,
    /// Why it ends there.
    pub ended: End,
}

/// What a client wants.
pub struct Request {
    /// Whose it is.
    pub group: GroupId,
    /// When it began.
    pub began: Instant,
    /// How it ended, if it did.
    pub ended: Option<RequestEnd>,
}

/// The end of a request: that of the one call it makes.
pub struct RequestEnd {
    /// When.
    pub at: Instant,
    /// How.
    pub result: CallResult,
    /// How many attempts the client's own call made.
    pub attempts: u32,
}

/// Who made a call.
#[derive(Clone, Copy)]
pub enum Caller {
    /// A request, by position in the record.
    Request(usize),
    /// A work, by position in the record.
    Work(usize),
}

/// A call that was made.
pub struct Call {
    /// Which call of the plan.
    pub id: CallId,
    /// Its key.
    pub key: u64,
    /// Who made it.
    pub caller: Caller,
    /// Whether every attempt above it, on the path from the client, is the first of its call.
    pub on_first_path: bool,
    /// When it began.
    pub began: Instant,
    /// How many attempts were started.
    pub attempts: u32,
    /// The wait before the latest attempt; zero before there was one.
    pub previous_wait: Span,
    /// How it ended, if it did.
    pub ended: Option<CallResult>,
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
    /// Whether it is the first of its call, and so is every attempt above it.
    pub on_first_path: bool,
    /// When it was sent.
    pub sent: Instant,
    /// Its timer, while that is armed.
    pub timer: Option<Slot>,
    /// How it ended for the caller, if it did.
    pub ended: Option<(Instant, AttemptEnd)>,
    /// Whether the answer came after the caller had given up.
    pub answered_late: bool,
}

/// How an attempt ended for its caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// Answered in time.
    Answered(Result<(), ErrorKind>),
    /// The caller waited no longer.
    GivenUp,
}

/// One attempt that arrived, as its service sees it.
pub struct Work {
    /// The attempt, by position in the record. Its key is the work's.
    pub attempt: usize,
    /// Where.
    pub service: ServiceId,
    /// When it arrived.
    pub arrived: Moment,
    /// How many of the service's steps were begun.
    pub steps_begun: usize,
    /// How many calls of the latest step have not yet succeeded.
    pub calls_awaited: usize,
    /// How it was answered, if it was.
    pub answered: Option<(Moment, Reply)>,
}

/// What a service answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The work is done.
    Success,
    /// The work failed, or a fault had it fail.
    Error(ErrorKind),
    /// Turned away at the door.
    TurnedAway,
}

impl Reply {
    /// As the caller sees it: to it, being turned away is an error like any other.
    pub fn result(self) -> Result<(), ErrorKind> {
        match self {
            Self::Success => Ok(()),
            Self::Error(kind) => Err(kind),
            Self::TurnedAway => Err(ErrorKind::Refused),
        }
    }
}
