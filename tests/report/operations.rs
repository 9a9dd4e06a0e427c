//! The columns of what nobody knows, what was put aside and what was done twice.

use stormsim::experiment::Summary;

use crate::fixture;
use crate::text::plain;

/// The table that begins with this head; what stands above it when a page is wide.
fn table(summary: &Summary, head: &str) -> String {
    let text = plain(summary, 200);
    let found = text.split("\n\n").find(|block| block.trim_start().starts_with(head));
    found.unwrap_or_else(|| panic!("no table of {head}:\n{text}")).to_owned()
}

/// Sets a figure of the service of the first variant, in all replicas.
fn set(summary: &mut Summary, metric: &str, value: f64) {
    let stat = summary.variants[0].services["api"].get_mut(metric).expect("it is a metric of services");
    (stat.n, stat.mean, stat.min, stat.max) = (20, Some(value), Some(value), Some(value));
}

/// Of client groups there are some in one variant, and none in the others.
#[test]
fn doubts_and_dead_letters_have_columns_where_there_are_any() {
    let mut summary = fixture::failing();
    let clients = table(&summary, "clients");
    assert!(clients.contains(" unknown  letters"), "{clients}");
    assert!(clients.lines().any(|line| line.starts_with("   in-doubt") && line.contains(" 140 ")), "{clients}");
    summary.variants.retain(|variant| variant.name != "in-doubt");
    let clients = table(&summary, "clients");
    assert!(!clients.contains("unknown") && !clients.contains("letters"), "{clients}");
}

/// That everything was done once is worth a column, of a service that writes; that nothing was done twice is not.
#[test]
fn side_effects_have_columns_of_services_that_have_some() {
    let mut summary = fixture::failing();
    let shown = |summary: &Summary| {
        let services = table(summary, "service");
        ["executions", "duplicate"].map(|head| services.contains(head))
    };
    assert_eq!(shown(&summary), [false, false]);
    set(&mut summary, "executions_per_request", 1.0);
    assert_eq!(shown(&summary), [true, false]);
    set(&mut summary, "duplicate_effects", 7.0);
    assert_eq!(shown(&summary), [true, true]);
}
