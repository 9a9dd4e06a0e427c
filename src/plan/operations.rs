//! Operations and their side effects: what is to be done once, the keys by which that is told, and who remembers them.
//!
//! An operation is what a client's request wants done at one place of the call graph, however many attempts that takes,
//! there and above.

use crate::time::Span;

/// What the clients of a group make of their operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// The keys that they send along.
    pub keys: Keys,
    /// Whether a request whose attempts are exhausted is put aside as a dead letter.
    pub dead_letters: bool,
}

impl Operations {
    /// No keys and no dead letters.
    pub const PLAIN: Self = Self { keys: Keys::None, dead_letters: false };
}

/// The idempotency keys that clients send along. Services pass on what they got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// None.
    None,
    /// One for each operation: all of its attempts have the same.
    PerOperation,
    /// Another one for each attempt of the client: a mistake, nothing is recognised.
    PerAttempt,
    /// One for all operations of a client: a mistake, different operations are taken for one.
    Reused,
}

/// What the work of a service does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Whether its work has a side effect: one that is done twice is a duplicate, and whether one was done whose caller
    /// got no answer is unknown.
    pub writes: bool,
    /// What remembers the operations that were done.
    pub store: Option<Store>,
}

impl Effects {
    /// None, and nothing to remember.
    pub const NONE: Self = Self { writes: false, store: None };
}

/// An idempotency store: the results of operations by their keys, for all servers of a service. It outlasts crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// How long a result is kept once it is there; above zero.
    pub ttl: Span,
    /// What becomes of a duplicate of what is still being done.
    pub in_progress: InProgressRule,
}

/// What becomes of a duplicate whose original is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProgressRule {
    /// It keeps its worker and waits for the result.
    Wait,
    /// It is answered with `refused`.
    Refuse,
}
