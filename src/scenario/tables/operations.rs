//! Idempotency keys, the stores that know them, and what becomes of requests that nobody could serve.

use crate::scenario::declare::{choice, table};
use crate::scenario::values::Duration;

choice! {
    /// The idempotency keys that clients send along; services pass them on. An operation is what one request wants done at one place of the call graph.
    IdempotencyChoice is "a kind of keys", unbuilt &[];
    /// None.
    "none" => None,
    /// One for each operation, the same for all of its attempts.
    "key" => Key,
    /// Another one for each attempt of the client: a mistake, since no duplicate is recognised.
    "key_per_attempt" => KeyPerAttempt,
    /// One for all operations of a client: a mistake, since a store takes them for each other and refuses all but the first as `invalid`.
    "key_reused" => KeyReused,
}

choice! {
    /// What becomes of a request whose attempts are exhausted.
    OnExhaustedChoice is "a way out", unbuilt &[];
    /// It fails.
    "fail" => Fail,
    /// It fails, and is put aside as a dead letter.
    "dead_letter" => DeadLetter,
}

table! {
    /// The results of operations by their idempotency keys, shared by all servers of the service; crashes do not harm it.
    StoreTable is "an idempotency store", unbuilt &[], exclusive &[];
    /// How long a result is kept; above zero. Required. Example: `"24h"`.
    ttl: Duration,
    /// What becomes of a duplicate while the operation is in progress. Default: `"wait"`. Example: `"refuse"`.
    in_progress: StoreWaitChoice,
}

choice! {
    /// What becomes of a duplicate while the operation is in progress.
    StoreWaitChoice is "a way to deal with duplicates", unbuilt &[];
    /// It keeps its worker and waits for the result.
    "wait" => Wait,
    /// It is answered with `refused`.
    "refuse" => Refuse,
}
