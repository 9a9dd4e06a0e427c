//! What a fault strikes, and whether its effect fits.

use crate::plan::{GroupId, Origin, ServiceId, TargetDraft, workers_left};
use crate::scenario::counts::Workers;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Spanned};
use crate::scenario::resolve::Resolver;
use crate::scenario::resolve::capacity::narrow;
use crate::scenario::source::Place;
use crate::scenario::suggest;
use crate::scenario::tables::{ArrivalsChoice, EffectChoice, FaultTable};
use crate::scenario::values::{Share, Text};

/// The kinds of things that a fault may strike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Service,
    Call,
    Group,
}

impl Kind {
    fn of(target: TargetDraft) -> Self {
        match target {
            TargetDraft::Service(_) => Self::Service,
            TargetDraft::Call(..) => Self::Call,
            TargetDraft::Group(_) => Self::Group,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Service => "a service",
            Self::Call => "a call",
            Self::Group => "a client group",
        }
    }
}

impl Resolver<'_> {
    /// The targets of a fault that exist and that its effect fits.
    pub(super) fn fault_targets(&mut self, fault: &str, table: &FaultTable) -> Vec<TargetDraft> {
        let Some(on) = table.on.spanned() else { return Vec::new() };
        if on.value.is_empty() {
            let hint = "name a service, a call as `\"caller->label\"`, or a client group";
            self.refuse(&on.place, format!("`faults.{fault}.on` lists nothing"), hint);
        }
        let mut targets = Vec::new();
        for target in &on.value {
            let Text(name) = &target.value;
            match self.target_named(name) {
                Some(found) if targets.contains(&found) => {
                    self.refuse(&target.place, format!("`faults.{fault}.on` lists `{name}` twice"), "once is enough");
                }
                Some(found) => {
                    if self.fits(fault, table, name, found, &target.place) {
                        targets.push(found);
                    }
                }
                None => self.unknown_target(fault, name, &target.place),
            }
        }
        targets
    }

    fn target_named(&self, name: &str) -> Option<TargetDraft> {
        let service = |name: &str| self.tables.services.position(name).map(|position| ServiceId(position as u32));
        let group = |name: &str| self.tables.clients.position(name).map(|position| GroupId(position as u32));
        let Some((caller, label)) = name.split_once("->") else {
            return service(name).map(TargetDraft::Service).or(group(name).map(TargetDraft::Group));
        };
        if let Some(id) = service(caller) {
            let table = self.tables.services.get()?.0.get(caller)?.get()?;
            return Some(TargetDraft::Call(Origin::Service(id), table.calls.position(label)?));
        }
        let table = self.tables.clients.get()?.0.get(caller)?.get()?;
        Some(TargetDraft::Call(Origin::Group(group(caller)?), table.calls.position(label)?))
    }

    fn unknown_target(&mut self, fault: &str, name: &str, place: &Place) {
        let calls = |caller: &str, labels: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            labels.map(|label| format!("{caller}->{label}")).collect()
        };
        let mut names: Vec<String> = Vec::new();
        for (name, field) in self.tables.services.entries() {
            names.push(name.to_owned());
            names.extend(field.get().into_iter().flat_map(|table| calls(name, &mut table.calls.names())));
        }
        for (name, field) in self.tables.clients.entries() {
            names.push(name.to_owned());
            names.extend(field.get().into_iter().flat_map(|table| calls(name, &mut table.calls.names())));
        }
        let what = if name.contains("->") { "call" } else { "service or client group" };
        let error = Diagnostic::new(format!("`faults.{fault}` is on an unknown {what} `{name}`")).at(place);
        self.errors.push(error.maybe_hint(suggest::hint(name, "targets", names.iter().map(String::as_str))));
    }

    /// Whether what a fault does can be done to this target. Reports why not, and settings of it that cannot.
    fn fits(&mut self, fault: &str, table: &FaultTable, name: &str, target: TargetDraft, place: &Place) -> bool {
        // Of a wrong effect nobody knows what it was meant to be.
        let Some(effect) = table.effect.get() else { return true };
        let kind = Kind::of(target);
        let (word, fits): (&str, &[Kind]) = match effect {
            EffectChoice::Fail(_) => ("fail", &[Kind::Service, Kind::Call]),
            EffectChoice::Refuse => ("refuse", &[Kind::Service]),
            EffectChoice::BlackHole => ("blackhole", &[Kind::Service, Kind::Call]),
            EffectChoice::Pause => ("pause", &[Kind::Service]),
            EffectChoice::Crash => ("crash", &[Kind::Service]),
            EffectChoice::Slow(_) => ("slow", &[Kind::Service, Kind::Call]),
            EffectChoice::Capacity(_) => ("capacity", &[Kind::Service]),
            EffectChoice::Loss(_) => ("loss", &[Kind::Call]),
            EffectChoice::Load(_) => ("load", &[Kind::Group]),
        };
        if !fits.contains(&kind) {
            let kinds: Vec<&str> = fits.iter().map(|kind| kind.noun()).collect();
            let message = format!(
                "`faults.{fault}`: `{word}` does not fit `{name}`, which is {}; it is for {}",
                kind.noun(),
                kinds.join(" or ")
            );
            self.refuse(place, message, effects_of(kind));
            return false;
        }
        match (effect, target) {
            (EffectChoice::Fail(fail), TargetDraft::Call(..)) if fail.value.work.get() == Some(&true) => {
                let message = format!("`faults.{fault}`: an attempt that fails on its way to its callee makes no work");
                let place = fail.value.work.key().unwrap_or(place);
                self.refuse(place, message, "take `work` out, or put the fault on the service that is called");
            }
            (EffectChoice::Slow(slow), TargetDraft::Call(..)) if !slow.value.factor.is_absent() => {
                let message =
                    format!("`faults.{fault}`: the way of a call may take longer, but not so many times as long");
                let place = slow.value.factor.key().unwrap_or(place);
                self.refuse(place, message, "write `slow = { add = \"100ms\" }`");
            }
            (EffectChoice::Load(_), TargetDraft::Group(_)) => self.check_load(fault, name, place),
            (EffectChoice::Capacity(capacity), TargetDraft::Service(_)) => {
                self.check_workers(fault, name, &capacity.value.factor, place);
            }
            _ => {}
        }
        if let (false, Kind::Call | Kind::Group, Some(place)) =
            (table.first_instances.is_absent(), kind, table.first_instances.key())
        {
            let message =
                format!("`faults.{fault}.first_instances`: `{name}` is {}, which has no servers", kind.noun());
            self.refuse(place, message, "take it out; it is for faults on services");
        }
        true
    }

    /// Of the workers of a service a share must be left.
    fn check_workers(&mut self, fault: &str, name: &str, factor: &Field<Share>, place: &Place) {
        let service = self.tables.services.get().and_then(|services| services.0.get(name)?.get());
        let Some(service) = service.filter(|service| !service.workers.is_wrong()) else { return };
        let Some(&Workers(workers)) = service.workers.get().and_then(|workers| workers.value()) else {
            let message =
                format!("`faults.{fault}`: the workers of `{name}` are unlimited, and so is any share of them");
            self.refuse(place, message, format!("say how many it has: `services.{name}.workers = 8`"));
            return;
        };
        if let Some(&Spanned { value: Share(share), ref place }) = factor.spanned()
            && workers_left(narrow(workers), share) == 0
        {
            let all =
                if workers.0 == 1 { "its only worker".to_owned() } else { format!("any of its {} workers", workers.0) };
            let message = format!("`faults.{fault}` does not leave `{name}` {all}");
            self.refuse(
                place,
                message,
                "a server that does nothing is a `\"pause\"`, a `\"refuse\"` or a `\"blackhole\"`",
            );
        }
    }

    /// Only a rate can be multiplied.
    fn check_load(&mut self, fault: &str, name: &str, place: &Place) {
        let group = self.tables.clients.get().and_then(|clients| clients.0.get(name)?.get());
        let has_rate = group.and_then(|group| group.arrivals.get()).is_none_or(|arrivals| {
            matches!(arrivals, ArrivalsChoice::Constant(_) | ArrivalsChoice::Poisson(_) | ArrivalsChoice::Profile(_))
        });
        if !has_rate {
            let message = format!("`faults.{fault}` multiplies the rate of `{name}`, whose arrivals have none");
            self.refuse(place, message, "it is for `constant`, `poisson` and `profile` arrivals");
        }
    }
}

/// The way out of an effect that does not fit.
fn effects_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Service => "services know fail, refuse, blackhole, pause, crash, slow and capacity",
        Kind::Call => "calls know fail, blackhole, loss and slow",
        Kind::Group => "client groups know load",
    }
}
