//! What the settings of a scenario mean, for people.

use crate::analysis::{CallExplained, Course, Explanation, Extremes, Hop, Path, ServiceLoad, Standing};
use crate::report::number::{self, Style};
use crate::report::text::grid::{self, Column};
use crate::report::text::{BAD, Counted, GOOD, TITLE, WARNING, styled};
use crate::wrap;

/// The most waits that are written out.
const WAITS_SHOWN: usize = 8;

/// Everything, for a page of `width` columns.
pub(super) fn render(name: &str, explanations: &[Explanation], width: usize) -> String {
    let of_variants = |explanation: &Explanation| {
        let names: Vec<String> = explanation.variants.iter().map(|name| format!("`{name}`")).collect();
        let heading = format!("{}: {}", styled(TITLE, name), names.join(", "));
        let heading = wrap::words(heading.split(' '), ["", "  "], width);
        let sections = [
            heading,
            calls(&explanation.calls, width),
            chances(&explanation.calls, width),
            timeouts(&explanation.calls, width),
            paths(explanation, width),
            services(&explanation.services, width),
        ];
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
    };
    explanations.iter().map(of_variants).collect::<Vec<_>>().join("\n")
}

fn column<T>(head: &str, rows: &[T], cell: impl Fn(&T) -> String) -> Column {
    Column { head: head.to_owned(), cells: rows.iter().map(cell).collect() }
}

fn seconds(value: Option<f64>, none: &str) -> String {
    value.map_or_else(|| none.to_owned(), |value| number::plain(value, Style::Seconds, 4))
}

fn count(attempts: Option<u32>) -> String {
    attempts.map_or_else(|| "unlimited".to_owned(), |attempts| number::whole(attempts as usize))
}

/// How each call goes when all of its attempts fail: at once, as late as the callee can, or without an answer.
fn calls(calls: &[CallExplained], width: usize) -> String {
    let columns = [
        column("attempts", calls, |call| count(call.max_attempts)),
        column("timeout", calls, |call| seconds(call.timeout_s, "none")),
        column("limit of\nthe call", calls, |call| {
            let limits = call.total_timeout_s.into_iter().chain(call.inherited_s);
            seconds(limits.reduce(f64::min), "none")
        }),
        column("refused\nat once", calls, |call| extremes(&call.refused)),
        column("failing\nlate", calls, |call| call.failing.as_ref().map_or("-".to_owned(), extremes)),
        column("without\nanswer", calls, |call| extremes(&call.silent)),
        column("longest", calls, |call| seconds(call.worst_s, "no end")),
    ];
    let mut text = grid::render(&column("call", calls, |call| call.call.clone()), &columns, width);
    for call in calls.iter().filter(|call| !call.waits.is_empty()) {
        let sentence = format!("{} waits {}", call.call, waits(call));
        text += &wrap::words(sentence.split(' '), [" ", "   "], width);
    }
    for (call, peak) in calls.iter().filter_map(|call| Some((call, call.retry_peak?))) {
        let peak = number::plain(peak, Style::Count, 3);
        let sentence = format!("{}: if all fail at once, {peak} retries are expected in the densest 100 ms", call.call);
        text += &wrap::words(sentence.split(' '), [" ", "   "], width);
    }
    text
}

/// The waits before the retries; those at the end that are all the same once.
fn waits(call: &CallExplained) -> String {
    let time = |value: f64| number::plain(value, Style::Seconds, 4);
    let written = |at: usize| {
        let wait = &call.waits[at];
        match wait.longest_s {
            Some(longest) if longest == wait.shortest_s => time(longest),
            Some(longest) => {
                let mean = wait.mean_s.map_or(String::new(), |mean| format!(" (mean {})", time(mean)));
                format!("{} to {}{mean}", time(wait.shortest_s), time(longest))
            }
            None => format!("{} or more", time(wait.shortest_s)),
        }
    };
    let last = call.waits.last();
    let same = call.waits.iter().rev().take_while(|wait| Some(*wait) == last).count();
    let listed = (call.waits.len() + 1 - same).min(WAITS_SHOWN);
    let mut texts: Vec<String> = (0..listed).map(written).collect();
    if listed < call.waits.len() {
        let is_same = listed + same > call.waits.len();
        texts.push(if is_same { "and so on".to_owned() } else { "...".to_owned() });
    }
    texts.join(", ")
}

/// "3 in 6.3 s", "3 to 4 in 250 ms", "1, no end".
fn extremes(extremes: &Extremes) -> String {
    let (most, fewest) = (extremes.shortest_waits.attempts(), extremes.longest_waits.attempts());
    let is_endless = |course: &Course| course.given_up.is_none() && course.attempts() > 1;
    let attempts = if is_endless(&extremes.shortest_waits) {
        "no end".to_owned()
    } else if most == fewest {
        number::whole(most)
    } else {
        format!("{} to {}", number::whole(fewest), number::whole(most))
    };
    match extremes.longest_waits.given_up {
        Some(end) => format!("{attempts} in {}", number::plain(end.as_s(), Style::Seconds, 4)),
        None if is_endless(&extremes.shortest_waits) => attempts,
        None => format!("{attempts}, no end"),
    }
}

/// What becomes of calls whose attempts fail with some probability.
fn chances(calls: &[CallExplained], width: usize) -> String {
    let Some(first) = calls.first() else { return String::new() };
    let share = |value: f64| number::plain(value, Style::Share, 4);
    let figure = |value: f64| number::plain(value, Style::Count, 4);
    let columns = [
        column("success, each\nby itself", calls, |call| share(call.success.independent)),
        column("attempts", calls, |call| figure(call.success.independent_attempts)),
        column("success,\nall together", calls, |call| share(call.success.correlated)),
        column("attempts", calls, |call| call.success.correlated_attempts.map_or_else(|| "no end".to_owned(), figure)),
    ];
    let head = format!("If {} of the attempts fail:\n", share(first.success.failure));
    head + &grid::render(&column("call", calls, |call| call.call.clone()), &columns, width)
}

/// What the callees' times say about the timeouts.
fn timeouts(calls: &[CallExplained], width: usize) -> String {
    let known: Vec<(&CallExplained, _)> =
        calls.iter().filter_map(|call| Some((call, call.callee?))).filter(|(_, it)| it.p99_s > 0.0).collect();
    let Some((_, first)) = known.first() else { return String::new() };
    let time = |value: f64| number::plain(value, Style::Seconds, 4);
    let asked = format!("timeout for {}\ntoo early", number::plain(first.false_timeouts, Style::Share, 2));
    let columns = [
        column("timeout", &known, |(call, _)| seconds(call.timeout_s, "none")),
        column("median", &known, |(_, callee)| time(callee.p50_s)),
        column("p99", &known, |(_, callee)| time(callee.p99_s)),
        column(&asked, &known, |(_, callee)| time(callee.timeout_for_that_s)),
    ];
    let head = "Time of the callee's own work, with the way there and back, without a queue:\n".to_owned();
    head + &grid::render(&column("call", &known, |(call, _)| call.call.clone()), &columns, width)
}

/// What multiplies along each path, and who gives up when.
fn paths(explanation: &Explanation, width: usize) -> String {
    let mut text = String::new();
    for path in &explanation.paths {
        text += &wrap::words(product(path).split(' '), ["", "  "], width);
        let has_limits = path.hops.iter().any(|hop| hop.attempt_s.is_some());
        if path.hops.len() > 1 && has_limits {
            text += &ladder(&path.hops, width);
        }
    }
    if explanation.paths_left_out > 0 {
        text += &format!("... and more paths than the {} above\n", Counted(explanation.paths.len(), "path"));
    }
    text
}

/// "web -> gateway -> db: 3 x 3 = 9 attempts at db for one request".
fn product(path: &Path) -> String {
    let mut names = vec![path.client.as_str()];
    names.extend(path.hops.iter().map(|hop| hop.target.as_str()));
    let factors: Vec<String> = path.hops.iter().map(|hop| count(hop.attempts)).collect();
    let end = names.last().copied().unwrap_or_default();
    let product = match (path.attempts, factors.len()) {
        (Some(product), 1) => number::whole(product as usize),
        (Some(product), _) => format!("{} = {}", factors.join(" x "), number::whole(product as usize)),
        (None, _) => format!("{}: no limit", factors.join(" x ")),
    };
    let attempts = if path.attempts == Some(1) { "attempt" } else { "attempts" };
    format!("{}: {product} {attempts} at {end} for one request at most", names.join(" -> "))
}

fn ladder(hops: &[Hop], width: usize) -> String {
    let columns = [
        column("has left", hops, |hop| seconds(hop.budget_s, "-")),
        column("gives up\nafter", hops, |hop| seconds(hop.gives_up_s, "never")),
        column("waits for\nan attempt", hops, |hop| seconds(hop.attempt_s, "for ever")),
        column("tells its\ncallee", hops, |hop| seconds(hop.told_s, "-")),
        column("outlives\nits caller by", hops, |hop| {
            seconds(hop.outlives_s, if hop.never_ends { "no end" } else { "-" })
        }),
    ];
    grid::render(&column("call", hops, |hop| hop.call.clone()), &columns, width)
}

/// What services have to do when everything fails, against what they can do.
fn services(services: &[ServiceLoad], width: usize) -> String {
    let told: Vec<&ServiceLoad> =
        services.iter().filter(|it| it.capacity_rps.is_some() || it.offered_rps.is_some()).collect();
    if told.is_empty() {
        return String::new();
    }
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| "-".to_owned(), |rate| format!("{}/s", number::plain(rate, Style::Count, 4)))
    };
    let columns = [
        column("can do", &told, |it| rate(it.capacity_rps)),
        column("has to do", &told, |it| rate(it.offered_rps)),
        column("if all\nattempts fail", &told, |it| rate(it.failing_rps)),
        column("", &told, |it| it.standing.map_or("", word).to_owned()),
    ];
    let table = grid::render(&column("service", &told, |it| it.service.clone()), &columns, width);
    coloured(&table)
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Stable => "stable",
        Standing::Vulnerable => "vulnerable",
        Standing::Overloaded => "overloaded",
    }
}

/// The layout counts the bytes of a colour as characters, so colours come after it.
fn coloured(table: &str) -> String {
    let styles = [(Standing::Stable, GOOD), (Standing::Vulnerable, WARNING), (Standing::Overloaded, BAD)];
    let paint = |line: &str| {
        let found = styles.iter().find(|(standing, _)| line.trim_end().ends_with(word(*standing)));
        match found {
            Some((standing, style)) => {
                line.trim_end().trim_end_matches(word(*standing)).to_owned() + &styled(*style, word(*standing))
            }
            None => line.to_owned(),
        }
    };
    table.lines().map(|line| paint(line) + "\n").collect()
}
