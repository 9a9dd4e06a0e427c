//! The output folder: what stands in it after a run, and after a failure.

use std::fs;
use std::path::Path;

use stormsim::report::artefact::RUN;
use stormsim::report::files::{Charts, Output, OutputError};

use crate::fixture;

/// Of a scenario without limits.
const ALL: [&str; 9] = [
    "summary.json",
    "summary.csv",
    "replicas.csv",
    "timeline.csv",
    "timeline.png",
    "load.png",
    "amplification.png",
    "latency.png",
    "peaks.png",
];

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_run_leaves_its_files_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("made/on/demand");
    let summary = fixture::three_tier();
    let output = Output::prepare(&dir, &RUN).unwrap();
    assert_eq!(names(&dir), [""; 0], "the probe is gone");

    let written = output.write(&summary, Charts::Draw).unwrap();
    assert_eq!(written, ALL.map(|name| dir.join(name)));
    assert_eq!(names(&dir), sorted(&ALL));
    for (artefact, path) in RUN.iter().filter(|artefact| (artefact.applies)(&summary)).zip(&written) {
        assert!(fs::read(path).unwrap() == (artefact.render)(&summary), "{}", artefact.name);
    }
}

#[test]
fn charts_can_be_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let written = Output::prepare(dir.path(), &RUN).unwrap().write(&fixture::single(), Charts::Skip).unwrap();
    assert_eq!(
        written,
        ["summary.json", "summary.csv", "replicas.csv", "timeline.csv"].map(|name| dir.path().join(name))
    );
    assert_eq!(names(dir.path()).len(), 4);
}

#[test]
fn a_second_run_replaces_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let output = Output::prepare(dir.path(), &RUN).unwrap();
    output.write(&fixture::backoff(), Charts::Skip).unwrap();
    output.write(&fixture::single(), Charts::Skip).unwrap();
    let json = fs::read_to_string(dir.path().join("summary.json")).unwrap();
    assert!(json.contains("one-shot") && !json.contains("backoff"));
}

/// Charts of the first run beside figures of the second would be taken for its own. What else is in the folder is not
/// ours.
#[test]
fn charts_of_an_earlier_run_are_removed_when_they_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mine.png"), "mine").unwrap();
    let output = Output::prepare(dir.path(), &RUN).unwrap();
    output.write(&fixture::backoff(), Charts::Draw).unwrap();
    assert_eq!(names(dir.path()).len(), ALL.len() + 1);
    let written = output.write(&fixture::single(), Charts::Skip).unwrap();
    assert_eq!(written.len(), 4);
    assert_eq!(names(dir.path()), sorted(&["mine.png", "summary.json", "summary.csv", "replicas.csv", "timeline.csv"]));
}

/// A run of services with limits leaves two charts more. Beside the next run, which has nothing to show in them, they
/// would be taken for its own.
#[test]
fn charts_that_do_not_apply_are_neither_written_nor_left_from_before() {
    let dir = tempfile::tempdir().unwrap();
    let output = Output::prepare(dir.path(), &RUN).unwrap();
    output.write(&fixture::overloaded(), Charts::Draw).unwrap();
    assert_eq!(names(dir.path()), sorted(&[&ALL[..], &["queues.png", "in_flight.png"]].concat()));
    let written = output.write(&fixture::single(), Charts::Draw).unwrap();
    assert_eq!(written, ALL.map(|name| dir.path().join(name)));
    assert_eq!(names(dir.path()), sorted(&ALL));
}

/// The new figures are not lost for it, and the message names the chart that does not belong to them.
#[test]
fn an_old_chart_that_cannot_be_removed_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let output = Output::prepare(dir.path(), &RUN).unwrap();
    let taken = dir.path().join("timeline.png");
    fs::create_dir(&taken).unwrap();
    let text = output.write(&fixture::single(), Charts::Skip).unwrap_err().to_string();
    assert!(text.starts_with(&format!("cannot remove `{}`, a file of an earlier run: ", taken.display())), "{text}");
    assert_eq!(
        names(dir.path()),
        sorted(&["summary.json", "summary.csv", "replicas.csv", "timeline.csv", "timeline.png"])
    );
}

/// A file in the way fails for every user, root included, where a read-only folder would not.
#[test]
fn a_folder_that_cannot_be_made_is_refused_before_the_run() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    for dir in [file.clone(), file.join("out")] {
        let error = Output::prepare(&dir, &RUN).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, OutputError::NotAFolder { .. }), "{text}");
        let [dir, file] = [&dir, &file].map(|path| path.display());
        let reason = format!("`{file}` is a file, not a folder; choose another with `--output DIR`");
        assert_eq!(text, format!("cannot create the output folder `{dir}`: {reason}"));
    }
    assert_eq!(names(root.path()), ["notes.txt"]);
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_folder_with_the_name_of_a_result_is_refused_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let taken = dir.path().join("replicas.csv");
    fs::create_dir(&taken).unwrap();
    let text = Output::prepare(dir.path(), &RUN).unwrap_err().to_string();
    let expected = format!(
        "cannot write `{}`: a folder has that name; move it away or choose another folder with `--output DIR`",
        taken.display()
    );
    assert_eq!(text, expected);
    assert_eq!(names(dir.path()), ["replicas.csv"]);
}

/// The last file cannot be renamed into its place. Those before it are whole, and no temporary file is left.
#[test]
fn a_failure_on_the_way_leaves_no_temporary_file() {
    let dir = tempfile::tempdir().unwrap();
    let output = Output::prepare(dir.path(), &RUN).unwrap();
    let taken = dir.path().join("timeline.csv");
    fs::create_dir(&taken).unwrap();
    let text = output.write(&fixture::single(), Charts::Skip).unwrap_err().to_string();
    assert!(text.starts_with(&format!("cannot write `{}`: ", taken.display())), "{text}");
    assert_eq!(names(dir.path()), sorted(&["summary.json", "summary.csv", "replicas.csv", "timeline.csv"]));
    assert_eq!(names(&taken), [""; 0]);
}

/// The folder disappears during the simulation: nothing can be written, and the earlier check cannot know.
#[test]
fn a_folder_that_disappears_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("out");
    let output = Output::prepare(&dir, &RUN).unwrap();
    fs::remove_dir(&dir).unwrap();
    let text = output.write(&fixture::single(), Charts::Skip).unwrap_err().to_string();
    assert!(text.starts_with(&format!("cannot write `{}`: ", dir.join("summary.json").display())), "{text}");
    assert_eq!(names(root.path()), [""; 0]);
}

/// Temporary files are private; results must have the mode that any new file gets.
#[cfg(unix)]
#[test]
fn results_can_be_read_by_whom_other_files_can() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let written = Output::prepare(dir.path(), &RUN).unwrap().write(&fixture::single(), Charts::Skip).unwrap();
    let usual = dir.path().join("usual");
    fs::write(&usual, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&written[0]), mode(&usual));
}
