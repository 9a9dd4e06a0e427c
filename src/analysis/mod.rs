//! What follows from a plan without a run.

mod worst_case;

pub use worst_case::{Allowance, allowance, attempts_at_most};
