//! `docs/experiments.md`: its commands run, and what it shows comes out.

use std::fs;
use std::path::Path;

use crate::{scratch, stormsim, text};

const PAGE: &str = include_str!("../../docs/experiments.md");

/// The lines of the blocks of this language.
fn lines(language: &str) -> Vec<&'static str> {
    let blocks = PAGE.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').expect("a first line"));
    blocks.filter(|(of, _)| *of == language).flat_map(|(_, text)| text.lines()).collect()
}

#[test]
fn every_command_of_the_page_runs_and_what_is_shown_comes_out() {
    let folder = scratch();
    fs::create_dir(folder.path().join("scenarios")).expect("the folder is writable");
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")).expect("it is there") {
        let file = entry.expect("it can be listed").path();
        let copy = folder.path().join("scenarios").join(file.file_name().expect("a file has a name"));
        fs::copy(&file, copy).expect("the folder is writable");
    }
    let mut printed = String::new();
    for line in lines("sh") {
        let words = shlex::split(line).expect("the quotes match");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ["stormsim", command, arguments @ ..] = &words[..] else { panic!("{line}") };
        let output = stormsim(folder.path(), command, arguments);
        assert_eq!(output.status.code(), Some(0), "{line}\n{}", text(&output.stderr));
        printed += &text(&output.stdout);
    }
    let shown = lines("");
    assert!(shown.len() >= 4, "{shown:?}");
    for line in shown {
        assert!(printed.contains(&format!("{line}\n")), "{line}\n{printed}");
    }
    for command in ["compare", "sweep", "frontier", "run"] {
        assert!(PAGE.contains(&format!("\nstormsim {command} ")), "{command}");
    }
}

/// The table that the page shows is that of the scenario which it is about.
#[test]
fn the_table_of_the_page_is_that_of_a_bundled_scenario() {
    let scenario = fs::read_to_string(crate::METASTABLE).expect("it is bundled");
    assert!(scenario.contains(&lines("toml").join("\n")));
}
