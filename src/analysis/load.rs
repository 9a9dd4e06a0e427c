//! What services have to do when every attempt fails, against what they can do.

use serde::Serialize;

use crate::analysis::attempts_once;
use crate::analysis::worst_case::{attempts_of_one, mean_at_most};
use crate::plan::{Arrivals, Group, GroupId, Piece, Plan};
use crate::time::Instant;

/// How what has to be done stands to what can be done. It compares rates in the long run: not what faults do to a
/// capacity, nor timeouts that are shorter than the work, nor the waits before retries, nor what breakers and throttles
/// hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It can do more than arrives even if every attempt fails: what waits for it becomes less again.
    Stable,
    /// It can do more than what is asked of it, but not more than with all the retries: something may bring it down, and
    /// they keep it there.
    Vulnerable,
    /// It cannot do more than what is asked of it even if nothing fails.
    Overloaded,
}

/// A service and its load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServiceLoad {
    /// The service.
    pub service: String,
    /// What it can do per second; none without a limit.
    pub capacity_rps: Option<f64>,
    /// What arrives per second while nothing fails and no load fault is there, when it is the most; none where clients
    /// come in bursts, or in other ways without a rate.
    pub offered_rps: Option<f64>,
    /// What arrives per second then if every attempt fails; none without a rate, without a limit to attempts, or where a
    /// budget limits them.
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
    let load = |(at, name): (usize, &String)| {
        let capacity_rps = plan.services[at].capacity_rps();
        let offered_rps = rates.highest(once.iter().map(|services| Some(services[at])));
        let failing_rps = rates.highest(failing.iter().map(|services| services[at]));
        let clients = plan.labels.groups.iter().zip(&of_one).map(|(name, services)| (name, services[at]));
        let clients = clients.filter(|(_, at_most)| *at_most != Some(0.0));
        let clients = clients.map(|(client, at_most)| AttemptsOfClient { client: client.clone(), at_most });
        ServiceLoad {
            service: name.clone(),
            capacity_rps,
            offered_rps,
            failing_rps,
            standing: standing(capacity_rps, offered_rps, failing_rps),
            clients: clients.collect(),
        }
    };
    plan.labels.services.iter().enumerate().map(load).collect()
}

/// At its very capacity a service is not stable: what has once begun to wait never becomes less, and where arrivals or
/// service times vary it grows without a limit.
fn standing(capacity: Option<f64>, offered: Option<f64>, failing: Option<f64>) -> Option<Standing> {
    // Products and quotients of decimal fractions are off by some units in the last place.
    let capacity = capacity? * (1.0 - 1e-9);
    if offered? >= capacity {
        return Some(Standing::Overloaded);
    }
    Some(if failing? >= capacity { Standing::Vulnerable } else { Standing::Stable })
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
