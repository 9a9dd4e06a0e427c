//! Every metric, once: its name, its unit, where it exists, what it means, and how it is read from an [`Outcome`].
//!
//! Headers, `summary.json`, expectations, documentation and charts all read this list.

mod definitions;

use std::fmt;

use crate::metrics::{CallTally, End, FaultTally, Outcome, RequestTally, ServiceTally, WindowOutcome};
use crate::time::Span;

pub use definitions::{CALLS, FAULTS, REQUESTS, SCENARIO, SERVICES};

/// Metrics that are shares and never above 1, unlike other ratios.
pub const SHARES: [&str; 6] =
    ["success_ratio", "first_try_success_ratio", "retry_ratio", "wasted_ratio", "utilisation", "queued_ratio"];

/// Metrics of the succeeded requests alone that are gated. Where more of all requests succeed, they are about others
/// than before: slower ones, which have failed until then.
pub const OF_SUCCEEDED: [&str; 3] = ["degraded", "latency_p50_ms", "latency_p99_ms"];

/// The unit of a metric. It is also the end of the metric's name, where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A share or a factor.
    Ratio,
    /// Seconds: instants and spans of the run.
    Seconds,
    /// Milliseconds: latencies and waits.
    Milliseconds,
    /// Per second.
    PerSecond,
}

impl Unit {
    /// As it stands in `summary.json` and `summary.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Ratio => "ratio",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::PerSecond => "1/s",
        }
    }
}

/// Which way a metric gets better, for those that `test --baseline` gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The more, the better; to have lost it is worse.
    Higher,
    /// The less, the better; to have lost it is worse, such as a latency where nothing succeeds any more.
    Lower,
    /// The less, the better, and none is best, such as the time of the last retry where there was none.
    LowerOrNone,
}

impl Better {
    /// As it stands in `docs/metrics.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::LowerOrNone => "lower, or none",
        }
    }
}

/// The kinds of things that metrics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeKind {
    /// The whole scenario.
    Scenario,
    /// A client group.
    Client,
    /// A call.
    Call,
    /// A service.
    Service,
    /// A fault.
    Fault,
}

impl ScopeKind {
    /// Every kind, the whole before its parts.
    pub const ALL: [Self; 5] = [Self::Scenario, Self::Client, Self::Call, Self::Service, Self::Fault];

    /// As it stands in CSV files and expectations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Client => "client",
            Self::Call => "call",
            Self::Service => "service",
            Self::Fault => "fault",
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A metric of things of the kind `T`.
pub struct Metric<T: ?Sized> {
    /// Its name, with the unit at the end where it has one.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in a sentence without a capital and a full stop; it may have code in back-ticks.
    pub meaning: &'static str,
    /// Whether it can be measured in a window: counts, rates and peaks can, what is about a run as a whole cannot.
    pub window: bool,
    /// Which way it gets better, if a baseline gates it.
    pub better: Option<Better>,
    read: fn(&T, &Run) -> Option<f64>,
}

impl<T> Metric<T> {
    /// Its value; none where it is undefined, such as the mean of nothing.
    pub fn read(&self, tally: &T, run: &Run) -> Option<f64> {
        (self.read)(tally, run)
    }
}

/// What a metric may need to know of the run as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The time that was measured.
    pub measured: Span,
}

/// What was counted over a stretch of a replica: the whole of it after the warm-up, or a window.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    groups: &'a [RequestTally],
    calls: &'a [CallTally],
    services: &'a Vec<ServiceTally>,
    faults: &'a [FaultTally],
    all_requests: &'a RequestTally,
    all_calls: &'a CallTally,
    run: Run,
}

impl<'a> Measured<'a> {
    /// All of a replica after its warm-up.
    pub fn whole(outcome: &'a Outcome) -> Self {
        let Outcome { groups, calls, services, faults, all_requests, all_calls, .. } = outcome;
        let run = Run { measured: outcome.end.since(outcome.warmup) };
        Self { groups, calls, services, faults, all_requests, all_calls, run }
    }

    /// One of its windows, by the position in the plan. What came after faults is not measured in windows.
    pub fn window(outcome: &'a Outcome, position: usize) -> Self {
        let WindowOutcome { from, until, groups, calls, services, all_requests, all_calls } =
            &outcome.windows[position];
        // What comes after the last event is known, too: nothing. Only a run that was cut has not measured all of it.
        let end = if outcome.ended == End::Drained { *until } else { outcome.end.min(*until) };
        let run = Run { measured: end.since(*from) };
        Self { groups, calls, services, faults: &[], all_requests, all_calls, run }
    }

    /// The value of one metric: of the thing of this kind with this number, the metric's position being that in
    /// [`columns`].
    pub fn value(&self, kind: ScopeKind, thing: usize, metric: usize) -> Option<f64> {
        let run = &self.run;
        match kind {
            ScopeKind::Scenario => {
                let calls_from = SCENARIO.len() + REQUESTS.len();
                if metric < SCENARIO.len() {
                    SCENARIO[metric].read(self.services, run)
                } else if metric < calls_from {
                    REQUESTS[metric - SCENARIO.len()].read(self.all_requests, run)
                } else {
                    CALLS[metric - calls_from].read(self.all_calls, run)
                }
            }
            ScopeKind::Client => REQUESTS[metric].read(&self.groups[thing], run),
            ScopeKind::Call => CALLS[metric].read(&self.calls[thing], run),
            ScopeKind::Service => SERVICES[metric].read(&self.services[thing], run),
            ScopeKind::Fault => FAULTS[metric].read(&self.faults[thing], run),
        }
    }

    /// Every metric of every thing.
    pub fn read(&self) -> Readings {
        let all = |kind: ScopeKind, things: usize| -> Vec<Values> {
            let metrics = columns(kind).len();
            (0..things).map(|thing| (0..metrics).map(|metric| self.value(kind, thing, metric)).collect()).collect()
        };
        Readings {
            scenario: all(ScopeKind::Scenario, 1).remove(0),
            groups: all(ScopeKind::Client, self.groups.len()),
            calls: all(ScopeKind::Call, self.calls.len()),
            services: all(ScopeKind::Service, self.services.len()),
            faults: all(ScopeKind::Fault, self.faults.len()),
        }
    }
}

/// The values of one replica for one thing, in the order of [`columns`].
pub type Values = Vec<Option<f64>>;

/// Name and unit of each metric of a kind of thing, in the order in which reports list them.
pub fn columns(kind: ScopeKind) -> Vec<Column> {
    fn of<T>(metrics: &'static [Metric<T>]) -> impl Iterator<Item = Column> {
        let column =
            |&Metric { name, unit, meaning, window, better, .. }| Column { name, unit, meaning, window, better };
        metrics.iter().map(column)
    }
    match kind {
        ScopeKind::Scenario => of(SCENARIO).chain(of(REQUESTS)).chain(of(CALLS)).collect(),
        ScopeKind::Client => of(REQUESTS).collect(),
        ScopeKind::Call => of(CALLS).collect(),
        ScopeKind::Service => of(SERVICES).collect(),
        ScopeKind::Fault => of(FAULTS).collect(),
    }
}

/// A metric as a column of a table: what can be known without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in a sentence.
    pub meaning: &'static str,
    /// Whether it can be measured in a window.
    pub window: bool,
    /// Which way it gets better, if a baseline gates it.
    pub better: Option<Better>,
}

/// All values of a replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// Of the scenario.
    pub scenario: Values,
    /// Of each client group.
    pub groups: Vec<Values>,
    /// Of each call.
    pub calls: Vec<Values>,
    /// Of each service.
    pub services: Vec<Values>,
    /// Of each fault.
    pub faults: Vec<Values>,
}

impl Readings {
    /// The value of one metric, by its position in [`columns`], of the thing of this kind with this number.
    pub fn value(&self, kind: ScopeKind, thing: usize, metric: usize) -> Option<f64> {
        let values = match kind {
            ScopeKind::Scenario => &self.scenario,
            ScopeKind::Client => &self.groups[thing],
            ScopeKind::Call => &self.calls[thing],
            ScopeKind::Service => &self.services[thing],
            ScopeKind::Fault => &self.faults[thing],
        };
        values[metric]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{ErrorKind, Refusal, StopReason};

    #[test]
    fn names_are_unique_within_a_scope_and_end_in_their_unit() {
        for kind in ScopeKind::ALL {
            let columns = columns(kind);
            for (i, column) in columns.iter().enumerate() {
                assert!(columns[..i].iter().all(|other| other.name != column.name), "{kind}: `{}` twice", column.name);
                let ending = match column.unit {
                    Unit::Seconds => "_s",
                    Unit::Milliseconds => "_ms",
                    Unit::PerSecond => "_rps",
                    Unit::Count | Unit::Ratio => "",
                };
                assert!(column.name.ends_with(ending), "{kind}: `{}` is in {}", column.name, column.unit.name());
            }
        }
    }

    /// Latencies belong to requests that may begin in one window and end in another; the others are instants, levels of
    /// budgets, and what comes after faults.
    #[test]
    fn what_is_about_a_run_as_a_whole_has_no_window() {
        let whole = |kind| columns(kind).into_iter().filter(|column| !column.window).map(|column| column.name);
        let [scenario, client, call, service, fault] = ScopeKind::ALL.map(|kind| whole(kind).collect::<Vec<_>>());
        let latencies = ["latency_mean_ms", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms", "latency_p999_ms"];
        assert_eq!(client, [&["open"], &latencies[..], &["latency_max_ms", "give_up_max_ms", "completion_s"]].concat());
        let levels = ["tokens_left", "tokens_min"];
        assert_eq!(call, [&["last_retry_s", "pool_wait_p99_ms", "first_budget_refusal_s"], &levels[..]].concat());
        assert_eq!(scenario, [client, call].concat());
        assert_eq!(service, ["arrivals_last_rps", "queue_wait_p99_ms"]);
        assert_eq!(fault.len(), FAULTS.len(), "a recovery is looked for wherever it comes");
    }

    #[test]
    fn what_is_gated_of_succeeded_requests_is_known() {
        let gated = |column: &Column| column.better.is_some();
        let of_succeeded = |column: &Column| column.name.starts_with("latency_") || column.name == "degraded";
        let columns = columns(ScopeKind::Scenario).into_iter().filter(|column| gated(column) && of_succeeded(column));
        assert_eq!(columns.map(|column| column.name).collect::<Vec<_>>(), OF_SUCCEEDED);
    }

    #[test]
    fn every_error_kind_stop_reason_and_refusal_has_its_metric() {
        let names: Vec<_> = columns(ScopeKind::Client).into_iter().map(|column| column.name.to_owned()).collect();
        for kind in ErrorKind::ALL {
            assert!(names.contains(&format!("failed_{kind}")), "{kind}");
        }
        for reason in StopReason::ALL {
            assert!(names.contains(&format!("stopped_{reason}")), "{reason}");
        }
        let names: Vec<_> = columns(ScopeKind::Service).into_iter().map(|column| column.name.to_owned()).collect();
        for refusal in Refusal::ALL {
            assert!(names.contains(&format!("refused_{refusal}")), "{refusal}");
        }
    }
}
