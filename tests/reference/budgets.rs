//! The section "Retry budgets". Whatever can be counted from the record is counted anew each time it is asked for:
//! requests, retries, attempts under way. Kept are only the tokens of the rules in which their order matters, as what
//! would go beyond a maximum is lost.

use stormsim::failure::ErrorKind;
use stormsim::plan::{BudgetPool, BudgetUse, Plan};
use stormsim::policy::{AwsQuota, BudgetRule, Concurrency, Deposit, MICRO, RatioOfRequests, WindowedRatio};
use stormsim::time::Instant;

use super::interpreter::Interpreter;
use super::record::{Call, Caller, TokenChange};

/// A state of a budget: its pool, and its number there.
type State = (usize, usize);

/// What the states of each budget hold at the start, in the unit of their rule; of no meaning where nothing is kept.
pub(super) fn tokens_at_start(plan: &Plan) -> Vec<Vec<u64>> {
    let of_pool = |pool: &BudgetPool| {
        let tokens = match pool.rule {
            BudgetRule::TokenBucket(bucket) => bucket.initial,
            BudgetRule::GrpcThrottle(throttle) => throttle.max,
            BudgetRule::AwsQuota(quota) => quota.max,
            BudgetRule::WindowedRatio(_) | BudgetRule::Concurrency(_) | BudgetRule::RatioOfRequests(_) => 0,
        };
        vec![tokens; pool.states as usize]
    };
    plan.budgets.iter().map(of_pool).collect()
}

impl Interpreter<'_> {
    /// Whether a call whose attempt has failed with this error may be tried again, as far as its budget is concerned.
    pub(super) fn budget_grants(&self, call: usize, error: ErrorKind) -> bool {
        let Some(state) = self.budget_of(call) else { return true };
        let tokens = self.record.tokens[state.0][state.1];
        match &self.plan.budgets[state.0].rule {
            BudgetRule::TokenBucket(bucket) => bucket.grants(tokens, error),
            BudgetRule::GrpcThrottle(throttle) => throttle.grants(tokens),
            BudgetRule::AwsQuota(quota) => tokens >= cost_after(quota, error),
            BudgetRule::RatioOfRequests(ratio) => self.share_left(state, ratio) >= MICRO,
            BudgetRule::WindowedRatio(window) => self.window_left(state, window, self.now) >= window.withdrawal,
            BudgetRule::Concurrency(concurrency) => {
                let share = concurrency.share * self.active(state) / MICRO;
                self.retries_in_progress(state, concurrency) < share.max(concurrency.minimum.into())
            }
        }
    }

    /// An attempt of a call has failed, and the policy has not been asked yet.
    pub(super) fn tell_budget_of_failure(&mut self, call: usize, error: ErrorKind) {
        let retry_on = self.plan.policy_of(self.record.calls[call].id).retry_on;
        self.change_tokens(call, |rule, tokens| match rule {
            BudgetRule::GrpcThrottle(throttle) => throttle.after_failure(tokens, error, retry_on),
            _ => tokens,
        });
    }

    /// A call is going to be tried again after this error.
    pub(super) fn charge_budget(&mut self, call: usize, error: ErrorKind) {
        self.record.calls[call].retries.push((self.now, error));
        self.change_tokens(call, |rule, tokens| match rule {
            BudgetRule::TokenBucket(bucket) => bucket.after_retry(tokens, error),
            BudgetRule::AwsQuota(quota) => tokens - cost_after(quota, error),
            _ => tokens,
        });
    }

    /// A call has succeeded.
    pub(super) fn tell_budget_of_success(&mut self, call: usize) {
        let last_retry = self.record.calls[call].retries.last().copied();
        self.change_tokens(call, |rule, tokens| match rule {
            BudgetRule::TokenBucket(bucket) => bucket.after_success(tokens),
            BudgetRule::GrpcThrottle(throttle) => throttle.after_success(tokens),
            BudgetRule::AwsQuota(quota) => {
                let refund = last_retry.map_or(quota.per_success, |(_, error)| cost_after(quota, error));
                quota.max.min(tokens + refund)
            }
            _ => tokens,
        });
    }

    fn change_tokens(&mut self, call: usize, change: impl Fn(&BudgetRule, u64) -> u64) {
        if let Some((pool, state)) = self.budget_of(call) {
            let tokens = &mut self.record.tokens[pool][state];
            *tokens = change(&self.plan.budgets[pool].rule, *tokens);
        }
        self.note_level(call);
    }

    /// Something has been told to the budget of a call, if it has one.
    pub(super) fn note_level(&mut self, call: usize) {
        let Some((budget, _)) = self.budget_of(call) else { return };
        let change = self.level(budget).map(|level| TokenChange { at: self.now, budget, level });
        self.record.token_changes.extend(change);
    }

    /// What the states of a budget hold together, in millionths of a token, where that changes only when something
    /// happens.
    pub(super) fn level(&self, budget: usize) -> Option<u128> {
        let is_window = matches!(self.plan.budgets[budget].rule, BudgetRule::WindowedRatio(_));
        if is_window { None } else { self.left_in(budget, self.now) }
    }

    /// What they hold at an instant after which nothing has happened; none of those that count no tokens.
    pub(super) fn left_in(&self, pool: usize, at: Instant) -> Option<u128> {
        let budget = &self.plan.budgets[pool];
        let sum = |left: &dyn Fn(State) -> u64| {
            Some((0..budget.states as usize).map(|state| u128::from(left((pool, state)))).sum())
        };
        let kept = |(pool, state): State| self.record.tokens[pool][state];
        match &budget.rule {
            BudgetRule::TokenBucket(_) => sum(&kept),
            BudgetRule::GrpcThrottle(_) => sum(&|state| kept(state) * 1_000),
            BudgetRule::AwsQuota(_) => sum(&|state| kept(state) * MICRO),
            BudgetRule::RatioOfRequests(ratio) => sum(&|state| self.share_left(state, ratio)),
            BudgetRule::WindowedRatio(window) => sum(&|state| {
                let left = self.window_left(state, window, at).max(0) as u64;
                left / window.withdrawal as u64 * MICRO
            }),
            BudgetRule::Concurrency(_) => None,
        }
    }

    /// All requests so far times the ratio, and the floor, less all retries, in millionths.
    fn share_left(&self, state: State, rule: &RatioOfRequests) -> u64 {
        let requests = self.calls_on(state).count() as u64;
        let retries = self.calls_on(state).map(|(_, call)| call.retries.len() as u64).sum::<u64>();
        rule.floor + rule.ratio * requests - MICRO * retries
    }

    /// What was paid in less what was withdrawn in the slots that count at `at`, the current one and those before it,
    /// and the reserve.
    fn window_left(&self, state: State, rule: &WindowedRatio, at: Instant) -> i64 {
        let slot = |at: Instant| at.as_ns() / rule.slot.as_ns();
        let counts = |&when: &Instant| slot(when) + u64::from(rule.slots) > slot(at);
        let paid_in = |call: &Call| match (rule.deposits, call.ended) {
            (Deposit::AtStart, _) => Some(call.began),
            (Deposit::OnSuccess, Some((at, Ok(())))) => Some(at),
            (Deposit::OnSuccess, _) => None,
        };
        let balance = |call: &Call| {
            let deposits = paid_in(call).into_iter().filter(counts).count() as i64;
            let retries = call.retries.iter().filter(|(at, _)| counts(at)).count() as i64;
            deposits * rule.deposit - retries * rule.withdrawal
        };
        self.calls_on(state).map(|(_, call)| balance(call)).sum::<i64>() + rule.reserve
    }

    /// How many attempts are under way, those that wait for a slot included.
    fn active(&self, state: State) -> u64 {
        let attempts = self.record.attempts.iter().filter(|it| self.budget_of(it.call) == Some(state));
        attempts.filter(|it| it.is_active()).count() as u64
    }

    /// How many of them are retries; if waiting counts, with those to come whose time has not.
    fn retries_in_progress(&self, state: State, rule: &Concurrency) -> u64 {
        let attempts = self.record.attempts.iter().filter(|it| self.budget_of(it.call) == Some(state));
        let retries = attempts.filter(|it| it.number > 1 && it.is_active());
        let waiting = self.calls_on(state).filter(|(_, call)| rule.counts_waiting && call.wake.is_some());
        (retries.count() + waiting.count()) as u64
    }

    /// The calls that draw on a state.
    fn calls_on(&self, state: State) -> impl Iterator<Item = (usize, &Call)> {
        let calls = self.record.calls.iter().enumerate();
        calls.filter(move |&(call, _)| self.budget_of(call) == Some(state))
    }

    /// The state that a call draws on.
    fn budget_of(&self, call: usize) -> Option<State> {
        let BudgetUse { pool, by_instance } = self.plan.calls[self.record.calls[call].id.index()].budget?;
        Some((pool as usize, if by_instance { self.instance(call) as usize } else { 0 }))
    }

    /// Which instance of its caller makes a call: the client, or the server.
    pub(super) fn instance(&self, call: usize) -> u32 {
        match self.record.calls[call].caller {
            Caller::Request(request) => self.record.requests[request].client,
            Caller::Work(place) => {
                self.record.works[place.work].server.expect("only what a server took up makes calls")
            }
        }
    }
}

/// What a retry takes after this error.
fn cost_after(quota: &AwsQuota, error: ErrorKind) -> u64 {
    match error {
        ErrorKind::Timeout => quota.cost_timeout,
        ErrorKind::RateLimited | ErrorKind::Throttled => quota.cost_throttled,
        _ => quota.cost,
    }
}
