//! How a service makes its calls: in which order, side by side, or in place of one that has failed.

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Named};
use crate::scenario::resolve::Resolver;
use crate::scenario::suggest;
use crate::scenario::tables::{CallTable, ServiceTable};
use crate::scenario::values::{Name, Share, Whole};

impl Resolver<'_> {
    /// For each call of a service the position of its fallback; none if an `if_failed` is wrong, so that it is not
    /// known which calls are fallbacks.
    pub(super) fn fallbacks(&mut self, owner: &str, calls: &Field<Named<CallTable>>) -> Option<Vec<Option<usize>>> {
        let labels: Vec<&str> = calls.names().collect();
        let mut fallbacks: Vec<Option<usize>> = vec![None; labels.len()];
        let mut are_known = true;
        for (position, (label, field)) in calls.entries().enumerate() {
            let Some(table) = field.get() else { continue };
            let Some(if_failed) = table.if_failed.spanned() else {
                are_known &= table.if_failed.is_absent();
                continue;
            };
            let Some(Name(name)) = if_failed.value.value() else { continue };
            let Some(fallback) = calls.position(name) else {
                let others = labels.iter().copied().filter(|other| *other != label);
                let message = format!("`{owner}.calls.{label}.if_failed` names an unknown call `{name}`");
                let hint = suggest::hint(name, "other calls", others);
                self.errors.push(Diagnostic::new(message).at(&if_failed.place).maybe_hint(hint));
                are_known = false;
                continue;
            };
            // The fallback of two calls would belong to the steps of both.
            if let Some(first) = fallbacks.iter().position(|&other| other == Some(fallback)) {
                let message =
                    format!("`{owner}.calls.{name}` is the fallback of both `{}` and `{label}`", labels[first]);
                self.refuse(&if_failed.place, message, "give each its own: several calls may go to one service");
                are_known = false;
                continue;
            }
            fallbacks[position] = Some(fallback);
        }
        are_known &= !self.report_circles(calls, &fallbacks);
        self.check_fallback_settings(owner, calls, &fallbacks);
        are_known.then_some(fallbacks)
    }

    /// Reports calls that are their own fallback in the end, and returns whether there are any. Each call has at most
    /// one fallback and is that of at most one: who follows them ends, or comes back.
    fn report_circles(&mut self, calls: &Field<Named<CallTable>>, fallbacks: &[Option<usize>]) -> bool {
        let labels: Vec<&str> = calls.names().collect();
        let mut found = false;
        for (start, (_, field)) in calls.entries().enumerate() {
            let mut round = vec![start];
            let mut at = start;
            // Up to a call that comes before: each circle is found from the first of its calls, and only from there.
            while let Some(next) = fallbacks[at] {
                round.push(next);
                at = next;
                if next <= start {
                    break;
                }
            }
            let place = field.get().and_then(|table| table.if_failed.spanned()).map(|given| &given.place);
            if let (true, true, Some(place)) = (round.len() > 1, at == start, place) {
                let circle = round.iter().map(|&call| labels[call]).collect::<Vec<_>>().join(" -> ");
                let message = format!("the fallbacks go in a circle: `{circle}`");
                self.refuse(place, message, "the last one must have no `if_failed`");
                found = true;
            }
        }
        found
    }

    /// A fallback stands in for one copy that has failed: how many there are, and whether they matter, is said there.
    fn check_fallback_settings(&mut self, owner: &str, calls: &Field<Named<CallTable>>, fallbacks: &[Option<usize>]) {
        let labels: Vec<&str> = calls.names().collect();
        for (position, (label, field)) in calls.entries().enumerate() {
            let Some(first) = fallbacks.iter().position(|&fallback| fallback == Some(position)) else { continue };
            let Some(table) = field.get() else { continue };
            // A value that is the default says nothing, so that a variant can take a setting back.
            let settings = [
                ("optional", table.optional.key().filter(|_| table.optional.get() == Some(&true))),
                ("copies", table.copies.key().filter(|_| table.copies.get().is_some_and(|&Whole(n)| n > 1))),
                (
                    "probability",
                    table.probability.key().filter(|_| table.probability.get().is_some_and(|&Share(p)| p < 1.0)),
                ),
            ];
            for (key, place) in settings {
                let Some(place) = place else { continue };
                let message = format!(
                    "`{owner}.calls.{label}.{key}`: `{label}` is a fallback, made in place of `{}`",
                    labels[first]
                );
                self.refuse(place, message, format!("set `{key}` for `{}`", labels[first]));
            }
        }
    }

    /// The steps of a service, as positions among its calls.
    pub(super) fn steps(&mut self, owner: &str, table: &ServiceTable, fallbacks: &[Option<usize>]) -> Vec<Vec<usize>> {
        let is_fallback = |position: usize| fallbacks.contains(&Some(position));
        let labels: Vec<&str> = table.calls.names().collect();
        let Some(order) = table.call_order.spanned() else {
            return (0..labels.len())
                .filter(|&position| !is_fallback(position))
                .map(|position| vec![position])
                .collect();
        };
        let path = format!("`{owner}.call_order`");
        let mut named = vec![false; labels.len()];
        let mut are_known = true;
        let mut steps = Vec::new();
        for step in &order.value {
            if step.value.0.is_empty() {
                self.refuse(&step.place, format!("{path} has a step without calls"), "take the empty list out");
            }
            let mut calls = Vec::new();
            for label in &step.value.0 {
                let Name(name) = &label.value;
                match labels.iter().position(|other| other == name) {
                    None => {
                        let error = Diagnostic::new(format!("{path} names an unknown call `{name}`"));
                        let hint = suggest::hint(name, "calls", labels.iter().copied());
                        self.errors.push(error.at(&label.place).maybe_hint(hint));
                        are_known = false;
                    }
                    Some(position) if is_fallback(position) => {
                        let message = format!("{path} names `{name}`, which is a fallback");
                        self.refuse(&label.place, message, "take it out: it is made in place of the call that failed");
                    }
                    Some(position) if std::mem::replace(&mut named[position], true) => {
                        let hint = "to call a service twice, give it two calls with labels of their own";
                        self.refuse(&label.place, format!("{path} names `{name}` twice"), hint);
                    }
                    Some(position) => calls.push(position),
                }
            }
            steps.push(calls);
        }
        if !are_known {
            // What is misspelt is missing too: nobody needs to hear that.
            return steps;
        }
        let missing = (0..labels.len()).filter(|&position| !named[position] && !is_fallback(position));
        let missing = suggest::list(missing.map(|position| labels[position]));
        if !missing.is_empty() {
            let hint = "every call that is no fallback has its place in it";
            self.refuse(&order.place, format!("{path} leaves out {missing}"), hint);
        }
        steps
    }
}
