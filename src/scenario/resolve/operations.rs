//! Operations: the keys that clients send, and what services remember of them.

use crate::plan::{Effects, InProgressRule, Keys, Operations, Store};
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{
    ClientTable, IdempotencyChoice, OnExhaustedChoice, ServiceTable, StoreTable, StoreWaitChoice,
};
use crate::scenario::values::Duration;

/// What the clients of a group make of their operations.
pub(super) fn operations(table: &ClientTable) -> Operations {
    Operations {
        keys: match table.idempotency.get() {
            None | Some(IdempotencyChoice::None) => Keys::None,
            Some(IdempotencyChoice::Key) => Keys::PerOperation,
            Some(IdempotencyChoice::KeyPerAttempt) => Keys::PerAttempt,
            Some(IdempotencyChoice::KeyReused) => Keys::Reused,
        },
        dead_letters: matches!(table.on_exhausted.get(), Some(OnExhaustedChoice::DeadLetter)),
    }
}

impl Resolver<'_> {
    /// What the work of a service does to the world, and what remembers that.
    pub(super) fn effects(&mut self, path: &str, table: &ServiceTable) -> Effects {
        Effects {
            writes: table.writes.get().copied().unwrap_or(false),
            store: table.idempotency_store.spanned().and_then(|given| {
                let store = given.value.value()?;
                self.store(path, store, &given.place)
            }),
        }
    }

    fn store(&mut self, path: &str, table: &StoreTable, place: &Place) -> Option<Store> {
        let owner = format!("`{path}.idempotency_store`");
        self.require(&table.ttl, &owner, "ttl", "\"24h\"", Some(place));
        self.above_zero(&table.ttl, &owner, "ttl", "for no store write `idempotency_store = \"none\"`");
        let &Duration(ttl) = table.ttl.get()?;
        let in_progress = match table.in_progress.get() {
            None | Some(StoreWaitChoice::Wait) => InProgressRule::Wait,
            Some(StoreWaitChoice::Refuse) => InProgressRule::Refuse,
        };
        Some(Store { ttl, in_progress })
    }
}
