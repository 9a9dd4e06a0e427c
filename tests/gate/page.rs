//! `docs/ci.md`: its commands run, its YAML can be read, and what it shows comes out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Done, stormsim, write};

const PAGE: &str = include_str!("../../docs/ci.md");

/// Bundled scenarios that take little time, among them the one whose output the page shows.
const BUNDLED: [&str; 3] = ["three-tier", "payments", "retry-after"];

/// The blocks of code, by their language.
fn blocks() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut blocks: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for block in PAGE.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').expect("a block has a first line");
        blocks.entry(language).or_default().push(text);
    }
    blocks
}

fn bundled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    for name in BUNDLED {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/{name}.toml"));
        let text = fs::read_to_string(file).expect("it is bundled");
        write(folder.path(), &format!("scenarios/{name}.toml"), &text);
    }
    folder
}

/// Runs a command line; what comes after `>` would be the shell's.
fn run(folder: &Path, line: &str) -> Done {
    let words = shlex::split(line).expect("the quotes match");
    let arguments: Vec<&str> = words.iter().map(String::as_str).skip(1).take_while(|word| *word != ">").collect();
    let done = stormsim(folder, &arguments);
    assert_eq!(done.code, 0, "{line}\n{}{}", done.stdout, done.stderr);
    done
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// In the order of the page but for the workflow, which needs the baseline that is saved further below.
#[test]
fn every_command_of_the_page_runs() {
    let folder = bundled();
    let blocks = blocks();
    let lines: Vec<&str> = blocks["sh"].iter().flat_map(|block| block.lines()).collect();
    assert!(lines.len() >= 8 && lines.iter().all(|line| line.starts_with("stormsim test ")), "{lines:?}");
    let printed: String = lines.iter().map(|line| run(folder.path(), line).stdout).collect();
    for shown in blocks[""].iter().flat_map(|block| block.lines()) {
        assert!(printed.contains(&format!("{shown}\n")), "{shown}\n{printed}");
    }
    let workflow = yaml(blocks["yaml"][0]);
    let steps = workflow["jobs"]["scenarios"]["steps"].as_array().expect("a list of steps");
    let gates: Vec<&str> =
        steps.iter().filter_map(|step| step["run"].as_str()).filter(|run| run.starts_with("stormsim")).collect();
    assert_eq!(gates.len(), 2, "{gates:?}");
    for gate in gates {
        run(folder.path(), gate);
    }
    let hooks = yaml(blocks["yaml"][1]);
    let entry = hooks["repos"][0]["hooks"][0]["entry"].as_str().expect("a command");
    let done = run(folder.path(), &format!("{entry} scenarios/payments.toml"));
    assert_eq!((done.stdout, done.stderr), (String::new(), String::new()), "a hook that passes says nothing");
}

/// What GitHub and pre-commit ask for; a key in the wrong place would be a key of something else.
#[test]
fn the_workflow_and_the_hook_have_the_shape_that_they_must_have() {
    let blocks = blocks();
    let [workflow, hooks] = blocks["yaml"][..] else { panic!("a workflow and a hook: {:?}", blocks["yaml"]) };
    let (workflow, hooks) = (yaml(workflow), yaml(hooks));
    assert_eq!(workflow["on"]["push"]["branches"][0], "main");
    assert!(workflow["on"].as_object().is_some_and(|on| on.contains_key("pull_request")), "{workflow}");
    let job = &workflow["jobs"]["scenarios"];
    assert!(job["runs-on"].is_string());
    for step in job["steps"].as_array().expect("a list of steps") {
        assert!(step["uses"].is_string() != step["run"].is_string(), "{step}");
    }
    let hook = &hooks["repos"][0]["hooks"][0];
    assert_eq!((&hooks["repos"][0]["repo"], &hook["language"]), (&"local".into(), &"system".into()));
    for key in ["id", "name", "entry", "files"] {
        assert!(hook[key].is_string(), "`{key}` of {hook}");
    }
    assert_eq!(hook["files"], r"^scenarios/.*\.toml$");
}
