//! The command: what it prints, what it writes, what it refuses.

use std::fs;

use stormsim::templates::TEMPLATES;

use crate::{names_in, run_line, scratch, stormsim, stormsim_on};

#[test]
fn without_a_name_it_lists_what_there_is_and_writes_nothing() {
    let folder = scratch();
    let done = stormsim(folder.path(), &["init"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(done.stdout);
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn on_a_narrow_page_every_template_is_still_told_of() {
    let folder = scratch();
    let done = stormsim_on("40", folder.path(), &["init"]);
    let words: Vec<&str> = done.stdout.split_whitespace().collect();
    for template in TEMPLATES {
        let about: Vec<&str> = [template.name].into_iter().chain(template.about.split(' ')).collect();
        assert!(words.windows(about.len()).any(|run| run == about), "{}", done.stdout);
    }
}

#[test]
fn it_writes_a_file_that_the_commands_take_which_it_names() {
    for template in TEMPLATES {
        let folder = scratch();
        let done = stormsim(folder.path(), &["init", template.name]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        let file = template.file_name();
        assert_eq!(names_in(folder.path()), [file.as_str()], "nothing temporary is left");
        assert_eq!(fs::read_to_string(folder.path().join(&file)).unwrap(), template.text);
        let (first, rest) = done.stdout.split_once('\n').unwrap();
        assert!(first.starts_with(&format!("written to {file};")), "{first}");
        let commands: Vec<&str> = rest.lines().map(|line| line.trim().split("  ").next().unwrap()).collect();
        assert!(commands.contains(&format!("stormsim run {file}").as_str()), "{rest}");
        for line in commands {
            run_line(folder.path(), line);
        }
        assert!(folder.path().join("output").join(template.name).join("load.png").is_file());
    }
}

/// The name of the file needs quotes in a shell.
#[test]
fn it_writes_where_it_is_told_to() {
    let folder = scratch();
    fs::create_dir(folder.path().join("our scenarios")).unwrap();
    let done = stormsim(folder.path(), &["init", "payments", "--output", "our scenarios/checkout.toml"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(names_in(folder.path()), ["our scenarios"]);
    assert_eq!(names_in(&folder.path().join("our scenarios")), ["checkout.toml"]);
    assert!(done.stdout.contains("  stormsim run 'our scenarios/checkout.toml'  "), "{}", done.stdout);
}

#[test]
fn a_dash_is_standard_output() {
    let folder = scratch();
    for template in TEMPLATES {
        let done = stormsim(folder.path(), &["init", template.name, "-o", "-"]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        assert_eq!(done.stdout, template.text);
    }
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn what_is_there_is_not_overwritten() {
    let folder = scratch();
    let file = folder.path().join("user-path.toml");
    fs::write(&file, "mine").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (arguments, path) in [
        (&["init", "user-path"][..], "user-path.toml"),
        (&["init", "payments", "--output", "user-path.toml"], "user-path.toml"),
        (&["init", "payments", "--output", "folder"], "folder"),
    ] {
        let done = stormsim(folder.path(), arguments);
        let told = format!(
            "error: `{path}` is there already, and nothing is overwritten; name another file with `--output FILE`\n"
        );
        assert_eq!((done.code, done.stdout.as_str(), done.stderr), (2, "", told), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(names_in(folder.path()), ["folder", "user-path.toml"]);
    assert!(names_in(&folder.path().join("folder")).is_empty());
}

/// What the link leads to may be mounted again later: the link is somebody's, too.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_there_as_well() {
    let folder = scratch();
    std::os::unix::fs::symlink("elsewhere.toml", folder.path().join("payments.toml")).unwrap();
    let done = stormsim(folder.path(), &["init", "payments"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.starts_with("error: `payments.toml` is there already"), "{}", done.stderr);
    assert_eq!(names_in(folder.path()), ["payments.toml"]);
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_with_a_way_out() {
    let folder = scratch();
    let done = stormsim(folder.path(), &["init", "payments", "--output", "missing/payments.toml"]);
    let told = "error: cannot write `missing/payments.toml`: there is no folder `missing`; make it first\n";
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (2, "", told));
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn an_unknown_template_is_an_error_with_the_nearest_and_all() {
    let folder = scratch();
    let done = stormsim(folder.path(), &["init", "userpath"]);
    let told = "error: there is no template `userpath`; did you mean `user-path`?\n\
                help: templates: `user-path`, `background-jobs`, `third-party`, `payments`, `fan-out`\n";
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (2, "", told));
    let done = stormsim(folder.path(), &["init", "--output", "some.toml"]);
    assert_eq!(done.code, 2, "a file without a template is a question that cannot be answered");
    assert!(done.stderr.contains("TEMPLATE"), "{}", done.stderr);
    assert!(names_in(folder.path()).is_empty());
}
