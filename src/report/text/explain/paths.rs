//! What multiplies along each path, and who gives up when.

use crate::analysis::{Endless, Explanation, Hop, Path};
use crate::number;
use crate::report::text::explain::{attempts, column, count, kept, sentence, time, time_or};
use crate::report::text::{Counted, grid};

pub(super) fn render(explanation: &Explanation, width: usize) -> String {
    let of_path = |path: &Path| {
        let mut text = sentence(&product(path), ["", "  "], width);
        if let Some(shares) = shares(path) {
            text += &sentence(&shares, ["  ", "  "], width);
        }
        text += &ladder(&path.hops, width);
        text
    };
    let mut texts: Vec<String> = explanation.paths.iter().map(of_path).collect();
    if explanation.paths_left_out > 0 {
        let left_out = Counted(explanation.paths_left_out as usize, "more path");
        texts.push(format!("... and {left_out}\n"));
    }
    texts.join("\n")
}

/// "web -> gateway -> db: 3 x 3 = 9 attempts at db along this path for one request at most".
fn product(path: &Path) -> String {
    let hops: Vec<String> = path.hops.iter().map(name).collect();
    let factors: Vec<String> = path.hops.iter().map(factor).collect();
    let end = path.hops.last().map_or("", |hop| hop.target.as_str());
    let product = match path.attempts {
        Some(product) if factors.len() == 1 && !factors[0].contains(' ') => attempts(product),
        Some(product) => format!("{} = {}", factors.join(" x "), attempts(product)),
        None if factors.len() == 1 => "no limit to the attempts".to_owned(),
        None => format!("{}: no limit to the attempts", factors.join(" x ")),
    };
    let product = kept(&product);
    format!("{} -> {}: {product} at {end} for one request at most, along this path", path.client, hops.join(" -> "))
}

/// The service that a call is to, and the call where that does not say which it is.
fn name(hop: &Hop) -> String {
    let is_plain = hop.call.split_once("->").is_some_and(|(_, label)| label == hop.target);
    match &hop.instead_of {
        Some(failed) => format!("{} ({} if {failed} fails)", hop.target, hop.call),
        None if is_plain => hop.target.clone(),
        None => format!("{} ({})", hop.target, hop.call),
    }
}

/// "3", or "50 copies x 3 x 2 with hedges".
fn factor(hop: &Hop) -> String {
    let mut text = count(hop.attempts);
    if hop.copies > 1 {
        text = format!("{} copies x {text}", number::whole(hop.copies as usize));
    }
    if hop.hedges > 0 {
        text = format!("{text} x {} with hedges", number::whole(hop.hedges as usize + 1));
    }
    if text.contains(' ') && hop.attempts.is_some() { format!("({text})") } else { text }
}

/// What each layer contributes, where several do.
fn shares(path: &Path) -> Option<String> {
    let retrying: Vec<&Hop> = path.hops.iter().filter(|hop| hop.attempts != Some(1)).collect();
    let share = |hop: &&Hop| {
        let left = hop.without_retries.map_or_else(|| "no limit".to_owned(), |left| number::whole(left as usize));
        format!("of {}: {}", hop.call, kept(&left))
    };
    let shares: Vec<String> = retrying.iter().map(share).collect();
    (shares.len() > 1).then(|| format!("without the retries {}", shares.join(", ")))
}

/// The deadlines along a path; nothing where none is passed on, and nobody goes on without its caller.
fn ladder(hops: &[Hop], width: usize) -> String {
    let is_told = hops.iter().any(|hop| hop.budget_s.or(hop.told_s).is_some());
    let goes_on = hops.iter().any(|hop| hop.outlives_s.is_some() || hop.outlives.is_some());
    if !is_told && !goes_on {
        return String::new();
    }
    let mut columns = vec![
        column("limit of\nthe call", hops, |hop| time_or("none", hop.gives_up_s)),
        column("waits for\nan attempt", hops, |hop| time_or("for ever", hop.attempt_s)),
    ];
    if is_told {
        columns.insert(0, column("has\nleft", hops, |hop| time_or("-", hop.budget_s)));
        columns.push(column("tells its\ncallee", hops, |hop| time_or("-", hop.told_s)));
    }
    if goes_on {
        columns.push(column("goes on without\nits caller for", hops, |hop| match (hop.outlives_s, hop.outlives) {
            (Some(seconds), _) => format!("{} or more", time(seconds)),
            (None, Some(Endless::NoBound)) => "no bound".to_owned(),
            (None, Some(Endless::NotFollowed)) => "not followed".to_owned(),
            (None, Some(Endless::Never)) => "ever".to_owned(),
            (None, None) => "-".to_owned(),
        }));
    }
    grid::evenly(&column("call", hops, |hop| hop.call.clone()), &columns, width)
}
