//! Paths from clients through the call graph: what multiplies along them, and who gives up when.

use serde::Serialize;

use crate::analysis::answers::{Longest, Quickest, deadlines, less, told, waited_for};
use crate::analysis::attempt::hedges_at_most;
use crate::analysis::course::{Endless, attempts_at_most};
use crate::analysis::graph::Graph;
use crate::plan::{CallId, Cancel, GroupId, Origin, Plan};
use crate::time::Span;

/// The most paths that are listed.
const PATHS_MAX: usize = 200;

/// A path through the call graph, from clients to a service that calls nobody.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// The group of clients that it begins at.
    pub client: String,
    /// Its calls, the clients' own first.
    pub hops: Vec<Hop>,
    /// How many attempts reach its end along it for one request at most: the product over its hops, up to 2^64; none
    /// without a limit.
    pub attempts: Option<u64>,
}

/// One call of a path, made for the first attempt of the one before it, and as early as it can be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hop {
    /// `caller->label`.
    pub call: String,
    /// The service that it is to.
    pub target: String,
    /// The call in whose place it is made, when that has failed.
    pub instead_of: Option<String>,
    /// How many attempts it makes at most: as many as its policy allows and as have time, on whatever path; none
    /// without a limit.
    pub attempts: Option<u32>,
    /// How many copies of it there are.
    pub copies: u32,
    /// How many hedges each attempt has at most.
    pub hedges: u32,
    /// What would be left of the attempts at the end of the path if this call was not tried again; none if other calls
    /// have no limit.
    pub without_retries: Option<u64>,
    /// How much time it has when it begins: what its caller was told, less the time that this takes until then at
    /// least; none without a deadline.
    pub budget_s: Option<f64>,
    /// Its limit: `budget_s` or its `total_timeout`; none without one.
    pub gives_up_s: Option<f64>,
    /// How long its first attempt is waited for; none for ever.
    pub attempt_s: Option<f64>,
    /// What it tells its callee; none if nothing.
    pub told_s: Option<f64>,
    /// How much longer it may go on than anybody waits for its caller; none if it ends in time, or has no latest end. It
    /// is as much longer as it begins later than it could.
    pub outlives_s: Option<f64>,
    /// Why there is no latest end of it, where its caller is not waited for for ever and does not end it.
    pub outlives: Option<Endless>,
}

/// The paths of a plan.
pub struct Paths {
    /// As far as they are listed.
    pub paths: Vec<Path>,
    /// How many there are beside those.
    pub left_out: u64,
    /// By call: the latest deadline that its caller has when it calls; [`Span::UNLIMITED`] if that may be none.
    pub deadlines: Vec<Span>,
}

/// All paths, as far as they are listed.
pub fn paths(plan: &Plan) -> Paths {
    let graph = Graph::of(plan);
    let deadlines = deadlines(plan, &graph);
    let mut walk = Walk {
        plan,
        graph: &graph,
        quickest: Quickest::new(plan),
        longest: Longest::new(plan, &deadlines),
        deadlines: &deadlines,
        attempts: vec![None; plan.calls.len()],
        before: Vec::new(),
        paths: Vec::new(),
    };
    let endless = Arrived { deadline: Span::UNLIMITED, waited_for: Span::UNLIMITED };
    for (id, name) in (0..).map(GroupId).zip(&plan.labels.groups) {
        for &call in graph.made_by(Origin::Group(id)) {
            walk.follow(name, call, endless);
        }
    }
    let paths = walk.paths;
    let left_out = count(plan, &graph).saturating_sub(paths.len() as u64);
    Paths { paths, left_out, deadlines }
}

/// How many paths there are, up to 2^64.
fn count(plan: &Plan, graph: &Graph) -> u64 {
    let mut below: Vec<u64> = vec![1; plan.services.len()];
    let mut all = 0_u64;
    for origin in graph.callers_first(plan).into_iter().rev() {
        let calls = graph.made_by(origin).iter();
        let paths = calls.fold(0_u64, |sum, call| sum.saturating_add(below[plan.calls[call.index()].target.index()]));
        match origin {
            Origin::Group(_) => all = all.saturating_add(paths),
            Origin::Service(service) => below[service.index()] = paths.max(1),
        }
    }
    all
}

/// What is known of an attempt when it arrives, from then on.
#[derive(Clone, Copy)]
struct Arrived {
    /// The deadline that it was told.
    deadline: Span,
    /// How long anybody waits for it.
    waited_for: Span,
}

struct Walk<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    quickest: Quickest<'a>,
    longest: Longest<'a>,
    deadlines: &'a [Span],
    /// By call: how many attempts it makes at most, as far as that has been asked for.
    attempts: Vec<Option<Option<u32>>>,
    /// The calls on the way.
    before: Vec<Hop>,
    paths: Vec<Path>,
}

impl Walk<'_> {
    fn follow(&mut self, client: &str, id: CallId, arrived: Arrived) {
        if self.paths.len() == PATHS_MAX {
            return;
        }
        let (hop, next) = self.hop(id, arrived);
        self.before.push(hop);
        let graph = self.graph;
        let calls = graph.made_by(Origin::Service(self.plan.calls[id.index()].target));
        for &call in calls {
            self.follow(client, call, next);
        }
        if calls.is_empty() {
            self.paths.push(path(client, &self.before));
        }
        self.before.pop();
    }

    /// A call, made by work that arrived like this; and what it makes arrive.
    fn hop(&mut self, id: CallId, arrived: Arrived) -> (Hop, Arrived) {
        let plan = self.plan;
        let call = &plan.calls[id.index()];
        let until_begun = self.quickest.before(call);
        let budget = less(arrived.deadline, until_begun);
        let caller_waited_for = less(arrived.waited_for, until_begun);
        let is_cancelled = match call.origin {
            Origin::Group(_) => false,
            Origin::Service(service) => plan.services[service.index()].capacity.cancel == Cancel::Running,
        };
        let end = (caller_waited_for < Span::LIMIT && !is_cancelled).then(|| self.longest.end(id, budget));
        let outlives_s = end.and_then(Result::ok).map(|end| less(end, caller_waited_for));
        let deadline = self.deadlines[id.index()];
        let attempts = *self.attempts[id.index()].get_or_insert_with(|| attempts_at_most(plan, id, deadline));
        let known = |span: Span| (span < Span::LIMIT).then(|| span.as_s());
        let hop = Hop {
            call: plan.labels.calls[id.index()].clone(),
            target: plan.labels.services[call.target.index()].clone(),
            instead_of: self.graph.instead_of(id).map(|call| plan.labels.calls[call.index()].clone()),
            attempts,
            copies: self.graph.copies(plan, id),
            hedges: hedges_at_most(call, waited_for(call, deadline)),
            without_retries: None,
            budget_s: known(budget),
            gives_up_s: known(call.total_timeout.after.min(budget)),
            attempt_s: known(waited_for(call, budget)),
            told_s: known(told(call, budget)),
            outlives_s: outlives_s.filter(|time| *time > Span::ZERO).map(Span::as_s),
            outlives: end.and_then(Result::err),
        };
        // Who is cancelled gives up what it has sent.
        let until_cancelled = if is_cancelled { caller_waited_for } else { Span::UNLIMITED };
        let waited_for = waited_for(call, budget).min(until_cancelled);
        let way = call.network.bounds().0;
        (hop, Arrived { deadline: less(told(call, budget), way), waited_for: less(waited_for, way) })
    }
}

fn path(client: &str, hops: &[Hop]) -> Path {
    let attempts = |without: Option<usize>| {
        hops.iter().enumerate().try_fold(1_u64, |product, (at, hop)| {
            let attempts = match hop.attempts {
                Some(attempts) if without != Some(at) => u64::from(attempts),
                None if without != Some(at) => return None,
                // Who has no time for one does not make one either.
                attempts => u64::from(attempts.unwrap_or(1).min(1)),
            };
            let copies = u64::from(hop.copies).saturating_mul(1 + u64::from(hop.hedges));
            Some(product.saturating_mul(attempts).saturating_mul(copies))
        })
    };
    let with_shares = |(at, hop): (usize, &Hop)| Hop { without_retries: attempts(Some(at)), ..hop.clone() };
    Path {
        client: client.to_owned(),
        attempts: attempts(None),
        hops: hops.iter().enumerate().map(with_shares).collect(),
    }
}

#[cfg(test)]
mod tests;
