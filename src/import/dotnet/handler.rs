//! The options of one handler.
//!
//! From the outside in: concurrency limiter, total timeout, retries, circuit breaker, timeout of the attempt.

use crate::failure::ErrorKind;
use crate::import::dotnet::retry::Retry;
use crate::import::dotnet::time::time;
use crate::import::draft::{Block, Draft, Kind, name_of};
use crate::import::section::{Field, Section};
use crate::import::values::{duration, errors, number};
use crate::scenario::source::Place;
use crate::time::Span;

/// A setting: what the file says, or what .NET does where it says nothing.
pub struct Setting<'t, T> {
    /// What it is.
    pub value: T,
    field: Option<Field<'t>>,
}

impl<'t, T> Setting<'t, T> {
    /// What was read, or the default.
    pub fn new(read: Option<(T, Field<'t>)>, default: T) -> Self {
        match read {
            Some((value, field)) => Self { value, field: Some(field) },
            None => Self { value: default, field: None },
        }
    }

    /// Puts a value into a block, with where it comes from.
    pub fn put(&self, path: &'static str, value: impl Into<toml_edit::Value>, why: &str, block: &mut Block) {
        match &self.field {
            Some(field) => block.read(path, value, field),
            None => block.default(path, value, why),
        }
    }
}

/// What a section has at a key, as `read` understands it.
pub fn optional<'t, T>(
    section: &mut Option<&mut Section<'t>>,
    key: &str,
    draft: &mut Draft,
    read: impl FnOnce(&Field<'t>, &mut Draft) -> Option<T>,
) -> Option<(T, Field<'t>)> {
    let field = section.as_mut()?.field(key)?;
    Some((read(&field, draft)?, field))
}

/// Reads a time of at least `least`.
pub fn span<'t>(least: Span) -> impl FnOnce(&Field<'t>, &mut Draft) -> Option<Span> {
    move |field, draft| draft.parsed(field, |text| time(text, least))
}

const fn ms(ms: u64) -> Span {
    Span::from_ns(ms * 1_000_000)
}

/// The least time of a timeout.
const TIMEOUT_MIN: Span = ms(10);
/// The least time for which failures are counted, and for which a breaker is open.
const BREAKER_MIN: Span = ms(500);

/// The options of a handler.
pub struct Handler<'t> {
    section: Section<'t>,
    /// The sections in it, for what is unknown there.
    inner: Vec<Section<'t>>,
    permits: Setting<'t, u64>,
    queue: Option<(u64, Field<'t>)>,
    total: Setting<'t, Span>,
    attempt: Setting<'t, Span>,
    retry: Retry<'t>,
    retry_place: Option<Place>,
    breaker: Breaker<'t>,
}

/// `CircuitBreaker`.
struct Breaker<'t> {
    ratio: Setting<'t, f64>,
    throughput: Setting<'t, u64>,
    sampling: Setting<'t, Span>,
    open: Setting<'t, Span>,
}

impl<'t> Handler<'t> {
    /// Reads the options.
    pub fn read(mut section: Section<'t>, draft: &mut Draft) -> Self {
        let mut table = |key: &str| draft.table(&mut section, key);
        let keys = ["RateLimiter", "TotalRequestTimeout", "Retry", "CircuitBreaker", "AttemptTimeout"];
        let [mut limiter, mut total, mut retry, mut breaker, mut attempt] = keys.map(&mut table);
        let mut permits = limiter.as_mut().and_then(|limiter| draft.table(limiter, "DefaultRateLimiterOptions"));
        let limit = optional(&mut permits.as_mut(), "PermitLimit", draft, |field, draft| draft.count(field, 1));
        let queue = optional(&mut permits.as_mut(), "QueueLimit", draft, |field, draft| draft.count(field, 0));
        let mut timeout = |section: &mut Option<Section<'t>>, default| {
            Setting::new(optional(&mut section.as_mut(), "Timeout", draft, span(TIMEOUT_MIN)), default)
        };
        let (total_timeout, attempt_timeout) = (timeout(&mut total, ms(30_000)), timeout(&mut attempt, ms(10_000)));
        let read_breaker = Breaker::read(breaker.as_mut(), draft);
        let read_retry = Retry::read(retry.as_mut(), draft);
        let retry_place = retry.as_ref().map(|retry| retry.place.clone());
        let mut inner: Vec<_> = [limiter, permits, total, retry, breaker, attempt].into_iter().flatten().collect();
        // What a strategy is called in telemetry, and in which order a queue is served.
        inner.iter_mut().for_each(|section| section.skip(&["Name", "QueueProcessingOrder"]));
        Self {
            section,
            inner,
            permits: Setting::new(limit, 1000),
            queue: queue.filter(|(limit, _)| *limit > 0),
            total: total_timeout,
            attempt: attempt_timeout,
            retry: read_retry,
            retry_place,
            breaker: read_breaker,
        }
    }

    /// Makes the call and its policy.
    pub fn write(self, name: &str, is_first: bool, draft: &mut Draft) {
        let place = self.section.place.clone();
        let mut call = draft.block(Kind::Call { to: name_of(name) }, name, &place);
        let mut policy = draft.block(Kind::Policy, name, &place);
        self.check(draft);
        let at_retry = self.retry_place.as_ref().unwrap_or(&place);
        if is_first {
            let message = "every method is tried again, `POST` included";
            draft.surprise(
                at_retry,
                message,
                "call `DisableForUnsafeHttpMethods` in code, or see that doing it twice does no harm",
            );
        }
        self.total.put(
            "total_timeout",
            duration(self.total.value),
            ".NET: 30 s, with all attempts and waits",
            &mut call,
        );
        self.attempt.put("timeout", duration(self.attempt.value), ".NET: 10 s for each attempt", &mut call);
        call.default("retry", policy.name.as_str(), "the policy of this handler");
        self.pool(&mut call, draft);
        self.breaker.write(&mut call);
        self.retry.write(&mut policy);
        for section in self.inner.iter().chain([&self.section]) {
            draft.unknown(Some(&mut call), section);
        }
        draft.blocks.push(call);
        draft.blocks.push(policy);
    }

    /// What .NET refuses to start with, and what does not fit together.
    fn check(&self, draft: &mut Draft) {
        let (total, attempt, sampling) = (&self.total, &self.attempt, &self.breaker.sampling);
        let place = |fields: [&Option<Field<'t>>; 2]| {
            fields.into_iter().flatten().next().map_or_else(|| self.section.place.clone(), Field::place)
        };
        if attempt.value > total.value {
            let message = "the timeout of an attempt is above `TotalRequestTimeout`";
            draft.wrong(
                &place([&attempt.field, &total.field]),
                message,
                ".NET does not start with it: make it shorter",
            );
        }
        if sampling.value < Span::from_ns(attempt.value.as_ns() * 2) {
            let message = "`SamplingDuration` is below twice the timeout of an attempt";
            draft.wrong(
                &place([&sampling.field, &attempt.field]),
                message,
                ".NET does not start with it: make it longer",
            );
        }
        let attempts = self.retry.retries.value + 1;
        let needed = attempt.value.as_ns().saturating_mul(attempts);
        if needed > total.value.as_ns() {
            let message =
                format!("{attempts} attempts of {} do not fit into {}", duration(attempt.value), duration(total.value));
            let hint = "when the server hangs, the last ones are never made: make `AttemptTimeout` shorter";
            draft.surprise(&place([&total.field, &attempt.field]), message, hint);
        }
    }

    /// The concurrency limiter, as near as a pool comes to it.
    fn pool(&self, call: &mut Block, draft: &mut Draft) {
        let why = ".NET: 1000 calls at once, waits between attempts included; here 1000 attempts";
        self.permits.put("pool.size", self.permits.value as i64, why, call);
        if let Some(field) = &self.permits.field {
            let message = "a permit is held by a call between its attempts, too, and a slot of the pool is not";
            draft.surprise(&field.place(), message, "make the `size` of the pool smaller where waits are long");
        }
        match &self.queue {
            Some((_, field)) => {
                draft.leave_out(call, field, "a pool has no limit for those that wait, only for how long they do");
                call.default("pool.max_wait", "none", ".NET: who is in the queue waits without end");
            }
            None => call.default("pool.max_wait", "0s", ".NET: no queue, one more is refused at once"),
        }
    }
}

impl<'t> Breaker<'t> {
    fn read(mut section: Option<&mut Section<'t>>, draft: &mut Draft) -> Self {
        let section = &mut section;
        let ratio = optional(section, "FailureRatio", draft, |field, draft| {
            draft.parsed(field, |text| {
                let ratio = text.parse().ok().filter(|ratio: &f64| *ratio > 0.0 && *ratio <= 1.0);
                ratio.ok_or_else(|| "a number above 0, at most 1".to_owned())
            })
        });
        let throughput = optional(section, "MinimumThroughput", draft, |field, draft| draft.count(field, 2));
        let sampling = optional(section, "SamplingDuration", draft, span(BREAKER_MIN));
        let open = optional(section, "BreakDuration", draft, span(BREAKER_MIN));
        Self {
            ratio: Setting::new(ratio, 0.1),
            throughput: Setting::new(throughput, 100),
            sampling: Setting::new(sampling, ms(30_000)),
            open: Setting::new(open, ms(5_000)),
        }
    }

    fn write(&self, call: &mut Block) {
        use ErrorKind::{Deadline, Internal, Overloaded, RateLimited, Refused, Reset, Timeout, Unavailable};
        let Self { ratio, throughput, sampling, open } = self;
        ratio.put("breaker.trip.ratio.failures", number(ratio.value), ".NET: 10 %", call);
        sampling.put("breaker.trip.ratio.window", duration(sampling.value), ".NET: 30 s", call);
        throughput.put("breaker.trip.ratio.min_calls", throughput.value as i64, ".NET: 100 at least", call);
        open.put("breaker.open_for", duration(open.value), ".NET: 5 s", call);
        call.default("breaker.half_open", 1, ".NET: a single probe");
        let kinds = [Unavailable, Refused, Timeout, Reset, Overloaded, RateLimited, Deadline, Internal];
        call.default("breaker.failure_on", errors(kinds), ".NET: as with retries");
        call.default("breaker.position", "inside", ".NET: the retries are outside, each attempt counts");
    }
}
