//! Whether each variant came back after each fault, in a sentence with its reason.

use indexmap::IndexMap;

use crate::experiment::{MetricTable, Stat, Summary, VariantSummary};
use crate::report::number::{self, Style};
use crate::report::text::{Counted, wrap};

/// More sentences would bury the tables; `summary.csv` has all figures.
const SHOWN: usize = 20;

/// After a blank line a sentence for every fault and variant; variants that need the same share it. Nothing without
/// faults.
pub(super) fn render(summary: &Summary, width: usize) -> String {
    let mut sentences: IndexMap<String, Vec<String>> = IndexMap::new();
    for variant in &summary.variants {
        for (fault, table) in &variant.faults {
            let sentence = Verdict { variant, fault, table }.sentence();
            sentences.entry(sentence).or_default().push(format!("`{}`", variant.name));
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
}

impl Verdict<'_> {
    fn sentence(&self) -> String {
        let fault = self.fault;
        let replicas = self.variant.replicas.len();
        if self.largest("windows").is_none_or(|windows| windows == 0.0) {
            return format!("`{fault}` never began: there is nothing to recover from");
        }
        let of = |metric| self.table.get(metric);
        let told = of("recovered").map_or(0, |stat| stat.n as usize);
        let recovered = of("recovery_s").map_or(0, |stat| stat.n as usize);
        let lost = told - recovered;
        if told == 0 {
            return format!(
                "the horizon is too short to tell whether it recovers from `{fault}`: {}",
                self.what_is_left()
            );
        }
        let sentence = if recovered == 0 && told == replicas {
            format!("did not recover{} of `{fault}`{}", self.observed(), in_all(replicas, "any of "))
        } else if recovered == replicas {
            self.when_all_recovered(replicas)
        } else {
            self.in_some(recovered, lost, replicas)
        };
        if lost > 0 { sentence + &self.reason(recovered > 0) } else { sentence }
    }

    fn largest(&self, metric: &str) -> Option<f64> {
        self.table.get(metric)?.max
    }

    /// Why it is too little.
    fn what_is_left(&self) -> String {
        match self.largest("observed_s") {
            Some(observed) => format!("the run ends {} after it", seconds(observed)),
            None => "the run ends within it".to_owned(),
        }
    }

    /// " within 48 s": for so long every replica was watched.
    fn observed(&self) -> String {
        let observed = self.table.get("observed_s").and_then(|stat| stat.min);
        observed.map_or(String::new(), |observed| format!(" within {}", seconds(observed)))
    }

    fn when_all_recovered(&self, replicas: usize) -> String {
        let (fault, all) = (self.fault, in_all(replicas, "all "));
        match self.table.get("recovery_s") {
            Some(Stat { min: Some(first), max: Some(last), .. }) if first == last => {
                format!("recovered {} `{fault}`{all}", after(*first))
            }
            Some(Stat { min: Some(first), p50: Some(median), max: Some(last), .. }) => format!(
                "recovered {} `{fault}` (median; from {} to {}){all}",
                after(*median),
                seconds(*first),
                seconds(*last)
            ),
            _ => format!("recovered from `{fault}`{all}"),
        }
    }

    /// Some replicas did not recover, or do not tell.
    fn in_some(&self, recovered: usize, lost: usize, replicas: usize) -> String {
        let median = self.table.get("recovery_s").and_then(|stat| stat.p50);
        let median = median.map_or(String::new(), |median| format!(", after {} (median)", seconds(median)));
        let untold = replicas - recovered - lost;
        let mut sentence = format!("recovered from `{}` in {recovered} of {replicas} replicas{median}", self.fault);
        if untold > 0 {
            sentence += &format!("; the horizon is too short to tell in {untold}");
        }
        if lost > 0 {
            sentence += &format!("; not{} in {lost}", self.observed());
        }
        sentence
    }

    /// What the service that suffers most had to do in the end, as far as that is known. Where replicas differ: in that
    /// with the most.
    fn reason(&self, differs: bool) -> String {
        let services = self.variant.struck.get(self.fault).into_iter().flatten();
        let loads = services.filter_map(|name| {
            let table = self.variant.services.get(name)?;
            let arrivals = table.get("arrivals_last_rps")?;
            let arrivals = if differs { arrivals.max? } else { arrivals.mean? };
            Some((name, arrivals, table.get("capacity_rps")?.mean?))
        });
        let Some((service, arrivals, capacity)) = loads.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2))) else {
            return String::new();
        };
        let up_to = if differs { "up to " } else { "" };
        let [arrivals_rps, capacity_rps] = [arrivals, capacity].map(|rate| number::plain(rate, Style::Count, 3));
        if arrivals > capacity {
            let against = format!("against a capacity of {capacity_rps}/s");
            format!(": {up_to}{arrivals_rps}/s of attempts arrive at `{service}` {against}")
        } else {
            let only = format!("although no more than {arrivals_rps}/s of attempts arrive");
            format!(", {only} at `{service}` and its capacity is {capacity_rps}/s")
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
