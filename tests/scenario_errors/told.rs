//! What matters of the errors of a scenario, where many are told side by side.

/// Messages without the breaks that the width of a page puts into them: what goes on below is indented, and has no line of
/// the file beside it.
pub fn unbroken(errors: &str) -> String {
    errors.lines().fold(String::new(), |mut text, line| {
        let goes_on = line.starts_with("       ") && !line.contains(['|', '=']) && !line.contains("-->");
        if goes_on {
            text.push(' ');
            text + line.trim_start()
        } else {
            if !text.is_empty() {
                text.push('\n');
            }
            text + line
        }
    })
}

/// Of each error the message, the marks under its place and the way out, which every error must have.
pub fn briefly(errors: &str) -> String {
    let of_interest = |line: &&str| ["error: ", "= help: ", "^"].iter().any(|part| line.contains(part));
    let errors = unbroken(errors);
    let lines: Vec<&str> = errors.lines().filter(of_interest).collect();
    let count = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
    assert_eq!(count("error: "), count("= help: "), "{errors}");
    let shown = lines.iter().map(|line| match line.split_once("| ").filter(|_| !line.contains("= help")) {
        Some((_, marks)) => format!("  {marks}"),
        None => format!("    {}", line.trim()),
    });
    shown.collect::<Vec<_>>().join("\n")
}
