//! What a sweep varies and shows.

use crate::scenario::declare::table;
use crate::scenario::field::Spanned;
use crate::scenario::values::{AxisText, Text};

table! {
    /// What `stormsim sweep` varies, as its flags do: all combinations of the values are simulated.
    SweepTable is "a sweep", exclusive &[];
    /// The settings that vary, each with its values: `PATH=v1,v2`, or `PATH=FROM..TO/COUNT` for so many evenly spaced values, or `PATH=log:FROM..TO/COUNT` for values that grow by the same factor. Default: `[]`. Example: `["clients.web.arrivals.constant.rate=10..100/10", "retries.patient.max_attempts=1,2,4"]`.
    vary: Vec<Spanned<AxisText>>,
    /// The figures that are measured and shown: metrics of the scenario, and those of single things by their path. Default: every metric of the scenario and of its faults. Example: `["success_ratio", "services.db.amplification"]`.
    metrics: Vec<Spanned<Text>>,
}
