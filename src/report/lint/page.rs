//! The reference page of the rules.

use std::fmt::Write as _;

use crate::analysis::lint::RULES;
use crate::report::lint::explanation;

const HEAD: &str = "\
# Lint rules

Made from the rules themselves: `UPDATE_SCHEMA=1 cargo test --test schema` writes it anew.

`stormsim lint PATH...` looks at scenario files, and at configuration files that `stormsim import` reads, and says what will go wrong in the next outage, without a run. A rule judges what is
in effect in each variant, not the text. `stormsim lint --explain RULE` prints a section of this page.

The exit code is 0 if there are no errors (with `--deny-warnings`: and no warnings), 1 if there are, 2 if a file is no
scenario. `--format json` lists all findings, `--format sarif` is for code scanning, `--format github` annotates a pull
request.

What somebody has thought about is allowed in the file, with the reason:

```toml
[[allow]]
rules = [\"no-jitter\"]
reason = \"one client: there is nobody to be spread from\"
at = \"retries.patient\"    # only there; without it, anywhere in the file
variants = [\"fixed\"]       # only in these; without it, in all
```

Each example below is a whole scenario but for `version`, `name` and `horizon`, or a file that is imported, with what
`stormsim lint` says of it.

";

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    page += "| rule | severity | what it finds |\n|---|---|---|\n";
    for rule in RULES {
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} | {2} |", rule.id, rule.severity.name(), rule.finds);
    }
    for rule in RULES {
        page.push('\n');
        page += &explanation(rule, 120);
    }
    page
}
