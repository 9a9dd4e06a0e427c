//! stormsim: a virtual-clock simulator of retry storms.

pub mod dist;
pub mod experiment;
pub mod failure;
pub mod metrics;
pub mod plan;
pub mod policy;
pub mod report;
pub mod scenario;
pub mod sim;
pub mod time;
