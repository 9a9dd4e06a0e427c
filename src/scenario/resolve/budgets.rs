//! Retry budgets.

use crate::plan::{BudgetDraft, SharedBy, SharedOver};
use crate::policy::{MICRO, TokenBucket};
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{BudgetChoice, RetryTable, SharedByChoice, SharedOverChoice, TokenBucketTable};
use crate::scenario::values::Tokens;

impl Resolver<'_> {
    /// The budget of a policy; none without one.
    pub(super) fn budget(&mut self, policy: &str, table: &RetryTable) -> Option<BudgetDraft> {
        let rule = match table.budget.get()? {
            BudgetChoice::None => return None,
            BudgetChoice::TokenBucket(bucket) => self.token_bucket(policy, &bucket.value, &bucket.place),
        };
        let shared_by = match table.shared_by.get() {
            None | Some(SharedByChoice::Instance) => SharedBy::Instance,
            Some(SharedByChoice::Group) => SharedBy::Group,
        };
        let shared_over = match table.shared_over.get() {
            None | Some(SharedOverChoice::Call) => SharedOver::Call,
            Some(SharedOverChoice::Target) => SharedOver::Target,
            Some(SharedOverChoice::Policy) => SharedOver::Policy,
        };
        Some(BudgetDraft { rule, shared_by, shared_over })
    }

    fn token_bucket(&mut self, policy: &str, table: &TokenBucketTable, place: &Place) -> TokenBucket {
        let owner = format!("`retries.{policy}.budget.token_bucket`");
        self.require(&table.max, &owner, "max", "10", Some(place));
        self.require(&table.per_success, &owner, "per_success", "0.1", Some(place));
        let max = table.max.get().map_or(0, |&Tokens(max)| max);
        if let (0, Some(given)) = (max, table.max.spanned()) {
            let message = format!("{owner}: `max` must be above 0");
            self.refuse(&given.place, message, "for no retries at all write `max_retries = 0`");
        }
        // A wrong `max` has been reported: what it was meant to be is not known.
        let initial = match table.initial.spanned() {
            Some(initial) if initial.value.0 > max && table.max.get().is_some() => {
                let message = format!("{owner}: `initial` must not be above `max`");
                self.refuse(&initial.place, message, "the bucket holds at most `max`");
                max
            }
            Some(initial) => initial.value.0,
            None => max,
        };
        let per_success = table.per_success.get().map_or(0, |&Tokens(per_success)| per_success);
        let cost = table.cost.get().map_or(MICRO, |&Tokens(cost)| cost);
        let floor = table.floor.get().map_or(cost, |&Tokens(floor)| floor);
        for (key, field) in [("cost", &table.cost), ("floor", &table.floor)] {
            if let Some(given) = field.spanned().filter(|given| given.value.0 > max && table.max.get().is_some()) {
                let message = format!("{owner}: `{key}` is above `max`, so that no retry would ever be granted");
                self.refuse(&given.place, message, "for no retries at all write `max_retries = 0`");
            }
        }
        TokenBucket { max, initial, per_success, cost, floor }
    }
}
