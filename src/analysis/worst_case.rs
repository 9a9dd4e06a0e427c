//! How much retries multiply load at most, and what that leaves of a capacity.

use serde::Serialize;

use crate::plan::{Call, CallId, GroupId, Origin, Plan, ServiceId};

/// How many requests per second a service can take when each makes as many attempts as it may.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Allowance {
    /// The service that takes the fewest.
    pub service: String,
    /// What it can do, per second.
    pub capacity_rps: f64,
    /// How many attempts a request makes there at most.
    pub attempts: f64,
}

impl Allowance {
    /// Requests per second.
    pub fn rate(&self) -> f64 {
        self.capacity_rps / self.attempts
    }
}

/// How many attempts arrive at each service for one request of a client group, if every call is made as often as its
/// policy allows: the product of the attempts along a path, added up over all paths. Of calls that are made with a
/// probability, or chosen by weight, it is the mean.
///
/// None if a call has no limit to its attempts; and where a budget limits them, since then it does, and not the policy.
pub fn attempts_at_most(plan: &Plan, group: GroupId) -> Option<Vec<f64>> {
    arrivals(plan, group, |_, call| {
        let attempts = plan.policies[call.policy.index()].max_attempts;
        let copies = call.hedge.as_ref().map_or(0, |hedge| hedge.copies);
        let is_limited = attempts != u32::MAX && call.budget.is_none();
        is_limited.then(|| f64::from(attempts) * (1.0 + f64::from(copies)))
    })
}

/// How many attempts arrive at each service for one request of a client group while nothing fails.
pub fn attempts_once(plan: &Plan, group: GroupId) -> Vec<f64> {
    // What is only called in the place of another.
    let spare: Vec<CallId> = plan.calls.iter().filter_map(|call| call.fallback).collect();
    let once = |id, _: &Call| Some(if spare.contains(&id) { 0.0 } else { 1.0 });
    arrivals(plan, group, once).expect("one attempt is a limit")
}

/// How many attempts arrive at each service for one request of a client group, where each time that a call is made it
/// makes so many. None as soon as one of them has no limit.
fn arrivals(plan: &Plan, group: GroupId, attempts: impl Fn(CallId, &Call) -> Option<f64>) -> Option<Vec<f64>> {
    let mut arrivals = vec![0.0; plan.services.len()];
    let mut made: Vec<f64> = vec![0.0; plan.calls.len()];
    let mut bound = 0;
    for &(upper, call) in &plan.groups[group.index()].choices {
        made[call.index()] += share(upper) - share(bound);
        bound = upper;
    }
    let mut waiting: Vec<usize> = vec![0; plan.services.len()];
    for call in &plan.calls {
        waiting[call.target.index()] += 1;
    }
    // A fallback is made in the place of each copy that has failed.
    let mut times: Vec<f64> = plan.calls.iter().map(|call| f64::from(call.copies) * share(call.probability)).collect();
    for (at, call) in plan.calls.iter().enumerate() {
        if let Some(fallback) = call.fallback {
            times[fallback.index()] = times[at];
        }
    }
    // Callers before those they call: the graph has no cycles.
    let mut ready: Vec<Origin> = (0..plan.groups.len() as u32).map(|id| Origin::Group(GroupId(id))).collect();
    let uncalled = waiting.iter().enumerate().filter(|(_, callers)| **callers == 0);
    ready.extend(uncalled.map(|(id, _)| Origin::Service(ServiceId(id as u32))));
    while let Some(origin) = ready.pop() {
        let calls = (0..).map(CallId).zip(&plan.calls).zip(&mut made).zip(&times);
        for (((id, call), made), times) in calls.filter(|(((_, call), _), _)| call.origin == origin) {
            if let Origin::Service(service) = origin {
                *made = arrivals[service.index()] * times;
            }
            let target = call.target.index();
            if *made > 0.0 {
                arrivals[target] += *made * attempts(id, call)?;
            }
            waiting[target] -= 1;
            if waiting[target] == 0 {
                ready.push(Origin::Service(call.target));
            }
        }
    }
    Some(arrivals)
}

/// What the service allows that is overloaded first when the requests of a group make all of their attempts; none if
/// no service has a capacity, or if attempts are limited otherwise.
pub fn allowance(plan: &Plan, group: GroupId) -> Option<Allowance> {
    let attempts = attempts_at_most(plan, group)?;
    let services = plan.services.iter().zip(&plan.labels.services).zip(attempts);
    let allowances = services.filter(|(_, attempts)| *attempts > 0.0).filter_map(|((service, name), attempts)| {
        Some(Allowance { service: name.clone(), capacity_rps: service.capacity_rps()?, attempts })
    });
    allowances.min_by(|a, b| a.rate().total_cmp(&b.rate()))
}

/// A share in units of 2^-64.
fn share(units: u64) -> f64 {
    if units == u64::MAX { 1.0 } else { units as f64 / 18_446_744_073_709_551_616.0 }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    fn plan(db: &str) -> Plan {
        let text = format!(
            r#"
            version = 1
            name = "chain"
            horizon = "1s"
            clients.web = {{ arrivals = {{ burst = {{ at = "0s" }} }}, calls.api = {{ retry = "thrice" }} }}
            services.api = {{ calls.db = {{ retry = "thrice" }}, calls.cache = {{ copies = 2 }} }}
            services.db = {{ calls.disk = {{ retry = "thrice", probability = 0.5 }}, workers = 4, service_time = "25ms" {db} }}
            services.cache = {{ calls.disk = {{}} }}
            services.disk = {{ workers = 1, service_time = "1ms" }}
            services.aside = {{ calls.disk = {{ retry = "ever" }} }}
            retries.thrice = {{ max_attempts = 3 }}
            retries.ever = {{ max_attempts = "unlimited", backoff = {{ fixed = "1s" }} }}
            "#
        );
        let scenario = Scenario::parse("chain", &text, Path::new(""), &Overrides::default());
        scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone()
    }

    /// api 3; db 3 x 3; cache 3 x 2 copies; disk 9 x 3 in half of the cases, and 6 from the cache. Of the two with a
    /// capacity db has 160 / 9 = 17.8/s to give, less than the disk with 1,000 / 19.5.
    #[test]
    fn attempts_multiply_along_paths_and_add_up_over_them() {
        let attempts = attempts_at_most(&plan(""), GroupId(0));
        assert_eq!(attempts, Some(vec![3.0, 9.0, 6.0, 19.5, 0.0]));
        let of = |db: &str| allowance(&plan(db), GroupId(0)).map(|found| (found.service, found.capacity_rps));
        assert_eq!(of(", holds_worker = false"), Some(("db".to_owned(), 160.0)));
        // While a worker of db waits for the disk, what db can do is up to that.
        assert_eq!(of(""), Some(("disk".to_owned(), 1_000.0)));
    }

    /// Of each arrival at the api two copies fail three times each, and each of them is made up for by the cache, which is
    /// tried once: in half of the cases.
    #[test]
    fn a_fallback_is_made_for_each_copy() {
        let text = r#"
            version = 1
            name = "spare"
            clients.web = { arrivals = { burst = { at = "0s" } }, calls.api = { retry = "thrice" } }
            services.api.calls.db = { retry = "thrice", copies = 2, probability = 0.5, if_failed = "spare" }
            services.api.calls.spare = { to = "cache" }
            services.db = {}
            services.cache = {}
            retries.thrice = { max_attempts = 3 }
            "#;
        let scenario = Scenario::parse("spare", text, Path::new(""), &Overrides::default());
        let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(attempts_at_most(&scenario.variants()[0].1, GroupId(0)), Some(vec![3.0, 9.0, 3.0]));
    }

    #[test]
    fn what_has_no_limit_or_another_one_allows_nothing_that_could_be_told() {
        let mut endless = plan("");
        let policy = endless.calls[0].policy;
        endless.policies[policy.index()].max_attempts = u32::MAX;
        assert_eq!(attempts_at_most(&endless, GroupId(0)), None);
        assert_eq!(allowance(&endless, GroupId(0)), None);
    }
}
