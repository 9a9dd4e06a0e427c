//! What services have to do when every attempt fails, against what they can do.

use serde::Serialize;

use crate::analysis::{attempts_at_most, attempts_once};
use crate::plan::{Arrivals, GroupId, Plan};

/// How a service stands when all attempts that can be made are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It can do even that: whatever happens, it comes back from it by itself.
    Stable,
    /// It can do what is asked of it, but not all the retries: something may bring it down, and they keep it there.
    Vulnerable,
    /// It cannot do what is asked of it even if nothing fails.
    Overloaded,
}

/// A service and its load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServiceLoad {
    /// The service.
    pub service: String,
    /// What it can do per second; none without a limit.
    pub capacity_rps: Option<f64>,
    /// What arrives per second while nothing fails; none where clients come in bursts, or in other ways without a rate.
    pub offered_rps: Option<f64>,
    /// What arrives per second if every attempt fails; none without a rate, without a limit to attempts, or where a
    /// budget limits them.
    pub failing_rps: Option<f64>,
    /// How it stands; none where that cannot be told.
    pub standing: Option<Standing>,
}

/// Every service of a plan.
pub fn loads(plan: &Plan) -> Vec<ServiceLoad> {
    let groups: Vec<GroupId> = (0..plan.groups.len() as u32).map(GroupId).collect();
    let total = |once: bool| -> Option<Vec<f64>> {
        let mut all = vec![0.0; plan.services.len()];
        for &group in &groups {
            let rate = rate(&plan.groups[group.index()].arrivals)?;
            let attempts = if once { attempts_once(plan, group) } else { attempts_at_most(plan, group)? };
            for (sum, attempts) in all.iter_mut().zip(attempts) {
                *sum += rate * attempts;
            }
        }
        Some(all)
    };
    let (offered, failing) = (total(true), total(false));
    let load = |(at, name): (usize, &String)| {
        let capacity_rps = plan.services[at].capacity_rps();
        let [offered_rps, failing_rps] = [&offered, &failing].map(|all| all.as_ref().map(|all| all[at]));
        ServiceLoad {
            service: name.clone(),
            capacity_rps,
            offered_rps,
            failing_rps,
            standing: standing(capacity_rps, offered_rps, failing_rps),
        }
    };
    plan.labels.services.iter().enumerate().map(load).collect()
}

fn standing(capacity: Option<f64>, offered: Option<f64>, failing: Option<f64>) -> Option<Standing> {
    let (capacity, offered) = (capacity?, offered?);
    if offered > capacity {
        return Some(Standing::Overloaded);
    }
    Some(if failing? > capacity { Standing::Vulnerable } else { Standing::Stable })
}

/// The highest rate of a group's requests, per second; none where they have no rate of their own.
fn rate(arrivals: &Arrivals) -> Option<f64> {
    match arrivals {
        Arrivals::Constant { rate } => Some(*rate),
        Arrivals::Poisson(profile) => Some(profile.peak()),
        Arrivals::Burst { .. } | Arrivals::Trace(_) | Arrivals::Periodic { .. } | Arrivals::Closed { .. } => None,
    }
}
