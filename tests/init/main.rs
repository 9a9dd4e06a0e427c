//! `stormsim init`: what it writes and does not overwrite, that the templates hold what they promise, and the paragraph
//! of the README about it.

mod command;
mod contents;
mod page;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().expect("there is room for a temporary folder")
}

/// What a command left behind.
struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program in `folder`, for a page of so many columns.
fn stormsim_on(columns: &str, folder: &Path, arguments: &[&str]) -> Done {
    let mut command = Command::cargo_bin("stormsim").expect("the program is built for the tests");
    let output = command.current_dir(folder).env("COLUMNS", columns).args(arguments).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().expect("it is not killed");
    Done { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn stormsim(folder: &Path, arguments: &[&str]) -> Done {
    stormsim_on("100", folder, arguments)
}

/// Runs a command line that begins with the name of the program, and expects success.
fn run_line(folder: &Path, line: &str) -> Done {
    let words = shlex::split(line).expect("the quotes match");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["stormsim", arguments @ ..] = &words[..] else { panic!("{line}") };
    let done = stormsim(folder, arguments);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{line}\n{}", done.stdout);
    done
}

/// The names of everything in a folder.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be listed").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}
