//! Classes of exceptions as the errors of a scenario.

use crate::failure::ErrorKind::{
    self, BreakerOpen, Deadline, Internal, Invalid, Overloaded, PoolTimeout, RateLimited, Refused, Reset, Throttled,
    Timeout, Unavailable,
};
use crate::import::draft::{Block, Draft};
use crate::import::resilience4j::module::{Layers, texts};
use crate::import::section::Field;

/// A server's answers of the kind 5xx.
const SERVER: &[ErrorKind] = &[Unavailable, Overloaded, Deadline, Internal];
/// A server's answers of the kind 4xx.
const CLIENT: &[ErrorKind] = &[RateLimited, Invalid];
/// Answers of any kind.
const ANSWERS: &[ErrorKind] = &[Unavailable, Overloaded, Deadline, Internal, RateLimited, Invalid];
/// No answer: nobody there, a broken connection, or a timeout of the HTTP client.
const NO_ANSWER: &[ErrorKind] = &[Refused, Reset, Timeout];
/// What an HTTP client throws, answer or not.
const CLIENTS: &[ErrorKind] =
    &[Unavailable, Refused, Reset, Overloaded, RateLimited, Timeout, Deadline, Internal, Invalid];

/// What the time limiter throws, which is no exception of an HTTP client.
const LIMIT: &str = "java.util.concurrent.TimeoutException";
/// The classes that it is.
const OF_LIMIT: [&str; 3] = [LIMIT, "java.lang.Exception", "java.lang.Throwable"];

/// What each class stands for, subclasses included, with a timeout of the HTTP client.
const CLASSES: &[(&str, &[ErrorKind])] = &[
    ("java.lang.Throwable", ErrorKind::ALL),
    ("java.lang.Exception", ErrorKind::ALL),
    ("java.lang.RuntimeException", ErrorKind::ALL),
    ("java.io.IOException", NO_ANSWER),
    ("java.io.UncheckedIOException", NO_ANSWER),
    ("java.io.EOFException", &[Reset]),
    ("java.net.ConnectException", &[Refused]),
    ("java.net.NoRouteToHostException", &[Refused]),
    ("java.net.UnknownHostException", &[Refused]),
    ("java.net.SocketException", &[Refused, Reset]),
    ("java.net.SocketTimeoutException", &[Timeout]),
    ("java.net.http.HttpTimeoutException", &[Timeout]),
    ("java.net.http.HttpConnectTimeoutException", &[Timeout]),
    (LIMIT, &[Timeout]),
    ("org.springframework.web.client.RestClientException", CLIENTS),
    ("org.springframework.web.client.ResourceAccessException", NO_ANSWER),
    ("org.springframework.web.client.HttpStatusCodeException", ANSWERS),
    ("org.springframework.web.client.RestClientResponseException", ANSWERS),
    ("org.springframework.web.client.HttpServerErrorException", SERVER),
    ("org.springframework.web.client.HttpServerErrorException$InternalServerError", &[Internal]),
    ("org.springframework.web.client.HttpServerErrorException$BadGateway", &[Unavailable]),
    ("org.springframework.web.client.HttpServerErrorException$ServiceUnavailable", &[Unavailable, Overloaded]),
    ("org.springframework.web.client.HttpServerErrorException$GatewayTimeout", &[Deadline]),
    ("org.springframework.web.client.HttpClientErrorException", CLIENT),
    ("org.springframework.web.client.HttpClientErrorException$TooManyRequests", &[RateLimited]),
    ("org.springframework.web.client.HttpClientErrorException$BadRequest", &[Invalid]),
    ("org.springframework.web.client.HttpClientErrorException$NotFound", &[Invalid]),
    ("org.springframework.web.reactive.function.client.WebClientRequestException", NO_ANSWER),
    ("org.springframework.web.reactive.function.client.WebClientResponseException", ANSWERS),
    ("org.springframework.web.reactive.function.client.WebClientResponseException$InternalServerError", &[Internal]),
    ("org.springframework.web.reactive.function.client.WebClientResponseException$BadGateway", &[Unavailable]),
    (
        "org.springframework.web.reactive.function.client.WebClientResponseException$ServiceUnavailable",
        &[Unavailable, Overloaded],
    ),
    ("org.springframework.web.reactive.function.client.WebClientResponseException$GatewayTimeout", &[Deadline]),
    ("org.springframework.web.reactive.function.client.WebClientResponseException$TooManyRequests", &[RateLimited]),
    ("feign.RetryableException", NO_ANSWER),
    ("feign.FeignException", CLIENTS),
    ("feign.FeignException$FeignServerException", SERVER),
    ("feign.FeignException$InternalServerError", &[Internal]),
    ("feign.FeignException$BadGateway", &[Unavailable]),
    ("feign.FeignException$ServiceUnavailable", &[Unavailable, Overloaded]),
    ("feign.FeignException$GatewayTimeout", &[Deadline]),
    ("feign.FeignException$FeignClientException", CLIENT),
    ("feign.FeignException$TooManyRequests", &[RateLimited]),
    ("io.github.resilience4j.circuitbreaker.CallNotPermittedException", &[BreakerOpen]),
    ("io.github.resilience4j.bulkhead.BulkheadFullException", &[PoolTimeout]),
    ("io.github.resilience4j.ratelimiter.RequestNotPermitted", &[Throttled]),
];

/// A class with what it stands for.
type Known<'t> = (&'t str, &'static [ErrorKind]);

/// What a class stands for; none if it is not known.
fn kinds(class: &str) -> Option<&'static [ErrorKind]> {
    CLASSES.iter().find(|(name, _)| *name == class).map(|(_, kinds)| *kinds)
}

/// What some classes stand for. Where a `timeout` is what the `limit` of time throws, it is none of an HTTP client.
fn kinds_of(classes: &[Known<'_>], limit: bool) -> Vec<ErrorKind> {
    let of = |(class, kinds): &Known<'_>| {
        // One that is a timeout and nothing else is meant for that, whoever throws it.
        let is_timeout = !limit || kinds.len() == 1 || OF_LIMIT.contains(class);
        kinds.iter().copied().filter(|kind| *kind != Timeout || is_timeout).collect::<Vec<_>>()
    };
    classes.iter().flat_map(of).collect()
}

/// The classes that are listed at a key, and the list. Those that are not known are left out, visibly.
fn listed<'t>(
    layers: &mut Layers<'t>,
    key: &str,
    block: &mut Block,
    draft: &mut Draft,
) -> Option<(Vec<Known<'t>>, Field<'t>)> {
    let field = layers.field(key)?;
    let mut all = Vec::new();
    for (class, item) in texts(&field, draft) {
        match kinds(class) {
            Some(kinds) => all.push((class, kinds)),
            None => {
                let item = Field { path: format!("{} {class}", item.path), name: class, key: &item.node.place, ..item };
                draft.leave_out(block, &item, "which errors it stands for is not known");
            }
        }
    }
    Some((all, field))
}

/// Errors, and the field that says so; none if that is what happens without a word.
pub struct Errors<'t> {
    /// The errors.
    pub kinds: Vec<ErrorKind>,
    /// Where that is said.
    pub field: Option<Field<'t>>,
}

/// Those that the list at one key has, or all without one, but for those of the list at another; none if no class of
/// the list is known. `limit`: whether a time limiter ends attempts.
pub fn errors<'t>(
    layers: &mut Layers<'t>,
    (wanted, ignored): (&str, &str),
    limit: bool,
    block: &mut Block,
    draft: &mut Draft,
) -> Option<Errors<'t>> {
    let wanted = listed(layers, wanted, block, draft);
    let ignored = listed(layers, ignored, block, draft);
    if wanted.as_ref().is_some_and(|(classes, _)| classes.is_empty()) {
        return None;
    }
    // Who lists it by name has something that throws it.
    let limit = limit || wanted.iter().flat_map(|(classes, _)| classes).any(|(class, _)| *class == LIMIT);
    let of = |(classes, field): (Vec<Known<'t>>, Field<'t>)| (kinds_of(&classes, limit), Some(field));
    let (kinds, field) = wanted.map_or((ErrorKind::ALL.to_vec(), None), of);
    let (without, ignores) = ignored.map_or((Vec::new(), None), of);
    let kinds = kinds.into_iter().filter(|kind| !without.contains(kind)).collect();
    Some(Errors { kinds, field: field.or(ignores) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_there_once_and_stands_for_something() {
        for (at, (class, kinds)) in CLASSES.iter().enumerate() {
            assert!(!kinds.is_empty(), "{class}");
            assert!(!CLASSES[..at].iter().any(|(other, _)| other == class), "{class}");
        }
    }

    /// A subclass stands for nothing that its class does not.
    #[test]
    fn classes_are_parts_of_those_above_them() {
        for (class, of_class) in CLASSES {
            let Some((outer, _)) = class.split_once('$') else { continue };
            let of_outer = kinds(outer).expect("it is known");
            assert!(of_class.iter().all(|kind| of_outer.contains(kind)), "{class}");
        }
        for (class, above) in [
            ("java.net.SocketException", "java.io.IOException"),
            ("java.net.SocketTimeoutException", "java.io.IOException"),
            ("java.net.http.HttpTimeoutException", "java.io.IOException"),
            ("java.io.UncheckedIOException", "java.lang.RuntimeException"),
            ("org.springframework.web.client.RestClientException", "java.lang.RuntimeException"),
            (
                "org.springframework.web.client.ResourceAccessException",
                "org.springframework.web.client.RestClientException",
            ),
            (
                "org.springframework.web.client.RestClientResponseException",
                "org.springframework.web.client.RestClientException",
            ),
            (
                "org.springframework.web.client.HttpServerErrorException",
                "org.springframework.web.client.HttpStatusCodeException",
            ),
            ("feign.RetryableException", "feign.FeignException"),
            ("feign.FeignException", "java.lang.RuntimeException"),
        ] {
            let [of_class, of_above] = [class, above].map(|class| kinds(class).expect("it is known"));
            assert!(of_class.iter().all(|kind| of_above.contains(kind)), "{class}");
        }
    }
}
