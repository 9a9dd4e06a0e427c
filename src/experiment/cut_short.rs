//! What is said of a variant some of whose replicas could not go on.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::metrics::{Limit, Outcome};
use crate::plan::Plan;

/// Replicas of a variant that a limit of the simulator cut short: how many, and where the first of them was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutShort {
    /// How many replicas were cut short; at least 1.
    pub replicas: u32,
    /// The first of them, from 0.
    pub replica: u32,
    /// When that was, in virtual time, in seconds.
    pub at_s: f64,
    /// Which limit it reached; in `summary.json` by its name.
    #[serde(serialize_with = "by_name")]
    pub limit: Limit,
    /// The service with the most in progress then, the first of several; none if nothing was.
    pub fullest: Option<Fullest>,
}

/// A service, and how much it had to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fullest {
    /// Its name.
    pub service: String,
    /// How many arrivals were in progress there.
    pub in_progress: u64,
}

impl CutShort {
    /// Of a single replica that reached a limit.
    pub(super) fn of(plan: &Plan, replica: u32, outcome: &Outcome, limit: Limit) -> Self {
        let in_progress = outcome.services.iter().map(|service| service.in_progress).zip(&plan.labels.services);
        let fullest = in_progress
            .filter(|&(in_progress, _)| in_progress > 0)
            .rev()
            .max_by_key(|&(in_progress, _)| in_progress)
            .map(|(in_progress, service)| Fullest { service: service.clone(), in_progress });
        Self { replicas: 1, replica, at_s: outcome.end.as_s(), limit, fullest }
    }

    /// Of all of these replicas, in their order; none of none.
    pub(super) fn all<'a>(mut cuts: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let first = cuts.next()?;
        let others: u32 = cuts.map(|cut| cut.replicas).sum();
        Some(Self { replicas: first.replicas + others, ..first.clone() })
    }
}

impl fmt::Display for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replica {}, at {} s: {}", self.replica, self.at_s, self.limit)?;
        match &self.fullest {
            Some(Fullest { service, in_progress }) if self.limit == Limit::Frames => {
                write!(f, "; the most of them are at `{service}`: {in_progress}")
            }
            _ => Ok(()),
        }
    }
}

fn by_name<S: Serializer>(limit: &Limit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match limit {
        Limit::VirtualTime => "virtual_time",
        Limit::Frames => "in_progress",
        Limit::Instant => "one_instant",
        Limit::Buckets => "timeline_buckets",
        Limit::Events => "events",
    })
}
