//! What the libraries' measurements share.

use std::env;
use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};

/// How many numbers a sweep of a random source has: a prime, so that sweeps fit whatever a call takes.
pub const STEPS: usize = 101;

/// How many draws are taken from a random source that nobody can replace.
pub const SAMPLES: usize = 20_000;

/// The failures of which a client is asked whether it tries again.
pub const KINDS: [&str; 9] = ["refused", "reset", "hang", "500", "503", "504", "429", "503-after", "429-after"];

/// What cargo has built.
const LOCK: &str = include_str!("../Cargo.lock");

/// Hands what was measured of a package to the judge.
pub fn tell(case: &str, package: &str, measured: &Value) {
    let mut line = json!({ "case": case, "version": version(package) });
    if let (Some(line), Some(measured)) = (line.as_object_mut(), measured.as_object()) {
        line.extend(measured.clone());
    }
    println!("{line}");
}

/// The version of a package.
fn version(package: &str) -> &'static str {
    let name = format!("name = \"{package}\"");
    LOCK.split("[[package]]")
        .find(|entry| entry.lines().any(|line| line == name))
        .and_then(|entry| entry.lines().find_map(|line| line.strip_prefix("version = ")))
        .expect("the lock has what was built")
        .trim_matches('"')
}

/// The windows of the waits before each retry, from the waits of several calls.
pub fn windows(calls: &[Vec<Duration>]) -> Value {
    let retries = calls.iter().map(Vec::len).min().unwrap_or(0);
    let window = |retry: usize| {
        let draws: Vec<f64> = calls.iter().map(|waits| milliseconds(waits[retry])).collect();
        let least = draws.iter().copied().fold(f64::INFINITY, f64::min);
        let most = draws.iter().copied().fold(0.0, f64::max);
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        json!({ "least": least, "most": most, "mean": mean })
    };
    (0..retries).map(window).collect()
}

/// A duration in milliseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// The server that fails.
pub struct Server {
    port: u16,
    refusing_port: u16,
    client: reqwest::Client,
    keys: u32,
}

impl Server {
    /// The server that the command line names.
    pub fn from_arguments() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            port: argument("--port")?,
            refusing_port: argument("--refusing-port")?,
            client: reqwest::Client::builder().no_proxy().build()?,
            keys: 0,
        })
    }

    /// An address where requests fail so; attempts there are counted from here on.
    pub fn target(&mut self, behaviour: &str) -> String {
        self.keys += 1;
        let port = if behaviour == "refused" { self.refusing_port } else { self.port };
        format!("http://127.0.0.1:{port}/rust-{}/{behaviour}", self.keys)
    }

    /// The times between the attempts at the last target, in milliseconds.
    pub async fn gaps(&self) -> Result<Vec<f64>, Box<dyn Error>> {
        let address = format!("http://127.0.0.1:{}/rust-{}/arrivals", self.port, self.keys);
        let answer = self.client.get(address).send().await?.text().await?;
        let arrivals: Vec<f64> = serde_json::from_str(&answer)?;
        Ok(arrivals.windows(2).map(|pair| (pair[1] - pair[0]) * 1000.0).collect())
    }
}

/// The number behind a flag.
fn argument(flag: &str) -> Result<u16, Box<dyn Error>> {
    let value = env::args().skip_while(|argument| argument != flag).nth(1);
    Ok(value.ok_or_else(|| format!("{flag} is missing"))?.parse()?)
}
