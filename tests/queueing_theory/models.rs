//! The models: for each what it teaches, and every figure that theory knows of it beside what came out.

use std::path::Path;

use stormsim::experiment::{Experiment, Stat, Summary, VariantSummary};
use stormsim::scenario::{Overrides, Scenario};

use crate::formulas::{
    all_fail, attempts_per_request, constant, erlang_b, erlang_c, lognormal, mm1k_states, mmc_wait, mmc_wait_quantile,
    pollaczek_khinchine,
};

/// The scenario of the queues.
pub const QUEUES: &str = include_str!("models.toml");

/// The scenario of the attempts.
pub const ATTEMPTS: &str = include_str!("attempts.toml");

/// A model.
pub struct Model {
    /// The variant of the scenario; `base` is that of the attempts.
    pub variant: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What it is and where its formulas come from.
    pub text: &'static str,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// A figure that theory knows.
pub struct Figure {
    /// What it is, with its unit.
    pub what: &'static str,
    /// What theory says.
    pub theory: f64,
    /// The mean over the replicas.
    pub ours: f64,
    /// The 95 % interval of that mean by Student's t.
    pub interval: [f64; 2],
}

impl Figure {
    fn new(what: &'static str, theory: f64, stat: &Stat) -> Self {
        let (ours, interval) = stat.mean.zip(stat.ci95).expect("20 replicas have a mean and a spread");
        Self { what, theory, ours, interval }
    }

    /// The same of the rest: a share that failed from one that did not.
    fn rest(what: &'static str, theory: f64, stat: &Stat) -> Self {
        let Self { ours, interval: [low, high], .. } = Self::new(what, theory, stat);
        Self { what, theory, ours: 1.0 - ours, interval: [1.0 - high, 1.0 - low] }
    }

    /// How far it is from theory, as a share of it.
    pub fn deviation(&self) -> f64 {
        self.ours / self.theory - 1.0
    }
}

/// Little's law at a service: the mean number in progress on both sides.
pub struct Little {
    /// The variant.
    pub variant: String,
    /// Answers per second, mean.
    pub throughput_rps: f64,
    /// Mean time between arrival and answer.
    pub sojourn_ms: f64,
    /// Mean number in progress, as the integral over time.
    pub in_progress: f64,
}

impl Little {
    /// Throughput x time.
    pub fn product(&self) -> f64 {
        self.throughput_rps * self.sojourn_ms / 1e3
    }
}

/// What both scenarios gave.
pub struct Results {
    queues: Summary,
    attempts: Summary,
}

impl Results {
    /// Runs them.
    pub fn new() -> Self {
        Self { queues: run("models.toml", QUEUES), attempts: run("attempts.toml", ATTEMPTS) }
    }

    fn queue(&self, variant: &str) -> &VariantSummary {
        self.queues.variants.iter().find(|summary| summary.name == variant).expect("the scenario has the variant")
    }

    fn server(&self, variant: &str, metric: &str) -> &Stat {
        &self.queue(variant).services["server"][metric]
    }

    /// Little's law for every queue.
    pub fn little(&self) -> impl Iterator<Item = Little> {
        self.queues.variants.iter().map(|variant| {
            let mean = |stat: &Stat| stat.mean.expect("something happened");
            let server = |metric: &str| mean(&variant.services["server"][metric]);
            Little {
                variant: variant.name.clone(),
                throughput_rps: mean(&variant.metrics["goodput_rps"]),
                sojourn_ms: server("sojourn_mean_ms"),
                in_progress: server("in_flight_mean"),
            }
        })
    }

    /// Every model with its figures.
    pub fn models(&self) -> Vec<Model> {
        vec![
            self.one_server(),
            self.eight_servers(),
            self.pool(),
            self.eight_queues(),
            self.newest_first(),
            self.ten_places(),
            self.no_queue(),
            self.constant_service(),
            self.lognormal_service(),
            self.attempts(),
        ]
    }

    fn one_server(&self) -> Model {
        let variant = "one-server";
        let [rate, service] = [0.08, 10.0];
        let (rho, spare) = (rate * service, 1.0 / service - rate);
        let figures = vec![
            Figure::new("share that waits", rho, self.server(variant, "queued_ratio")),
            Figure::new("mean wait, ms", rho / spare, self.server(variant, "queue_wait_mean_ms")),
            Figure::new("mean time in the system, ms", 1.0 / spare, &self.queue(variant).metrics["latency_mean_ms"]),
            Figure::new(
                "99th percentile of it, ms",
                libm::log(100.0) / spare,
                &self.queue(variant).metrics["latency_p99_ms"],
            ),
            Figure::new("mean number in the system", rho / (1.0 - rho), self.server(variant, "in_flight_mean")),
        ];
        Model { variant, title: "M/M/1: one worker", text: ONE_SERVER, figures }
    }

    fn eight_servers(&self) -> Model {
        let variant = "eight-servers";
        let [rate, service] = [0.64, 10.0];
        let figures = vec![
            Figure::new("share that waits", erlang_c(8, rate * service), self.server(variant, "queued_ratio")),
            Figure::new("mean wait, ms", mmc_wait(8, rate, service), self.server(variant, "queue_wait_mean_ms")),
            Figure::new(
                "99th percentile of the wait, ms",
                mmc_wait_quantile(8, rate, service, 0.99),
                self.server(variant, "queue_wait_p99_ms"),
            ),
            Figure::new("utilisation", rate * service / 8.0, self.server(variant, "utilisation")),
        ];
        Model { variant, title: "M/M/8: eight workers, one queue", text: EIGHT_SERVERS, figures }
    }

    fn pool(&self) -> Model {
        let variant = "pool";
        let [rate, service] = [0.64, 10.0];
        let metrics = &self.queue(variant).metrics;
        let figures = vec![
            Figure::new("mean latency, ms", service + mmc_wait(8, rate, service), &metrics["latency_mean_ms"]),
            Figure::new(
                "99th percentile of the wait for a slot, ms",
                mmc_wait_quantile(8, rate, service, 0.99),
                &metrics["pool_wait_p99_ms"],
            ),
        ];
        Model { variant, title: "A pool is the same queue", text: POOL, figures }
    }

    fn eight_queues(&self) -> Model {
        let variant = "eight-queues";
        let wait = mmc_wait(1, 0.08, 10.0);
        let figures = vec![Figure::new("mean wait, ms", wait, self.server(variant, "queue_wait_mean_ms"))];
        Model { variant, title: "Eight times M/M/1: a queue per worker", text: EIGHT_QUEUES, figures }
    }

    fn newest_first(&self) -> Model {
        let variant = "newest-first";
        let wait = mmc_wait(1, 0.08, 10.0);
        let figures = vec![Figure::new("mean wait, ms", wait, self.server(variant, "queue_wait_mean_ms"))];
        Model { variant, title: "M/M/1, the newest first", text: NEWEST_FIRST, figures }
    }

    fn ten_places(&self) -> Model {
        let variant = "ten-places";
        let [rate, service] = [0.12, 10.0];
        let states = mm1k_states(10, rate * service);
        let number: f64 = (0..).zip(&states).map(|(n, chance)| f64::from(n) * chance).sum();
        let figures = vec![
            Figure::rest("share that is turned away", states[10], &self.queue(variant).metrics["success_ratio"]),
            Figure::new("utilisation", 1.0 - states[0], self.server(variant, "utilisation")),
            Figure::new("mean number in the system", number, self.server(variant, "in_flight_mean")),
            Figure::new(
                "mean time in the system, ms",
                number / (rate * (1.0 - states[10])),
                self.server(variant, "sojourn_mean_ms"),
            ),
        ];
        Model { variant, title: "M/M/1/10: a queue with a limit", text: TEN_PLACES, figures }
    }

    fn no_queue(&self) -> Model {
        let variant = "no-queue";
        let blocked = erlang_b(8, 0.8 * 10.0);
        let metrics = &self.queue(variant).metrics;
        let figures = vec![Figure::rest("share that is turned away", blocked, &metrics["success_ratio"])];
        Model { variant, title: "M/M/8/8: no queue at all", text: NO_QUEUE, figures }
    }

    fn constant_service(&self) -> Model {
        let variant = "constant-service";
        let wait = pollaczek_khinchine(0.08, constant(10.0));
        let figures = vec![Figure::new("mean wait, ms", wait, self.server(variant, "queue_wait_mean_ms"))];
        Model { variant, title: "M/D/1: constant service time", text: CONSTANT_SERVICE, figures }
    }

    fn lognormal_service(&self) -> Model {
        let variant = "lognormal-service";
        let (rate, service) = (0.08, lognormal(5.0, 50.0));
        let figures = vec![
            Figure::new("utilisation", rate * service.mean, self.server(variant, "utilisation")),
            Figure::new(
                "mean wait, ms",
                pollaczek_khinchine(rate, service),
                self.server(variant, "queue_wait_mean_ms"),
            ),
        ];
        Model { variant, title: "M/G/1: service time with a tail", text: LOGNORMAL_SERVICE, figures }
    }

    fn attempts(&self) -> Model {
        let metrics = &self.attempts.variants[0].metrics;
        let figures = vec![
            Figure::new("attempts per request", attempts_per_request(0.3, 4), &metrics["amplification"]),
            Figure::rest("share of failed requests", all_fail(0.3, 4), &metrics["success_ratio"]),
        ];
        Model { variant: "base", title: "Attempts that fail independently", text: ATTEMPTS_TEXT, figures }
    }
}

fn run(name: &str, text: &str) -> Summary {
    let scenario =
        Scenario::parse(name, text, Path::new(""), &Overrides::default()).unwrap_or_else(|wrong| panic!("{wrong}"));
    let summary = Experiment::new(&scenario).run(|| ());
    assert!(!summary.partial, "{:?}", summary.cut_short());
    summary
}

const ONE_SERVER: &str = "\
Poisson arrivals, exponential service, one worker, an endless queue: the queue of every textbook. At 80 % utilisation
four of five arrivals wait, and the mean time in the system is five service times. The whole distribution is known:
`P(T > t) = exp(-(mu - lambda) t)`, where `mu` is the rate of service and `lambda` that of the arrivals (Kleinrock,
sections 3.2 and 5.7).";

const EIGHT_SERVERS: &str = "\
The same load per worker, but eight of them serve one queue. Erlang's C formula gives the share `C` that waits
(Kleinrock, section 3.5); the mean wait is `C / (c mu - lambda)` and `P(wait > t) = C exp(-(c mu - lambda) t)`. The
wait is a fourteenth of that with one worker at the same utilisation: what makes a server slow is not its utilisation
alone.";

const POOL: &str = "\
A caller with a pool of eight connections to a server that takes everything at once waits exactly as if the server
had eight workers and a queue. The queue has only moved to the caller, where the server's metrics do not show it:
look at `pool_wait_p99_ms`.";

const EIGHT_QUEUES: &str = "\
Eight servers with one worker each, and a balancer that picks at random. Arrivals that are split at random are
Poisson again, so each server is the M/M/1 above. Compared with one queue for eight workers the wait is fourteen
times as long: some queues are full while other workers idle. `least_loaded` and `two_choices` are there to mend
that.";

const NEWEST_FIRST: &str = "\
As long as the order does not depend on the service times, it moves waits from one customer to another and leaves
their mean alone: the number in the system has the same distribution, and Little's law below makes the mean time of
it. The 99th percentile is another matter: compare `latency_p99_ms` with that of `one-server`.";

const TEN_PLACES: &str = "\
More arrives than can be served: 120 per second for 100. With room for ten (one at work, nine in the queue) the rest
is turned away, and those who get in wait a bounded time. The chances of `n` in the system are in the ratio of
`rho^n` (Kleinrock, section 3.6), and what is turned away is the share of the time in which all places are taken: `(1
- rho) rho^K / (1 - rho^(K+1))`.";

const NO_QUEUE: &str = "\
Eight workers, and nobody may wait: Erlang's B formula (Kleinrock, section 3.7), by which telephone trunks are still
dimensioned. It holds for any distribution of the service time. `max_in_flight` equal to the workers is how a
scenario says so.";

const CONSTANT_SERVICE: &str = "\
The wait depends on the service time by its first two moments only: Pollaczek and Khinchine's `lambda E[S^2] / (2 (1
- rho))` (Kleinrock, section 5.5). Without any variance it is half of that at exponential service.";

const LOGNORMAL_SERVICE: &str = "\
The same formula for a service time as it is measured: median 5 ms, 99th percentile 50 ms. A lognormal distribution
has `E[S] = median exp(sigma^2 / 2)` and `E[S^2] = median^2 exp(2 sigma^2)` with `sigma = ln(p99 / median) / 2.3263`.
At 65 % utilisation arrivals wait as long as for the constant service at 80 %: the tail does it.";

const ATTEMPTS_TEXT: &str = "\
If each attempt fails with the probability `p`, whatever became of the others, and at most `A` are made, a request
makes `(1 - p^A) / (1 - p)` of them and fails with the probability `p^A`: a truncated geometric series. Here `p` is
0.3 and `A` is 4. It is why retries look harmless, and it holds only as long as failures are independent.";
