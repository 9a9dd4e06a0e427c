//! Faults.

use crate::failure::ErrorKind;
use crate::scenario::counts::FirstInstances;
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrNone, OrUnlimited, Spanned};
use crate::scenario::tables::DistSetting;
use crate::scenario::values::{Duration, NotNegative, Positive, Share, Text};

table! {
    /// Something that goes wrong for a while. With several targets it is a common cause: it is there for all of them at the same times.
    FaultTable is "a fault", exclusive &[("until", "lasts"), ("every", "random")];
    /// What it strikes: services, calls as `"caller->label"`, or client groups. Required. Example: `["db"]`.
    on: Vec<Spanned<Text>>,
    /// When it begins. Default: `"0s"`. Example: `"30s"`.
    from: Duration,
    /// When it is over. Default: `"none"`, never. Example: `"10s"`.
    until: OrNone<Duration>,
    /// How long it lasts, instead of `until`. Default: as `until` says. Example: `"10s"`.
    lasts: OrNone<Duration>,
    /// It comes again each time that this has passed since it began; longer than it lasts. Default: `"none"`. Example: `"60s"`.
    every: OrNone<Duration>,
    /// It comes and goes by chance between `from` and its end, differently in each replica. Default: `"none"`. Example: `{ up = { exponential = { mean = "60s" } }, down = "2s" }`.
    random: OrNone<RandomTable>,
    /// Of services it strikes only so many servers, the lowest numbered. Default: `"unlimited"`. Example: `1`.
    first_instances: OrUnlimited<FirstInstances>,
    /// What it does. Required. Example: `"refuse"` or `{ fail = { probability = 0.5 } }`.
    effect: EffectChoice,
}

table! {
    /// Times drawn in turns: good, bad, good, bad.
    RandomTable is "a random fault", exclusive &[];
    /// How long it is good. Required. Example: `{ exponential = { mean = "60s" } }`.
    up: DistSetting,
    /// How long it is bad. Required. Example: `"2s"`.
    down: DistSetting,
}

choice! {
    /// What a fault does while it is there.
    EffectChoice is "an effect";
    /// On services: attempts are turned away at once with `refused`.
    "refuse" => Refuse,
    /// On services and calls: attempts fail.
    "fail" => Fail(Box<FailTable>),
    /// On services and calls: attempts are lost on their way, and nobody says so.
    "blackhole" => BlackHole,
    /// On services: servers do no work. What is in service then begins anew when the pause is over, as does what would begin meanwhile: it ends its whole service time after that. What needs no worker goes on: arrivals are queued or turned away, and answers of services that are called are taken.
    "pause" => Pause,
    /// On services: what is in progress ends with `reset` when it begins; then attempts are turned away with `refused`.
    "crash" => Crash,
    /// On services: service that begins takes longer. On calls: the way there takes longer.
    "slow" => Slow(SlowTable),
    /// On services with limited `workers`: only a share of them is there.
    "capacity" => Capacity(FactorTable),
    /// On calls: messages are lost.
    "loss" => Loss(LossTable),
    /// On client groups with `constant`, `poisson` or `profile` arrivals: so many times the rate.
    "load" => Load(LoadTable),
}

table! {
    /// How attempts fail.
    FailTable is "a failure", exclusive &[];
    /// How likely an attempt fails. Default: `1.0`. Example: `0.5`.
    probability: Share,
    /// With which error. Default: `"unavailable"`. Example: `"overloaded"`.
    error: ErrorKind,
    /// How long until the error is returned. Not with `work`. Default: `"0s"`. Example: `"20ms"`.
    delay: DistSetting,
    /// Whether the service takes a worker and its service time first, as for any other, and has its side effect if it `writes`. Only on services. Default: `false`. Example: `true`.
    work: bool,
    /// How likely an attempt shares the fate of its epoch; else it has its own. The share that fails is the same in any case. Default: `0.0`. Example: `1.0`.
    correlation: Share,
    /// How long an epoch is; above zero. Default: `"1s"`. Example: `"100ms"`.
    epoch: Duration,
    /// When the error says that it is worth trying again. What clients make of that is up to their policy. Default: `"none"`. Example: `"60s"`.
    retry_after: OrNone<Duration>,
}

table! {
    /// How much longer it takes: one of the two.
    SlowTable is "slowness", exclusive &[("factor", "add")];
    /// So many times as long. Only on services. Required, or `add`. Example: `10`.
    factor: Positive,
    /// This much longer, drawn for each attempt. Required, or `factor`. Example: `"200ms"`.
    add: DistSetting,
}

table! {
    /// A share of what is there.
    FactorTable is "a loss of capacity", exclusive &[];
    /// The share of the workers that is left, rounded to whole workers, of which there must be one at least. Required. Example: `0.5`.
    factor: Share,
}

table! {
    /// Lost messages.
    LossTable is "a loss of messages", exclusive &[];
    /// How likely a message is lost. Default: `1.0`. Example: `0.1`.
    probability: Share,
    /// Which messages: of answers the work has been done. Default: `"request"`. Example: `"response"`.
    direction: DirectionChoice,
}

choice! {
    /// Which messages.
    DirectionChoice is "a direction";
    /// Those to the callee.
    "request" => Request,
    /// Those back.
    "response" => Response,
}

table! {
    /// More or fewer requests.
    LoadTable is "a load", exclusive &[];
    /// So many times the rate. Required. Example: `4`.
    factor: NotNegative,
}
