//! What a client makes of a server's word on when to try again (`Retry-After`, RFC 9110, 10.2.3).

use crate::dist::{Dist, Purpose};
use crate::time::Span;

/// How a server's delay and the wait of the own backoff become one.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerDelay {
    /// The rule.
    pub rule: DelayRule,
    /// Added to the server's delay, drawn for each attempt.
    pub jitter: Dist,
    /// The longest delay that is taken from a server, before the jitter; [`Span::UNLIMITED`] for any.
    pub at_most: Span,
    /// What becomes of a longer one.
    pub beyond: Beyond,
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
}

impl ServerDelay {
    /// Pays no attention to servers.
    pub const IGNORE: Self =
        Self { rule: DelayRule::Ignore, jitter: Dist::ZERO, at_most: Span::UNLIMITED, beyond: Beyond::Clamp };

    /// Whether a call is not tried again because the server asks it to wait this long.
    pub fn refuses(&self, server: Span) -> bool {
        self.rule != DelayRule::Ignore && self.beyond == Beyond::Stop && server > self.at_most
    }

    /// The wait before the next attempt, after an attempt with this key whose error carried the delay `server`, where
    /// the backoff alone would wait `own`.
    pub fn wait(&self, server: Span, own: Span, key: u64) -> Span {
        let server = || server.min(self.at_most) + self.jitter.sample(key, Purpose::ServerDelay);
        match self.rule {
            DelayRule::Ignore => own,
            DelayRule::Floor => own.max(server()),
            DelayRule::Replace => server(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_s(rule: DelayRule, beyond: Beyond, server: u64, own: u64) -> Option<u64> {
        let delay = ServerDelay { rule, jitter: Dist::ZERO, at_most: Span::from_s(60), beyond };
        let server = Span::from_s(server);
        (!delay.refuses(server)).then(|| delay.wait(server, Span::from_s(own), 1).as_ns() / 1_000_000_000)
    }

    #[test]
    fn rules_differ_where_the_waits_do() {
        use {Beyond::*, DelayRule::*};
        assert_eq!([30, 5].map(|own| wait_s(Floor, Clamp, 10, own)), [Some(30), Some(10)]);
        assert_eq!([30, 5].map(|own| wait_s(Replace, Clamp, 10, own)), [Some(10), Some(10)]);
        assert_eq!([30, 5].map(|own| wait_s(Ignore, Stop, 100, own)), [Some(30), Some(5)]);
        assert_eq!([60, 61].map(|server| wait_s(Replace, Stop, server, 0)), [Some(60), None]);
        assert_eq!(wait_s(Floor, Clamp, 100, 0), Some(60));
    }

    /// Jitter comes on top of what the server says: nobody is earlier.
    #[test]
    fn jitter_spreads_upwards() {
        let jitter = Dist::Uniform { min: Span::ZERO, values: 6_000_000_000, step: Span::from_ns(1) };
        let delay = ServerDelay { rule: DelayRule::Replace, jitter, at_most: Span::UNLIMITED, beyond: Beyond::Clamp };
        let waits: Vec<u64> = (0..1_000).map(|key| delay.wait(Span::from_s(60), Span::ZERO, key).as_ns()).collect();
        let (least, most) = (waits.iter().min().unwrap() / 10_000_000, waits.iter().max().unwrap() / 10_000_000);
        assert!((6_000..6_010).contains(&least) && (6_590..6_600).contains(&most), "{least} {most}");
    }
}
