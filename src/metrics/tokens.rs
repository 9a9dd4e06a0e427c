//! The levels of retry budgets: what all states of one hold together, and all budgets together.
//!
//! Each change of a state changes the totals, so that nothing is added up over the states, of which there may be a
//! million. The level of a `windowed_ratio` also changes when nothing happens, as its slots are forgotten: it is not
//! kept here, and is known at the end of the run only.

use std::collections::BTreeSet;

use crate::metrics::CallTally;
use crate::plan::{BudgetPool, Call, Plan};
use crate::policy::Holding;

/// The totals of one replica.
#[derive(Debug)]
pub(super) struct Tokens {
    /// By budget; of no meaning for those that hold more than a number.
    pools: Vec<Total>,
    /// All budgets together; of no meaning if their tokens do not add up.
    all: Total,
}

/// What several states hold together, in the unit of their rule.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    now: u128,
    /// The least that it has been.
    least: u128,
}

impl Total {
    #[inline]
    fn change(&mut self, before: u64, after: u64) {
        self.now = self.now + u128::from(after) - u128::from(before);
        self.least = self.least.min(self.now);
    }
}

impl Tokens {
    /// Before anything has happened.
    pub fn new(plan: &Plan) -> Self {
        let at_start = |pool: &BudgetPool| {
            let initial = pool.rule.holding().map_or(0, |holding| holding.initial);
            let now = u128::from(initial) * u128::from(pool.states);
            Total { now, least: now }
        };
        let pools: Vec<Total> = plan.budgets.iter().map(at_start).collect();
        let now = pools.iter().map(|total| total.now).sum();
        Self { pools, all: Total { now, least: now } }
    }

    /// A state of a budget holds `after` now.
    #[inline]
    pub fn change(&mut self, pool: u32, before: u64, after: u64) {
        self.pools[pool as usize].change(before, after);
        self.all.change(before, after);
    }

    /// From now on the least is looked for.
    pub fn forget_least(&mut self) {
        self.pools.iter_mut().chain([&mut self.all]).for_each(|total| total.least = total.now);
    }

    /// The level of each budget in millionths of a token; none where it is not kept.
    pub fn levels(&self, plan: &Plan) -> impl Iterator<Item = Option<u128>> {
        let level = |(total, pool): (&Total, &BudgetPool)| Some(total.now * unit(pool)?);
        self.pools.iter().zip(&plan.budgets).map(level)
    }

    /// Writes what is left, and the least there was, into the tallies of the calls and that of all calls. What is left
    /// in windows is given.
    pub fn hand_over(
        &self,
        plan: &Plan,
        left_in_windows: &[Option<u128>],
        calls: &mut [CallTally],
        all: &mut CallTally,
    ) {
        let kept = self.levels(plan).zip(left_in_windows);
        let left: Vec<Option<u128>> = kept.map(|(kept, in_windows)| kept.or(*in_windows)).collect();
        for (tally, call) in calls.iter_mut().zip(&plan.calls) {
            let Some(pool) = pool_of(call) else { continue };
            tally.tokens_left = left[pool];
            tally.tokens_min = unit(&plan.budgets[pool]).map(|unit| self.pools[pool].least * unit);
        }
        let pools = summands(plan, 0..plan.budgets.len());
        all.tokens_left = pools.iter().filter_map(|&pool| left[pool]).reduce(|sum, tokens| sum + tokens);
        // Tokens that add up have the same unit.
        let unit = kept_summands(plan, 0..plan.budgets.len()).first().and_then(|&pool| unit(&plan.budgets[pool]));
        all.tokens_min = unit.map(|unit| self.all.least * unit);
    }
}

/// What a level is counted in, in millionths of a token; none if it is not kept.
fn unit(pool: &BudgetPool) -> Option<u128> {
    pool.rule.holding().map(|Holding { unit, .. }| u128::from(unit))
}

fn pool_of(call: &Call) -> Option<usize> {
    Some(call.budget?.pool as usize)
}

/// Those of these budgets that have tokens, each once; nothing if their tokens do not add up.
fn summands(plan: &Plan, pools: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let kind = |&pool: &usize| plan.budgets[pool].rule.token_kind();
    let pools: BTreeSet<usize> = pools.into_iter().filter(|pool| kind(pool).is_some()).collect();
    let first = pools.first().and_then(kind);
    if pools.iter().all(|pool| kind(pool) == first) { pools.into_iter().collect() } else { Vec::new() }
}

/// Likewise; nothing, too, if the level of any of them is not kept.
pub(crate) fn kept_summands(plan: &Plan, pools: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let pools = summands(plan, pools);
    if pools.iter().all(|&pool| unit(&plan.budgets[pool]).is_some()) { pools } else { Vec::new() }
}
