//! Retry policies.

use crate::failure::ErrorSet;
use crate::plan::PolicyDraft;
use crate::policy::{Backoff, Beyond, CapOrder, DelayRule, Jitter, RetryPolicy, Schedule, ServerDelay};
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{BeyondChoice, DelayRuleChoice, RetryAfterTable, RetryTable};
use crate::scenario::values::{Duration, NotNegative, Whole};
use crate::time::Span;

/// The policy of calls that do not retry; no policy of a file may be called so.
pub const NO_POLICY: &str = "none";

impl Resolver<'_> {
    /// The policy of calls without one, then those of the file.
    pub(super) fn policies(&mut self) -> Vec<PolicyDraft> {
        let schedule = Schedule::new(Backoff::None, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None);
        let none = RetryPolicy {
            max_attempts: 1,
            schedule,
            retry_on: ErrorSet::RETRYABLE,
            min_attempt: Span::ZERO,
            server_delay: ServerDelay::IGNORE,
            throttled: None,
            max_elapsed: Span::UNLIMITED,
        };
        let without_retries = |name: &str| PolicyDraft { name: name.to_owned(), policy: none.clone(), budget: None };
        let mut policies = vec![without_retries(NO_POLICY)];
        for (name, field) in self.tables.retries.entries() {
            if self.is_stray("retries", name) {
                // Like one that is wrong as a whole it keeps its position.
                policies.push(without_retries(name));
                continue;
            }
            let wrong = RetryTable::default();
            if let (NO_POLICY, Some(place)) = (name, field.key()) {
                let message = format!("no retry policy can be called `{NO_POLICY}`");
                self.refuse(place, message, "the name stands for no retries at all");
            }
            // A policy that is wrong as a whole keeps its position, so that the others keep theirs.
            let table = field.get().unwrap_or(&wrong);
            let (schedule, throttled) = self.schedules(name, table);
            let max_elapsed = table.max_elapsed.get().and_then(|limit| limit.value());
            let policy = RetryPolicy {
                max_attempts: self.max_attempts(name, table, field.get().and(field.key())),
                schedule,
                retry_on: table
                    .retry_on
                    .get()
                    .map_or(ErrorSet::RETRYABLE, |kinds| kinds.iter().map(|kind| kind.value).collect()),
                min_attempt: table.min_attempt.get().map_or(Span::ZERO, |&Duration(span)| span),
                server_delay: self.server_delay(name, table),
                throttled: throttled.map(Box::new),
                max_elapsed: max_elapsed.map_or(Span::UNLIMITED, |&Duration(span)| span),
            };
            policies.push(PolicyDraft { name: name.to_owned(), policy, budget: self.budget(name, table) });
        }
        policies
    }

    fn server_delay(&mut self, name: &str, table: &RetryTable) -> ServerDelay {
        let given = table.retry_after.get().and_then(|given| given.value()).and_then(|given| given.value());
        let Some(given) = given else { return ServerDelay::IGNORE };
        let jitter = match (given.jitter.get().and_then(|jitter| jitter.value()), given.upward.get()) {
            (Some(setting), _) => Jitter::Add(self.dist(setting, &format!("retries.{name}.retry_after.jitter"))),
            (None, Some(&NotNegative(share))) => Jitter::Upward(share),
            (None, None) => Jitter::None,
        };
        let span = |limit: Option<&Duration>| limit.map_or(Span::UNLIMITED, |&Duration(span)| span);
        let delay = ServerDelay {
            rule: match given.rule.get() {
                Some(DelayRuleChoice::Floor) | None => DelayRule::Floor,
                Some(DelayRuleChoice::Replace) => DelayRule::Replace,
                Some(DelayRuleChoice::Ignore) => DelayRule::Ignore,
            },
            jitter,
            at_most: span(given.at_most.get().and_then(|limit| limit.value())),
            beyond: match given.beyond.get() {
                Some(BeyondChoice::Clamp) | None => Beyond::Clamp,
                Some(BeyondChoice::Stop) => Beyond::Stop,
                Some(BeyondChoice::Ignore) => Beyond::Ignore,
            },
            over_own: span(given.over_own.get().and_then(|limit| limit.value())),
            required: given.required.get().is_some_and(|&required| required),
        };
        self.check_that_servers_are_minded(name, given, &delay);
        delay
    }

    /// What is said of a server's delay means nothing where that is not looked at.
    fn check_that_servers_are_minded(&mut self, name: &str, given: &RetryAfterTable, delay: &ServerDelay) {
        if delay.rule != DelayRule::Ignore {
            return;
        }
        let keys = [
            ("upward", given.upward.key(), matches!(delay.jitter, Jitter::Upward(_)) && delay.jitter.spreads()),
            ("over_own", given.over_own.key(), delay.over_own < Span::UNLIMITED),
            ("required", given.required.key(), delay.required),
        ];
        for (key, place, is_set) in keys {
            if let (true, Some(place)) = (is_set, place) {
                let path = format!("`retries.{name}.retry_after`");
                let message = format!("{path} has `{key}`, but its `rule` is `\"ignore\"`: no server is listened to");
                self.refuse(place, message, format!("take `{key}` out, or write `rule = \"floor\"`"));
            }
        }
    }

    fn max_attempts(&mut self, name: &str, table: &RetryTable, place: Option<&Place>) -> u32 {
        let narrow = |attempts: u64| u32::try_from(attempts).expect("the format allows less than 2^32");
        // A preset says how many there are, and which one was meant by a wrong name is not known.
        let is_unsaid = table.max_retries.is_absent() && table.max_attempts.is_absent() && !table.preset.is_wrong();
        if let (true, Some(place)) = (is_unsaid, place) {
            let message = format!("`retries.{name}` has neither `max_retries` nor `max_attempts`");
            self.refuse(place, message, "add `max_retries = 2`, or `max_retries = \"unlimited\"`");
        }
        let retries = table.max_retries.get().map(|limit| limit.value().map(|&Whole(retries)| narrow(retries + 1)));
        let attempts = table.max_attempts.get().map(|limit| limit.value().map(|&Whole(attempts)| narrow(attempts)));
        retries.or(attempts).map_or(1, |limit| limit.unwrap_or(u32::MAX))
    }
}
