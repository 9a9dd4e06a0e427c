//! Idempotency keys, the stores that know them, and what becomes of requests that nobody could serve.

use crate::scenario::declare::{choice, table};
use crate::scenario::values::Duration;

choice! {
    /// The idempotency keys that clients send along. They tell a service with an `idempotency_store` which attempts want the same operation: what one request wants done at one place of the call graph, say to charge a card for an order. Services pass them on to those that they call.
    IdempotencyChoice is "a kind of keys";
    /// None: no duplicate is recognised.
    "none" => None,
    /// One for each operation, the same with all of its attempts: what keys are for.
    "key" => Key,
    /// A new one for each attempt of the client: a mistake that is easily made, and no duplicate of those is recognised.
    "key_per_attempt" => KeyPerAttempt,
    /// One for all requests of a client that make the same call: a mistake. A store knows the key from another operation and answers `invalid`, until `ttl` is over.
    "key_reused" => KeyReused,
}

choice! {
    /// What becomes of a request that fails because its attempts are exhausted. That its budget or its deadline ends it is not meant.
    OnExhaustedChoice is "a way out";
    /// It fails.
    "fail" => Fail,
    /// It fails, and is put aside for somebody to look at: it is one of the `dead_letters`.
    "dead_letter" => DeadLetter,
}

table! {
    /// What the service remembers of operations, by the idempotency keys that come with attempts: shared by all of its servers, and not harmed by crashes. It is asked when an attempt takes a worker. Who brings the key of an operation that has ended gets the same result, be it a success or an error. What never got a worker left nothing: an attempt that was turned away, or that a `fail` without `work` struck.
    StoreTable is "an idempotency store", exclusive &[];
    /// How long a result is kept, from the end of the operation; after that the next attempt does it again. Above zero. Required. Example: `"24h"`.
    ttl: Duration,
    /// What becomes of another attempt while the operation is in progress. Default: `"wait"`. Example: `"refuse"`.
    in_progress: StoreWaitChoice,
}

choice! {
    /// What becomes of another attempt at an operation that is in progress.
    StoreWaitChoice is "a way to deal with duplicates";
    /// It keeps its worker, waits until the operation has ended, and gets its result.
    "wait" => Wait,
    /// It is answered with `refused`, at once; one that comes later gets the result.
    "refuse" => Refuse,
}
