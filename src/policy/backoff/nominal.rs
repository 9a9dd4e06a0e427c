//! Waits without jitter.

use crate::policy::backoff::{Backoff, Schedule};
use crate::time::Span;

/// How many nominal waits are kept ready; later ones are computed when they are asked for.
const TABLE_LEN: u32 = 64;

/// At so many steps of its growth an exponential backoff is cut down to whole multiples; after that only once.
const STEPS_CUT: u32 = TABLE_LEN;

impl Schedule {
    /// The wait before retry `retry` without jitter and floor; capped, if the cap comes before the jitter.
    /// For a decorrelated backoff: its base.
    #[inline]
    pub fn nominal(&self, retry: u32) -> Span {
        debug_assert!(retry >= 1);
        match self.table.get(retry as usize - 1) {
            Some(&wait) => wait,
            None => self.compute(retry),
        }
    }

    pub(super) fn nominal_waits(&self) -> Vec<Span> {
        (1..=TABLE_LEN).map(|retry| self.compute(retry)).collect()
    }

    fn compute(&self, retry: u32) -> Span {
        if retry <= self.refinement.immediate {
            return Span::ZERO;
        }
        let wait = match &self.backoff {
            Backoff::None => Span::ZERO,
            Backoff::Fixed(wait) => *wait,
            Backoff::Linear { step } => Span::from_ns(step.as_ns().saturating_mul(u64::from(retry))),
            Backoff::Exponential { base, factor } => self.grown(*base, *factor, retry - 1),
            Backoff::Decorrelated { base, .. } | Backoff::DecorrelatedV2 { base } => *base,
            Backoff::Explicit(waits) => waits[(retry as usize - 1).min(waits.len() - 1)],
        };
        let wait = self.cut_down(wait.min(Span::LIMIT));
        if self.is_capped_first() { wait.min(self.cap) } else { wait }
    }

    /// A wait that has grown so many times, in whole multiples. One that shrinks stays a wait, of one step: only a base
    /// that is less than that is cut down to none.
    fn grown(&self, base: Span, factor: f64, times: u32) -> Span {
        let step = self.refinement.granularity;
        let least = if base >= step { step } else { Span::ZERO };
        let whole = |wait: Span| self.cut_down(wait).max(least);
        let steps = if step > Span::from_ns(1) { times.min(STEPS_CUT) } else { 0 };
        let start = (0..steps).fold(base, |wait, _| grow(whole(wait), factor, 1));
        whole(grow(start, factor, times - steps))
    }
}

/// In floating point, where a large power becomes infinite and is cut to the limit: no overflow at any retry.
fn grow(wait: Span, factor: f64, times: u32) -> Span {
    Span::from_ns_f64(wait.as_ns() as f64 * libm::pow(factor, f64::from(times)))
}
