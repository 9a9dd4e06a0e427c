//! What `stormsim lint` finds and somebody has thought about.

use crate::scenario::declare::table;
use crate::scenario::field::Spanned;
use crate::scenario::values::{Name, PathText, RuleId, Text};

table! {
    /// Rules of `stormsim lint` that may find something here, because somebody has thought about it.
    AllowTable is "what is allowed", exclusive &[];
    /// The rules; `docs/lint.md` lists them. Required. Example: `["no-jitter"]`.
    rules: Vec<Spanned<RuleId>>,
    /// Why. Required. Example: `"one client: there is nobody to be spread from"`.
    reason: Text,
    /// Only what they find at this path, or beneath it. Default: everything in the file. Example: `"retries.patient"`.
    at: PathText,
    /// Only what they find in these variants. Default: all of them. Example: `["fixed"]`.
    variants: Vec<Spanned<Name>>,
}
