//! `docs/ci.md`: its commands run, its YAML can be read, and what it shows comes out.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Done, stormsim, write};

const PAGE: &str = include_str!("../../docs/ci.md");

/// Bundled scenarios that take little time, among them the one whose output the page shows.
const BUNDLED: [&str; 3] = ["three-tier", "payments", "retry-after"];

/// The blocks of code with their language, in their order.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let blocks = PAGE.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("a block has a first line")).collect()
}

/// The workflow and the hook.
fn yaml_blocks() -> [Value; 2] {
    let blocks: Vec<Value> =
        blocks().iter().filter(|(language, _)| *language == "yaml").map(|(_, text)| yaml(text)).collect();
    blocks.try_into().unwrap_or_else(|blocks| panic!("a workflow and a hook: {blocks:?}"))
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

/// In the order of the page, so that nothing is used before the page has told how to make it.
#[test]
fn every_command_of_the_page_runs() {
    let folder = bundled();
    let (mut printed, mut count) = (String::new(), 0);
    for (language, block) in blocks() {
        let commands: Vec<String> = match language {
            "sh" => block.lines().map(str::to_owned).collect(),
            "yaml" => commands_of(&yaml(block)),
            _ => {
                let shown = block.lines().filter(|line| !printed.contains(&format!("{line}\n")));
                assert_eq!(shown.collect::<Vec<_>>(), Vec::<&str>::new(), "{printed}");
                continue;
            }
        };
        for line in &commands {
            assert!(["stormsim test ", "stormsim lint "].iter().any(|start| line.starts_with(start)), "{line}");
            printed += &run(folder.path(), line).stdout;
        }
        count += commands.len();
    }
    assert!(count >= 16, "only {count} commands were run");
    let [_, hooks] = yaml_blocks();
    for hook in hooks["repos"][0]["hooks"].as_array().expect("hooks") {
        let entry = hook["entry"].as_str().expect("a command");
        let done = run(folder.path(), &format!("{entry} scenarios/payments.toml"));
        assert_eq!((done.stdout, done.stderr), (String::new(), String::new()), "a hook that passes says nothing");
    }
}

/// What the steps of a workflow do with stormsim.
fn commands_of(workflow: &Value) -> Vec<String> {
    let steps = workflow["jobs"]["scenarios"]["steps"].as_array().into_iter().flatten();
    let commands = steps.filter_map(|step| step["run"].as_str()).filter(|run| run.starts_with("stormsim"));
    commands.map(str::to_owned).collect()
}

/// What GitHub and pre-commit ask for; a key in the wrong place would be a key of something else.
#[test]
fn the_workflow_and_the_hook_have_the_shape_that_they_must_have() {
    let [workflow, hooks] = yaml_blocks();
    assert_eq!(commands_of(&workflow).len(), 3, "{workflow}");
    assert_eq!(workflow["on"]["push"]["branches"][0], "main");
    assert!(workflow["on"].as_object().is_some_and(|on| on.contains_key("pull_request")), "{workflow}");
    let job = &workflow["jobs"]["scenarios"];
    assert!(job["runs-on"].is_string());
    for step in job["steps"].as_array().expect("a list of steps") {
        assert!(step["uses"].is_string() != step["run"].is_string(), "{step}");
    }
    for hook in hooks["repos"][0]["hooks"].as_array().expect("hooks") {
        assert_eq!((&hooks["repos"][0]["repo"], &hook["language"]), (&"local".into(), &"system".into()));
        for key in ["id", "name", "entry", "files"] {
            assert!(hook[key].is_string(), "`{key}` of {hook}");
        }
        assert_eq!(hook["files"], r"^scenarios/.*\.toml$");
    }
}
