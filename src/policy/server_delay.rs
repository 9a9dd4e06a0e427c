//! What a client makes of a server's word on when to try again (`Retry-After`, RFC 9110, 10.2.3).

use crate::dist::Purpose;
use crate::policy::Jitter;
use crate::time::Span;

/// How a server's delay and the wait of the own backoff become one.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerDelay {
    /// The rule.
    pub rule: DelayRule,
    /// What becomes of the server's delay, drawn for each attempt.
    pub jitter: Jitter,
    /// The longest delay that is taken from a server, before the jitter; [`Span::UNLIMITED`] for any.
    pub at_most: Span,
    /// What becomes of a longer one.
    pub beyond: Beyond,
    /// The wait is at most this much longer than that of the own backoff; [`Span::UNLIMITED`] for any.
    pub over_own: Span,
    /// Whether a call is not tried again after an error without a delay that is taken.
    pub required: bool,
}

/// How the two waits become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayRule {
    /// The server's is not looked at.
    Ignore,
    /// The longer of the two.
    Floor,
    /// The server's.
    Replace,
}

/// What becomes of a server's delay that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It is cut.
    Clamp,
    /// The call is not tried again.
    Stop,
    /// It is as if the server had not said it.
    Ignore,
}

impl ServerDelay {
    /// Pays no attention to servers.
    pub const IGNORE: Self = Self {
        rule: DelayRule::Ignore,
        jitter: Jitter::None,
        at_most: Span::UNLIMITED,
        beyond: Beyond::Clamp,
        over_own: Span::UNLIMITED,
        required: false,
    };

    /// Whether a call is not tried again after an error that says this, or nothing.
    #[inline]
    pub fn forbids(&self, said: Option<Span>) -> bool {
        match said {
            None => self.required,
            Some(delay) => self.refuses(delay) || self.required && self.taken(delay).is_none(),
        }
    }

    /// Whether a call is not tried again because the server asks it to wait this long.
    pub fn refuses(&self, server: Span) -> bool {
        self.rule != DelayRule::Ignore && self.beyond == Beyond::Stop && server > self.at_most
    }

    /// As how long a delay is taken that a server asks for, before the jitter; none if the own backoff alone counts.
    pub fn taken(&self, server: Span) -> Option<Span> {
        let is_ignored = self.rule == DelayRule::Ignore || self.beyond == Beyond::Ignore && server > self.at_most;
        (!is_ignored).then_some(server.min(self.at_most))
    }

    /// The wait before the next attempt, after an attempt with this key whose error carried the delay `server`, where
    /// the backoff alone would wait `own`.
    pub fn wait(&self, server: Span, own: Span, key: u64) -> Span {
        let Some(taken) = self.taken(server) else { return own };
        let server = self.jitter.apply(taken, key, Purpose::ServerDelay);
        let wait = match self.rule {
            DelayRule::Floor => own.max(server),
            DelayRule::Ignore | DelayRule::Replace => server,
        };
        wait.min(own + self.over_own)
    }
}

#[cfg(test)]
mod tests;
