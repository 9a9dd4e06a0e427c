//! When a fault counts as recovered from.

use crate::scenario::declare::table;
use crate::scenario::values::{Duration, Share};

table! {
    /// When a fault counts as recovered from: the first second after it from which on, for `hold`, at least `share` of the requests that arrive succeed.
    RecoveryTable is "a recovery", exclusive &[];
    /// How long it must go well; whole seconds, at least one. Default: `"10s"`. Example: `"30s"`.
    hold: Duration,
    /// The share of the requests that must succeed. Default: `0.95`. Example: `0.99`.
    share: Share,
}
