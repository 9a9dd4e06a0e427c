//! stormsim: a virtual-clock simulator of retry storms.
//!
//! What will these timeouts, retries and backoffs do in the next outage? A scenario file describes clients, services,
//! calls, retry policies and faults; the simulator runs it many times and reports amplification, peaks, tails and
//! verdicts. The command line is a thin layer over this library.
//!
//! # From text to figures
//!
//! ```
//! use std::path::Path;
//! use stormsim::{Experiment, Overrides, Scenario, simulate};
//!
//! let text = r#"
//!     version = 1
//!     name = "two-tries"
//!     replicas = 5
//!
//!     [clients.web]
//!     count = 100
//!     arrivals = { burst = { at = "0s" } }
//!     calls.api = { timeout = "1s", retry = "once" }
//!
//!     [services.api]
//!     service_time = { exponential = { mean = "20ms" } }
//!
//!     [retries.once]
//!     max_retries = 1
//!     backoff = { fixed = "100ms" }
//!
//!     [faults.outage]
//!     on = ["api"]
//!     until = "50ms"
//!     effect = "refuse"
//! "#;
//! let scenario = Scenario::parse("two-tries.toml", text, Path::new("."), &Overrides::default())?;
//!
//! // Every variant of the scenario is a plan. One replica of a plan is one run, with its own draws.
//! let (name, plan) = &scenario.variants()[0];
//! let outcome = simulate(plan, scenario.seed, 0);
//! assert_eq!((name.as_str(), outcome.all_requests.succeeded), ("base", 100));
//!
//! // An experiment runs all replicas of all variants and sums up.
//! let summary = Experiment::new(&scenario).run(|| ());
//! assert_eq!(summary.variants[0].services["api"]["amplification"].mean, Some(2.0));
//! # Ok::<(), stormsim::scenario::Diagnostics>(())
//! ```
//!
//! # Where to find what
//!
//! - [`scenario`]: the file format, overrides, and every message about a wrong file.
//! - [`plan`]: what a variant means, with everything optional resolved.
//! - [`sim`]: the engine. Its page says what happens to a request, event by event.
//! - [`policy`] and [`dist`]: what happens after a failure, and the draws; both without a clock or a generator.
//! - [`metrics`]: the counts of a replica, and the catalogue of metrics that are read from them.
//! - [`experiment`]: replicas in parallel, statistics over them, expectations.
//! - [`report`]: text, JSON, CSV and charts of a [`Summary`].
//! - [`presets`]: the retry behaviour of products, as policies.
//! - [`templates`]: scenarios to start from.
//!
//! The same seed gives the same bytes, for any number of threads.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod analysis;
pub mod dist;
pub mod experiment;
pub mod failure;
pub mod import;
pub mod metrics;
mod number;
pub mod plan;
pub mod policy;
pub mod presets;
pub mod report;
pub mod scenario;
pub mod sim;
pub mod templates;
pub mod time;
mod wrap;

pub use experiment::{Experiment, Summary};
pub use metrics::Outcome;
pub use plan::Plan;
pub use scenario::{Overrides, Scenario};
pub use sim::simulate;
