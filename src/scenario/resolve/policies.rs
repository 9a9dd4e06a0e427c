//! Retry policies.

use crate::dist::Dist;
use crate::failure::ErrorSet;
use crate::plan::PolicyDraft;
use crate::policy::{Backoff, Beyond, CapOrder, DelayRule, Jitter, RetryPolicy, Schedule, ServerDelay};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{BackoffChoice, BeyondChoice, CapOrderChoice, DelayRuleChoice, JitterChoice, RetryTable};
use crate::scenario::values::{AtLeastOne, Duration, Positive, Share, Whole};
use crate::time::Span;

/// The policy of calls that do not retry; no policy of a file may be called so.
pub const NO_POLICY: &str = "none";

/// Growth of an exponential backoff, unless the scenario says otherwise.
const EXPONENTIAL_FACTOR_DEFAULT: f64 = 2.0;

/// Reach of a decorrelated backoff, unless the scenario says otherwise: that of the article that defines it.
const DECORRELATED_FACTOR_DEFAULT: f64 = 3.0;

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
            let policy = RetryPolicy {
                max_attempts: self.max_attempts(name, table, field.get().and(field.key())),
                schedule: self.schedule(name, table),
                retry_on: table
                    .retry_on
                    .get()
                    .map_or(ErrorSet::RETRYABLE, |kinds| kinds.iter().map(|kind| kind.value).collect()),
                min_attempt: table.min_attempt.get().map_or(Span::ZERO, |&Duration(span)| span),
                server_delay: self.server_delay(name, table),
            };
            policies.push(PolicyDraft { name: name.to_owned(), policy, budget: self.budget(name, table) });
        }
        policies
    }

    fn server_delay(&mut self, name: &str, table: &RetryTable) -> ServerDelay {
        let given = table.retry_after.get().and_then(|given| given.value()).and_then(|given| given.value());
        let Some(given) = given else { return ServerDelay::IGNORE };
        let jitter = match given.jitter.get().and_then(|jitter| jitter.value()) {
            Some(setting) => self.dist(setting, &format!("retries.{name}.retry_after.jitter")),
            None => Dist::ZERO,
        };
        let at_most = given.at_most.get().and_then(|limit| limit.value());
        ServerDelay {
            rule: match given.rule.get() {
                Some(DelayRuleChoice::Floor) | None => DelayRule::Floor,
                Some(DelayRuleChoice::Replace) => DelayRule::Replace,
                Some(DelayRuleChoice::Ignore) => DelayRule::Ignore,
            },
            jitter,
            at_most: at_most.map_or(Span::UNLIMITED, |&Duration(span)| span),
            beyond: match given.beyond.get() {
                Some(BeyondChoice::Clamp) | None => Beyond::Clamp,
                Some(BeyondChoice::Stop) => Beyond::Stop,
            },
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

    fn schedule(&mut self, name: &str, table: &RetryTable) -> Schedule {
        let path = format!("retries.{name}");
        let backoff = table.backoff.get().map_or(Backoff::None, |choice| self.backoff(&path, choice));
        let jitter = match table.jitter.get() {
            None => Jitter::None,
            Some(choice) => self.jitter(&format!("{path}.jitter"), choice),
        };
        if let (Backoff::Decorrelated { .. }, true, Some(place)) =
            (&backoff, jitter != Jitter::None, table.jitter.key())
        {
            let message = format!("`{path}` has a decorrelated backoff, which draws its own jitter");
            let error = Diagnostic::new(message).at(place);
            let error = match table.backoff.key() {
                Some(backoff) => error.context(backoff, "the backoff"),
                None => error,
            };
            self.errors.push(error.hint("take the `jitter` out, or set it to `\"none\"`"));
        }
        let cap = table.cap.get().and_then(|cap| cap.value()).map_or(Span::UNLIMITED, |&Duration(cap)| cap);
        let cap_order = match table.cap_order.get() {
            None | Some(CapOrderChoice::BeforeJitter) => CapOrder::BeforeJitter,
            Some(CapOrderChoice::AfterJitter) => CapOrder::AfterJitter,
            Some(CapOrderChoice::Both) => CapOrder::Both,
        };
        Schedule::new(backoff, cap, cap_order, jitter)
    }

    /// The jitter at `path`.
    pub(super) fn jitter(&mut self, path: &str, choice: &JitterChoice) -> Jitter {
        match choice {
            JitterChoice::None => Jitter::None,
            JitterChoice::Full => Jitter::Full,
            JitterChoice::Equal => Jitter::Equal,
            JitterChoice::Spread(spread) => {
                let Share(spread) = spread.value;
                Jitter::Spread(spread)
            }
            JitterChoice::Add(dist) => Jitter::Add(self.dist(&dist.value, &format!("{path}.add"))),
        }
    }

    fn backoff(&mut self, path: &str, choice: &BackoffChoice) -> Backoff {
        let span = |duration: Option<&Duration>| duration.map_or(Span::ZERO, |&Duration(span)| span);
        match choice {
            BackoffChoice::None => Backoff::None,
            BackoffChoice::Fixed(wait) => Backoff::Fixed(wait.value.0),
            BackoffChoice::Linear(linear) => {
                let owner = format!("`{path}.backoff.linear`");
                self.require(&linear.value.step, &owner, "step", "\"100ms\"", Some(&linear.place));
                Backoff::Linear { step: span(linear.value.step.get()) }
            }
            BackoffChoice::Exponential(exponential) => {
                let owner = format!("`{path}.backoff.exponential`");
                self.require(&exponential.value.base, &owner, "base", "\"100ms\"", Some(&exponential.place));
                let factor = exponential.value.factor.get();
                let factor = factor.map_or(EXPONENTIAL_FACTOR_DEFAULT, |&Positive(factor)| factor);
                Backoff::Exponential { base: span(exponential.value.base.get()), factor }
            }
            BackoffChoice::Decorrelated(decorrelated) => {
                let owner = format!("`{path}.backoff.decorrelated`");
                self.require(&decorrelated.value.base, &owner, "base", "\"1s\"", Some(&decorrelated.place));
                let factor = decorrelated.value.factor.get();
                let factor = factor.map_or(DECORRELATED_FACTOR_DEFAULT, |&AtLeastOne(factor)| factor);
                Backoff::Decorrelated { base: span(decorrelated.value.base.get()), factor }
            }
            BackoffChoice::Explicit(waits) if waits.value.is_empty() => {
                let message = format!("`{path}.backoff.explicit` lists no waits");
                self.refuse(&waits.place, message, "write `backoff = \"none\"` to retry at once");
                Backoff::None
            }
            BackoffChoice::Explicit(waits) => Backoff::Explicit(waits.value.iter().map(|wait| wait.value.0).collect()),
        }
    }
}
