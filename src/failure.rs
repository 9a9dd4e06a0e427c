//! How attempts fail, why calls stop, and who turns attempts away: closed lists that every layer shares.

use std::fmt;

macro_rules! named_list {
    ($(#[$list_doc:meta])* $list:ident, $count:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$list_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $list { $($(#[$doc])* $variant,)+ }

        /// How many there are.
        pub const $count: usize = $list::ALL.len();

        impl $list {
            /// Every one of them, in the order in which they are numbered.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in scenario files and in metric names.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl fmt::Display for $list {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named_list! {
    /// How an attempt, or a call as a whole, failed.
    ErrorKind, ERROR_KINDS {
        /// The callee said that it cannot serve now (HTTP 503, gRPC `UNAVAILABLE`).
        Unavailable = "unavailable",
        /// Turned away at the door, before any work.
        Refused = "refused",
        /// The connection broke while the attempt was under way.
        Reset = "reset",
        /// Shed by the callee: queue full or too much in flight.
        Overloaded = "overloaded",
        /// Above a rate limit (HTTP 429); may carry a Retry-After.
        RateLimited = "rate_limited",
        /// The attempt's own timeout passed without an answer.
        Timeout = "timeout",
        /// The total timeout of the call, or a deadline inherited from its caller, passed.
        Deadline = "deadline",
        /// A deterministic fault of the callee: the same request fails again.
        Internal = "internal",
        /// The request itself is wrong: the same request fails again.
        Invalid = "invalid",
        /// Refused by the caller's own circuit breaker; nothing was sent.
        BreakerOpen = "breaker_open",
        /// Refused by the caller's own throttle; nothing was sent.
        Throttled = "throttled",
        /// No connection became free in time; nothing was sent.
        PoolTimeout = "pool_timeout",
    }
}

named_list! {
    /// Why a failed call was not tried again.
    StopReason, STOP_REASONS {
        /// Its error is not in the policy's `retry_on`, or the server asks for a longer wait than the policy grants, or
        /// does not say when to come back and the policy requires that.
        NotRetryable = "not_retryable",
        /// All allowed attempts were made.
        Exhausted = "exhausted",
        /// The retry budget refused.
        Budget = "budget",
        /// The deadline passed, or the wait and the shortest useful attempt did not fit into what was left of it, or
        /// the wait would have ended later than the policy's `max_elapsed`.
        Deadline = "deadline",
        /// The caller had given up, as far as this call could know.
        CallerGone = "caller_gone",
    }
}

named_list! {
    /// What turned an attempt away at the door of a service: the first of these that does, in this order.
    Refusal, REFUSALS {
        /// A fault: `refuse`, or a crash that is not over.
        Fault = "fault",
        /// The server's limiter.
        Limiter = "limiter",
        /// As many were in progress at the service as its `max_in_flight`.
        InFlight = "in_flight",
        /// All workers of the server were taken, and its queue was full.
        Queue = "queue",
    }
}

impl Refusal {
    /// What the caller is told.
    pub const fn error(self) -> ErrorKind {
        match self {
            Self::Fault => ErrorKind::Refused,
            Self::Limiter => ErrorKind::RateLimited,
            Self::InFlight | Self::Queue => ErrorKind::Overloaded,
        }
    }
}

/// A set of error kinds, such as a policy's `retry_on`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorSet(u16);

impl ErrorSet {
    /// The default `retry_on`: what may well pass on a second try.
    pub const RETRYABLE: Self = Self::EMPTY
        .with(ErrorKind::Unavailable)
        .with(ErrorKind::Refused)
        .with(ErrorKind::Timeout)
        .with(ErrorKind::Reset)
        .with(ErrorKind::Overloaded)
        .with(ErrorKind::RateLimited);
    /// What counts against a callee: every error but that the request itself is wrong. An answer may tell of a breaker,
    /// throttle or pool, too: of the callee's own.
    pub const FAILURES: Self = Self::RETRYABLE
        .with(ErrorKind::Deadline)
        .with(ErrorKind::Internal)
        .with(ErrorKind::BreakerOpen)
        .with(ErrorKind::Throttled)
        .with(ErrorKind::PoolTimeout);
    /// What says that too much is asked for, by whoever: the callee's limiter, or a throttle.
    pub const THROTTLING: Self = Self::EMPTY.with(ErrorKind::RateLimited).with(ErrorKind::Throttled);
    /// No kind.
    pub const EMPTY: Self = Self(0);

    /// This set and `kind`.
    #[must_use]
    pub const fn with(self, kind: ErrorKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `kind` is in the set.
    pub const fn contains(self, kind: ErrorKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }
}

impl FromIterator<ErrorKind> for ErrorSet {
    fn from_iter<I: IntoIterator<Item = ErrorKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_one_bit_of_a_set() {
        for &kind in ErrorKind::ALL {
            let alone = ErrorSet::EMPTY.with(kind);
            for &other in ErrorKind::ALL {
                assert_eq!(alone.contains(other), other == kind, "{kind} against {other}");
            }
        }
    }

    #[test]
    fn deterministic_and_local_errors_are_not_retried_by_default() {
        let retried: Vec<_> =
            ErrorKind::ALL.iter().filter(|&&kind| ErrorSet::RETRYABLE.contains(kind)).map(|kind| kind.name()).collect();
        assert_eq!(retried, ["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout"]);
    }
}
