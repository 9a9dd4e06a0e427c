//! Timelines of many replicas added up. Only integers are added, so that the order does not matter.

use crate::experiment::timeline_tokens::{TokenMeans, TokenSum};
use crate::experiment::{BucketMeans, LoadMeans, Series};
use crate::metrics::catalogue::ScopeKind;
use crate::metrics::{Bucket, Timeline};
use crate::plan::{Call, Origin, Plan};
use crate::time::Span;

/// Sums of one bucket over replicas, and the largest counts of any of them.
#[derive(Clone, Copy, Debug)]
struct SumBucket {
    sum: Bucket,
    attempts_max: u64,
    retries_max: u64,
}

/// One series, added up over replicas; ascending by index.
type SumSeries = Vec<SumBucket>;

/// All series of a variant, added up over replicas: scenario, groups, calls, services.
#[derive(Debug)]
pub(super) struct TimelineSum {
    series: Vec<SumSeries>,
    tokens: TokenSum,
    bucket: Span,
}

impl TimelineSum {
    pub(super) fn new(plan: &Plan) -> Self {
        let series = 1 + plan.groups.len() + plan.calls.len() + plan.services.len();
        Self { series: vec![Vec::new(); series], tokens: TokenSum::new(plan), bucket: plan.bucket }
    }

    pub(super) fn add(&mut self, timeline: &Timeline) {
        let all = std::iter::once(&timeline.scenario)
            .chain(&timeline.groups)
            .chain(&timeline.calls)
            .chain(&timeline.services);
        for (sum, series) in self.series.iter_mut().zip(all) {
            merge(sum, series);
        }
        self.tokens.add(timeline);
    }

    /// The load by all groups of clients together, in the mean over `replicas` replicas.
    pub(super) fn load(&self, plan: &Plan, replicas: u32) -> Vec<LoadMeans> {
        let mut all = SumSeries::new();
        for group in &self.series[1..=plan.groups.len()] {
            merge(&mut all, group.iter().map(|bucket| &bucket.sum));
        }
        let per_second = 1.0 / (f64::from(replicas) * self.bucket.as_s());
        let mean = |bucket: &SumBucket| LoadMeans {
            index: bucket.sum.index,
            attempts_rps: bucket.sum.attempts as f64 * per_second,
            first_attempts_rps: first_attempts(&bucket.sum) as f64 * per_second,
            succeeded_rps: bucket.sum.succeeded as f64 * per_second,
        };
        all.iter().filter(|bucket| bucket.sum.attempts + bucket.sum.succeeded > 0).map(mean).collect()
    }

    /// The means over `replicas` replicas.
    pub(super) fn means(self, plan: &Plan, replicas: u32) -> Vec<Series> {
        let labels = &plan.labels;
        let names = |kind: ScopeKind, names: &[String]| -> Vec<(ScopeKind, String)> {
            names.iter().map(|name| (kind, name.clone())).collect()
        };
        let mut scopes = vec![(ScopeKind::Scenario, String::new())];
        scopes.extend(names(ScopeKind::Client, &labels.groups));
        scopes.extend(names(ScopeKind::Call, &labels.calls));
        scopes.extend(names(ScopeKind::Service, &labels.services));
        let (replicas, width) = (f64::from(replicas), self.bucket.as_ns() as f64);
        let mean = |bucket: &SumBucket, tokens: &TokenMeans| BucketMeans {
            index: bucket.sum.index,
            attempts: bucket.sum.attempts as f64 / replicas,
            retries: bucket.sum.retries as f64 / replicas,
            succeeded: bucket.sum.succeeded as f64 / replicas,
            failed: bucket.sum.failed as f64 / replicas,
            timeouts: bucket.sum.timeouts as f64 / replicas,
            in_flight: bucket.sum.in_flight_ns as f64 / replicas / width,
            queued: bucket.sum.queued_ns as f64 / replicas / width,
            attempts_max: bucket.attempts_max,
            retries_max: bucket.retries_max,
            busy: bucket.sum.busy_ns as f64 / replicas / width,
            budget_refused: bucket.sum.budget_refused as f64 / replicas,
            hedges: bucket.sum.hedges as f64 / replicas,
            tokens_left: tokens.at(bucket.sum.index),
        };
        let named = scopes.into_iter().zip(self.tokens(plan, replicas)).zip(&self.series);
        named
            .map(|(((kind, name), tokens), sums)| {
                let buckets = sums.iter().map(|bucket| mean(bucket, &tokens)).collect();
                Series { kind, name, buckets }
            })
            .collect()
    }

    /// The mean levels of the budgets that each series is about, in the order of the series.
    fn tokens(&self, plan: &Plan, replicas: f64) -> Vec<TokenMeans> {
        let of_calls = |calls: &mut dyn Iterator<Item = &Call>| {
            let budgets = calls.filter_map(|call| Some(call.budget?.pool as usize));
            self.tokens.means(plan, budgets, replicas)
        };
        let is_own = |call: &Call, group: usize| matches!(call.origin, Origin::Group(id) if id.index() == group);
        let groups =
            (0..plan.groups.len()).map(|group| of_calls(&mut plan.calls.iter().filter(|call| is_own(call, group))));
        let calls = plan.calls.iter().map(|call| of_calls(&mut std::iter::once(call)));
        let services = plan.services.iter().map(|_| of_calls(&mut std::iter::empty()));
        let all = self.tokens.means(plan, 0..plan.budgets.len(), replicas);
        std::iter::once(all).chain(groups).chain(calls).chain(services).collect()
    }
}

/// The attempts that were neither retries nor hedges.
fn first_attempts(bucket: &Bucket) -> u64 {
    bucket.attempts - bucket.retries - bucket.hedges
}

/// Adds a series to a sum; both ascend by index.
fn merge<'a>(sums: &mut SumSeries, series: impl IntoIterator<Item = &'a Bucket>) {
    let mut at = 0;
    let mut missing = Vec::new();
    for bucket in series {
        while sums.get(at).is_some_and(|sum| sum.sum.index < bucket.index) {
            at += 1;
        }
        match sums.get_mut(at).filter(|sum| sum.sum.index == bucket.index) {
            Some(sum) => sum.add(bucket),
            None => {
                missing.push(SumBucket { sum: *bucket, attempts_max: bucket.attempts, retries_max: bucket.retries })
            }
        }
    }
    if !missing.is_empty() {
        sums.append(&mut missing);
        // Two ascending runs: the sort merges them in linear time.
        sums.sort_by_key(|sum| sum.sum.index);
    }
}

impl SumBucket {
    fn add(&mut self, bucket: &Bucket) {
        let sum = &mut self.sum;
        sum.attempts += bucket.attempts;
        sum.retries += bucket.retries;
        sum.succeeded += bucket.succeeded;
        sum.failed += bucket.failed;
        sum.timeouts += bucket.timeouts;
        sum.budget_refused += bucket.budget_refused;
        sum.hedges += bucket.hedges;
        sum.in_flight_ns += bucket.in_flight_ns;
        sum.queued_ns += bucket.queued_ns;
        sum.busy_ns += bucket.busy_ns;
        self.attempts_max = self.attempts_max.max(bucket.attempts);
        self.retries_max = self.retries_max.max(bucket.retries);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};
    use crate::sim::simulate;

    fn series(counts: &[(u64, u64)]) -> Vec<Bucket> {
        counts.iter().map(|&(index, attempts)| Bucket { index, attempts, ..Bucket::default() }).collect()
    }

    /// Two replicas of a plan whose two groups have one bucket in common: by hand, per second of buckets of 100 ms.
    #[test]
    fn load_adds_up_the_groups_and_is_a_rate() {
        let text = r#"
            version = 1
            name = "two-groups"
            clients.web = { arrivals = { burst = { at = "0s" } }, calls.api = {} }
            clients.batch = { arrivals = { burst = { at = "0s" } }, calls.api = {} }
            services.api = {}
        "#;
        let scenario = Scenario::parse("two-groups", text, Path::new(""), &Overrides::default()).unwrap();
        let plan = &scenario.variants()[0].1;
        let mut sum = TimelineSum::new(plan);
        let bucket =
            |index, attempts, retries, succeeded| Bucket { index, attempts, retries, succeeded, ..Bucket::default() };
        let hedged = Bucket { hedges: 2, ..bucket(2, 5, 1, 3) };
        for groups in [[vec![hedged], vec![bucket(2, 1, 0, 1)]], [vec![bucket(4, 2, 2, 0)], Vec::new()]] {
            let idle = Bucket { index: 9, in_flight_ns: 1, ..Bucket::default() };
            let groups = groups.map(|group| group.into_iter().chain([idle]).collect()).into();
            sum.add(&Timeline {
                bucket: plan.bucket,
                scenario: Vec::new(),
                groups,
                calls: Vec::new(),
                services: Vec::new(),
                tokens: Vec::new(),
            });
        }
        let of = |index, attempts_rps, first_attempts_rps, succeeded_rps| LoadMeans {
            index,
            attempts_rps,
            first_attempts_rps,
            succeeded_rps,
        };
        assert_eq!(sum.load(plan, 2), [of(2, 30.0, 15.0, 20.0), of(4, 10.0, 0.0, 0.0)]);
    }

    /// Retries are granted at 0 and at 150 ms. The level is told wherever its calls are, and nowhere else.
    #[test]
    fn tokens_stand_with_the_calls_that_draw_on_them() {
        let text = r#"
            version = 1
            name = "tokens"
            clients.web = { arrivals = { burst = { at = "0s" } }, calls.api = { retry = "thrice" } }
            clients.batch = { arrivals = { burst = { at = "0s" } }, calls.api = {} }
            services.api = {}
            faults.down = { on = ["api"], effect = "refuse" }
            [retries.thrice]
            max_attempts = 3
            backoff = { fixed = "150ms" }
            budget = { token_bucket = { max = 10, per_success = 0.1 } }
        "#;
        let scenario = Scenario::parse("tokens", text, Path::new(""), &Overrides::default()).unwrap();
        let plan = &scenario.variants()[0].1;
        let mut sum = TimelineSum::new(plan);
        sum.add(&simulate(plan, 1, 0).timeline);
        let found: Vec<_> = sum
            .means(plan, 1)
            .into_iter()
            .map(|Series { kind, name, buckets }| {
                let tokens: Vec<_> = buckets.iter().map(|bucket| (bucket.index, bucket.tokens_left)).collect();
                (kind, name, tokens)
            })
            .collect();
        let of = |kind, name: &str, tokens: &[(u64, f64)]| {
            (kind, name.to_owned(), tokens.iter().map(|&(index, tokens)| (index, Some(tokens))).collect::<Vec<_>>())
        };
        let none = |kind, name: &str, indices: &[u64]| {
            (kind, name.to_owned(), indices.iter().map(|&index| (index, None)).collect::<Vec<_>>())
        };
        let requests = [(0, 9.0), (1, 8.0), (2, 8.0), (3, 8.0)];
        let expected = [
            of(ScopeKind::Scenario, "", &requests),
            of(ScopeKind::Client, "web", &requests),
            none(ScopeKind::Client, "batch", &[0]),
            of(ScopeKind::Call, "web->api", &[(0, 9.0), (1, 8.0), (3, 8.0)]),
            none(ScopeKind::Call, "batch->api", &[0]),
            none(ScopeKind::Service, "api", &[0, 1, 3]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn sparse_series_meet_bucket_by_bucket_in_any_order() {
        let replicas = [series(&[(0, 5), (7, 1)]), series(&[(3, 2), (7, 4)]), series(&[(0, 1), (9, 9)])];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut sums = SumSeries::new();
            order.iter().for_each(|&replica| merge(&mut sums, &replicas[replica]));
            let found: Vec<_> = sums.iter().map(|sum| (sum.sum.index, sum.sum.attempts, sum.attempts_max)).collect();
            assert_eq!(found, [(0, 6, 5), (3, 2, 2), (7, 5, 4), (9, 9, 9)]);
        }
    }
}
