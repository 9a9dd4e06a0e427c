//! What follows from a plan without a run: how calls go when they fail, what multiplies along paths, what services have
//! to do then.
//!
//! Nothing is drawn and nothing is simulated here. Where the engine comes to the same figures, a test runs both.

mod answers;
mod course;
mod explain;
mod ladder;
pub mod lint;
mod load;
mod peak;
mod worst_case;

pub use course::{Course, Failing, Over, Waits};
pub use explain::{
    CallExplained, CalleeTimes, Explanation, Extremes, FAILURE_DEFAULT, FALSE_TIMEOUTS_DEFAULT, Questions, Success,
    WaitExplained, explain,
};
pub use ladder::{Hop, Path};
pub use load::{ServiceLoad, Standing};
pub use peak::retry_peak;
pub use worst_case::{Allowance, allowance, attempts_at_most, attempts_once};
