//! Services.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::counts::{InFlight, Instances, Workers};
use crate::scenario::declare::table;
use crate::scenario::document::{Node, Value};
use crate::scenario::field::{Named, OrNone, OrUnlimited, Spanned};
use crate::scenario::reader::{Read, Reader};
use crate::scenario::shape::Shape;
use crate::scenario::tables::{
    BalanceChoice, CallTable, CancelChoice, ContentionTable, DistSetting, EjectionTable, LimiterChoice, QueueTable,
    StoreTable,
};
use crate::scenario::values::Name;

table! {
    /// A service: it works for its service time, makes its calls, and answers.
    ServiceTable is "a service", exclusive &[];
    /// How long its own work takes. Default: `"0s"`. Example: `"5ms"` or `{ exponential = { mean = "5ms" } }`.
    service_time: DistSetting,
    /// How many identical servers it has, behind a balancer. Each has its own workers, queue and limiter. Default: `1`. Example: `3`.
    instances: Instances,
    /// Which server an arrival goes to. Default: `"round_robin"`. Example: `"least_loaded"`.
    balance: BalanceChoice,
    /// When the balancer sends nothing to a server for a while. Default: `"none"`. Example: `{ consecutive = 5, ejected_for = "30s", max_share = 0.5 }`.
    ejection: OrNone<EjectionTable>,
    /// How many arrivals a server works on at once. Default: `"unlimited"`. Example: `64`.
    workers: OrUnlimited<Workers>,
    /// Whether a worker is kept while the calls of its arrival run, waits between retries included; otherwise only for the service time. Default: `true`. Example: `false`.
    holds_worker: bool,
    /// The most arrivals in progress at once, waiting ones included, on all servers together; one more is answered with `overloaded`. Default: `"unlimited"`. Example: `1000`.
    max_in_flight: OrUnlimited<InFlight>,
    /// Where arrivals wait for a worker. Default: `{}`. Example: `{ limit = 100, order = "lifo" }`.
    queue: QueueTable,
    /// How many arrivals each server lets in over time; the others are answered with `rate_limited`. Default: `"none"`. Example: `{ fixed_window = { limit = 1000, every = "100ms" } }`.
    limiter: LimiterChoice,
    /// How a server slows down as it works on more at once. Default: `"none"`. Example: `{ knee = 50, slope = 0.02 }`.
    contention: OrNone<ContentionTable>,
    /// What becomes of work whose caller has given up. Default: `"ignore"`. Example: `"running"`.
    cancel: CancelChoice,
    /// Whether its work has a side effect, such as a charge or a message. It takes place when the service time is over, also if nobody waits any more. The same operation done again is one of the `duplicate_effects`; and a request that ends badly is `unknown`, not `failed`, if an attempt beneath it was sent here and got no answer. Default: `false`. Example: `true`.
    writes: bool,
    /// Where it remembers operations, by the idempotency keys of clients, so as not to do them twice. Default: `"none"`. Example: `{ ttl = "24h" }`.
    idempotency_store: OrNone<StoreTable>,
    /// The order of its calls, by label: one step after another; a list within the list is a step whose calls run in parallel. Fallbacks have no place in it. Default: in the order of the file, one after another. Example: `["auth", ["shard", "ads"]]`.
    call_order: Vec<Spanned<Step>>,
    /// Its calls, by label, made after its own work. Default: `{}`. Example: `{ db = { timeout = "1s" } }`.
    calls: Named<CallTable>,
}

/// A step of a service: the labels of the calls that run in parallel.
#[derive(Clone, Debug)]
pub struct Step(pub Vec<Spanned<Name>>);

impl Read for Step {
    const SHAPE: Shape = Shape::Value;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::String(_) => Some(Self(vec![reader.spanned(node)?])),
            Value::List(_) => Vec::read(node, reader).map(Self),
            _ => reader.mismatch(node, "a list of labels such as `[\"auth\", [\"shard\", \"ads\"]]`"),
        }
    }
}

impl JsonSchema for Step {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Step".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let label = generator.subschema_for::<Name>();
        json_schema!({ "anyOf": [label, { "type": "array", "items": label, "minItems": 1 }] })
    }
}
