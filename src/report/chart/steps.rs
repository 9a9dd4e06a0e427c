//! A series as steps: its buckets gathered so that none is narrower than a pixel.

use crate::experiment::BucketMeans;

/// A stretch of buckets and the largest value in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// First bucket.
    pub from: u64,
    /// The bucket after the last.
    pub until: u64,
    /// The largest value of its buckets; above zero.
    pub value: f64,
}

/// Gathers `width` buckets into each step. The largest value stands for them: peaks are what a storm is looked at for.
/// Steps of nothing but zeros are left out.
pub(super) fn steps(buckets: &[BucketMeans], width: u64, value: fn(&BucketMeans) -> f64) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for bucket in buckets.iter().filter(|bucket| value(bucket) > 0.0) {
        let from = bucket.index / width * width;
        let value = value(bucket);
        match steps.last_mut() {
            Some(last) if last.from == from => last.value = last.value.max(value),
            _ => steps.push(Step { from, until: from + width, value }),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(index: u64, attempts: f64) -> BucketMeans {
        BucketMeans { index, attempts, ..Default::default() }
    }

    #[test]
    fn buckets_are_gathered_by_their_largest_and_gaps_stay() {
        let buckets = [bucket(0, 5.0), bucket(1, 7.0), bucket(2, 0.0), bucket(8, 1.0)];
        let of = |from, until, value| Step { from, until, value };
        assert_eq!(steps(&buckets, 1, |b| b.attempts), [of(0, 1, 5.0), of(1, 2, 7.0), of(8, 9, 1.0)]);
        assert_eq!(steps(&buckets, 4, |b| b.attempts), [of(0, 4, 7.0), of(8, 12, 1.0)]);
    }
}
