//! What clients do, of what the rules treat in a way of its own.

use stormsim::plan::Arrivals;
use stormsim::time::Instant;

use crate::reference::record::Request;

use super::Cases;

impl Cases<'_> {
    pub(super) fn arrivals(&self) -> Vec<(&'static str, bool)> {
        let of = |kind: fn(&Arrivals) -> bool| self.request(|it| kind(&self.group(it).arrivals));
        let is_closed = |it: &&Request| matches!(self.group(it).arrivals, Arrivals::Closed { .. });
        let same_client = |a: &Request, b: &Request| (a.group, a.client) == (b.group, b.client);
        let ended_at = |it: &Request| it.ended.as_ref().map(|end| end.at);
        let closed = || self.record.requests.iter().filter(is_closed);
        let follows = |waits: bool| {
            closed().any(|it| {
                let mut ends = closed().filter(|before| same_client(before, it) && before.key != it.key).map(ended_at);
                if waits { ends.any(|end| end < Some(it.began)) } else { ends.any(|end| end == Some(it.began)) }
            })
        };
        let begins_before = |from: Instant, arrivals: &Arrivals| match arrivals {
            Arrivals::Trace(instants) => instants.first().is_some_and(|&at| at < from),
            Arrivals::Poisson(profile) => profile.due_before(from) > 1.0,
            _ => false,
        };
        vec![
            ("a request of a burst", of(|it| matches!(it, Arrivals::Burst { .. }))),
            ("a request at a constant rate", of(|it| matches!(it, Arrivals::Constant { .. }))),
            ("a request of a Poisson process", of(|it| matches!(it, Arrivals::Poisson(_)))),
            ("a request of a trace", of(|it| matches!(it, Arrivals::Trace(_)))),
            ("a periodic request", of(|it| matches!(it, Arrivals::Periodic { .. }))),
            ("a request of a closed client", of(|it| matches!(it, Arrivals::Closed { .. }))),
            ("a closed client that goes on at once", follows(false)),
            ("a closed client that has thought", follows(true)),
            (
                "a closed client that its group's window stops",
                self.plan.groups.iter().enumerate().any(|(id, group)| {
                    let requests = |client| {
                        self.record.requests.iter().filter(move |it| it.group.index() == id && it.client == client)
                    };
                    matches!(group.arrivals, Arrivals::Closed { requests: all, .. }
                    if (0..group.clients).any(|client| {
                        let ended = requests(client).filter(|it| it.ended.is_some()).count() as u64;
                        ended > 0 && ended < all && ended == requests(client).count() as u64
                    }))
                }),
            ),
            (
                "arrivals before the group's window",
                self.plan.groups.iter().any(|it| begins_before(it.from, &it.arrivals)),
            ),
            ("a request at the start of the group's window", self.request(|it| it.began == self.group(it).from)),
        ]
    }
}
