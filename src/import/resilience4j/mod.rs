//! Resilience4j in Spring Boot: `application.yml`, with keys in any of Spring's spellings.
//!
//! What it means is in Resilience4j's code: `IntervalFunction`, the `Common...ConfigurationProperties` of each module,
//! and the order of the aspects, `Retry(CircuitBreaker(RateLimiter(TimeLimiter(Bulkhead(call)))))`. Instances of the
//! same name in several modules are one call.

mod breaker;
mod exceptions;
mod limits;
mod module;
mod retry;
mod spring;

use crate::import::Importer;
use crate::import::draft::{Draft, Kind, name_of};
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{Node, Syntax};

use module::Module;

/// How application properties are read.
pub const IMPORTER: Importer = Importer {
    name: "resilience4j",
    title: "Resilience4j configuration of Spring Boot",
    syntax: Syntax::Yaml,
    is_like,
    read,
};

/// Where the properties are.
const ROOT: &str = "resilience4j";

/// The modules.
struct Modules<'t> {
    retry: Module<'t>,
    breaker: Module<'t>,
    bulkhead: Module<'t>,
    rate_limiter: Module<'t>,
    time_limiter: Module<'t>,
}

/// Whether a document has properties of it, as a table or in dotted keys.
fn is_like(document: &Node) -> bool {
    let is_root = |key: &String| key.split('.').next().is_some_and(|first| Keys::Loose.same(first, ROOT));
    document.table().is_some_and(|table| table.keys().any(is_root))
}

/// Reads application properties.
fn read(documents: &[Node], draft: &mut Draft) {
    let Some(properties) = spring::properties(documents, draft) else { return };
    let Some(mut document) = Section::document(&properties, Keys::Loose) else { return };
    let Some(mut root) = draft.table(&mut document, ROOT) else { return };
    let modules = Modules {
        retry: Module::of(&mut root, "retry", draft),
        breaker: Module::of(&mut root, "circuitbreaker", draft).with_configs_of_their_own(),
        bulkhead: Module::of(&mut root, "bulkhead", draft),
        rate_limiter: Module::of(&mut root, "ratelimiter", draft),
        time_limiter: Module::of(&mut root, "timelimiter", draft),
    };
    root.skip(&["scheduled", "timer", "micrometer"]);
    if let Some(field) = root.field("thread-pool-bulkhead") {
        let why = "a pool of a scenario waits for a time, not in a queue of limited length";
        draft.aside(&field.place(), format!("`{}` is not in the scenario: {why}", field.path));
    }
    draft.unknown(None, &root);
    for instance in names(&modules) {
        self::instance(&instance, &modules, draft);
    }
}

/// The instances of all modules, each once, in the order of the file.
fn names<'t>(modules: &Modules<'t>) -> Vec<Field<'t>> {
    let Modules { retry, breaker, bulkhead, rate_limiter, time_limiter } = modules;
    let all = [retry, breaker, bulkhead, rate_limiter, time_limiter];
    let mut names: Vec<Field<'t>> = all.into_iter().flat_map(|module| module.instances.iter().cloned()).collect();
    names.sort_by_key(|field| field.key.start);
    let mut once: Vec<Field<'t>> = Vec::new();
    for field in names {
        if !once.iter().any(|it| it.name == field.name) {
            once.push(field);
        }
    }
    once
}

/// The call that an instance is about, and its policy.
fn instance(instance: &Field<'_>, modules: &Modules<'_>, draft: &mut Draft) {
    let name = instance.name;
    let mut call = draft.block(Kind::Call { to: name_of(name) }, name, instance.key);
    let time_limiter = modules.time_limiter.instance(name, draft);
    let bulkhead = modules.bulkhead.instance(name, draft);
    let rate_limiter = modules.rate_limiter.instance(name, draft);
    let breaker = modules.breaker.instance(name, draft);
    let retry = modules.retry.instance(name, draft);
    let mut around = retry::Around {
        breaker: breaker.is_some(),
        bulkhead: bulkhead.is_some(),
        rate_limiter: false,
        time_limiter: time_limiter.is_some(),
    };
    call.default("total_timeout", "none", "Resilience4j: nothing ends a call with all of its attempts");
    match time_limiter {
        Some(limiter) => limits::time(limiter, &mut call, draft),
        None => call.default("timeout", "none", "Resilience4j: no time limiter of this name"),
    }
    if let Some(bulkhead) = bulkhead {
        limits::bulkhead(bulkhead, around.breaker, &mut call, draft);
    }
    if let Some(limiter) = rate_limiter {
        around.rate_limiter = limits::rate(limiter, &mut call, draft);
    }
    if let Some(breaker) = breaker {
        breaker::breaker(breaker, around.time_limiter, &mut call, draft);
    }
    let policy = retry.map(|retry| retry::policy(retry, &call, around, draft));
    match &policy {
        Some(policy) => call.default("retry", policy.name.as_str(), "the policy of this instance"),
        None => call.default("retry", "none", "Resilience4j: no retries of this name"),
    }
    draft.blocks.push(call);
    draft.blocks.extend(policy);
}
