//! What follows from a plan without a run: how calls go when they fail, what multiplies along paths, what services have
//! to do then.
//!
//! Nothing is drawn and nothing is simulated here. Where the engine comes to the same figures, a test runs both.

mod answers;
mod attempt;
mod call;
mod course;
mod explain;
mod graph;
mod holding;
mod ladder;
pub mod lint;
mod load;
mod peak;
mod preset;
mod servers;
mod success;
mod worst_case;

pub use call::{CallExplained, CalleeTimes, Fate, Unfit, WaitExplained};
pub use course::{Course, Endless, Over, Start};
pub use explain::{Explanation, FAILURE_DEFAULT, FALSE_TIMEOUTS_DEFAULT, Questions, explain};
pub use ladder::{Hop, Path};
pub use load::{AttemptsOfClient, ServiceLoad, Standing};
pub use preset::{PresetExplained, PresetWait};
pub use success::Success;
pub use worst_case::{Allowance, allowance, attempts_at_most, attempts_once};
