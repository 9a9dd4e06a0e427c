//! The retry budgets of calls.

use stormsim::plan::BudgetUse;
use stormsim::policy::TokenBucket;

use super::interpreter::Interpreter;
use super::record::Caller;

impl Interpreter<'_> {
    /// Whether a call may be tried again as far as its budget is concerned.
    pub(super) fn budget_grants(&self, call: usize) -> bool {
        self.budget_of(call).is_none_or(|(pool, state)| {
            let rule = &self.plan.budgets[pool].rule;
            rule.grants(self.record.balances[pool][state])
        })
    }

    /// Changes the balance of the budget of a call, if it has one.
    pub(super) fn change_balance(&mut self, call: usize, change: impl Fn(&TokenBucket, u64) -> u64) {
        if let Some((pool, state)) = self.budget_of(call) {
            let balance = &mut self.record.balances[pool][state];
            *balance = change(&self.plan.budgets[pool].rule, *balance);
        }
    }

    /// The pool and its state that a call draws on.
    fn budget_of(&self, call: usize) -> Option<(usize, usize)> {
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
