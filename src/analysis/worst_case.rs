//! How much retries multiply load at most, and what that leaves of a capacity.

use serde::Serialize;

use crate::analysis::answers::{deadlines, waited_for};
use crate::analysis::attempt::hedges_at_most;
use crate::analysis::course;
use crate::analysis::graph::Graph;
use crate::plan::{Call, CallId, GroupId, Origin, Plan};
use crate::time::Span;

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

/// How many attempts arrive at each service for one request of a client group, if every call makes as many as its
/// policy allows and as have time: the product of the attempts along a path, added up over all paths. Of calls that are
/// made with a probability, or chosen by weight, it is the mean.
///
/// None if a call has no limit to its attempts; and where a budget limits them, since then it does, and not the policy.
pub fn attempts_at_most(plan: &Plan, group: GroupId) -> Option<Vec<f64>> {
    mean_at_most(plan, group).into_iter().collect()
}

/// As [`attempts_at_most`], where nothing is told only of the services that it cannot be told of.
pub(super) fn mean_at_most(plan: &Plan, group: GroupId) -> Vec<Option<f64>> {
    let mut most = Most::new(plan);
    let attempts = |id, call: &Call| if call.budget.is_some() { f64::INFINITY } else { most.of(id) };
    let arrivals = arrivals(plan, &mean_choice(plan, group), attempts, |call| share(call.probability));
    arrivals.into_iter().map(limited).collect()
}

/// How many attempts arrive at each service for one request of a client group at the very most: of calls that are made
/// with a probability as if they were, of calls that are chosen by weight the choice that makes the most, and of calls
/// with a budget as if that refused nothing. None where there is no limit.
pub(super) fn attempts_of_one(plan: &Plan, group: GroupId) -> Vec<Option<f64>> {
    let mut calls = Most::new(plan);
    let mut most = vec![0.0; plan.services.len()];
    let choices = mean_choice(plan, group).into_iter().filter(|&(_, weight)| weight > 0.0);
    for (choice, _) in choices {
        let is_made = |call: &Call| f64::from(u8::from(call.probability > 0));
        let attempts = arrivals(plan, &[(choice, 1.0)], |id, _| calls.of(id), is_made);
        for (most, attempts) in most.iter_mut().zip(attempts) {
            *most = f64::max(*most, attempts);
        }
    }
    most.into_iter().map(limited).collect()
}

/// How many attempts arrive at each service for one request of a client group while nothing fails, and no hedge is
/// sent.
pub fn attempts_once(plan: &Plan, group: GroupId) -> Vec<f64> {
    // What is only called in the place of another.
    let spare: Vec<CallId> = plan.calls.iter().filter_map(|call| call.fallback).collect();
    let once = |id, _: &Call| if spare.contains(&id) { 0.0 } else { 1.0 };
    arrivals(plan, &mean_choice(plan, group), once, |call| share(call.probability))
}

/// How many attempts calls make each time at most, with their hedges; infinite without a limit.
struct Most<'a> {
    plan: &'a Plan,
    deadlines: Vec<Span>,
    /// By call, as far as it has been asked for.
    known: Vec<Option<f64>>,
}

impl<'a> Most<'a> {
    fn new(plan: &'a Plan) -> Self {
        let deadlines = deadlines(plan, &Graph::of(plan));
        Self { plan, deadlines, known: vec![None; plan.calls.len()] }
    }

    fn of(&mut self, id: CallId) -> f64 {
        if let Some(known) = self.known[id.index()] {
            return known;
        }
        let deadline = self.deadlines[id.index()];
        let call = &self.plan.calls[id.index()];
        let hedges = hedges_at_most(call, waited_for(call, deadline));
        let attempts = course::attempts_at_most(self.plan, id, deadline).map_or(f64::INFINITY, f64::from);
        let attempts = attempts * (1.0 + f64::from(hedges));
        self.known[id.index()] = Some(attempts);
        attempts
    }
}

fn limited(attempts: f64) -> Option<f64> {
    attempts.is_finite().then_some(attempts)
}

/// The calls that a request of a group begins with, and how likely each is.
fn mean_choice(plan: &Plan, group: GroupId) -> Vec<(CallId, f64)> {
    let mut bound = 0;
    let choices = plan.groups[group.index()].choices.iter();
    let choice = |&(upper, call)| {
        let weight = share(upper) - share(bound);
        bound = upper;
        (call, weight)
    };
    choices.map(choice).collect()
}

/// How many attempts arrive at each service for a request that begins with these calls, where each time that a call is
/// made it makes so many, and its caller makes it with such a probability.
fn arrivals(
    plan: &Plan,
    chosen: &[(CallId, f64)],
    mut attempts: impl FnMut(CallId, &Call) -> f64,
    probability: impl Fn(&Call) -> f64,
) -> Vec<f64> {
    let graph = Graph::of(plan);
    let mut arrivals = vec![0.0; plan.services.len()];
    let mut arrive = |arrivals: &mut [f64], id: CallId, made: f64| {
        let call = &plan.calls[id.index()];
        // No call has no limit to nothing.
        if made > 0.0 {
            arrivals[call.target.index()] += made * attempts(id, call);
        }
    };
    for &(id, weight) in chosen {
        arrive(&mut arrivals, id, weight);
    }
    for origin in graph.callers_first(plan) {
        let Origin::Service(service) = origin else { continue };
        for &id in graph.made_by(origin) {
            let first = &plan.calls[graph.first_of(id).index()];
            let made = arrivals[service.index()] * f64::from(first.copies);
            // Infinitely many of which none is made are none.
            let probability = probability(first);
            if probability > 0.0 {
                arrive(&mut arrivals, id, made * probability);
            }
        }
    }
    arrivals
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
pub(super) fn share(units: u64) -> f64 {
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

    /// Of each arrival at the api two copies fail three times each, and each of them is made up for by the cache, which
    /// is tried once: in half of the cases.
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

    /// What has no limit has none below it; elsewhere there is one.
    #[test]
    fn a_call_without_a_limit_matters_to_what_it_reaches() {
        let mut endless = plan("");
        let disk = endless.labels.calls.iter().position(|call| call == "cache->disk").expect("it is there");
        endless.calls[disk].policy = endless.calls.last().expect("that of what nobody calls").policy;
        let most = [Some(3.0), Some(9.0), Some(6.0), None, Some(0.0)];
        assert_eq!(mean_at_most(&endless, GroupId(0)), most);
        assert_eq!(attempts_of_one(&endless, GroupId(0)), most);
        // A call that is made in half of the cases, as if it always were.
        assert_eq!(attempts_of_one(&plan(""), GroupId(0))[3], Some(33.0));
    }

    /// Of two calls that are chosen by weight the one that makes more.
    #[test]
    fn one_request_makes_one_call() {
        let text = r#"
            version = 1
            name = "choice"
            clients.web.arrivals = { burst = { at = "0s" } }
            clients.web.calls.api = { weight = 1, retry = "thrice" }
            clients.web.calls.db = { weight = 3 }
            services.api.calls.db = {}
            services.db = {}
            retries.thrice = { max_attempts = 3 }
            "#;
        let scenario = Scenario::parse("choice", text, Path::new(""), &Overrides::default());
        let plan = &scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone();
        assert_eq!(attempts_of_one(plan, GroupId(0)), [Some(3.0), Some(3.0)]);
        assert_eq!(attempts_at_most(plan, GroupId(0)), Some(vec![0.75, 0.75 + 0.75]));
    }
}
