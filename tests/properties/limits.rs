//! What servers and pools have at once, followed through the notes of a run.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stormsim::metrics::{End, Outcome};
use stormsim::plan::{Call, CallId, Capacity, Origin, Plan, ServiceId};
use stormsim::sim::Note;
use stormsim::time::Instant;

use super::accounts::copies_of_attempts;

/// What is taken, in the order of the notes: whatever goes on to another has been given back before.
struct Taken<'a> {
    plan: &'a Plan,
    /// Where each attempt goes: its service and, once it is picked, its server.
    places: BTreeMap<u64, (ServiceId, u32)>,
    /// By service and server, the attempts that have a worker. Notes do not tell when a worker is free that is not
    /// held until the answer: those services are left out.
    workers: BTreeMap<(ServiceId, u32), Vec<u64>>,
    /// By service, the attempts that were taken up and are in progress.
    in_progress: BTreeMap<ServiceId, Vec<u64>>,
    /// By call, the attempts that have a slot.
    slots: BTreeMap<CallId, Vec<u64>>,
    /// By the key of an attempt, those of its other copies.
    copies: BTreeMap<u64, Vec<u64>>,
}

/// No server works on more than it has workers for, no service on more than its `max_in_flight`; no call has more
/// attempts under way than its callers have slots; and after a run that is drained nothing is taken and nobody waits.
pub fn are_respected(
    plan: &Plan,
    notes: &[(Instant, Note)],
    outcome: &Outcome,
    seed: u64,
) -> Result<(), TestCaseError> {
    let mut taken = Taken {
        plan,
        places: BTreeMap::new(),
        workers: BTreeMap::new(),
        in_progress: BTreeMap::new(),
        slots: BTreeMap::new(),
        copies: copies_of_attempts(plan, notes, seed),
    };
    for &(_, note) in notes {
        taken.follow(note)?;
    }
    for (service, tally) in plan.services.iter().zip(&outcome.services) {
        let Capacity { instances, queue, workers, .. } = &service.capacity;
        // At an instant at which callers give up, as many may wait beside them as workers are about to go on to them.
        let waiting = u64::from(queue.limit) + u64::from(*workers);
        prop_assert!(tally.queue_max <= u64::from(*instances) * waiting);
        let lasted = u128::from(outcome.end.since(plan.warmup).as_ns());
        prop_assert!(tally.workers.is_none_or(|workers| tally.busy_ns <= u128::from(workers) * lasted));
    }
    if outcome.ended == End::Drained {
        prop_assert!(taken.workers.values().all(Vec::is_empty), "a worker is still at work");
        prop_assert!(taken.slots.values().all(Vec::is_empty), "a slot is still taken");
        prop_assert!(outcome.services.iter().all(|service| service.in_progress == 0), "somebody still waits");
    }
    Ok(())
}

impl Taken<'_> {
    fn follow(&mut self, note: Note) -> Result<(), TestCaseError> {
        match note {
            Note::Placed { key, server } => {
                let (service, at) = self.places.get_mut(&key).expect("it is sent before it is placed");
                let instances = self.plan.services[service.index()].capacity.instances;
                prop_assert!(instances > 1 && server < instances, "{note:?} of {instances}");
                *at = server;
            }
            Note::Began { key } | Note::Recognised { key } => self.take_worker(key)?,
            Note::Answered { key, .. } | Note::Cancelled { key } => {
                let workers = self.workers.entry(self.places[&key]).or_default();
                workers.retain(|&other| other != key);
                let in_progress = self.in_progress.entry(self.places[&key].0).or_default();
                in_progress.retain(|&other| other != key);
            }
            Note::Sent { call, key, .. } => {
                self.places.insert(key, (self.plan.calls[call.index()].target, 0));
                self.take_slot(call, key)?;
            }
            Note::Answer { key, .. } | Note::TimedOut { key, .. } | Note::Outrun { key } => self.give_slot_back(key),
            Note::Abandoned { key, .. } => {
                let others = self.copies.get(&key).cloned().unwrap_or_default();
                others.into_iter().chain([key]).for_each(|copy| self.give_slot_back(copy));
            }
            Note::RequestBegan { .. }
            | Note::Arrived { .. }
            | Note::TurnedAway { .. }
            | Note::Dropped { .. }
            | Note::Waiting { .. }
            | Note::Opened { .. }
            | Note::Ejected { .. }
            | Note::CallEnded { .. } => {}
        }
        Ok(())
    }

    fn give_slot_back(&mut self, key: u64) {
        self.slots.values_mut().for_each(|slots| slots.retain(|&other| other != key));
    }

    fn take_worker(&mut self, key: u64) -> Result<(), TestCaseError> {
        let (service, server) = self.places[&key];
        let Capacity { workers: limit, holds_worker, max_in_flight, .. } = self.plan.services[service.index()].capacity;
        let in_progress = self.in_progress.entry(service).or_default();
        // What waited for another to do may begin after all, and has its worker already.
        if in_progress.contains(&key) {
            return Ok(());
        }
        in_progress.push(key);
        prop_assert!(in_progress.len() as u64 <= u64::from(max_in_flight), "{} at {service:?}", in_progress.len());
        if holds_worker {
            let workers = self.workers.entry((service, server)).or_default();
            workers.push(key);
            prop_assert!(workers.len() as u64 <= u64::from(limit), "{} at work at {service:?}", workers.len());
        }
        Ok(())
    }

    /// The notes do not tell whose slot it is, so that all instances of the caller are counted together.
    fn take_slot(&mut self, id: CallId, key: u64) -> Result<(), TestCaseError> {
        let Call { origin, pool, .. } = self.plan.calls[id.index()];
        let Some(pool) = pool else { return Ok(()) };
        let instances = match origin {
            Origin::Group(group) => self.plan.groups[group.index()].clients,
            Origin::Service(service) => self.plan.services[service.index()].capacity.instances,
        };
        let slots = self.slots.entry(id).or_default();
        slots.push(key);
        prop_assert!(slots.len() as u64 <= u64::from(pool.size) * u64::from(instances), "{} slots", slots.len());
        Ok(())
    }
}
