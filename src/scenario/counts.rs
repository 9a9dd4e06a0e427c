//! Numbers in whose place a zero is a common slip: it is refused with what was probably meant by it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::scenario::document::{Node, Value};
use crate::scenario::reader::{Read, Reader};
use crate::scenario::shape::Shape;
use crate::scenario::values::{Rate, Whole};

/// The most of anything that is counted without a limit of its own. It leaves the largest number for "no limit".
const MANY: u64 = 1 << 31;

/// The most servers of one service.
const INSTANCES_MAX: u64 = 10_000;

/// The most that may wait at one server: more work cannot be in progress.
const QUEUE_MAX: u64 = 1 << 28;

/// A number, which refuses zero itself; what to write instead of zero is told beside that.
macro_rules! never_zero {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $instead:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub $inner);

        impl Read for $name {
            const SHAPE: Shape = <$inner as Read>::SHAPE;

            fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
                let errors_before = reader.errors.len();
                let read = <$inner>::read(node, reader).map(Self);
                if is_zero(&node.value) {
                    for error in &mut reader.errors[errors_before..] {
                        *error = error.clone().hint($instead);
                    }
                }
                read
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                <$inner>::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                <$inner>::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$inner>::json_schema(generator)
            }
        }
    )+};
}

never_zero! {
    /// How many servers a service has.
    Instances(Whole<1, INSTANCES_MAX>), "for a service that is down write a fault with `effect = \"refuse\"`";
    /// How many arrivals a server works on at once.
    Workers(Whole<1, MANY>),
        "write `\"unlimited\"` for no limit; for a service that is down write a fault with `effect = \"refuse\"`";
    /// How many arrivals may be in progress at a service.
    InFlight(Whole<1, MANY>),
        "write `\"unlimited\"` for no limit; for a service that is down write a fault with `effect = \"refuse\"`";
    /// How many arrivals may wait at a server.
    QueueLimit(Whole<1, QUEUE_MAX>), "for no queue at all: with one server that holds its workers, set `max_in_flight` to their number";
    /// How many servers of a service a fault strikes.
    FirstInstances(Whole<1, INSTANCES_MAX>), "take the fault out if it strikes none";
    /// How many attempts of a call may be under way.
    PoolSize(Whole<1, MANY>), "for attempts without limit write `pool = \"none\"`";
    /// How many arrivals a limiter lets in at once or in one window.
    Admitted(Whole<1, MANY>), "for no limiter write `limiter = \"none\"`";
    /// How many failures open a breaker or eject a server.
    Failures(Whole<1, MANY>), "a single failure is `1`; to switch it off write `\"none\"` for the whole";
    /// How many must have ended before a breaker opens.
    MinCalls(Whole<1, MANY>), "for no minimum write `1`";
    /// How many calls a breaker looks back on.
    WindowCalls(Whole<1, 1_000_000>), "for the time before write a `window` instead";
    /// How many probes a half-open breaker lets through.
    Probes(Whole<1, MANY>), "without a probe it would never close again";
    /// How many hedges may be under way.
    HedgesInFlight(Whole<1, MANY>), "for no hedge write `hedge = \"none\"`";
    /// How many arrivals/s a limiter lets in.
    AdmittedRate(Rate), "for no limiter write `limiter = \"none\"`";
}

/// So many do not slow a server down.
pub type Knee = Whole<0, MANY>;

fn is_zero(value: &Value) -> bool {
    match *value {
        Value::Integer(number) => number == 0,
        Value::Float(number) => number == 0.0,
        _ => false,
    }
}
