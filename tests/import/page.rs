//! `docs/import.md`: its formats are those of the program, and its keys those of a scenario.

use stormsim::import::Format;
use stormsim::scenario::schema::json_schema_text;

const PAGE: &str = include_str!("../../docs/import.md");

#[test]
fn the_formats_of_the_page_are_those_of_the_program() {
    let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| [`")).collect();
    let expected: Vec<String> =
        Format::ALL.iter().map(|format| format!("| [`{0}`](#{0}) | {1} |", format.name(), format.title())).collect();
    let starts: Vec<&str> = rows.iter().map(|row| row.rsplit_once(" |").map_or(*row, |(row, _)| row)).collect();
    let starts: Vec<String> =
        starts.iter().map(|row| format!("{} |", row.rsplit_once(" | ").expect("columns").0)).collect();
    assert_eq!(starts, expected);
    for format in Format::ALL {
        assert!(PAGE.contains(&format!("\n## {}\n", format.name())), "{format}");
    }
}

/// Every key in the second column of a table of a format is one of scenarios.
#[test]
fn what_keys_become_are_keys_of_scenarios() {
    let (_, formats) = PAGE.split_once("\n## grpc\n").expect("the first format");
    let schema = json_schema_text();
    let mut keys = 0;
    for row in formats.lines().filter(|line| line.starts_with("| `")) {
        let column = row.split(" | ").nth(1).expect("a second column");
        for name in column.split('`').skip(1).step_by(2).flat_map(|path| path.split(['.', ' ', '='])) {
            let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit();
            if name.is_empty() || !name.chars().all(is_name) || name.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            assert!(schema.contains(&format!("\"{name}\"")), "`{name}` of {row}");
            keys += 1;
        }
    }
    assert!(keys > 80, "{keys} keys were found");
}
