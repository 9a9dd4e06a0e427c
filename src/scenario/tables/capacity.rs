//! What a service can do at once, and what it does when that is not enough.

use crate::scenario::counts::{Admitted, AdmittedRate, Knee, QueueLimit};
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrNone, OrUnlimited};
use crate::scenario::values::{Duration, NotNegative};

choice! {
    /// Which server an arrival goes to. The load of a server is the number of arrivals in progress there.
    BalanceChoice is "a balancer";
    /// Each in turn.
    "round_robin" => RoundRobin,
    /// Any, all equally likely.
    "random" => Random,
    /// The one with the least load; of several the lowest.
    "least_loaded" => LeastLoaded,
    /// Of two drawn at random the one with less load; the first drawn if they are equal.
    "two_choices" => TwoChoices,
    /// The lowest.
    "primary" => Primary,
    /// The one whose number is that of the copy of the call, such as a shard, modulo the number of servers.
    "by_copy" => ByCopy,
}

table! {
    /// Where arrivals wait for a worker; each server has one.
    QueueTable is "a queue", exclusive &[];
    /// How many may wait at a server; one more is answered with `overloaded`. Default: `"unlimited"`. Example: `100`.
    limit: OrUnlimited<QueueLimit>,
    /// Whose turn is next. Default: `"fifo"`. Example: `"lifo"`.
    order: QueueOrderChoice,
    /// Who is discarded when its turn comes, and answered with `overloaded`. Default: `"never"`. Example: `"expired"` or `{ codel = { target = "5ms" } }`.
    drop: DropChoice,
}

choice! {
    /// Whose turn is next.
    QueueOrderChoice is "a queue order";
    /// The oldest.
    "fifo" => Fifo,
    /// The newest.
    "lifo" => Lifo,
    /// The newest while the queue has not been empty for 100 ms, else the oldest.
    "adaptive_lifo" => AdaptiveLifo,
}

choice! {
    /// Who is discarded when its turn comes.
    DropChoice is "a drop rule";
    /// Nobody.
    "never" => Never,
    /// Whose caller has stopped waiting by then: its deadline or timeout has passed.
    "expired" => Expired,
    /// Whose caller will stop waiting before its service is over. (How long that takes is drawn for each attempt: a retry of a long one may be short, so that this looks better than it is where service times are random.)
    "deadline_aware" => DeadlineAware,
    /// Who has waited longer than twice the target, while the queue does not become short (the rule of `folly::Codel`).
    "codel" => Codel(CodelTable),
}

table! {
    /// Controlled delay: an interval in which no wait was below the target makes the next one shed.
    CodelTable is "controlled delay", exclusive &[];
    /// The wait that a good queue falls to at least once in each interval; above zero. Default: `"5ms"`. Example: `"20ms"`.
    target: Duration,
    /// How long that is looked at; above zero. Default: `"100ms"`. Example: `"500ms"`.
    interval: Duration,
}

choice! {
    /// How many arrivals each server lets in over time; the others are answered with `rate_limited`.
    LimiterChoice is "a limiter";
    /// All of them.
    "none" => None,
    /// So many in each window of a fixed width.
    "fixed_window" => FixedWindow(FixedWindowTable),
    /// As many as there are tokens, which flow in evenly.
    "token_bucket" => TokenBucket(LimiterBucketTable),
}

table! {
    /// Windows that begin at the start of the run and every `every` after it.
    FixedWindowTable is "a fixed window", exclusive &[];
    /// How many arrivals each window lets in, the first ones. Required. Example: `1000`.
    limit: Admitted,
    /// The width of the windows; above zero. Required. Example: `"100ms"`.
    every: Duration,
    /// When its answer says that it is worth trying again. Default: `"none"`. Example: `"1s"`.
    retry_after: OrNone<Duration>,
}

table! {
    /// A bucket that is full at the start, and of which each arrival that is let in takes one token.
    LimiterBucketTable is "a token bucket of a limiter", exclusive &[];
    /// How many tokens flow in per second. Required. Example: `500`.
    rate: AdmittedRate,
    /// The most that it holds. Required. Example: `50`.
    burst: Admitted,
    /// When its answer says that it is worth trying again. Default: `"none"`. Example: `"1s"`.
    retry_after: OrNone<Duration>,
}

table! {
    /// How a server slows down as it works on more at once: service takes `1 + slope * (n - knee)` times as long, where `n` is how many it works on then, if that is above the knee.
    ContentionTable is "contention", exclusive &[];
    /// So many at once do not slow each other down. Required. Example: `50`.
    knee: Knee,
    /// What each further one adds, as a share of the service time. Required. Example: `0.02`.
    slope: NotNegative,
}

choice! {
    /// What a service does with work whose caller has given up.
    CancelChoice is "a way to cancel";
    /// It does not learn of it, and goes on.
    "ignore" => Ignore,
    /// It takes out of its queue what waits there; what has begun goes on.
    "queued" => Queued,
    /// It ends it at once, whatever it is doing, with all calls that it makes.
    "running" => Running,
}
