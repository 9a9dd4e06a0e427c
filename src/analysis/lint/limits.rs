//! What limits the time of calls, and who ends them: what the rules about timeouts ask.

use crate::analysis::course::{Course, Failing};
use crate::analysis::lint::subject::Subject;
use crate::plan::{Call, CallId, Cancel, DeadlineRule, Origin, Service};
use crate::time::Span;

/// How long its first attempt is waited for at most; [`Span::UNLIMITED`] for ever.
pub fn attempt(subject: &Subject<'_>, id: CallId) -> Span {
    subject.time_limit(id).min(subject.plan.calls[id.index()].timeout.after)
}

/// How it goes when all attempts fail at once, with an error that is retried if any is.
pub fn at_once(subject: &Subject<'_>, id: CallId) -> Course {
    subject.course(id, Failing::Late(Span::ZERO))
}

/// How it goes when no attempt gets an answer.
pub fn silent(subject: &Subject<'_>, id: CallId) -> Course {
    subject.course(id, Failing::Silently)
}

/// The longest that it can take, however its attempts fail; none where that has no end.
pub fn longest(subject: &Subject<'_>, id: CallId) -> Option<Span> {
    Course::latest_end(subject.plan, id, subject.paths.deadlines[id.index()]).0.ok()
}

/// Whether its end may be set by a deadline of its caller: by any of those that call that one, and not by all of them.
pub fn may_inherit_deadline(subject: &Subject<'_>, id: CallId) -> bool {
    let plan = subject.plan;
    let mut is_asked = vec![false; plan.services.len()];
    let mut next = vec![plan.calls[id.index()].origin];
    while let Some(origin) = next.pop() {
        let Origin::Service(service) = origin else { continue };
        if std::mem::replace(&mut is_asked[service.index()], true) {
            continue;
        }
        let tells = |call: &&Call| call.target == service && call.deadline != DeadlineRule::Keep;
        for call in plan.calls.iter().filter(tells) {
            if call.timeout.after.min(call.total_timeout.after) < Span::LIMIT {
                return true;
            }
            next.push(call.origin);
        }
    }
    false
}

/// By service: whether all of its work is ended, with the calls that it makes, when whoever waits for it gives up; and
/// everybody gives up some time.
pub fn ended_from_above(subject: &Subject<'_>) -> Vec<bool> {
    let plan = subject.plan;
    let cancels = |service: &Service| service.capacity.cancel == Cancel::Running;
    let mut ended: Vec<bool> = plan.services.iter().map(cancels).collect();
    // The graph has no cycles: each round settles the callees of those that the last one has settled.
    loop {
        let endless: Vec<usize> = subject
            .calls()
            .filter(|&(id, call)| attempt(subject, id) >= Span::LIMIT && !is_among(&ended, call))
            .map(|(_, call)| call.target.index())
            .filter(|&target| ended[target])
            .collect();
        if endless.is_empty() {
            return ended;
        }
        for target in endless {
            ended[target] = false;
        }
    }
}

/// Whether the caller is one of these services.
pub fn is_among(services: &[bool], call: &Call) -> bool {
    match call.origin {
        Origin::Group(_) => false,
        Origin::Service(service) => services[service.index()],
    }
}
