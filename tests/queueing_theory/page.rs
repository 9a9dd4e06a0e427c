//! `docs/queueing.md`: the models with their figures.

use std::fmt::Write as _;

use crate::models::{ATTEMPTS, Figure, Model, QUEUES, Results};

const HEAD: &str = "\
# Held against queueing theory

A simulator of overload must first be right where the answer is known. Each section is a queue that has been solved
on paper: what theory says, what stormsim gives as the mean over 20 replicas, and the 95 % interval of that mean
(Student's t). The formulas are in `tests/queueing_theory/formulas.rs`; books are quoted as Kleinrock: Leonard
Kleinrock, \"Queueing Systems, Volume 1: Theory\", Wiley 1975.

`cargo test --test queueing_theory` runs all of it and fails if a figure is off by more than 2 % or by more than
twice its interval, or if this page is not what came out; `UPDATE_DOCS=1 cargo test --test queueing_theory` writes
the page anew. Of so many intervals of 95 % a few are expected to miss; twice the interval is missed once in 2,000.

All queues are variants of one scenario, and each section shows what it changes:
";

const LITTLE: &str = "
## Little's law

The mean number in a system is the throughput times the mean time in it, whatever the arrivals, the service and the
order (John D. C. Little, \"A Proof for the Queuing Formula L = lambda W\", Operations Research 9, 1961). stormsim
measures the three independently of each other; they must agree within 1 %, and what is turned away is in none of them.

| variant | throughput, 1/s | mean time, ms | product | mean number in progress |
|---|---:|---:|---:|---:|
";

/// The whole page.
pub fn write(results: &Results, models: &[Model]) -> String {
    let mut page = HEAD.to_owned();
    let base = QUEUES.split("\n\n").filter(|block| !block.contains("[variants."));
    let base: Vec<&str> = base.skip(1).collect();
    let _ = write!(page, "\n```toml\n{}\n```\n", base.join("\n\n").trim());
    for model in models {
        section(&mut page, model);
    }
    page.push_str(LITTLE);
    for little in results.little() {
        let [throughput, sojourn] = [little.throughput_rps, little.sojourn_ms].map(four_digits);
        let [product, number] = [little.product(), little.in_progress].map(four_digits);
        let _ = writeln!(page, "| `{}` | {throughput} | {sojourn} | {product} | {number} |", little.variant);
    }
    page
}

fn section(page: &mut String, model: &Model) {
    let Model { variant, title, text, figures } = model;
    let (settings, command) = scenario(variant);
    let _ = write!(page, "\n## {title}\n\n{text}\n\n```toml\n{settings}\n```\n\n");
    page.push_str("| | theory | stormsim | 95 % interval | off by |\n|---|---:|---:|---:|---:|\n");
    for figure in figures {
        let Figure { what, theory, ours, interval } = figure;
        let [theory, ours, low, high] = [*theory, *ours, interval[0], interval[1]].map(four_digits);
        let off = 100.0 * figure.deviation();
        let _ = writeln!(page, "| {what} | {theory} | {ours} | {low} to {high} | {off:+.2} % |");
    }
    let _ = write!(page, "\n```sh\n{command}\n```\n");
}

/// How a model is written as a scenario, and the command that runs it.
fn scenario(variant: &str) -> (&'static str, String) {
    if variant == "base" {
        let start = ATTEMPTS.find("[clients").expect("the scenario has clients");
        return (ATTEMPTS[start..].trim_end(), "stormsim run tests/queueing_theory/attempts.toml".to_owned());
    }
    // A variant goes on to the empty line after it.
    let start = QUEUES.find(&format!("[variants.{variant}]")).expect("each model is a variant");
    let settings = QUEUES[start..].split("\n\n").next().expect("splitting yields at least one part");
    (settings.trim_end(), format!("stormsim run tests/queueing_theory/models.toml --variant {variant}"))
}

/// With at least four significant digits.
fn four_digits(value: f64) -> String {
    let decimals = match value {
        ..0.1 => 5,
        ..1.0 => 4,
        ..10.0 => 3,
        ..100.0 => 2,
        _ => 1,
    };
    format!("{value:.decimals$}")
}
