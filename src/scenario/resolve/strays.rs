//! Tables that a misspelt path has created. A path of a variant or flag that names nothing makes a new thing, which
//! is an error and no surprise where nobody uses it, or where it is only a part of what it would have to be.

use crate::presets::Preset;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Named};
use crate::scenario::overrides::Created;
use crate::scenario::resolve::Resolver;
use crate::scenario::suggest;

impl Resolver<'_> {
    /// Reports what was created by a slip, and keeps it in mind, so that nobody is told how to complete it.
    pub(super) fn find_strays(&mut self, created: &[Created]) {
        for Created { table, name, place } in created {
            let Some((why, others)) = self.stray(table, name) else { continue };
            let error = Diagnostic::new(format!("there is no `{table}.{name}` to change, and {why}")).at(place);
            let hint = match Preset::find(name).filter(|_| table == "retries") {
                Some(_) => Some(format!("it is a preset, but no call has `retry = \"{name}\"`")),
                None => suggest::hint(name, table, others),
            };
            self.errors.push(error.maybe_hint(hint));
            self.strays.push((table.clone(), name.clone()));
        }
    }

    /// Whether a table was created by a slip.
    pub(super) fn is_stray(&self, table: &str, name: &str) -> bool {
        self.strays.iter().any(|(in_table, stray)| in_table == table && stray == name)
    }

    /// Why a thing that a path created cannot be meant as a new one, and the other things of its kind.
    fn stray(&self, table: &str, name: &str) -> Option<(&'static str, Vec<&str>)> {
        let tables = self.tables;
        let unused = "nothing uses a new one";
        match table {
            "services" => (!self.is_called(name)).then(|| (unused, others(&tables.services, name))),
            "retries" => (!self.is_used(name)).then(|| (unused, others(&tables.retries, name))),
            "clients" => {
                let group = find(&tables.clients, name)?;
                let is_partial = group.arrivals.is_absent() || group.calls.is_absent();
                is_partial.then(|| ("a new one needs `arrivals` and `calls`", others(&tables.clients, name)))
            }
            "faults" => {
                let fault = find(&tables.faults, name)?;
                let is_partial = fault.on.is_absent() || fault.effect.is_absent();
                is_partial.then(|| ("a new one needs `on` and `effect`", others(&tables.faults, name)))
            }
            _ => None,
        }
    }
}

fn find<'a, T>(tables: &'a Field<Named<T>>, name: &str) -> Option<&'a T> {
    tables.get()?.0.get(name)?.get()
}

fn others<'a, T>(tables: &'a Field<Named<T>>, name: &str) -> Vec<&'a str> {
    tables.names().filter(|other| *other != name).collect()
}
