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

/// Failed and skipped cases of a suite that has the shape it must have.
fn check_suite(suite: Node) -> [usize; 2] {
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
            [] | ["failure" | "skipped" | "system-out"] | ["failure" | "skipped", "system-out"] => {}
            _ => panic!("{tags:?}"),
        }
        for child in elements(**case) {
            let known = if child.has_tag_name("failure") { &["message", "type"][..] } else { &[] };
            check_attributes(child, known, known.len());
            assert!(child.text().is_some_and(|text| !text.trim().is_empty()), "{child:?} says nothing");
        }
        results.extend(tags.first().copied());
    }
    let [failed, skipped] = ["failure", "skipped"].map(|tag| results.iter().filter(|result| **result == tag).count());
    assert_eq!((count(suite, "tests"), count(suite, "failures")), (cases.len(), failed));
    assert_eq!((count(suite, "skipped"), count(suite, "errors")), (skipped, 0));
    [failed, skipped]
}

/// Two files with names that XML must escape, one of which expects nothing, and a file that is cut short.
#[test]
fn the_document_has_the_shape_that_the_schema_asks_for() {
    let folder = scratch();
    write(folder.path(), "scenarios/a & <b> \"c\".toml", &GATE.replace("name = \"gate\"", "name = \"odd\""));
    let (nothing, _) = GATE.split_once("[[expect]]").expect("it expects something");
    write(folder.path(), "scenarios/nothing.toml", &nothing.replace("name = \"gate\"", "name = \"nothing\""));
    let done = stormsim(folder.path(), &["test", "scenarios", "--format", "junit", "--save-baseline", "b.json"]);
    check(&done.stdout, 3, [2, 0]);
    let cut = stormsim(folder.path(), &["test", "scenarios", "--format", "junit", "--max-in-progress", "50"]);
    assert_eq!(cut.code, 2);
    check(&cut.stdout, 3, [0, 8]);
    let worse =
        ["test", "scenarios", "--format", "junit", "--baseline", "b.json", "--set", "retries.often.max_retries=0"];
    // Both variants of all three are worse, and with them two rows on success.
    check(&stormsim(folder.path(), &worse).stdout, 3, [8, 0]);
}

fn check(text: &str, suite_count: usize, wanted: [usize; 2]) {
    let document = Document::parse(text).expect("XML");
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"));
    check_attributes(root, &["name", "tests", "failures", "errors"], 0);
    let suites = elements(root);
    assert_eq!(suites.len(), suite_count);
    let found =
        suites.iter().map(|suite| check_suite(*suite)).fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]]);
    assert_eq!(found, wanted, "{text}");
    for attribute in ["tests", "failures", "errors"] {
        assert_eq!(count(root, attribute), suites.iter().map(|suite| count(*suite, attribute)).sum::<usize>());
    }
}
