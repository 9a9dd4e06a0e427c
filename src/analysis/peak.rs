//! How many clients try again in the same 100 ms, if all of them fail at once.

use crate::policy::Schedule;
use crate::time::Span;

/// The width of the windows in which attempts are counted.
const WINDOW: Span = Span::from_ms(100);

/// The width of a cell of the computation.
const CELL: Span = Span::from_ms(1);

/// The most cells: ten minutes.
const CELLS_MAX: u64 = 600_000;

/// The expected number of retries in the densest aligned window of 100 ms, of so many clients that begin at the same
/// instant and whose attempts are all refused at once, with so many retries each.
///
/// The instant of retry k is the sum of k waits, each uniform over its range: its distribution is that of the one before,
/// folded with a uniform one. What the densest window has in one run exceeds this by what chance adds, some times the
/// square root. None where waits are not uniform, and where the retries take more than ten minutes.
pub fn retry_peak(schedule: &Schedule, retries: u32, clients: u32) -> Option<f64> {
    if !schedule.is_uniform() {
        return None;
    }
    let ranges = schedule.ranges(retries);
    let longest = ranges.iter().try_fold(0_u64, |sum, range| sum.checked_add(cells(range.longest)))?;
    if longest >= CELLS_MAX {
        return None;
    }
    // By cell: the share of the clients that make the last retry there, and all retries together.
    let mut last = vec![0.0; longest as usize + 1];
    let mut all = last.clone();
    last[0] = 1.0;
    for range in &ranges {
        last = folded(&last, cells(range.shortest) as usize, cells(range.longest) as usize);
        for (all, last) in all.iter_mut().zip(&last) {
            *all += last;
        }
    }
    let windows = all.chunks(cells(WINDOW) as usize).map(|window| window.iter().sum::<f64>());
    Some(windows.fold(0.0, f64::max) * f64::from(clients))
}

fn cells(span: Span) -> u64 {
    span.as_ns() / CELL.as_ns()
}

/// A distribution over cells, with a wait added that is uniform from `from` to below `to`, or `from` if that is the same.
fn folded(shares: &[f64], from: usize, to: usize) -> Vec<f64> {
    let width = (to - from).max(1);
    let mut sums = Vec::with_capacity(shares.len() + 1);
    sums.push(0.0);
    for share in shares {
        sums.push(sums[sums.len() - 1] + share);
    }
    // What comes to a cell was in one of the `width` cells that are `from` or more before it.
    let before = |cell: usize| sums[cell.saturating_sub(from).min(shares.len())];
    (0..shares.len())
        .map(|cell| {
            let (first, end) = ((cell + 1).saturating_sub(width), cell + 1);
            (before(end) - before(first)) / width as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Backoff, CapOrder, Jitter};

    fn peak(backoff: Backoff, jitter: Jitter) -> Option<f64> {
        let schedule = Schedule::new(backoff, Span::from_s(30), CapOrder::BeforeJitter, jitter);
        retry_peak(&schedule, 4, 1_000)
    }

    fn doubling() -> Backoff {
        Backoff::Exponential { base: Span::from_s(1), factor: 2.0 }
    }

    /// Without jitter all are together. With full jitter the density of retries is 1 + t/2 + t^2/16 + t^3/384 per client
    /// and second before the first second is over, so that 15.34 % of the clients are in its last tenth. (An independent
    /// derivation.)
    #[test]
    fn jitter_spreads_what_is_together_without_it() {
        assert_eq!(peak(Backoff::Fixed(Span::from_s(1)), Jitter::None), Some(1_000.0));
        assert_eq!(peak(doubling(), Jitter::None), Some(1_000.0));
        let full = peak(doubling(), Jitter::Full).unwrap();
        let density = |t: f64| t + t * t / 4.0 + t * t * t / 48.0 + t * t * t * t / 1_536.0;
        let tenth = 1_000.0 * (density(1.0) - density(0.9));
        assert!((full - tenth).abs() < 0.3 && (full - 153.4).abs() < 0.3, "{full} {tenth}");
        // Half of the wait is fixed: the first retries are within half a second.
        let equal = peak(doubling(), Jitter::Equal).unwrap();
        assert!((equal - 200.0).abs() < 0.5, "{equal}");
    }

    /// Two retries at once, and four: no wait at all.
    #[test]
    fn without_waits_all_retries_are_in_one_window() {
        assert_eq!(peak(Backoff::None, Jitter::None), Some(4_000.0));
    }

    #[test]
    fn what_is_not_uniform_has_no_such_form() {
        let walk = Backoff::Decorrelated { base: Span::from_s(1), factor: 3.0 };
        assert_eq!(peak(walk, Jitter::None), None);
        let long = Backoff::Fixed(Span::from_s(600));
        let schedule = Schedule::new(long, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None);
        assert_eq!(retry_peak(&schedule, 4, 1_000), None, "forty minutes");
    }
}
