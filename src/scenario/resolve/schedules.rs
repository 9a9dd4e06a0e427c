//! The waits of retry policies.

use crate::policy::{Backoff, CapOrder, Jitter, Refinement, Schedule};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{BackoffChoice, CapOrderChoice, JitterChoice, RetryTable};
use crate::scenario::values::{AtLeastOne, Duration, NotNegative, Positive, Share, Whole};
use crate::time::Span;

/// Growth of an exponential backoff, unless the scenario says otherwise.
const EXPONENTIAL_FACTOR_DEFAULT: f64 = 2.0;

/// Reach of a decorrelated backoff, unless the scenario says otherwise: that of the article that defines it.
const DECORRELATED_FACTOR_DEFAULT: f64 = 3.0;

/// What a schedule is made of.
struct Parts {
    backoff: Backoff,
    cap: Span,
    cap_order: CapOrder,
    jitter: Jitter,
    refinement: Refinement,
}

impl Resolver<'_> {
    /// The waits of a policy, and those after errors that throttle, if they are others.
    pub(super) fn schedules(&mut self, name: &str, table: &RetryTable) -> (Schedule, Option<Schedule>) {
        let path = format!("retries.{name}");
        let backoff = table.backoff.get().map_or(Backoff::None, |choice| self.backoff(&path, choice));
        let jitter = match table.jitter.get() {
            None => Jitter::None,
            Some(choice) => self.jitter(&format!("{path}.jitter"), choice),
        };
        let cap = table.cap.get().and_then(|cap| cap.value()).map_or(Span::UNLIMITED, |&Duration(cap)| cap);
        let cap_order = match table.cap_order.get() {
            None | Some(CapOrderChoice::BeforeJitter) => CapOrder::BeforeJitter,
            Some(CapOrderChoice::AfterJitter) => CapOrder::AfterJitter,
            Some(CapOrderChoice::Both) => CapOrder::Both,
            Some(CapOrderChoice::Narrow) => CapOrder::Narrow,
        };
        let refinement = self.refinement(&path, table);
        let parts = Parts { backoff, cap, cap_order, jitter, refinement };
        let throttled = throttled(table, &parts.backoff);
        self.check_jitter(&path, table, &parts);
        self.check_bounds(&path, table, &parts);
        self.check_granularity(&path, table, &parts, throttled.as_ref());
        let schedule =
            |backoff| Schedule::refined(backoff, parts.cap, parts.cap_order, parts.jitter.clone(), parts.refinement);
        (schedule(parts.backoff.clone()), throttled.map(schedule))
    }

    fn refinement(&mut self, path: &str, table: &RetryTable) -> Refinement {
        let none = Refinement::NONE;
        if let Some(given) = table.granularity.spanned().filter(|given| given.value.0 == Span::ZERO) {
            let message = format!("`{path}.granularity` must be longer than zero");
            self.refuse(&given.place, message, "leave it out for waits of any length");
        }
        let narrow = |retries: u64| u32::try_from(retries).expect("the format allows less than 2^32");
        Refinement {
            immediate: table.immediate.get().map_or(none.immediate, |&Whole(retries)| narrow(retries)),
            floor: table.floor.get().map_or(none.floor, |&Duration(floor)| floor),
            granularity: table.granularity.get().map_or(none.granularity, |&Duration(step)| step.max(none.granularity)),
        }
    }

    /// Jitter and what has no use for it.
    fn check_jitter(&mut self, path: &str, table: &RetryTable, parts: &Parts) {
        let draws_itself = matches!(parts.backoff, Backoff::Decorrelated { .. } | Backoff::DecorrelatedV2 { .. });
        if draws_itself && parts.jitter != Jitter::None {
            let message = format!("`{path}` has a decorrelated backoff, which draws its own jitter");
            let hint = "take the `jitter` out, or set it to `\"none\"`";
            self.refuse_beside(table.jitter.key(), message, table.backoff.key(), "the backoff", hint);
        }
        if parts.cap_order != CapOrder::Narrow {
            return;
        }
        let hint = "write `cap_order = \"both\"`: waits above the cap are cut to it";
        if let Backoff::DecorrelatedV2 { .. } = parts.backoff {
            let message = format!("`{path}` has a decorrelated backoff of version 2, which has no window to narrow");
            self.refuse_beside(table.cap_order.key(), message, table.backoff.key(), "the backoff", hint);
        }
        if let Jitter::Add(_) = parts.jitter {
            let message = format!("`{path}` has a jitter that adds a draw, which has no window to narrow");
            self.refuse_beside(table.cap_order.key(), message, table.jitter.key(), "the jitter", hint);
        }
    }

    /// The floor, and what leaves no room for it.
    fn check_bounds(&mut self, path: &str, table: &RetryTable, parts: &Parts) {
        let Parts { cap, refinement: Refinement { floor, .. }, .. } = *parts;
        let own_floor = match parts.backoff {
            Backoff::Decorrelated { .. } => "take the `floor` out: `base` is the least wait",
            Backoff::DecorrelatedV2 { .. } => "take the `floor` out, or write `exponential` and a `jitter`",
            _ if floor > cap => {
                let message = format!("`{path}`: `floor` must not be above `cap`");
                let hint = "lower the `floor` or raise the `cap`: no wait can be both";
                return self.refuse_beside(table.floor.key(), message, table.cap.key(), "the cap", hint);
            }
            _ => return,
        };
        if floor > Span::ZERO {
            let message = format!("`{path}` has a decorrelated backoff, which has no `floor`");
            self.refuse_beside(table.floor.key(), message, table.backoff.key(), "the backoff", own_floor);
        }
    }

    /// Waits that whole multiples of the granularity cannot be.
    fn check_granularity(&mut self, path: &str, table: &RetryTable, parts: &Parts, throttled: Option<&Backoff>) {
        let Refinement { floor, granularity, .. } = parts.refinement;
        let place = table.granularity.key();
        if !floor.as_ns().is_multiple_of(granularity.as_ns()) {
            let message = format!("`{path}`: `floor` must be a whole multiple of `granularity`");
            let hint = "waits are such multiples: the least one is, too";
            self.refuse_beside(table.floor.key(), message, place, "the granularity", hint);
        }
        let hint = "make the `granularity` finer: such waits would be cut down to none";
        let is_none = |wait: Span| Span::ZERO < wait && wait < granularity;
        if is_none(parts.cap) {
            let message = format!("`{path}`: `cap` must not be below `granularity`");
            self.refuse_beside(place, message, table.cap.key(), "the cap", hint);
        }
        if [Some(&parts.backoff), throttled].into_iter().flatten().flat_map(stated).any(is_none) {
            let message = format!("`{path}` has a wait in its backoff that is below `granularity`");
            self.refuse_beside(place, message, table.backoff.key(), "the backoff", hint);
        }
    }

    /// Refuses a key for what stands beside it.
    fn refuse_beside(
        &mut self,
        place: Option<&Place>,
        message: String,
        other: Option<&Place>,
        label: &str,
        hint: &'static str,
    ) {
        let Some(place) = place else { return };
        let error = Diagnostic::new(message).at(place);
        let error = match other {
            Some(other) => error.context(other, label),
            None => error,
        };
        self.errors.push(error.hint(hint));
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
            JitterChoice::Upward(share) => {
                let NotNegative(share) = share.value;
                Jitter::Upward(share)
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
            BackoffChoice::DecorrelatedV2(curve) => {
                let owner = format!("`{path}.backoff.decorrelated_v2`");
                self.require(&curve.value.base, &owner, "base", "\"2s\"", Some(&curve.place));
                Backoff::DecorrelatedV2 { base: span(curve.value.base.get()) }
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

/// The backoff after errors that throttle, if it is another.
fn throttled(table: &RetryTable, backoff: &Backoff) -> Option<Backoff> {
    let Some(BackoffChoice::Exponential(exponential)) = table.backoff.get() else { return None };
    let (&Duration(base), &Backoff::Exponential { factor, .. }) = (exponential.value.base_throttled.get()?, backoff)
    else {
        return None;
    };
    Some(Backoff::Exponential { base, factor })
}

/// The waits that a backoff states, from which it makes all others.
fn stated(backoff: &Backoff) -> Vec<Span> {
    match backoff {
        Backoff::None => Vec::new(),
        Backoff::Fixed(wait) => vec![*wait],
        Backoff::Linear { step } => vec![*step],
        Backoff::Exponential { base, .. } | Backoff::Decorrelated { base, .. } | Backoff::DecorrelatedV2 { base } => {
            vec![*base]
        }
        Backoff::Explicit(waits) => waits.clone(),
    }
}
