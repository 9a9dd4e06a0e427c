//! Streams of draws that belong together: the arrivals of a client group.
//!
//! A stream is a ChaCha8 generator of its own for each (seed, replica, component, purpose), so that adding a component
//! moves no other component's draws.

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

use crate::dist::{KeyedRng, Purpose, exponential, mix};

/// The generator of a component for a purpose.
fn stream(replica_key: u64, component_key: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut seed = [0; 32];
    let Ok(()) = KeyedRng::new(mix(replica_key, component_key), purpose).try_fill_bytes(&mut seed);
    ChaCha8Rng::from_seed(seed)
}

/// A Poisson process of rate 1: ascending numbers whose gaps are exponential with the mean 1. Scaled by a rate, or bent
/// by a profile, it gives arrivals; two rates see the same process.
#[derive(Clone, Debug)]
pub struct UnitPoisson {
    rng: ChaCha8Rng,
    last: f64,
}

impl UnitPoisson {
    /// The process of a client group in a replica, from the point `start` on. It has no memory: nothing before that
    /// needs to be drawn.
    pub fn new(replica_key: u64, group_key: u64, start: f64) -> Self {
        Self { rng: stream(replica_key, group_key, Purpose::Arrivals), last: start }
    }

    /// Its next point.
    #[inline]
    pub fn next_point(&mut self) -> f64 {
        self.last += exponential(self.rng.next_u64());
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{name_key, replica_key};

    /// Part of what a seed means. Computed by a separate program (ChaCha with 8 rounds and `log1p`, in Python).
    #[test]
    fn golden_pins() {
        let mut process = UnitPoisson::new(replica_key(42, 0), name_key("users"), 0.0);
        let points: Vec<u64> = (0..3).map(|_| process.next_point().to_bits()).collect();
        assert_eq!(points, [0x3fec_5cd6_600d_ea10, 0x3ff6_8f9e_e184_c3a0, 0x3ffb_417a_87f7_f032]);
    }

    /// 100,000 gaps of an exponential with the mean 1: the mean has a standard deviation of 0.0032, the share above 1
    /// (1/e = 0.3679) one of 0.0015. Four of each.
    #[test]
    fn gaps_are_exponential() {
        const N: u32 = 100_000;
        let mut process = UnitPoisson::new(1, 2, 0.0);
        let (mut last, mut long) = (0.0, 0);
        for _ in 0..N {
            let point = process.next_point();
            long += u32::from(point - last > 1.0);
            last = point;
        }
        let (mean, share) = (last / f64::from(N), f64::from(long) / f64::from(N));
        assert!((mean - 1.0).abs() < 0.0127, "{mean}");
        assert!((share - 0.367_879).abs() < 0.0061, "{share}");
    }

    #[test]
    fn replicas_and_groups_have_streams_of_their_own() {
        let first = |replica, group| UnitPoisson::new(replica_key(1, replica), name_key(group), 0.0).next_point();
        assert_ne!(first(0, "a"), first(1, "a"));
        assert_ne!(first(0, "a"), first(0, "b"));
    }
}
