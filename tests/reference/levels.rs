//! The levels of retry budgets over time, replayed from the changes in the record.

use std::collections::{BTreeMap, BTreeSet};

use stormsim::metrics::TokenLevel;
use stormsim::plan::{CallId, Plan};
use stormsim::policy::BudgetRule;
use stormsim::time::Instant;

use super::record::Record;

/// What the tokens of a rule are called, so that nobody adds up different ones; none if it has none.
fn currency(rule: &BudgetRule) -> Option<&'static str> {
    match rule {
        BudgetRule::TokenBucket(_) => Some("tokens of a bucket"),
        BudgetRule::GrpcThrottle(_) => Some("tokens of gRPC"),
        BudgetRule::AwsQuota(_) => Some("tokens of AWS"),
        BudgetRule::WindowedRatio(_) | BudgetRule::RatioOfRequests(_) => Some("retries"),
        BudgetRule::Concurrency(_) => None,
    }
}

/// The budget of a call, or all budgets, as far as they have tokens; none if those do not add up.
fn budgets(plan: &Plan, call: Option<CallId>) -> BTreeSet<usize> {
    let all: BTreeSet<usize> = match call {
        Some(call) => plan.calls[call.index()].budget.iter().map(|used| used.pool as usize).collect(),
        None => (0..plan.budgets.len()).collect(),
    };
    let of = |&budget: &usize| currency(&plan.budgets[budget].rule);
    let with_tokens: BTreeSet<usize> = all.into_iter().filter(|budget| of(budget).is_some()).collect();
    let currencies: BTreeSet<_> = with_tokens.iter().map(of).collect();
    if currencies.len() == 1 { with_tokens } else { BTreeSet::new() }
}

/// What the budget of a call holds at the end, or all budgets together without a call; none if there is none to tell.
pub fn tokens_left(plan: &Plan, record: &Record, call: Option<CallId>) -> Option<u128> {
    let left = budgets(plan, call).into_iter().filter_map(|budget| record.tokens_left[budget]);
    left.reduce(|sum, left| sum + left)
}

/// The least that it holds from an instant on, before or after whatever happens then; none, too, of windows.
pub fn tokens_min(plan: &Plan, record: &Record, call: Option<CallId>, from: Instant) -> Option<u128> {
    let mut levels = BTreeMap::new();
    for budget in budgets(plan, call) {
        levels.insert(budget, record.tokens_at_start[budget]?);
    }
    if levels.is_empty() {
        return None;
    }
    let sum = |levels: &BTreeMap<usize, u128>| levels.values().sum::<u128>();
    let changes = record.token_changes.iter().filter(|change| levels.contains_key(&change.budget));
    let changes: Vec<_> = changes.collect();
    let (before, since) = changes.split_at(changes.partition_point(|change| change.at < from));
    levels.extend(before.iter().map(|change| (change.budget, change.level)));
    let mut least = sum(&levels);
    for change in since {
        levels.insert(change.budget, change.level);
        least = least.min(sum(&levels));
    }
    Some(least)
}

/// By budget, its level at the end of the first bucket and of each in which it became another.
pub fn timeline(plan: &Plan, record: &Record) -> Vec<Vec<TokenLevel>> {
    let of_budget = |(budget, start): (usize, &Option<u128>)| {
        let mut levels: BTreeMap<u64, u128> = start.iter().map(|&start| (0, start)).collect();
        for change in record.token_changes.iter().filter(|change| change.budget == budget) {
            levels.insert(change.at.as_ns() / plan.bucket.as_ns(), change.level);
        }
        let mut series: Vec<_> = levels.into_iter().map(|(index, micro)| TokenLevel { index, micro }).collect();
        series.dedup_by_key(|level| level.micro);
        series
    };
    record.tokens_at_start.iter().enumerate().map(of_budget).collect()
}
