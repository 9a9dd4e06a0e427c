//! Services.

use crate::scenario::declare::table;
use crate::scenario::field::Named;
use crate::scenario::tables::{CallTable, DistSetting};
use crate::scenario::unbuilt;

table! {
    /// A service: it works for its service time, makes its calls, and answers.
    ServiceTable is "a service", unbuilt unbuilt::SERVICE, exclusive &[];
    /// How long its own work takes. Default: `"0s"`. Example: `"5ms"` or `{ exponential = { mean = "5ms" } }`.
    service_time: DistSetting,
    /// Its calls, by label, made one after another after its own work, in the order of the file. Default: none.
    calls: Named<CallTable>,
}
