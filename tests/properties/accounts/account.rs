//! What one state of a budget holds, by the plain meaning of its rule.

use std::collections::BTreeMap;

use stormsim::failure::ErrorKind;
use stormsim::policy::{BudgetRule, Deposit, MICRO, WindowedRatio};
use stormsim::time::Instant;

/// What the notes tell of one state of a budget.
#[derive(Clone, Debug)]
pub struct Account<'a> {
    /// What it obeys.
    pub rule: &'a BudgetRule,
    /// In the unit of the rule; of no meaning where there is no maximum. None once nothing tells any more.
    tokens: Option<u64>,
    /// Whether calls and attempts begin with a note. Of one that waits for a slot the first comes when it is sent.
    tells_begins: bool,
    began: Vec<Instant>,
    succeeded: Vec<Instant>,
    granted: Vec<Instant>,
    /// By call: what its last retry took.
    last_taken: BTreeMap<u64, u64>,
    /// Attempts that were sent and have not ended.
    pub active: u64,
    /// Retries in progress; always 0 without a rule that counts them.
    pub retries: u64,
}

impl<'a> Account<'a> {
    /// Before anything has happened.
    pub fn new(rule: &'a BudgetRule, tells_begins: bool) -> Self {
        let tokens = match rule {
            BudgetRule::TokenBucket(bucket) => bucket.initial,
            BudgetRule::GrpcThrottle(throttle) => throttle.max,
            BudgetRule::AwsQuota(quota) => quota.max,
            _ => 0,
        };
        Self {
            rule,
            tokens: Some(tokens),
            tells_begins,
            began: Vec::new(),
            succeeded: Vec::new(),
            granted: Vec::new(),
            last_taken: BTreeMap::new(),
            active: 0,
            retries: 0,
        }
    }

    /// Whether a retry counts from its grant on; none if the rule does not count retries in progress.
    fn counts_waiting(&self) -> Option<bool> {
        match self.rule {
            BudgetRule::Concurrency(concurrency) => Some(concurrency.counts_waiting),
            _ => None,
        }
    }

    /// An attempt is sent.
    pub fn sends(&mut self, at: Instant, number: u32) {
        self.active += 1;
        self.retries += u64::from(number > 1 && self.counts_waiting() == Some(false));
        self.began.extend((number == 1).then_some(at));
    }

    /// It has waited for a slot in vain, or was abandoned while it did.
    pub fn turns_away(&mut self, at: Instant, number: u32) {
        self.retries -= u64::from(number > 1 && self.counts_waiting() == Some(true));
        self.began.extend((number == 1).then_some(at));
    }

    /// A call has ended. One that has made no attempt has begun just now.
    pub fn begins_at_once(&mut self, at: Instant, number: u32) {
        self.began.extend((number == 0).then_some(at));
    }

    /// An attempt that was sent is over.
    pub fn ends(&mut self, number: u32) {
        self.active -= 1;
        self.retries -= u64::from(number > 1 && self.counts_waiting().is_some());
    }

    /// It was abandoned between two attempts.
    pub fn waits_no_more(&mut self) {
        self.retries -= u64::from(self.counts_waiting() == Some(true));
    }

    /// A call has succeeded.
    pub fn succeed(&mut self, at: Instant, call: u64) {
        self.succeeded.push(at);
        let pays_in = |per_success: u64, max: u64| move |tokens: u64| max.min(tokens + per_success);
        self.tokens = match self.rule {
            BudgetRule::TokenBucket(bucket) => self.tokens.map(pays_in(bucket.per_success, bucket.max)),
            BudgetRule::GrpcThrottle(throttle) => self.tokens.map(pays_in(throttle.per_success, throttle.max)),
            BudgetRule::AwsQuota(quota) => {
                let refund = self.last_taken.get(&call).copied().unwrap_or(quota.per_success);
                self.tokens.map(pays_in(refund, quota.max))
            }
            _ => self.tokens,
        };
    }

    /// An attempt has failed with an error that is worth a retry, or is not, or nothing tells.
    pub fn fail(&mut self, is_worth_a_retry: Option<bool>) {
        if let BudgetRule::GrpcThrottle(_) = self.rule {
            let cost = is_worth_a_retry.map(|is_worth| if is_worth { 1_000 } else { 0 });
            self.tokens = self.tokens.zip(cost).map(|(tokens, cost)| tokens.saturating_sub(cost));
        }
    }

    /// What a retry after this error takes; none if nothing tells.
    fn cost(&self, error: Option<ErrorKind>) -> Option<u64> {
        let (cost, cost_timeout, cost_throttled) = match self.rule {
            BudgetRule::TokenBucket(bucket) => (bucket.cost, bucket.cost_timeout, bucket.cost),
            BudgetRule::AwsQuota(quota) => (quota.cost, quota.cost_timeout, quota.cost_throttled),
            _ => return Some(0),
        };
        error.map(|error| match error {
            ErrorKind::Timeout => cost_timeout,
            ErrorKind::RateLimited | ErrorKind::Throttled => cost_throttled,
            _ => cost,
        })
    }

    /// Whether there is room for one retry more; none if nothing tells.
    pub fn room(&self, at: Instant, error: Option<ErrorKind>) -> Option<bool> {
        match self.rule {
            BudgetRule::TokenBucket(bucket) => Some(self.tokens? >= bucket.floor.max(self.cost(error)?)),
            BudgetRule::GrpcThrottle(throttle) => Some(2 * self.tokens? > throttle.max),
            BudgetRule::AwsQuota(_) => Some(self.tokens? >= self.cost(error)?),
            BudgetRule::RatioOfRequests(_) => self.tells_begins.then(|| self.share() >= i128::from(MICRO)),
            BudgetRule::WindowedRatio(window) => Some(self.balance(window, at)? >= window.withdrawal),
            BudgetRule::Concurrency(concurrency) => {
                let limit = u64::from(concurrency.minimum).max(concurrency.share * self.active / MICRO);
                self.tells_begins.then_some(self.retries < limit)
            }
        }
    }

    /// A call waits for a retry after this error.
    pub fn grant(&mut self, at: Instant, call: u64, error: Option<ErrorKind>) {
        self.granted.push(at);
        self.retries += u64::from(self.counts_waiting() == Some(true));
        let cost = self.cost(error);
        self.tokens = self.tokens.zip(cost).map(|(tokens, cost)| tokens - cost);
        self.last_taken.extend(cost.map(|cost| (call, cost)));
    }

    /// Floor + ratio x requests - retries.
    fn share(&self) -> i128 {
        let BudgetRule::RatioOfRequests(rule) = self.rule else { return 0 };
        let [requests, retries] = [&self.began, &self.granted].map(|instants| instants.len() as i128);
        i128::from(rule.floor) + i128::from(rule.ratio) * requests - i128::from(MICRO) * retries
    }

    /// When it was paid in; none if nothing tells.
    fn deposits(&self, window: &WindowedRatio) -> Option<&[Instant]> {
        match window.deposits {
            Deposit::AtStart => self.tells_begins.then_some(&self.began),
            Deposit::OnSuccess => Some(&self.succeeded),
        }
    }

    /// The reserve, and what was paid in and not withdrawn since the beginning of the slots that count.
    fn balance(&self, window: &WindowedRatio, at: Instant) -> Option<i64> {
        let slot = |at: Instant| at.as_ns() / window.slot.as_ns();
        let oldest = (slot(at) + 1).saturating_sub(window.slots.into());
        let count = |instants: &[Instant]| instants.iter().filter(|&&at| slot(at) >= oldest).count() as i64;
        let withdrawn = window.withdrawal * count(&self.granted);
        Some(window.reserve + window.deposit * count(self.deposits(window)?) - withdrawn)
    }

    /// Wherever slots begin: in a stretch one slot shorter than those that count, which ends at `at`, there are no more
    /// retries than the reserve pays for, and what was paid in over as many slots as count.
    pub fn keeps_its_bound(&self, window: &WindowedRatio, at: Instant) -> bool {
        let Some(deposits) = self.deposits(window) else { return true };
        let since = |slots: u8, instants: &[Instant]| {
            let stretch_ns = u64::from(slots) * window.slot.as_ns();
            instants.iter().filter(|it| at.since(**it).as_ns() < stretch_ns).count() as i64
        };
        let paid_in = window.deposit * since(window.slots, deposits);
        window.withdrawal * since(window.slots - 1, &self.granted) <= window.reserve + paid_in
    }

    /// What is left at the end in millionths of a token; none if nothing tells, or the rule counts no tokens.
    pub fn left(&self, end: Instant, is_drained: bool) -> Option<u128> {
        match self.rule {
            BudgetRule::TokenBucket(_) => self.tokens.map(u128::from),
            BudgetRule::GrpcThrottle(_) => self.tokens.map(|thousandths| u128::from(thousandths) * 1_000),
            BudgetRule::AwsQuota(_) => self.tokens.map(|tokens| u128::from(tokens) * u128::from(MICRO)),
            // Whatever has begun has left a note when all is over.
            BudgetRule::RatioOfRequests(_) => (self.tells_begins || is_drained).then(|| self.share() as u128),
            BudgetRule::WindowedRatio(window) => {
                let retries = self.balance(window, end)?.max(0) / window.withdrawal;
                Some(retries as u128 * u128::from(MICRO))
            }
            BudgetRule::Concurrency(_) => None,
        }
    }
}
