//! Faults: whom they strike, when, and what they do.

use std::ops::Range;

use crate::dist::{Dist, probability};
use crate::failure::ErrorKind;
use crate::plan::{Capacity, Effect, Failure, FaultDraft, ServiceId, TargetDraft, Windows};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, OrNone};
use crate::scenario::resolve::{Resolver, instant};
use crate::scenario::source::Place;
use crate::scenario::tables::{EffectChoice, FailTable, FaultTable};
use crate::scenario::values::{Duration, Share, Text};
use crate::scenario::{suggest, unbuilt};
use crate::time::{Instant, Span};

impl Resolver<'_> {
    pub(super) fn faults(&mut self) -> Vec<FaultDraft> {
        let mut faults = Vec::new();
        for (name, field) in self.tables.faults.entries() {
            let Some(table) = field.get().filter(|_| !self.is_stray("faults", name)) else { continue };
            let owner = format!("`faults.{name}`");
            self.require(&table.on, &owner, "on", "[\"db\"]", field.key());
            self.require(&table.effect, &owner, "effect", "\"refuse\"", field.key());
            let targets = self.fault_targets(name, table);
            let window = self.window(name, table);
            let effect = match table.effect.get() {
                Some(EffectChoice::Fail(fail)) => self.fail(name, &fail.value),
                Some(EffectChoice::Refuse) | None => Effect::Refuse,
            };
            let targets = targets.into_iter().map(TargetDraft::Service).collect();
            let (first_instances, windows) = (Capacity::NO_LIMIT, Windows::Once(window));
            faults.push(FaultDraft { name: name.to_owned(), targets, first_instances, windows, effect });
        }
        faults
    }

    fn fault_targets(&mut self, fault: &str, table: &FaultTable) -> Vec<ServiceId> {
        let Some(on) = table.on.spanned() else { return Vec::new() };
        if on.value.is_empty() {
            self.refuse(&on.place, format!("`faults.{fault}.on` lists nothing"), "name at least one service");
        }
        let mut targets = Vec::new();
        for target in &on.value {
            let Text(name) = &target.value;
            match self.tables.services.position(name).map(|position| ServiceId(position as u32)) {
                Some(service) if targets.contains(&service) => {
                    self.refuse(&target.place, format!("`faults.{fault}.on` lists `{name}` twice"), "once is enough");
                }
                Some(service) => targets.push(service),
                None => self.unknown_target(fault, name, &target.place),
            }
        }
        targets
    }

    fn unknown_target(&mut self, fault: &str, name: &str, place: &Place) {
        let error = if name.contains("->") {
            unbuilt::refusal(&format!("`faults.{fault}` on a call"), place)
        } else if self.tables.clients.position(name).is_some() {
            unbuilt::refusal(&format!("`faults.{fault}` on a client group"), place)
        } else {
            Diagnostic::new(format!("`faults.{fault}` is on an unknown service `{name}`"))
                .at(place)
                .maybe_hint(suggest::hint(name, "services", self.tables.services.names()))
        };
        self.errors.push(error);
    }

    fn window(&mut self, fault: &str, table: &FaultTable) -> Range<Instant> {
        let from = instant(table.from.get().copied());
        let given = |field: &Field<OrNone<Duration>>| {
            let spanned = field.spanned()?;
            spanned.value.value().map(|&Duration(span)| (span, spanned.place.clone()))
        };
        if let Some((until, place)) = given(&table.until) {
            let until = Instant::ZERO + until;
            // A wrong `from` has been reported: what it was meant to be is not known.
            if until <= from && (table.from.is_absent() || table.from.get().is_some()) {
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

    fn fail(&mut self, fault: &str, table: &FailTable) -> Effect {
        let Share(share) = table.probability.get().copied().unwrap_or(Share(1.0));
        let delay = match table.delay.get() {
            Some(setting) => self.dist(setting, &format!("faults.{fault}.effect.fail.delay")),
            None => Dist::ZERO,
        };
        let error = table.error.get().copied().unwrap_or(ErrorKind::Unavailable);
        Effect::Fail(Failure {
            probability: probability(share),
            error,
            delay,
            works: false,
            correlation: 0,
            epoch: Span::from_s(1),
            retry_after: None,
        })
    }
}
