//! Keyed draws: a random number is a function of *what it is for*, not of when it is asked for.
//!
//! Every piece of work has a 64-bit key, mixed from the key of the work that caused it. A draw mixes that
//! key with its purpose. So variants of one scenario meet the same luck wherever they do the same thing
//! (common random numbers), and nothing depends on the interleaving of events or on the number of threads.

use std::convert::Infallible;

use rand::TryRng;

/// What a draw is for; part of its key, so that two purposes never share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Which of its weighted calls a request makes.
    Choice = 1,
    /// The wait after a failed attempt.
    Backoff = 2,
    /// The service time of an attempt.
    Service = 3,
    /// The time until a fault returns its error.
    FaultDelay = 4,
    /// Whether a fault strikes; mixed with the fault's key as well.
    Fault = 5,
    /// Whether a call is made at all.
    Made = 6,
    /// The time of a request on its way.
    Request = 7,
    /// The time of an answer on its way.
    Response = 8,
    /// The time between the end of a client's request and its next one.
    Think = 9,
    /// The time of a client's first periodic request.
    Offset = 10,
    /// The gaps between the arrivals of a group.
    Arrivals = 11,
    /// Which server an attempt goes to.
    Server = 12,
    /// Which other server is compared with that.
    OtherServer = 13,
    /// How long it is good before a window of a fault.
    Up = 14,
    /// How long a window of a fault lasts.
    Down = 15,
    /// Whether an attempt shares the draw of its epoch; mixed with the fault's key as well.
    Shares = 16,
    /// Whether a fault strikes in an epoch.
    Epoch = 17,
    /// What a client adds to a server's delay.
    ServerDelay = 18,
    /// Whether a message is lost; mixed with the fault's key as well.
    Loss = 19,
    /// Whether a throttle holds an attempt back.
    Throttle = 20,
    /// How long a breaker is open.
    Open = 21,
}

/// Stafford's variant 13 of the 64-bit finaliser of MurmurHash3 ("Better Bit Mixing", 2011): a bijection in
/// which every input bit flips every output bit with a probability close to one half.
const fn finalise(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The odd number nearest to 2^64 divided by the golden ratio: neighbouring multiples lie far apart.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Derives the key of a part from the key of the whole. A bijection in each argument while the other is held,
/// so that neither the parts of one whole nor the same part of different wholes can collide.
#[must_use]
pub const fn mix(whole: u64, part: u64) -> u64 {
    // The first round keeps structured wholes (small seeds, neighbouring indices) from cancelling against
    // structured parts; without it (0, 1) and (GOLDEN, 0) would meet.
    finalise(finalise(whole ^ GOLDEN).wrapping_add(part.wrapping_mul(GOLDEN)))
}

/// The draw of `key` for `purpose`: uniform over all 64-bit numbers.
#[must_use]
// A few instructions; with many callers it would become a call.
#[inline(always)]
pub const fn draw(key: u64, purpose: Purpose) -> u64 {
    mix(key, purpose as u64)
}

/// The key of a name. Stable: it decides what a seed means, and is pinned by a test.
#[must_use]
pub const fn name_key(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut key = bytes.len() as u64;
    let mut i = 0;
    while i < bytes.len() {
        key = mix(key, bytes[i] as u64);
        i += 1;
    }
    key
}

/// The key of a client of a group.
#[must_use]
pub const fn client_key(replica_key: u64, group_key: u64, client: u32) -> u64 {
    mix(mix(replica_key, group_key), client as u64)
}

/// The key of a client's request: the root from which its whole tree of attempts is derived.
#[must_use]
pub const fn request_key(replica_key: u64, group_key: u64, client: u32, ordinal: u64) -> u64 {
    mix(client_key(replica_key, group_key, client), ordinal)
}

/// The key of a replica of a scenario.
#[must_use]
pub const fn replica_key(seed: u64, replica: u32) -> u64 {
    mix(seed, replica as u64)
}

/// The key of a logical call that work with the key `caller` makes. `copy` numbers the parallel copies of a call from
/// 0.
#[must_use]
pub const fn call_key(caller: u64, call: u64, copy: u32) -> u64 {
    mix(mix(caller, call), copy as u64)
}

/// The key of an attempt of a call; attempts count from 1, hedges from 1 with 0 for the attempt itself.
#[must_use]
pub const fn attempt_key(call: u64, attempt: u32, hedge: u32) -> u64 {
    mix(call, (attempt as u64) << 32 | hedge as u64)
}

/// The integer part of `range * draw / 2^64`: uniform over `0..range`, by multiplication instead of division.
/// The bias is below `range` / 2^64.
#[must_use]
pub const fn below(draw: u64, range: u64) -> u64 {
    ((draw as u128 * range as u128) >> 64) as u64
}

/// The draw as a number in [0, 1), with 53 random bits.
#[must_use]
pub const fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A probability in [0, 1] as a bound for draws in units of 2^-64, see [`happens`].
#[must_use]
pub fn probability(p: f64) -> u64 {
    // 2^64 p; the cast saturates, so that 1 becomes the largest bound, which `happens` takes as "always".
    (p * 18_446_744_073_709_551_616.0) as u64
}

/// Whether an event of the probability `bound` (see [`probability`]) happens at this draw.
#[must_use]
pub const fn happens(draw: u64, bound: u64) -> bool {
    draw < bound || bound == u64::MAX
}

/// A generator over one key, for samplers that may need several numbers: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct KeyedRng(u64);

impl KeyedRng {
    /// The generator of `key` for `purpose`.
    pub const fn new(key: u64, purpose: Purpose) -> Self {
        Self(draw(key, purpose))
    }
}

impl TryRng for KeyedRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|x| (x >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(GOLDEN);
        Ok(finalise(self.0))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let Ok(word) = self.try_next_u64();
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The streams are part of what a seed means: if a pin moves, every published figure of one seed moves with it.
    /// The pins were computed by a separate implementation of the formulas above (Python integers).
    #[test]
    fn golden_pins() {
        assert_eq!(mix(0, 0), 0x4821_8226_ff3c_d4bf);
        assert_eq!(mix(42, 1), 0x57e1_faba_6510_7204);
        assert_eq!(name_key("gateway"), 0xab41_c17e_6e42_0275);
        let request = request_key(replica_key(42, 0), name_key("users"), 7, 0);
        assert_eq!(request, 0x5b1a_a4e4_d04f_3444);
        let attempt = attempt_key(call_key(request, name_key("gateway"), 0), 2, 0);
        assert_eq!(attempt, 0x2639_8956_f1e1_82be);
        let mut rng = KeyedRng::new(attempt, Purpose::Service);
        let words: Vec<u64> = (0..2).map(|_| rng.try_next_u64().unwrap()).collect();
        assert_eq!(words, [0x91d6_0b5f_6a81_5966, 0x7d43_9fe6_fb0b_2be3]);
    }

    /// Over 4,096 keys each of the 128 input bits flips each of the 64 output bits. A count is binomial with mean
    /// 2,048 and standard deviation 32; the largest of 8,192 counts is expected near 4 sigma, so 6 sigma (chance
    /// about 2e-5 for a perfect mixer, and the inputs are fixed) separates a mixer from one that leaks a bit.
    #[test]
    fn every_input_bit_flips_every_output_bit_half_of_the_time() {
        const KEYS: u64 = 4096;
        for bit in 0..128 {
            let mut flips = [0u32; 64];
            for n in 0..KEYS {
                // Structured inputs on purpose: small wholes and small parts are what the simulator mixes.
                let (whole, part) = (n / 64, n % 64);
                let (other_whole, other_part) =
                    if bit < 64 { (whole ^ 1 << bit, part) } else { (whole, part ^ 1 << (bit - 64)) };
                let changed = mix(whole, part) ^ mix(other_whole, other_part);
                for (out, count) in flips.iter_mut().enumerate() {
                    *count += (changed >> out & 1) as u32;
                }
            }
            for (out, &count) in flips.iter().enumerate() {
                assert!((1856..=2240).contains(&count), "input bit {bit}, output bit {out}: {count} of {KEYS} flipped");
            }
        }
    }

    /// Chi-square over 256 cells with 2^18 draws of neighbouring keys, top and bottom byte. With 255 degrees of
    /// freedom the 0.001 and 0.999 quantiles are 190.9 and 330.5.
    #[test]
    fn draws_of_neighbouring_keys_are_uniform() {
        const DRAWS: u64 = 1 << 18;
        for purpose in [Purpose::Choice, Purpose::Backoff, Purpose::Service] {
            for shift in [0, 56] {
                let mut cells = [0u64; 256];
                for n in 0..DRAWS {
                    let key = attempt_key(call_key(request_key(1, 2, (n >> 2) as u32, 0), 3, 0), (n & 3) as u32 + 1, 0);
                    cells[(draw(key, purpose) >> shift & 255) as usize] += 1;
                }
                let expected = DRAWS as f64 / 256.0;
                let chi_square: f64 = cells
                    .iter()
                    .map(|&n| n as f64 - expected)
                    .map(|difference| difference * difference / expected)
                    .sum();
                assert!((190.9..330.5).contains(&chi_square), "{purpose:?} at bit {shift}: {chi_square}");
            }
        }
    }

    /// Draws of neighbours are uncorrelated: over 2^18 pairs the sample correlation has a standard deviation of
    /// 2^-9, so that 4 sigma is 0.0078.
    #[test]
    fn neighbouring_keys_are_uncorrelated() {
        const PAIRS: u64 = 1 << 18;
        let sum: f64 = (0..PAIRS)
            .map(|n| {
                let left = unit(draw(mix(9, n), Purpose::Backoff)) - 0.5;
                let right = unit(draw(mix(9, n + 1), Purpose::Backoff)) - 0.5;
                left * right
            })
            .sum();
        let correlation = sum / PAIRS as f64 * 12.0;
        assert!(correlation.abs() < 0.0078, "{correlation}");
    }

    #[test]
    fn probabilities_keep_their_ends() {
        assert!(!happens(0, probability(0.0)));
        assert!(happens(u64::MAX, probability(1.0)));
        assert!(happens((1 << 63) - 1, probability(0.5)));
        assert!(!happens(1 << 63, probability(0.5)));
    }

    #[test]
    fn below_reaches_both_ends_and_no_further() {
        assert_eq!(below(0, 10), 0);
        assert_eq!(below(u64::MAX, 10), 9);
        assert_eq!(below(u64::MAX, 0), 0);
    }
}
