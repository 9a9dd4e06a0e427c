//! The states of the retry budgets of one replica, and what calls tell them.

use crate::failure::ErrorKind;
use crate::plan::{BudgetPool, Plan};
use crate::policy::{BudgetRule, Concurrency, Deposit, Holding, InProgress, MICRO, WindowBalance};
use crate::sim::frames::CallFrame;
use crate::sim::replica::Replica;
use crate::sim::tap::Tap;
use crate::time::Instant;

/// The states of all budgets, in tables by kind.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    /// Where the states of each pool begin, in the table of its kind.
    first: Vec<usize>,
    /// In the unit of their rule.
    tokens: Vec<u64>,
    windows: Vec<WindowBalance>,
    in_progress: Vec<InProgress>,
    /// By call frame: what the last retry took. Empty unless a rule gives it back.
    last_taken: Vec<u64>,
    /// Whether a rule looks at calls that begin, or at attempts under way.
    pub watch: bool,
}

/// What a call draws on.
#[derive(Clone, Copy)]
struct Used<'p> {
    rule: &'p BudgetRule,
    /// Position among [`Plan::budgets`].
    pool: u32,
    /// Position in the table of its kind.
    state: usize,
}

impl Budgets {
    pub fn new(plan: &Plan) -> Self {
        let mut budgets = Self::default();
        for pool in &plan.budgets {
            let states = pool.states as usize;
            let first = match (pool.rule.holding(), &pool.rule) {
                (Some(Holding { initial, .. }), _) => grow(&mut budgets.tokens, states, initial),
                (None, BudgetRule::Concurrency(_)) => grow(&mut budgets.in_progress, states, InProgress::default()),
                (None, _) => grow(&mut budgets.windows, states, WindowBalance::default()),
            };
            budgets.first.push(first);
            budgets.watch |= pool.rule.watches();
        }
        budgets
    }

    /// Whether there are any: what follows is kept out of the way of plans without.
    #[inline]
    fn exist(&self) -> bool {
        !self.first.is_empty()
    }

    /// Whether a retry is granted after this error.
    fn grants(&mut self, Used { rule, state, .. }: Used<'_>, error: ErrorKind, now: Instant) -> bool {
        match rule {
            BudgetRule::TokenBucket(bucket) => bucket.grants(self.tokens[state], error),
            BudgetRule::GrpcThrottle(throttle) => throttle.grants(self.tokens[state]),
            BudgetRule::AwsQuota(quota) => quota.grants(self.tokens[state], error),
            BudgetRule::RatioOfRequests(ratio) => ratio.grants(self.tokens[state]),
            BudgetRule::WindowedRatio(window) => window.grants(&mut self.windows[state], now),
            BudgetRule::Concurrency(concurrency) => concurrency.grants(self.in_progress[state]),
        }
    }

    /// How many retries the windows of each budget would grant in a row at `now`, in millionths; none without windows.
    /// What the others hold the recorder knows.
    pub fn left_in_windows(&mut self, plan: &Plan, now: Instant) -> Vec<Option<u128>> {
        let left_in = |(pool, &first): (&BudgetPool, &usize)| {
            let BudgetRule::WindowedRatio(window) = &pool.rule else { return None };
            let states = &mut self.windows[first..first + pool.states as usize];
            let left: u128 = states.iter_mut().map(|state| window.retries_left(state, now) as u128).sum();
            Some(left * u128::from(MICRO))
        };
        plan.budgets.iter().zip(&self.first).map(left_in).collect()
    }
}

/// Appends so many states; where they begin.
fn grow<T: Clone>(table: &mut Vec<T>, states: usize, state: T) -> usize {
    let first = table.len();
    table.resize(first + states, state);
    first
}

impl<'p, T: Tap, const FULL: bool> Replica<'p, T, FULL> {
    /// What the retries of a call draw on.
    #[inline]
    fn used_budget(&self, index: u32) -> Option<Used<'p>> {
        let plan = self.plan;
        let CallFrame { call, parent, .. } = self.calls[index];
        let used = plan.calls[call.index()].budget?;
        let instance = if used.by_instance { self.instance(parent) as usize } else { 0 };
        let (pool, first) = (&plan.budgets[used.pool as usize], self.budgets.first[used.pool as usize]);
        Some(Used { rule: &pool.rule, pool: used.pool, state: first + instance })
    }

    /// Puts the tokens of a state at what `change` makes of them.
    #[inline]
    fn change_tokens(&mut self, used: Used<'_>, change: impl FnOnce(u64) -> u64) {
        let tokens = &mut self.budgets.tokens[used.state];
        let before = *tokens;
        *tokens = change(before);
        self.recorder.tokens_changed(used.pool, before, *tokens);
    }

    /// A call has begun.
    pub(super) fn tell_budget_of_call(&mut self, index: u32) {
        let Some(used) = self.used_budget(index) else { return };
        match used.rule {
            BudgetRule::RatioOfRequests(ratio) => self.change_tokens(used, |tokens| ratio.after_request(tokens)),
            BudgetRule::WindowedRatio(window) if window.deposits == Deposit::AtStart => {
                window.pay_in(&mut self.budgets.windows[used.state], self.now);
            }
            _ => {}
        }
    }

    /// An attempt starts: it is sent, or waits for a slot.
    pub(super) fn tell_budget_of_attempt(&mut self, index: u32) {
        let Some(Used { rule, state, .. }) = self.used_budget(index) else { return };
        if let BudgetRule::Concurrency(Concurrency { counts_waiting, .. }) = rule {
            let in_progress = &mut self.budgets.in_progress[state];
            in_progress.active += 1;
            in_progress.retries += u32::from(!counts_waiting && self.calls[index].attempt > 1);
        }
    }

    /// The attempt of a call is over, or the wait before it if it `is_waiting`: what it holds of a budget is free.
    #[inline]
    pub(super) fn release_budget(&mut self, index: u32, is_waiting: bool) {
        if !self.budgets.watch {
            return;
        }
        let Some(Used { rule, state, .. }) = self.used_budget(index) else { return };
        if let BudgetRule::Concurrency(Concurrency { counts_waiting, .. }) = rule {
            let in_progress = &mut self.budgets.in_progress[state];
            if is_waiting {
                in_progress.retries -= u32::from(*counts_waiting);
            } else {
                in_progress.active -= 1;
                in_progress.retries -= u32::from(self.calls[index].attempt > 1);
            }
        }
    }

    /// A call has succeeded.
    #[inline]
    pub(super) fn tell_budget_of_success(&mut self, index: u32) {
        if self.budgets.exist() {
            self.pay_in(index);
        }
    }

    #[inline(never)]
    fn pay_in(&mut self, index: u32) {
        let Some(used) = self.used_budget(index) else { return };
        match used.rule {
            BudgetRule::TokenBucket(bucket) => self.change_tokens(used, |tokens| bucket.after_success(tokens)),
            BudgetRule::GrpcThrottle(throttle) => self.change_tokens(used, |tokens| throttle.after_success(tokens)),
            BudgetRule::AwsQuota(quota) => {
                let last_taken = (self.calls[index].attempt > 1).then(|| self.budgets.last_taken[index as usize]);
                self.change_tokens(used, |tokens| quota.after_success(tokens, last_taken));
            }
            BudgetRule::WindowedRatio(window) if window.deposits == Deposit::OnSuccess => {
                window.pay_in(&mut self.budgets.windows[used.state], self.now);
            }
            _ => {}
        }
    }

    /// An attempt has failed: whether the call's budget grants another.
    #[inline]
    pub(super) fn ask_budget(&mut self, index: u32, error: ErrorKind) -> bool {
        !self.budgets.exist() || self.grants_retry(index, error)
    }

    #[inline(never)]
    fn grants_retry(&mut self, index: u32, error: ErrorKind) -> bool {
        let Some(used) = self.used_budget(index) else { return true };
        if FULL && let BudgetRule::GrpcThrottle(throttle) = used.rule {
            let retry_on = self.plan.policy_of(self.calls[index].call).retry_on;
            self.change_tokens(used, |tokens| throttle.after_failure(tokens, error, retry_on));
        }
        self.budgets.grants(used, error, self.now)
    }

    /// A retry after this error has been granted, and the call waits for it.
    #[inline]
    pub(super) fn charge_budget(&mut self, index: u32, error: ErrorKind) {
        if self.budgets.exist() {
            self.charge(index, error);
        }
    }

    #[inline(never)]
    fn charge(&mut self, index: u32, error: ErrorKind) {
        let Some(used) = self.used_budget(index) else { return };
        match used.rule {
            BudgetRule::TokenBucket(bucket) => self.change_tokens(used, |tokens| bucket.after_retry(tokens, error)),
            BudgetRule::RatioOfRequests(ratio) => self.change_tokens(used, |tokens| ratio.after_retry(tokens)),
            BudgetRule::AwsQuota(quota) => {
                let taken = quota.cost_after(error);
                self.change_tokens(used, |tokens| tokens - taken);
                let last_taken = &mut self.budgets.last_taken;
                if last_taken.len() < self.calls.places() {
                    last_taken.resize(self.calls.places(), 0);
                }
                last_taken[index as usize] = taken;
            }
            BudgetRule::WindowedRatio(window) => window.withdraw(&mut self.budgets.windows[used.state], self.now),
            BudgetRule::Concurrency(Concurrency { counts_waiting, .. }) => {
                self.budgets.in_progress[used.state].retries += u32::from(*counts_waiting);
            }
            // The failure has taken the token.
            BudgetRule::GrpcThrottle(_) => {}
        }
    }
}
