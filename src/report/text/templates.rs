//! The templates of scenarios, and how to go on with one.

use std::path::Path;

use crate::report::text::grid::{self, Column};
use crate::templates::Template;
use crate::wrap;

/// What can be done with a scenario file, and what comes of it.
const NEXT: [(&str, &str); 3] = [
    ("lint", "what will go wrong, without a run"),
    ("explain", "what its settings mean, likewise"),
    ("run", "what its variants do when things go wrong; charts"),
];

/// All of them, and how to get one.
pub(super) fn list(templates: &[Template], width: usize) -> String {
    let names = templates.iter().map(|template| template.name.to_owned()).collect();
    let abouts = templates.iter().map(|template| template.about.to_owned()).collect();
    let columns =
        [Column { head: "template".to_owned(), cells: names }, Column { head: "for".to_owned(), cells: abouts }];
    let table = grid::of_text(&columns, width).unwrap_or_else(|| narrow(templates, width));
    // There is one at least: it is a constant.
    let example = templates[0].name;
    format!("{table}\n`stormsim init {example}` writes `{}`, a scenario to start from.\n", templates[0].file_name())
}

/// For a page that the table is too wide for: a line for the name and a sentence below it, each.
fn narrow(templates: &[Template], width: usize) -> String {
    let item = |template: &Template| {
        format!(" {}\n{}", template.name, wrap::words(template.about.split(' '), ["     "; 2], width))
    };
    templates.iter().map(item).collect()
}

/// Where a template was written, and what to do with it.
pub(super) fn written(file: &Path) -> String {
    let name = file.display().to_string();
    // Only a zero byte cannot be quoted, and no path holds one.
    let quoted = shlex::try_quote(&name).map_or_else(|_| name.clone(), Into::into);
    let commands = NEXT.map(|(command, what)| (format!("stormsim {command} {quoted}"), what));
    let widest = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let lines: String = commands.iter().map(|(command, what)| format!("  {command:widest$}  {what}\n")).collect();
    format!("written to {name}; put in the figures of your own system, and then:\n{lines}")
}
