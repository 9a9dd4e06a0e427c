//! What other tools, or the words of the trade, call things that have another name here, or another place.

mod protection;

use protection::PROTECTION;

/// What describes something, by its noun; the words for a part of it; and what to write instead. Words are the same
/// whatever their capitals and underscores: products write `maxRetries`, `max_retries` and `MaxRetries`.
type Synonyms = (&'static str, &'static [&'static str], &'static str);

/// Whom a budget is shared by is said where it is used, as for all of its kinds.
const SHARED: &[&str] = &["shared_by", "shared_over"];
const BESIDE_BUDGET: &str = "it belongs beside `budget`, in the retry policy";

const SYNONYMS: &[Synonyms] = &[
    ("a fault", &["target", "targets", "service", "services", "call", "calls", "client"], "write `on = [\"db\"]`"),
    (
        "a fault",
        &["window", "windows", "duration", "for", "start", "end", "at"],
        "write `from = \"30s\"` and `until = \"40s\"`, or `lasts = \"10s\"` for the latter; `every = \"60s\"` repeats it",
    ),
    ("an effect", &["down", "outage"], "write `\"refuse\"`, or `\"blackhole\"` where nobody even says no"),
    ("an effect", &["error", "errors", "unavailable"], "write `{ fail = { error = \"unavailable\" } }`"),
    ("an effect", &["latency", "delay"], "write `{ slow = { add = \"200ms\" } }`"),
    (
        "a call",
        &["retries", "max_retries", "max_attempts", "attempts", "backoff", "jitter", "budget"],
        "retry policies have names: write `retry = \"patient\"`, and `[retries.patient]` with `max_retries = 2`",
    ),
    (
        "a budget",
        &["grpc", "retry_throttling", "throttling", "throttle"],
        "write `{ grpc_throttle = { max_tokens = 10, token_ratio = 0.1 } }`",
    ),
    ("a budget", &["aws", "quota", "retry_quota"], "write `{ aws_quota = { mode = \"standard-2.1\" } }`"),
    ("a budget", &["finagle"], "write `{ windowed_ratio = { deposit = \"start\" } }`"),
    (
        "a budget",
        &["linkerd", "tower", "tps_budget"],
        "write `{ windowed_ratio = { deposit = \"success\", rounding = \"tower\" } }`",
    ),
    ("a budget", &["envoy", "istio", "retry_budget"], "write `{ concurrency = { share = 0.2, minimum = 3 } }`"),
    (
        "a budget",
        &["ratio", "percent", "percentage"],
        "write `{ ratio_of_requests = { ratio = 0.1 } }`, or `{ concurrency = { share = 0.2 } }` for Envoy's per cent",
    ),
    ("a token bucket", SHARED, BESIDE_BUDGET),
    ("a retry throttle", SHARED, BESIDE_BUDGET),
    ("an AWS retry quota", SHARED, BESIDE_BUDGET),
    ("a windowed ratio", SHARED, BESIDE_BUDGET),
    ("a concurrency budget", SHARED, BESIDE_BUDGET),
    ("a ratio of requests", SHARED, BESIDE_BUDGET),
    ("a token bucket", &["capacity", "size", "max_tokens"], "write `max = 10`"),
    ("a token bucket", &["refill", "token_ratio", "deposit", "ratio"], "write `per_success = 0.1`"),
    ("an AWS retry quota", &["capacity", "tokens", "max_tokens"], "write `max = 500`"),
    ("an AWS retry quota", &["retry_cost"], "write `cost = 14`"),
    ("an AWS retry quota", &["timeout_cost", "retry_timeout_cost"], "write `cost_timeout = 14`"),
    ("a mode", &["standard", "2.1", "v2.1"], "write `\"standard-2.1\"`, or `\"standard-pre2026\"` for older SDKs"),
    ("a mode", &["legacy"], "legacy mode has no quota: write `budget = \"none\"`"),
    ("a windowed ratio", &["retry_ratio", "percent_can_retry", "percent"], "write `ratio = 0.2`"),
    (
        "a windowed ratio",
        &["min_retries_per_second", "min_retries_per_sec", "min_per_sec"],
        "write `min_per_second = 10`",
    ),
    ("a moment", &["request", "call"], "write `\"start\"`"),
    ("a way to round", &["linkerd"], "write `\"tower\"`, which Linkerd uses"),
    ("a concurrency budget", &["budget_percent", "percent", "percentage"], "for 20 % write `share = 0.2`"),
    ("a concurrency budget", &["min_retry_concurrency", "min"], "write `minimum = 3`"),
    ("a concurrency budget", &["max_retries"], "for so many at once write `share = 0` and `minimum = 3`"),
    ("a ratio of requests", &["percent", "percentage"], "for 10 % write `ratio = 0.1`"),
    ("a ratio of requests", &["min", "minimum"], "write `floor = 10`"),
    ("a retry policy", &["retry_budget"], "write `budget = { concurrency = { share = 0.2, minimum = 3 } }`"),
    ("a retry policy", &["max_elapsed_time", "max_duration"], "write `max_elapsed = \"15m\"`"),
    ("a retry policy", &["min", "min_wait", "min_delay", "min_backoff"], "write `floor = \"1s\"`"),
    ("a backoff", &["polly", "decorrelated_jitter"], "write `{ decorrelated_v2 = { base = \"2s\" } }`"),
    ("a set of callers", &["client", "server", "process"], "write `\"instance\"`: each has its own"),
    ("a set of callers", &["clients", "service", "all"], "write `\"group\"`: one for all of them"),
    ("a set of calls", &["service"], "write `\"target\"`: one for all calls to a service"),
    ("a set of calls", &["all", "client", "caller"], "write `\"policy\"`: one for all calls with this policy"),
    ("a call", &["target", "service"], "write `to = \"db\"`"),
    ("a call", &["latency", "delay"], "write `network = \"1ms\"`; how long the callee works is its `service_time`"),
    (
        "a client group",
        &["idempotency_key", "idempotency_keys", "idempotency_store", "idempotent"],
        "write `idempotency = \"key\"`, and `idempotency_store = { ttl = \"24h\" }` at the service that is to know it",
    ),
    (
        "a client group",
        &["dead_letter", "dead_letters", "dead_letter_queue", "dlq"],
        "write `on_exhausted = \"dead_letter\"`",
    ),
    (
        "a service",
        &["idempotency", "idempotency_key", "idempotent", "dedup", "deduplication"],
        "write `idempotency_store = { ttl = \"24h\" }`, and `idempotency = \"key\"` at the clients",
    ),
    ("an idempotency store", &["lifetime", "retention", "expires", "expiry"], "write `ttl = \"24h\"`"),
    ("a service", &["side_effect", "side_effects", "write"], "write `writes = true`"),
    ("a service", &["concurrency", "threads", "max_concurrency"], "write `workers = 64`"),
    ("a service", &["replicas", "servers"], "write `instances = 3`"),
    ("a service", &["latency", "delay", "duration"], "write `service_time = \"5ms\"`"),
    (
        "a service",
        &["timeout", "retry"],
        "these belong to the calls to it: write `calls.db = { timeout = \"1s\" }` at the caller",
    ),
];

/// What to write instead of a word, in something with this noun; none for a word that is not known.
pub fn meant(noun: &str, word: &str) -> Option<String> {
    let is_meant = |(of, words, _): &&Synonyms| *of == noun && words.iter().any(|other| is_same(word, other));
    all().find(is_meant).map(|(_, _, instead)| (*instead).to_owned())
}

fn all() -> impl Iterator<Item = &'static Synonyms> {
    SYNONYMS.iter().chain(PROTECTION)
}

fn is_same(word: &str, other: &str) -> bool {
    fn letters(word: &str) -> impl Iterator<Item = char> {
        word.chars().filter(|&letter| letter != '_').map(|letter| letter.to_ascii_lowercase())
    }
    letters(word).eq(letters(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::reader::Read;
    use crate::scenario::shape::Shape;
    use crate::scenario::tables::ScenarioTable;

    /// The nouns, and every key and tag in something that has them.
    fn visit(shape: Shape, known: &mut Vec<(&'static str, &'static str)>) {
        match shape {
            Shape::Value | Shape::Duration => {}
            Shape::Named(inner) => visit(*inner, known),
            Shape::Table(table) => {
                known.extend(table.names().map(|name| (table.noun, name)));
                table.keys.iter().for_each(|key| visit(key.shape, known));
            }
            Shape::Choice(choice) => {
                known.extend(choice.names().map(|name| (choice.noun, name)));
                choice.tags.iter().filter_map(|&(_, takes)| takes).for_each(|takes| visit(takes, known));
            }
        }
    }

    /// A synonym of what does not exist would never be asked for, and a word that the format has is none.
    #[test]
    fn synonyms_are_of_what_there_is_and_no_words_of_the_format() {
        let mut known = Vec::new();
        visit(ScenarioTable::SHAPE, &mut known);
        for (noun, words, _) in all() {
            assert!(known.iter().any(|(of, _)| of == noun), "{noun}");
            for word in *words {
                let is_known = known.iter().any(|(of, name)| of == noun && is_same(word, name));
                assert!(!is_known, "{word} of {noun}");
            }
        }
    }

    #[test]
    fn capitals_and_underscores_do_not_matter() {
        for word in ["max_ejection_percent", "maxEjectionPercent", "MaxEjectionPercent"] {
            assert!(meant("an ejection", word).is_some_and(|instead| instead.contains("max_share")), "{word}");
        }
        assert_eq!(meant("an ejection", "ejection_percent"), None);
    }
}
