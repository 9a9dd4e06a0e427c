//! What queueing theory says, from the parameters alone. Rates are per ms and times in ms; no part of stormsim is used.
//!
//! Kleinrock stands for Leonard Kleinrock, "Queueing Systems, Volume 1: Theory", Wiley 1975.

/// The share of arrivals that `servers` servers without a queue turn away, for an offered load in Erlangs (rate x mean
/// service time), by Erlang's recursion over the number of servers (Kleinrock, section 3.7). Any distribution of the
/// service time.
pub fn erlang_b(servers: u32, offered: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, n| offered * blocked / (f64::from(n) + offered * blocked))
}

/// The share of arrivals that wait at M/M/c (Kleinrock, section 3.5): Erlang's second formula by way of his first.
pub fn erlang_c(servers: u32, offered: f64) -> f64 {
    let (blocked, rho) = (erlang_b(servers, offered), offered / f64::from(servers));
    blocked / (1.0 - rho * (1.0 - blocked))
}

/// The wait at M/M/c that the share `quantile` of all arrivals does not exceed. `P(wait > t)` is
/// `C exp(-(c mu - lambda) t)` (Donald Gross and Carl Harris, "Fundamentals of Queueing Theory", Wiley, chapter 2), so
/// that it is zero below `1 - C`.
pub fn mmc_wait_quantile(servers: u32, rate: f64, service: f64, quantile: f64) -> f64 {
    let waiting = erlang_c(servers, rate * service);
    (libm::log(waiting / (1.0 - quantile)) / spare_rate(servers, rate, service)).max(0.0)
}

/// The mean wait at M/M/c: `C / (c mu - lambda)`.
pub fn mmc_wait(servers: u32, rate: f64, service: f64) -> f64 {
    erlang_c(servers, rate * service) / spare_rate(servers, rate, service)
}

/// What the servers could serve beyond what arrives: `c mu - lambda`.
fn spare_rate(servers: u32, rate: f64, service: f64) -> f64 {
    f64::from(servers) / service - rate
}

/// The probabilities of 0, 1, ... `places` in an M/M/1/K system (Kleinrock, section 3.6): each is `rho` times the one
/// before it. An arrival that finds all places taken is turned away, which is as likely as that they are.
pub fn mm1k_states(places: u32, rho: f64) -> Vec<f64> {
    let weights: Vec<f64> = (0..=places).scan(1.0, |next, _| Some(std::mem::replace(next, *next * rho))).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The mean wait at M/G/1 by Pollaczek and Khinchine (Kleinrock, section 5.5): `lambda E[S^2] / (2 (1 - rho))`.
pub fn pollaczek_khinchine(rate: f64, service: Moments) -> f64 {
    rate * service.second / (2.0 * (1.0 - rate * service.mean))
}

/// The first two moments of a service time.
#[derive(Clone, Copy)]
pub struct Moments {
    /// `E[S]`.
    pub mean: f64,
    /// `E[S^2]`.
    pub second: f64,
}

/// Of a service time that is always the same.
pub fn constant(service: f64) -> Moments {
    Moments { mean: service, second: service * service }
}

/// Of the lognormal distribution with this median and 99th percentile: `median exp(sigma^2 / 2)` and
/// `median^2 exp(2 sigma^2)`, where the 99th percentile is `median exp(2.32635 sigma)`.
pub fn lognormal(median: f64, p99: f64) -> Moments {
    const NORMAL_P99: f64 = 2.326_347_874_040_841;
    let sigma = libm::log(p99 / median) / NORMAL_P99;
    Moments { mean: median * libm::exp(sigma * sigma / 2.0), second: median * median * libm::exp(2.0 * sigma * sigma) }
}

/// Attempts per request, if each fails with the probability `p` and `at_most` are made: `(1 - p^A) / (1 - p)`.
pub fn attempts_per_request(p: f64, at_most: u32) -> f64 {
    (1.0 - all_fail(p, at_most)) / (1.0 - p)
}

/// That all of them fail: `p^A`.
pub fn all_fail(p: f64, attempts: u32) -> f64 {
    libm::pow(p, f64::from(attempts))
}

/// The numbers that the literature and the reference figures print.
#[test]
fn known_values() {
    let near = |ours: f64, known: f64| assert!((ours / known - 1.0).abs() < 1e-4, "{ours} is not {known}");
    // Erlang C at 6.4 Erlangs on 8 servers, and the mean wait in service times.
    near(erlang_c(8, 6.4), 0.4576);
    near(mmc_wait(8, 6.4, 1.0), 0.2860);
    near(erlang_b(8, 8.0), 0.23557);
    near(mm1k_states(10, 1.2)[10], 0.19259);
    // With one server Erlang's formulas are those of M/M/1 and M/M/1/1.
    near(erlang_c(1, 0.8), 0.8);
    near(erlang_b(1, 0.8), mm1k_states(1, 0.8)[1]);
    // Exponential service has the second moment 2 E[S]^2: the formula is that of M/M/1.
    near(pollaczek_khinchine(0.08, Moments { mean: 10.0, second: 200.0 }), mmc_wait(1, 0.08, 10.0));
    near(attempts_per_request(0.3, 4), 1.0 + 0.3 + 0.09 + 0.027);
}
