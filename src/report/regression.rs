//! What has changed against a baseline, in words that all reports share.

use crate::experiment::{Because, Change, Regressions, Stat, Trend, Unmatched};
use crate::number::{self, Style};
use crate::report::text::Counted;
use crate::report::verdict::{settles_at, thing};

/// A figure before and now, and what to think of it: what it is of comes first.
pub(super) fn change(change: &Change, regressions: &Regressions) -> String {
    let Change { variant, scope, name, metric, .. } = change;
    let doubt = match change.trend {
        Trend::MayBeChance => format!(", which may be chance: {}", what_settles(change, regressions)),
        Trend::Worse | Trend::Better => String::new(),
    };
    format!("{variant}: {} {metric}: {}{doubt}", thing(scope, name), before_and_now(change, regressions))
}

/// How many replicas would tell, and where they are missing.
fn what_settles(change: &Change, regressions: &Regressions) -> String {
    let kept = regressions.replicas_of_baseline;
    if change.difference.difference.n == 1 {
        let way_out = if kept == 1 { "; save the baseline with more, by `--replicas N`" } else { "; run more" };
        return format!("one pair of replicas cannot tell{way_out}");
    }
    let sentence = settles_at(change.settles_at);
    match change.settles_at {
        Some(replicas) if replicas > kept => {
            let replicas = number::rounded_up(replicas).replace(',', "");
            format!("{sentence}, in the baseline as well: save that with `--replicas {replicas}`")
        }
        _ => sentence,
    }
}

fn before_and_now(change: &Change, regressions: &Regressions) -> String {
    let Change { difference, trend, .. } = change;
    let which = if *trend == Trend::Better { "better" } else { "worse" };
    if let Some([before, now]) = change.defined {
        let replicas = Counted(regressions.replicas as usize, "replica");
        return format!("defined in {now} of {replicas}, in the baseline in {before}, {which}");
    }
    let figure = |stat: &Stat| match stat.mean {
        Some(mean) => number::in_unit(&number::six_digits(mean), stat.unit),
        None => "-".to_owned(),
    };
    let (now, before) = (figure(&difference.value), figure(&difference.reference));
    let by = match change.worse_by {
        Some(share) => format!("{} % {which}", number::plain(share.abs() * 100.0, Style::Count, 2)),
        None => which.to_owned(),
    };
    format!("{now} against {before} in the baseline, {by}")
}

/// What was not compared and why, and how many replicas were.
pub(super) fn notes(regressions: &Regressions) -> impl Iterator<Item = String> {
    regressions.unmatched.iter().map(unmatched).chain(left_out(regressions)).chain(alone(regressions))
}

/// Why something was not compared, and what.
pub(super) fn unmatched(unmatched: &Unmatched) -> String {
    let Unmatched { variant, scope, name, metrics, because } = unmatched;
    let thing = match name.is_empty() {
        true => format!("variant `{variant}`"),
        false => format!("{scope} `{name}` of variant `{variant}`"),
    };
    let names: Vec<String> = metrics.iter().map(|metric| format!("`{metric}`")).collect();
    let (what, is) = match names.len() {
        0 => (thing, "is"),
        1 => (format!("{} of {thing}", names[0]), "is"),
        _ => (format!("{} of {thing}", names.join(", ")), "are"),
    };
    match because {
        Because::NotInBaseline => format!("{what} {is} not in the baseline"),
        Because::NotInScenario => format!("{what} {is} in the baseline, but not in the scenario"),
        Because::NotGated => format!("{what} {is} in the baseline, but not compared by this stormsim"),
        Because::MoreSucceed => format!("{what} {is} not compared: more requests succeed"),
        Because::Partial => format!("{what} was cut short and is not compared with the baseline"),
    }
}

/// That fewer replicas were compared than there could be; none if all were.
fn left_out(regressions: &Regressions) -> Option<String> {
    let &Regressions { replicas, replicas_of_baseline, replicas_of_run, .. } = regressions;
    let of = |all: u32| Counted(all as usize, "replica");
    if replicas < replicas_of_baseline {
        Some(format!("only {replicas} of the baseline's {} are compared", of(replicas_of_baseline)))
    } else if replicas < replicas_of_run {
        Some(format!("only {replicas} of {} are compared: the baseline has no more", of(replicas_of_run)))
    } else {
        None
    }
}

/// What a single replica can tell, if that is all there is.
fn alone(regressions: &Regressions) -> Option<String> {
    let is_all = regressions.replicas_of_run == 1 && regressions.replicas_of_baseline == 1;
    is_all.then(|| "one replica each: what differs counts, chance or not".to_owned())
}

/// Than what a failure is worse: `worse by more than 5 %`.
pub(super) fn worse(regressions: &Regressions) -> String {
    match regressions.tolerance {
        0.0 => "worse".to_owned(),
        tolerance => format!("worse by more than {}", number::plain(tolerance, Style::Share, 4)),
    }
}
