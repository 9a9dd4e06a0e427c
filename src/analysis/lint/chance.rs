//! How likely an answer takes longer than so long, where nothing is wrong.

use crate::analysis::success::mean_attempts;
use crate::plan::{Call, Plan};
use crate::time::Span;

/// The share of attempts that a callee answers later than after `limit`, at least: of services that call nobody, by
/// their service time and the shortest way there and back. None of others: what they wait for has no one distribution.
pub fn slower(plan: &Plan, call: &Call, limit: Span) -> Option<f64> {
    let service = &plan.services[call.target.index()];
    if !service.steps.is_empty() {
        return None;
    }
    let (way, _) = call.network.bounds();
    let ways = way + way;
    if ways > limit {
        return Some(1.0);
    }
    Some(service.service_time.share_above(limit - ways))
}

/// How many attempts a request makes in the mean, if each fails by itself with this chance, out of so many at most.
/// Without a limit of attempts (`u32::MAX`) and without a success it has no end.
pub fn attempts(failing: f64, max: u32) -> f64 {
    mean_attempts(failing, (max != u32::MAX).then(|| u64::from(max))).unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_the_largest_number() {
        assert_eq!(attempts(0.5, 3), 1.75);
        assert_eq!(attempts(0.5, u32::MAX), 2.0);
        assert_eq!(attempts(1.0, u32::MAX), f64::INFINITY);
    }
}
