//! Watching a run from inside: one note per thing that happens. With `()` as the tap nothing is compiled in.

use crate::failure::{ErrorKind, StopReason};
use crate::plan::{CallId, GroupId, ServiceId};
use crate::time::{Instant, Span};

/// Something that receives notes.
pub trait Tap {
    /// Takes one note.
    fn note(&mut self, now: Instant, note: Note);
}

impl Tap for () {
    #[inline(always)]
    fn note(&mut self, _: Instant, _: Note) {}
}

impl Tap for Vec<(Instant, Note)> {
    fn note(&mut self, now: Instant, note: Note) {
        self.push((now, note));
    }
}

/// One thing that happened. `key` is always that of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A client began a request.
    RequestBegan {
        /// The client group.
        group: GroupId,
        /// The client's number within it.
        client: u32,
        /// Which of the client's requests, from 0.
        ordinal: u64,
    },
    /// An attempt was sent.
    Sent {
        /// Of this call.
        call: CallId,
        /// Its number; 1 is the first.
        attempt: u32,
        /// Which copy of it, sent beside it; 0 is the attempt itself.
        hedge: u32,
        /// Its key.
        key: u64,
    },
    /// An attempt was turned away by its caller's own breaker, throttle or pool and never sent.
    TurnedAway {
        /// Of this call.
        call: CallId,
        /// Its key.
        key: u64,
        /// `breaker_open`, `throttled`, `pool_timeout`, `timeout` or `deadline`.
        error: ErrorKind,
    },
    /// An attempt arrived at its target.
    Arrived {
        /// The target.
        service: ServiceId,
        /// Its key.
        key: u64,
    },
    /// The balancer picked a server; only of services with several.
    Placed {
        /// The attempt's key.
        key: u64,
        /// The server, from 0.
        server: u32,
    },
    /// The service began to work on an attempt.
    Began {
        /// Its key.
        key: u64,
    },
    /// The store of the service knows what an attempt is about, whose turn has come.
    Recognised {
        /// Its key.
        key: u64,
    },
    /// The queue discarded an attempt when its turn came.
    Dropped {
        /// Its key.
        key: u64,
    },
    /// The service ended its work on an attempt, because the caller had given up.
    Cancelled {
        /// Its key.
        key: u64,
    },
    /// The service is done with an attempt and sends the answer.
    Answered {
        /// Its key.
        key: u64,
        /// Success, or the error.
        result: Result<(), ErrorKind>,
    },
    /// The answer reached the caller.
    Answer {
        /// Its key.
        key: u64,
        /// Whether the caller had given up before.
        late: bool,
    },
    /// The caller gave up waiting for the attempt.
    TimedOut {
        /// Its key.
        key: u64,
        /// `timeout` or `deadline`.
        error: ErrorKind,
    },
    /// The caller waits for a copy of an attempt no more, because another has been answered.
    Outrun {
        /// Its key.
        key: u64,
    },
    /// A breaker has opened.
    Opened {
        /// Of this call.
        call: CallId,
        /// The instance of the caller whose breaker it is; 0 if all share it.
        instance: u32,
    },
    /// A server gets nothing from the balancer for a while.
    Ejected {
        /// Its service.
        service: ServiceId,
        /// Which, from 0.
        server: u32,
    },
    /// A call was ended by the work that made it.
    Abandoned {
        /// Which.
        call: CallId,
        /// The key of its last attempt.
        key: u64,
    },
    /// After the failed attempt the call waits for its next one.
    Waiting {
        /// The key of the failed attempt.
        key: u64,
        /// How long.
        wait: Span,
    },
    /// A call ended.
    CallEnded {
        /// Which.
        call: CallId,
        /// The key of its last attempt.
        key: u64,
        /// Success, or the error of its last attempt and why it was not tried again.
        result: Result<(), (ErrorKind, StopReason)>,
    },
}
