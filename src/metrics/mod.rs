//! What is measured: an [`Outcome`] holds the counts of one replica, [`catalogue`] names every metric that is read from
//! them.

mod buckets;
pub mod catalogue;
mod latency;
mod level;
mod meter;
mod outcome;
mod protection;
mod recorder;
mod recovery;
mod timeline;
mod tokens;

pub use latency::Latency;
pub use outcome::{Aftermath, CallTally, End, FaultTally, Limit, Outcome, RequestTally, ServiceTally, WindowOutcome};
pub use protection::ProtectionTally;
pub use recorder::{PEAK_WINDOW, Recorder, RequestEnd, RunEnd};
pub use timeline::{Bucket, Timeline, TokenLevel};
pub(crate) use tokens::kept_summands;
