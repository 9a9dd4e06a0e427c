//! The copies of attempts: what is sent for an attempt of a hedged call, the first one included.

use std::collections::{BTreeMap, BTreeSet};

use stormsim::plan::Plan;
use stormsim::sim::Note;
use stormsim::time::Instant;

use super::lineage::Lineage;

/// By the keys of the attempts that have them, the keys of the copies that were sent beside them.
pub fn copies_of_attempts(plan: &Plan, notes: &[(Instant, Note)], seed: u64) -> BTreeMap<u64, Vec<u64>> {
    let mut lineage = Lineage::new(plan, seed);
    let mut copies: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for &(_, note) in notes {
        lineage.enter(note);
        if let Note::Sent { hedge: 1.., key, .. } = note {
            copies.entry(lineage.of(key).attempt).or_default().push(key);
        }
    }
    copies
}

/// The attempts that were sent and have not ended, as far as the notes have been read.
#[derive(Default)]
pub struct Copies {
    /// By the key of the attempt, its copies that have not.
    under_way: BTreeMap<u64, BTreeSet<u64>>,
    /// Those copies that were answered with success.
    well: BTreeSet<u64>,
}

impl Copies {
    /// Learns from a note, and says which attempt has ended with it, if one has that was sent: with the first copy that
    /// succeeds, or the last that fails.
    pub fn enter(&mut self, lineage: &Lineage, note: Note) -> Option<u64> {
        match note {
            Note::Sent { key, .. } => {
                self.under_way.entry(lineage.of(key).attempt).or_default().insert(key);
                None
            }
            Note::Answered { key, result: Ok(()) } => {
                self.well.insert(key);
                None
            }
            Note::Answer { key, late: false } if self.well.contains(&key) => {
                let attempt = lineage.of(key).attempt;
                self.under_way.remove(&attempt).map(|_| attempt)
            }
            Note::Answer { key, late: false } | Note::TimedOut { key, .. } => {
                let attempt = lineage.of(key).attempt;
                let copies = self.under_way.get_mut(&attempt)?;
                copies.remove(&key);
                if copies.is_empty() { self.under_way.remove(&attempt).map(|_| attempt) } else { None }
            }
            Note::Abandoned { key, .. } => self.under_way.remove(&key).map(|_| key),
            _ => None,
        }
    }

    /// Whether a copy is one that succeeded, or will when its answer comes.
    pub fn is_well(&self, key: u64) -> bool {
        self.well.contains(&key)
    }

    /// All copies that are under way.
    pub fn under_way(&self) -> impl Iterator<Item = u64> {
        self.under_way.values().flatten().copied()
    }
}
