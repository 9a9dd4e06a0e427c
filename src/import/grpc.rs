//! gRPC service config: JSON, as in `grpc_service_config` of a channel or of name resolution.
//!
//! What it means is in the proposals A6 (client retries) and A2 (service config in DNS), and in the code of grpc-go,
//! grpc-java and grpc (core).

use crate::failure::ErrorKind;
use crate::import::Importer;
use crate::import::draft::{Block, Draft, Kind};
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{Node, Syntax};
use crate::import::values::{duration, errors, number, seconds};

/// The most attempts that gRPC clients make, unless they are told otherwise in code.
const ATTEMPTS_MAX: u64 = 5;

/// How service configs are read.
pub const IMPORTER: Importer =
    Importer { name: "grpc", title: "gRPC service config", syntax: Syntax::Json, is_like, read };

/// Whether a document looks like a service config.
fn is_like(document: &Node) -> bool {
    let has = |key: &str| document.table().is_some_and(|table| table.contains_key(key));
    ["methodConfig", "retryThrottling", "loadBalancingConfig", "loadBalancingPolicy"].into_iter().any(has)
}

/// Reads a service config.
fn read(documents: &[Node], draft: &mut Draft) {
    let Some(mut config) = documents.first().and_then(|document| Section::document(document, Keys::Exact)) else {
        return;
    };
    // How servers are picked, and health checks, say nothing about retries.
    config.skip(&["loadBalancingConfig", "loadBalancingPolicy", "healthCheckConfig"]);
    let throttling = config.section("retryThrottling");
    let throttle = throttling.map(|section| throttle(section, draft));
    let methods = config.field("methodConfig");
    for method in methods.iter().flat_map(|methods| methods.sections(Keys::Exact)) {
        self::method(method, throttle.as_ref(), draft);
    }
    draft.unknown(None, &config);
}

/// `retryThrottling`.
struct Throttle<'t> {
    tokens: Option<(f64, Field<'t>)>,
    ratio: Option<(f64, Field<'t>)>,
}

fn throttle<'t>(mut section: Section<'t>, draft: &mut Draft) -> Throttle<'t> {
    let tokens = section.field("maxTokens").and_then(|field| Some((draft.number(&field)?, field)));
    let ratio = section.field("tokenRatio").and_then(|field| Some((draft.number(&field)?, field)));
    for (key, there) in [("maxTokens", tokens.is_some()), ("tokenRatio", ratio.is_some())] {
        if !there {
            draft.wrong(&section.place, format!("`retryThrottling` has no `{key}`"), "gRPC refuses it: put it in");
        }
    }
    if let Some((tokens, field)) = &tokens {
        if !(*tokens > 0.0 && *tokens <= 1000.0) {
            draft.wrong(&field.node.place, "`maxTokens` must be above 0, at most 1000", "gRPC refuses it");
        } else if *tokens <= 2.0 {
            let message = format!("with `maxTokens: {tokens}` there is never a retry");
            draft.surprise(
                &field.place(),
                message,
                "the first failure leaves half of the tokens, and more must be left: use 10",
            );
        }
    }
    if let Some((ratio, field)) = &ratio {
        if *ratio <= 0.0 {
            draft.wrong(&field.node.place, "`tokenRatio` must be above 0", "gRPC refuses it");
        } else if !field.node.scalar().unwrap_or_default().contains('.') {
            let message = format!("`tokenRatio: {ratio}` has no point: gRPC core takes it for {}", ratio / 1000.0);
            draft.surprise(&field.place(), message, format!("write `{ratio}.0`"));
        }
    }
    draft.unknown(None, &section);
    Throttle { tokens, ratio }
}

fn method(mut section: Section<'_>, throttle: Option<&Throttle<'_>>, draft: &mut Draft) {
    let (service, label) = name(&mut section, draft);
    let mut call = draft.block(Kind::Call { to: service }, &label, &section.place);
    if let Some(field) = section.field("timeout")
        && let Some(span) = draft.parsed(&field, seconds)
    {
        call.read("total_timeout", duration(span), &field);
    }
    let retry = section.section("retryPolicy");
    let hedging = section.section("hedgingPolicy");
    if let (Some(_), Some(hedging)) = (&retry, &hedging) {
        draft.wrong(
            &hedging.place,
            "a method has `retryPolicy` or `hedgingPolicy`, never both",
            "take one of the two out",
        );
    }
    let policy = match (retry, hedging) {
        (Some(retry), _) => Some(retries(retry, &call, throttle, draft)),
        (None, Some(hedging)) => Some(hedges(hedging, &mut call, throttle, draft)),
        (None, None) => None,
    };
    for key in ["maxRequestMessageBytes", "maxResponseMessageBytes"] {
        section.skip(&[key]);
    }
    if let Some(field) = section.field("waitForReady") {
        draft.leave_out(&mut call, &field, "calls wait for a connection in place of failing; nothing connects here");
    }
    draft.unknown(Some(&mut call), &section);
    if let Some(policy) = policy {
        call.default("retry", policy.name.as_str(), "the policy of this method");
        draft.blocks.push(call);
        draft.blocks.push(policy);
    } else {
        draft.blocks.push(call);
    }
}

/// The service that a method config is about, and a label for the call.
fn name(section: &mut Section<'_>, draft: &mut Draft) -> (String, String) {
    use crate::import::draft::name_of;
    let field = section.field("name");
    let names = field.iter().flat_map(|field| field.sections(Keys::Exact));
    let mut first = None;
    for mut name in names {
        let mut part = |key| name.field(key).and_then(|field| draft.text(&field).map(str::to_owned));
        let (service, method) = (part("service"), part("method"));
        draft.unknown(None, &name);
        first.get_or_insert((service, method));
    }
    match first {
        Some((Some(service), method)) => {
            // The last part of `shop.v1.Catalog`.
            let short = name_of(service.rsplit('.').next().unwrap_or(&service));
            let label = method.map_or_else(|| short.clone(), |method| format!("{short}-{method}"));
            (short, label)
        }
        _ => ("any-service".to_owned(), "any-method".to_owned()),
    }
}

fn retries(mut section: Section<'_>, call: &Block, throttle: Option<&Throttle<'_>>, draft: &mut Draft) -> Block {
    let mut policy = draft.block(Kind::Policy, &call.name, &section.place);
    attempts(&mut section, &mut policy, draft);
    let initial = section.field("initialBackoff");
    let base = initial.as_ref().and_then(|field| draft.parsed(field, seconds));
    let largest = section.field("maxBackoff");
    let cap = largest.as_ref().and_then(|field| draft.parsed(field, seconds));
    let multiplier = section.field("backoffMultiplier");
    let factor = multiplier.as_ref().and_then(|field| draft.number(field));
    for (key, there) in [
        ("initialBackoff", initial.is_some()),
        ("maxBackoff", largest.is_some()),
        ("backoffMultiplier", multiplier.is_some()),
    ] {
        if !there {
            draft.wrong(&section.place, format!("`retryPolicy` has no `{key}`"), "gRPC refuses it: put it in");
        }
    }
    if let (Some(base), Some(cap), Some(field)) = (base, cap, &initial)
        && base > cap
    {
        let message = "the first wait is above `maxBackoff`: grpc-go cuts it, grpc-java and core do not";
        draft.surprise(&field.place(), message, "the scenario cuts it; make `maxBackoff` the larger one");
    }
    if let (Some(span), Some(field)) = (base, &initial) {
        policy.read("backoff.exponential.base", duration(span), field);
    }
    if let (Some(factor), Some(field)) = (factor, &multiplier) {
        if factor > 0.0 {
            policy.read("backoff.exponential.factor", number(factor), field);
        } else {
            draft.wrong(&field.node.place, "`backoffMultiplier` must be above 0", "gRPC refuses it");
        }
    }
    if let (Some(span), Some(field)) = (cap, &largest) {
        policy.read("cap", duration(span), field);
    }
    policy.default("jitter.spread", 0.2, "gRPC: +-20 %, above the cap, too");
    if let Some(field) = section.field("retryableStatusCodes") {
        codes(&mut policy, &field, draft);
    } else {
        draft.wrong(&section.place, "`retryPolicy` has no `retryableStatusCodes`", "gRPC refuses it: put it in");
    }
    policy.default("retry_after.rule", "replace", "gRPC: `grpc-retry-pushback-ms` takes the place of the backoff");
    budget(&mut policy, throttle);
    if let Some(field) = section.field("perAttemptRecvTimeout") {
        draft.leave_out(&mut policy, &field, "it is experimental, and most clients ignore it");
    }
    draft.unknown(Some(&mut policy), &section);
    policy
}

fn hedges(mut section: Section<'_>, call: &mut Block, throttle: Option<&Throttle<'_>>, draft: &mut Draft) -> Block {
    let mut policy = draft.block(Kind::Policy, &call.name, &section.place);
    policy.default("max_attempts", 1, "hedges only: what fails is not tried again");
    if let Some(field) = section.field("maxAttempts")
        && let Some(attempts) = limited(&field, draft)
    {
        call.read("hedge.copies", (attempts - 1) as i64, &field);
    }
    match section.field("hedgingDelay") {
        Some(field) => {
            if let Some(span) = draft.parsed(&field, seconds) {
                call.read("hedge.after", duration(span), &field);
            }
        }
        None => call.default("hedge.after", "0s", "gRPC: all at once; grpc-java refuses it"),
    }
    draft.surprise(
        &section.place,
        "only grpc-java hedges: other clients read this and do nothing",
        "see which client it is",
    );
    if let Some(field) = section.field("nonFatalStatusCodes") {
        draft.leave_out(call, &field, "a hedge is sent when its time has come, not sooner because of an error");
    }
    budget(&mut policy, throttle);
    draft.unknown(Some(call), &section);
    policy
}

fn attempts(section: &mut Section<'_>, policy: &mut Block, draft: &mut Draft) {
    let Some(field) = section.field("maxAttempts") else {
        draft.wrong(&section.place, "`retryPolicy` has no `maxAttempts`", "gRPC refuses it: put it in");
        return;
    };
    if let Some(attempts) = limited(&field, draft) {
        policy.read("max_attempts", attempts as i64, &field);
    }
}

/// `maxAttempts`, up to what clients make of it.
fn limited(field: &Field<'_>, draft: &mut Draft) -> Option<u64> {
    let attempts = draft.whole(field)?;
    if attempts < 2 {
        draft.wrong(
            &field.node.place,
            "`maxAttempts` must be above 1",
            "gRPC refuses it; without retries leave the policy out",
        );
        return None;
    }
    if attempts > ATTEMPTS_MAX {
        let message = format!("gRPC clients make at most {ATTEMPTS_MAX} attempts, not {attempts}");
        draft.surprise(&field.place(), message, "grpc-go and grpc-java can be told otherwise in code");
    }
    Some(attempts.min(ATTEMPTS_MAX))
}

fn budget(policy: &mut Block, throttle: Option<&Throttle<'_>>) {
    let Some(Throttle { tokens: Some((tokens, of_tokens)), ratio: Some((ratio, of_ratio)) }) = throttle else { return };
    policy.read("budget.grpc_throttle.max_tokens", number(*tokens), of_tokens);
    policy.read("budget.grpc_throttle.token_ratio", number(*ratio), of_ratio);
    policy.default("shared_over", "target", "gRPC: one for all methods of a server");
}

/// Status codes by name, in any case, or by number.
fn codes(policy: &mut Block, field: &Field<'_>, draft: &mut Draft) {
    let mut kinds = Vec::new();
    for item in field.items() {
        let said = item.scalar().unwrap_or_default();
        match said.to_ascii_uppercase().as_str() {
            "UNAVAILABLE" | "14" => {
                kinds.extend([ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::Reset, ErrorKind::Overloaded]);
            }
            "RESOURCE_EXHAUSTED" | "8" => kinds.extend([ErrorKind::RateLimited, ErrorKind::Overloaded]),
            "DEADLINE_EXCEEDED" | "4" => {
                kinds.push(ErrorKind::Deadline);
                let message =
                    "a deadline spans all attempts: `DEADLINE_EXCEEDED` of the client itself is never tried again";
                draft.surprise(&item.place, message, "only that of a server further on is");
            }
            "INTERNAL" | "13" | "UNKNOWN" | "2" | "DATA_LOSS" | "15" => kinds.push(ErrorKind::Internal),
            "INVALID_ARGUMENT"
            | "3"
            | "NOT_FOUND"
            | "5"
            | "ALREADY_EXISTS"
            | "6"
            | "PERMISSION_DENIED"
            | "7"
            | "FAILED_PRECONDITION"
            | "9"
            | "OUT_OF_RANGE"
            | "11"
            | "UNIMPLEMENTED"
            | "12"
            | "UNAUTHENTICATED"
            | "16" => {
                kinds.push(ErrorKind::Invalid);
                let message = format!("`{said}` fails again: the request itself is wrong");
                draft.surprise(&item.place, message, "take it out");
            }
            "ABORTED" | "10" | "CANCELLED" | "1" => {
                draft.leave_out(policy, field, "no error of a scenario is one of ABORTED or CANCELLED");
            }
            _ => draft.wrong(&item.place, format!("`{said}` is no status code of gRPC"), "use its name or its number"),
        }
    }
    policy.read("retry_on", errors(kinds), field);
}
