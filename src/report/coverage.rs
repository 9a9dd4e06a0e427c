//! How many of the replicas that were wanted the figures cover.

use crate::experiment::Summary;
use crate::number;

/// `20 replicas`, `1 replica`; of a run that was cut short `37 of 2,000 replicas`, or `0 to 37 of 2,000 replicas` where
/// variants differ. Replicas that a limit of the simulator cut short have figures, and count.
pub(crate) fn replicas(summary: &Summary) -> String {
    let covered = || summary.variants.iter().map(|variant| variant.replicas.len());
    let wanted = number::whole(summary.replicas as usize);
    let noun = if summary.replicas == 1 { "replica" } else { "replicas" };
    match (covered().min(), covered().max()) {
        (Some(least), Some(most)) if least < summary.replicas as usize => {
            let [least_shown, most_shown] = [least, most].map(number::whole);
            let covered = if least == most { most_shown } else { format!("{least_shown} to {most_shown}") };
            format!("{covered} of {wanted} {noun}")
        }
        _ => format!("{wanted} {noun}"),
    }
}
