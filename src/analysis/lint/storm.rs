//! What calls do when their callee fails: how many attempts they make, what holds them back, and what becomes of them
//! at a service that gets more than it can do.

use crate::analysis::Course;
use crate::analysis::course::{Failing, attempts_at_most};
use crate::analysis::holding::Times;
use crate::analysis::lint::subject::{Crowd, Subject};
use crate::analysis::worst_case::share;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId, Capacity, DropRule, Order, Origin, Service, ServiceId};
use crate::policy::Position;
use crate::time::Span;

/// A call that tries again when it has waited in vain, and that nothing holds back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impatient {
    /// Which.
    pub call: CallId,
    /// How long a service may take until it has given up.
    pub patience_s: f64,
}

impl Impatient {
    /// Whether it still waits after this time. An answer at the very end is in time.
    pub fn bears(self, stay_s: f64) -> bool {
        // Sums of decimal fractions are off by some units in the last place.
        stay_s <= self.patience_s * (1.0 + 1e-9)
    }
}

/// Whether anything but the number of attempts keeps a call, or those that would come after it, from retrying.
pub fn is_held_back(call: &Call) -> bool {
    call.budget.is_some() || call.is_guarded()
}

/// Whether a breaker is asked before each of its attempts. One that stands outside keeps calls from beginning, and lets
/// those retry as they like that have begun.
pub fn has_breaker_inside(call: &Call) -> bool {
    call.breaker.as_deref().is_some_and(|guard| guard.rule.position == Position::Inside)
}

impl Subject<'_> {
    /// The call in whose place a fallback is made, when that has failed.
    pub fn stood_in_for(&self, id: CallId) -> Option<CallId> {
        self.calls().find(|(_, other)| other.fallback == Some(id)).map(|(id, _)| id)
    }

    /// How often a call is made while nothing fails; a fallback, while that fails in whose place it is made.
    pub fn made(&self, id: CallId) -> Crowd {
        let plan = self.plan;
        let call = &plan.calls[id.index()];
        if let Some(stood_in_for) = self.stood_in_for(id) {
            return self.made(stood_in_for);
        }
        let (crowd, times) = match call.origin {
            Origin::Group(group) => {
                let group = &plan.groups[group.index()];
                let bounds = [0].into_iter().chain(group.choices.iter().map(|(upper, _)| *upper));
                let chosen = bounds.zip(&group.choices).find(|(_, (_, chosen))| *chosen == id);
                let share = chosen.map_or(0.0, |(lower, (upper, _))| share(*upper) - share(lower));
                (Crowd::of(&group.arrivals, group.clients), share)
            }
            Origin::Service(service) => (self.crowd(service), f64::from(call.copies) * share(call.probability)),
        };
        Crowd { clients: crowd.clients * times, per_second: crowd.per_second * times }
    }

    /// How many attempts a call makes at most: as many as its policy allows, as it tries again after any error, and as
    /// begin in its time. None without a limit.
    pub fn attempts(&self, id: CallId) -> Option<u32> {
        attempts_at_most(self.plan, id, self.paths.deadlines[id.index()])
    }

    /// How a call goes in the time that it has.
    pub fn course(&self, id: CallId, failing: Failing) -> Course {
        Course::of(self.plan, id, failing, self.paths.deadlines[id.index()])
    }

    /// By call: whether it is to this service, or to one that calls it, be it by way of others.
    pub fn leads_to(&self, service: ServiceId) -> Vec<bool> {
        let mut by_target = vec![Vec::new(); self.plan.services.len()];
        for (id, call) in self.calls() {
            by_target[call.target.index()].push(id);
        }
        let mut leads = vec![false; self.plan.calls.len()];
        let mut next = vec![service];
        while let Some(target) = next.pop() {
            // What has been seen has no callers left.
            for id in std::mem::take(&mut by_target[target.index()]) {
                leads[id.index()] = true;
                if let Origin::Service(caller) = self.plan.calls[id.index()].origin {
                    next.push(caller);
                }
            }
        }
        leads
    }

    /// The calls that try again after a timeout, with nothing to hold them back; who waits for the shortest time first.
    pub fn impatient(&self) -> Vec<Impatient> {
        let calls = self.retrying().filter(|(id, call, policy)| {
            // Calls that go on without an end need no others to begin.
            let is_endless =
                policy.max_attempts == u32::MAX && self.time_limit(*id).min(policy.max_elapsed) >= Span::LIMIT;
            let is_let_on = is_endless && call.budget.is_none() && call.throttle.is_none() && !has_breaker_inside(call);
            (is_let_on || !is_held_back(call))
                && call.timeout.after < Span::LIMIT
                && policy.retries_untold(ErrorKind::Timeout)
                && self.course(*id, Failing::Silently).most.is_none_or(|most| most > 1)
        });
        let waits = calls.map(|(call, Call { timeout, network, .. }, _)| Impatient {
            call,
            patience_s: (timeout.after.as_s() - 2.0 * network.mean_ns() / 1e9).max(0.0),
        });
        let mut waits: Vec<Impatient> = waits.collect();
        waits.sort_by(|a, b| a.patience_s.total_cmp(&b.patience_s));
        waits
    }

    /// The first of these calls that leads to a service.
    pub fn first_to(&self, service: ServiceId, calls: &[Impatient]) -> Option<Impatient> {
        let leads = self.leads_to(service);
        calls.iter().copied().find(|impatient| leads[impatient.call.index()])
    }
}

/// How long what is served at a service has been there by then, at most, when more arrives than it can do: on average
/// over service times, and as if the balancer were fair and those that it calls were not busy. Infinite if nothing
/// limits its queue, or how many slow each other down.
pub fn longest_stay_s(service: &Service, Times { worker_s, answer_s }: Times) -> f64 {
    let Capacity { instances, workers, queue, max_in_flight, limiter, contention, .. } = &service.capacity;
    let own_s = service.service_time.mean_ns() / 1e9;
    // Nobody is served who will have given up by then; but the rule knows only of the service's own work.
    if answer_s <= 0.0 || queue.drop_rule == DropRule::DeadlineAware && answer_s <= own_s {
        return 0.0;
    }
    let limit = |count: u32| if count == Capacity::NO_LIMIT { f64::INFINITY } else { f64::from(count) };
    let in_flight = limit(*max_in_flight) / f64::from(*instances);
    let at_once = limit(*workers).min(in_flight).max(1.0);
    let above_knee = (at_once - f64::from(contention.knee)).max(0.0);
    let slower = if contention.slope > 0.0 && above_knee > 0.0 { contention.slope * above_knee } else { 0.0 };
    let (worker_s, service_s) = (worker_s + own_s * slower, answer_s + own_s * slower);
    let limiter_keeps_it_empty = limiter.per_second().is_some_and(|rate| rate * worker_s <= at_once);
    // Who came last is served at once: those who wait for long are those who are not served.
    let is_first_in_first_out = queue.order == Order::Fifo;
    if *workers == Capacity::NO_LIMIT || limiter_keeps_it_empty || !is_first_in_first_out {
        return service_s;
    }
    let places = limit(queue.limit).min((in_flight - at_once).max(0.0));
    let wait_s = if worker_s > 0.0 { places * worker_s / at_once } else { 0.0 };
    match &queue.drop_rule {
        // What has waited longer than that is shed.
        DropRule::Codel(codel) => wait_s.min(2.0 * codel.target.as_s()) + service_s,
        // What has not expired by its turn may have by its end.
        DropRule::Never | DropRule::Expired | DropRule::DeadlineAware => wait_s + service_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::Dist;
    use crate::plan::{Contention, Effects, Queue};
    use crate::policy::{Codel, Limiter};

    fn stay_s(capacity: Capacity) -> f64 {
        with_calls_s(capacity, Times { worker_s: 0.025, answer_s: 0.025 })
    }

    fn with_calls_s(capacity: Capacity, times: Times) -> f64 {
        let service_time = Dist::Constant(Span::from_ms(25));
        let service = Service { service_time, steps: 0..0, capacity, effects: Effects::NONE };
        libm::round(longest_stay_s(&service, times) * 1e6) / 1e6
    }

    fn queue(limit: u32, order: Order, drop_rule: DropRule) -> Capacity {
        Capacity { workers: 4, queue: Queue { limit, order, drop_rule }, ..Capacity::UNLIMITED }
    }

    /// Four workers at 25 ms: a queue of 28 is served within 175 ms, and takes another 25 ms.
    #[test]
    fn a_queue_keeps_what_it_has_places_for() {
        let fifo = |limit| stay_s(queue(limit, Order::Fifo, DropRule::Never));
        assert_eq!((fifo(28), fifo(Capacity::NO_LIMIT)), (0.2, f64::INFINITY));
        let all =
            Capacity { max_in_flight: 64, instances: 2, ..queue(Capacity::NO_LIMIT, Order::Fifo, DropRule::Never) };
        assert_eq!(stay_s(all), 0.2, "32 at each server, 4 of them at work");
        assert_eq!(stay_s(Capacity::UNLIMITED), 0.025);
    }

    /// Dropping what has expired leaves what expires soon; the other rules serve what somebody waits for.
    #[test]
    fn what_is_served_is_fresh_by_some_rules() {
        let unlimited = |order, drop_rule| stay_s(queue(Capacity::NO_LIMIT, order, drop_rule));
        assert_eq!(unlimited(Order::Fifo, DropRule::Expired), f64::INFINITY);
        assert_eq!(unlimited(Order::Fifo, DropRule::DeadlineAware), 0.0);
        assert_eq!(unlimited(Order::Lifo, DropRule::Never), 0.025);
        let codel = Codel { target: Span::from_ms(5), interval: Span::from_ms(100) };
        assert_eq!(unlimited(Order::Fifo, DropRule::Codel(codel)), 0.035);
    }

    /// 50 ms of calls on top: seven rounds of 75 ms and one more, or of 25 ms if workers do not wait for them.
    #[test]
    fn calls_are_waited_for_by_whoever_keeps_its_worker() {
        let fifo = || queue(28, Order::Fifo, DropRule::Never);
        assert_eq!(with_calls_s(fifo(), Times { worker_s: 0.075, answer_s: 0.075 }), 0.6);
        assert_eq!(with_calls_s(fifo(), Times { worker_s: 0.025, answer_s: 0.075 }), 0.25);
        // The rule leaves 25 ms for what takes three times as long.
        let aware = queue(Capacity::NO_LIMIT, Order::Fifo, DropRule::DeadlineAware);
        assert_eq!(with_calls_s(aware, Times { worker_s: 0.075, answer_s: 0.075 }), f64::INFINITY);
    }

    /// 160 per second are what the workers can do; with 0.1 more per busy worker above the second it is 133.
    #[test]
    fn a_limiter_below_what_the_workers_can_do_keeps_the_queue_empty() {
        let limited = |rate, contention| {
            let limiter = Limiter::TokenBucket { rate, burst: 1 };
            let fifo = queue(Capacity::NO_LIMIT, Order::Fifo, DropRule::Never);
            stay_s(Capacity { limiter, contention, ..fifo })
        };
        assert_eq!([160.0, 161.0].map(|rate| limited(rate, Contention::NONE)), [0.025, f64::INFINITY]);
        let contention = Contention { knee: 2, slope: 0.1 };
        assert_eq!([133.0, 134.0].map(|rate| limited(rate, contention)), [0.03, f64::INFINITY]);
    }
}
