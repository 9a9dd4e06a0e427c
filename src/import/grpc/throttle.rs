//! `retryThrottling`.

use crate::import::draft::{Block, Draft};
use crate::import::section::{Field, Section};
use crate::import::values::number;
use crate::scenario::source::Place;

/// What decides, for all methods of a server, whether there are retries.
pub struct Throttle<'t> {
    /// Where it is.
    pub place: Place,
    tokens: Option<(f64, Field<'t>)>,
    ratio: Option<(f64, Field<'t>)>,
}

impl<'t> Throttle<'t> {
    /// Reads it.
    pub fn read(mut section: Section<'t>, draft: &mut Draft) -> Self {
        let tokens = section.field("maxTokens");
        let ratio = section.field("tokenRatio");
        for (key, field) in [("maxTokens", &tokens), ("tokenRatio", &ratio)] {
            if field.is_none() {
                draft.wrong(&section.place, format!("`retryThrottling` has no `{key}`"), "gRPC refuses it: put it in");
            }
        }
        draft.unknown(None, &section);
        Self {
            place: section.place.clone(),
            tokens: tokens.and_then(|field| Some((max_tokens(&field, draft)?, field))),
            ratio: ratio.and_then(|field| Some((token_ratio(&field, draft)?, field))),
        }
    }

    /// Puts it into a policy.
    pub fn write(&self, policy: &mut Block) {
        let (Some((tokens, of_tokens)), Some((ratio, of_ratio))) = (&self.tokens, &self.ratio) else { return };
        policy.read("budget.grpc_throttle.max_tokens", number(*tokens), of_tokens);
        policy.read("budget.grpc_throttle.token_ratio", number(*ratio), of_ratio);
        policy.default("shared_over", "target", "gRPC: one for all methods of a server");
    }
}

/// A number in thousandths; gRPC does not look at further digits.
fn thousandths(number: f64) -> f64 {
    // What a product misses of a whole number is below a millionth of it.
    (number * 1000.0 + 1e-6).floor() / 1000.0
}

fn max_tokens(field: &Field<'_>, draft: &mut Draft) -> Option<f64> {
    let tokens = thousandths(draft.number(field)?);
    if !(0.001..=1000.0).contains(&tokens) {
        draft.wrong(
            &field.node.place,
            "`maxTokens` must be above 0, at most 1000",
            "gRPC refuses it: the usual one is 10",
        );
        return None;
    }
    if tokens <= 2.0 {
        let message = format!("with `maxTokens: {tokens}` there is never a retry");
        let hint = "the first failure leaves half of the tokens, and more must be left: use 10";
        draft.surprise(&field.place(), message, hint);
    }
    Some(tokens)
}

fn token_ratio(field: &Field<'_>, draft: &mut Draft) -> Option<f64> {
    /// More than a bucket can hold is as much as that.
    const MOST: f64 = 1000.0;
    let ratio = thousandths(draft.number(field)?.min(MOST));
    if ratio < 0.001 {
        let hint = "gRPC refuses it: digits after the third do not count";
        draft.wrong(&field.node.place, "`tokenRatio` must be at least 0.001", hint);
        return None;
    }
    if !field.node.scalar().unwrap_or_default().contains('.') {
        let message = format!("`tokenRatio: {ratio}` has no point: gRPC core takes it for {}", ratio / 1000.0);
        draft.surprise(&field.place(), message, format!("write `{ratio}.0`"));
    }
    Some(ratio)
}
