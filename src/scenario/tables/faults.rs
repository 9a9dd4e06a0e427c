//! Faults.

use crate::failure::ErrorKind;
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrNone, Spanned};
use crate::scenario::tables::DistSetting;
use crate::scenario::unbuilt;
use crate::scenario::values::{Duration, Share, Text};

table! {
    /// Something that goes wrong for a while.
    FaultTable is "a fault", unbuilt unbuilt::FAULT, exclusive &[("until", "lasts")];
    /// The services it strikes. Required. Example: `["db"]`.
    on: Vec<Spanned<Text>>,
    /// When it begins. Default: `"0s"`. Example: `"30s"`.
    from: Duration,
    /// When it is over. Default: `"none"`, never. Example: `"10s"`.
    until: OrNone<Duration>,
    /// How long it lasts, instead of `until`. Default: as `until` says. Example: `"10s"`.
    lasts: OrNone<Duration>,
    /// What it does. Required. Example: `"refuse"` or `{ fail = { probability = 0.5 } }`.
    effect: EffectChoice,
}

choice! {
    /// What a fault does to the attempts that arrive while it is there.
    EffectChoice is "an effect", unbuilt unbuilt::EFFECT;
    /// They are turned away at once with `refused`.
    "refuse" => Refuse,
    /// They fail without work being done.
    "fail" => Fail(FailTable),
}

table! {
    /// How attempts fail.
    FailTable is "a failure", unbuilt unbuilt::FAIL, exclusive &[];
    /// How likely an attempt fails. Default: `1.0`. Example: `0.5`.
    probability: Share,
    /// With which error. Default: `"unavailable"`. Example: `"overloaded"`.
    error: ErrorKind,
    /// How long until the error is returned. Default: `"0s"`. Example: `"20ms"`.
    delay: DistSetting,
}
