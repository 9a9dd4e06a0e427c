//! What servers say and what is made of it.

use super::*;
use crate::dist::Dist;

/// A minute at most.
fn minding(rule: DelayRule, beyond: Beyond) -> ServerDelay {
    ServerDelay { rule, at_most: Span::from_s(60), beyond, ..ServerDelay::IGNORE }
}

/// The wait after such a delay, in whole seconds; none if the call is not tried again.
fn wait_s(delay: &ServerDelay, server: u64, own: u64) -> Option<u64> {
    let server = Span::from_s(server);
    (!delay.forbids(Some(server))).then(|| delay.wait(server, Span::from_s(own), 1).as_ns() / 1_000_000_000)
}

#[test]
fn rules_differ_where_the_waits_do() {
    let by = |rule, beyond, server, own| wait_s(&minding(rule, beyond), server, own);
    let [floor, replace, ignore] = [DelayRule::Floor, DelayRule::Replace, DelayRule::Ignore];
    assert_eq!([30, 5].map(|own| by(floor, Beyond::Clamp, 10, own)), [Some(30), Some(10)]);
    assert_eq!([30, 5].map(|own| by(replace, Beyond::Clamp, 10, own)), [Some(10), Some(10)]);
    assert_eq!([30, 5].map(|own| by(ignore, Beyond::Stop, 100, own)), [Some(30), Some(5)]);
    assert_eq!([60, 61].map(|server| by(replace, Beyond::Stop, server, 0)), [Some(60), None]);
    assert_eq!(by(floor, Beyond::Clamp, 100, 0), Some(60));
}

/// Jitter comes on top of what the server says: nobody is earlier.
#[test]
fn jitter_spreads_upwards() {
    let waits = |jitter: Jitter| {
        let delay = ServerDelay { rule: DelayRule::Replace, jitter, ..ServerDelay::IGNORE };
        let waits: Vec<u64> = (0..1_000).map(|key| delay.wait(Span::from_s(60), Span::ZERO, key).as_ns()).collect();
        [waits.iter().min(), waits.iter().max()].map(|wait| wait.unwrap() / 10_000_000)
    };
    let [least, most] =
        waits(Jitter::Add(Dist::Uniform { min: Span::ZERO, values: 6_000_000_000, step: Span::from_ns(1) }));
    assert!((6_000..6_010).contains(&least) && (6_590..6_600).contains(&most), "{least} {most}");
    let [least, most] = waits(Jitter::Upward(0.5));
    assert!((6_000..6_050).contains(&least) && (8_950..9_000).contains(&most), "{least} {most}");
}

/// Envoy's rate-limited backoff: a reset header of x makes a wait in [x, 1.5 x), in place of the backoff, and one of
/// more than 300 s is not looked at.
#[test]
fn envoy_passes_over_what_is_longer_than_five_minutes() {
    let envoy = ServerDelay {
        rule: DelayRule::Replace,
        jitter: Jitter::Upward(0.5),
        at_most: Span::from_s(300),
        beyond: Beyond::Ignore,
        ..ServerDelay::IGNORE
    };
    for key in 0..1_000 {
        let wait = |server| envoy.wait(Span::from_s(server), Span::from_ms(25), key);
        assert!((Span::from_s(300)..Span::from_s(450)).contains(&wait(300)), "{:?}", wait(300));
        assert_eq!(wait(301), Span::from_ms(25));
    }
    assert!([None, Some(301)].iter().all(|said| !envoy.forbids(said.map(Span::from_s))));
}

/// Retry behaviour 2.1 of the AWS SDKs: what the server says, but within [t, t + 5 s], where t is the own backoff.
#[test]
fn aws_clamps_what_a_server_says() {
    let aws = ServerDelay { rule: DelayRule::Floor, over_own: Span::from_s(5), ..ServerDelay::IGNORE };
    assert_eq!([0, 1, 4, 6, 7, 3_600].map(|server| wait_s(&aws, server, 1)), [1, 1, 4, 6, 6, 6].map(Some));
    // A delay in the place of the backoff has the same ceiling and no floor.
    let replacing = ServerDelay { rule: DelayRule::Replace, ..aws };
    assert_eq!([0, 4, 7].map(|server| wait_s(&replacing, server, 1)), [0, 4, 6].map(Some));
}

/// client-go tries again only if the server says when; what it does not listen to is not said.
#[test]
fn who_requires_a_delay_needs_one_that_is_taken() {
    let requiring = |rule, beyond| ServerDelay { required: true, ..minding(rule, beyond) };
    let forbids = |delay: ServerDelay| [None, Some(60), Some(61)].map(|said| delay.forbids(said.map(Span::from_s)));
    assert_eq!(forbids(requiring(DelayRule::Replace, Beyond::Clamp)), [true, false, false]);
    assert_eq!(forbids(requiring(DelayRule::Replace, Beyond::Stop)), [true, false, true]);
    assert_eq!(forbids(requiring(DelayRule::Floor, Beyond::Ignore)), [true, false, true]);
    assert_eq!(forbids(requiring(DelayRule::Ignore, Beyond::Clamp)), [true; 3]);
    assert_eq!(forbids(minding(DelayRule::Floor, Beyond::Stop)), [false, false, true]);
}
