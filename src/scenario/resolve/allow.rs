//! What `stormsim lint` may find: rules that somebody has thought about, with the reason; variants that exist.

use crate::scenario::Allowed;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Spanned};
use crate::scenario::suggest;
use crate::scenario::tables::AllowTable;
use crate::scenario::values::{Name, PathText, Text};

/// What is allowed in a file with these variants, each with its reason.
pub fn allowed(
    rows: &Field<Vec<Spanned<AllowTable>>>,
    variants: &[&str],
    errors: &mut Vec<Diagnostic>,
) -> Vec<Allowed> {
    let rows = rows.get().map_or(&[][..], Vec::as_slice);
    rows.iter().filter_map(|row| of_row(row, variants, errors)).collect()
}

fn of_row(row: &Spanned<AllowTable>, known: &[&str], errors: &mut Vec<Diagnostic>) -> Option<Allowed> {
    let AllowTable { rules, reason, at, variants } = &row.value;
    let mut missing = |message: &str, hint: &str| {
        errors.push(Diagnostic::new(message).at(&row.place).hint(hint));
    };
    if rules.is_absent() || rules.get().is_some_and(Vec::is_empty) {
        missing("what is allowed names no rules", "add `rules = [\"no-jitter\"]`; `stormsim lint` says which it finds");
    }
    // An empty one is none, either.
    if reason.is_absent() || reason.get().is_some_and(|Text(reason)| reason.trim().is_empty()) {
        missing("what is allowed has no reason", "say why in `reason`: whoever reads it next wants to know");
    }
    if variants.get().is_some_and(Vec::is_empty) {
        missing("what is allowed names no variants", "leave `variants` out for all of them");
    }
    let variants = variants.get().map_or(&[][..], Vec::as_slice);
    for Spanned { place, value: Name(name) } in variants {
        if !known.contains(&name.as_str()) {
            let error = Diagnostic::new(format!("there is no variant `{name}`")).at(place);
            errors.push(error.maybe_hint(suggest::hint(name, "variants", known.iter().copied())));
        }
    }
    let (rules, Text(reason)) = (rules.get()?, reason.get()?);
    Some(Allowed {
        rules: rules.iter().map(|rule| (rule.value.0, rule.place.clone())).collect(),
        reason: reason.trim().to_owned(),
        at: at.get().map(|PathText(path)| path.clone()),
        variants: variants.iter().map(|variant| variant.value.0.clone()).collect(),
    })
}
