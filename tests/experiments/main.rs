//! Experiments: variants against each other, grids of settings, frontiers, and how well a mean is known.

mod compare;
mod frontier;
mod intervals;
mod page;
mod sweep;

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

const BACKOFF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/backoff.toml");
const METASTABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/metastable.toml");
const THREE_TIER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/three-tier.toml");

fn scratch() -> TempDir {
    tempfile::tempdir().expect("there is room for a temporary folder")
}

fn stormsim(folder: &Path, command: &str, arguments: &[&str]) -> Output {
    let mut stormsim = Command::cargo_bin("stormsim").expect("the program is built for the tests");
    stormsim.current_dir(folder).env("COLUMNS", "100").arg(command).args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What it prints, having succeeded.
fn printed(folder: &Path, command: &str, arguments: &[&str]) -> String {
    let output = stormsim(folder, command, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// What it says about why it does not, having left nothing behind.
fn refused(folder: &Path, command: &str, arguments: &[&str]) -> String {
    let output = stormsim(folder, command, arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let is_file = |entry: fs::DirEntry| entry.path().is_file();
    assert!(fs::read_dir(folder).expect("it is there").all(|entry| entry.is_ok_and(is_file)), "no folder was made");
    text(&output.stderr)
}
