//! How long requests keep places of services while nothing goes wrong, and what that leaves of a capacity.
//!
//! Who waits for its own calls keeps its worker meanwhile, unless the service says otherwise: then what it can do is up
//! to those that it calls. The least mean time that they need gives a bound.

use crate::analysis::answers::Quickest;
use crate::analysis::graph::Graph;
use crate::analysis::worst_case::share;
use crate::plan::{Call, CallId, Capacity, Origin, Plan, ServiceId};

/// The least mean times of all services.
///
/// Nobody waits in a queue, and nothing fails but what takes longer than its own limit, as if its time did not vary.
/// Where several answers come and the first of them are enough, and where a result may be known already, it is the
/// least time and not the mean that counts.
pub(super) struct Holding {
    /// By service.
    times: Vec<Times>,
}

/// Mean times of a request at a service, from its turn on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    /// It keeps its worker.
    pub worker_s: f64,
    /// It is answered.
    pub answer_s: f64,
}

impl Holding {
    pub fn of(plan: &Plan) -> Self {
        let mut quickest = Quickest::new(plan);
        let mut times = vec![Times { worker_s: 0.0, answer_s: 0.0 }; plan.services.len()];
        for origin in Graph::of(plan).callers_first(plan).into_iter().rev() {
            let Origin::Service(id) = origin else { continue };
            let own_s = plan.services[id.index()].service_time.mean_ns() / 1e9;
            let mut of_call = |&call: &CallId| call_s(plan, &plan.calls[call.index()], &times, &mut quickest);
            // The mean of the longest is at least the longest mean.
            let steps = plan.steps_of(id).map(|calls| calls.iter().map(&mut of_call).fold(0.0, f64::max));
            let answer_s = own_s + steps.sum::<f64>();
            let keeps_worker = plan.services[id.index()].capacity.holds_worker;
            times[id.index()] = Times { worker_s: if keeps_worker { answer_s } else { own_s }, answer_s };
        }
        Self { times }
    }

    pub fn times(&self, service: ServiceId) -> Times {
        self.times[service.index()]
    }

    /// What a service can do per second at the most; none where nothing limits it, and where it may know results
    /// without making its calls.
    pub fn capacity_at_most_rps(&self, plan: &Plan, id: ServiceId) -> Option<f64> {
        let service = &plan.services[id.index()];
        if service.effects.store.is_some() {
            return None;
        }
        let Capacity { instances, max_in_flight, limiter, contention, .. } = &service.capacity;
        let instances = f64::from(*instances);
        let workers = service.capacity.all_workers().map(|workers| workers as f64);
        let in_flight = Some(*max_in_flight).filter(|&limit| limit != Capacity::NO_LIMIT).map(f64::from);
        let at_work = workers.into_iter().chain(in_flight).reduce(f64::min);
        // The more are at work at once the slower each, but the more is done by all of them.
        let above_knee = at_work.map_or(0.0, |all| (all / instances - f64::from(contention.knee)).max(0.0));
        let slower_s = service.service_time.mean_ns() / 1e9 * contention.slope * above_knee;
        let Times { worker_s, answer_s } = self.times(id);
        let rate = |places: f64, each_s: f64| (each_s > 0.0).then(|| places / each_s);
        let by_workers = workers.and_then(|workers| rate(workers, worker_s + slower_s));
        let by_flight = in_flight.and_then(|in_flight| rate(in_flight, answer_s + slower_s));
        let by_limiter = limiter.per_second().map(|limit| limit * instances);
        [by_workers, by_flight, by_limiter].into_iter().flatten().reduce(f64::min)
    }
}

/// How long a call keeps its caller.
fn call_s(plan: &Plan, call: &Call, times: &[Times], quickest: &mut Quickest<'_>) -> f64 {
    let Call { hedge, copies, required, timeout, total_timeout, probability, .. } = call;
    let may_be_faster =
        hedge.is_some() || required < copies || plan.services[call.target.index()].effects.store.is_some();
    let answer_s = if may_be_faster {
        quickest.answer(call).as_s()
    } else {
        2.0 * call.network.mean_ns() / 1e9 + times[call.target.index()].answer_s
    };
    answer_s.min(timeout.after.as_s()).min(total_timeout.after.as_s()) * share(*probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Overrides, Scenario};

    /// What an `app` of one worker and 10 ms of its own, which calls `a` for 30 ms and then `b` for 60 ms, can do per
    /// second at the most with these settings.
    fn app(set: &[&str]) -> Option<f64> {
        let text = r#"
            version = 1
            name = "holding"
            clients.web = { arrivals = { burst = {} }, calls.app = {} }
            services.app = { workers = 1, service_time = "10ms", calls = { a = {}, b = {} } }
            services.a.service_time = "30ms"
            services.b.service_time = "60ms"
        "#;
        let set = set.iter().map(|&set| set.to_owned()).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let scenario = Scenario::parse("holding", text, std::path::Path::new(""), &overrides);
        let plan = scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone();
        let rate = Holding::of(&plan).capacity_at_most_rps(&plan, ServiceId(0));
        // To a tenth per second.
        rate.map(|rate| (rate * 10.0).round() / 10.0)
    }

    /// 10 + 30 + 60 ms; in parallel 10 + 60 ms; with ways of 5 ms 110 ms.
    #[test]
    fn a_worker_is_kept_while_others_work_for_it() {
        assert_eq!(app(&[]), Some(10.0));
        assert_eq!(app(&[r#"services.app.call_order=[["a", "b"]]"#]), Some(14.3));
        assert_eq!(app(&[r#"services.app.calls.a.network="5ms""#]), Some(9.1));
        assert_eq!(app(&["services.app.workers=4", "services.app.instances=2"]), Some(80.0));
        let gives_back = "services.app.holds_worker=false";
        assert_eq!(app(&[gives_back]), Some(100.0));
        assert_eq!(app(&[gives_back, "services.app.max_in_flight=2"]), Some(20.0));
        assert_eq!(app(&[r#"services.app.workers="unlimited""#]), None);
        let limiter = "services.app.limiter={ token_bucket = { rate = 5, burst = 1 } }";
        assert_eq!(app(&[r#"services.app.workers="unlimited""#, limiter]), Some(5.0));
        // Two workers slow each other down, to 20 ms of their own.
        assert_eq!(app(&["services.app.workers=2", "services.app.contention={ knee = 1, slope = 1 }"]), Some(18.2));
    }

    /// Of what `b` adds to 40 ms: half of it, what is waited for it, 20 ms if the fastest of two is enough and the
    /// least is that; nothing that is known already.
    #[test]
    fn what_may_be_over_sooner_counts_for_less() {
        assert_eq!(app(&["services.app.calls.b.probability=0.5"]), Some(14.3));
        assert_eq!(app(&[r#"services.app.calls.b.timeout="40ms""#]), Some(12.5));
        assert_eq!(app(&["services.app.calls.b.optional=true"]), Some(10.0), "it is waited for all the same");
        let varies = r#"services.b.service_time={ uniform = { min = "20ms", max = "100ms" } }"#;
        assert_eq!(app(&[varies]), Some(10.0));
        let copies = ["services.app.calls.b.copies=2", "services.app.calls.b.required=1"];
        assert_eq!(app(&[varies, copies[0], copies[1]]), Some(16.7));
        assert_eq!(app(&[varies, copies[0]]), Some(10.0));
        assert_eq!(app(&[varies, r#"services.app.calls.b.hedge={ after = "30ms" }"#]), Some(16.7));
        assert_eq!(app(&[r#"services.b.idempotency_store={ ttl = "1h" }"#]), Some(25.0));
        assert_eq!(app(&[r#"services.app.idempotency_store={ ttl = "1h" }"#]), None);
    }
}
