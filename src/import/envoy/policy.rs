//! Retry policies of Envoy: `retry_policy` of a route, or of a virtual host.

use toml_edit::Value;

use super::cluster::RetryLimit;
use super::retry_on::{self, Status};
use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft, Kind};
use crate::import::section::{Field, Section};
use crate::import::statuses;
use crate::import::values::{count, duration, seconds};
use crate::scenario::source::Place;
use crate::time::Span;

/// The base of Envoy's backoff where the file does not say.
const BASE: Span = Span::from_ms(25);

/// What is said of what Envoy does not take.
const REFUSED: &str = "Envoy refuses it";

/// What a policy says to the calls that follow it.
pub struct Policy<'t> {
    /// Its name in the scenario; none if nothing is tried again.
    pub name: Option<String>,
    /// How many retries there are.
    pub retries: i64,
    /// What is tried again, but for connections that take too long.
    pub on: Vec<ErrorKind>,
    /// How long one attempt is waited for.
    pub per_try: Option<(Span, Field<'t>)>,
    /// How long nothing may move.
    pub idle: Option<(Span, Field<'t>)>,
    /// What makes retries go to other hosts.
    pub previous_hosts: Option<Field<'t>>,
    /// Where it is.
    pub place: Place,
}

impl Policy<'_> {
    /// How long an attempt that is not answered at all is waited for: answers of a scenario come whole, so that
    /// nothing moves until they are there.
    pub fn try_timeout(&self) -> Option<&(Span, Field<'_>)> {
        [self.per_try.as_ref(), self.idle.as_ref()].into_iter().flatten().min_by_key(|(span, _)| *span)
    }
}

/// Reads a policy, for the calls to one cluster. `label` names it.
pub fn read<'t>(mut section: Section<'t>, label: &str, limit: &RetryLimit<'_>, draft: &mut Draft) -> Policy<'t> {
    let mut block = draft.block(Kind::Policy, label, &section.place);
    let per_try = span(&mut section, "per_try_timeout", draft);
    let idle = span(&mut section, "per_try_idle_timeout", draft);
    let statuses = listed(&mut section, draft);
    let retry_on = section.field("retry_on");
    let conditions = retry_on.as_ref().map(|field| retry_on::read(field, Some(&statuses), &mut block, draft));
    let retries = section.field("num_retries");
    let amount = retries.as_ref().map(|field| draft.parsed(field, count).unwrap_or_default());
    match (&retries, amount) {
        (Some(field), Some(amount)) => block.read("max_retries", retries_of(amount), field),
        _ => block.default("max_retries", 1, "Envoy: one, with `retry_on`"),
    }
    let on = conditions.as_ref().map_or_else(Vec::new, |conditions| conditions.errors.clone());
    if let (Some(field), Some(conditions)) = (&retry_on, &conditions) {
        conditions.put(per_try.is_some() || idle.is_some(), field, &mut block);
    }
    waits(&mut section, &mut block, draft);
    limit.put(&mut block);
    block.default("shared_by", "group", "Envoy: whoever goes through it; with a sidecar each, `instance`");
    block.default("shared_over", "target", "Envoy: one limit for a cluster");
    let previous_hosts = hosts(&mut section, &mut block, draft);
    rest(&mut section, &mut block, draft);
    draft.unknown(Some(&mut block), &section);
    let is_on = conditions.is_some_and(|conditions| conditions.are_known);
    if !is_on {
        draft.surprise(
            &section.place,
            "nothing is tried again: there is no condition in `retry_on`",
            "say when, as with `retry_on: connect-failure,refused-stream`",
        );
    }
    let name = is_on.then(|| block.name.clone());
    if is_on {
        draft.blocks.push(block);
    }
    let retries = if is_on { amount.unwrap_or(1) } else { 0 };
    Policy { name, retries, on, per_try, idle, previous_hosts, place: section.place.clone() }
}

/// A number of retries.
pub fn retries_of(amount: i64) -> Value {
    /// What a scenario can say, and nobody reaches.
    const RETRIES_MAX: i64 = 1_000_000_000;
    if amount > RETRIES_MAX { Value::from("unlimited") } else { Value::from(amount) }
}

/// A time that is not there if it is zero.
fn span<'t>(section: &mut Section<'t>, key: &str, draft: &mut Draft) -> Option<(Span, Field<'t>)> {
    let field = section.field(key)?;
    let span = draft.parsed(&field, seconds)?;
    (span > Span::ZERO).then_some((span, field))
}

fn listed<'t>(section: &mut Section<'t>, draft: &mut Draft) -> Vec<Status<'t>> {
    let Some(list) = section.field("retriable_status_codes") else { return Vec::new() };
    let items = list.items().iter().map(|node| Field { node, ..list.clone() });
    items
        .filter_map(|item| Some(Status { status: draft.parsed(&item, statuses::parse)?, field: list.clone() }))
        .collect()
}

/// The backoff, and what is made of a server's word on it.
fn waits(section: &mut Section<'_>, block: &mut Block, draft: &mut Draft) {
    let backoff = draft.table(section, "retry_back_off");
    let (mut base, mut cap) = (None, None);
    if let Some(mut backoff) = backoff {
        match backoff.field("base_interval") {
            Some(field) => base = draft.above_zero(&field, seconds).map(|span| (span, field)),
            None => draft.wrong(&backoff.place, "`retry_back_off` has no `base_interval`", REFUSED),
        }
        cap = span(&mut backoff, "max_interval", draft);
        if let (Some((base, _)), Some((cap, field))) = (&base, &cap)
            && cap < base
        {
            draft.wrong(&field.node.place, "`max_interval` is below `base_interval`", REFUSED);
        }
        draft.unknown(Some(block), &backoff);
    }
    put_backoff(block, base, cap);
    match draft.table(section, "rate_limited_retry_back_off") {
        Some(section) => retry_after(section, block, draft),
        None => block.default("retry_after", "ignore", "Envoy: no `rate_limited_retry_back_off`"),
    }
}

/// Envoy's backoff.
pub fn put_backoff(block: &mut Block, base: Option<(Span, Field<'_>)>, cap: Option<(Span, Field<'_>)>) {
    // What is below a millisecond is one.
    let at_least = |span: Span| span.max(Span::from_ms(1));
    match &base {
        Some((span, field)) => block.read("backoff.exponential.base", duration(at_least(*span)), field),
        None => block.default("backoff.exponential.base", duration(BASE), "Envoy"),
    }
    block.default("backoff.exponential.factor", 2, "Envoy: doubles");
    match &cap {
        Some((span, field)) => block.read("cap", duration(at_least(*span)), field),
        None => {
            let base = at_least(base.map_or(BASE, |(span, _)| span));
            let cap = Span::from_ns(base.as_ns().saturating_mul(10));
            // What no run reaches is no cap.
            let cap = if cap < Span::LIMIT { duration(cap) } else { "none".to_owned() };
            block.default("cap", cap, "Envoy: ten times the base");
        }
    }
    block.default("jitter", "full", "Envoy");
    block.default("granularity", "1ms", "Envoy: whole milliseconds");
}

fn retry_after(mut section: Section<'_>, block: &mut Block, draft: &mut Draft) {
    let most = span(&mut section, "max_interval", draft);
    let headers = draft.tables(&mut section, "reset_headers");
    if headers.is_empty() {
        draft.wrong(&section.place, "`rate_limited_retry_back_off` has no `reset_headers`", REFUSED);
    }
    for mut header in headers {
        header.skip(&["name", "format"]);
        draft.unknown(Some(block), &header);
    }
    block.default("retry_after.rule", "replace", "Envoy: takes the place of the backoff");
    block.default("retry_after.upward", 0.5, "Envoy: up to half as much again");
    match &most {
        Some((span, field)) => block.read("retry_after.at_most", duration(*span), field),
        None => block.default("retry_after.at_most", "300s", "Envoy"),
    }
    block.default("retry_after.beyond", "ignore", "Envoy: a longer one is as if not said");
    draft.unknown(Some(block), &section);
}

/// Whether retries go to other hosts; what else picks hosts is left out.
fn hosts<'t>(section: &mut Section<'t>, block: &mut Block, draft: &mut Draft) -> Option<Field<'t>> {
    let mut previous = None;
    for mut predicate in draft.tables(section, "retry_host_predicate") {
        let name = predicate.field("name");
        predicate.skip(&["typed_config"]);
        draft.unknown(Some(block), &predicate);
        let is_previous = |field: &Field<'_>| field.node.scalar().is_some_and(|name| name.contains("previous_hosts"));
        match name {
            Some(field) if is_previous(&field) => previous = Some(field),
            Some(field) => draft.leave_out(block, &field, "of hosts a scenario avoids the one that was tried before"),
            None => {}
        }
    }
    if let Some(field) = section.field("host_selection_retry_max_attempts") {
        draft.leave_out(block, &field, "a scenario picks another host at once, if there is one");
    }
    previous
}

fn rest(section: &mut Section<'_>, block: &mut Block, draft: &mut Draft) {
    let why = "servers of a scenario have no priorities";
    draft.leave_out_all(block, section, &["retry_priority"], why);
    let why = "requests and answers of a scenario have no headers";
    draft.leave_out_all(block, section, &["retriable_headers", "retriable_request_headers"], why);
    draft.leave_out_all(block, section, &["retry_options_predicates"], "a retry is the same request again");
}
