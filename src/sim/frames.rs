//! The state of what is in progress: calls on the caller's side, work on the callee's.

use crate::failure::ErrorKind;
use crate::plan::CallId;
use crate::sim::agenda::Sequence;
use crate::time::Instant;

/// "No frame": the caller has given up, or no attempt is under way.
pub const NONE: u32 = u32::MAX;

/// A call in progress: the caller's side, over all of its attempts and waits.
#[derive(Debug)]
pub struct CallFrame {
    /// Its key.
    pub key: u64,
    /// When it began.
    pub start: Instant,
    /// The timer or the wake-up that it waits for; any other is stale.
    pub armed: Sequence,
    /// The work that makes it; for a client's call nothing.
    pub parent: u32,
    /// Which call of the plan.
    pub call: CallId,
    /// Attempts made so far.
    pub attempt: u32,
    /// The work of the attempt that is under way, or [`NONE`].
    pub work: u32,
}

/// An attempt on its way to a service, at it, or on its way back.
#[derive(Debug)]
pub struct WorkFrame {
    /// Its key.
    pub key: u64,
    /// When it arrived at the service.
    pub arrived: Instant,
    /// The call frame that waits for it, or [`NONE`] if the caller has given up.
    pub caller: u32,
    /// Which call of the plan it is an attempt of.
    pub call: CallId,
    /// The step of its service's calls that runs.
    pub step: u32,
    /// Calls of that step that have not ended.
    pub outstanding: u16,
    /// Whether every attempt on the way to it was the first.
    pub is_original: bool,
    /// Whether it is a retry of its own call.
    pub is_retry: bool,
    /// The error to answer with; none for success.
    pub error: Option<ErrorKind>,
}
