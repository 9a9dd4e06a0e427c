//! `stormsim lint` as people run it.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder for scenario files.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("it can be written");
    }
}

/// Runs `stormsim lint` in the folder, for a page of 100 columns.
pub fn lint(folder: &Folder, arguments: &[&str]) -> Output {
    run(folder.0.path(), arguments)
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("stormsim").expect("the program is built for the tests");
    command.current_dir(folder).env("COLUMNS", "100").arg("lint").args(arguments).output().expect("it starts")
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

const WARNED: &str = r#"version = 1
name = "warned"
clients.fleet = { count = 100, arrivals = { burst = {} }, calls.api = { timeout = "1s", total_timeout = "9s", retry = "policy" } }
services.api = { service_time = "5ms" }
retries.policy = { max_retries = 1, backoff = { fixed = "1s" } }
"#;

#[test]
fn the_exit_code_says_what_there_is() {
    let folder = Folder::new();
    folder.write("warned.toml", WARNED);
    let code = |arguments: &[&str]| lint(&folder, arguments).status.code();
    assert_eq!(code(&["warned.toml"]), Some(0), "warnings are no errors");
    assert_eq!(code(&["warned.toml", "--deny-warnings"]), Some(1));
    folder.write("hot.toml", &WARNED.replace("max_retries = 1, backoff = { fixed = \"1s\" }", "max_retries = 99"));
    assert_eq!(code(&["."]), Some(1));
    assert_eq!(code(&["nowhere.toml"]), Some(2));
    assert_eq!(code(&[]), Some(2));
    assert_eq!(code(&["--explain", "no-jiter"]), Some(2));
}

#[test]
fn text_shows_the_lines_and_sums_up() {
    let folder = Folder::new();
    folder.write("warned.toml", WARNED);
    insta::assert_snapshot!(printed(&lint(&folder, &["warned.toml"])));
    assert_eq!(printed(&lint(&folder, &["warned.toml", "--quiet"])), "", "no errors, not a word");
    let denied = printed(&lint(&folder, &["warned.toml", "--quiet", "--deny-warnings"]));
    assert!(denied.starts_with("warning[no-jitter]"), "{denied}");
}

#[test]
fn a_rule_is_explained_as_on_the_page() {
    let folder = Folder::new();
    let told = printed(&lint(&folder, &["--explain", "no-jitter"]));
    for part in ["## no-jitter", "**Warning.**", "```toml", "warning[no-jitter]", "**Instead:**"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let unknown = lint(&folder, &["--explain", "jitter"]);
    assert_eq!(unknown.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8(unknown.stderr).expect("UTF-8"));
    let rules = printed(&lint(&folder, &["--rules"]));
    for id in stormsim::analysis::lint::ids() {
        assert!(rules.lines().any(|line| line.starts_with(&format!("{id} "))), "{id}: {rules}");
    }
}

/// The README's command prints what the README shows.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../README.md");
    let (_, section) = readme.split_once("```sh\nstormsim lint ").expect("the README tells of it");
    let (arguments, section) = section.split_once('\n').expect("a line");
    let shown = section.split("```\n").nth(2).expect("a block with what is printed");
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = run(Path::new(env!("CARGO_MANIFEST_DIR")), &arguments);
    let printed = printed(&output);
    assert!(printed.contains(shown), "{shown}\n--- is not in\n{printed}");
}

/// Scenarios that exist to show a fault say so; nothing else is wrong with them.
#[test]
fn the_bundled_scenarios_are_clean() {
    let output = run(Path::new(env!("CARGO_MANIFEST_DIR")), &["scenarios/", "--deny-warnings"]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
}
