//! Retries of a handler.

use crate::failure::ErrorKind;
use crate::import::dotnet::handler::{Setting, optional, span};
use crate::import::draft::{Block, Draft};
use crate::import::section::{Field, Keys, Section};
use crate::import::values::{duration, errors};
use crate::time::Span;

/// How waits grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Constant,
    Linear,
    Exponential,
}

/// What stands in `Retry`, with what .NET has where nothing does.
pub struct Retry<'t> {
    /// How many retries, after the first attempt.
    pub retries: Setting<'t, u64>,
    growth: Setting<'t, Growth>,
    jitter: Setting<'t, bool>,
    delay: Setting<'t, Span>,
    most: Option<(Span, Field<'t>)>,
    retry_after: Setting<'t, bool>,
}

impl<'t> Retry<'t> {
    /// Reads the section.
    pub fn read(mut section: Option<&mut Section<'t>>, draft: &mut Draft) -> Self {
        let section = &mut section;
        let retries = optional(section, "MaxRetryAttempts", draft, |field, draft| draft.count(field, 1));
        let growth = optional(section, "BackoffType", draft, |field, draft| {
            draft.parsed(field, |text| {
                let all =
                    [("Constant", Growth::Constant), ("Linear", Growth::Linear), ("Exponential", Growth::Exponential)];
                // An enumeration is bound by its number, too.
                let found = (0..)
                    .zip(all)
                    .find(|(number, (name, _))| Keys::AnyCase.same(name, text) || text.parse() == Ok::<u8, _>(*number));
                let found = found.map(|(_, growth)| growth);
                found.map(|(_, growth)| growth).ok_or_else(|| "`Constant`, `Linear` or `Exponential`".to_owned())
            })
        });
        let jitter = optional(section, "UseJitter", draft, |field, draft| draft.truth(field));
        let delay = optional(section, "Delay", draft, span(Span::ZERO));
        let most = optional(section, "MaxDelay", draft, span(Span::ZERO));
        let retry_after = optional(section, "ShouldRetryAfterHeader", draft, |field, draft| draft.truth(field));
        Self {
            retries: Setting::new(retries, 3),
            growth: Setting::new(growth, Growth::Exponential),
            jitter: Setting::new(jitter, true),
            delay: Setting::new(delay, Span::from_ns(2_000_000_000)),
            most,
            retry_after: Setting::new(retry_after, true),
        }
    }

    /// Puts it into a policy.
    pub fn write(&self, policy: &mut Block) {
        use ErrorKind::{Deadline, Internal, Overloaded, RateLimited, Refused, Reset, Timeout, Unavailable};
        self.retries.put("max_retries", self.retries.value as i64, ".NET: 3 retries, four attempts", policy);
        self.waits(policy);
        let kinds = [Unavailable, Refused, Timeout, Reset, Overloaded, RateLimited, Deadline, Internal];
        policy.default("retry_on", errors(kinds), ".NET: no answer, 408, 429, and 500 or above");
        if self.retry_after.value {
            let why = ".NET: `Retry-After` takes the place of the wait, however long it is";
            self.retry_after.put("retry_after.rule", "replace", why, policy);
        } else {
            self.retry_after.put("retry_after", "ignore", "", policy);
        }
    }

    fn waits(&self, policy: &mut Block) {
        const DELAY: &str = ".NET: 2 s";
        if self.delay.value == Span::ZERO {
            return self.delay.put("backoff", "none", DELAY, policy);
        }
        let delay = duration(self.delay.value);
        match (self.growth.value, self.jitter.value) {
            (Growth::Exponential, true) => {
                self.delay.put("backoff.decorrelated_v2.base", delay, ".NET: 2 s, exponential with jitter", policy);
            }
            (Growth::Exponential, false) => {
                self.delay.put("backoff.exponential.base", delay, DELAY, policy);
                self.growth.put(
                    "backoff.exponential.factor",
                    2,
                    ".NET: exponential, each twice the one before",
                    policy,
                );
            }
            (Growth::Linear, _) => self.delay.put("backoff.linear.step", delay, DELAY, policy),
            (Growth::Constant, _) => self.delay.put("backoff.fixed", delay, DELAY, policy),
        }
        if let Some((most, field)) = &self.most {
            policy.read("cap", duration(*most), field);
        }
        if self.jitter.value && self.growth.value != Growth::Exponential {
            self.jitter.put("jitter.spread", 0.25, ".NET: with jitter, +-25 %", policy);
            if self.most.is_some() {
                policy.default("cap_order", "after_jitter", ".NET: `MaxDelay` cuts what was drawn");
            }
        }
    }
}
