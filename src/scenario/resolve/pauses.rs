//! Pauses that may overlap: a server cannot be paused while it is.

use std::ops::Range;

use crate::plan::{Effect, FaultDraft, Windows};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::values::Duration;
use crate::time::{Instant, Span};

/// So many windows of a fault that comes again and again are held against those of another. If it takes longer until
/// they meet, they count as meeting.
const LOOKED_AT: usize = 10_000;

impl Resolver<'_> {
    /// Reports pauses of the same service that may be there at the same time. `places` is where the effects stand.
    ///
    /// Two faults that strike only some servers of a service both strike the lowest.
    pub(super) fn check_pauses(&mut self, faults: &[FaultDraft], places: &[Option<&Place>]) {
        let horizon = self.tables.horizon.get().and_then(|horizon| horizon.value());
        let end = horizon.map_or(Instant::LIMIT, |&Duration(horizon)| Instant::ZERO + horizon);
        let is_pause = |(fault, _): &(&FaultDraft, _)| fault.effect == Effect::Pause;
        let pauses: Vec<_> = faults.iter().zip(places).filter(is_pause).collect();
        for (n, (later, place)) in pauses.iter().enumerate() {
            for (earlier, other_place) in &pauses[..n] {
                let shared = later.targets.iter().any(|target| earlier.targets.contains(target));
                if let (true, Some(place), Some(other_place)) = (shared, place, other_place)
                    && may_overlap(&later.windows, &earlier.windows, end)
                {
                    let message = format!("the pauses `{}` and `{}` may overlap", earlier.name, later.name);
                    let error = Diagnostic::new(message).at(place).context(other_place, "the other pause");
                    self.errors.push(error.hint("let one end before the other begins, or make them one fault"));
                }
            }
        }
    }
}

/// Whether both may be there at the same time before the run ends at `end`.
fn may_overlap(one: &Windows, other: &Windows, end: Instant) -> bool {
    match (one, other) {
        // Random ones may be there at any time between their bounds.
        (Windows::Once(range) | Windows::Random { within: range, .. }, others)
        | (others, Windows::Once(range) | Windows::Random { within: range, .. }) => {
            may_meet(others, &(range.start..range.end.min(end)))
        }
        (
            Windows::Repeated { first: one, every: one_every },
            Windows::Repeated { first: other, every: other_every },
        ) => {
            if one_every > other_every {
                all_may_meet((one, *one_every), (other, *other_every), end)
            } else {
                all_may_meet((other, *other_every), (one, *one_every), end)
            }
        }
    }
}

/// Whether windows may be there within a range.
fn may_meet(windows: &Windows, range: &Range<Instant>) -> bool {
    match windows {
        Windows::Once(window) | Windows::Random { within: window, .. } => overlap(window, range),
        Windows::Repeated { first, every } => overlap(&not_over(first, *every, range.start), range),
    }
}

/// Whether any of the windows that come rarely meets one of those that come often.
fn all_may_meet(rare: (&Range<Instant>, Span), often: (&Range<Instant>, Span), end: Instant) -> bool {
    if !ever_meet(rare, often) {
        return false;
    }
    let ((rare, every), (often, often_every)) = (rare, often);
    let length = rare.end.since(rare.start);
    let mut start = rare.start;
    for _ in 0..LOOKED_AT {
        if start >= end {
            return false;
        }
        let window = start..(start + length).min(end);
        if overlap(&not_over(often, often_every, start), &window) {
            return true;
        }
        start = start + every;
    }
    true
}

/// Whether two endless repetitions ever meet. The distances between their beginnings are, whatever the pair, the same
/// modulo the greatest common divisor of the periods, and every distance with that remainder occurs.
fn ever_meet((one, one_every): (&Range<Instant>, Span), (other, other_every): (&Range<Instant>, Span)) -> bool {
    let divisor = greatest_common_divisor(one_every.as_ns(), other_every.as_ns());
    let ahead = (other.start.as_ns() % divisor + divisor - one.start.as_ns() % divisor) % divisor;
    ahead < one.end.since(one.start).as_ns() || divisor - ahead < other.end.since(other.start).as_ns()
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The first window of a repetition that is not over at an instant.
fn not_over(first: &Range<Instant>, every: Span, at: Instant) -> Range<Instant> {
    if first.end > at {
        return first.clone();
    }
    let number = at.since(first.end).as_ns() / every.as_ns() + 1;
    let later = Span::from_ns(number * every.as_ns());
    first.start + later..first.end + later
}

/// Whether two windows have an instant in common. An empty one has none.
fn overlap(one: &Range<Instant>, other: &Range<Instant>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dist::Dist;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    fn once(start: u64, end: u64) -> Windows {
        Windows::Once(at(start)..at(end))
    }

    fn repeated(start: u64, end: u64, every: u64) -> Windows {
        Windows::Repeated { first: at(start)..at(end), every: Span::from_ns(every) }
    }

    /// Windows end where others may begin.
    #[test]
    fn windows_are_half_open() {
        assert!(!may_overlap(&once(0, 5), &once(5, 9), Instant::LIMIT));
        assert!(may_overlap(&once(0, 6), &once(5, 9), Instant::LIMIT));
        assert!(!may_overlap(&repeated(0, 5, 10), &repeated(5, 10, 10), Instant::LIMIT));
        assert!(!may_overlap(&repeated(0, 5, 10), &once(85, 90), Instant::LIMIT));
        assert!(may_overlap(&once(85, 91), &repeated(0, 5, 10), Instant::LIMIT));
    }

    /// 10 s and 11 s drift apart by a second each time: they meet, but not before the tenth.
    #[test]
    fn the_run_may_be_over_before_they_meet() {
        let (one, other) = (repeated(0, 1, 10), repeated(1, 2, 11));
        assert!(may_overlap(&one, &other, Instant::LIMIT));
        assert!(!may_overlap(&one, &other, at(100)));
        assert!(!may_overlap(&once(50, 60), &once(40, 70), at(50)));
    }

    /// Nobody knows when random ones come, but they keep within their bounds.
    #[test]
    fn random_windows_may_come_at_any_time_within_their_bounds() {
        let random = Windows::Random { within: at(100)..at(200), up: Dist::ZERO, down: Dist::ZERO };
        assert!(may_overlap(&random, &once(199, 300), Instant::LIMIT));
        assert!(!may_overlap(&random, &once(200, 300), Instant::LIMIT));
        assert!(!may_overlap(&once(50, 300), &random, at(100)));
        assert!(may_overlap(&random, &repeated(0, 1, 50), Instant::LIMIT));
        assert!(!may_overlap(&random, &repeated(0, 1, 1000), Instant::LIMIT));
    }

    /// What would take millions of windows to find: periods of a second, and of a second and a nanosecond.
    #[test]
    fn those_that_meet_late_count_as_meeting() {
        let second = 1_000_000_000;
        assert!(may_overlap(
            &repeated(0, 1, second),
            &repeated(second / 2, second / 2 + 1, second + 1),
            Instant::LIMIT
        ));
    }

    proptest! {
        /// Against what anybody would do: look at all windows, one by one.
        #[test]
        fn windows_overlap_if_they_have_an_instant_in_common(
            one in (0u64..30, 1u64..6, 0u64..12), other in (0u64..30, 1u64..6, 0u64..12), end in 1u64..400,
        ) {
            let windows = |(start, length, pause): (u64, u64, u64)| match pause {
                0 => once(start, start + length),
                _ => repeated(start, start + length, length + pause),
            };
            let (one, other) = (windows(one), windows(other));
            let has = |windows: &Windows, instant: Instant| {
                let mut begun = windows.of_replica(0).take_while(|window| window.start <= instant);
                begun.any(|window| window.contains(&instant))
            };
            let common = (0..end).any(|ns| has(&one, at(ns)) && has(&other, at(ns)));
            prop_assert_eq!(may_overlap(&one, &other, at(end)), common);
        }
    }
}
