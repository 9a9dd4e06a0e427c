//! The presets: a list of them, one of them as TOML with all that is known of it, all as JSON, and the reference page.

mod page;
mod words;

pub use page::page;

use serde::Serialize;

use crate::analysis::PresetExplained;
use crate::presets::Preset;
use crate::report::json;
use crate::report::presets::words::{attempts, jitter, waits};
use crate::report::text::table;
use crate::wrap;

/// The version of what [`json`](fn@json) writes.
const SCHEMA_VERSION: u32 = 1;

/// The heads of the list.
const HEADS: [&str; 6] = ["preset", "product", "attempts", "waits", "jitter", "read"];

/// All of them, for a page of `width` columns, and how to go on.
pub fn list(presets: &[PresetExplained], width: usize) -> String {
    let rows: Vec<[String; 6]> = presets.iter().map(row).collect();
    let listed = table(&HEADS, &rows, width).unwrap_or_else(|| rows.iter().map(|row| narrow(row, width)).collect());
    // There is one at least: they are constants.
    let name = presets[0].name;
    let go_on = format!("`retry = \"{name}\"` in a call names one; `stormsim presets {name}` says what that means.");
    format!("{listed}\n{}", wrap::words(wrap::sentence(&go_on), ["", "  "], width))
}

fn row(preset: &PresetExplained) -> [String; 6] {
    let PresetExplained { name, product, policy, read, .. } = preset;
    [(*name).to_owned(), product.clone(), attempts(preset), waits(policy), jitter(policy), read.to_string()]
}

/// For a page that the table is too wide for: a line for the name, and the rest below it.
fn narrow([name, product, attempts, waits, jitter, read]: &[String; 6], width: usize) -> String {
    let head = wrap::words(wrap::sentence(&format!("{name}: {product}")), [" ", "     "], width);
    let about = format!("attempts {attempts}; waits {waits}; jitter {jitter}; read {read}");
    head + &wrap::words(wrap::sentence(&about), ["     "; 2], width)
}

/// One of them as TOML to paste into a scenario, with the rest as comments of at most `width` columns.
pub fn one(preset: &Preset, explained: &PresetExplained, width: usize) -> String {
    let PresetExplained { name, product, version, source, read, notes, .. } = explained;
    let comment = |text: &str| wrap::words(wrap::sentence(text), ["# ", "# "], width);
    let item = |text: &str| wrap::words(wrap::sentence(text), ["# - ", "#   "], width);
    let mut text = comment(&format!("{product}, {version}; read: {read}"));
    text += &source.iter().map(|source| item(source)).collect::<String>();
    text += "#\n";
    text += &comment(&format!(
        "`retry = \"{name}\"` in a call is short for this; `preset = \"{name}\"` in a policy puts it beneath its own keys."
    ));
    text += &format!("\n[retries.{}]\n{}\n", preset.policy_name(), preset.policy());
    text += &words::schedule(explained).iter().map(|line| format!("# {line}\n")).collect::<String>();
    if let Some(call) = preset.call() {
        text += "#\n";
        text += &comment("Keys of the call that belong to it, to be put there by hand:");
        text += &call.lines().map(|line| format!("#   {line}\n")).collect::<String>();
    }
    text += "#\n";
    text + &notes.iter().map(|note| item(note)).collect::<String>()
}

/// Some or all of them, for programs.
pub fn json(presets: &[PresetExplained]) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        schema_version: u32,
        presets: &'a [PresetExplained],
    }

    let file = File { schema_version: SCHEMA_VERSION, presets };
    String::from_utf8(json::pretty(&file)).expect("JSON is UTF-8")
}
