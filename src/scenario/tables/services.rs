//! Services.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::declare::table;
use crate::scenario::document::{Node, Value};
use crate::scenario::field::{Named, Spanned};
use crate::scenario::reader::{Read, Reader};
use crate::scenario::shape::Shape;
use crate::scenario::tables::{CallTable, DistSetting};
use crate::scenario::unbuilt;
use crate::scenario::values::Name;

table! {
    /// A service: it works for its service time, makes its calls, and answers.
    ServiceTable is "a service", unbuilt unbuilt::SERVICE, exclusive &[];
    /// How long its own work takes. Default: `"0s"`. Example: `"5ms"` or `{ exponential = { mean = "5ms" } }`.
    service_time: DistSetting,
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
