//! The statuses with which services answer over HTTP, and the errors of a scenario that they are.

use crate::failure::ErrorKind;

/// The status with which a service answers an attempt that fails so; none if that is no answer of a service, but what
/// its caller meets on the way there and back.
pub const fn answer(kind: ErrorKind) -> Option<u16> {
    match kind {
        ErrorKind::Unavailable | ErrorKind::Overloaded => Some(503),
        ErrorKind::RateLimited => Some(429),
        ErrorKind::Deadline => Some(504),
        ErrorKind::Internal => Some(500),
        ErrorKind::Invalid => Some(400),
        ErrorKind::Refused
        | ErrorKind::Reset
        | ErrorKind::Timeout
        | ErrorKind::BreakerOpen
        | ErrorKind::Throttled
        | ErrorKind::PoolTimeout => None,
    }
}

/// The status that a proxy makes of an error for whoever called it: its own, where there was no answer.
pub fn through_proxy(kind: ErrorKind) -> u16 {
    answer(kind).unwrap_or(if kind == ErrorKind::Timeout { 504 } else { 503 })
}

/// The errors that are answers with one of the statuses of which `is` says so.
pub fn answered(is: impl Fn(u16) -> bool) -> Vec<ErrorKind> {
    let fits =
        |kind: &ErrorKind| answer(*kind).is_some_and(&is) || (*kind == ErrorKind::Unavailable && is(BAD_GATEWAY));
    ErrorKind::ALL.iter().copied().filter(fits).collect()
}

/// With this a proxy in between says that the service is not there: it is `unavailable`, as 503 is.
const BAD_GATEWAY: u16 = 502;

/// A status; `must_be` says so if it is none.
pub fn parse(text: &str) -> Result<u16, String> {
    let status = text.parse().ok().filter(|status| (100..600).contains(status));
    status.ok_or_else(|| "a status of HTTP, from 100 to 599".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a proxy says on its own, for want of an answer, is no status that a service has answered with.
    #[test]
    fn only_answers_have_a_status() {
        let names = |kinds: Vec<ErrorKind>| kinds.into_iter().map(ErrorKind::name).collect::<Vec<_>>();
        assert_eq!(names(answered(|status| status == 503)), ["unavailable", "overloaded"]);
        assert_eq!(names(answered(|status| status >= 500)), ["unavailable", "overloaded", "deadline", "internal"]);
        assert_eq!(names(answered(|status| status == 502)), ["unavailable"]);
        assert!(answered(|status| status == 507).is_empty());
        let own = [ErrorKind::Refused, ErrorKind::Reset, ErrorKind::Timeout].map(through_proxy);
        assert_eq!(own, [503, 503, 504]);
    }
}
