//! Side effects that retries, or hedges, have twice.
//!
//! An attempt may end badly for its caller although its work was done: its answer was late or lost, the connection
//! broke, or an error came afterwards. Silent about calls that only try again what was turned away at the door, with
//! `refused`, `overloaded` or `rate_limited`, unless that may come from further down, or from a fault that strikes when
//! the work is done; where clients send a key for each operation and the store keeps it for
//! longer than attempts follow on each other; and where there is a store, but the clients send it other keys: the rule
//! `key-per-attempt` says that. With a store what was done is done again only as often as it has been forgotten.

use crate::analysis::answers::Longest;
use crate::analysis::course::Failing;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::strikes;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId, Effect, Fault, GroupId, Keys, Origin, ServiceId, Store, Target};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "retry-writes",
    severity: Severity::Error,
    finds: "What a service that `writes` has done may be tried again, and nothing recognises it.",
    why: "A timeout does not say whether the work was done. An attempt whose answer was lost has charged the card, and \
          the next one charges it again. An idempotency key that stays the same for all attempts at an operation, and \
          a store that knows it for longer than they last, make the second attempt get the first one's result. RFC \
          9110, section 9.2.2, has clients retry by themselves only what is idempotent, or is known not to have been \
          done.",
    instead: "give the service an `idempotency_store` that outlasts the retries, and let clients send \
              `idempotency = \"key\"`; or, of a service that makes no calls of its own, retry only on what is turned \
              away before any work: `refused`, `overloaded`, `rate_limited`",
    example: Example {
        bad: r#"
[clients.shop]
count = 10
arrivals = { constant = { rate = 100 } }
calls.payments = { timeout = "1s", retry = "again" }
[services.payments]
service_time = "50ms"
writes = true
[retries]
again = { max_attempts = 3, backoff = { exponential = { base = "1s" } }, jitter = "full" }
"#,
        good: &[r#"clients.shop.idempotency="key""#, r#"services.payments.idempotency_store={ ttl = "24h" }"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, service) in (0..).map(ServiceId).zip(&subject.plan.services).filter(|(_, service)| service.effects.writes)
    {
        let store = service.effects.store;
        let unknown = Doubling::of(subject, id, |keys| is_unknown(keys, store), |_| f64::INFINITY);
        let (doubling, message, keys): (_, _, &[_]) = if unknown.most > 1.0 {
            let message = match store {
                None => "what it has done, and it has no `idempotency_store`".to_owned(),
                Some(_) => {
                    let leads = subject.leads_to(id);
                    let comes_here = |group: GroupId| {
                        subject.calls().any(|(id, call)| leads[id.index()] && call.origin == Origin::Group(group))
                    };
                    let groups = (0..).map(GroupId).zip(&subject.plan.groups).zip(&subject.plan.labels.groups);
                    let silent =
                        groups.filter(|((id, group), _)| group.operations.keys == Keys::None && comes_here(*id));
                    let silent: Vec<&str> = silent.map(|(_, name)| name.as_str()).collect();
                    format!("what it has done, and its store gets no keys from {}", words::first_names(&silent))
                }
            };
            (unknown, message, &["writes"])
        } else if let Some(store) = store {
            // Each time it is done is more than the time that the store keeps it after the one before.
            let done = |call| last_sent(subject, call).map_or(f64::INFINITY, |last| times_done(last, store.ttl));
            let forgotten = Doubling::of(subject, id, |keys| keys == Keys::PerOperation, done);
            let lasts: Option<Vec<Span>> = forgotten.calls.iter().map(|&call| last_sent(subject, call)).collect();
            let latest = lasts.map_or("for ever".to_owned(), |lasts| {
                format!("for up to {}", words::time(lasts.into_iter().max().unwrap_or(Span::ZERO)))
            });
            (
                forgotten,
                format!("{latest} what its store has forgotten after {}", words::time(store.ttl)),
                &["idempotency_store.ttl", "idempotency_store"],
            )
        } else {
            continue;
        };
        if doubling.most <= 1.0 {
            continue;
        }
        let calls: Vec<&str> = doubling.calls.iter().map(|&call| subject.call_name(call)).collect();
        let path = subject.service_path(id);
        let times = if doubling.most.is_finite() {
            format!("up to {} times", words::count(doubling.most))
        } else {
            "any number of times".to_owned()
        };
        findings.add(Hit {
            message: format!("`{path}` writes, and {} may try again {message}", words::first_names(&calls)),
            owner: path,
            keys,
            figure: format!("one request may have its side effect on `{}` {times}", subject.service_name(id)),
        });
    }
}

/// When a call sends its last attempt, or hedge, if they fail as late as they can; none if there is no last one. Without a
/// timeout, or where none is tried again, they fail when the callee answers, or at once if nobody knows when.
fn last_sent(subject: &Subject<'_>, id: CallId) -> Option<Span> {
    let plan = subject.plan;
    let call = &plan.calls[id.index()];
    let times_out = plan.policy_of(id).retry_on.contains(ErrorKind::Timeout) && call.timeout.after < Span::LIMIT;
    let answer = || Longest::new(plan, &subject.paths.deadlines).answer(id).unwrap_or(Span::ZERO);
    let fails_after = if times_out { Span::UNLIMITED } else { answer() };
    let course = subject.course(id, Failing::Anyhow(fails_after));
    // Of very many not all are told.
    let is_told = course.most == Some(course.starts.len() as u64);
    let last = course.starts.last().filter(|_| is_told).map(|start| start.latest).or(course.given_up)?;
    let hedges = call.hedge.map_or(0, |hedge| hedge.after.after.as_ns().saturating_mul(u64::from(hedge.copies)));
    Some(last + Span::from_ns(hedges.min(Span::LIMIT.as_ns())))
}

/// How often something is done from the first time to the last, where it is known for so long each time.
fn times_done(last: Span, known_for: Span) -> f64 {
    last.as_ns().div_ceil(known_for.as_ns().max(1)).max(1) as f64
}

/// Whether a store that is not there, or that gets such keys, recognises nothing.
fn is_unknown(keys: Keys, store: Option<Store>) -> bool {
    store.is_none() || keys == Keys::None
}

/// How often what is to be done once may be done.
struct Doubling {
    /// At most; 0 if nobody of whom that is asked gets there; infinite without a limit.
    most: f64,
    /// Who tries it again.
    calls: Vec<CallId>,
}

impl Doubling {
    /// At this service, by requests of groups with such keys; of those that a call sends again at most so many are
    /// done.
    fn of(
        subject: &Subject<'_>,
        service: ServiceId,
        counts: impl Fn(Keys) -> bool,
        done: impl Fn(CallId) -> f64,
    ) -> Self {
        let leads = subject.leads_to(service);
        let mut following = Following::new(subject, service);
        let mut factor = |id: CallId, call: &Call| {
            if following.may_follow(id) { sent_at_most(subject, id, call).min(done(id)) } else { 1.0 }
        };
        let factors: Vec<f64> =
            subject.calls().map(|(id, call)| if leads[id.index()] { factor(id, call) } else { 1.0 }).collect();
        let mut walk = Walk { subject, counts, factors: &factors, by_service: vec![None; subject.plan.services.len()] };
        let most = walk.most_at(service);
        let calls = subject
            .calls()
            .filter(|(id, call)| leads[id.index()] && factors[id.index()] > 1.0 && walk.most_of(call.origin) > 0.0);
        Self { most, calls: calls.map(|(id, _)| id).collect() }
    }
}

/// Goes up the call graph, which has no cycles.
struct Walk<'a, F> {
    subject: &'a Subject<'a>,
    counts: F,
    factors: &'a [f64],
    by_service: Vec<Option<f64>>,
}

impl<F: Fn(Keys) -> bool> Walk<'_, F> {
    /// The largest product on the ways to this service.
    fn most_at(&mut self, service: ServiceId) -> f64 {
        if let Some(known) = self.by_service[service.index()] {
            return known;
        }
        let subject = self.subject;
        let calls = subject.calls().filter(|(_, call)| call.target == service);
        let most = calls.fold(0.0, |most: f64, (id, call)| {
            let above = self.most_of(call.origin);
            if above > 0.0 { most.max(above * self.factors[id.index()]) } else { most }
        });
        self.by_service[service.index()] = Some(most);
        most
    }

    fn most_of(&mut self, origin: Origin) -> f64 {
        match origin {
            Origin::Group(group) => {
                f64::from(u8::from((self.counts)(self.subject.plan.groups[group.index()].operations.keys)))
            }
            Origin::Service(service) => self.most_at(service),
        }
    }
}

/// Which calls try something again after an error that may come after the work of a service.
struct Following<'a> {
    subject: &'a Subject<'a>,
    service: ServiceId,
    /// By service: the calls that it makes.
    made: Vec<Vec<CallId>>,
    /// By call, as far as it has been asked for.
    known: Vec<Option<bool>>,
}

impl<'a> Following<'a> {
    fn new(subject: &'a Subject<'a>, service: ServiceId) -> Self {
        let mut made = vec![Vec::new(); subject.plan.services.len()];
        for (id, call) in subject.calls() {
            if let Origin::Service(caller) = call.origin {
                made[caller.index()].push(id);
            }
        }
        Self { subject, service, made, known: vec![None; subject.plan.calls.len()] }
    }

    /// Whether a call that leads to the service does.
    fn may_follow(&mut self, id: CallId) -> bool {
        if let Some(known) = self.known[id.index()] {
            return known;
        }
        let call = &self.subject.plan.calls[id.index()];
        let retry_on = self.subject.plan.policy_of(id).retry_on;
        let mut retried = ErrorKind::ALL.iter().copied().filter(|&kind| retry_on.contains(kind));
        let may = call.hedge.is_some() || retried.any(|kind| self.comes_after_work((id, call), kind));
        self.known[id.index()] = Some(may);
        may
    }

    fn comes_after_work(&mut self, (id, call): (CallId, &Call), kind: ErrorKind) -> bool {
        let is_direct = call.target == self.service && self.made[self.service.index()].is_empty();
        match kind {
            ErrorKind::Unavailable | ErrorKind::Reset | ErrorKind::Internal => true,
            ErrorKind::Timeout => call.timeout.after < Span::LIMIT || !is_direct || self.is_told(id, kind),
            // The end of its own time ends it; its callee may tell of that of a call of its own.
            ErrorKind::Deadline => !is_direct || self.is_told(id, kind),
            _ => self.is_told(id, kind),
        }
    }

    /// Whether its callee may answer a call, when the work was done, with an error that otherwise comes before any: one
    /// of what the service calls, of what is called beside it, or after another attempt at it; or one of a fault that
    /// strikes after the work.
    fn is_told(&mut self, id: CallId, kind: ErrorKind) -> bool {
        let subject = self.subject;
        let mut last = id;
        while subject.plan.calls[last.index()].target != self.service {
            let &[only] = self.made[subject.plan.calls[last.index()].target.index()].as_slice() else { return true };
            if subject.plan.calls[only.index()].copies > 1 || self.may_follow(only) {
                return true;
            }
            last = only;
        }
        let at_service = |fault: &&Fault| fault.targets.contains(&Target::Service(self.service));
        let works_and_fails =
            |fault: &Fault| matches!(&fault.effect, Effect::Fail(failure) if failure.works && failure.error == kind);
        !self.made[self.service.index()].is_empty() || strikes(subject, last).filter(at_service).any(works_and_fails)
    }
}

/// How many attempts a call sends at most, hedges included; infinite without a limit.
fn sent_at_most(subject: &Subject<'_>, id: CallId, call: &Call) -> f64 {
    let copies = call.hedge.map_or(0.0, |hedge| f64::from(hedge.copies));
    subject.attempts(id).map_or(f64::INFINITY, f64::from) * (1.0 + copies)
}
