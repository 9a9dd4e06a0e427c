//! Hints for names that do not exist: the nearest one that does, or all of them when they are few.

/// The most names that a hint lists.
const LISTED_MAX: usize = 12;

/// "did you mean" for the nearest of the names, else the list of them if it is short.
pub fn hint<'a>(word: &str, what: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(nearest) = nearest(word, names.iter().copied()) {
        return Some(format!("did you mean `{nearest}`?"));
    }
    match names.len() {
        0 => Some(format!("there are no {what}")),
        1..=LISTED_MAX => Some(format!("{what}: {}", list(names))),
        _ => None,
    }
}

/// The names in back-ticks, with commas.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The name nearest to a word, if it is near: one slip in three letters, or the same letters in another case.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let len = word.chars().count();
    let slips_max = (len / 3).max(1);
    names
        .into_iter()
        // Each letter more or less is a slip. Comparing takes as long as both are long, and a word may be a whole file.
        .filter(|name| name.chars().count().abs_diff(len) <= slips_max)
        .map(|name| (strsim::damerau_levenshtein(&word, &name.to_lowercase()), name))
        .filter(|&(slips, name)| slips <= slips_max && slips < name.chars().count())
        // The first of the nearest, so that the answer does not depend on anything but the order of the names.
        .min_by_key(|&(slips, _)| slips)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_listed() {
        let hint = |word| hint(word, "services", ["gateway", "orders", "db"]).unwrap();
        assert_eq!(hint("gatway"), "did you mean `gateway`?");
        assert_eq!(hint("DB"), "did you mean `db`?");
        assert_eq!(hint("cache"), "services: `gateway`, `orders`, `db`");
        assert_eq!(hint("x"), "services: `gateway`, `orders`, `db`", "one slip is all of a name of one letter");
    }

    #[test]
    fn no_names_and_many_names_have_their_own_answers() {
        assert_eq!(hint("x", "faults", []).unwrap(), "there are no faults");
        let many: Vec<String> = (0..=LISTED_MAX).map(|n| format!("service-{n}")).collect();
        assert_eq!(hint("x", "services", many.iter().map(String::as_str)), None);
    }
}
