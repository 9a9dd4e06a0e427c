//! Faults: when they are there, and what they do.

use std::ops::Range;

use crate::dist::{Dist, probability};
use crate::failure::ErrorKind;
use crate::plan::{Capacity, Direction, Effect, Failure, FaultDraft, TargetDraft, Windows};
use crate::scenario::counts::FirstInstances;
use crate::scenario::field::{Field, OrNone};
use crate::scenario::resolve::capacity::narrow;
use crate::scenario::resolve::{Resolver, instant};
use crate::scenario::source::Place;
use crate::scenario::tables::{
    DirectionChoice, DistSetting, EffectChoice, FailTable, FaultTable, LossTable, RandomTable, SlowTable,
};
use crate::scenario::values::{Duration, NotNegative, Positive, Share};
use crate::time::{Instant, Span};

/// The length of an epoch, unless the scenario says otherwise.
const EPOCH_DEFAULT: Span = Span::from_s(1);

/// The most windows of a fault.
const WINDOWS_MAX: f64 = 10_000_000.0;

/// How often a fault may come again in a run without a horizon.
const MOST_OFTEN: Span = Span::from_ms(1);

impl Resolver<'_> {
    pub(super) fn faults(&mut self) -> Vec<FaultDraft> {
        let mut faults = Vec::new();
        // Where the effect of each stands.
        let mut places = Vec::new();
        for (name, field) in self.tables.faults.entries() {
            let Some(table) = field.get().filter(|_| !self.is_stray("faults", name)) else { continue };
            let owner = format!("`faults.{name}`");
            self.require(&table.on, &owner, "on", "[\"db\"]", field.key());
            self.require(&table.effect, &owner, "effect", "\"refuse\"", field.key());
            let targets = self.fault_targets(name, table);
            let windows = self.windows(name, table);
            let first_instances = self.first_instances(name, table, &targets);
            let effect = self.effect(name, table);
            faults.push(FaultDraft { name: name.to_owned(), targets, first_instances, windows, effect });
            places.push(table.effect.key());
        }
        self.check_pauses(&faults, &places);
        self.check_silence(&faults, &places);
        faults
    }

    fn windows(&mut self, fault: &str, table: &FaultTable) -> Windows {
        let window = self.window(fault, table);
        if let Some(spanned) = table.every.spanned()
            && let Some(&Duration(every)) = spanned.value.value()
        {
            return self.repeated(fault, window, every, &spanned.place);
        }
        if let Some(spanned) = table.random.spanned()
            && let Some(random) = spanned.value.value()
        {
            return self.random(fault, window, random, &spanned.place);
        }
        Windows::Once(window)
    }

    fn repeated(&mut self, fault: &str, window: Range<Instant>, every: Span, place: &Place) -> Windows {
        if window.end == Instant::LIMIT {
            let message = format!("`faults.{fault}` never ends, so that it cannot come again");
            self.refuse(place, message, "add `lasts`, such as `lasts = \"2s\"`");
        } else if every <= window.end.since(window.start) {
            let message = format!("`faults.{fault}.every` must be longer than the fault lasts");
            self.refuse(place, message, "it is the time from one beginning to the next");
        }
        self.check_number_of_windows(fault, &(window.start..Instant::LIMIT), every.as_ns() as f64, place);
        // Endless repetition of nothing would be no plan at all, but it has been reported.
        Windows::Repeated { first: window, every: every.max(Span::from_ns(1)) }
    }

    fn random(&mut self, fault: &str, within: Range<Instant>, table: &RandomTable, place: &Place) -> Windows {
        let path = format!("faults.{fault}.random");
        let owner = format!("`{path}`");
        self.require(&table.up, &owner, "up", "{ exponential = { mean = \"60s\" } }", Some(place));
        self.require(&table.down, &owner, "down", "\"2s\"", Some(place));
        let mut time = |field: &Field<DistSetting>, key: &str| {
            let dist = match field.get() {
                Some(setting) => self.dist(setting, &format!("{path}.{key}")),
                None => return Dist::ZERO,
            };
            if let (true, Some(place)) = (dist.is_zero(), field.key()) {
                let message = format!("`{path}.{key}` must be longer than zero");
                self.refuse(place, message, "a fault that does not come and go needs no `random`");
            }
            dist
        };
        let (up, down) = (time(&table.up, "up"), time(&table.down, "down"));
        self.check_number_of_windows(fault, &within, up.mean_ns() + down.mean_ns(), place);
        Windows::Random { within, up, down }
    }

    /// Each beginning and each end of a window is an event, whatever else happens. They begin `every_ns` after each
    /// other, in the mean; zero has been reported.
    fn check_number_of_windows(&mut self, fault: &str, within: &Range<Instant>, every_ns: f64, place: &Place) {
        let horizon = self.tables.horizon.get().and_then(|horizon| horizon.value());
        if horizon.is_none() && every_ns > 0.0 && every_ns < MOST_OFTEN.as_ns() as f64 {
            let message =
                format!("`faults.{fault}` comes again within less than a millisecond, and nobody knows for how long");
            return self.refuse(place, message, "give the scenario a `horizon`, or let it come less often");
        }
        let untils = self.tables.clients.entries().filter_map(|(_, group)| group.get()?.until.get()?.value());
        // Without a horizon nobody knows for how long the run goes on after the last request.
        let Some(&Duration(end)) = horizon.or(untils.max_by_key(|Duration(until)| *until)) else { return };
        let end = (Instant::ZERO + end).min(within.end).max(within.start);
        let count = end.since(within.start).as_ns() as f64 / every_ns;
        if every_ns > 0.0 && count > WINDOWS_MAX {
            let message = format!("`faults.{fault}` comes about {count:.0} times; the limit is {WINDOWS_MAX}");
            self.refuse(place, message, "let it come less often");
        }
    }

    fn window(&mut self, fault: &str, table: &FaultTable) -> Range<Instant> {
        let from = instant(table.from.get().copied());
        if table.until.is_wrong() || table.lasts.is_wrong() {
            // Some end was meant: nobody needs to hear what an open one would mean.
            return from..from;
        }
        let given = |field: &Field<OrNone<Duration>>| {
            let spanned = field.spanned()?;
            spanned.value.value().map(|&Duration(span)| (span, spanned.place.clone()))
        };
        if let Some((until, place)) = given(&table.until) {
            let until = Instant::ZERO + until;
            // A wrong `from` has been reported: what it was meant to be is not known.
            if until <= from && !table.from.is_wrong() {
                let message = format!("`faults.{fault}` is over before it begins: `until` must be later than `from`");
                self.refuse(&place, message, "`until` is a time of the run; for a length write `lasts`");
            }
            return from..until;
        }
        match given(&table.lasts) {
            Some((Span::ZERO, place)) => {
                let message = format!("`faults.{fault}.lasts` must be longer than zero");
                self.refuse(&place, message, "write `\"none\"` for a fault that never ends");
                from..from
            }
            // What ends beyond the end of virtual time has an open end.
            Some((lasts, _)) => from..(from + lasts).min(Instant::LIMIT),
            None => from..Instant::LIMIT,
        }
    }

    fn first_instances(&mut self, fault: &str, table: &FaultTable, targets: &[TargetDraft]) -> u32 {
        let Some(spanned) = table.first_instances.spanned() else { return Capacity::NO_LIMIT };
        let Some(&FirstInstances(count)) = spanned.value.value() else { return Capacity::NO_LIMIT };
        let count = narrow(count);
        for target in targets {
            let TargetDraft::Service(id) = target else { continue };
            let Some((name, field)) = self.tables.services.entries().nth(id.index()) else { continue };
            let instances = field.get().map(|service| service.instances.get().map_or(1, |instances| instances.0.0));
            if let Some(instances) = instances.filter(|&instances| u64::from(count) > instances) {
                let message = format!("`faults.{fault}.first_instances` is {count}, but `{name}` has {instances}");
                self.refuse(&spanned.place, message, "without it all of them are struck");
            }
        }
        count
    }

    fn effect(&mut self, fault: &str, table: &FaultTable) -> Effect {
        match table.effect.get() {
            Some(EffectChoice::Fail(fail)) => Effect::Fail(self.fail(fault, &fail.value)),
            Some(EffectChoice::Refuse) | None => Effect::Refuse,
            Some(EffectChoice::BlackHole) => Effect::BlackHole,
            Some(EffectChoice::Pause) => Effect::Pause,
            Some(EffectChoice::Crash) => Effect::Crash,
            Some(EffectChoice::Slow(slow)) => self.slow(fault, &slow.value, &slow.place),
            Some(EffectChoice::Capacity(capacity)) => {
                let owner = format!("`faults.{fault}.effect.capacity`");
                self.require(&capacity.value.factor, &owner, "factor", "0.5", Some(&capacity.place));
                Effect::Capacity { factor: capacity.value.factor.get().map_or(1.0, |&Share(factor)| factor) }
            }
            Some(EffectChoice::Loss(loss)) => lost(&loss.value),
            Some(EffectChoice::Load(load)) => {
                let owner = format!("`faults.{fault}.effect.load`");
                self.require(&load.value.factor, &owner, "factor", "4", Some(&load.place));
                Effect::Load { factor: load.value.factor.get().map_or(1.0, |&NotNegative(factor)| factor) }
            }
        }
    }

    fn fail(&mut self, fault: &str, table: &FailTable) -> Failure {
        let Share(share) = table.probability.get().copied().unwrap_or(Share(1.0));
        let path = format!("faults.{fault}.effect.fail");
        let delay = match table.delay.get() {
            Some(setting) => self.dist(setting, &format!("{path}.delay")),
            None => Dist::ZERO,
        };
        let works = table.work.get() == Some(&true);
        if let (true, false, Some(place)) = (works, delay.is_zero(), table.delay.key()) {
            let message = format!("`{path}.delay`: with `work` the error comes when the service time is over");
            self.refuse(place, message, "take one of the two out");
        }
        self.above_zero(&table.epoch, &format!("`{path}`"), "epoch", "without it an epoch is a second");
        Failure {
            probability: probability(share),
            error: table.error.get().copied().unwrap_or(ErrorKind::Unavailable),
            delay,
            works,
            correlation: probability(table.correlation.get().map_or(0.0, |&Share(share)| share)),
            // An epoch of zero has been reported.
            epoch: table.epoch.get().map_or(EPOCH_DEFAULT, |&Duration(span)| span).max(Span::from_ns(1)),
            retry_after: table.retry_after.get().and_then(|limit| limit.value()).map(|&Duration(span)| span),
        }
    }

    fn slow(&mut self, fault: &str, table: &SlowTable, place: &Place) -> Effect {
        let path = format!("faults.{fault}.effect.slow");
        if table.factor.is_absent() && table.add.is_absent() {
            let message = format!("`{path}` says neither `factor` nor `add`");
            self.refuse(place, message, "write `slow = { factor = 10 }`, or `slow = { add = \"200ms\" }`");
        }
        let add = match table.add.get() {
            Some(setting) => self.dist(setting, &format!("{path}.add")),
            None => Dist::ZERO,
        };
        Effect::Slow { factor: table.factor.get().map_or(1.0, |&Positive(factor)| factor), add }
    }
}

fn lost(table: &LossTable) -> Effect {
    let direction = match table.direction.get() {
        Some(DirectionChoice::Request) | None => Direction::Request,
        Some(DirectionChoice::Response) => Direction::Response,
    };
    Effect::Loss { probability: probability(table.probability.get().map_or(1.0, |&Share(share)| share)), direction }
}
