//! Whether each variant came back after each fault, in a sentence with its reason.

use indexmap::IndexMap;

use crate::experiment::{FaultWindows, MetricTable, Stat, Strain, Summary, VariantSummary};
use crate::number::{self, Style, instant};
use crate::report::text::Counted;
use crate::wrap;

/// More sentences would bury the tables; `summary.csv` has all figures.
const SHOWN: usize = 20;

/// After a blank line a sentence for every fault and variant; variants that need the same share it. Nothing without
/// faults.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let mut sentences: IndexMap<String, Vec<String>> = IndexMap::new();
    for variant in &summary.variants {
        for (fault, table) in &variant.faults {
            // Of a variant without a finished replica there is nothing to say.
            if !variant.replicas.is_empty() {
                let windows = variant.fault_windows.iter().find(|windows| windows.name == *fault);
                let verdict = Verdict { variant, fault, table, windows };
                sentences.entry(verdict.sentence()).or_default().push(format!("`{}`", variant.name));
            }
        }
    }
    if sentences.is_empty() {
        return String::new();
    }
    let hidden: usize = sentences.values().skip(SHOWN).map(Vec::len).sum();
    let mut lines: Vec<String> = sentences
        .into_iter()
        .take(SHOWN)
        .map(|(sentence, names)| match summary.variants.len() {
            1 => sentence,
            all if all == names.len() => format!("all variants: {sentence}"),
            _ => format!("{}: {sentence}", names.join(", ")),
        })
        .collect();
    if hidden > 0 {
        lines.push(format!("and {}: see `recovered` in summary.csv", Counted(hidden, "more verdict")));
    }
    let lines: String = lines.iter().map(|line| wrap::words(line.split(' '), [" ", "   "], width)).collect();
    format!("\n{lines}")
}

/// What is said of one fault in one variant.
struct Verdict<'a> {
    variant: &'a VariantSummary,
    fault: &'a str,
    table: &'a MetricTable,
    windows: Option<&'a FaultWindows>,
}

impl Verdict<'_> {
    fn sentence(&self) -> String {
        let fault = self.fault();
        let replicas = self.variant.replicas.len();
        if self.largest("windows").is_none_or(|windows| windows == 0.0) {
            return self.why_never();
        }
        let of = |metric| self.table.get(metric);
        let told = of("recovered").map_or(0, |stat| stat.n as usize);
        let recovered = of("recovery_s").map_or(0, |stat| stat.n as usize);
        let lost = told - recovered;
        if told == 0 {
            return self.why_untold();
        }
        let sentence = if recovered == 0 && told == replicas {
            let from = self.observed().map_or("from".to_owned(), |observed| format!("within {observed} of"));
            format!("did not recover {from} {fault}{}", in_all(replicas, "any of "))
        } else if recovered == replicas {
            self.when_all_recovered(replicas)
        } else {
            self.in_some(recovered, lost, replicas)
        };
        if lost > 0 { sentence + &self.reason() } else { sentence }
    }

    /// The fault, or the window of it after which a recovery is looked for.
    fn fault(&self) -> String {
        let windows = self.largest("windows").unwrap_or(0.0);
        if windows > 1.0 { format!("the last window of `{}`", self.fault) } else { format!("`{}`", self.fault) }
    }

    /// It began in no replica.
    fn why_never(&self) -> String {
        let name = self.fault;
        let from = self.windows.and_then(|windows| windows.windows_s.first()).map(|&(from, _)| from);
        let horizon = self.variant.horizon_s;
        let begins = match (from, horizon) {
            (Some(from), Some(horizon)) if from >= horizon => {
                let which = if from > horizon { "after" } else { "at" };
                format!("`{name}` begins at {}, {which} the horizon of {}", instant(from), instant(horizon))
            }
            // What the others have not seen either may have been ahead of those that were cut short.
            _ if self.variant.cut_short.is_some() => {
                return format!("`{name}` had not begun when the run was cut short: there is no recovery to judge");
            }
            (Some(from), None) => format!("`{name}` begins at {}, and the run is over by then", instant(from)),
            _ => format!("`{name}` never began"),
        };
        format!("{begins}: there is nothing to recover from")
    }

    /// No replica tells.
    fn why_untold(&self) -> String {
        let name = self.fault;
        let until = self.windows.and_then(|windows| windows.windows_s.last()).map(|&(_, until)| until);
        if until.is_some_and(f64::is_infinite) {
            return format!("`{name}` never ends: there is no recovery to judge");
        }
        if self.windows.is_some_and(|windows| windows.recurs) {
            return format!("`{name}` never ends, but comes again and again: there is no recovery to judge");
        }
        match (self.largest("observed_s"), until) {
            (Some(left), _) if self.variant.cut_short.is_some() => {
                format!("there is no telling: the run was cut short {} after {}", seconds(left), self.fault())
            }
            (None, _) if self.variant.cut_short.is_some() => {
                format!("`{name}` was not over when the run was cut short: there is no recovery to judge")
            }
            (Some(left), _) => {
                format!("the horizon is too short to tell: the run ends {} after {}", seconds(left), self.fault())
            }
            (None, Some(until)) => {
                let until = seconds(until);
                format!("`{name}` goes on until {until}, and the run is over by then: there is no recovery to judge")
            }
            (None, None) => format!("`{name}` goes on when the run is over: there is no recovery to judge"),
        }
    }

    fn largest(&self, metric: &str) -> Option<f64> {
        self.table.get(metric)?.max
    }

    /// For how long every replica was watched.
    fn observed(&self) -> Option<String> {
        Some(seconds(self.table.get("observed_s")?.min?))
    }

    fn when_all_recovered(&self, replicas: usize) -> String {
        let (fault, all) = (self.fault(), in_all(replicas, "all "));
        match self.table.get("recovery_s") {
            Some(Stat { min: Some(first), max: Some(last), .. }) if first == last => {
                format!("recovered {} {fault}{all}", after(*first))
            }
            Some(Stat { min: Some(first), p50: Some(median), max: Some(last), .. }) => format!(
                "recovered {} {fault} (median; from {} to {}){all}",
                after(*median),
                seconds(*first),
                seconds(*last)
            ),
            _ => format!("recovered from {fault}{all}"),
        }
    }

    /// Replicas differ.
    fn in_some(&self, recovered: usize, lost: usize, replicas: usize) -> String {
        let fault = self.fault();
        let mut parts = Vec::new();
        if recovered > 0 {
            let median = self.table.get("recovery_s").and_then(|stat| stat.p50);
            let median = median.map_or(String::new(), |median| format!(", after {} (median)", seconds(median)));
            parts.push(format!("recovered from {fault} in {recovered} of {replicas} replicas{median}"));
        }
        let untold = replicas - recovered - lost;
        if untold > 0 {
            let of = if recovered > 0 { String::new() } else { format!(" of {replicas} replicas") };
            parts.push(format!("there is no telling in {untold}{of}"));
        }
        if lost > 0 {
            let which = match (recovered, untold) {
                (0, _) => format!("no recovery from {fault}"),
                (_, 0) => self.observed().map_or("not".to_owned(), |observed| format!("not within {observed}")),
                // How long those were watched that do not tell says nothing about the others.
                _ => "not".to_owned(),
            };
            parts.push(format!("{which} in {lost}"));
        }
        parts.join("; ")
    }

    /// What the service that suffers most had to do in the end, as far as that is known of all that did not recover.
    fn reason(&self) -> String {
        let strains = self.variant.strains.get(self.fault).into_iter().flatten();
        let worst =
            strains.max_by(|a, b| (a.arrivals_rps / a.capacity_rps).total_cmp(&(b.arrivals_rps / b.capacity_rps)));
        let Some(Strain { service, arrivals_rps, capacity_rps, other_faults }) = worst else { return String::new() };
        let [arrivals, capacity] = [*arrivals_rps, *capacity_rps].map(|rate| number::plain(rate, Style::Count, 3));
        if arrivals_rps > capacity_rps {
            format!(": {arrivals}/s of attempts arrive at `{service}` against a capacity of {capacity}/s")
        } else if other_faults.is_empty() {
            format!(", although only {arrivals}/s of attempts arrive at `{service}` and its capacity is {capacity}/s")
        } else {
            let names: Vec<String> = other_faults.iter().map(|name| format!("`{name}`")).collect();
            format!(": {arrivals}/s of attempts arrive at `{service}`, on which {} goes on", names.join(" and "))
        }
    }
}

/// "3 s after", of a fault; what is good from the first second on needs no figure.
fn after(recovery_s: f64) -> String {
    if recovery_s == 0.0 { "right after".to_owned() } else { format!("{} after", seconds(recovery_s)) }
}

/// " in all 20 replicas"; nothing for a single one.
fn in_all(replicas: usize, which: &str) -> String {
    if replicas < 2 { String::new() } else { format!(" in {which}{replicas} replicas") }
}

/// Recoveries are counted in seconds, however many these are.
fn seconds(seconds: f64) -> String {
    format!("{} s", number::plain(seconds, Style::Count, 4))
}
