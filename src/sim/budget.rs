//! The states of the retry budgets of one replica, and what calls tell them.

use crate::failure::ErrorKind;
use crate::plan::Plan;
use crate::policy::{BudgetRule, Concurrency, Deposit, InProgress, MICRO, WindowBalance};
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

/// A rule, and where the state is that a call draws on.
type Used<'p> = (&'p BudgetRule, usize);

impl Budgets {
    pub fn new(plan: &Plan) -> Self {
        let mut budgets = Self::default();
        for pool in &plan.budgets {
            let states = pool.states as usize;
            let Self { tokens, windows, in_progress, .. } = &mut budgets;
            let mut tokens_of = |initial| grow(tokens, states, initial);
            let first = match &pool.rule {
                BudgetRule::TokenBucket(bucket) => tokens_of(bucket.initial),
                BudgetRule::GrpcThrottle(throttle) => tokens_of(throttle.max),
                BudgetRule::AwsQuota(quota) => tokens_of(quota.max),
                BudgetRule::RatioOfRequests(ratio) => tokens_of(ratio.floor),
                BudgetRule::WindowedRatio(_) => grow(windows, states, WindowBalance::default()),
                BudgetRule::Concurrency(_) => grow(in_progress, states, InProgress::default()),
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
    fn grants(&mut self, (rule, state): Used<'_>, error: ErrorKind, now: Instant) -> bool {
        match rule {
            BudgetRule::TokenBucket(bucket) => bucket.grants(self.tokens[state], error),
            BudgetRule::GrpcThrottle(throttle) => throttle.grants(self.tokens[state]),
            BudgetRule::AwsQuota(quota) => quota.grants(self.tokens[state], error),
            BudgetRule::RatioOfRequests(ratio) => ratio.grants(self.tokens[state]),
            BudgetRule::WindowedRatio(window) => window.grants(&mut self.windows[state], now),
            BudgetRule::Concurrency(concurrency) => concurrency.grants(self.in_progress[state]),
        }
    }

    /// What is left for each call, over all states of its pool, and in all pools together, in millionths of a token;
    /// none without a budget that counts tokens.
    pub fn left(&mut self, plan: &Plan, now: Instant) -> (Vec<Option<u128>>, Option<u128>) {
        let pools: Vec<Option<u128>> = (0..plan.budgets.len()).map(|pool| self.left_in(plan, pool, now)).collect();
        let by_call = plan.calls.iter().map(|call| call.budget.and_then(|used| pools[used.pool as usize])).collect();
        (by_call, pools.into_iter().flatten().reduce(|one, other| one + other))
    }

    fn left_in(&mut self, plan: &Plan, pool: usize, now: Instant) -> Option<u128> {
        let (first, pool) = (self.first[pool], &plan.budgets[pool]);
        let states = first..first + pool.states as usize;
        let unit = match &pool.rule {
            BudgetRule::TokenBucket(_) | BudgetRule::RatioOfRequests(_) => 1,
            BudgetRule::GrpcThrottle(_) => 1_000,
            BudgetRule::AwsQuota(_) => MICRO,
            BudgetRule::WindowedRatio(window) => {
                let left = self.windows[states].iter_mut().map(|state| window.retries_left(state, now) as u128);
                return Some(left.sum::<u128>() * u128::from(MICRO));
            }
            BudgetRule::Concurrency(_) => return None,
        };
        Some(self.tokens[states].iter().map(|&tokens| u128::from(tokens * unit)).sum())
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
        Some((&plan.budgets[used.pool as usize].rule, self.budgets.first[used.pool as usize] + instance))
    }

    /// A call has begun.
    pub(super) fn tell_budget_of_call(&mut self, index: u32) {
        match self.used_budget(index) {
            Some((BudgetRule::RatioOfRequests(ratio), state)) => {
                let tokens = &mut self.budgets.tokens[state];
                *tokens = ratio.after_request(*tokens);
            }
            Some((BudgetRule::WindowedRatio(window), state)) if window.deposits == Deposit::AtStart => {
                window.pay_in(&mut self.budgets.windows[state], self.now);
            }
            _ => {}
        }
    }

    /// An attempt starts: it is sent, or waits for a slot.
    pub(super) fn tell_budget_of_attempt(&mut self, index: u32) {
        if let Some((BudgetRule::Concurrency(Concurrency { counts_waiting, .. }), state)) = self.used_budget(index) {
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
        if let Some((BudgetRule::Concurrency(Concurrency { counts_waiting, .. }), state)) = self.used_budget(index) {
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
        let Some((rule, state)) = self.used_budget(index) else { return };
        let tokens = self.budgets.tokens.get_mut(state);
        match (rule, tokens) {
            (BudgetRule::TokenBucket(bucket), Some(tokens)) => *tokens = bucket.after_success(*tokens),
            (BudgetRule::GrpcThrottle(throttle), Some(tokens)) => *tokens = throttle.after_success(*tokens),
            (BudgetRule::AwsQuota(quota), Some(tokens)) => {
                let last_taken = (self.calls[index].attempt > 1).then(|| self.budgets.last_taken[index as usize]);
                *tokens = quota.after_success(*tokens, last_taken);
            }
            (BudgetRule::WindowedRatio(window), _) if window.deposits == Deposit::OnSuccess => {
                window.pay_in(&mut self.budgets.windows[state], self.now);
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
        if FULL && let (BudgetRule::GrpcThrottle(throttle), state) = used {
            let retry_on = self.plan.policy_of(self.calls[index].call).retry_on;
            let tokens = &mut self.budgets.tokens[state];
            *tokens = throttle.after_failure(*tokens, error, retry_on);
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
        let Some((rule, state)) = self.used_budget(index) else { return };
        match rule {
            BudgetRule::TokenBucket(bucket) => {
                let tokens = &mut self.budgets.tokens[state];
                *tokens = bucket.after_retry(*tokens, error);
            }
            BudgetRule::RatioOfRequests(ratio) => {
                let tokens = &mut self.budgets.tokens[state];
                *tokens = ratio.after_retry(*tokens);
            }
            BudgetRule::AwsQuota(quota) => {
                let taken = quota.cost_after(error);
                self.budgets.tokens[state] -= taken;
                let last_taken = &mut self.budgets.last_taken;
                if last_taken.len() < self.calls.places() {
                    last_taken.resize(self.calls.places(), 0);
                }
                last_taken[index as usize] = taken;
            }
            BudgetRule::WindowedRatio(window) => window.withdraw(&mut self.budgets.windows[state], self.now),
            BudgetRule::Concurrency(Concurrency { counts_waiting, .. }) => {
                self.budgets.in_progress[state].retries += u32::from(*counts_waiting);
            }
            // The failure has taken the token.
            BudgetRule::GrpcThrottle(_) => {}
        }
    }
}
