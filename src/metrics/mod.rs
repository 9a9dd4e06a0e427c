//! What is measured: an [`Outcome`] holds the counts of one replica, [`catalogue`] names every metric that is read from them.

pub mod catalogue;
mod latency;
mod outcome;
mod recorder;
mod timeline;

pub use latency::Latency;
pub use outcome::{CallTally, End, Limit, Outcome, RequestTally, ServiceTally};
pub use recorder::{PEAK_WINDOW, Recorder};
pub use timeline::{Bucket, Timeline};
