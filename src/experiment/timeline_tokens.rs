//! The levels of retry budgets over many replicas. Only integers are added, so that the order does not matter.

use std::collections::BTreeMap;

use crate::metrics::{Timeline, kept_summands};
use crate::plan::Plan;
use crate::policy::MICRO;

/// By how many millionths of a token a level changed in each bucket, all replicas together; in the first that is the
/// level itself.
type Changes = BTreeMap<u64, i128>;

/// The changes of each budget of a variant. A replica that has ended changes nothing: it keeps its last level.
#[derive(Debug)]
pub(super) struct TokenSum {
    budgets: Vec<Changes>,
}

impl TokenSum {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { budgets: vec![Changes::new(); plan.budgets.len()] }
    }

    pub(super) fn add(&mut self, timeline: &Timeline) {
        for (changes, series) in self.budgets.iter_mut().zip(&timeline.tokens) {
            let mut before = 0;
            for level in series {
                let micro = level.micro as i128;
                *changes.entry(level.index).or_default() += micro - before;
                before = micro;
            }
        }
    }

    /// The level of these budgets together, in the mean over `replicas` replicas.
    pub(super) fn means(&self, plan: &Plan, budgets: impl IntoIterator<Item = usize>, replicas: f64) -> TokenMeans {
        let mut all = Changes::new();
        for budget in kept_summands(plan, budgets) {
            for (&index, change) in &self.budgets[budget] {
                *all.entry(index).or_default() += change;
            }
        }
        let level = |sum: &mut i128, (index, change): (u64, i128)| {
            *sum += change;
            Some((index, *sum as f64 / (MICRO as f64 * replicas)))
        };
        TokenMeans(all.into_iter().scan(0, level).collect())
    }
}

/// A mean level in tokens, at the end of each bucket in which it changed; empty if there is none to tell.
pub(super) struct TokenMeans(Vec<(u64, f64)>);

impl TokenMeans {
    /// At the end of a bucket.
    pub(super) fn at(&self, index: u64) -> Option<f64> {
        let later = self.0.partition_point(|&(changed, _)| changed <= index);
        Some(self.0[later.checked_sub(1)?].1)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::metrics::TokenLevel;
    use crate::plan::BudgetPool;
    use crate::policy::{AwsQuota, BudgetRule, Concurrency, RatioOfRequests};
    use crate::scenario::{Overrides, Scenario};

    fn series(levels: &[(u64, u64)]) -> Vec<TokenLevel> {
        let micro = |tokens: u64| u128::from(tokens * MICRO);
        levels.iter().map(|&(index, tokens)| TokenLevel { index, micro: micro(tokens) }).collect()
    }

    /// A plan whose budgets follow these rules.
    fn plan(rules: &[BudgetRule]) -> Plan {
        let text = r#"
            version = 1
            name = "levels"
            clients.web = { arrivals = { burst = { at = "0s" } }, calls.api = {} }
            services.api = {}
        "#;
        let scenario = Scenario::parse("levels", text, Path::new(""), &Overrides::default()).unwrap();
        let budgets = rules.iter().map(|&rule| BudgetPool { rule, states: 1 }).collect();
        Plan { budgets, ..scenario.variants()[0].1.clone() }
    }

    fn sum(plan: &Plan, replicas: &[Vec<Vec<TokenLevel>>]) -> TokenSum {
        let mut sum = TokenSum::new(plan);
        for tokens in replicas {
            sum.add(&Timeline {
                bucket: plan.bucket,
                scenario: Vec::new(),
                groups: Vec::new(),
                calls: Vec::new(),
                services: Vec::new(),
                tokens: tokens.clone(),
            });
        }
        sum
    }

    const SHARE: BudgetRule = BudgetRule::RatioOfRequests(RatioOfRequests { ratio: 0, floor: 10 * MICRO });
    const AT_ONCE: BudgetRule = BudgetRule::Concurrency(Concurrency { share: 0, minimum: 3, counts_waiting: true });
    const QUOTA: BudgetRule =
        BudgetRule::AwsQuota(AwsQuota { max: 10, cost: 1, cost_timeout: 1, cost_throttled: 1, per_success: 1 });

    /// One replica has ten tokens, spends all in bucket 2 and ends; the other spends four in bucket 5 and gets one back
    /// in bucket 9.
    #[test]
    fn a_replica_that_has_ended_keeps_its_last_level() {
        let plan = plan(&[SHARE]);
        let [short, long] = [series(&[(0, 10), (2, 0)]), series(&[(0, 10), (5, 6), (9, 7)])];
        for replicas in [[vec![short.clone()], vec![long.clone()]], [vec![long], vec![short]]] {
            let means = sum(&plan, &replicas).means(&plan, [0], 2.0);
            let levels = [0, 1, 2, 4, 5, 8, 9, 1_000].map(|index| means.at(index));
            assert_eq!(levels, [10.0, 10.0, 5.0, 5.0, 3.0, 3.0, 3.5, 3.5].map(Some));
        }
    }

    /// Whole retries add up with whole retries, not with the tokens of a quota; and a limit on retries at once has none
    /// that would be in the way.
    #[test]
    fn only_tokens_of_a_kind_are_added_up() {
        let plan = plan(&[SHARE, SHARE, AT_ONCE, QUOTA]);
        let levels = vec![series(&[(0, 10), (3, 4)]), series(&[(0, 1)]), Vec::new(), series(&[(0, 7)])];
        let sum = sum(&plan, &[levels]);
        let at = |budgets: &[usize]| [0, 3].map(|index| sum.means(&plan, budgets.iter().copied(), 1.0).at(index));
        assert_eq!(at(&[0]), [Some(10.0), Some(4.0)]);
        assert_eq!(at(&[0, 1, 2, 0]), [Some(11.0), Some(5.0)]);
        assert_eq!(at(&[3, 2]), [Some(7.0), Some(7.0)]);
        for none in [&[0, 3][..], &[2], &[]] {
            assert_eq!(at(none), [None, None]);
        }
    }
}
