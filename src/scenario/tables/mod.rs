//! The format as typed tables: every key with what it means, what its absence means, and an example.
//!
//! What is absent, wrong or good is told apart here; what follows from it is decided in
//! [`resolve`](crate::scenario::resolve).

mod allow;
mod arrivals;
mod budgets;
mod calls;
mod capacity;
mod clients;
mod dists;
mod expect;
mod faults;
mod operations;
mod protection;
mod recovery;
mod retries;
mod services;
mod sweep;

pub use allow::AllowTable;
pub use arrivals::{ArrivalsChoice, ClosedTable, PeriodicTable, PointTable, TraceTable};
pub use budgets::{
    AwsModeChoice, AwsQuotaTable, BudgetChoice, ConcurrencyTable, DepositChoice, GrpcThrottleTable,
    RatioOfRequestsTable, RoundingChoice, SharedByChoice, SharedOverChoice, TokenBucketTable, WindowedRatioTable,
};
pub use calls::CallTable;
pub use capacity::{
    BalanceChoice, CancelChoice, CodelTable, ContentionTable, DropChoice, FixedWindowTable, LimiterBucketTable,
    LimiterChoice, QueueOrderChoice, QueueTable,
};
pub use clients::ClientTable;
pub use dists::{DistChoice, DistSetting, LognormalTable, PercentilesTable, UniformTable};
pub use expect::ExpectTable;
pub use faults::{DirectionChoice, EffectChoice, FailTable, FaultTable, LossTable, RandomTable, SlowTable};
pub use operations::{IdempotencyChoice, OnExhaustedChoice, StoreTable, StoreWaitChoice};
pub use protection::{
    AdaptiveTable, AdmissionTable, BreakerTable, CountTable, CountsChoice, EjectionTable, HedgeTable, PositionChoice,
    ThrottleChoice, TripChoice,
};
pub use recovery::RecoveryTable;
pub use retries::{
    BackoffChoice, BeyondChoice, CapOrderChoice, DelayRuleChoice, JitterChoice, RetryAfterTable, RetryTable,
};
pub use services::ServiceTable;
pub use sweep::SweepTable;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::declare::table;
use crate::scenario::document::{Node, Value};
use crate::scenario::field::{Named, OrNone, Spanned};
use crate::scenario::reader::{Read, Reader};
use crate::scenario::shape::Shape;
use crate::scenario::values::{Duration, Name, Replicas, Seed, Version};

table! {
    /// A scenario for stormsim: clients, services, the calls between them, retry policies and faults.
    ScenarioTable is "a scenario", exclusive &[];
    /// The version of this format. Required. Example: `1`.
    version: Version,
    /// What the scenario is called; names the output folder. Required. Example: `"three-tier"`.
    name: Name,
    /// Decides every random draw: the same seed gives the same results. Default: `42`. Example: `7`.
    seed: Seed,
    /// How many times each variant is run, each with its own draws. Default: `20`. Example: `1000`.
    replicas: Replicas,
    /// Where a run ends. Default: `"none"`, when arrivals are exhausted and no work is left. Example: `"60s"`.
    horizon: OrNone<Duration>,
    /// What happens before this is simulated but not measured: request metrics cover the requests that begin from then on, flow metrics what happens from then on. Windows of expectations and the timeline are not affected. Below the horizon. Default: `"0s"`. Example: `"10s"`.
    warmup: Duration,
    /// The width of a bucket of the timeline, which all variants share. Default: `"100ms"`. Example: `"1s"`.
    bucket: Duration,
    /// When a fault counts as recovered from. Default: `{}`. Example: `{ hold = "30s", share = 0.99 }`.
    recovery: RecoveryTable,
    /// Groups of identical clients, by name. Required. Example: `{ web = { arrivals = { burst = {} }, calls = { gateway = {} } } }`.
    clients: Named<ClientTable>,
    /// Services, by name. They share one namespace with the clients. Default: `{}`. Example: `{ gateway = { service_time = "5ms" } }`.
    services: Named<ServiceTable>,
    /// Retry policies, by name. Default: `{}`. Example: `{ patient = { max_retries = 2 } }`.
    retries: Named<RetryTable>,
    /// Things that go wrong for a while, by name. Default: `{}`. Example: `{ outage = { on = ["db"], effect = "refuse" } }`.
    faults: Named<FaultTable>,
    /// Variants, by name: each overrides settings by their paths. With any, only the variants are run. Default: `{}`. Example: `{ fixed = { "retries.patient.backoff" = { fixed = "1s" } } }`.
    variants: Named<VariantTable>,
    /// What `stormsim sweep` varies where its flags do not say. Default: `{}`. Example: `{ vary = ["retries.patient.max_attempts=1,2,4"], metrics = ["success_ratio"] }`.
    sweep: SweepTable,
    /// What `stormsim lint` may find here. Default: `[]`. Example: `[{ rules = ["no-jitter"], reason = "one client: there is nobody to be spread from" }]`.
    allow: Vec<Spanned<AllowTable>>,
    /// What must come out. Default: `[]`. Example: `[{ metric = "amplification", service = "db", at_most = 3 }]`.
    expect: Vec<Spanned<ExpectTable>>,
}

/// Settings by path, such as `"retries.patient.backoff" = { fixed = "1s" }`. An empty one is the file as it stands.
#[derive(Clone, Debug)]
pub struct VariantTable;

impl Read for VariantTable {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        // What the paths say is read with the values they override, see `overrides`.
        match node.value {
            Value::Table(_) => Some(Self),
            _ => reader.mismatch(node, "a table of settings by path"),
        }
    }
}

impl JsonSchema for VariantTable {
    fn schema_name() -> Cow<'static, str> {
        "VariantTable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a variant",
            "description": "Settings by path, such as `\"retries.patient.backoff\" = { fixed = \"1s\" }`.",
            "type": "object",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::shape::TableShape;

    /// The schema and the reader come from one list of keys: the same keys, all explained, and nothing else allowed.
    #[test]
    fn the_schema_has_every_key_of_the_format_with_a_description() {
        let schema = schemars::schema_for!(ScenarioTable);
        let keys = check(schema.as_value(), &ScenarioTable::TABLE);
        let client = check(&schema.as_value()["$defs"]["ClientTable"], &ClientTable::TABLE);
        assert_eq!((keys, client), (ScenarioTable::TABLE.keys.len(), ClientTable::TABLE.keys.len()));
        check(&schema.as_value()["$defs"]["CallTable"], &CallTable::TABLE);
        check(&schema.as_value()["$defs"]["ServiceTable"], &ServiceTable::TABLE);
        check(&schema.as_value()["$defs"]["RetryTable"], &RetryTable::TABLE);
        check(&schema.as_value()["$defs"]["FaultTable"], &FaultTable::TABLE);
        check(&schema.as_value()["$defs"]["ExpectTable"], &ExpectTable::TABLE);
    }

    fn check(schema: &serde_json::Value, shape: &TableShape) -> usize {
        assert_eq!(schema["additionalProperties"], false, "{}", shape.noun);
        assert!(schema.get("required").is_none(), "what is required may come from a variant: {}", shape.noun);
        let properties = schema["properties"].as_object().unwrap();
        for key in shape.names() {
            let description = properties[key]["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "`{key}` of {} is not explained", shape.noun);
        }
        properties.len()
    }
}
