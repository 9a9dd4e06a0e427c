//! Whether a call is tried again, and when: reckoned anew from what its policy says.

use stormsim::dist::{Purpose, attempt_key, below, draw, unit};
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::policy::{Backoff, Beyond, CapOrder, DelayRule, Jitter, Refinement, RetryPolicy, Schedule};
use stormsim::time::Span;

use super::interpreter::Interpreter;

/// The wait before a retry.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// That of the backoff alone.
    pub own: Span,
    /// With what the server had to say.
    pub whole: Span,
}

/// A retry that is to be waited for.
struct Retry<'a> {
    /// Its number; 1 is the first.
    number: u32,
    /// The key of its call.
    call: u64,
    /// The waits before the retries so far.
    before: &'a [Wait],
}

impl Retry<'_> {
    /// The draw of the wait before this retry or an earlier one: by the key of the attempt that failed before it.
    fn draw(&self, number: u32) -> u64 {
        draw(attempt_key(self.call, number, 0), Purpose::Backoff)
    }
}

impl Interpreter<'_> {
    /// What becomes of a call whose last attempt has failed.
    pub(super) fn decide(
        &self,
        call: usize,
        error: ErrorKind,
        said: Option<Span>,
        budget_grants: bool,
    ) -> Result<Wait, StopReason> {
        let this = &self.record.calls[call];
        let policy = self.plan.policy_of(this.id);
        let remaining = self.remaining(call);
        if remaining == Span::ZERO {
            return Err(StopReason::Deadline);
        }
        if !policy.retry_on.contains(error) || forbids(policy, said) {
            return Err(StopReason::NotRetryable);
        }
        if policy.max_attempts != u32::MAX && this.started >= policy.max_attempts {
            return Err(StopReason::Exhausted);
        }
        if !budget_grants {
            return Err(StopReason::Budget);
        }
        let is_throttled = matches!(error, ErrorKind::RateLimited | ErrorKind::Throttled);
        let schedule = policy.throttled.as_deref().filter(|_| is_throttled).unwrap_or(&policy.schedule);
        let retry = Retry { number: this.started, call: this.key, before: &this.waits };
        let own = own_wait(schedule, &retry);
        let key = attempt_key(this.key, this.started, 0);
        let whole = heard(policy, said).map_or(own, |delay| with_server(policy, own, delay, key));
        let begins = self.now.since(this.began) + whole;
        if whole + policy.min_attempt > remaining || begins > policy.max_elapsed {
            return Err(StopReason::Deadline);
        }
        Ok(Wait { own, whole })
    }
}

/// What a policy has heard of what a server says, if it says anything.
fn heard(policy: &RetryPolicy, said: Option<Span>) -> Option<Span> {
    let rule = &policy.server_delay;
    let is_heard = |delay: Span| match rule.rule {
        DelayRule::Ignore => false,
        DelayRule::Floor | DelayRule::Replace => delay <= rule.at_most || rule.beyond != Beyond::Ignore,
    };
    said.filter(|&delay| is_heard(delay))
}

fn forbids(policy: &RetryPolicy, said: Option<Span>) -> bool {
    match heard(policy, said) {
        None => policy.server_delay.required,
        Some(delay) => delay > policy.server_delay.at_most && policy.server_delay.beyond == Beyond::Stop,
    }
}

fn with_server(policy: &RetryPolicy, own: Span, delay: Span, key: u64) -> Span {
    let rule = &policy.server_delay;
    let delay = delay.min(rule.at_most);
    let server = match window(&rule.jitter, delay) {
        Some((low, high)) => Span::from_ns(low + below(draw(key, Purpose::ServerDelay), high - low)),
        None => delay + added(&rule.jitter, key, Purpose::ServerDelay),
    };
    let wait = if rule.rule == DelayRule::Floor && own > server { own } else { server };
    if wait > own + rule.over_own { own + rule.over_own } else { wait }
}

/// The wait of a backoff.
fn own_wait(schedule: &Schedule, retry: &Retry<'_>) -> Span {
    let Refinement { immediate, floor, granularity } = schedule.refinement();
    let cap = schedule.cap().map_or(u64::MAX, Span::as_ns);
    let (is_narrow, is_capped_last) =
        (schedule.cap_order() == CapOrder::Narrow, schedule.cap_order() != CapOrder::BeforeJitter);
    if retry.number <= immediate {
        return Span::ZERO;
    }
    let is_first = retry.number == immediate + 1;
    let drawn = match schedule.backoff() {
        Backoff::Decorrelated { base, factor } => {
            let previous = if is_first { *base } else { retry.before.last().expect("it is not the first").own };
            let high = Span::from_ns_f64(previous.as_ns() as f64 * factor).max(*base).as_ns();
            let (low, high) = if is_narrow { (base.as_ns().min(cap), high.min(cap)) } else { (base.as_ns(), high) };
            (low + below(retry.draw(retry.number), high - low)).min(cap)
        }
        Backoff::DecorrelatedV2 { base } => {
            let place = |number: u32| along(*base, f64::from(number - 1) + unit(retry.draw(number)));
            let (from, to) = (if is_first { 0 } else { place(retry.number - 1) }, place(retry.number));
            // Beyond the end of virtual time all is equally far.
            (if to == Span::LIMIT.as_ns() { to } else { to.saturating_sub(from) }).min(cap)
        }
        backoff => {
            let nominal = cut_down(nominal(backoff, retry.number, granularity), granularity);
            let nominal = if schedule.cap_order() == CapOrder::AfterJitter { nominal } else { nominal.min(cap) };
            let jittered = match window(schedule.jitter(), Span::from_ns(nominal)) {
                Some((low, high)) => {
                    let (low, high) = (low.max(floor.as_ns()), high.max(floor.as_ns()));
                    let (low, high) = if is_narrow { (low.min(cap), high.min(cap)) } else { (low, high) };
                    low + below(retry.draw(retry.number), high - low)
                }
                None => {
                    let key = attempt_key(retry.call, retry.number, 0);
                    nominal.max(floor.as_ns()) + added(schedule.jitter(), key, Purpose::Backoff).as_ns()
                }
            };
            if is_capped_last { jittered.min(cap) } else { jittered }
        }
    };
    Span::from_ns(cut_down(drawn, granularity))
}

/// The wait before this retry without jitter and cap, step by step.
fn nominal(backoff: &Backoff, number: u32, granularity: Span) -> u64 {
    let limit = Span::LIMIT.as_ns();
    match backoff {
        Backoff::None => 0,
        Backoff::Fixed(wait) => wait.as_ns(),
        Backoff::Linear { step } => (step.as_ns() * u64::from(number)).min(limit),
        Backoff::Explicit(waits) => waits.get(number as usize - 1).or(waits.last()).expect("there is one").as_ns(),
        Backoff::Exponential { base, factor } if granularity == Span::from_ns(1) => {
            let grown = Span::from_ns_f64(base.as_ns() as f64 * libm::pow(*factor, f64::from(number - 1)));
            grown.as_ns().max(u64::from(base.as_ns() > 0))
        }
        // What shrinks stays a step long, unless the base was less.
        Backoff::Exponential { base, factor } => {
            let least = if *base < granularity { 0 } else { granularity.as_ns() };
            let whole = |wait: u64| cut_down(wait, granularity).max(least);
            let grow = |wait: u64| Span::from_ns_f64(whole(wait) as f64 * factor).as_ns();
            whole((1..number).fold(base.as_ns(), |wait, _| grow(wait)))
        }
        Backoff::Decorrelated { .. } | Backoff::DecorrelatedV2 { .. } => unreachable!("they have no nominal waits"),
    }
}

/// The curve of Polly's exponential backoff with jitter.
fn along(base: Span, t: f64) -> u64 {
    Span::from_ns_f64(libm::exp2(t) * libm::tanh(libm::sqrt(4.0 * t)) * base.as_ns() as f64 / 1.4).as_ns()
}

fn cut_down(wait: u64, granularity: Span) -> u64 {
    wait / granularity.as_ns() * granularity.as_ns()
}

/// From where to where a wait is drawn, the end not included; none if a sample is added instead.
fn window(jitter: &Jitter, wait: Span) -> Option<(u64, u64)> {
    let ns = wait.as_ns();
    let share_of = |share: f64| Span::from_ns_f64(ns as f64 * share).as_ns();
    match jitter {
        Jitter::None => Some((ns, ns)),
        Jitter::Full => Some((0, ns)),
        Jitter::Equal => Some((ns / 2, ns)),
        Jitter::Spread(share) => Some((ns - share_of(*share).min(ns), ns + share_of(*share).min(ns))),
        Jitter::Upward(share) => Some((ns, ns + share_of(*share))),
        Jitter::Add(_) => None,
    }
}

fn added(jitter: &Jitter, key: u64, purpose: Purpose) -> Span {
    match jitter {
        Jitter::Add(dist) => dist.sample(key, purpose),
        _ => Span::ZERO,
    }
}
