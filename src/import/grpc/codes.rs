//! Status codes as the errors of a scenario.

use crate::failure::ErrorKind::{
    self, Deadline, Internal, Invalid, Overloaded, RateLimited, Refused, Reset, Unavailable,
};
use crate::import::draft::{Block, Draft};
use crate::import::section::Field;
use crate::import::tree::Value;
use crate::import::values::errors;

/// What a status code is to a scenario.
#[derive(Clone, Copy)]
enum Meaning {
    /// It may pass on a second try.
    Errors(&'static [ErrorKind]),
    /// The request itself is wrong.
    Wrong,
    /// The time of the call was up.
    TooLate,
    /// No error of a scenario is like it.
    None,
}

use Meaning::{Errors, TooLate, Wrong};

/// The codes, by number.
const CODES: [(&str, Meaning); 17] = [
    ("OK", Meaning::None),
    ("CANCELLED", Meaning::None),
    ("UNKNOWN", Errors(&[Internal])),
    ("INVALID_ARGUMENT", Wrong),
    ("DEADLINE_EXCEEDED", TooLate),
    ("NOT_FOUND", Wrong),
    ("ALREADY_EXISTS", Wrong),
    ("PERMISSION_DENIED", Wrong),
    ("RESOURCE_EXHAUSTED", Errors(&[RateLimited, Overloaded])),
    ("FAILED_PRECONDITION", Wrong),
    ("ABORTED", Meaning::None),
    ("OUT_OF_RANGE", Wrong),
    ("UNIMPLEMENTED", Wrong),
    ("INTERNAL", Errors(&[Internal])),
    ("UNAVAILABLE", Errors(&[Unavailable, Refused, Reset, Overloaded])),
    ("DATA_LOSS", Errors(&[Internal])),
    ("UNAUTHENTICATED", Wrong),
];

/// Puts the errors that are tried again into a policy. Codes have names, in any case, or numbers.
pub fn retried(policy: &mut Block, field: &Field<'_>, draft: &mut Draft) {
    let items = match &field.node.value {
        Value::List(items) if !items.is_empty() => items,
        _ => {
            let message = format!("`{}` must be a list of status codes, at least one", field.path);
            return draft.wrong(&field.node.place, message, "gRPC refuses it: the usual one is `[\"UNAVAILABLE\"]`");
        }
    };
    let errors_before = draft.errors.len();
    let mut kinds = Vec::new();
    for node in items {
        let item = Field { key: &node.place, node, ..field.clone() };
        let Some(said) = draft.text(&item) else { continue };
        let by_number = said.parse().ok().and_then(|number: usize| CODES.get(number));
        let Some((name, meaning)) =
            by_number.or_else(|| CODES.iter().find(|(name, _)| name.eq_ignore_ascii_case(said)))
        else {
            draft.wrong(&node.place, format!("`{said}` is no status code of gRPC"), "use its name or its number");
            continue;
        };
        match meaning {
            Errors(more) => kinds.extend(*more),
            Wrong => {
                kinds.push(Invalid);
                let message = format!("`{name}` fails again: the request itself is wrong");
                draft.surprise(&node.place, message, "take it out");
            }
            TooLate => {
                kinds.push(Deadline);
                let message = format!("a deadline spans all attempts: `{name}` of the client is never tried again");
                draft.surprise(&node.place, message, "only that of a server further on is");
            }
            Meaning::None => {
                // Of a number it is said which code that is.
                let path = by_number.map_or_else(|| field.path.clone(), |_| format!("{} {name}", field.path));
                let item = Field { name, path, ..item };
                draft.leave_out(policy, &item, "no error of a scenario is like it");
            }
        }
    }
    if kinds.is_empty() && draft.errors.len() == errors_before {
        let message = "nothing is tried again in the scenario: no error of it is like any of these codes";
        draft.surprise(&field.place(), message, "put into `retry_on` what stands for them");
    }
    policy.read("retry_on", errors(kinds), field);
}
