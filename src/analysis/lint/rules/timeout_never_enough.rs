//! A time limit that nothing is fast enough for.
//!
//! The least that the callee takes counts: its own shortest time, that of the calls which it has to make, and the
//! shortest ways. What need not be made or need not succeed takes none, nor does a service that may know the result
//! already.

use crate::analysis::answers::Quickest;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{attempt, silent};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::{Call, CallId};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "timeout-never-enough",
    severity: Severity::Error,
    finds: "An attempt is given up before its callee can have answered, however fast that is.",
    why: "Every attempt fails, all of the work is done for nobody, and each retry asks for it once more. It is the \
          limit of a call above that is too short as often as its own: of 300 ms that a gateway passes on, the third \
          service in a row has only what the first two have left of them. With a limit of 100 ms and a callee that \
          has to ask another one for 120 ms, three attempts per request do the work three times, and no request \
          succeeds.",
    instead: "make the limit longer than what the callee takes with all that it calls, or do less of it while the \
              caller waits",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 10 } }, calls.api = { timeout = "100ms" } }
services.api = { service_time = "5ms", calls.db = { timeout = "1s" } }
services.db.service_time = "120ms"
"#,
        good: &[r#"clients.web.calls.api.timeout="2s""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let mut quickest = Quickest::new(subject.plan);
    for (id, call) in subject.calls() {
        let Some(least) = least_above_limit(subject, &mut quickest, id) else { continue };
        let limit = attempt(subject, id);
        let is_own = call.timeout.after <= limit;
        let whose =
            if limit < call.timeout.after.min(call.total_timeout.after) { " that its caller has left" } else { "" };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: if is_own { &["timeout"] } else { &["total_timeout", "timeout"] },
            message: format!(
                "`{}` waits for {}{whose}, and an answer of `{}` takes {} at least",
                subject.call_name(id),
                words::time(limit),
                subject.service_name(call.target),
                words::time(least)
            ),
            figure: figure(subject, id, call),
        });
    }
}

/// How long an answer takes at least, if that is longer than an attempt of this call is waited for.
pub fn least_above_limit(subject: &Subject<'_>, quickest: &mut Quickest<'_>, id: CallId) -> Option<Span> {
    let limit = attempt(subject, id);
    let least = quickest.answer(&subject.plan.calls[id.index()]);
    (limit < Span::LIMIT && least > limit).then_some(least)
}

fn figure(subject: &Subject<'_>, id: CallId, call: &Call) -> String {
    let target = subject.service_name(call.target);
    let each = match silent(subject, id).most {
        Some(1) => String::new(),
        Some(most) => format!(", {} times each", words::count(most as f64)),
        None => ", each again and again".to_owned(),
    };
    let rate = subject.made(id).per_second;
    if rate > 0.0 {
        format!(
            "of {} requests per second none is answered in time, and `{target}` works for all of them{each}",
            words::count(rate)
        )
    } else {
        format!("no request is answered in time, and `{target}` works for all of them{each}")
    }
}
