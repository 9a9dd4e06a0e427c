//! Work that goes on when whoever waits for it has given up.
//!
//! Silent where the calling service has `cancel = "running"`: then the call ends with its caller. Where an attempt
//! has no timeout at all, `no-timeout` says so. Of what may take any time, as the longest wait has no bound, the
//! shortest counts. Silent, too, where it is for less than a twentieth of the time that the caller is waited for, as
//! where the same limit stands on both layers.

use crate::analysis::answers::Longest;
use crate::analysis::course::{Course, Endless, Failing};
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::attempt;
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::analysis::{Hop, Over};
use crate::plan::{CallId, Origin};
use crate::scenario::Severity;
use crate::time::Span;

/// The share of the time that the caller is waited for which does not matter.
const SLIGHT: f64 = 0.05;

pub static RULE: Rule = Rule {
    id: "timeout-above-caller",
    severity: Severity::Warning,
    finds: "A call goes on, or retries, after whoever waits for its caller has given up.",
    why: "Time limits must become shorter from the user to the last service. If B may call C twice for 300 ms each \
          with 300 ms in between, and A waits 800 ms for B, then B works for 100 ms more for nobody; and if A \
          retries, the second round begins while the first is still under way, so that C sees up to twice the load. \
          On top, a failure that B would report is reported by nobody: A sees a timeout of B, and not C.",
    instead: "make the time of the call with all of its attempts and waits shorter than the caller's own limit \
          (`total_timeout`), or pass the deadline on (`propagate_deadline = true` on the call above)",
    example: Example {
        bad: r#"
clients.a = { arrivals = { constant = { rate = 100 } }, calls.b = { timeout = "800ms" } }
services.b = { service_time = "1ms", calls.c = { timeout = "300ms", retry = "again" } }
services.c = { service_time = "20ms" }
retries.again = { max_attempts = 3, backoff = "none" }
"#,
        good: &[r#"services.b.calls.c.total_timeout="700ms""#],
    },
    check: Check::Variant(check),
};

/// A call that takes too long.
struct Late<'a> {
    /// The call above it.
    above: &'a Hop,
    /// When it is given up at the latest, after it began.
    end: Result<Span, Endless>,
    /// How long that is after its caller was given up, at least; infinite if there is no latest end.
    outlives_s: f64,
    /// Whether it takes errors that are tried again: without an answer it is over sooner.
    needs_errors: bool,
}

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let mut longest = Longest::new(subject.plan, &subject.paths.deadlines);
    for (id, call) in subject.calls() {
        if matches!(call.origin, Origin::Group(_)) || attempt(subject, id) >= Span::LIMIT {
            continue;
        }
        // A call may be on many paths: the one on which it is the latest counts.
        let name = subject.call_name(id);
        let pairs = subject.paths.paths.iter().flat_map(|path| path.hops.windows(2));
        let lates = pairs.filter(|pair| pair[1].call == name).filter_map(|pair| {
            let [above, hop] = pair else { return None };
            let outlives_s = if hop.outlives.is_some() { f64::INFINITY } else { hop.outlives_s? };
            Some((above, hop, outlives_s))
        });
        let Some((above, hop, outlives_s)) = lates.max_by(|a, b| a.2.total_cmp(&b.2)) else { continue };
        if above.attempt_s.is_some_and(|patience_s| outlives_s < SLIGHT * patience_s) {
            continue;
        }
        let budget = hop.budget_s.map_or(Span::UNLIMITED, |budget_s| Span::from_ns_f64(budget_s * 1e9));
        let end = longest.end(id, budget);
        let silent = Course::of(subject.plan, id, Failing::Silently, budget);
        let needs_errors = silent.over == Over::NotRetryable && silent.given_up != end.ok();
        findings.add(hit(subject, id, &Late { above, end, outlives_s, needs_errors }));
    }
}

fn hit(subject: &Subject<'_>, id: CallId, Late { above, end, outlives_s, needs_errors }: &Late<'_>) -> Hit {
    let name = subject.call_name(id);
    let (caller, _) = name.split_once("->").unwrap_or_default();
    let call = &subject.plan.calls[id.index()];
    let attempts = subject.plan.policy_of(id).max_attempts;
    let takes = match (end, attempts) {
        (Err(Endless::Never), _) => "has no end".to_owned(),
        (Err(Endless::NoBound), _) => "may take any time".to_owned(),
        (Err(Endless::NotFollowed), _) => format!("makes {}", words::attempts(attempts)),
        (Ok(end), 1) => format!("takes up to {}", words::time(*end)),
        (Ok(end), _) => {
            format!("takes up to {} ({})", words::time(*end), words::attempts(attempts))
        }
    };
    let patience = words::seconds(above.attempt_s.unwrap_or(f64::INFINITY));
    let target = subject.service_name(call.target);
    let rate = subject.made(id).per_second;
    let when = if *needs_errors {
        format!("when `{target}` answers late and with errors that are tried again")
    } else {
        format!("when `{target}` answers late or not at all")
    };
    let figure = if outlives_s.is_infinite() {
        let time = match end {
            Err(Endless::Never) => "for ever",
            _ => "for a time without a bound",
        };
        format!("{when}, each request leaves `{caller}` at work {time}")
    } else {
        let outlives = words::seconds(*outlives_s);
        let work = if rate > 0.0 {
            let at_once = words::count(rate * outlives_s);
            format!(": at {} per second {at_once} or more at once that nobody waits for", words::count(rate))
        } else {
            String::new()
        };
        format!("{when}, each request keeps `{caller}` at work for another {outlives} or more for nobody{work}")
    };
    Hit {
        owner: subject.call_path(id),
        keys: &["total_timeout", "timeout", "retry"],
        message: format!("`{name}` {takes}, but `{}` stops waiting after {patience}", above.call),
        figure,
    }
}
