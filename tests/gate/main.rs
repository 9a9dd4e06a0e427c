//! `stormsim test` as a gate: what it prints for machines, what a baseline lets pass, what is refused, and the page
//! that tells how to set it up.

mod baselines;
mod formats;
mod junit;
mod page;
mod refusals;

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// 100 requests at once, of which half fail at random and are tried again: of the rows one is met, one is on the edge
/// of what comes out, and one is not met.
const GATE: &str = r#"version = 1
name = "gate"
replicas = 10

[clients.web]
count = 100
arrivals = { burst = { at = "0s" } }
calls.api = { timeout = "1s", retry = "often" }

[services.api]
service_time = "10ms"

[retries.often]
max_retries = 2
backoff = { fixed = "100ms" }

[faults.errors]
on = ["api"]
effect = { fail = { probability = 0.5 } }

[variants.as-it-is]

[variants.patient]
"retries.often.max_retries" = 4

[[expect]]
metric = "requests"
equals = 100

[[expect]]
variant = "patient"
service = "api"
metric = "arrivals"
at_most = 195

  [[expect]]
  variant = "as-it-is"
  metric = "success_ratio"
  at_least = 0.99
"#;

/// A folder with the scenario as `scenarios/gate.toml`.
fn scratch() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    write(folder.path(), "scenarios/gate.toml", GATE);
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder is writable");
    fs::write(path, text).expect("the folder is writable");
}

/// What a command left behind.
struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

fn stormsim(folder: &Path, arguments: &[&str]) -> Done {
    let mut command = Command::cargo_bin("stormsim").expect("the program is built for the tests");
    let Output { status, stdout, stderr } = command.current_dir(folder).args(arguments).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { code: status.code().expect("it is not killed"), stdout: text(stdout), stderr: text(stderr) }
}

/// `stormsim test` of the scenario.
fn test(folder: &Path, arguments: &[&str]) -> Done {
    stormsim(folder, &[&["test", "scenarios/gate.toml"], arguments].concat())
}
