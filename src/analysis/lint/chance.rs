//! How likely an answer takes longer than so long, where nothing is wrong.

use crate::analysis::success::mean_attempts;
use crate::plan::{Call, Plan};
use crate::time::Span;

/// The share of attempts that a callee answers later than after `limit`, at least: of services that call nobody, by
/// their service time, for one alone at a server, and the shortest way there and back. None of others: what they wait for has no one distribution.
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
    // Those that are longer than the limit when contention has stretched them.
    let limit = (limit - ways).as_ns() as f64 / service.capacity.contention.factor(1);
    Some(service.service_time.share_above(Span::from_ns(limit as u64)))
}

/// How many attempts a request makes in the mean, if each fails by itself with this chance, out of so many at most.
/// Without a limit of attempts (`u32::MAX`) and without a success it has no end.
pub fn attempts(failing: f64, max: u32) -> f64 {
    mean_attempts(failing, (max != u32::MAX).then(|| u64::from(max))).unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    /// A service that takes 20 ms, or 40 ms where one alone is slowed down to half; the way takes 1 ms each.
    #[test]
    fn one_alone_may_be_slowed_down() {
        let text = |knee: u32| {
            format!(
                "version = 1\nname = \"slower\"\nclients.app.arrivals = {{ burst = {{ at = \"0s\" }} }}\n\
                 clients.app.calls.db = {{ network = \"1ms\" }}\n\
                 services.db = {{ service_time = \"20ms\", contention = {{ knee = {knee}, slope = 1.0 }} }}\n"
            )
        };
        for (knee, takes_ms) in [(0, 42), (1, 22)] {
            let scenario = Scenario::parse("slower", &text(knee), Path::new(""), &Overrides::default());
            let plan = scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone();
            let takes = Span::from_ms(takes_ms);
            let share = |limit| slower(&plan, &plan.calls[0], limit);
            assert_eq!([share(takes - Span::from_ns(1)), share(takes)], [Some(1.0), Some(0.0)], "{knee}");
        }
    }

    #[test]
    fn no_limit_is_the_largest_number() {
        assert_eq!(attempts(0.5, 3), 1.75);
        assert_eq!(attempts(0.5, u32::MAX), 2.0);
        assert_eq!(attempts(1.0, u32::MAX), f64::INFINITY);
    }
}
