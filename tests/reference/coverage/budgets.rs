//! What the rules of retry budgets say, of what each treats in a way of its own.

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::policy::{BudgetRule, Deposit, WindowedRatio};
use stormsim::time::Instant;

use crate::reference::outcome::outcome;
use crate::reference::record::{Attempt, AttemptEnd, Call, Caller};

use super::Cases;

impl Cases<'_> {
    pub(super) fn budgets(&self) -> Vec<(&'static str, bool)> {
        let grown = |pool: usize, initial: u64| self.record.tokens[pool].iter().any(|&tokens| tokens > initial);
        vec![
            (
                "a budget of each server",
                self.call(|it| {
                    let is_servers = matches!(it.caller, Caller::Work(_)) && self.has_own_state(it);
                    is_servers && !it.retries.is_empty() && self.instance(it) > 0
                }),
            ),
            (
                "a bucket that has grown",
                self.plan.budgets.iter().enumerate().any(|(pool, budget)| match budget.rule {
                    BudgetRule::TokenBucket(bucket) => grown(pool, bucket.initial),
                    _ => false,
                }),
            ),
            (
                "a bucket charged for a timeout",
                self.budgeted(|it, rule| match rule {
                    BudgetRule::TokenBucket(bucket) => bucket.cost != bucket.cost_timeout && has_timed_out(it),
                    _ => false,
                }),
            ),
            (
                "a throttle that counts the last failure",
                self.budgeted(|it, rule| {
                    let is_exhausted = matches!(it.result(), Some(Err((_, StopReason::Exhausted))));
                    matches!(rule, BudgetRule::GrpcThrottle(_)) && is_exhausted
                }),
            ),
            ("a quota that refunds", self.refunds(|it| it.retries.len() == 1)),
            ("a quota that refunds the last of several", self.refunds(|it| it.retries.len() > 1)),
            ("a quota that refunds what a timeout costs", self.refunds(has_timed_out)),
            (
                "a quota charged for a rate limit",
                self.budgeted(|it, rule| {
                    let is_limited = |&(_, error): &(Instant, ErrorKind)| error == ErrorKind::RateLimited;
                    matches!(rule, BudgetRule::AwsQuota(_)) && it.retries.iter().any(is_limited)
                }),
            ),
            ("a window paid in at the start", self.windowed(|_, rule| rule.deposits == Deposit::AtStart)),
            ("a window paid in on success", self.windowed(|_, rule| rule.deposits == Deposit::OnSuccess)),
            (
                "a retry granted beside one that waits for a slot",
                self.budgeted(|it, rule| {
                    let waits_at = |other: &Attempt, at: Instant| {
                        let until = other.sent.or(other.ended.map(|(end, _)| end));
                        other.started < at && until.is_none_or(|until| until > at)
                    };
                    let waits = |at| {
                        self.attempt(|other| waits_at(other, at) && self.state(self.call_of(other)) == self.state(it))
                    };
                    matches!(rule, BudgetRule::Concurrency(_)) && it.retries.iter().any(|&(at, _)| waits(at))
                }),
            ),
            (
                "a window that has forgotten a retry",
                self.windowed(|it, rule| {
                    let slot = |at: Instant| at.as_ns() / rule.slot.as_ns();
                    let first = slot(it.retries[0].0);
                    let later = |other: &Call| other.retries.iter().any(|&(at, _)| slot(at) >= first + 10);
                    self.call(|other| self.state(other) == self.state(it) && later(other))
                }),
            ),
        ]
    }

    /// What the levels of budgets over time, and the least of them, could get wrong.
    pub(super) fn levels_of_budgets(&self) -> Vec<(&'static str, bool)> {
        let (tallies, warmup) = (outcome(self.plan, 0, 0, self.record).all_calls, self.plan.warmup);
        let budgets = &self.plan.budgets;
        let changed = |index: usize| self.record.token_changes.iter().any(|change| change.budget == index);
        let several = (0..budgets.len()).filter(|&index| changed(index)).count() > 1;
        let lowest = |since: bool| {
            let changes = self.record.token_changes.iter().filter(|change| (change.at >= warmup) == since);
            changes.map(|change| change.level).min()
        };
        let measured = self.record.end >= warmup;
        vec![
            ("levels that add up", several && tallies.tokens_min.is_some()),
            ("levels that do not add up", several && measured && tallies.tokens_left.is_none()),
            ("a level that was lower at times", measured && tallies.tokens_min < tallies.tokens_left),
            (
                "a level that was lower before the warmup",
                measured && budgets.len() == 1 && lowest(false).is_some_and(|before| lowest(true) > Some(before)),
            ),
        ]
    }

    /// Each rule in each of the ways in which all can be used.
    pub(super) fn rules_of_budgets(&self) -> Vec<(&'static str, bool)> {
        let used = |names: [&'static str; 4], is_meant: fn(&BudgetRule) -> bool| {
            let [refuses, grants, of_several_states, of_several_calls] = names;
            let refused = |it: &Call| matches!(it.result(), Some(Err((_, StopReason::Budget))));
            let tried_again = |it: &Call| !it.retries.is_empty();
            let both = |differ: &dyn Fn(&Call, &Call) -> bool| {
                self.budgeted(|it, rule| {
                    is_meant(rule) && tried_again(it) && self.call(|other| tried_again(other) && differ(it, other))
                })
            };
            let pool = |it: &Call| self.state(it).map(|(pool, _)| pool);
            [
                (refuses, self.budgeted(|it, rule| is_meant(rule) && refused(it))),
                (grants, self.budgeted(|it, rule| is_meant(rule) && tried_again(it))),
                (of_several_states, both(&|it, other| pool(it) == pool(other) && self.state(it) != self.state(other))),
                (of_several_calls, both(&|it, other| it.id != other.id && self.state(it) == self.state(other))),
            ]
        };
        [
            used(
                ["a bucket refuses", "a bucket grants", "buckets of instances", "a bucket of several calls"],
                |rule| matches!(rule, BudgetRule::TokenBucket(_)),
            ),
            used(
                ["a throttle refuses", "a throttle grants", "throttles of instances", "a throttle of several calls"],
                |rule| matches!(rule, BudgetRule::GrpcThrottle(_)),
            ),
            used(["a quota refuses", "a quota grants", "quotas of instances", "a quota of several calls"], |rule| {
                matches!(rule, BudgetRule::AwsQuota(_))
            }),
            used(
                ["a window refuses", "a window grants", "windows of instances", "a window of several calls"],
                |rule| matches!(rule, BudgetRule::WindowedRatio(_)),
            ),
            used(
                [
                    "retries at once refused",
                    "retries at once granted",
                    "retries at once of instances",
                    "retries at once of several calls",
                ],
                |rule| matches!(rule, BudgetRule::Concurrency(_)),
            ),
            used(["a share refuses", "a share grants", "shares of instances", "a share of several calls"], |rule| {
                matches!(rule, BudgetRule::RatioOfRequests(_))
            }),
        ]
        .concat()
    }

    /// Retries that are in progress no more because their calls are abandoned; if waiting counts, in time for another
    /// call to ask.
    pub(super) fn abandoned_retries(&self) -> Vec<(&'static str, bool)> {
        let abandoned = |counts_waiting: bool, is_meant: &dyn Fn(&Call, &Attempt) -> bool| {
            self.budgeted(|it, rule| match (rule, it.abandoned) {
                (BudgetRule::Concurrency(rule), Some(at)) if rule.counts_waiting == counts_waiting => {
                    let last = self.record.attempts.iter().rfind(|attempt| self.call_of(attempt).key == it.key);
                    let matters = !counts_waiting || self.is_asked_since(at, self.state(it));
                    matters && last.is_some_and(|last| is_meant(it, last))
                }
                _ => false,
            })
        };
        let ends_with = |last: &Attempt| matches!(last.end(), Some(AttemptEnd::Abandoned)) && last.number > 1;
        vec![
            ("a grant abandoned while it waits", abandoned(true, &|it, last| it.retries.len() as u32 == last.number)),
            ("a grant abandoned before its slot", abandoned(true, &|_, last| ends_with(last) && last.sent.is_none())),
            ("a grant abandoned under way", abandoned(true, &|_, last| ends_with(last) && last.sent.is_some())),
            ("a retry abandoned under way", abandoned(false, &|_, last| ends_with(last) && last.sent.is_some())),
        ]
    }

    /// Whether a state of a budget has granted or refused a retry at `from` or later.
    fn is_asked_since(&self, from: Instant, state: Option<(u32, u32)>) -> bool {
        self.call(|it| {
            let is_granted = it.retries.iter().any(|&(at, _)| at >= from);
            let is_refused = matches!(it.ended, Some((at, Err((_, StopReason::Budget)))) if at >= from);
            (is_granted || is_refused) && self.state(it) == state
        })
    }

    /// Whether a call with a budget shows something.
    fn budgeted(&self, shows: impl Fn(&Call, &BudgetRule) -> bool) -> bool {
        self.call(|it| {
            let budget = self.plan.calls[it.id.index()].budget;
            budget.is_some_and(|used| shows(it, &self.plan.budgets[used.pool as usize].rule))
        })
    }

    /// Whether a quota has given something back to a call.
    fn refunds(&self, shows: impl Fn(&Call) -> bool) -> bool {
        let is_well = |it: &Call| it.result() == Some(Ok(())) && !it.retries.is_empty();
        self.budgeted(|it, rule| matches!(rule, BudgetRule::AwsQuota(_)) && is_well(it) && shows(it))
    }

    /// Whether a call has been granted a retry that more than the reserve paid for.
    fn windowed(&self, shows: impl Fn(&Call, &WindowedRatio) -> bool) -> bool {
        self.budgeted(|it, rule| match rule {
            BudgetRule::WindowedRatio(rule) => {
                rule.deposit > 0 && rule.reserve < rule.withdrawal && !it.retries.is_empty() && shows(it, rule)
            }
            _ => false,
        })
    }

    fn call_of(&self, attempt: &Attempt) -> &Call {
        &self.record.calls[attempt.call]
    }

    fn has_own_state(&self, call: &Call) -> bool {
        self.plan.calls[call.id.index()].budget.is_some_and(|used| used.by_instance)
    }

    /// The pool on which a call draws, and which state of it.
    fn state(&self, call: &Call) -> Option<(u32, u32)> {
        let used = self.plan.calls[call.id.index()].budget?;
        Some((used.pool, if used.by_instance { self.instance(call) } else { 0 }))
    }

    /// The client or server that makes a call.
    pub(super) fn instance(&self, call: &Call) -> u32 {
        match call.caller {
            Caller::Request(request) => self.record.requests[request].client,
            Caller::Work(place) => self.record.works[place.work].server.expect("a server makes it"),
        }
    }
}

/// Whether the latest retry was for a timeout.
fn has_timed_out(call: &Call) -> bool {
    matches!(call.retries.last(), Some((_, ErrorKind::Timeout)))
}
