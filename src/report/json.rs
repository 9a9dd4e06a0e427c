//! `summary.json`: the summary as it is, for programs.

use serde::Serialize;

use crate::experiment::Summary;

const WRITES: &str = "a summary has string keys and is written to memory";

/// A summary as pretty-printed JSON with a newline at its end. What is undefined is `null`, never not-a-number.
pub fn pretty<T: Serialize>(summary: &T) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(summary).expect(WRITES);
    json.push(b'\n');
    json
}

/// What `--format json` prints: the summary of one scenario as it is; of `several` an array, even if an interruption
/// has left only one.
pub fn summaries(summaries: &[Summary], several: bool) -> String {
    let json = match summaries {
        [one] if !several => serde_json::to_string_pretty(one),
        all => serde_json::to_string_pretty(all),
    };
    json.expect(WRITES) + "\n"
}
