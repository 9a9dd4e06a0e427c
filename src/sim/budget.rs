//! The states of the retry budgets of one replica.

use crate::plan::{BudgetUse, Plan};

/// The balances of all budgets, in millionths of a token.
#[derive(Debug)]
pub(super) struct Budgets {
    balances: Vec<u64>,
    /// Where the states of each pool begin.
    first: Vec<usize>,
}

impl Budgets {
    pub fn new(plan: &Plan) -> Self {
        let mut budgets = Self { balances: Vec::new(), first: Vec::new() };
        for pool in &plan.budgets {
            budgets.first.push(budgets.balances.len());
            budgets.balances.resize(budgets.balances.len() + pool.states as usize, pool.rule.initial);
        }
        budgets
    }

    /// The balance that a caller's retries draw on; `instance` is its number.
    #[inline]
    pub fn balance(&mut self, used: BudgetUse, instance: u32) -> &mut u64 {
        let state = if used.by_instance { instance as usize } else { 0 };
        &mut self.balances[self.first[used.pool as usize] + state]
    }

    /// What is left for each call, over all states of its pool, and in all pools together; none without a budget.
    pub fn left(&self, plan: &Plan) -> (Vec<Option<u128>>, Option<u128>) {
        let sum = |balances: &[u64]| -> u128 { balances.iter().map(|&balance| u128::from(balance)).sum() };
        let pool = |pool: usize| {
            let first = self.first[pool];
            sum(&self.balances[first..first + plan.budgets[pool].states as usize])
        };
        let by_call = plan.calls.iter().map(|call| call.budget.map(|used| pool(used.pool as usize))).collect();
        (by_call, (!plan.budgets.is_empty()).then(|| sum(&self.balances)))
    }
}
