//! Accounts kept from the notes of a run alone: of retry budgets here, of operations and of what protects callers and
//! callees in the neighbours.

mod account;
mod copies;
pub mod diagrams;
mod levels;
mod lineage;
pub mod operations;
pub mod protection;

pub use copies::copies_of_attempts;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::{End, Outcome};
use stormsim::plan::{Effect, Plan, Target};
use stormsim::policy::BudgetRule;
use stormsim::sim::Note;
use stormsim::time::Instant;

use account::Account;
use copies::Copies;
use levels::{Levels, is_steady, summands};
use lineage::{Lineage, Possible};

/// Each grant finds room for one retry more, and each refusal finds none; what is left at any time is what there was,
/// and what was paid in, less what was spent; and where retries are limited at one instant, none is in progress after
/// a run that is drained.
pub fn are_balanced(plan: &Plan, notes: &[(Instant, Note)], outcome: &Outcome, seed: u64) -> Result<(), TestCaseError> {
    let mut accounts = Accounts::new(plan, seed);
    for &(at, note) in notes {
        accounts.enter(at, note)?;
        accounts.levels.enter(at, row(&accounts.accounts, at));
    }
    accounts.close(outcome)
}

/// A state of a budget: its pool, and its number there.
type State = (usize, usize);

/// All accounts, as far as the notes have been read.
struct Accounts<'a> {
    plan: &'a Plan,
    lineage: Lineage<'a>,
    /// By pool and state.
    accounts: Vec<Vec<Account<'a>>>,
    levels: Levels,
    /// By attempt, what its service said.
    answers: BTreeMap<u64, Result<(), ErrorKind>>,
    /// The attempts that were sent and have not ended.
    copies: Copies,
    /// Those that have failed, or were turned away, and how: none if nothing tells.
    failed: BTreeMap<u64, Option<ErrorKind>>,
}

impl<'a> Accounts<'a> {
    fn new(plan: &'a Plan, seed: u64) -> Self {
        let accounts = plan.budgets.iter().enumerate().map(|(pool, budget)| {
            let mut users = plan.calls.iter().filter(|it| it.budget.is_some_and(|used| used.pool as usize == pool));
            let account = Account::new(&budget.rule, users.all(|it| it.pool.is_none()));
            vec![account; budget.states as usize]
        });
        let accounts: Vec<Vec<Account>> = accounts.collect();
        Self {
            plan,
            lineage: Lineage::new(plan, seed),
            levels: Levels::new(row(&accounts, Instant::ZERO)),
            accounts,
            answers: BTreeMap::new(),
            copies: Copies::default(),
            failed: BTreeMap::new(),
        }
    }

    fn enter(&mut self, at: Instant, note: Note) -> Result<(), TestCaseError> {
        self.lineage.enter(note);
        let ended = self.copies.enter(&self.lineage, note);
        match note {
            Note::Answered { key, result } => _ = self.answers.insert(key, result),
            Note::Sent { hedge: 0, key, .. } => self.account(key, |account, it| account.sends(at, it.number)),
            Note::TurnedAway { key, error, .. } => {
                self.account(key, |account, it| account.turns_away(at, it.number));
                self.fail(key, Some(error));
            }
            Note::TimedOut { error, .. } => self.fail_sent(ended, Some(error)),
            Note::Answer { key, late: false } => match self.answers.get(&key) {
                Some(Ok(())) => {
                    self.ends(key);
                    self.account(key, |account, it| account.succeed(at, it.call));
                }
                Some(&Err(error)) => self.fail_sent(ended, Some(error)),
                None => self.fail_sent(ended, self.error_of_faults(key)),
            },
            Note::Waiting { key, .. } => self.check_and_grant(at, key)?,
            Note::CallEnded { key, result, .. } => {
                if let Err((_, StopReason::Budget)) = result {
                    let (error, state) = (self.failed[&key], self.state(key).expect("it has a budget"));
                    let account = &self.accounts[state.0][state.1];
                    let is_right = account.room(at, error).is_none_or(|room| !room);
                    prop_assert!(is_right, "{note:?} although there is room: {account:?}");
                }
                self.account(key, |account, it| account.begins_at_once(at, it.number));
            }
            Note::Abandoned { key, .. } => self.abandon(at, key, ended.is_some()),
            Note::RequestBegan { .. }
            | Note::Sent { .. }
            | Note::Arrived { .. }
            | Note::Placed { .. }
            | Note::Began { .. }
            | Note::Recognised { .. }
            | Note::Dropped { .. }
            | Note::Cancelled { .. }
            | Note::Outrun { .. }
            | Note::Opened { .. }
            | Note::Ejected { .. }
            | Note::Answer { late: true, .. } => {}
        }
        Ok(())
    }

    /// The state on which the call of an attempt draws.
    fn state(&self, key: u64) -> Option<State> {
        let Possible { id, instance, .. } = self.lineage.of(key);
        let used = self.plan.calls[id.index()].budget?;
        Some((used.pool as usize, if used.by_instance { instance } else { 0 }))
    }

    fn account(&mut self, key: u64, enters: impl FnOnce(&mut Account, Possible)) {
        if let Some((pool, state)) = self.state(key) {
            enters(&mut self.accounts[pool][state], self.lineage.of(key));
        }
    }

    /// An attempt that was sent has ended, with all of its copies.
    fn ends(&mut self, key: u64) {
        self.account(key, |account, it| account.ends(it.number));
    }

    /// A copy of an attempt has failed, and the attempt with it, if that has ended.
    fn fail_sent(&mut self, ended: Option<u64>, error: Option<ErrorKind>) {
        if let Some(attempt) = ended {
            self.ends(attempt);
            self.fail(attempt, error);
        }
    }

    fn fail(&mut self, key: u64, error: Option<ErrorKind>) {
        self.failed.insert(key, error);
        let retry_on = self.plan.policy_of(self.lineage.of(key).id).retry_on;
        self.account(key, |account, _| account.fail(error.map(|error| retry_on.contains(error))));
    }

    /// What has failed without its service having answered: a fault of the call did it. No note tells which.
    fn error_of_faults(&self, key: u64) -> Option<ErrorKind> {
        let call = Target::Call(self.lineage.of(key).id);
        let faults = self.plan.faults.iter().filter(|fault| fault.targets.contains(&call));
        let errors: BTreeSet<ErrorKind> = faults
            .filter_map(|fault| match &fault.effect {
                Effect::Fail(failure) => Some(failure.error),
                _ => None,
            })
            .collect();
        errors.first().copied().filter(|_| errors.len() == 1)
    }

    fn check_and_grant(&mut self, at: Instant, key: u64) -> Result<(), TestCaseError> {
        let Some((pool, state)) = self.state(key) else { return Ok(()) };
        let (error, call) = (self.failed[&key], self.lineage.of(key).call);
        let account = &mut self.accounts[pool][state];
        prop_assert!(account.room(at, error).is_none_or(|room| room), "a retry although there is no room: {account:?}");
        account.grant(at, call, error);
        if let BudgetRule::WindowedRatio(window) = account.rule {
            prop_assert!(account.keeps_its_bound(window, at), "too many retries within a stretch: {account:?}");
        }
        Ok(())
    }

    fn abandon(&mut self, at: Instant, key: u64, was_under_way: bool) {
        if was_under_way {
            self.ends(key);
        } else if self.failed.contains_key(&key) {
            self.account(key, |account, _| account.waits_no_more());
        } else {
            self.account(key, |account, it| account.turns_away(at, it.number));
        }
    }

    /// Holds what is left against what the outcome says.
    fn close(&self, outcome: &Outcome) -> Result<(), TestCaseError> {
        let is_drained = outcome.ended == End::Drained;
        for account in self.accounts.iter().flatten().filter(|_| is_drained) {
            prop_assert_eq!((account.active, account.retries), (0, 0), "after the end: {:?}", account);
        }
        if outcome.end < outcome.warmup {
            prop_assert!(
                outcome
                    .calls
                    .iter()
                    .chain([&outcome.all_calls])
                    .all(|tally| tally.tokens_left.or(tally.tokens_min).is_none())
            );
            return Ok(());
        }
        let left_in = |states: &Vec<Account>| states.iter().map(|it| it.left(outcome.end, is_drained)).sum();
        let left: Vec<Option<u128>> = self.accounts.iter().map(left_in).collect();
        let counts = |pool: usize| !matches!(self.plan.budgets[pool].rule, BudgetRule::Concurrency(_));
        for (call, tally) in self.plan.calls.iter().zip(&outcome.calls) {
            let pool = call.budget.map(|used| used.pool as usize).filter(|&pool| counts(pool));
            prop_assert_eq!(tally.tokens_left.is_some(), pool.is_some());
            if let Some(expected) = pool.and_then(|pool| left[pool]) {
                prop_assert_eq!(tally.tokens_left, Some(expected));
            }
        }
        let counting = summands(self.plan, &(0..left.len()).collect::<Vec<usize>>());
        prop_assert_eq!(outcome.all_calls.tokens_left.is_some(), !counting.is_empty());
        let sum = counting.into_iter().map(|pool| left[pool]).sum::<Option<u128>>();
        if let (Some(all), Some(expected)) = (outcome.all_calls.tokens_left, sum) {
            prop_assert_eq!(all, expected);
        }
        self.levels.agree(self.plan, outcome)
    }
}

/// What all states of each budget hold together, of those whose tokens change only when something happens.
fn row(accounts: &[Vec<Account>], at: Instant) -> Vec<Option<u128>> {
    let level = |states: &Vec<Account>| states.iter().map(|it| it.left(at, false)).sum::<Option<u128>>();
    let is_told = |states: &Vec<Account>| states.iter().all(|it| is_steady(it.rule));
    accounts.iter().map(|states| level(states).filter(|_| is_told(states))).collect()
}
