//! A series as steps: its buckets gathered so that none is narrower than a pixel.

/// The value of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Which bucket.
    pub bucket: u64,
    /// Above zero.
    pub value: f64,
}

/// A stretch of buckets and the value that stands for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// First bucket.
    pub from: u64,
    /// The bucket after the last.
    pub until: u64,
    /// Above zero.
    pub value: f64,
}

/// What stands for several buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gather {
    /// The largest value: peaks are what a storm is looked at for.
    Highest,
    /// The mean, for what is held against a capacity. Buckets that are left out count as zero.
    Mean,
}

/// The values of buckets, ascending by bucket. Zeros are left out.
pub(super) fn points<B>(buckets: &[B], index: fn(&B) -> u64, value: impl Fn(&B) -> f64) -> Vec<Point> {
    let points = buckets.iter().map(|bucket| Point { bucket: index(bucket), value: value(bucket) });
    points.filter(|point| point.value > 0.0).collect()
}

/// Gathers `width` buckets into each step. Steps of nothing but zeros are left out.
pub(super) fn steps(points: &[Point], width: u64, gather: Gather) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for point in points {
        let from = point.bucket / width * width;
        let value = match gather {
            Gather::Highest => point.value,
            Gather::Mean => point.value / width as f64,
        };
        match steps.last_mut() {
            Some(last) if last.from == from => {
                last.value = match gather {
                    Gather::Highest => last.value.max(value),
                    Gather::Mean => last.value + value,
                }
            }
            _ => steps.push(Step { from, until: from + width, value }),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_gathered_by_their_largest_or_their_mean_and_gaps_stay() {
        let points = points(&[(0, 5.0), (1, 7.0), (2, 0.0), (8, 1.0)], |b| b.0, |b| b.1);
        let of = |from, until, value| Step { from, until, value };
        assert_eq!(steps(&points, 1, Gather::Highest), [of(0, 1, 5.0), of(1, 2, 7.0), of(8, 9, 1.0)]);
        assert_eq!(steps(&points, 4, Gather::Highest), [of(0, 4, 7.0), of(8, 12, 1.0)]);
        assert_eq!(steps(&points, 4, Gather::Mean), [of(0, 4, 3.0), of(8, 12, 0.25)]);
    }
}
