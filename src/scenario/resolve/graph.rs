//! The call graph must be acyclic: work that waits for itself never ends.

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::source::Place;

/// A call from a service to a service, by their positions.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Who calls.
    pub from: usize,
    /// Who is called.
    pub to: usize,
    /// Where the scenario says so.
    pub place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    NotYet,
    OnThePath,
    Done,
}

struct Search<'a> {
    services: &'a [&'a str],
    edges: &'a [Edge],
    visits: Vec<Visit>,
    path: Vec<usize>,
    cycles: Vec<Diagnostic>,
}

/// One error for each call that closes a cycle, with the cycle printed.
pub fn cycles(services: &[&str], edges: &[Edge]) -> Vec<Diagnostic> {
    let visits = vec![Visit::NotYet; services.len()];
    let mut search = Search { services, edges, visits, path: Vec::new(), cycles: Vec::new() };
    for service in 0..services.len() {
        search.visit(service);
    }
    search.cycles
}

impl Search<'_> {
    /// Depth first. As deep as there are services, of which the caller has at most a thousand.
    fn visit(&mut self, service: usize) {
        if self.visits[service] != Visit::NotYet {
            return;
        }
        self.visits[service] = Visit::OnThePath;
        self.path.push(service);
        for edge in self.edges.iter().filter(|edge| edge.from == service) {
            if self.visits[edge.to] == Visit::OnThePath {
                self.report(edge);
            }
            self.visit(edge.to);
        }
        self.path.pop();
        self.visits[service] = Visit::Done;
    }

    fn report(&mut self, edge: &Edge) {
        let start = self.path.iter().position(|&service| service == edge.to).unwrap_or_default();
        let round = self.path[start..].iter().chain([&edge.to]).map(|&service| self.services[service]);
        let cycle = round.collect::<Vec<_>>().join(" -> ");
        let error = Diagnostic::new(format!("the calls go in a circle: `{cycle}`"));
        self.cycles
            .push(error.at(&edge.place).label("closes the circle").hint("a call must not lead back to its caller"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles_of(edges: &[(usize, usize)]) -> Vec<String> {
        let edges: Vec<Edge> = edges.iter().map(|&(from, to)| Edge { from, to, place: 0..0 }).collect();
        cycles(&["a", "b", "c", "d"], &edges).iter().map(|error| error.message().to_owned()).collect()
    }

    #[test]
    fn each_closing_call_is_reported_once_with_its_cycle() {
        assert_eq!(cycles_of(&[(0, 0)]), ["the calls go in a circle: `a -> a`"]);
        assert_eq!(
            cycles_of(&[(0, 1), (1, 2), (2, 1), (2, 3), (3, 0)]),
            ["the calls go in a circle: `b -> c -> b`", "the calls go in a circle: `a -> b -> c -> d -> a`"]
        );
    }

    /// Two ways to one service are no cycle: a search that took every visited service for one would say so.
    #[test]
    fn a_diamond_is_no_cycle() {
        assert!(cycles_of(&[(0, 1), (0, 2), (1, 3), (2, 3)]).is_empty());
    }
}
