//! `summary.json`: the summary as it is, for programs.

use crate::experiment::Summary;

const WRITES: &str = "a summary has string keys and is written to memory";

/// The summary as pretty-printed JSON with a newline at its end. What is undefined is `null`, never not-a-number.
pub fn summary(summary: &Summary) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(summary).expect(WRITES);
    json.push(b'\n');
    json
}

/// What `--format json` prints: the summary of one scenario as it is, those of several in an array.
pub fn summaries(summaries: &[Summary]) -> String {
    let json = match summaries {
        [one] => serde_json::to_string_pretty(one),
        several => serde_json::to_string_pretty(several),
    };
    json.expect(WRITES) + "\n"
}
