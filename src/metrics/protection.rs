//! What breakers, throttles and hedges did, counted for a call.

/// Counts that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionTally {
    /// Attempts, or calls, that the breaker did not let through.
    pub breaker_rejected: u64,
    /// Those of them that were attempts after the first of their own call.
    pub breaker_rejected_retries: u64,
    /// How often a breaker opened.
    pub breaker_opened: u64,
    /// Attempts that the throttle held back.
    pub throttled: u64,
    /// Copies of attempts that were sent beside them; they are among the attempts.
    pub hedges: u64,
    /// Those of them whose answer was the one that counted.
    pub hedge_wins: u64,
    /// Copies that were due and not sent: too many were under way, or there was no slot.
    pub hedges_left_out: u64,
}

impl ProtectionTally {
    /// Adds another call's counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.breaker_rejected += other.breaker_rejected;
        self.breaker_rejected_retries += other.breaker_rejected_retries;
        self.breaker_opened += other.breaker_opened;
        self.throttled += other.throttled;
        self.hedges += other.hedges;
        self.hedge_wins += other.hedge_wins;
        self.hedges_left_out += other.hedges_left_out;
    }

    /// What came after `start`.
    pub(super) fn since(&self, start: &Self) -> Self {
        Self {
            breaker_rejected: self.breaker_rejected - start.breaker_rejected,
            breaker_rejected_retries: self.breaker_rejected_retries - start.breaker_rejected_retries,
            breaker_opened: self.breaker_opened - start.breaker_opened,
            throttled: self.throttled - start.throttled,
            hedges: self.hedges - start.hedges,
            hedge_wins: self.hedge_wins - start.hedge_wins,
            hedges_left_out: self.hedges_left_out - start.hedges_left_out,
        }
    }
}
