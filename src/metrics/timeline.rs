//! What happened in each bucket of time: integers only, so that replicas add up in any order.

use crate::time::Span;

/// The counts of one series within one bucket. What a column means depends on what the series is about:
///
/// | | scenario | client group | call | service |
/// |---|---|---|---|---|
/// | attempts | sent, all calls | sent, the group's own calls | sent | arrived |
/// | retries | of these after the first of their call | likewise | likewise | likewise |
/// | succeeded | requests | requests | attempts answered well in time | arrivals answered well |
/// | failed | requests, `unknown` ones included | likewise | attempts that failed or were given up | arrivals answered with an error, refused or dropped |
/// | timeouts | attempts given up, all calls | of the group's own calls | attempts given up | of the calls to it |
/// | budget refused | calls refused a retry, all calls | of the group's own | refused a retry | of the calls to it |
/// | hedges | of the attempts sent those that were hedges, all calls | of the group's own | sent | of the calls to it |
/// | in flight | open requests | open requests | attempts the caller waits for | arrived and not answered |
/// | queued | waiting at any service | (none) | waiting for a slot of the caller's pool | waiting for a worker |
/// | busy | (none) | (none) | (none) | workers taken |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Position: the bucket covers `[index, index + 1)` times the bucket width.
    pub index: u64,
    /// Attempts sent (services: attempts that arrived).
    pub attempts: u64,
    /// Those of them that were retries of their own call.
    pub retries: u64,
    /// Requests (calls: attempts; services: arrivals) that ended well.
    pub succeeded: u64,
    /// Those that ended badly.
    pub failed: u64,
    /// Attempts that their caller gave up waiting for.
    pub timeouts: u64,
    /// Calls that were not tried again because their budget refused.
    pub budget_refused: u64,
    /// Hedges that were sent.
    pub hedges: u64,
    /// Integral of the number in flight over the bucket, in ns.
    pub in_flight_ns: u128,
    /// Integral of the number that waits, in ns.
    pub queued_ns: u128,
    /// Integral of the number of workers taken, in ns.
    pub busy_ns: u128,
}

impl Bucket {
    /// Whether nothing happened and nothing was in flight.
    pub fn is_idle(&self) -> bool {
        *self == Self { index: self.index, ..Self::default() }
    }

    /// Adds the attempts of a call, its retries, hedges and timeouts, and how often its budget refused.
    pub(super) fn add_attempts(&mut self, call: &Self) {
        self.attempts += call.attempts;
        self.retries += call.retries;
        self.timeouts += call.timeouts;
        self.budget_refused += call.budget_refused;
        self.hedges += call.hedges;
    }
}

/// The level of a retry budget at the end of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLevel {
    /// The bucket's position.
    pub index: u64,
    /// What all states of the budget hold together, in millionths of a token.
    pub micro: u128,
}

/// The series of one replica. Series are sparse: ascending by index, idle buckets left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The width of a bucket.
    pub bucket: Span,
    /// All calls and all requests together.
    pub scenario: Vec<Bucket>,
    /// By client group.
    pub groups: Vec<Vec<Bucket>>,
    /// By call.
    pub calls: Vec<Vec<Bucket>>,
    /// By service.
    pub services: Vec<Vec<Bucket>>,
    /// By retry budget: the level in the first bucket, and in each in which it changed. Empty for a budget that has no
    /// tokens, or in which they also change when nothing happens.
    pub tokens: Vec<Vec<TokenLevel>>,
}
