//! Controlled delay: a queue that does not become short is shortened by shedding what has waited longest.

use crate::time::{Instant, Span};

/// The rule of `folly::Codel`, after Nichols and Jacobson, "Controlling Queue Delay" (2012).
///
/// Whenever a turn comes, the delay of that item is looked at. The queue counts as overloaded in an interval if the
/// least delay of the interval before was above `target`. While it is overloaded, items that have waited longer than
/// twice the `target` are shed. The first item of an interval never is: its delay begins the interval's minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// The delay that a good queue falls to at least once in each interval; above zero.
    pub target: Span,
    /// How long that is looked at; above zero. The next interval begins with the first turn after its end.
    pub interval: Span,
}

/// What a queue under [`Codel`] remembers. The default is that of a new queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodelState {
    /// The least delay of the current interval; none before its first item.
    least: Option<Span>,
    /// The last instant of the current interval.
    ends: Instant,
    is_overloaded: bool,
}

impl Codel {
    /// Whether the item whose turn it is now is shed, having waited `delay`. `now` never goes back.
    #[inline]
    pub fn sheds(&self, state: &mut CodelState, now: Instant, delay: Span) -> bool {
        if now > state.ends
            && let Some(least) = state.least.take()
        {
            state.is_overloaded = least > self.target;
            state.ends = now + self.interval;
        }
        let Some(least) = &mut state.least else {
            state.least = Some(delay);
            return false;
        };
        *least = delay.min(*least);
        state.is_overloaded && delay.as_ns() > 2 * self.target.as_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEL: Codel = Codel { target: Span::from_ms(5), interval: Span::from_ms(100) };

    /// Turns as (instant, delay) in ms, and whether each is shed.
    fn shed(turns: &[(u64, u64)]) -> Vec<bool> {
        let mut state = CodelState::default();
        let ms = Span::from_ms;
        turns.iter().map(|&(now, delay)| CODEL.sheds(&mut state, Instant::ZERO + ms(now), ms(delay))).collect()
    }

    /// No delay of 5 ms or less in one interval overloads the next, in which more than 10 ms is too long. One delay of
    /// 5 ms there, and the interval after that is good again.
    #[test]
    fn an_interval_without_a_short_delay_sheds_in_the_next() {
        let turns = [
            (10, 6, false),
            // The interval before the first item has no length and ends with the second.
            (20, 50, false),
            (30, 50, true),
            (40, 10, false),
            (120, 11, true),
            (121, 5, false),
            (122, 50, true),
            (200, 50, true),
            (223, 6, false),
            (230, 50, false),
        ];
        let (asked, expected): (Vec<_>, Vec<_>) = turns.iter().map(|&(now, delay, shed)| ((now, delay), shed)).unzip();
        assert_eq!(shed(&asked), expected);
    }
}
