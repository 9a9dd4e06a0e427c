//! Every call by itself.

use crate::analysis::{CallExplained, Course, Endless, Fate, Over, Unfit, WaitExplained};
use crate::number::{self, Style};
use crate::report::text::explain::{column, count, kept, sentence, time, time_or};
use crate::report::text::grid::{self, Column};

/// The most waits that are written out.
const WAITS_SHOWN: usize = 8;

fn names(calls: &[CallExplained]) -> Column {
    column("call", calls, |call| call.call.clone())
}

/// What limits each call.
pub(super) fn settings(calls: &[CallExplained], width: usize) -> String {
    let mut columns = vec![
        column("attempts", calls, |call| count(call.max_attempts)),
        column("timeout", calls, |call| time_or("none", call.timeout_s)),
    ];
    if calls.iter().any(|call| call.connect_timeout_s.is_some()) {
        columns.push(column("connect\ntimeout", calls, |call| time_or("none", call.connect_timeout_s)));
    }
    columns.push(column("limit of\nthe call", calls, |call| time_or("none", call.limit_s())));
    columns
        .push(column("it takes\nat most", calls, |call| time_or(call.no_worst.map_or("none", endless), call.worst_s)));
    grid::evenly(&names(calls), &columns, width)
}

/// How each call goes when all of its attempts fail.
pub(super) fn courses(calls: &[CallExplained], width: usize) -> String {
    let mut columns = vec![
        column("refused\nat once", calls, |call| course(&call.refused)),
        column("failing as late\nas they can", calls, |call| course(&call.failing)),
        column("arriving, but\nunanswered", calls, |call| course(&call.silent)),
    ];
    if calls.iter().any(|call| call.unreachable.is_some()) {
        columns.push(column("finding\nnobody", calls, |call| {
            call.unreachable.as_ref().map_or_else(|| "-".to_owned(), course)
        }));
    }
    let head = sentence("How many attempts, and in what time at most, if all of them fail:", ["", "  "], width);
    head + &grid::evenly(&names(calls), &columns, width)
}

/// "no bound", where there is no latest end of a call.
fn endless(why: Endless) -> &'static str {
    match why {
        Endless::NoBound => "no bound",
        Endless::NotFollowed => "not followed",
        Endless::Never => "no end",
    }
}

/// "3 in 6.3 s", "3 to 4 in 250 ms", "1, no end".
fn course(course: &Course) -> String {
    let attempts = match (course.fewest, course.most) {
        (Some(fewest), Some(most)) if fewest < most => {
            format!("{} to {}", number::whole(fewest as usize), number::whole(most as usize))
        }
        (_, Some(most)) => number::whole(most as usize),
        (_, None) if course.over == Over::Never => return "no end".to_owned(),
        (_, None) => format!("{} or more", number::whole(course.followed as usize)),
    };
    match course.given_up {
        Some(end) if end.as_ns() == 0 => format!("{attempts} at once"),
        Some(end) => format!("{attempts} in {}", time(end.as_s())),
        None if course.over == Over::Never => format!("{attempts}, no end"),
        None if course.over == Over::NotFollowed => attempts,
        None => format!("{attempts}, no bound"),
    }
}

/// What is to be said of some calls only.
pub(super) fn sentences(calls: &[CallExplained], width: usize) -> String {
    let mut text = String::new();
    for call in calls {
        let said = [
            (!call.waits.is_empty()).then(|| waits(&call.waits)),
            call.waits_throttled
                .as_ref()
                .map(|throttled| format!("after `rate_limited` or `throttled` it {}", waits(throttled))),
            call.max_elapsed_s.map(|latest| format!("begins no retry later than {} after it began", time(latest))),
            again(call),
            unfit(&call.unfit),
            call.has_budget.then(|| "its retry budget may refuse retries: then there are fewer attempts".to_owned()),
            call.is_guarded.then(|| "its breaker or throttle may hold attempts back: then fewer are sent".to_owned()),
            call.minds_servers.then(|| "an error may say when to try again: then it waits as that says".to_owned()),
            call.needs_servers.then(|| "an error that does not say when to try again is the last".to_owned()),
            peaks(call),
        ];
        for said in said.into_iter().flatten() {
            text += &sentence(&format!("{}: {said}", call.call), ["", "  "], width);
        }
    }
    text
}

/// How many clients do the same in 100 ms. One of them is no crowd.
fn peaks(call: &CallExplained) -> Option<String> {
    let written = |peak: f64| number::plain(peak, Style::Count, 3);
    let window = kept("100 ms");
    match (call.first_peak.filter(|first| *first > 1.0), call.retry_peak.filter(|retries| *retries > 1.0)) {
        (Some(first), Some(retries)) => Some(format!(
            "{} first attempts are expected in the densest {window}, and {} retries if all are refused at once",
            written(first),
            written(retries)
        )),
        (Some(first), None) => Some(format!("{} first attempts are expected in the densest {window}", written(first))),
        (None, _) => None,
    }
}

/// The waits before the retries; those at the end that are all the same once.
fn waits(waits: &[WaitExplained]) -> String {
    let written = |wait: &WaitExplained| match wait.longest_s {
        Some(longest) if longest == wait.shortest_s => kept(&time(longest)),
        longest => {
            let range = between(wait.shortest_s, longest);
            let mean = wait.mean_s.map(|mean| format!(" {}", kept(&format!("(mean {})", time(mean)))));
            range + &mean.unwrap_or_default()
        }
    };
    let last = waits.last();
    let same = waits.iter().rev().take_while(|wait| Some(*wait) == last).count();
    let listed = (waits.len() + 1 - same).min(WAITS_SHOWN);
    let mut texts: Vec<String> = waits[..listed].iter().map(written).collect();
    if listed < waits.len() {
        let is_same = listed + same > waits.len();
        texts.push(if is_same { "and so on".to_owned() } else { "...".to_owned() });
    }
    if waits.iter().all(|wait| wait.longest_s == Some(0.0)) {
        return "retries without a wait".to_owned();
    }
    format!("waits {}", texts.join(", "))
}

/// When attempts that are refused at once are made again: where that is not the waits.
fn again(call: &CallExplained) -> Option<String> {
    let starts = call.refused.starts.get(1..).filter(|starts| starts.len() > 1)?;
    let mut texts: Vec<String> = starts
        .iter()
        .take(WAITS_SHOWN)
        .map(|start| {
            let [earliest, latest] = [start.earliest.as_s(), start.latest.as_s()];
            if earliest == latest { kept(&time(latest)) } else { between(earliest, Some(latest)) }
        })
        .collect();
    if call.refused.starts.last().is_none_or(|start| start.latest.as_ns() == 0) {
        return None;
    }
    if starts.len() > WAITS_SHOWN {
        texts.push("...".to_owned());
    }
    Some(format!("refused at once, tries again {} after it began", texts.join(", ")))
}

fn between(shortest: f64, longest: Option<f64>) -> String {
    match longest {
        Some(longest) => kept(&format!("{} to {}", time(shortest), time(longest))),
        None => kept(&format!("{} or more", time(shortest))),
    }
}

/// "configured 5, at most 3 fit into 250 ms where none is answered".
fn unfit(unfit: &[Unfit]) -> Option<String> {
    let first = unfit.first()?;
    let fate = |fate| match fate {
        Fate::Refused => "they are refused at once",
        Fate::Failing => "they fail as late as they can",
        Fate::Silent => "none is answered",
        Fate::Unreachable => "they find nobody",
    };
    let cases = unfit.iter().enumerate().map(|(at, case)| {
        let verb = if case.fit == 1 { "fits" } else { "fit" };
        let into = if at == 0 { format!(" {verb} into {}", kept(&time(case.limit_s))) } else { String::new() };
        format!("{}{into} if {}", number::whole(case.fit as usize), fate(case.attempts_are))
    });
    let configured = number::whole(first.configured as usize);
    Some(format!("configured {configured}, at most {}", cases.collect::<Vec<_>>().join(", ")))
}

/// What becomes of calls whose attempts fail with some probability.
pub(super) fn chances(calls: &[CallExplained], width: usize) -> String {
    let Some(first) = calls.first() else { return String::new() };
    let share = |value: f64| number::plain(value, Style::Share, 4);
    let mean =
        |value: Option<f64>| value.map_or_else(|| "no end".to_owned(), |value| number::plain(value, Style::Count, 4));
    let columns = [
        column("apart:\nsuccess", calls, |call| share(call.success.independent)),
        column("attempts\nexpected", calls, |call| mean(call.success.independent_attempts)),
        column("together:\nsuccess", calls, |call| share(call.success.correlated)),
        column("attempts\nexpected", calls, |call| mean(call.success.correlated_attempts)),
    ];
    let failing = kept(&share(first.success.failure));
    let head =
        format!("If {failing} of a call's attempts fail, for whatever reason, apart from each other or all together:");
    sentence(&head, ["", "  "], width) + &grid::evenly(&names(calls), &columns, width)
}

/// What the callees' times say about the timeouts.
pub(super) fn timeouts(calls: &[CallExplained], width: usize) -> String {
    let known: Vec<(&CallExplained, _)> =
        calls.iter().filter_map(|call| Some((call, call.callee?))).filter(|(_, it)| it.p99_s > 0.0).collect();
    let Some((_, first)) = known.first() else { return String::new() };
    let asked = format!("timeout for {}\ntoo early", number::plain(first.false_timeouts, Style::Share, 2));
    let columns = [
        column("timeout", &known, |(call, _)| time_or("none", call.timeout_s)),
        column("median", &known, |(_, callee)| time(callee.p50_s)),
        column("p99", &known, |(_, callee)| time(callee.p99_s)),
        column(&asked, &known, |(_, callee)| time(callee.timeout_for_that_s)),
    ];
    let head = "Service time of callees that call nobody, for one request alone; the timeout has the way there and back \
                in it:";
    let names = column("call", &known, |(call, _)| call.call.clone());
    sentence(head, ["", "  "], width) + &grid::evenly(&names, &columns, width)
}
