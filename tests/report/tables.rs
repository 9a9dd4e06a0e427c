//! JSON and CSV: shape, names and numbers to the letter.

use indexmap::IndexMap;
use serde_json::Value;
use stormsim::experiment::Summary;
use stormsim::metrics::catalogue::{ScopeKind, columns};
use stormsim::report::{csv, json};

use crate::fixture;

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// With a few metrics of each table only: the catalogue has tests of its own, and whole tables would hide what is asked
/// here.
fn briefly(mut summary: Summary) -> Summary {
    let kept = ["amplification", "retry_peak", "last_retry_s", "latency_p99_ms", "arrivals"];
    for variant in &mut summary.variants {
        let named = [&mut variant.clients, &mut variant.calls, &mut variant.services, &mut variant.faults];
        let tables = named.into_iter().flat_map(|tables| tables.values_mut()).chain([&mut variant.metrics]);
        tables.for_each(|table| table.retain(|metric, _| kept.contains(metric)));
    }
    summary
}

/// Where nothing happened, every `null` that can occur does.
#[test]
fn json_to_the_letter() {
    insta::assert_snapshot!("nothing_json", utf8(json::pretty(&briefly(fixture::nothing()))));
}

/// The shape that scripts rely on; the figures of the headline example.
#[test]
fn json_has_the_documented_keys_and_figures() {
    let bytes = json::pretty(&fixture::three_tier());
    assert!(bytes.ends_with(b"}\n"));
    let root: Value = serde_json::from_slice(&bytes).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    // In the order of the file.
    assert_eq!(keys(&root), "schema_version tool scenario seed replicas bucket_ms partial variants expectations");
    assert_eq!(
        keys(&root["variants"][0]),
        "name partial replicas_finished cut_short metrics clients calls services faults"
    );
    let stat = &root["variants"][0]["services"]["db"]["amplification"];
    assert_eq!(keys(stat), "unit mean sd ci95 min p1 p50 p99 max n");
    assert_eq!(
        keys(&root["expectations"][0]),
        "variant scope name metric statistic condition actual passed state from to windows ci95 \
         straddles settles_at line column"
    );
    let amplification = |i: usize| root["variants"][i]["services"]["db"]["amplification"]["mean"].as_f64();
    assert_eq!([0, 1, 2].map(amplification), [Some(27.0), Some(3.0), Some(1.0)]);
}

/// One scenario prints its `summary.json`; several print an array of theirs.
#[test]
fn several_summaries_are_an_array() {
    let (one, two) = (fixture::single(), fixture::nothing());
    assert_eq!(json::summaries(std::slice::from_ref(&one), false), utf8(json::pretty(&one)));
    let both: Value = serde_json::from_str(&json::summaries(&[one, two], true)).unwrap();
    let names: Vec<_> = both.as_array().unwrap().iter().map(|summary| &summary["scenario"]["name"]).collect();
    assert_eq!(names, ["one-shot", "cut-short"]);
}

#[test]
fn summary_csv_to_the_letter() {
    insta::assert_snapshot!("backoff_summary_csv", utf8(csv::summary(&briefly(fixture::backoff()))));
}

#[test]
fn replicas_csv_has_a_row_per_variant_and_replica() {
    let text = utf8(csv::replicas(&fixture::backoff()));
    assert_eq!(text.lines().count(), 1 + 5 * 20);
    let metrics: Vec<_> = columns(ScopeKind::Scenario).iter().map(|column| column.name).collect();
    assert_eq!(text.lines().next().unwrap(), format!("variant,replica,seed,{},partial", metrics.join(",")));

    let text = utf8(csv::replicas(&fixture::single()));
    let [header, row] = text.lines().collect::<Vec<_>>()[..] else { panic!("a header and a row: {text}") };
    let cells: IndexMap<_, _> = header.split(',').zip(row.split(',')).collect();
    assert_eq!(row.split(',').count(), cells.len());
    let expected = [("variant", "base"), ("replica", "0"), ("seed", "42"), ("retries", "4000"), ("latency_p99_ms", "")];
    for (column, cell) in expected {
        assert_eq!(cells[column], cell, "{column}");
    }
}

#[test]
fn timeline_csv_to_the_letter() {
    insta::assert_snapshot!("three_tier_timeline_csv", utf8(csv::timeline(&fixture::three_tier())));
}

/// Around the instant at which the rush begins: the queue and the workers fill.
#[test]
fn timeline_csv_has_the_queue_and_the_workers() {
    let mut summary = fixture::overloaded();
    summary.variants.truncate(1);
    for series in &mut summary.variants[0].timeline {
        series.buckets.retain(|bucket| (98..102).contains(&bucket.index));
    }
    insta::assert_snapshot!("overloaded_timeline_csv", utf8(csv::timeline(&summary)));
}

/// Files without a row still have their header, so that whatever reads them finds its columns.
#[test]
fn tables_of_nothing_are_headers() {
    assert_eq!(utf8(csv::timeline(&fixture::nothing())).lines().count(), 1);
    let undefined = utf8(csv::summary(&fixture::nothing()));
    assert!(undefined.contains("\nbase,scenario,,requests,count,,,,,,,,,,0,1\n"), "{undefined}");
}
