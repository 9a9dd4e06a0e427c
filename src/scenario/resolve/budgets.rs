//! Retry budgets.

use crate::plan::{BudgetDraft, SharedBy, SharedOver};
use crate::policy::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, MICRO, RatioOfRequests, TokenBucket, WindowedRatio,
};
use crate::scenario::field::{Field, Spanned};
use crate::scenario::number::share_of_percent;
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
const ANY_RETRY: &str = "no retry";
const RETRY_AFTER_TIMEOUT: &str = "no retry after a timeout";
const RETRY_AFTER_THROTTLING: &str = "no retry after a `rate_limited`";

/// What a retry needs of a bucket.
struct Demand<'t> {
    key: &'static str,
    /// In millionths of a token.
    micro: u64,
    /// Where it is written; none if it is a default.
    place: Option<&'t Place>,
    /// Whose demand it is, in the words of a refusal.
    of: &'static str,
}

impl<'t> Demand<'t> {
    fn new<T>(key: &'static str, field: &'t Field<T>, micro: u64, of: &'static str) -> Self {
        Self { key, micro, place: place_of(field), of }
    }
}

fn place_of<T>(field: &Field<T>) -> Option<&Place> {
    field.spanned().map(|given| &given.place)
}

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
        let tokens = |field: &Field<Tokens>, default| field.get().map_or(default, |&Tokens(tokens)| tokens);
        // A wrong `max` has been reported: what it was meant to be is not known, and nothing is above it.
        let max = tokens(&table.max, u64::MAX);
        let cost = tokens(&table.cost, MICRO);
        let cost_timeout = tokens(&table.cost_timeout, cost);
        let floor = tokens(&table.floor, cost);
        let initial = tokens(&table.initial, max);
        if let Some(given) = table.initial.spanned().filter(|_| initial > max) {
            let message = format!("{owner}: `initial` must not be above `max`");
            self.refuse(&given.place, message, "the bucket holds at most `max`");
        }
        let demands = [
            Demand::new("cost", &table.cost, cost, ANY_RETRY),
            Demand::new("cost_timeout", &table.cost_timeout, cost_timeout, RETRY_AFTER_TIMEOUT),
            Demand::new("floor", &table.floor, floor, ANY_RETRY),
        ];
        self.check_demands(&owner, max, place_of(&table.max), &demands);
        let per_success = tokens(&table.per_success, 0);
        TokenBucket { max, initial, per_success, cost, cost_timeout, floor }
    }

    /// A bucket has room for something, and for what each retry takes.
    fn check_demands(&mut self, owner: &str, max: u64, max_place: Option<&Place>, demands: &[Demand]) {
        if let (0, Some(place)) = (max, max_place) {
            return self.refuse(place, format!("{owner}: `max` must be above 0"), NO_RETRIES);
        }
        let too_high = demands.iter().filter(|demand| demand.micro > max);
        let (written, by_default): (Vec<_>, Vec<_>) = too_high.partition(|demand| demand.place.is_some());
        let mut refuse = |place: Option<&Place>, message: String, of: &str| {
            let message = format!("{owner}: {message}, so that {of} would ever be granted");
            if let Some(place) = place {
                self.refuse(place, message, NO_RETRIES);
            }
        };
        for demand in &written {
            let message = format!("`{}` is above `max`, which is {}", demand.key, in_tokens(max));
            refuse(demand.place, message, demand.of);
        }
        // What is too high by default may follow from what is written, and is one mistake, however many there are.
        if let (true, Some(demand)) = (written.is_empty(), by_default.first()) {
            let message = format!("`max` is below `{}`, which is {}", demand.key, in_tokens(demand.micro));
            refuse(max_place, message, demand.of);
        }
    }

    fn grpc_throttle(&mut self, policy: &str, table: &GrpcThrottleTable, place: &Place) -> GrpcThrottle {
        let owner = format!("`retries.{policy}.budget.grpc_throttle`");
        self.require(&table.max_tokens, &owner, "max_tokens", "10", Some(place));
        self.require(&table.token_ratio, &owner, "token_ratio", "0.1", Some(place));
        let within = MICRO / 1_000..=1_000 * MICRO;
        if let Some(given) = table.max_tokens.spanned().filter(|given| !within.contains(&given.value.0)) {
            let message = format!("{owner}: `max_tokens` must be from 0.001 to 1000");
            self.refuse(&given.place, message, "gRPC refuses what is not above 0 and at most 1000");
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
        let demands = [
            Demand::new("cost", &table.cost, quota.cost * MICRO, ANY_RETRY),
            Demand::new("cost_timeout", &table.cost_timeout, quota.cost_timeout * MICRO, RETRY_AFTER_TIMEOUT),
            Demand::new("cost_throttled", &table.cost_throttled, quota.cost_throttled * MICRO, RETRY_AFTER_THROTTLING),
        ];
        self.check_demands(&owner, quota.max * MICRO, place_of(&table.max), &demands);
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
        if let Some(given) = table.min_per_second.spanned().filter(|given| given.value.0 > 1e6) {
            let message = format!("{owner}: `min_per_second` must be at most 1000000");
            self.refuse(&given.place, message, "for retries that nothing limits write `budget = \"none\"`");
        }
        let too_little = |given: &&Spanned<Ratio>| given.value.0 > 0.0 && given.value.0 < 1e-6;
        if let Some(given) = table.ratio.spanned().filter(too_little) {
            let message = format!("{owner}: `ratio` must be 0 or at least 0.000001");
            self.refuse(&given.place, message, "for a reserve without deposits write `ratio = 0`");
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
        if let Some(given) = table.ratio.spanned().filter(|given| given.value.0 > MICRO) {
            let percent = share_of_percent(in_tokens(given.value.0));
            let hint = percent.map_or("for as many retries as calls write `ratio = 1`".to_owned(), |share| {
                format!("for {} % write `ratio = {share}`", in_tokens(given.value.0))
            });
            self.refuse(&given.place, format!("{owner}: `ratio` must be at most 1"), hint);
        }
        RatioOfRequests {
            ratio: table.ratio.get().map_or(0, |&Tokens(ratio)| ratio),
            floor: table.floor.get().map_or(0, |&Whole(floor)| floor * MICRO),
        }
    }
}

fn in_tokens(micro: u64) -> f64 {
    micro as f64 / MICRO as f64
}

fn concurrency(table: &ConcurrencyTable) -> Concurrency {
    Concurrency {
        share: table.share.get().map_or(MICRO / 5, |&Share(share)| (share * MICRO as f64).round() as u64),
        minimum: table.minimum.get().map_or(3, |&Whole(minimum)| minimum as u32),
        counts_waiting: table.counts_waiting.get().copied().unwrap_or(true),
    }
}
