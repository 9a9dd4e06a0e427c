//! Hedges of which any number may be under way.
//!
//! Silent about copies that can never be sent, because the attempt is given up before; and about single callers.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Crowd, Subject};
use crate::analysis::lint::words;
use crate::plan::{Capacity, Hedge};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "hedge-without-cap",
    severity: Severity::Warning,
    finds: "Any number of hedges may be under way.",
    why: "A hedge is for the one request in twenty that is unlucky. When the callee as a whole is slow, every request \
          is late, and every one is hedged: the copies double the load at the moment at which it is too much already, \
          and what they wait for gets slower still. Of 32 requests to two replicas, one of them slow, there were 64 \
          attempts; with eight hedges at most, 40 (Azure/azure-sdk-for-rust, issue 4896).",
    instead: "set `hedge.in_flight` to a few more hedges than are under way in good times",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 300 } }
calls.api.timeout = "1s"
calls.api.hedge.after = "60ms"
[services]
api = { instances = 2, workers = 4, service_time = { exponential = { mean = "20ms" } } }
"#,
        good: &["clients.web.calls.api.hedge.in_flight=10"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call) in subject.calls() {
        let Some(hedge) = call.hedge.filter(|hedge| hedge.in_flight == Capacity::NO_LIMIT) else { continue };
        let limit = call.timeout.after.min(call.total_timeout.after).min(subject.paths.deadlines[id.index()]);
        let copies = copies_within(limit, hedge);
        let Crowd { clients, per_second } = subject.made(id);
        if copies == 0 || clients + per_second < 2.0 {
            continue;
        }
        let sent = f64::from(copies) + 1.0;
        let (name, service) = (subject.call_name(id), subject.service_name(call.target));
        let count = words::count;
        let figure = if per_second > clients {
            let (before, after) = (count(per_second), count(per_second * sent));
            format!("when all of `{service}` is slow, the {before} attempts per second of `{name}` become {after}")
        } else {
            let (before, after) = (count(clients), count(clients * sent));
            format!("when all of `{service}` is slow, {before} attempts of `{name}` at once become {after}")
        };
        let figure = match subject.plan.services[call.target.index()].capacity_rps() {
            Some(rate) => format!("{figure}; `{service}` can do {} per second", count(rate)),
            None => figure,
        };
        findings.add(Hit {
            message: format!(
                "`{name}` sends {} after {} each, and any number of them may be under way",
                if copies == 1 { "a copy".to_owned() } else { format!("{} copies", count(f64::from(copies))) },
                words::time(hedge.after.after)
            ),
            owner: subject.call_path(id),
            keys: &["hedge.in_flight", "hedge"],
            figure,
        });
    }
}

/// How many copies are sent of an attempt that is given up after this time: the nth is due after n times `after`.
fn copies_within(limit: Span, hedge: Hedge) -> u32 {
    if limit >= Span::LIMIT {
        return hedge.copies;
    }
    let due = limit.as_ns().saturating_sub(1) / hedge.after.after.as_ns().max(1);
    u32::try_from(due).unwrap_or(u32::MAX).min(hedge.copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Timeout, TimeoutId};

    /// Copies are due at 100, 200 and 300 ms.
    #[test]
    fn copies_are_due_before_the_attempt_is_given_up() {
        let hedge = |ms| Timeout { after: Span::from_ms(ms), id: TimeoutId(0) };
        let hedge = Hedge {
            after: hedge(100),
            copies: 3,
            in_flight: Capacity::NO_LIMIT,
            by_instance: false,
            cancel_losers: true,
        };
        let within = |ms| copies_within(Span::from_ms(ms), hedge);
        assert_eq!([0, 100, 101, 200, 301, 5_000].map(within), [0, 0, 1, 1, 3, 3]);
        assert_eq!(copies_within(Span::UNLIMITED, hedge), 3);
    }
}
