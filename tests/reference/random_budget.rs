//! Retry budgets of few tokens, so that they run out.

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::policy::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, MICRO, RatioOfRequests, TokenBucket, WindowedRatio,
};
use stormsim::time::Span;

use super::random_plan::Grid;
use super::sketch::BudgetSketch;

/// Mostly one that nearly all calls draw on; else up to three.
pub fn budgets(grid: Grid) -> impl Strategy<Value = Vec<BudgetSketch>> {
    prop_oneof![3 => vec(budget(grid), 1), 1 => vec(budget(grid), 0..=3)]
}

fn budget(grid: Grid) -> BoxedStrategy<BudgetSketch> {
    let rule = prop_oneof![
        2 => token_bucket().prop_map(BudgetRule::TokenBucket),
        2 => grpc_throttle().prop_map(BudgetRule::GrpcThrottle),
        4 => aws_quota().prop_map(BudgetRule::AwsQuota),
        3 => windowed_ratio(grid).prop_map(BudgetRule::WindowedRatio),
        12 => concurrency().prop_map(BudgetRule::Concurrency),
        2 => ratio_of_requests().prop_map(BudgetRule::RatioOfRequests),
    ];
    (rule, prop::bool::weighted(0.4)).prop_map(|(rule, by_instance)| BudgetSketch { rule, by_instance }).boxed()
}

/// Millionths in steps of a half.
fn halves(range: RangeInclusive<u64>) -> impl Strategy<Value = u64> {
    range.prop_map(|halves| halves * MICRO / 2)
}

/// Deposits that are no whole part of a retry; rules that refuse before the tokens run out.
fn token_bucket() -> impl Strategy<Value = TokenBucket> {
    let deposits = select(vec![0, MICRO / 10, MICRO / 2, MICRO]);
    let costs = (halves(1..=3), halves(1..=4));
    (halves(1..=6), halves(0..=6), deposits, costs, halves(0..=4)).prop_map(
        |(max, initial, per_success, (cost, cost_timeout), floor)| TokenBucket {
            max,
            initial: initial.min(max),
            per_success,
            cost,
            cost_timeout,
            floor,
        },
    )
}

/// From such as refuse every retry; odd ones have a half that is no whole token.
fn grpc_throttle() -> impl Strategy<Value = GrpcThrottle> {
    (select(vec![1_000, 3_000, 4_000, 5_500, 9_000]), select(vec![1, 100, 500, 1_000, 1_700]))
        .prop_map(|(max, per_success)| GrpcThrottle { max, per_success })
}

fn aws_quota() -> impl Strategy<Value = AwsQuota> {
    (3..=10u64, 1..=3u64, 1..=3u64, 1..=3u64, 0..=2u64).prop_map(
        |(max, cost, cost_timeout, cost_throttled, per_success)| AwsQuota {
            max,
            cost,
            cost_timeout,
            cost_throttled,
            per_success,
        },
    )
}

/// Slots of a fifth of a step of the grid to two steps, so that some end within most plans; at most two in reserve.
fn windowed_ratio(grid: Grid) -> impl Strategy<Value = WindowedRatio> {
    let ttl = select(vec![2, 5, 10, 20]).prop_map(move |steps| grid.times(steps).max(Span::from_ns(10)));
    let ratios = select(vec![0.0, 0.1, 0.3, 0.5, 1.0, 2.0]);
    let deposits = select(vec![Deposit::AtStart, Deposit::OnSuccess]);
    let reserves = select(vec![0.0, 0.0, 1.0, 2.0]);
    (ttl, reserves, ratios, deposits, any::<bool>()).prop_map(|(ttl, reserve, ratio, deposits, is_tower)| {
        let rule = if is_tower { WindowedRatio::tower } else { WindowedRatio::finagle };
        rule(ttl, reserve / ttl.as_s(), ratio, deposits)
    })
}

/// Shares from none to more than there are attempts.
fn concurrency() -> impl Strategy<Value = Concurrency> {
    let shares = select(vec![0, MICRO / 5, MICRO / 2, MICRO, 2 * MICRO]);
    (shares, select(vec![0, 1, 1, 2, 3]), prop::bool::weighted(0.7))
        .prop_map(|(share, minimum, counts_waiting)| Concurrency { share, minimum, counts_waiting })
}

fn ratio_of_requests() -> impl Strategy<Value = RatioOfRequests> {
    (select(vec![0, MICRO / 10, MICRO / 2, MICRO]), halves(0..=4))
        .prop_map(|(ratio, floor)| RatioOfRequests { ratio, floor })
}
