//! Envoy's retry budget.

use crate::policy::MICRO;

/// Envoy's `retry_budget`: so many retries at once, as a share of the attempts under way, which include those that wait
/// for a slot of their caller's pool (Envoy's active and pending requests). It bounds concurrency, not a rate: when
/// attempts fail faster there are fewer of them, and fewer retries, at any instant; when they hang there are more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    /// Retries at once for each attempt under way, in millionths: `budget_percent`, 20 % in Envoy.
    pub share: u64,
    /// Retries at once in any case: `min_retry_concurrency`, 3 in Envoy.
    pub minimum: u32,
    /// Whether a retry counts from its grant on, through its wait, as in Envoy; else from the end of its wait. Then the
    /// limit holds for no instant: of the attempts that fail before the first wait is over all are granted one.
    pub counts_waiting: bool,
}

/// What a concurrency budget knows of its callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InProgress {
    /// Attempts under way, sent or waiting for a slot, retries included.
    pub active: u32,
    /// Retries in progress.
    pub retries: u32,
}

impl Concurrency {
    /// How many retries may be in progress: `max(floor(share x active), minimum)`.
    #[inline]
    pub fn limit(&self, active: u32) -> u64 {
        (u64::from(active) * self.share / MICRO).max(u64::from(self.minimum))
    }

    /// Whether one more is granted. The failed attempt that asks is not under way any more.
    #[inline]
    pub fn grants(&self, now: InProgress) -> bool {
        u64::from(now.retries) < self.limit(now.active)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn budget(percent: u64, minimum: u32) -> Concurrency {
        Concurrency { share: percent * MICRO / 100, minimum, counts_waiting: true }
    }

    /// Envoy's defaults: a fifth of what is under way, and never less than three.
    #[test]
    fn a_fifth_of_what_is_under_way() {
        assert_eq!([0, 10, 100].map(|active| budget(20, 3).limit(active)), [3, 3, 20]);
        assert_eq!(budget(20, 0).limit(4), 0);
    }

    /// All that are under way fail at one instant: the budget shrinks with each, and half of them are refused although
    /// as many retries as requests are allowed. (envoyproxy/envoy-mobile#811)
    #[test]
    fn a_budget_shrinks_while_it_is_asked() {
        let granted = |budget: Concurrency, requests: u32| {
            let mut now = InProgress { active: requests, retries: 0 };
            for _ in 0..requests {
                now.active -= 1;
                now.retries += u32::from(budget.grants(now));
            }
            now.retries
        };
        assert_eq!([6, 10, 20].map(|requests| granted(budget(100, 0), requests)), [3, 5, 10]);
        assert_eq!((granted(budget(50, 0), 6), granted(budget(20, 3), 6)), (2, 3));
    }

    /// What happens to one of the attempts: those that are sent first ones, waiting retries, or retries under way.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Sends,
        Fails { retry: bool },
        WaitEnds,
        Succeeds { retry: bool },
    }

    proptest! {
        /// If waiting counts, a retry is granted only while fewer are in progress than the limit of that instant. The
        /// limit may fall afterwards, but there are never more retries in progress than the limit for the most attempts
        /// that were ever under way.
        #[test]
        fn no_schedule_has_more_retries_in_progress_than_the_highest_limit(
            percent in 0u64..=100,
            minimum in 0u32..5,
            steps in prop::collection::vec(prop_oneof![
                3 => Just(Step::Sends),
                3 => any::<bool>().prop_map(|retry| Step::Fails { retry }),
                1 => Just(Step::WaitEnds),
                1 => any::<bool>().prop_map(|retry| Step::Succeeds { retry }),
            ], 0..400),
        ) {
            let budget = budget(percent, minimum);
            let (mut firsts, mut waiting, mut retries, mut most_active) = (0_u32, 0_u32, 0_u32, 0);
            for step in steps {
                match step {
                    Step::Sends => firsts += 1,
                    Step::WaitEnds if waiting > 0 => (waiting, retries) = (waiting - 1, retries + 1),
                    Step::Fails { retry: true } | Step::Succeeds { retry: true } if retries > 0 => retries -= 1,
                    Step::Fails { retry: false } | Step::Succeeds { retry: false } if firsts > 0 => firsts -= 1,
                    _ => continue,
                }
                let now = InProgress { active: firsts + retries, retries: waiting + retries };
                if matches!(step, Step::Fails { .. }) && budget.grants(now) {
                    waiting += 1;
                    prop_assert!(u64::from(now.retries + 1) <= budget.limit(now.active), "{now:?}");
                }
                most_active = now.active.max(most_active);
                prop_assert!(u64::from(waiting + retries) <= budget.limit(most_active), "{now:?}");
            }
        }
    }
}
