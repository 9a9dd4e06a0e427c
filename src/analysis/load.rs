//! What services have to do when every attempt fails, against what they can do.

use serde::Serialize;

use crate::analysis::attempts_once;
use crate::analysis::holding::Holding;
use crate::analysis::worst_case::{attempts_of_one, mean_at_most};
use crate::plan::{Arrivals, Group, GroupId, Piece, Plan, ServiceId};
use crate::time::Instant;

/// How what has to be done stands to what can be done. It compares rates in the long run: not what faults do to a
/// capacity, nor timeouts that are shorter than the work, nor the waits before retries, nor what breakers and throttles
/// hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It can do more than arrives even if every attempt fails: what waits for it becomes less again.
    Stable,
    /// It can do more than what is asked of it, but not more than with all the retries: something may bring it down,
    /// and they keep it there.
    Vulnerable,
    /// It cannot do more than what is asked of it even if nothing fails.
    Overloaded,
}

/// A service and its load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServiceLoad {
    /// The service.
    pub service: String,
    /// What it can do per second; none without a limit, and where that is up to those that it calls.
    pub capacity_rps: Option<f64>,
    /// What it can do per second at the most, where that is up to those that it calls: as long as they answer as fast
    /// as they can; none without a limit.
    pub capacity_at_most_rps: Option<f64>,
    /// What arrives per second while nothing fails and no load fault is there, when it is the most; none where clients
    /// come in bursts, or in other ways without a rate.
    pub offered_rps: Option<f64>,
    /// What arrives per second then if every attempt fails; none without a rate, without a limit to attempts, or where
    /// a budget limits them.
    pub failing_rps: Option<f64>,
    /// How it stands; none where that cannot be told.
    pub standing: Option<Standing>,
    /// The client groups whose requests may come to it.
    pub clients: Vec<AttemptsOfClient>,
}

/// How many attempts at a service one request of a client group makes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptsOfClient {
    /// The group.
    pub client: String,
    /// At the most, over all paths; none without a limit. Retry budgets are not looked at.
    pub at_most: Option<f64>,
}

/// Every service of a plan.
pub fn loads(plan: &Plan) -> Vec<ServiceLoad> {
    let ids = || (0..plan.groups.len() as u32).map(GroupId);
    let once: Vec<Vec<f64>> = ids().map(|group| attempts_once(plan, group)).collect();
    let failing: Vec<Vec<Option<f64>>> = ids().map(|group| mean_at_most(plan, group)).collect();
    let of_one: Vec<Vec<Option<f64>>> = ids().map(|group| attempts_of_one(plan, group)).collect();
    let rates = Rates::of(plan);
    let holding = Holding::of(plan);
    let load = |(at, name): (usize, &String)| {
        let capacity_rps = plan.services[at].capacity_rps();
        let at_most = || holding.capacity_at_most_rps(plan, ServiceId(at as u32));
        let capacity_at_most_rps = if capacity_rps.is_none() { at_most() } else { None };
        let offered_rps = rates.highest(once.iter().map(|services| Some(services[at])));
        let failing_rps = rates.highest(failing.iter().map(|services| services[at]));
        let clients = plan.labels.groups.iter().zip(&of_one).map(|(name, services)| (name, services[at]));
        let clients = clients.filter(|(_, at_most)| *at_most != Some(0.0));
        let clients = clients.map(|(client, at_most)| AttemptsOfClient { client: client.clone(), at_most });
        ServiceLoad {
            service: name.clone(),
            capacity_rps,
            capacity_at_most_rps,
            offered_rps,
            failing_rps,
            standing: standing(capacity_rps, capacity_at_most_rps, offered_rps, failing_rps),
            clients: clients.collect(),
        }
    };
    plan.labels.services.iter().enumerate().map(load).collect()
}

/// At its very capacity a service is not stable: what has once begun to wait never becomes less, and where arrivals or
/// service times vary it grows without a limit. Where only a bound of the capacity is known, nothing is stable.
fn standing(
    capacity: Option<f64>,
    at_most: Option<f64>,
    offered: Option<f64>,
    failing: Option<f64>,
) -> Option<Standing> {
    // Products and quotients of decimal fractions are off by some units in the last place.
    let bound = capacity.or(at_most)? * (1.0 - 1e-9);
    if offered? >= bound {
        return Some(Standing::Overloaded);
    }
    if failing? >= bound {
        return Some(Standing::Vulnerable);
    }
    capacity.map(|_| Standing::Stable)
}

/// The rates of all client groups over time.
struct Rates {
    /// By group; none where its requests have no rate of their own.
    flows: Vec<Option<Flow>>,
    /// Where a rate jumps or bends.
    instants: Vec<Instant>,
}

/// The rate of a group's requests, per second.
struct Flow {
    from: Instant,
    until: Instant,
    /// As those of a profile.
    pieces: Vec<Piece>,
}

impl Rates {
    fn of(plan: &Plan) -> Self {
        let flows: Vec<Option<Flow>> = plan.groups.iter().map(|group| Flow::of(group, plan.horizon)).collect();
        let bends = |flow: &Flow| {
            let pieces = flow.pieces.iter().map(|piece| piece.from);
            pieces.chain([flow.from, flow.until]).collect::<Vec<_>>()
        };
        let mut instants: Vec<Instant> = flows.iter().flatten().flat_map(bends).collect();
        instants.sort_unstable();
        instants.dedup();
        Self { flows, instants }
    }

    /// The highest sum of the rates, each as often as is said of its group; none if that is not said of one that
    /// counts, or it has no rate. Between bends sums are straight lines.
    fn highest(&self, attempts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
        let counting = self.flows.iter().zip(attempts).filter(|(_, attempts)| *attempts != Some(0.0));
        let flows: Vec<(&Flow, f64)> =
            counting.map(|(flow, attempts)| Some((flow.as_ref()?, attempts?))).collect::<Option<_>>()?;
        let sums = self.instants.iter().map(|&at| {
            let sum = |rate: fn(&Flow, Instant) -> f64| flows.iter().map(|(flow, n)| rate(flow, at) * n).sum::<f64>();
            f64::max(sum(Flow::before), sum(Flow::at))
        });
        Some(sums.fold(0.0, f64::max))
    }
}

impl Flow {
    fn of(group: &Group, horizon: Option<Instant>) -> Option<Self> {
        let even = |rate| vec![Piece { from: group.from, rate, slope: 0.0 }];
        let pieces = match &group.arrivals {
            Arrivals::Constant { rate } => even(*rate),
            Arrivals::Poisson(profile) => profile.pieces().to_vec(),
            Arrivals::Periodic { every, .. } => even(f64::from(group.clients) / every.as_s()),
            Arrivals::Burst { .. } | Arrivals::Trace(_) | Arrivals::Closed { .. } => return None,
        };
        let until = horizon.map_or(group.until, |horizon| horizon.min(group.until));
        Some(Self { from: group.from, until, pieces })
    }

    /// From this instant on.
    fn at(&self, at: Instant) -> f64 {
        if at < self.from || at >= self.until {
            return 0.0;
        }
        self.of_piece(self.pieces.partition_point(|piece| piece.from <= at), at)
    }

    /// Up to this instant.
    fn before(&self, at: Instant) -> f64 {
        if at <= self.from || at > self.until {
            return 0.0;
        }
        self.of_piece(self.pieces.partition_point(|piece| piece.from < at), at)
    }

    /// In the last of so many pieces that have begun.
    fn of_piece(&self, begun: usize, at: Instant) -> f64 {
        let piece = begun.checked_sub(1).map(|last| &self.pieces[last]);
        piece.map_or(0.0, |piece| piece.rate + piece.slope * at.since(piece.from).as_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Overrides, Scenario};

    /// These clients, services a to c of 10 workers each, which take 100 ms, so that they can do 100/s, and a policy
    /// with three attempts.
    fn loads_of(clients: &str, settings: &str) -> Vec<ServiceLoad> {
        let service = "{ workers = 10, service_time = \"100ms\" }";
        let text = format!(
            "version = 1\nname = \"load\"\nservices.a = {service}\nservices.b = {service}\nservices.c = {service}\n\
             {settings}\n{clients}\n[retries.thrice]\nmax_attempts = 3\n"
        );
        let scenario = Scenario::parse("load", &text, std::path::Path::new(""), &Overrides::default());
        loads(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1)
    }

    fn told(load: &ServiceLoad) -> (Option<f64>, Option<f64>, Option<Standing>) {
        (load.offered_rps, load.failing_rps, load.standing)
    }

    const HORIZON: &str = "horizon = \"100s\"";

    fn group(name: &str, arrivals: &str, call: &str) -> String {
        format!("[clients.{name}]\narrivals = {{ {arrivals} }}\ncalls.{call}\n")
    }

    /// One group has no rate: what it does not come to can be told nevertheless.
    #[test]
    fn what_can_be_told_is_told_service_by_service() {
        let clients = group("steady", "constant = { rate = 40 }", "a = { retry = \"thrice\" }")
            + &group("looping", "closed = { think = \"1s\" }", "b = {}")
            + "[clients.timers]\ncount = 1200\narrivals.periodic = { every = \"60s\" }\ncalls.c = {}\n";
        let [a, b, c] = &loads_of(&clients, HORIZON)[..] else { panic!("three services") };
        assert_eq!(told(a), (Some(40.0), Some(120.0), Some(Standing::Vulnerable)));
        assert_eq!(told(b), (None, None, None));
        assert_eq!(told(c), (Some(20.0), Some(20.0), Some(Standing::Stable)));
        assert_eq!(b.clients, [AttemptsOfClient { client: "looping".to_owned(), at_most: Some(1.0) }]);
    }

    #[test]
    fn what_has_no_limit_or_a_budget_is_not_told_where_it_arrives() {
        let unlimited = "[retries.ever]\nmax_attempts = \"unlimited\"\nbackoff = { fixed = \"1s\" }\n\
                         [retries.thrifty]\nmax_attempts = 3\n\
                         budget = { token_bucket = { max = 10, per_success = 0.1 } }\n";
        let clients = unlimited.to_owned()
            + &group("one", "constant = { rate = 40 }", "a = { retry = \"ever\" }")
            + &group("two", "constant = { rate = 110 }", "b = { retry = \"thrifty\" }")
            + &group("three", "constant = { rate = 10 }", "c = { retry = \"thrice\" }");
        let [a, b, c] = &loads_of(&clients, HORIZON)[..] else { panic!("three services") };
        assert_eq!((told(a), a.clients[0].at_most), ((Some(40.0), None, None), None));
        assert_eq!((told(b), b.clients[0].at_most), ((Some(110.0), None, Some(Standing::Overloaded)), Some(3.0)));
        assert_eq!(told(c), (Some(10.0), Some(30.0), Some(Standing::Stable)));
    }

    /// At the very capacity what waits never becomes less: neither is stable.
    #[test]
    fn a_load_that_is_equal_to_the_capacity_is_not_stable() {
        let clients = group("one", "constant = { rate = 100 }", "a = {}")
            + &group("two", "constant = { rate = 50 }", "b = { retry = \"twice\" }")
            + &group("three", "constant = { rate = 33.3 }", "c = { retry = \"thrice\" }")
            + "[retries.twice]\nmax_attempts = 2\n";
        let standings: Vec<_> = loads_of(&clients, HORIZON).iter().map(|load| load.standing).collect();
        let expected = [Standing::Overloaded, Standing::Vulnerable, Standing::Stable].map(Some);
        assert_eq!(standings, expected);
    }

    /// 60/s up to 10 s and 70/s from there on are never 130/s. A ramp to 80/s that ends at 30 s is cut off at 20 s by
    /// the window, where 40/s are on top of 70/s; and a horizon may cut that.
    #[test]
    fn only_what_comes_at_the_same_time_is_added() {
        let constant = |rate: u32| format!("constant = {{ rate = {rate} }}");
        let window = |from: u32, until: u32| format!("from = \"{from}s\"\nuntil = \"{until}s\"\n");
        let mut clients = group("one", &constant(60), "a = {}") + &window(0, 10);
        clients += &(group("two", &constant(70), "a = {}") + &window(10, 40));
        assert_eq!(loads_of(&clients, "")[0].offered_rps, Some(70.0));
        let ramp = "profile = [{ at = \"10s\", rate = 0 }, { at = \"30s\", rate = 80, ramp = true }]";
        clients += &(group("three", ramp, "a = {}") + &window(0, 20));
        assert_eq!(loads_of(&clients, "")[0].offered_rps, Some(110.0));
        assert_eq!(loads_of(&clients, "horizon = \"15s\"")[0].offered_rps, Some(90.0));
        assert_eq!(loads_of(&clients, "horizon = \"5s\"")[0].offered_rps, Some(60.0));
    }

    /// Its ten workers wait for 100 ms of `a` each time, and do nothing else: 100/s at the most.
    #[test]
    fn what_waits_for_others_has_a_bound() {
        let front = |rate: u32| {
            let settings = format!("{HORIZON}\nservices.front = {{ workers = 10, calls.a = {{}} }}");
            let clients = group("one", &format!("constant = {{ rate = {rate} }}"), "front = { retry = \"thrice\" }");
            let front = loads_of(&clients, &settings).into_iter().find(|load| load.service == "front");
            let front = front.expect("it is there");
            assert_eq!((front.capacity_rps, front.capacity_at_most_rps), (None, Some(100.0)));
            front.standing
        };
        assert_eq!(front(33), None, "it may be able to do less than that");
        assert_eq!([34, 99].map(front), [Some(Standing::Vulnerable); 2]);
        assert_eq!(front(100), Some(Standing::Overloaded));
    }

    /// A call that is made in half of the cases counts half on average, and once at the most.
    #[test]
    fn a_rate_is_a_mean_and_one_request_is_not() {
        let half = "services.front = { calls.a = { probability = 0.5, retry = \"thrice\" } }\n";
        let clients = group("one", "constant = { rate = 40 }", "front = {}");
        let all = loads_of(&clients, &format!("{HORIZON}\n{half}"));
        assert_eq!(
            (told(&all[0]), all[0].clients[0].at_most),
            ((Some(20.0), Some(60.0), Some(Standing::Stable)), Some(3.0))
        );
    }
}
