//! The timers that may be disarmed: an entry of the agenda counts only if it is the one that is armed.

use crate::sim::agenda::{Event, Sequence};
use crate::sim::frames::CallFrame;
use crate::sim::replica::Kind;
use crate::sim::slab::Slab;

/// The timers beside that of an attempt, which its call frame has. Each table is empty unless something is armed in it.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// By call frame: the end of the call.
    pub ends: Vec<Sequence>,
    /// By call frame: when the next copy of its attempt is sent.
    pub hedges: Vec<Sequence>,
    /// By work frame: when a copy of an attempt that finds nobody is given up.
    pub copies: Vec<Sequence>,
}

impl Timers {
    /// Whether a timer is still armed.
    #[inline]
    pub fn are_armed(&self, calls: &Slab<CallFrame>, timer: Event, sequence: Sequence) -> bool {
        const ATTEMPT: u8 = Kind::Timer as u8;
        const END: u8 = Kind::EndTimer as u8;
        const HEDGE: u8 = Kind::HedgeTimer as u8;
        let index = timer.index() as usize;
        match timer.kind() {
            ATTEMPT => calls[timer.index()].armed == sequence,
            END => self.ends[index] == sequence,
            HEDGE => self.hedges[index] == sequence,
            _ => self.copies[index] == sequence,
        }
    }
}

/// Arms one timer of a table that has so many places, or disarms it.
pub(super) fn set(table: &mut Vec<Sequence>, places: usize, index: u32, timer: Sequence) {
    if table.len() < places {
        table.resize(places, Sequence::NONE);
    }
    table[index as usize] = timer;
}

/// Disarms one timer of a table, if it ever was armed.
#[inline]
pub(super) fn disarm(table: &mut [Sequence], index: u32) {
    if let Some(timer) = table.get_mut(index as usize) {
        *timer = Sequence::NONE;
    }
}
