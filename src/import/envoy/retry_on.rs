//! What Envoy tries again, by condition: for its own configuration, and for Istio, which passes it on.

use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft};
use crate::import::section::Field;
use crate::import::statuses;
use crate::import::values::errors;

/// What a condition of `retry_on` means.
enum Meaning {
    /// These errors.
    Errors(&'static [ErrorKind]),
    /// The statuses that are listed beside it.
    Statuses,
    /// No error of a scenario: why.
    Nothing(&'static str),
}

/// All that ends an attempt without an answer. The end of a try's own time counts as a reset.
const RESETS: &[ErrorKind] = &[ErrorKind::Refused, ErrorKind::Reset, ErrorKind::Timeout];

const GATEWAY_ERRORS: &[ErrorKind] = &[
    ErrorKind::Unavailable,
    ErrorKind::Refused,
    ErrorKind::Reset,
    ErrorKind::Overloaded,
    ErrorKind::Timeout,
    ErrorKind::Deadline,
];

/// Statuses from 500 on, and no answer at all. 429 is none of them.
pub const SERVER_ERRORS: &[ErrorKind] = &[
    ErrorKind::Unavailable,
    ErrorKind::Refused,
    ErrorKind::Reset,
    ErrorKind::Overloaded,
    ErrorKind::Timeout,
    ErrorKind::Deadline,
    ErrorKind::Internal,
];

/// The condition for statuses that are listed beside it.
const STATUSES: &str = "retriable-status-codes";

const CONDITIONS: &[(&str, Meaning)] = &[
    ("5xx", Meaning::Errors(SERVER_ERRORS)),
    ("gateway-error", Meaning::Errors(GATEWAY_ERRORS)),
    ("reset", Meaning::Errors(RESETS)),
    ("reset-before-request", Meaning::Errors(&[ErrorKind::Refused])),
    ("connect-failure", Meaning::Errors(&[ErrorKind::Refused])),
    ("refused-stream", Meaning::Errors(&[ErrorKind::Refused])),
    ("envoy-ratelimited", Meaning::Errors(&[ErrorKind::RateLimited])),
    ("deadline-exceeded", Meaning::Errors(&[ErrorKind::Deadline])),
    ("internal", Meaning::Errors(&[ErrorKind::Internal])),
    ("resource-exhausted", Meaning::Errors(&[ErrorKind::RateLimited, ErrorKind::Overloaded])),
    ("unavailable", Meaning::Errors(&[ErrorKind::Unavailable])),
    ("cancelled", Meaning::Nothing("no error of a scenario is the CANCELLED of gRPC")),
    ("retriable-4xx", Meaning::Nothing("it is 409 alone, and no error of a scenario is that")),
    ("retriable-headers", Meaning::Nothing("answers of a scenario have no headers")),
    ("http3-post-connect-failure", Meaning::Nothing("nothing goes over HTTP/3 here")),
    (STATUSES, Meaning::Statuses),
];

/// What a list of conditions makes of the errors.
pub struct Conditions {
    /// The errors that are tried again.
    pub errors: Vec<ErrorKind>,
    /// Whether Envoy knows any of them.
    pub are_known: bool,
    /// Whether a connection that takes too long is tried again, which is a `timeout` here.
    retries_connects: bool,
    /// Whether the status 503 is listed.
    has_503: bool,
}

impl Conditions {
    /// Puts what is tried again into a policy. Without a timeout of a try, a `timeout` can only be one of a connection.
    pub fn put(&self, has_try_timeout: bool, field: &Field<'_>, policy: &mut Block) {
        let mut kinds = self.errors.clone();
        if self.retries_connects && !kinds.contains(&ErrorKind::Timeout) {
            if has_try_timeout {
                let why = "connect-failure: a connection that takes too long is a `timeout` here, as is a try that \
                           does: neither is tried again";
                policy.left_out.push(format!("{} ({why})", field.said()));
            } else {
                kinds.push(ErrorKind::Timeout);
            }
        }
        policy.read("retry_on", errors(kinds), field);
    }
}

/// Reads a list of conditions. `statuses` are those that are listed beside it; with none, as in Istio, the list itself
/// may hold some.
pub fn read(field: &Field<'_>, statuses: Option<&[Status<'_>]>, policy: &mut Block, draft: &mut Draft) -> Conditions {
    let mut read = Conditions { errors: Vec::new(), are_known: false, retries_connects: false, has_503: false };
    let Some(text) = draft.text(field) else { return read };
    let mut names = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if statuses.is_none()
            && let Ok(status) = statuses::parse(name)
        {
            read.errors.extend(status_errors(status, field, policy, draft));
            read.are_known = true;
            read.has_503 |= status == 503;
            continue;
        }
        let Some((name, meaning)) = CONDITIONS.iter().find(|(known, _)| *known == name) else {
            let message = format!("`{name}` is no condition of Envoy, which ignores it");
            draft.surprise(&field.place(), message, "see `x-envoy-retry-on` in the reference of Envoy");
            continue;
        };
        read.are_known = true;
        names.push(*name);
        match meaning {
            Meaning::Errors(kinds) => read.errors.extend(*kinds),
            Meaning::Nothing(why) => draft.leave_out(policy, field, &format!("`{name}`: {why}")),
            Meaning::Statuses => {
                for status in statuses.unwrap_or_default() {
                    read.errors.extend(status_errors(status.status, &status.field, policy, draft));
                    read.has_503 |= status.status == 503;
                }
            }
        }
    }
    remark(&names, statuses, &read, field, draft);
    read.retries_connects = names.contains(&"connect-failure");
    read
}

/// A status of a list.
#[derive(Clone)]
pub struct Status<'t> {
    /// The status.
    pub status: u16,
    /// The list.
    pub field: Field<'t>,
}

fn status_errors(status: u16, field: &Field<'_>, policy: &mut Block, draft: &mut Draft) -> Vec<ErrorKind> {
    let kinds = statuses::answered(|it| it == status);
    if kinds.is_empty() {
        draft.leave_out(policy, field, &format!("no error of a scenario is the status {status}"));
    }
    kinds
}

/// What surprises in a list of conditions.
fn remark(names: &[&str], statuses: Option<&[Status<'_>]>, read: &Conditions, field: &Field<'_>, draft: &mut Draft) {
    let place = field.place();
    let has = |name| names.contains(&name);
    let is_server_error = has("5xx") || has("gateway-error");
    if let Some(statuses) = statuses {
        match (has(STATUSES), statuses.first()) {
            (true, None) => draft.surprise(
                &place,
                format!("`{STATUSES}` does nothing: no status is listed"),
                "list them as `retriable_status_codes`",
            ),
            (false, Some(first)) => draft.surprise(
                &first.field.place(),
                format!("these statuses are not tried again: `retry_on` does not have `{STATUSES}`"),
                format!("add `{STATUSES}` to it"),
            ),
            _ => {}
        }
    }
    if read.errors.contains(&ErrorKind::RateLimited) && !has("envoy-ratelimited") && !has("resource-exhausted") {
        draft.surprise(
            &place,
            "429 is tried again, but not where a rate limit of Envoy says so (`x-envoy-ratelimited`)",
            "add `envoy-ratelimited` if that is to be tried again, too",
        );
    }
    if has("unavailable") && !is_server_error && !read.has_503 {
        draft.surprise(
            &place,
            "`unavailable` is the status of gRPC: a 503 of HTTP is not tried again for it",
            "for a service that speaks HTTP take `unavailable` out of the scenario's `retry_on`",
        );
    }
    if read.has_503 && !is_server_error && !has("reset") {
        draft.surprise(
            &place,
            "503 is that of the service itself: a connection that breaks, or a try that takes too long, is none",
            "add `reset` if that is to be tried again, too",
        );
    }
}
