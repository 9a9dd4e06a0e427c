//! "Start from a template" of the README: its commands run, and its list is that of the program.

use stormsim::templates::TEMPLATES;

use crate::{names_in, run_line, scratch};

const README: &str = include_str!("../../README.md");

/// What stands under this heading.
fn section() -> &'static str {
    let (_, rest) = README.split_once("\n## Start from a template\n").expect("there is such a section");
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

#[test]
fn every_command_of_the_section_runs_and_makes_the_file_that_it_names() {
    let folder = scratch();
    let blocks = section().split("\n```").skip(1).step_by(2);
    let blocks = blocks.map(|block| block.split_once('\n').expect("a first line"));
    let commands: Vec<&str> =
        blocks.filter(|(language, _)| *language == "sh").flat_map(|(_, text)| text.lines()).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for line in commands {
        run_line(folder.path(), line);
    }
    assert!(names_in(folder.path()).contains(&"user-path.toml".to_owned()));
}

#[test]
fn the_list_of_the_section_is_that_of_the_program() {
    let rows: Vec<&str> = section().lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> =
        TEMPLATES.iter().map(|template| format!("| `{}` | {} |", template.name, template.about)).collect();
    assert_eq!(rows, expected);
}
