//! Metrics that what an expectation is about does not have: which of its own was meant, or what else has it.

use crate::metrics::catalogue::{ScopeKind, columns};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::source::Place;
use crate::scenario::suggest;

/// The most names that are offered.
const OFFERED_MAX: usize = 6;

/// Where to look further.
const ALL: &str = "`docs/metrics.md` lists all";

/// That things of this kind have no metric of this name. `first_of` is the name of the first thing of a kind in the
/// scenario, if there is one.
pub fn unknown(
    metric: &str,
    place: &Place,
    kind: ScopeKind,
    first_of: impl Fn(ScopeKind) -> Option<String>,
) -> Diagnostic {
    let error = unknown_to(metric, kind, |metric| ways_to(metric, kind, &first_of));
    error.at(place)
}

/// What to change for a metric that this kind of thing does not have, but others do; the whole scenario comes last.
fn ways_to(metric: &str, kind: ScopeKind, first_of: impl Fn(ScopeKind) -> Option<String>) -> String {
    let has = |kind: &ScopeKind| names(*kind).any(|name| name == metric);
    let name = |other| first_of(other).map_or_else(|| "...".to_owned(), |name| format!("\"{name}\""));
    let parts = ScopeKind::ALL.into_iter().filter(|other| *other != ScopeKind::Scenario).filter(has);
    let mut ways: Vec<String> = match kind {
        ScopeKind::Scenario => parts.map(|other| format!("add `{other} = {}`", name(other))).collect(),
        _ => parts.map(|other| format!("write `{other} = {}` instead of `{kind}`", name(other))).collect(),
    };
    if has(&ScopeKind::Scenario) {
        ways.push(format!("take `{kind}` out for the whole scenario"));
    }
    ways.join(", or ")
}

/// As [`unknown`] has it; `ways_to` says what to change for a metric that others have.
fn unknown_to(metric: &str, kind: ScopeKind, ways_to: impl Fn(&str) -> String) -> Diagnostic {
    let of_this = of_this(kind);
    if ScopeKind::ALL.into_iter().any(|kind| names(kind).any(|name| name == metric)) {
        return Diagnostic::new(format!("`{metric}` is not a metric {of_this}")).hint(ways_to(metric));
    }
    let error = Diagnostic::new(format!("unknown metric `{metric}`")).label(format!("not a metric {of_this}"));
    if let Some(nearest) = suggest::nearest(metric, names(kind)) {
        return error.hint(format!("did you mean `{nearest}`? {ALL}"));
    }
    let alike: Vec<&str> = names(kind).filter(|name| shares_a_word(name, metric)).collect();
    let elsewhere = || ScopeKind::ALL.into_iter().flat_map(names);
    let of_others = suggest::nearest(metric, elsewhere());
    let of_others = of_others.or_else(|| elsewhere().find(|name| alike.is_empty() && shares_a_word(name, metric)));
    if let Some(meant) = of_others {
        return error.hint(format!("did you mean `{meant}`? for that, {}; {ALL}", ways_to(meant)));
    }
    let offered = if alike.is_empty() { names(kind).collect() } else { alike };
    if offered.len() > OFFERED_MAX && !shares_a_word(offered[0], metric) {
        return error.hint(ALL);
    }
    let more = if offered.len() > OFFERED_MAX { ", ..." } else { "" };
    let offered = suggest::list(offered.into_iter().take(OFFERED_MAX));
    error.hint(format!("there are {offered}{more}; {ALL}"))
}

fn names(kind: ScopeKind) -> impl Iterator<Item = &'static str> {
    columns(kind).into_iter().map(|column| column.name)
}

fn of_this(kind: ScopeKind) -> String {
    match kind {
        ScopeKind::Scenario => "of the scenario as a whole".to_owned(),
        ScopeKind::Client | ScopeKind::Call | ScopeKind::Service | ScopeKind::Fault => format!("of a {kind}"),
    }
}

/// Whether one of the words of a metric, which underscores part, is one of the other's: `p99` for `latency_p99_ms`.
fn shares_a_word(name: &str, metric: &str) -> bool {
    // Units are words of many metrics.
    let is_word = |word: &&str| word.len() > 2 && *word != "rps";
    metric.split('_').filter(is_word).any(|word| name.split('_').any(|own| own == word))
}
