//! Retry budgets.

use crate::scenario::declare::{choice, table};
use crate::scenario::values::{Duration, NotNegative, Ratio, Share, Tokens, WholeTokens};

choice! {
    /// What retries must be paid from.
    BudgetChoice is "a budget";
    /// Nothing: only the policy limits them.
    "none" => None,
    /// A bucket of tokens: each success puts some in, each retry takes some out.
    "token_bucket" => TokenBucket(Box<TokenBucketTable>),
    /// gRPC's retry throttling: each failure takes a token, whether it is tried again or not, and there are retries only while more than half of the tokens are left.
    "grpc_throttle" => GrpcThrottle(GrpcThrottleTable),
    /// The retry quota of the AWS SDKs: a retry costs by the class of the error before it, and gets the cost back if it succeeds.
    "aws_quota" => AwsQuota(Box<AwsQuotaTable>),
    /// The budgets of Finagle, Linkerd and tower: a share of the calls, or of the successes, of the last seconds, and a reserve.
    "windowed_ratio" => WindowedRatio(Box<WindowedRatioTable>),
    /// Envoy's retry budget: so many retries at once, as a share of the attempts under way.
    "concurrency" => Concurrency(ConcurrencyTable),
    /// A share of all calls so far, which is what the rule of "at most 10 % retries" asks for.
    "ratio_of_requests" => RatioOfRequests(RatioOfRequestsTable),
}

table! {
    /// A bucket of tokens. Amounts have at most 6 decimals.
    TokenBucketTable is "a token bucket", exclusive &[];
    /// The most it holds; above 0. Required. Example: `10`.
    max: Tokens,
    /// What it holds at the start; at most `max`. Default: `max`. Example: `5`.
    initial: Tokens,
    /// What each success adds, a retry's too. Required. Example: `0.1`.
    per_success: Tokens,
    /// What each retry takes; at most `max`. Default: `1`. Example: `5`.
    cost: Tokens,
    /// What a retry takes after a `timeout`; at most `max`. Default: `cost`. Example: `10`.
    cost_timeout: Tokens,
    /// A retry is refused below this balance, as it is below its cost; at most `max`. Default: `cost`. Example: `2`.
    floor: Tokens,
}

table! {
    /// gRPC's retry throttling. It counts in thousandths of a token.
    GrpcThrottleTable is "a retry throttle", exclusive &[];
    /// `maxTokens`, the most and what is there at the start; from 0.001 to 1000. With 2 or fewer there is never a retry. Required. Example: `10`.
    max_tokens: Tokens,
    /// `tokenRatio`, what each success adds; at least 0.001. Decimals after the third are left out, as gRPC does. Required. Example: `0.1`.
    token_ratio: Tokens,
}

table! {
    /// The retry quota of the AWS SDKs, in whole tokens.
    AwsQuotaTable is "an AWS retry quota", exclusive &[];
    /// Whose costs it has. Required. Example: `"standard-2.1"`.
    mode: AwsModeChoice,
    /// The most, and what is there at the start; above 0, and not below any cost. Default: `500`. Example: `100`.
    max: WholeTokens,
    /// What a retry takes. Default: 14, or 5 before 2026. Example: `5`.
    cost: WholeTokens,
    /// What a retry takes after a `timeout`. Default: 14, or 10 before 2026. Example: `10`.
    cost_timeout: WholeTokens,
    /// What a retry takes after a `rate_limited` or `throttled`. Default: `5`. Example: `10`.
    cost_throttled: WholeTokens,
    /// What a call that succeeds at its first attempt puts in; with 0 only retries that succeed give anything back. Default: `1`. Example: `0`.
    per_success: WholeTokens,
}

choice! {
    /// The behaviour of the AWS SDKs changed on 2026-11-10.
    AwsModeChoice is "a mode";
    /// From then on: 14 for each retry, 5 after throttling.
    "standard-2.1" => V21,
    /// Until then: 5 for each retry, 10 after a timeout.
    "standard-pre2026" => Pre2026,
}

table! {
    /// Deposits and withdrawals that are forgotten after `ttl`, and a reserve of `min_per_second * ttl` retries that is there beside them, all of it at one instant if need be. Finagle's is `{ deposit = "start" }`, Linkerd's `{ deposit = "success", rounding = "tower" }`.
    WindowedRatioTable is "a windowed ratio", exclusive &[];
    /// How long they count; from `"1s"` to `"60s"`. Default: `"10s"`. Example: `"30s"`.
    ttl: Duration,
    /// Retries per second that need no deposits; at most 1000000. Default: `10`. Example: `3`.
    min_per_second: NotNegative,
    /// Retries for each deposit; 0, or from 0.000001 to 1000. Default: `0.2`. Example: `0.1`.
    ratio: Ratio,
    /// When deposits are made. Required. Example: `"start"`.
    deposit: DepositChoice,
    /// Whose arithmetic it has. Default: `"finagle"`. Example: `"tower"`.
    rounding: RoundingChoice,
}

choice! {
    /// When a windowed ratio is paid in.
    DepositChoice is "a moment";
    /// When a call begins, as in Finagle: an outage does not stop them.
    "start" => Start,
    /// When a call succeeds, as in Linkerd: an outage leaves only the reserve. (Linkerd also deposits for errors that it does not try again.)
    "success" => Success,
}

choice! {
    /// How the ratio is rounded, and how exactly the time is kept.
    RoundingChoice is "a way to round";
    /// A retry costs `1000 / ratio` thousandths of a deposit, rounded down. What was paid counts for nine to ten tenths of `ttl`.
    "finagle" => Finagle,
    /// Up to a ratio of 1 a retry costs `1 / ratio` deposits, rounded down: 0.3 is a third, and everything above 0.5 is 1. What was paid counts for ten to eleven tenths of `ttl`.
    "tower" => Tower,
}

table! {
    /// Envoy's retry budget: `max(floor(share * attempts under way), minimum)` retries at once. Under way are those that were sent, and those that wait for a slot of the caller's `pool`. Without a retry budget Envoy allows three: `{ share = 0, minimum = 3 }`.
    ConcurrencyTable is "a concurrency budget", exclusive &[];
    /// Retries at once for each attempt under way, as a share: 20 % are `0.2`. Default: `0.2`. Example: `0.5`.
    share: Share,
    /// Retries at once in any case. Default: `3`. Example: `0`.
    minimum: WholeTokens,
    /// Whether a retry counts from its grant on, as in Envoy, and not only once its wait is over. Default: `true`. Example: `false`.
    counts_waiting: bool,
}

table! {
    /// Never more than `floor + ratio * calls` retries. What calm hours have added is not forgotten.
    RatioOfRequestsTable is "a ratio of requests", exclusive &[];
    /// Retries for each call that begins, at most 1: 10 % are `0.1`. Has at most 6 decimals. Required. Example: `0.1`.
    ratio: Tokens,
    /// Retries that need no calls. Default: `0`. Example: `10`.
    floor: WholeTokens,
}

choice! {
    /// Which instances of a caller share the state of a budget, a breaker, a throttle, or a limit of hedges.
    SharedByChoice is "a set of callers";
    /// None: each client has its own, as has each instance of a calling service.
    "instance" => Instance,
    /// All clients of the group, or all instances of the calling service.
    "group" => Group,
}

choice! {
    /// Which calls of a caller that follow the policy share the state of its budget.
    SharedOverChoice is "a set of calls";
    /// None: each call has its own.
    "call" => Call,
    /// Those to the same service.
    "target" => Target,
    /// All of them.
    "policy" => Policy,
}
