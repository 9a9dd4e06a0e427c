//! What a preset does, in a few words.

use crate::analysis::{PresetExplained, PresetWait};
use crate::number::{self, Style};
use crate::policy::{Backoff, Jitter, RetryPolicy, Schedule, WaitRange};
use crate::time::Span;

/// "4", or "no limit".
pub(super) fn attempts(preset: &PresetExplained) -> String {
    preset.attempts.map_or_else(|| "no limit".to_owned(), |attempts| number::whole(attempts as usize))
}

/// The waits without their jitter: "100 ms x 2, up to 1 s".
pub(super) fn waits(policy: &RetryPolicy) -> String {
    if policy.max_attempts == 1 {
        return "-".to_owned();
    }
    if policy.server_delay.required {
        return "as the server says".to_owned();
    }
    let mut text = growth(policy.schedule.backoff());
    if let Some(throttled) = &policy.throttled {
        text += &format!(", throttled {}", growth(throttled.backoff()));
    }
    match policy.schedule.cap().filter(|_| *policy.schedule.backoff() != Backoff::None) {
        Some(cap) => format!("{text}, up to {}", span(cap)),
        None => text,
    }
}

fn growth(backoff: &Backoff) -> String {
    let times = |base: &Span, factor: f64| format!("{} x {}", span(*base), number::plain(factor, Style::Count, 4));
    match backoff {
        Backoff::None => "at once".to_owned(),
        Backoff::Fixed(wait) => span(*wait),
        Backoff::Linear { step } => format!("{} more each time", span(*step)),
        Backoff::Exponential { base, factor } => times(base, *factor),
        Backoff::Decorrelated { base, factor } => format!("from {} to {factor} x the last", span(*base)),
        Backoff::DecorrelatedV2 { base } => times(base, 2.0),
        Backoff::Explicit(waits) => {
            let ends = [waits.iter().min(), waits.iter().max()];
            let [least, most] = ends.map(|end| span(end.copied().unwrap_or(Span::ZERO)));
            format!("{least} to {most}, listed")
        }
    }
}

/// What makes the waits of clients differ: "± 20 %".
pub(super) fn jitter(policy: &RetryPolicy) -> String {
    let share = |share: f64| number::plain(share, Style::Share, 3);
    if policy.max_attempts == 1 {
        return "-".to_owned();
    }
    match (policy.schedule.backoff(), policy.schedule.jitter()) {
        (Backoff::Decorrelated { .. } | Backoff::DecorrelatedV2 { .. }, _) => "its own".to_owned(),
        (_, Jitter::None) => "none".to_owned(),
        (_, Jitter::Full) => "full".to_owned(),
        (_, Jitter::Equal) => "half".to_owned(),
        (_, Jitter::Spread(reach)) => format!("± {}", share(*reach)),
        (_, Jitter::Upward(reach)) => format!("up to +{}", share(*reach)),
        (_, Jitter::Add(dist)) => match dist.bounds() {
            (_, Some(most)) => format!("up to +{}", span(most)),
            (_, None) => "added".to_owned(),
        },
    }
}

fn span(span: Span) -> String {
    number::plain(span.as_s(), Style::Seconds, 5)
}

/// "0 s to 25 ms (mean 12.5 ms)". All waits from a second on are in seconds: so one can see how they grow.
fn range(WaitRange { shortest, longest, mean_ns }: WaitRange) -> String {
    let span = |wait: Span| match wait.as_s() {
        seconds if seconds >= 1.0 => format!("{} s", number::plain(seconds, Style::Count, 5)),
        _ => span(wait),
    };
    if shortest == longest {
        return span(shortest);
    }
    let between = match longest {
        Span::UNLIMITED => format!("{} or more", span(shortest)),
        longest => format!("{} to {}", span(shortest), span(longest)),
    };
    match mean_ns {
        Some(mean) => format!("{between} (mean {})", span(Span::from_ns_f64(mean))),
        None => between,
    }
}

/// How many attempts there are, and the wait before each retry, in lines; those at the end that are all the same in one.
pub(super) fn schedule(preset: &PresetExplained) -> Vec<String> {
    let mut lines = vec![match preset.attempts {
        Some(1) => "1 attempt: nothing is tried again.".to_owned(),
        Some(_) => format!("{} attempts at most; waits:", attempts(preset)),
        None => "Any number of attempts; waits:".to_owned(),
    }];
    if preset.policy.server_delay.required {
        lines.push("  as long as the server says; if it does not, nothing is tried again".to_owned());
        return lines;
    }
    lines.extend(of_waits(&preset.waits, &preset.policy.schedule, preset.attempts));
    if let (Some(waits), Some(schedule)) = (&preset.waits_throttled, &preset.policy.throttled) {
        lines.push("After `rate_limited` or `throttled`:".to_owned());
        lines.extend(of_waits(waits, schedule, preset.attempts));
    }
    lines
}

fn of_waits(waits: &[PresetWait], schedule: &Schedule, attempts: Option<u32>) -> Vec<String> {
    let Some(last) = waits.last() else { return Vec::new() };
    let same = waits.iter().rev().take_while(|wait| wait.range == last.range).count();
    let apart = &waits[..waits.len() - same];
    let retries = attempts.map(|attempts| attempts - 1);
    let mut lines: Vec<String> =
        apart.iter().map(|wait| format!("  retry {}: {}", wait.retry, range(wait.range))).collect();
    let first = last.retry + 1 - u32::try_from(same).expect("there are few waits");
    let is_last_of_all = retries == Some(last.retry);
    let stays = schedule.ranges().nth(last.retry as usize).is_some_and(|next| next == last.range);
    lines.push(match (first == last.retry, is_last_of_all) {
        (true, true) => format!("  retry {first}: {}", range(last.range)),
        (false, true) => format!("  retries {first} to {}: {}", last.retry, range(last.range)),
        _ if stays => format!("  retry {first} and later: {}", range(last.range)),
        _ => format!("  retry {first}: {}, and so on", range(last.range)),
    });
    lines
}
