//! The page of metrics: one table for each kind of thing, and one for each CSV file.

use std::fmt::Write as _;

use stormsim::metrics::catalogue::{CALLS, FAULTS, Metric, REQUESTS, SCENARIO, SERVICES};
use stormsim::report::columns::{self, CsvColumn};

use super::page::escape;

const HEAD: &str = "\
# Metrics

Every figure of `summary.json`, `summary.csv` and `replicas.csv`, and what `metric = \"...\"` in `[[expect]]` may name. The
page is made from the catalogue in `src/metrics/catalogue` and the columns in `src/report/columns.rs`;
`UPDATE_SCHEMA=1 cargo test --test schema` writes it anew.

- The unit is at the end of a name where it has one: `_s` for instants and spans of the run, `_ms` for latencies and waits,
  `_rps` per second.
- A figure is that of one replica; reports give its mean and its distribution over the replicas. Where there is *none*, the
  cell of a CSV file is empty, JSON has `null`, and an expectation fails.
- With a `warmup`, metrics of requests are about those that begin after it, and whatever becomes of them; all others are
  about what happens after it.
- A metric that is marked with *windows* can be measured in one, with `from`, `until` and `every` of an expectation. Then
  it is about what happens in the window, also of requests that began before it.
- Where *better* says which way a metric gets better, `stormsim test --baseline` gates it: of the scenario as a whole,
  of services and of faults. To lose a figure is worse, too, unless it says that none is best.
- A client's *try* or *attempt* is one of the client's own call; the services beneath it have attempts of their own.
";

const FAULTS_HEAD: &str = "
`fault = NAME` in `[[expect]]`; over the client groups that have a path to what the fault strikes. The seconds after the end
of its last window are counted from there. One of them, beginning at t, is *good* if in [t, t + `recovery.hold`) as many
requests succeed as `recovery.share` of those that begin (those left out that begin in the last second of that and are open
at its end), and if one succeeds in the second itself. If none begins, it is good if none is open at t, and if of those that
began after the fault as large a share has succeeded: that nobody asks any more proves nothing. These metrics are about the
whole run, whatever the `warmup` is. A fault on a client group strikes the services that its requests lead to as well.

Gate a recovery with `recovered` and `recovery_s`. `last_bad_s` shows what these do not look at: trouble after the first good
second, such as a relapse. It is about single seconds, of the whole run and not only of the time after the fault: with few
requests per second some are bad by chance, and there is none if no second was bad, so that an expectation of it fails where
all went well.
";

/// The whole page.
pub fn write() -> String {
    let mut page = HEAD.to_owned();
    page += "\n## Scenario\n\nThose of its requests and of its calls, below, and:\n";
    metrics(&mut page, SCENARIO);
    page +=
        "\n## Scenario and client groups: requests\n\n`client = NAME` in `[[expect]]`, or nothing for all of them.\n";
    metrics(&mut page, REQUESTS);
    page += "\n## Scenario and calls: attempts\n\n`call = \"caller->label\"` in `[[expect]]`, or nothing for all of them.\n";
    metrics(&mut page, CALLS);
    page += "\n## Services\n\n`service = NAME` in `[[expect]]`.\n";
    metrics(&mut page, SERVICES);
    let _ = write!(page, "\n## Faults\n{FAULTS_HEAD}");
    metrics(&mut page, FAULTS);
    page += "\n## summary.csv\n\nOne row per variant, thing and metric. `summary.json` has the same figures.\n";
    csv_columns(&mut page, &columns::SUMMARY);
    page += "\n## replicas.csv\n\nOne row per variant and replica. After these comes a column for every metric of the\n\
             scenario, and `partial`, which here is about the replica.\n";
    csv_columns(&mut page, &columns::REPLICAS);
    page += "\n## timeline.csv\n\nOne row per variant, thing and `bucket` of time in which anything happened in any \
             replica. Figures are\nmeans over the replicas; one that has ended counts as 0, but keeps its `tokens_left`. \
             The whole run is shown, `warmup`\nincluded.\n";
    csv_columns(&mut page, &columns::TIMELINE);
    page += "\n## comparison.csv\n\nLeft by `compare`: one row per variant but the reference, and metric, of the scenario as a whole and of its faults.\n";
    csv_columns(&mut page, &columns::COMPARISON);
    page += "\n## sweep.csv\n\nLeft by `sweep`: one row per cell of the grid, variant and figure. First a column for the \
             value of each setting that varies,\nnamed by its path, then the columns of `summary.csv`.\n";
    page += "\n## frontier.csv\n\nLeft by `frontier`: one row per variant and value that was simulated. These two columns, \
             then those of `summary.csv`.\n";
    csv_columns(&mut page, &columns::FRONTIER);
    page
}

fn metrics<T>(page: &mut String, metrics: &[Metric<T>]) {
    page.push_str("\n| metric | unit | windows | better | meaning |\n|---|---|---|---|---|\n");
    for Metric { name, unit, meaning, window, better, .. } in metrics {
        let window = if *window { "yes" } else { "no" };
        let better = better.map_or("", |better| better.name());
        let _ = writeln!(page, "| `{name}` | {} | {window} | {better} | {} |", unit.name(), sentence(meaning));
    }
}

fn csv_columns(page: &mut String, columns: &[CsvColumn]) {
    page.push_str("\n| column | unit | meaning |\n|---|---|---|\n");
    for CsvColumn { name, unit, meaning } in columns {
        let _ = writeln!(page, "| `{name}` | {} | {} |", unit.unwrap_or_default(), sentence(meaning));
    }
}

fn sentence(meaning: &str) -> String {
    let first = meaning.chars().next().expect("everything has a meaning");
    escape(&format!("{}{}", first.to_uppercase(), &meaning[first.len_utf8()..]))
}
