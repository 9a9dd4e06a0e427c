//! Classes of exceptions as the errors of a scenario.

use crate::failure::ErrorKind::{
    self, BreakerOpen, Internal, Invalid, Overloaded, PoolTimeout, RateLimited, Refused, Reset, Throttled, Timeout,
    Unavailable,
};
use crate::import::draft::{Block, Draft};
use crate::import::resilience4j::module::{Layers, texts};
use crate::import::section::Field;

/// A server's answers of the kind 5xx.
const SERVER: &[ErrorKind] = &[Unavailable, Overloaded, Internal];
/// A server's answers of the kind 4xx.
const CLIENT: &[ErrorKind] = &[RateLimited, Invalid];
/// Answers of any kind.
const ANSWERS: &[ErrorKind] = &[Unavailable, Overloaded, Internal, RateLimited, Invalid];
/// No answer: nobody there, a broken connection, or a timeout of the HTTP client.
const NO_ANSWER: &[ErrorKind] = &[Refused, Reset, Timeout];
/// Everything but that the time limiter ends an attempt, which is a checked exception.
const RUNTIME: &[ErrorKind] =
    &[Unavailable, Refused, Reset, Overloaded, RateLimited, Internal, Invalid, BreakerOpen, Throttled, PoolTimeout];

/// What each class stands for, subclasses included.
const CLASSES: &[(&str, &[ErrorKind])] = &[
    ("java.lang.Throwable", ErrorKind::ALL),
    ("java.lang.Exception", ErrorKind::ALL),
    ("java.lang.RuntimeException", RUNTIME),
    ("java.io.IOException", &[Refused, Reset]),
    ("java.io.UncheckedIOException", &[Refused, Reset]),
    ("java.io.EOFException", &[Reset]),
    ("java.net.ConnectException", &[Refused]),
    ("java.net.NoRouteToHostException", &[Refused]),
    ("java.net.UnknownHostException", &[Refused]),
    ("java.net.SocketException", &[Refused, Reset]),
    ("java.net.SocketTimeoutException", &[Timeout]),
    ("java.net.http.HttpTimeoutException", &[Timeout]),
    ("java.net.http.HttpConnectTimeoutException", &[Timeout]),
    ("java.util.concurrent.TimeoutException", &[Timeout]),
    (
        "org.springframework.web.client.RestClientException",
        &[Unavailable, Refused, Reset, Overloaded, RateLimited, Timeout, Internal, Invalid],
    ),
    ("org.springframework.web.client.ResourceAccessException", NO_ANSWER),
    ("org.springframework.web.client.HttpStatusCodeException", ANSWERS),
    ("org.springframework.web.client.RestClientResponseException", ANSWERS),
    ("org.springframework.web.client.HttpServerErrorException", SERVER),
    ("org.springframework.web.client.HttpServerErrorException$InternalServerError", &[Internal]),
    ("org.springframework.web.client.HttpServerErrorException$BadGateway", &[Unavailable]),
    ("org.springframework.web.client.HttpServerErrorException$ServiceUnavailable", &[Unavailable, Overloaded]),
    ("org.springframework.web.client.HttpServerErrorException$GatewayTimeout", &[Unavailable]),
    ("org.springframework.web.client.HttpClientErrorException", CLIENT),
    ("org.springframework.web.client.HttpClientErrorException$TooManyRequests", &[RateLimited]),
    ("org.springframework.web.client.HttpClientErrorException$BadRequest", &[Invalid]),
    ("org.springframework.web.client.HttpClientErrorException$NotFound", &[Invalid]),
    ("org.springframework.web.reactive.function.client.WebClientRequestException", NO_ANSWER),
    ("org.springframework.web.reactive.function.client.WebClientResponseException", ANSWERS),
    ("org.springframework.web.reactive.function.client.WebClientResponseException$InternalServerError", &[Internal]),
    (
        "org.springframework.web.reactive.function.client.WebClientResponseException$ServiceUnavailable",
        &[Unavailable, Overloaded],
    ),
    ("org.springframework.web.reactive.function.client.WebClientResponseException$TooManyRequests", &[RateLimited]),
    ("feign.RetryableException", NO_ANSWER),
    ("feign.FeignException", ANSWERS),
    ("feign.FeignException$FeignServerException", SERVER),
    ("feign.FeignException$InternalServerError", &[Internal]),
    ("feign.FeignException$ServiceUnavailable", &[Unavailable, Overloaded]),
    ("feign.FeignException$FeignClientException", CLIENT),
    ("feign.FeignException$TooManyRequests", &[RateLimited]),
    ("io.github.resilience4j.circuitbreaker.CallNotPermittedException", &[BreakerOpen]),
    ("io.github.resilience4j.bulkhead.BulkheadFullException", &[PoolTimeout]),
    ("io.github.resilience4j.ratelimiter.RequestNotPermitted", &[Throttled]),
];

/// What a class stands for; none if it is not known.
fn kinds(class: &str) -> Option<&'static [ErrorKind]> {
    CLASSES.iter().find(|(name, _)| *name == class).map(|(_, kinds)| *kinds)
}

/// The errors that are listed at a key, and the list. Classes that are not known are left out, visibly.
fn listed<'t>(
    layers: &mut Layers<'t>,
    key: &str,
    block: &mut Block,
    draft: &mut Draft,
) -> Option<(Vec<ErrorKind>, Field<'t>)> {
    let field = layers.field(key)?;
    let mut all = Vec::new();
    for (class, item) in texts(&field, draft) {
        match kinds(class) {
            Some(kinds) => all.extend(kinds),
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
/// the list is known.
pub fn errors<'t>(
    layers: &mut Layers<'t>,
    (wanted, ignored): (&str, &str),
    block: &mut Block,
    draft: &mut Draft,
) -> Option<Errors<'t>> {
    let wanted = listed(layers, wanted, block, draft);
    let ignored = listed(layers, ignored, block, draft);
    if wanted.as_ref().is_some_and(|(kinds, _)| kinds.is_empty()) {
        return None;
    }
    let (kinds, field) = wanted.map_or((ErrorKind::ALL.to_vec(), None), |(kinds, field)| (kinds, Some(field)));
    let (without, ignores) = ignored.map_or((Vec::new(), None), |(kinds, field)| (kinds, Some(field)));
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
    fn nested_classes_are_parts_of_those_around_them() {
        for (class, of_class) in CLASSES {
            let Some((outer, _)) = class.split_once('$') else { continue };
            let of_outer = kinds(outer).expect("it is known");
            assert!(of_class.iter().all(|kind| of_outer.contains(kind)), "{class}");
        }
    }
}
