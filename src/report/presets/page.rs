//! The reference page of the presets.

use std::fmt::Write as _;

use crate::analysis::PresetExplained;
use crate::presets::PRESETS;
use crate::report::presets::{HEADS, row, words};
use crate::wrap;

const WIDTH: usize = 120;

const HEAD: &str = "\
# Presets

Made from the presets themselves: `UPDATE_SCHEMA=1 cargo test --test schema` writes it anew. `stormsim presets` lists them,
`stormsim presets NAME` prints one as TOML to paste, `--format json` has the same for programs.

A preset is the retry behaviour of a product, as far as it can be said in a policy. A call names it where it would name a
policy of the file:

```toml
[clients.web.calls.api]
retry = \"envoy\"
```

A policy of the file may begin with it and say some of its keys differently. A key within a table lies over that key alone
(`backoff.exponential.base`), another choice (`backoff.fixed`) takes the place of the preset's:

```toml
[retries.mine]
preset = \"envoy\"
max_retries = 3
```

Variants and flags change what a preset says by the path of the policy: `--set retries.envoy.max_retries=3`. A policy of the
file that is called like a preset is the file's own.

What belongs to the call, such as timeouts, pools and breakers, is in no policy: it is listed with each preset, to be put
into the call by hand.

`read` says how the facts were learned: in the `code` or the `documentation` of that version, `second-hand`, or from memory
(`recall`). Where that is so of a single fact only, a note says it.

";

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let _ = write!(page, "| {} |\n|{}\n", HEADS.join(" | "), "---|".repeat(HEADS.len()));
    let explained = PresetExplained::all();
    for preset in &explained {
        let [name, cells @ ..] = row(preset);
        let _ = writeln!(page, "| [`{name}`](#{name}) | {} |", cells.join(" | "));
    }
    for (preset, explained) in PRESETS.iter().zip(&explained) {
        let PresetExplained { name, product, version, source, read, notes, .. } = explained;
        let item = |text: &str| wrap::words(wrap::sentence(text), ["- ", "  "], WIDTH);
        let about = format!("{product}, {version}; read: {read}, in {}.", source.join("; "));
        let _ = write!(page, "\n## {name}\n\n{}", wrap::words(wrap::sentence(&about), [""; 2], WIDTH));
        let _ = write!(page, "\n```toml\n[retries.{}]\n{}```\n", preset.policy_name(), preset.policy());
        let _ = write!(page, "\n```text\n{}\n```\n", words::schedule(explained).join("\n"));
        if let Some(call) = preset.call() {
            let _ = write!(page, "\nOf the call, by hand:\n\n```toml\n{call}```\n");
        }
        let _ = write!(page, "\n{}", notes.iter().map(|note| item(note)).collect::<String>());
    }
    page
}
