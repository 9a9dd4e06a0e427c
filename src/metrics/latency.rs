//! A set of durations: exact count, sum and extremes, percentiles to three significant digits.

use hdrhistogram::Histogram;

use crate::time::Span;

/// Durations that were observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// None before the first value: most sets of a long list of windows stay empty.
    histogram: Option<Histogram<u64>>,
    sum_ns: u128,
    min: Span,
    max: Span,
}

impl Default for Latency {
    fn default() -> Self {
        Self { histogram: None, sum_ns: 0, min: Span::UNLIMITED, max: Span::ZERO }
    }
}

impl Latency {
    /// Adds one.
    #[inline]
    pub fn record(&mut self, span: Span) {
        self.histogram.get_or_insert_with(empty).record(span.as_ns()).expect("the histogram resizes itself");
        self.sum_ns += u128::from(span.as_ns());
        self.min = self.min.min(span);
        self.max = self.max.max(span);
    }

    /// Adds all of another set.
    pub fn add(&mut self, other: &Self) {
        if let Some(other) = &other.histogram {
            self.histogram.get_or_insert_with(empty).add(other).expect("the histogram resizes itself");
        }
        self.sum_ns += other.sum_ns;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::len)
    }

    /// Their mean in ms, exact; none of an empty set.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64 / 1e6)
    }

    /// The largest in ms, exact; none of an empty set.
    pub fn max_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.max.as_ms())
    }

    /// The value in ms that the share `quantile` of them does not exceed, to 0.1 %; none of an empty set.
    pub fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        let bin = Span::from_ns(self.histogram.as_ref()?.value_at_quantile(quantile));
        // The histogram answers with the upper end of a bin; the exact extremes bound it.
        Some(bin.max(self.min).min(self.max).as_ms())
    }
}

/// A histogram that grows with the values it meets.
fn empty() -> Histogram<u64> {
    Histogram::new(3).expect("3 significant digits are within 0..=5")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_set_has_no_figures() {
        let empty = Latency::default();
        assert_eq!((empty.mean_ms(), empty.max_ms(), empty.quantile_ms(0.5)), (None, None, None));
    }

    #[test]
    fn equal_values_are_exact_at_every_quantile() {
        let mut latency = Latency::default();
        (0..10).for_each(|_| latency.record(Span::from_ms(150)));
        for quantile in [0.01, 0.5, 0.999, 1.0] {
            assert_eq!(latency.quantile_ms(quantile), Some(150.0));
        }
    }

    #[test]
    fn quantiles_keep_three_digits() {
        let mut latency = Latency::default();
        (1..=1000).for_each(|ms| latency.record(Span::from_ms(ms)));
        for (quantile, exact) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (0.999, 999.0)] {
            let ours = latency.quantile_ms(quantile).unwrap();
            assert!((ours / exact - 1.0).abs() < 0.001, "{quantile}: {ours}");
        }
        assert_eq!(latency.mean_ms(), Some(500.5));
        assert_eq!(latency.max_ms(), Some(1000.0));
    }
}
