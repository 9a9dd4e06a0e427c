//! The columns of what breakers and throttles turned away, what was sent a second time, and which servers were ejected.

use crate::fixture;
use crate::text::plain;

/// Which of these heads the tables of the scenario and of its services have on a wide page, if the first variant has
/// these figures.
fn heads(set: impl Fn(&str) -> Option<f64>) -> Vec<&'static str> {
    let mut summary = fixture::failing();
    let variant = &mut summary.variants[0];
    let tables = [&mut variant.metrics].into_iter().chain(variant.services.values_mut());
    for (metric, stat) in tables.flat_map(|table| table.iter_mut()) {
        if let Some(value) = set(metric) {
            let value = Some(value);
            (stat.n, stat.mean, stat.min, stat.max) = (20, value, value, value);
        }
    }
    let text = plain(&summary, 300);
    let shown: Vec<&str> = text.lines().filter(|line| line.contains("attempts") || line.contains("arrivals")).collect();
    let heads = ["hedges", "breaker", "throttled", "servers"];
    heads.into_iter().filter(|head| shown.iter().any(|line| line.contains(head))).collect()
}

/// Each has a column where there is something to tell, and none in a system that does without.
#[test]
fn what_protects_has_columns_where_it_did_something() {
    assert_eq!(heads(|_| None), [""; 0]);
    let only = |name: &'static str| heads(move |metric| (metric == name).then_some(7.0));
    assert_eq!(only("hedges"), ["hedges"]);
    assert_eq!(only("breaker_rejected"), ["breaker"]);
    assert_eq!(only("throttled"), ["throttled"]);
    assert_eq!(only("ejections"), ["servers"]);
    assert_eq!(heads(|metric| (metric == "hedges").then_some(0.0)), [""; 0]);
}
