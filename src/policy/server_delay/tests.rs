//! What servers say and what is made of it.

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
