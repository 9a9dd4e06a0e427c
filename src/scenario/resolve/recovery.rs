//! When a fault counts as recovered from, and whether that can be told before the run is over.

use crate::experiment::Scope;
use crate::metrics::catalogue::{Column, ScopeKind};
use crate::plan::{Draft, Recovery, Windows};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::Field;
use crate::scenario::resolve::Resolver;
use crate::scenario::resolve::expectations::{Judged, Row};
use crate::scenario::suggest;
use crate::scenario::tables::ScenarioTable;
use crate::scenario::values::{Duration, Share};
use crate::time::{Instant, Span};

/// What is counted for a recovery is counted by the second.
const SECOND: Span = Span::from_s(1);

/// Metrics that have no value if the run ends too early.
const TOLD_AFTERWARDS: [&str; 3] = ["recovered", "recovery_s", "recovered_at_s"];

impl Resolver<'_> {
    /// When a fault counts as recovered from.
    pub(super) fn recovery(&mut self) -> Recovery {
        let Some(table) = self.tables.recovery.get() else { return Recovery::DEFAULT };
        if let Some(hold) = table.hold.spanned()
            && !is_whole(hold.value.0)
        {
            let message = "`recovery.hold` must be whole seconds, at least one".to_owned();
            self.refuse(&hold.place, message, "what succeeds is counted by the second; the default is `\"10s\"`");
        }
        let horizon = self.tables.horizon.get().and_then(|horizon| horizon.value());
        if let (Some(hold), Some(&Duration(horizon))) = (table.hold.spanned(), horizon)
            && horizon > Span::ZERO
            && hold.value.0 > horizon
        {
            let message = "`recovery.hold` is longer than the run: no recovery could be told".to_owned();
            let hint = format!("the `horizon` is {}; the default is `\"10s\"`", seconds(horizon));
            self.refuse(&hold.place, message, hint);
        }
        Recovery {
            hold: table.hold.get().map_or(Recovery::DEFAULT.hold, |&Duration(hold)| hold),
            share: table.share.get().map_or(Recovery::DEFAULT.share, |&Share(share)| share),
        }
    }
}

fn is_whole(hold: Span) -> bool {
    hold >= SECOND && hold.as_ns().is_multiple_of(SECOND.as_ns())
}

impl Row<'_> {
    /// Reports an expectation of a recovery that no run can tell. What its value would be, if that is known already,
    /// is nothing: a row that could only fail.
    pub(super) fn check_recovery(&mut self, scope: &Scope, metric: Column) {
        if scope.kind != ScopeKind::Fault || !TOLD_AFTERWARDS.contains(&metric.name) {
            return;
        }
        let Some(place) = self.table.metric.spanned().map(|given| given.place.clone()) else { return };
        let judged = self.judged();
        let obstacles = judged.iter().filter_map(|variant| Some((variant.name, obstacle(variant, &scope.name)?)));
        let obstacles: Vec<_> = obstacles.collect();
        let Some((_, first)) = obstacles.first() else { return };
        // Those of other variants that are of another kind are told once this one is out of the way.
        let same = obstacles.iter().filter(|(_, obstacle)| obstacle == first).map(|(name, _)| *name);
        let same: Vec<&str> = same.collect();
        let mut error = first.diagnostic(&scope.name).at(&place);
        if same.len() < judged.len() {
            error = error.note(format!("in variant {}", suggest::list(same)));
        }
        self.refuse::<()>(error);
    }
}

/// Why nobody can tell whether a fault was recovered from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Obstacle {
    /// The fault begins at this instant, which is not before the end of the run.
    NeverBegins(Instant),
    /// It is there to the end.
    NeverEnds,
    /// It comes again before it has been over for long enough; the time from its end to the next beginning.
    ComesAgain(Span),
    /// The horizon comes before it has been over for long enough; the least horizon that does not.
    TooShort(Instant),
}

impl Obstacle {
    fn diagnostic(self, fault: &str) -> Diagnostic {
        match self {
            Self::NeverBegins(at) => {
                let at = seconds(at.since(Instant::ZERO));
                Diagnostic::new(format!("`{fault}` begins at {at}, which is not before the `horizon`"))
                    .hint("without a fault there is no recovery")
            }
            Self::NeverEnds => Diagnostic::new(format!("`{fault}` does not end before the run does"))
                .hint("a recovery is what comes after the end of a fault: give it a `lasts`"),
            Self::ComesAgain(pause) => {
                Diagnostic::new(format!("`{fault}` comes again before anybody can tell whether it was recovered from"))
                    .hint(format!("it is away for {}: `recovery.hold` must not be longer", seconds(pause)))
            }
            Self::TooShort(horizon) => {
                Diagnostic::new(format!("the `horizon` is too short to tell whether `{fault}` was recovered from"))
                    .hint(format!(
                        "the run must go on for `recovery.hold` after its end: write `horizon = \"{}\"`",
                        seconds(horizon.since(Instant::ZERO))
                    ))
            }
        }
    }
}

/// As the format has it.
fn seconds(span: Span) -> String {
    format!("{}s", span.as_s())
}

/// Why a variant cannot tell whether a fault was recovered from. None, too, if what matters is wrong otherwise.
fn obstacle(variant: &Judged<'_>, fault: &str) -> Option<Obstacle> {
    let ScenarioTable { horizon, recovery, .. } = variant.tables;
    let hold = recovery.get().map(|table| &table.hold);
    if horizon.is_wrong() || recovery.is_wrong() || hold.is_some_and(Field::is_wrong) {
        return None;
    }
    let fault = variant.draft.faults.iter().find(|draft| draft.name == fault)?;
    let Draft { horizon, recovery, .. } = variant.draft;
    // A hold that was chosen, and is longer than the run, has been reported.
    let is_longer = horizon.is_some_and(|end| recovery.hold > end.since(Instant::ZERO));
    if is_longer && hold.is_some_and(|hold| hold.get().is_some()) {
        return None;
    }
    find_obstacle(&fault.windows, *horizon, recovery.hold)
}

/// What is in the way, for windows that are the same in all replicas: of random ones nobody knows. A run without a
/// horizon ends when everything is over, and then nothing is missing any more.
fn find_obstacle(windows: &Windows, horizon: Option<Instant>, hold: Span) -> Option<Obstacle> {
    let end = horizon.unwrap_or(Instant::LIMIT);
    let (first, every) = match windows {
        Windows::Once(window) => (window, None),
        Windows::Repeated { first, every } => (first, Some(*every)),
        Windows::Random { .. } => return None,
    };
    if first.start >= end {
        return Some(Obstacle::NeverBegins(first.start));
    }
    if first.end >= end {
        return Some(Obstacle::NeverEnds);
    }
    let last_end = match (every, horizon) {
        (None, Some(_)) => first.end,
        (None, None) | (Some(_), None) => return None,
        (Some(every), Some(_)) => {
            let lasts = first.end.since(first.start);
            // A fault that comes again before it is over has been reported.
            let pause = every.max(lasts) - lasts;
            if pause < hold {
                return Some(Obstacle::ComesAgain(pause));
            }
            let later = (end.since(first.start).as_ns() - 1) / every.as_ns();
            first.end + Span::from_ns(later * every.as_ns())
        }
    };
    (last_end + hold > end).then_some(Obstacle::TooShort(last_end + hold))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::Dist;
    use crate::metrics::catalogue::columns;

    fn at(s: u64) -> Instant {
        Instant::ZERO + Span::from_s(s)
    }

    /// With windows and a horizon in seconds, and a hold of ten.
    fn found(windows: &Windows, horizon: Option<u64>) -> Option<Obstacle> {
        find_obstacle(windows, horizon.map(at), Span::from_s(10))
    }

    /// A name that the catalogue does not have would be checked against nothing.
    #[test]
    fn what_is_told_afterwards_is_in_the_catalogue() {
        let columns = columns(ScopeKind::Fault);
        assert!(TOLD_AFTERWARDS.iter().all(|name| columns.iter().any(|column| column.name == *name)));
    }

    #[test]
    fn a_fault_must_have_been_over_for_long_enough() {
        let once = Windows::Once(at(20)..at(30));
        assert_eq!(found(&once, Some(40)), None);
        assert_eq!(found(&once, Some(39)), Some(Obstacle::TooShort(at(40))));
        assert_eq!(found(&once, Some(30)), Some(Obstacle::NeverEnds), "the horizon itself is not simulated");
        assert_eq!(found(&once, Some(20)), Some(Obstacle::NeverBegins(at(20))));
        // The run goes on until all is over.
        assert_eq!(found(&once, None), None);
        assert_eq!(found(&Windows::Once(at(20)..Instant::LIMIT), None), Some(Obstacle::NeverEnds));
    }

    /// 20 to 30 s, 80 to 90 s, 140 to 150 s: it is the last one that begins before the horizon that counts.
    #[test]
    fn of_windows_that_come_again_the_last_one_counts() {
        let every = |s| Windows::Repeated { first: at(20)..at(30), every: Span::from_s(s) };
        assert_eq!(found(&every(60), Some(80)), None, "the second has not begun");
        assert_eq!(found(&every(60), Some(81)), Some(Obstacle::TooShort(at(100))), "it has not ended");
        assert_eq!(found(&every(60), Some(99)), Some(Obstacle::TooShort(at(100))));
        assert_eq!(found(&every(60), Some(100)), None);
        assert_eq!(found(&every(20), Some(100)), None, "ten seconds are enough");
        assert_eq!(found(&every(19), Some(100)), Some(Obstacle::ComesAgain(Span::from_s(9))));
    }

    #[test]
    fn of_random_windows_nobody_knows() {
        let random = Windows::Random { within: at(0)..at(100), up: Dist::ZERO, down: Dist::ZERO };
        assert_eq!(found(&random, Some(1)), None);
    }
}
