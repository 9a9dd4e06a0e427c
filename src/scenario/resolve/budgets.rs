//! Retry budgets.

use crate::plan::{BudgetDraft, SharedBy, SharedOver};
use crate::policy::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, MICRO, RatioOfRequests, TokenBucket, WindowedRatio,
};
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{
    AwsModeChoice, AwsQuotaTable, BudgetChoice, ConcurrencyTable, DepositChoice, GrpcThrottleTable,
    RatioOfRequestsTable, RetryTable, RoundingChoice, SharedByChoice, SharedOverChoice, TokenBucketTable,
    WindowedRatioTable,
};
use crate::scenario::values::{Duration, NotNegative, Ratio, Share, Tokens, Whole};
use crate::time::Span;

const NO_RETRIES: &str = "for no retries at all write `max_retries = 0`";

impl Resolver<'_> {
    /// The budget of a policy; none without one.
    pub(super) fn budget(&mut self, policy: &str, table: &RetryTable) -> Option<BudgetDraft> {
        let rule = match table.budget.get()? {
            BudgetChoice::None => return None,
            BudgetChoice::TokenBucket(table) => {
                BudgetRule::TokenBucket(self.token_bucket(policy, &table.value, &table.place))
            }
            BudgetChoice::GrpcThrottle(table) => {
                BudgetRule::GrpcThrottle(self.grpc_throttle(policy, &table.value, &table.place))
            }
            BudgetChoice::AwsQuota(table) => BudgetRule::AwsQuota(self.aws_quota(policy, &table.value, &table.place)),
            BudgetChoice::WindowedRatio(table) => {
                BudgetRule::WindowedRatio(self.windowed_ratio(policy, &table.value, &table.place))
            }
            BudgetChoice::Concurrency(table) => BudgetRule::Concurrency(concurrency(&table.value)),
            BudgetChoice::RatioOfRequests(table) => {
                BudgetRule::RatioOfRequests(self.ratio_of_requests(policy, &table.value, &table.place))
            }
        };
        let shared_by = match table.shared_by.get() {
            None | Some(SharedByChoice::Instance) => SharedBy::Instance,
            Some(SharedByChoice::Group) => SharedBy::Group,
        };
        let shared_over = match table.shared_over.get() {
            None | Some(SharedOverChoice::Call) => SharedOver::Call,
            Some(SharedOverChoice::Target) => SharedOver::Target,
            Some(SharedOverChoice::Policy) => SharedOver::Policy,
        };
        Some(BudgetDraft { rule, shared_by, shared_over })
    }

    fn token_bucket(&mut self, policy: &str, table: &TokenBucketTable, place: &Place) -> TokenBucket {
        let owner = format!("`retries.{policy}.budget.token_bucket`");
        self.require(&table.max, &owner, "max", "10", Some(place));
        self.require(&table.per_success, &owner, "per_success", "0.1", Some(place));
        let max = table.max.get().map_or(0, |&Tokens(max)| max);
        if let (0, Some(given)) = (max, table.max.spanned()) {
            let message = format!("{owner}: `max` must be above 0");
            self.refuse(&given.place, message, NO_RETRIES);
        }
        // A wrong `max` has been reported: what it was meant to be is not known.
        let initial = match table.initial.spanned() {
            Some(initial) if initial.value.0 > max && table.max.get().is_some() => {
                let message = format!("{owner}: `initial` must not be above `max`");
                self.refuse(&initial.place, message, "the bucket holds at most `max`");
                max
            }
            Some(initial) => initial.value.0,
            None => max,
        };
        let per_success = table.per_success.get().map_or(0, |&Tokens(per_success)| per_success);
        let cost = table.cost.get().map_or(MICRO, |&Tokens(cost)| cost);
        let floor = table.floor.get().map_or(cost, |&Tokens(floor)| floor);
        let cost_timeout = table.cost_timeout.get().map_or(cost, |&Tokens(cost)| cost);
        let demands = [("cost", &table.cost), ("cost_timeout", &table.cost_timeout), ("floor", &table.floor)];
        for (key, field) in demands {
            if let Some(given) = field.spanned().filter(|given| given.value.0 > max && table.max.get().is_some()) {
                let message = format!("{owner}: `{key}` is above `max`, so that no retry would ever be granted");
                self.refuse(&given.place, message, NO_RETRIES);
            }
        }
        TokenBucket { max, initial, per_success, cost, cost_timeout, floor }
    }

    fn grpc_throttle(&mut self, policy: &str, table: &GrpcThrottleTable, place: &Place) -> GrpcThrottle {
        let owner = format!("`retries.{policy}.budget.grpc_throttle`");
        self.require(&table.max_tokens, &owner, "max_tokens", "10", Some(place));
        self.require(&table.token_ratio, &owner, "token_ratio", "0.1", Some(place));
        if let Some(given) = table.max_tokens.spanned().filter(|given| !(1..=1_000 * MICRO).contains(&given.value.0)) {
            let message = format!("{owner}: `max_tokens` must be above 0 and at most 1000");
            self.refuse(&given.place, message, "gRPC refuses others, too");
        }
        // gRPC leaves out what is less than a thousandth.
        let thousandths = |&Tokens(micro): &Tokens| micro / 1_000;
        let max = table.max_tokens.get().map_or(0, thousandths);
        let per_success = table.token_ratio.get().map_or(0, thousandths);
        if let Some(given) = table.token_ratio.spanned().filter(|_| per_success == 0) {
            let message = format!("{owner}: `token_ratio` must be at least 0.001");
            self.refuse(&given.place, message, "gRPC leaves out decimals after the third");
        }
        GrpcThrottle { max, per_success }
    }

    fn aws_quota(&mut self, policy: &str, table: &AwsQuotaTable, place: &Place) -> AwsQuota {
        let owner = format!("`retries.{policy}.budget.aws_quota`");
        self.require(&table.mode, &owner, "mode", "\"standard-2.1\"", Some(place));
        let known = match table.mode.get() {
            Some(AwsModeChoice::Pre2026) => AwsQuota::PRE_2026,
            Some(AwsModeChoice::V21) | None => AwsQuota::V2_1,
        };
        let quota = AwsQuota {
            max: table.max.get().map_or(known.max, |&Whole(max)| max),
            cost: table.cost.get().map_or(known.cost, |&Whole(cost)| cost),
            cost_timeout: table.cost_timeout.get().map_or(known.cost_timeout, |&Whole(cost)| cost),
            cost_throttled: table.cost_throttled.get().map_or(known.cost_throttled, |&Whole(cost)| cost),
            per_success: table.per_success.get().map_or(known.per_success, |&Whole(tokens)| tokens),
        };
        let dearest = quota.cost.max(quota.cost_timeout).max(quota.cost_throttled);
        if let Some(given) = table.max.spanned().filter(|_| quota.max < dearest) {
            let message =
                format!("{owner}: `max` is below the cost of a retry, {dearest}, which would never be granted");
            self.refuse(&given.place, message, NO_RETRIES);
        }
        quota
    }

    fn windowed_ratio(&mut self, policy: &str, table: &WindowedRatioTable, place: &Place) -> WindowedRatio {
        let owner = format!("`retries.{policy}.budget.windowed_ratio`");
        self.require(&table.deposit, &owner, "deposit", "\"start\"", Some(place));
        let within = Span::from_s(1)..=Span::from_s(60);
        if let Some(given) = table.ttl.spanned().filter(|given| !within.contains(&given.value.0)) {
            let message = format!("{owner}: `ttl` must be from 1s to 60s");
            self.refuse(&given.place, message, "Finagle, Linkerd and tower take no others");
        }
        let ttl = table.ttl.get().map_or(Span::from_s(10), |&Duration(ttl)| ttl);
        let min_per_second = table.min_per_second.get().map_or(10.0, |&NotNegative(rate)| rate);
        let ratio = table.ratio.get().map_or(0.2, |&Ratio(ratio)| ratio);
        let deposits = match table.deposit.get() {
            Some(DepositChoice::Start) | None => Deposit::AtStart,
            Some(DepositChoice::Success) => Deposit::OnSuccess,
        };
        match table.rounding.get() {
            None | Some(RoundingChoice::Finagle) => WindowedRatio::finagle(ttl, min_per_second, ratio, deposits),
            Some(RoundingChoice::Tower) => WindowedRatio::tower(ttl, min_per_second, ratio, deposits),
        }
    }

    fn ratio_of_requests(&mut self, policy: &str, table: &RatioOfRequestsTable, place: &Place) -> RatioOfRequests {
        let owner = format!("`retries.{policy}.budget.ratio_of_requests`");
        self.require(&table.ratio, &owner, "ratio", "0.1", Some(place));
        RatioOfRequests {
            ratio: table.ratio.get().map_or(0, |&Tokens(ratio)| ratio),
            floor: table.floor.get().map_or(0, |&Whole(floor)| floor * MICRO),
        }
    }
}

fn concurrency(table: &ConcurrencyTable) -> Concurrency {
    Concurrency {
        share: table.share.get().map_or(MICRO / 5, |&Share(share)| (share * MICRO as f64).round() as u64),
        minimum: table.minimum.get().map_or(3, |&Whole(minimum)| minimum as u32),
        counts_waiting: table.counts_waiting.get().copied().unwrap_or(true),
    }
}
