//! Shared configuration files of the AWS SDKs and of the CLI, such as `~/.aws/config`.
//!
//! What it means is in the reference of the SDKs ("Retry behavior") and in the code of botocore, smithy-rs and
//! aws-sdk-go-v2. The file does not say which version of an SDK reads it: it is read as those from 2026-11-10 on do
//! ("retry behavior 2.1"), and each policy says what was different before.

use crate::failure::ErrorKind;
use crate::import::Importer;
use crate::import::draft::{Block, Draft, Kind};
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{Node, Syntax, Table, Value};
use crate::import::values::errors;

/// How shared configuration files are read.
pub const IMPORTER: Importer =
    Importer { name: "aws", title: "AWS shared config file", syntax: Syntax::Ini, is_like, read };

/// What says something about retries.
const ABOUT_RETRIES: [&str; 3] = ["retry_mode", "max_attempts", "defaults_mode"];

/// The service that calls go to.
const SERVICE: &str = "aws";

/// Which SDKs are meant.
const NEWER: &str = "SDKs from 2026-11-10 on are meant: the first wait is up to 50 ms, not 1 s, and a retry costs 14 \
                     tokens of the quota, not 5";

/// Whether a document has profiles, or settings that only profiles have.
fn is_like(document: &Node) -> bool {
    let Some(table) = document.table() else { return false };
    table.iter().any(|(name, entry)| {
        let known = ["region", "output", "role_arn", "sso_session", "credential_process"].iter().chain(&ABOUT_RETRIES);
        let has_settings =
            entry.node.table().is_some_and(|settings| known.into_iter().any(|key| settings.contains_key(*key)));
        is_lost(name, &entry.node) || profile(name).is_some() && (has_settings || name.starts_with("profile "))
    })
}

/// Whether a section says something of retries and is no profile, though it looks like one: `[dev]` in place of
/// `[profile dev]`.
fn is_lost(name: &str, section: &Node) -> bool {
    let says = |settings: &Table| ABOUT_RETRIES.iter().any(|key| settings.contains_key(*key));
    profile(name).is_none() && !name.contains(char::is_whitespace) && section.table().is_some_and(says)
}

/// The name of the profile that a section is; none if it is another kind of section, such as `sso-session`.
fn profile(section: &str) -> Option<&str> {
    match section.split_once(char::is_whitespace) {
        Some(("profile", name)) => Some(name.trim()),
        Some(_) => None,
        // Only the default profile has no word before it; `plugins` and `preview` are of the CLI.
        None => (section == "default").then_some(section),
    }
}

/// Reads a file.
fn read(documents: &[Node], draft: &mut Draft) {
    let Some(mut file) = documents.first().and_then(|document| Section::document(document, Keys::Exact)) else {
        return;
    };
    let all = file.all();
    for lost in all.iter().filter(|field| is_lost(field.name, field.node)) {
        let message = format!("`[{}]` is no profile: the SDKs and the CLI do not read it", lost.name);
        let hint = format!(
            "write `[profile {}]`; only in the file of the credentials there is no `profile` before it",
            lost.name
        );
        draft.surprise(lost.key, message, hint);
    }
    let profiles: Vec<(&str, Field<'_>)> =
        all.into_iter().filter_map(|field| Some((profile(field.name)?, field))).collect();
    let says = |field: &Field<'_>| {
        let set = |key: &&str| {
            field
                .node
                .table()
                .and_then(|table| table.get(*key))
                .is_some_and(|entry| !matches!(entry.node.value, Value::Null))
        };
        ABOUT_RETRIES.iter().any(set)
    };
    let (mut wanted, silent): (Vec<_>, Vec<_>) = profiles.iter().partition(|(_, field)| says(field));
    match (wanted.is_empty(), silent.first()) {
        // All of them do what the SDK does by itself: once is enough.
        (true, Some(first)) => wanted.push(silent.iter().find(|(name, _)| *name == "default").unwrap_or(first)),
        (false, Some((_, first))) => {
            let names: Vec<String> = silent.iter().map(|(name, _)| format!("`{name}`")).collect();
            let message =
                format!("nothing about retries is said by {}: defaults of the SDK, left out", names.join(", "));
            draft.aside(first.key, message);
        }
        _ => {}
    }
    if let Some((_, first)) = wanted.first() {
        let message = "how long an attempt may take is said in code, not in this file: the scenario waits without end";
        draft.surprise(first.key, message, "set `timeout` in the call");
    }
    let sections = wanted.iter().filter_map(|(_, field)| field.section(Keys::Exact));
    if let Some(field) = sections.filter_map(|mut section| section.field("max_attempts")).next() {
        let message = "`max_attempts` counts the first attempt here, as `AWS_MAX_ATTEMPTS` does";
        let hint = "in boto3, `Config(retries={\"max_attempts\": n})` counts retries: there one less is the same";
        draft.surprise(&field.place(), message, hint);
    }
    for (name, field) in wanted {
        if let Some(section) = field.section(Keys::Exact) {
            self::call(name, section, draft);
        }
    }
}

/// The call of a profile, and its policy.
fn call(name: &str, mut section: Section<'_>, draft: &mut Draft) {
    let mut call = draft.block(Kind::Call { to: SERVICE.to_owned() }, name, &section.place);
    let mut policy = draft.block(Kind::Policy, name, &section.place);
    call.default("retry", policy.name.as_str(), "the policy of this profile");
    defaults_mode(&mut section, &mut call, draft);
    let (mode, field) = mode(&mut section, &mut policy, draft);
    match mode {
        Mode::Legacy => legacy(&mut section, field.as_ref(), &mut policy, draft),
        Mode::Standard => standard(&mut section, field.as_ref(), &mut policy, draft),
    }
    others(&mut section);
    draft.unknown(Some(&mut call), &section);
    draft.blocks.push(call);
    draft.blocks.push(policy);
}

/// What an SDK sets by itself for a kind of surroundings: of that, how long it takes to connect.
fn defaults_mode(section: &mut Section<'_>, call: &mut Block, draft: &mut Draft) {
    let Some(field) = section.field("defaults_mode") else { return };
    let connect = draft.parsed(&field, |text| match text {
        "legacy" => Ok(None),
        "standard" | "cross-region" => Ok(Some("3100ms")),
        "in-region" => Ok(Some("1100ms")),
        "mobile" => Ok(Some("30s")),
        "auto" => Ok(Some("")),
        _ => Err("`legacy`, `standard`, `in-region`, `cross-region`, `mobile` or `auto`".to_owned()),
    });
    match connect.flatten() {
        Some("") => draft.leave_out(call, &field, "which timeouts it stands for is found out when it runs"),
        Some(connect) => call.read("connect_timeout", connect, &field),
        None => {}
    }
}

/// How retries go.
enum Mode {
    Legacy,
    Standard,
}

/// The mode, and where it is said.
fn mode<'t>(section: &mut Section<'t>, policy: &mut Block, draft: &mut Draft) -> (Mode, Option<Field<'t>>) {
    let Some(field) = section.field("retry_mode") else {
        let message = "without `retry_mode` it is `standard` from 2026-11-10 on";
        let hint = "before that boto3, AWS CLI v1 and others were `legacy`: five attempts, no quota; say which it is";
        draft.surprise(&section.place, message, hint);
        return (Mode::Standard, None);
    };
    let mode = draft.parsed(&field, |text| match text.to_ascii_lowercase().as_str() {
        "legacy" => Ok((Mode::Legacy, false)),
        "standard" => Ok((Mode::Standard, false)),
        "adaptive" => Ok((Mode::Standard, true)),
        _ => Err("`legacy`, `standard` or `adaptive`".to_owned()),
    });
    let (mode, is_adaptive) = mode.unwrap_or((Mode::Standard, false));
    if is_adaptive {
        let why = "retries are those of `standard`; its limiter, which holds back every attempt after a throttling \
                   error, is in no scenario";
        let field = Field { name: "adaptive", ..field.clone() };
        draft.leave_out(policy, &field, why);
    }
    (mode, Some(field))
}

fn attempts(section: &mut Section<'_>, (default, why): (i64, &str), policy: &mut Block, draft: &mut Draft) {
    let Some(field) = section.field("max_attempts") else {
        return policy.default("max_attempts", default, why);
    };
    let Some(attempts) = draft.count(&field, 1) else { return };
    policy.read("max_attempts", attempts as i64, &field);
}

/// What all modes try again: transport errors, 500, 502, 503 and 504, and throttling.
fn retried(policy: &mut Block) {
    use ErrorKind::{Deadline, Internal, Overloaded, RateLimited, Refused, Reset, Timeout, Unavailable};
    let kinds = [Unavailable, Refused, Timeout, Reset, Overloaded, RateLimited, Deadline, Internal];
    policy.default("retry_on", errors(kinds), "AWS: transport errors, 500, 502, 503, 504, throttling");
}

fn standard(section: &mut Section<'_>, mode: Option<&Field<'_>>, policy: &mut Block, draft: &mut Draft) {
    let place = mode.map_or_else(|| section.place.clone(), Field::place);
    if !draft.remarks.iter().any(|remark| remark.message == NEWER) {
        let older = "for older ones: `base = \"1s\"`, `retry_after = \"ignore\"`, `mode = \"standard-pre2026\"`";
        draft.surprise(&place, NEWER, older);
    }
    attempts(section, (3, "AWS standard: 3; DynamoDB 4"), policy, draft);
    policy.default("backoff.exponential.base", "50ms", "AWS 2.1; DynamoDB 25 ms; before 2026-11-10 1 s");
    policy.default("backoff.exponential.base_throttled", "1s", "AWS 2.1: after throttling errors; as before");
    policy.default("cap", "20s", "AWS: before the jitter");
    policy.default("jitter", "full", "AWS: U(0, 1) times the backoff");
    retried(policy);
    policy.default("retry_after.rule", "floor", "AWS 2.1: `x-amz-retry-after`; before 2026-11-10 ignored");
    policy.default("retry_after.over_own", "5s", "AWS 2.1: at most 5 s above the own wait");
    match mode {
        Some(field) => policy.read("budget.aws_quota.mode", "standard-2.1", field),
        None => policy.default("budget.aws_quota.mode", "standard-2.1", "AWS: a quota for retries, 500 tokens"),
    }
    policy.default("shared_by", "instance", "AWS: each client object has its own quota");
    policy.default("shared_over", "policy", "AWS: one for all calls of a client object; Rust has one for a service");
}

fn legacy(section: &mut Section<'_>, mode: Option<&Field<'_>>, policy: &mut Block, draft: &mut Draft) {
    attempts(section, (5, "AWS legacy: 5; DynamoDB 10"), policy, draft);
    policy.default("backoff.exponential.base", "1s", "AWS legacy, as botocore has it; DynamoDB 50 ms without jitter");
    policy.default("cap", "none", "AWS legacy: waits grow without end");
    policy.default("jitter", "full", "AWS legacy: U(0, 1) times the backoff");
    retried(policy);
    policy.default("retry_after", "ignore", "AWS legacy: looks at no header");
    if let Some(field) = mode {
        policy.read("budget", "none", field);
    }
}

/// What else may be in a profile is not about retries, and some of it is secret: no message shows it.
fn others(section: &mut Section<'_>) {
    let looks_like = |field: &Field<'_>| ["retr", "attempt", "timeout"].iter().any(|part| field.name.contains(part));
    let others: Vec<&str> = section.unknown().filter(|field| !looks_like(field)).map(|field| field.name).collect();
    section.skip(&others);
}
