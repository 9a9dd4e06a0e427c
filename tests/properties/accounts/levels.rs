//! The levels of budgets over time, as the accounts have them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use stormsim::metrics::{Outcome, TokenLevel};
use stormsim::plan::Plan;
use stormsim::policy::BudgetRule;
use stormsim::time::{Instant, Span};

/// What all states of each budget hold together, in millionths of a token; none if nothing tells.
type Row = Vec<Option<u128>>;

/// When the levels became what; the first is how they are at the start.
pub struct Levels(Vec<(Instant, Row)>);

impl Levels {
    /// At the start.
    pub fn new(start: Row) -> Self {
        Self(vec![(Instant::ZERO, start)])
    }

    /// After what a note tells of.
    pub fn enter(&mut self, at: Instant, row: Row) {
        if self.0.last().is_some_and(|(_, last)| *last != row) {
            self.0.push((at, row));
        }
    }

    /// Holds them against the timeline and the least levels of an outcome.
    pub fn agree(&self, plan: &Plan, outcome: &Outcome) -> Result<(), TestCaseError> {
        for (budget, pool) in plan.budgets.iter().enumerate() {
            let series = &outcome.timeline.tokens[budget];
            prop_assert_eq!(series.is_empty(), !is_steady(&pool.rule));
            if let Some(expected) = self.at_ends_of_buckets(budget, plan.bucket) {
                prop_assert_eq!(series, &expected);
            }
        }
        for (call, tally) in plan.calls.iter().zip(&outcome.calls) {
            let budgets: Vec<usize> = call.budget.iter().map(|used| used.pool as usize).collect();
            self.have_least(plan, &budgets, tally.tokens_min, outcome.warmup)?;
            // What does not change by itself ends as the timeline does, if nothing else tells.
            let series = budgets.first().and_then(|&budget| outcome.timeline.tokens[budget].last());
            prop_assert!(series.is_none_or(|last| tally.tokens_left == Some(last.micro)));
            prop_assert!(tally.tokens_min.is_none_or(|least| Some(least) <= tally.tokens_left));
        }
        let all: Vec<usize> = (0..plan.budgets.len()).collect();
        self.have_least(plan, &all, outcome.all_calls.tokens_min, outcome.warmup)
    }

    /// Holds the least level of some budgets together since an instant against what the outcome says.
    fn have_least(
        &self,
        plan: &Plan,
        budgets: &[usize],
        told: Option<u128>,
        from: Instant,
    ) -> Result<(), TestCaseError> {
        let budgets = summands(plan, budgets);
        let are_steady = budgets.iter().all(|&budget| is_steady(&plan.budgets[budget].rule));
        prop_assert_eq!(told.is_some(), !budgets.is_empty() && are_steady);
        // The level at that instant is what it became last before.
        let first = self.0.partition_point(|&(at, _)| at < from).saturating_sub(1);
        let sums = self.0[first..].iter().map(|(_, row)| budgets.iter().map(|&budget| row[budget]).sum());
        let sums: Option<Vec<u128>> = sums.collect();
        if let (Some(told), Some(sums)) = (told, sums) {
            prop_assert_eq!(Some(told), sums.into_iter().min());
        }
        Ok(())
    }

    /// In the first bucket, and in each in which it became another.
    fn at_ends_of_buckets(&self, budget: usize, width: Span) -> Option<Vec<TokenLevel>> {
        let mut series: Vec<TokenLevel> = Vec::new();
        for (at, row) in &self.0 {
            let level = TokenLevel { index: at.as_ns() / width.as_ns(), micro: row[budget]? };
            series.pop_if(|last| last.index == level.index);
            if series.last().is_none_or(|last| last.micro != level.micro) {
                series.push(level);
            }
        }
        Some(series)
    }
}

/// Whether its tokens change only when something happens.
pub fn is_steady(rule: &BudgetRule) -> bool {
    !matches!(rule, BudgetRule::WindowedRatio(_) | BudgetRule::Concurrency(_))
}

/// Those of the budgets that have tokens, if all of these are of a kind.
pub fn summands(plan: &Plan, budgets: &[usize]) -> Vec<usize> {
    let kind = |&budget: &usize| match &plan.budgets[budget].rule {
        BudgetRule::Concurrency(_) => None,
        BudgetRule::TokenBucket(_) => Some('b'),
        BudgetRule::GrpcThrottle(_) => Some('g'),
        BudgetRule::AwsQuota(_) => Some('a'),
        BudgetRule::WindowedRatio(_) | BudgetRule::RatioOfRequests(_) => Some('r'),
    };
    let kinds: BTreeSet<char> = budgets.iter().filter_map(kind).collect();
    budgets.iter().copied().filter(|budget| kinds.len() == 1 && kind(budget).is_some()).collect()
}
