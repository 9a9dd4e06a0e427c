//! JUnit: to the letter, and the facts of the schema that servers check it by.

use roxmltree::{Document, Node};

use super::{GATE, scratch, stormsim, test, write};

#[test]
fn a_report_to_the_letter() {
    let folder = scratch();
    let done = test(folder.path(), &["--format", "junit"]);
    assert_eq!((done.code, done.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_with_quiet() {
    let folder = scratch();
    let print = |more: &[&str]| test(folder.path(), &[&["--format", "junit"], more].concat()).stdout;
    assert_eq!(print(&["-j", "1"]), print(&["-j", "2"]));
    assert_eq!(print(&[]), print(&["--quiet"]));
}

fn elements<'a>(node: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
    node.children().filter(Node::is_element).collect()
}

fn count(node: Node, attribute: &str) -> usize {
    node.attribute(attribute)
        .and_then(|count| count.parse().ok())
        .unwrap_or_else(|| panic!("`{attribute}` of {node:?}"))
}

/// Checks an element against the schema: these attributes and no others, the first `required` of which must be there.
fn check_attributes(node: Node, known: &[&str], required: usize) {
    for attribute in node.attributes() {
        assert!(known.contains(&attribute.name()), "{node:?}");
    }
    for name in &known[..required] {
        assert!(node.has_attribute(*name), "`{name}` of {node:?}");
    }
}

/// Failed, skipped and wrong cases of a suite that has the shape it must have.
fn check_suite(suite: Node) -> [usize; 3] {
    assert!(suite.has_tag_name("testsuite"));
    check_attributes(suite, &["name", "tests", "failures", "errors", "skipped"], 4);
    let children = elements(suite);
    let cases: Vec<_> = children.iter().take_while(|child| child.has_tag_name("testcase")).collect();
    assert!(
        children[cases.len()..].iter().all(|rest| rest.has_tag_name("system-out")) && children.len() <= cases.len() + 1
    );
    let mut results = Vec::new();
    for case in &cases {
        check_attributes(**case, &["name", "classname"], 2);
        let tags: Vec<&str> = elements(**case).iter().map(|child| child.tag_name().name()).collect();
        match tags[..] {
            [] | ["failure" | "skipped" | "error" | "system-out"] | ["failure" | "skipped", "system-out"] => {}
            _ => panic!("{tags:?}"),
        }
        for child in elements(**case) {
            let has_reason = child.has_tag_name("failure") || child.has_tag_name("error");
            let known = if has_reason { &["message", "type"][..] } else { &[] };
            check_attributes(child, known, known.len());
            assert!(child.text().is_some_and(|text| !text.trim().is_empty()), "{child:?} says nothing");
        }
        results.extend(tags.first().copied());
    }
    let with = |tag: &str| results.iter().filter(|result| **result == tag).count();
    let found = ["failure", "skipped", "error"].map(with);
    assert_eq!(count(suite, "tests"), cases.len());
    assert_eq!(["failures", "skipped", "errors"].map(|attribute| count(suite, attribute)), found);
    found
}

/// Two files with names that XML must escape, one of which expects nothing, and a file that is cut short.
#[test]
fn the_document_has_the_shape_that_the_schema_asks_for() {
    let folder = scratch();
    write(folder.path(), "scenarios/a & <b> \"c\".toml", &GATE.replace("name = \"gate\"", "name = \"odd\""));
    let (nothing, _) = GATE.split_once("[[expect]]").expect("it expects something");
    write(folder.path(), "scenarios/nothing.toml", &nothing.replace("name = \"gate\"", "name = \"nothing\""));
    let done = stormsim(folder.path(), &["test", "scenarios", "--format", "junit", "--save-baseline", "b.json"]);
    check(&done.stdout, 3, [2, 0, 0]);
    let cut = stormsim(folder.path(), &["test", "scenarios", "--format", "junit", "--max-in-progress", "50"]);
    assert_eq!(cut.code, 2);
    check(&cut.stdout, 3, [0, 8, 0]);
    let worse =
        ["test", "scenarios", "--format", "junit", "--baseline", "b.json", "--set", "retries.often.max_retries=0"];
    // Both variants of all three are worse, and with them two rows on success.
    check(&stormsim(folder.path(), &worse).stdout, 3, [8, 0, 0]);
}

/// Files that are no scenarios, one that cannot be read, and one that is not to blame: a report all the same, as an
/// empty file would be an error of the server that reads it.
#[test]
fn files_that_are_no_scenarios_are_errors() {
    let folder = scratch();
    let wrong = GATE.replace("service_time", "servicetime").replace("max_retries = 2", "max_retries = -2");
    write(folder.path(), "scenarios/wrong.toml", &wrong);
    let files = ["test", "scenarios", "gone.toml", "--format", "junit"];
    let done = stormsim(folder.path(), &files);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("error: unknown key"), "{}", done.stderr);
    check(&done.stdout, 3, [0, 0, 2]);
    insta::assert_snapshot!(done.stdout);
    let json = stormsim(folder.path(), &[&files[..4], &["json"]].concat());
    assert_eq!((json.code, json.stdout.as_str()), (2, ""), "there is no summary");
}

/// The same row three times, and another one: a server takes cases of one name for one case.
#[test]
fn cases_of_equal_rows_are_told_apart() {
    let folder = scratch();
    let row = "[[expect]]\nmetric = \"requests\"\nequals = 100\n\n";
    write(folder.path(), "scenarios/gate.toml", &GATE.replace(row, &row.repeat(3)));
    let done = test(folder.path(), &["--format", "junit", "--variant", "patient"]);
    let document = Document::parse(&done.stdout).expect("XML");
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let names: Vec<&str> = cases.filter_map(|case| case.attribute("name")).collect();
    let expected = [
        "patient: scenario requests = 100",
        "patient: scenario requests = 100 (2)",
        "patient: scenario requests = 100 (3)",
        "patient: service api arrivals <= 195",
    ];
    assert_eq!(names, expected);
}

fn check(text: &str, suite_count: usize, wanted: [usize; 3]) {
    let document = Document::parse(text).expect("XML");
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"));
    check_attributes(root, &["name", "tests", "failures", "errors"], 0);
    let suites = elements(root);
    assert_eq!(suites.len(), suite_count);
    let found: Vec<[usize; 3]> = suites.iter().map(|suite| check_suite(*suite)).collect();
    assert_eq!([0, 1, 2].map(|at| found.iter().map(|suite| suite[at]).sum::<usize>()), wanted, "{text}");
    for attribute in ["tests", "failures", "errors"] {
        assert_eq!(count(root, attribute), suites.iter().map(|suite| count(*suite, attribute)).sum::<usize>());
    }
}
