//! Where a condition begins or ceases to hold, a sentence for each variant.

use crate::experiment::{Crossing, FrontierSummary, Op, Point, VariantFrontier};
use crate::number::{self, Style};
use crate::report::text::{Counted, TITLE, WARNING, styled};
use crate::wrap;

/// The sentences, for a page of `width` columns.
pub(super) fn render(frontier: &FrontierSummary, width: usize) -> String {
    let FrontierSummary { path, range: [from, to], seed, condition, .. } = frontier;
    let mut text = styled(TITLE, &frontier.scenario.name);
    text += &format!(
        ": {}, {} at each value, seed {seed}\n",
        Counted(frontier.variants.len(), "variant"),
        Counted(frontier.replicas as usize, "replica"),
    );
    let unit = unit(frontier);
    let brackets = match frontier.replicas {
        1 => "one replica each, without intervals",
        _ => "in brackets between which values the 95 % intervals leave it open",
    };
    let looked =
        format!("Where `{condition}` changes while `{path}` goes from {from}{unit} to {to}{unit}; {brackets}.");
    text += &wrap::words(looked.split(' '), ["", "  "], width);
    if frontier.partial {
        text +=
            &styled(WARNING, "Partial: it was interrupted, or a limit of the simulator was reached at some values.");
        text += "\n";
    }
    text += "\n";
    for variant in &frontier.variants {
        let sentence = format!("{}: {}", variant.name, sentence(frontier, variant));
        text += &wrap::words(sentence.split(' '), [" ", "   "], width);
    }
    text
}

fn sentence(frontier: &FrontierSummary, variant: &VariantFrontier) -> String {
    let mut sentence = match &variant.crossings[..] {
        [] => unchanged(frontier, variant),
        [crossing] => changed(frontier, variant, crossing),
        several => {
            let condition = &frontier.condition;
            let change = |crossing: &Crossing| {
                let verb = if crossing.holds_above { "begins" } else { "ceases" };
                format!(
                    "{verb} at {}{}",
                    written(frontier, variant, crossing.above),
                    interval(frontier, variant, crossing)
                )
            };
            let changes: Vec<String> = several.iter().map(change).collect();
            format!("not monotone: that `{condition}` {}", changes.join(", "))
        }
    };
    if let Some(allowance) = &variant.allowance {
        let count = |figure| number::plain(figure, Style::Count, 4);
        let (capacity, attempts) = (count(allowance.capacity_rps), count(allowance.attempts));
        sentence += &format!(
            " (retries alone allow {capacity} / {attempts} = {}/s, {} of the capacity of {capacity}/s)",
            count(allowance.rate()),
            number::plain(1.0 / allowance.attempts, Style::Share, 3),
        );
    }
    if variant.crossings.iter().any(|crossing| !crossing.settled) {
        sentence += "; not settled within the range";
    }
    let undefined = variant.points.iter().filter(|point| point.holds.is_none()).count();
    if undefined > 0 && undefined < variant.points.len() {
        let why = match frontier.measure.metric {
            "recovery_s" | "recovered_at_s" => ", where it does not recover,",
            _ => "",
        };
        sentence += &format!("; undefined{why} at {undefined} of {}", Counted(variant.points.len(), "value"));
    }
    sentence
}

/// The one change.
fn changed(frontier: &FrontierSummary, variant: &VariantFrontier, crossing: &Crossing) -> String {
    // Of what must not be it is told up to where it is not.
    let (what, is_above) = if says_recovers(frontier) {
        ("recovers".to_owned(), !crossing.holds_above)
    } else {
        (format!("`{}`", frontier.condition), crossing.holds_above)
    };
    let interval = interval(frontier, variant, crossing);
    if is_above {
        format!("{what} from {}{interval} on", written(frontier, variant, crossing.above))
    } else {
        format!("{what} up to {}{interval}", written(frontier, variant, crossing.below))
    }
}

/// That nothing changes.
fn unchanged(frontier: &FrontierSummary, variant: &VariantFrontier) -> String {
    let known: Vec<&Point> = variant.points.iter().filter(|point| point.holds.is_some()).collect();
    let [Some(first), Some(last)] = [known.first(), known.last()] else {
        return format!("there is no telling: `{}` is undefined at every value", frontier.measure);
    };
    let where_ = match (says_recovers(frontier), first.holds == Some(true)) {
        (true, true) => "recovers nowhere".to_owned(),
        (true, false) => "recovers everywhere".to_owned(),
        (false, true) => format!("`{}` everywhere", frontier.condition),
        (false, false) => format!("`{}` nowhere", frontier.condition),
    };
    let figure = |point: &Point| {
        let figure = number::measured(&point.stat, &frontier.measure, frontier.replicas);
        format!("{figure} at {}{}", point.written, rate(frontier))
    };
    format!("{where_} in the range: {}, {}", figure(first), figure(last))
}

/// Whether the condition is that a fault is not recovered from.
fn says_recovers(frontier: &FrontierSummary) -> bool {
    frontier.measure.metric == "recovered" && matches!(frontier.op, Op::Below | Op::AtMost)
}

/// A value that was simulated, with its unit.
fn written(frontier: &FrontierSummary, variant: &VariantFrontier, at: f64) -> String {
    format!("{}{}", as_written(variant, at), rate(frontier))
}

fn as_written(variant: &VariantFrontier, at: f64) -> &str {
    let point = variant.points.iter().find(|point| point.at == at);
    &point.expect("a condition changes between values that were simulated").written
}

/// Times have their unit in what is written; rates are per second.
fn rate(frontier: &FrontierSummary) -> &'static str {
    if frontier.path.ends_with(".rate") { "/s" } else { "" }
}

fn unit(frontier: &FrontierSummary) -> &str {
    if frontier.unit.is_empty() { rate(frontier) } else { &frontier.unit }
}

/// Between which values the condition is open.
fn interval(frontier: &FrontierSummary, variant: &VariantFrontier, crossing: &Crossing) -> String {
    if frontier.replicas == 1 {
        return String::new();
    }
    let [low, high] = crossing.ci95.map(|at| as_written(variant, at));
    format!(" [{low}, {high}]")
}
