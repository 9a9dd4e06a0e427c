//! Limits on the connections and requests of Envoy, and of Istio, which passes them on: the pool of a call.

use crate::import::draft::{Block, Draft};
use crate::import::section::Field;

/// What limits the calls to a cluster, retries or not.
#[derive(Default)]
pub struct Limits<'t> {
    /// How many connections there are.
    pub connections: Option<(i64, Field<'t>)>,
    /// How many wait for one.
    pub pending: Option<Field<'t>>,
    /// How many requests are under way.
    pub requests: Option<(i64, Field<'t>)>,
    /// Whether a connection carries many requests at once.
    pub is_http2: bool,
}

impl Limits<'_> {
    /// Puts them into a call, as its pool.
    pub fn put(&self, call: &mut Block, draft: &mut Draft) {
        let Self { connections, pending, requests, is_http2 } = self;
        let most = |limit: &Option<(i64, Field<'_>)>| limit.as_ref().map_or(i64::MAX, |(most, _)| *most);
        // Over HTTP/1.1 a request takes a connection, and both limits hold: the smaller one is met first. As many
        // requests as connections are under way only when none is left, so that one more waits.
        let counts_requests = *is_http2 || most(requests) < most(connections);
        let (size, other, why) = match (counts_requests, *is_http2) {
            (true, true) => (requests, connections, "over HTTP/2 a connection carries many requests"),
            (true, false) => (requests, connections, "there are never more requests, and each takes one"),
            (false, _) => (connections, requests, "it is never met: each takes a connection, and those are not more"),
        };
        if let Some((_, field)) = other {
            draft.leave_out(call, field, why);
        }
        match size {
            Some((0, field)) => draft.leave_out(call, field, "a pool of a scenario has one slot at least"),
            // More than a scenario can say is no limit.
            Some((size, field)) if *size <= i64::from(i32::MAX) => {
                call.read("pool.size", *size, field);
                if counts_requests {
                    call.default("pool.max_wait", "0s", "Envoy: one more fails at once, and is not tried again");
                } else {
                    call.default("pool.max_wait", "none", "Envoy: one more waits for a connection");
                }
                let why = "all calls through an Envoy to a cluster share it; here each call of each client has its own";
                let line = format!("{} ({why})", field.said());
                call.left_out.push(line);
            }
            _ => {}
        }
        if let Some(field) = pending {
            draft.leave_out(call, field, "as many as there are wait for a slot of a scenario's pool");
        }
    }
}
