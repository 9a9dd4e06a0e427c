//! The wait before a retry: a nominal schedule, a floor, a cap and jitter.

mod at_bound;
mod curve;
mod jitter;
mod nominal;
mod range;

pub use jitter::Jitter;
pub use range::WaitRange;

use crate::dist::{Purpose, draw};
use crate::policy::backoff::jitter::{Around, Window};
use crate::time::Span;

/// The nominal wait before retry n (n = 1 is the first retry), before cap and jitter.
#[derive(Clone, Debug, PartialEq)]
pub enum Backoff {
    /// Retry at once.
    None,
    /// The same wait each time.
    Fixed(Span),
    /// `step * n`.
    Linear {
        /// The first wait, and what each further one adds.
        step: Span,
    },
    /// `base * factor^(n - 1)`.
    Exponential {
        /// The first wait.
        base: Span,
        /// Growth from one wait to the next; above zero, below one it shrinks.
        factor: f64,
    },
    /// `U(base, factor * previous)`, where `previous` starts at `base` and is the wait that was drawn (and capped)
    /// before. From "Exponential Backoff And Jitter" (AWS architecture blog, 2015).
    Decorrelated {
        /// The least wait.
        base: Span,
        /// How far the next wait may exceed the previous one; at least 1, usually 3.
        factor: f64,
    },
    /// From one point of a curve to the next: the jitter of Polly's exponential backoff.
    DecorrelatedV2 {
        /// About the median of the first wait.
        base: Span,
    },
    /// These waits in turn; the last one repeats.
    Explicit(Vec<Span>),
}

/// Where the cap applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapOrder {
    /// `jitter(min(cap, x))`: jitter that adds may exceed the cap.
    BeforeJitter,
    /// `min(cap, jitter(x))`: once `x` is well above the cap, jitter is lost.
    AfterJitter,
    /// `min(cap, jitter(min(cap, x)))`.
    Both,
    /// Before the jitter, and what of its window lies above the cap is cut off before the draw. Where a distribution
    /// is added, which has no window, the same as `Both`.
    Narrow,
}

/// What few schedules have beside a backoff, a cap and jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refinement {
    /// So many of the first retries come at once, without cap, jitter or floor; the others keep their numbers. The walk
    /// and the curve of a decorrelated backoff begin after them.
    pub immediate: u32,
    /// The least wait. What of the jitter's window lies below it is cut off before the draw; a nominal wait without a
    /// window is raised to it. Not above the cap. A decorrelated backoff has none.
    pub floor: Span,
    /// Waits are whole multiples of this, cut down: an exponential backoff at each step of its growth, and each wait
    /// when it has been drawn. At least 1 ns, and the floor is a multiple of it.
    pub granularity: Span,
}

impl Refinement {
    /// None of that.
    pub const NONE: Self = Self { immediate: 0, floor: Span::ZERO, granularity: Span::from_ns(1) };
}

/// A wait, with what the next one may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The wait.
    pub wait: Span,
    /// What the next wait is reckoned from, if the schedule [remembers](Schedule::remembers) anything: of a walk this
    /// wait, of a curve how far along it has come, which is the sum of all waits as they were before the cap.
    pub mark: Span,
}

/// How a wait is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// A nominal wait, jitter, a cap before or after it.
    Plain,
    /// From `base` to so many times the wait before, and a cap.
    Walk { base: Span, factor: f64 },
    /// With anything else in it: see [`Schedule::draw_refined`].
    Refined,
}

/// A backoff with its cap and its jitter, ready to be asked for waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    backoff: Backoff,
    cap: Span,
    cap_order: CapOrder,
    jitter: Jitter,
    refinement: Refinement,
    way: Way,
    /// Nominal waits before retries 1, 2, ...; capped, if the cap comes before the jitter.
    table: Vec<Span>,
}

impl Schedule {
    /// Puts a schedule together. `cap` is [`Span::UNLIMITED`] for none.
    pub fn new(backoff: Backoff, cap: Span, cap_order: CapOrder, jitter: Jitter) -> Self {
        Self::refined(backoff, cap, cap_order, jitter, Refinement::NONE)
    }

    /// The same with what few schedules have.
    pub fn refined(backoff: Backoff, cap: Span, cap_order: CapOrder, jitter: Jitter, refinement: Refinement) -> Self {
        let is_refined = refinement != Refinement::NONE || cap_order == CapOrder::Narrow;
        let way = match backoff {
            Backoff::DecorrelatedV2 { .. } => Way::Refined,
            _ if is_refined => Way::Refined,
            Backoff::Decorrelated { base, factor } => Way::Walk { base, factor },
            _ => Way::Plain,
        };
        let mut schedule = Self { backoff, cap, cap_order, jitter, refinement, way, table: Vec::new() };
        schedule.table = schedule.nominal_waits();
        schedule
    }

    /// The wait before retry `retry` (1 is the first), between zero and [`Span::LIMIT`] (twice that where jitter adds).
    ///
    /// `mark` is what the last draw of the call has left (anything before the first one, and of schedules that
    /// [remember](Self::remembers) nothing); `key` is that of the attempt that failed.
    // Every retry comes by here; a second caller, for what is rare, must not make it a call.
    #[inline(always)]
    pub fn draw(&self, retry: u32, mark: Span, key: u64) -> Drawn {
        let wait = match self.way {
            Way::Plain => {
                let jittered = self.jitter.apply(self.nominal(retry), key, Purpose::Backoff);
                if self.is_capped_last() { jittered.min(self.cap) } else { jittered }
            }
            Way::Walk { base, factor } => {
                let previous = if retry == 1 { base } else { mark };
                walk(base, factor, previous).draw(key, Purpose::Backoff).min(self.cap)
            }
            Way::Refined => return self.draw_refined(retry, mark, key),
        };
        Drawn { wait, mark: wait }
    }

    /// The wait alone.
    #[inline(always)]
    pub fn wait(&self, retry: u32, mark: Span, key: u64) -> Span {
        self.draw(retry, mark, key).wait
    }

    #[cold]
    fn draw_refined(&self, retry: u32, mark: Span, key: u64) -> Drawn {
        let first = self.refinement.immediate.saturating_add(1);
        if retry < first {
            return Drawn { wait: Span::ZERO, mark: Span::ZERO };
        }
        match self.backoff {
            Backoff::DecorrelatedV2 { base } => {
                let previous = if retry == first { Span::ZERO } else { mark };
                let at = curve::position(base, retry, draw(key, Purpose::Backoff));
                Drawn { wait: self.cut_down(curve::between(previous, at).min(self.cap)), mark: at }
            }
            Backoff::Decorrelated { base, factor } => {
                let previous = if retry == first { base } else { mark };
                let wait = self.below_cap(walk(base, factor, previous)).draw(key, Purpose::Backoff);
                let wait = self.cut_down(wait.min(self.cap));
                Drawn { wait, mark: wait }
            }
            _ => {
                let nominal = self.nominal(retry);
                let jittered = match self.jitter.around(nominal) {
                    Around::Window(window) => self.narrowed(window).draw(key, Purpose::Backoff),
                    Around::Added(dist) => nominal.max(self.refinement.floor) + dist.sample(key, Purpose::Backoff),
                };
                let capped = if self.is_capped_last() { jittered.min(self.cap) } else { jittered };
                let wait = self.cut_down(capped);
                Drawn { wait, mark: wait }
            }
        }
    }

    /// Whether a wait depends on those before, so that a mark must be remembered.
    pub fn remembers(&self) -> bool {
        matches!(self.backoff, Backoff::Decorrelated { .. } | Backoff::DecorrelatedV2 { .. })
    }

    /// Its nominal waits.
    pub fn backoff(&self) -> &Backoff {
        &self.backoff
    }

    /// What makes its waits differ; [`Jitter::None`] for a decorrelated backoff, which does that by itself.
    pub fn jitter(&self) -> &Jitter {
        &self.jitter
    }

    /// Its cap; none without one.
    pub fn cap(&self) -> Option<Span> {
        (self.cap < Span::LIMIT).then_some(self.cap)
    }

    /// Where its cap applies.
    pub fn cap_order(&self) -> CapOrder {
        self.cap_order
    }

    /// What it has beside a backoff, a cap and jitter.
    pub fn refinement(&self) -> Refinement {
        self.refinement
    }

    fn is_capped_first(&self) -> bool {
        self.cap_order != CapOrder::AfterJitter
    }

    #[inline(always)]
    fn is_capped_last(&self) -> bool {
        self.cap_order != CapOrder::BeforeJitter
    }

    /// What is left of a window of the jitter.
    fn narrowed(&self, window: Window) -> Window {
        self.below_cap(window.above(self.refinement.floor))
    }

    fn below_cap(&self, window: Window) -> Window {
        if self.cap_order == CapOrder::Narrow { window.below(self.cap) } else { window }
    }

    /// The longest wait that is not longer and a whole multiple of the granularity.
    fn cut_down(&self, wait: Span) -> Span {
        Span::from_ns(wait.as_ns() - wait.as_ns() % self.refinement.granularity.as_ns())
    }
}

/// Where the next wait of a walk lies: never below the base, whatever the cap did to the previous one.
#[inline(always)]
fn walk(base: Span, factor: f64, previous: Span) -> Window {
    Window { low: base, high: Span::from_ns_f64(previous.as_ns() as f64 * factor).max(base) }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod worked;
