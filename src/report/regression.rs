//! What has changed against a baseline, in words that all reports share.

use crate::experiment::{Because, Change, Regressions, Stat, Trend, Unmatched};
use crate::report::number::{self, Style};
use crate::report::text::Counted;
use crate::report::verdict::{settles_at, thing};

/// A figure before and now, and what to think of it: what it is of comes first.
pub(super) fn change(change: &Change, regressions: &Regressions) -> String {
    let Change { variant, scope, name, metric, .. } = change;
    let doubt = match change.trend {
        Trend::MayBeChance => format!(", which may be chance: {}", settles_at(change.settles_at)),
        Trend::Worse | Trend::Better => String::new(),
    };
    format!("{variant}: {} {metric}: {}{doubt}", thing(scope, name), before_and_now(change, regressions))
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

/// Why something was not compared, and what.
pub(super) fn unmatched(unmatched: &Unmatched) -> String {
    let Unmatched { variant, scope, name, because } = unmatched;
    let what = match name.is_empty() {
        true => format!("variant `{variant}`"),
        false => format!("{scope} `{name}` of variant `{variant}`"),
    };
    match because {
        Because::NotInBaseline => format!("{what} is not in the baseline"),
        Because::NotInScenario => format!("{what} is in the baseline, but not in the scenario"),
        Because::Partial => format!("{what} was cut short and is not compared with the baseline"),
    }
}

/// That fewer replicas were compared than there could be; none if all were.
pub(super) fn left_out(regressions: &Regressions) -> Option<String> {
    let Regressions { replicas, replicas_of_baseline: all, .. } = regressions;
    (replicas < all)
        .then(|| format!("only {replicas} of the baseline's {} are compared", Counted(*all as usize, "replica")))
}

/// Than what a failure is worse: `worse by more than 5 %`.
pub(super) fn worse(regressions: &Regressions) -> String {
    match regressions.tolerance {
        0.0 => "worse".to_owned(),
        tolerance => format!("worse by more than {}", number::plain(tolerance, Style::Share, 4)),
    }
}
