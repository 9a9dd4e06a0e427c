//! Service profiles: routes that may be retried without a limit of their own, from one budget for the service.

use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft, Kind, name_of};
use crate::import::kubernetes;
use crate::import::section::{Field, Section};
use crate::import::statuses;
use crate::import::values::{duration, errors, go_duration, number};
use crate::time::Span;

/// `retryBudget`.
enum Budget<'t> {
    /// Linkerd's own.
    Default,
    /// That of the file.
    Said { ttl: (Span, Field<'t>), rate: Option<(f64, Field<'t>)>, ratio: Option<(f64, Field<'t>)> },
    /// One that turns retries off, because of this.
    Off(Field<'t>),
}

/// Reads a profile of the service `host`.
pub fn read(mut section: Section<'_>, host: &str, namespace: &str, draft: &mut Draft) {
    let host = kubernetes::host(host, namespace);
    let name = kubernetes::short(&host, namespace).into_owned();
    let budget = match draft.table(&mut section, "retryBudget") {
        Some(budget) => Budget::read(budget, draft),
        None => Some(Budget::Default),
    };
    // Routes with the same policy share its budget.
    let mut policies: Vec<(Vec<ErrorKind>, String)> = Vec::new();
    let overrides = section.field("dstOverrides");
    for route in draft.tables(&mut section, "routes") {
        self::route(route, &name, budget.as_ref(), &mut policies, draft);
    }
    if let Some(field) = overrides {
        draft.pass_over(&field, "how much goes where is up to the scenario: give the calls a `weight`");
    }
    if let [(_, first), _, ..] = &policies[..]
        && let Some(place) = draft.blocks.iter().find(|block| block.name == *first).map(|block| block.place.clone())
    {
        let message =
            "routes that fail on different statuses share one budget in Linkerd; here each policy has its own";
        draft.surprise(&place, message, "the scenario allows more retries than Linkerd");
    }
    section.skip(&["opaquePorts"]);
    draft.unknown(None, &section);
}

impl<'t> Budget<'t> {
    fn read(mut section: Section<'t>, draft: &mut Draft) -> Option<Self> {
        let numbered = |section: &mut Section<'t>, key: &str, most: f64, draft: &mut Draft| {
            let field = section.field(key)?;
            let number = draft.number(&field)?;
            if (0.0..=most).contains(&number) {
                return Some((number, field));
            }
            draft.wrong(&field.node.place, format!("`{key}` must be from 0 to {most}"), "Linkerd refuses it");
            None
        };
        let ratio = numbered(&mut section, "retryRatio", 1000.0, draft);
        // Less than a scenario can say is a retry in more than a million calls.
        let ratio = ratio.map(|(ratio, field)| (if ratio < 1e-6 { 0.0 } else { ratio }, field));
        let rate = numbered(&mut section, "minRetriesPerSecond", 1e6, draft);
        let ttl = section.field("ttl");
        draft.unknown(None, &section);
        let Some(field) = ttl else {
            draft.wrong(&section.place, "`retryBudget` has no `ttl`", "Linkerd refuses it: put it in, as `ttl: 10s`");
            return None;
        };
        let span = draft.parsed(&field, go_duration)?;
        if span < Span::from_ms(1_000) || span > Span::from_ms(60_000) {
            let message = "this turns all retries off: Linkerd takes a `ttl` from 1 s to 60 s only";
            draft.surprise(&field.place(), message, "10 s is Linkerd's own");
            return Some(Self::Off(field));
        }
        if let Some((ratio, field)) = &ratio {
            rounded(*ratio, field, draft);
        }
        Some(Self::Said { ttl: (span, field), rate, ratio })
    }

    fn put(&self, policy: &mut Block) {
        const TTL: &str = "budget.windowed_ratio.ttl";
        const RATE: &str = "budget.windowed_ratio.min_per_second";
        const RATIO: &str = "budget.windowed_ratio.ratio";
        match self {
            Self::Default | Self::Off(_) => {
                policy.default(TTL, "10s", "Linkerd");
                policy.default(RATE, 10, "Linkerd: all of them at once, if need be");
                policy.default(RATIO, 0.2, "Linkerd: for each success");
            }
            Self::Said { ttl, rate, ratio } => {
                policy.read(TTL, duration(ttl.0), &ttl.1);
                match rate {
                    Some((rate, field)) => policy.read(RATE, number(*rate), field),
                    None => policy.default(RATE, 0, "Linkerd: none, where a budget does not say"),
                }
                match ratio {
                    // Less than a scenario can say is nothing.
                    Some((ratio, field)) => policy.read(RATIO, number(if *ratio < 1e-6 { 0.0 } else { *ratio }), field),
                    None => policy.default(RATIO, 0, "Linkerd: none, where a budget does not say"),
                }
            }
        }
        policy.default("budget.windowed_ratio.deposit", "success", "Linkerd: an outage leaves the reserve alone");
        policy.default("budget.windowed_ratio.rounding", "tower", "Linkerd: a ratio is rounded up to 1 / k");
    }
}

/// A ratio that Linkerd makes another one of.
fn rounded(ratio: f64, field: &Field<'_>, draft: &mut Draft) {
    if ratio <= 0.0 {
        return;
    }
    // What a retry takes, in deposits, or in thousandths of one.
    let (unit, cost) =
        if ratio <= 1.0 { (1.0, libm::trunc(1.0 / ratio)) } else { (1000.0, libm::trunc(1000.0 / ratio)) };
    let real = unit / cost;
    if (real - ratio).abs() > 1e-9 * ratio {
        // One decimal more than percentages have in a file.
        let percent = libm::round(real * 1e3) / 10.0;
        draft.surprise(
            &field.place(),
            format!("a ratio of {ratio} is one of {percent} %: Linkerd rounds it up to 1 / k"),
            "0.5, 0.25, 0.2 and 0.1 are what they say",
        );
    }
}

fn route(
    mut section: Section<'_>,
    service: &str,
    budget: Option<&Budget<'_>>,
    policies: &mut Vec<(Vec<ErrorKind>, String)>,
    draft: &mut Draft,
) {
    let place = section.field("name").map_or_else(|| section.head(), |field| field.place());
    let name = section.field("name").and_then(|field| draft.text(&field)).unwrap_or_default();
    let mut call = draft.block(Kind::Call { to: name_of(service) }, &format!("{service}/{name}"), &place);
    match section.field("timeout") {
        Some(field) => match draft.parsed(&field, go_duration) {
            Some(Span::ZERO) => call.read("total_timeout", "none", &field),
            Some(span) => call.read("total_timeout", duration(span), &field),
            None => {}
        },
        None => call.default("total_timeout", "none", "Linkerd: a route without `timeout` waits without end"),
    }
    call.default("timeout", "none", "Linkerd: the timeout of a route spans all attempts");
    let retryable = section.field("isRetryable");
    let is_retryable = retryable.as_ref().is_some_and(|field| draft.truth(field) == Some(true));
    let classes = draft.tables(&mut section, "responseClasses");
    let on = failures(classes, &mut call, draft);
    section.skip(&["condition"]);
    draft.unknown(Some(&mut call), &section);
    match (is_retryable, budget, retryable) {
        (true, Some(Budget::Off(because)), _) => call.read("retry", "none", because),
        (true, Some(budget), Some(field)) => {
            let has_timeout =
                call.settings.iter().any(|it| it.path == "total_timeout" && it.value.as_str() != Some("none"));
            retry(&field, budget, on, has_timeout, policies, &mut call, draft);
        }
        (false, _, Some(field)) => call.read("retry", "none", &field),
        _ => call.default("retry", "none", "Linkerd: only routes with `isRetryable`"),
    }
    draft.blocks.push(call);
}

/// Makes a call follow the policy of its service, which the first such call makes.
fn retry(
    field: &Field<'_>,
    budget: &Budget<'_>,
    on: Vec<ErrorKind>,
    has_timeout: bool,
    policies: &mut Vec<(Vec<ErrorKind>, String)>,
    call: &mut Block,
    draft: &mut Draft,
) {
    if !has_timeout {
        draft.surprise(
            &field.place(),
            "nothing but the budget ends these retries: Linkerd has no limit for a request, the route no `timeout`",
            "set a `timeout`, which spans all attempts",
        );
    }
    if let Some((_, name)) = policies.iter().find(|(known, _)| *known == on) {
        call.default("retry", name.as_str(), "one policy, with one budget, for a service");
        return;
    }
    let mut policy = draft.block(Kind::Policy, call.name.as_str(), &field.place());
    policy.default("max_retries", "unlimited", "Linkerd: only the budget limits them");
    policy.default("backoff", "none", "Linkerd: at once");
    policy.default("retry_on", errors(on.iter().copied()), "Linkerd: answers that are failures; no connection errors");
    policy.default("retry_after", "ignore", "Linkerd");
    budget.put(&mut policy);
    policy.default("shared_by", "instance", "Linkerd: each proxy has its own");
    policy.default("shared_over", "target", "Linkerd: one budget for a service");
    call.default("retry", policy.name.as_str(), "one policy, with one budget, for a service");
    policies.push((on, policy.name.clone()));
    draft.blocks.push(policy);
}

/// The errors that are failures: of the classes the first that a status is of, else those from 500 on.
fn failures(classes: Vec<Section<'_>>, call: &mut Block, draft: &mut Draft) -> Vec<ErrorKind> {
    let mut ranges: Vec<(u64, u64, bool)> = Vec::new();
    for mut class in classes {
        let is_failure = class.field("isFailure").is_some_and(|field| draft.truth(&field) == Some(true));
        let Some(mut condition) = draft.table(&mut class, "condition") else { continue };
        if let Some(mut status) = draft.table(&mut condition, "status") {
            let mut bound = |key: &str, otherwise: u64| match status.field(key) {
                Some(field) => draft.whole(&field).unwrap_or(otherwise),
                None => otherwise,
            };
            ranges.push((bound("min", 100), bound("max", 599), is_failure));
        }
        let why = "of response classes a scenario takes ranges of statuses";
        draft.leave_out_all(call, &mut condition, &["all", "any", "not"], why);
        draft.unknown(Some(call), &condition);
        draft.unknown(Some(call), &class);
    }
    statuses::answered(|status| {
        let found = ranges.iter().find(|(least, most, _)| (*least..=*most).contains(&u64::from(status)));
        found.map_or(status >= 500, |(.., is_failure)| *is_failure)
    })
}
