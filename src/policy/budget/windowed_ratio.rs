//! The retry budgets of Finagle, Linkerd and tower.

use crate::policy::slots::{Slots, TEN};
use crate::time::{Instant, Span};

/// Retries as a share of what was sent in the last seconds, and a few more: each request, or each success, deposits,
/// each retry withdraws, and both are forgotten after the time to live. A reserve is always there beside them, all of
/// which may go at one instant. So within the slots that count there are never more than
/// `min_per_second x ttl + ratio x deposits` retries.
///
/// This is Finagle's `RetryBudget` (`TokenBucket.newLeakyBucket`) and tower's `TpsBudget`, which Linkerd uses; they
/// differ in how they round, when they deposit, and how long the slots are that count: the current one and nine before
/// it, so that the bound holds for any nine tenths of the time to live, or ten before it, so that it holds for all of
/// it. In just over nine seconds Finagle's reserve of ten can go twice.
///
/// Theirs is the arithmetic; two things are simpler here. The reserve is that of the exact time to live, where they
/// take its whole seconds. Slots follow on each other from the beginning of the run, where theirs begin with what comes
/// first after the last is over, so that with little traffic they are longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowedRatio {
    /// How long deposits and withdrawals count, in slots of a tenth of the time to live, the current one included.
    pub slots: u8,
    /// The width of a slot.
    pub slot: Span,
    /// What each request or success puts in.
    pub deposit: i64,
    /// What each retry takes.
    pub withdrawal: i64,
    /// What is always there.
    pub reserve: i64,
    /// When deposits are made.
    pub deposits: Deposit,
}

/// When a [`WindowedRatio`] is paid in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deposit {
    /// When a call begins, as in Finagle: an outage does not stop it.
    AtStart,
    /// When a call succeeds: an outage leaves the reserve only. So it is in Linkerd, which also deposits for errors
    /// that it does not try again.
    OnSuccess,
}

/// Finagle counts in thousandths.
const SCALE: i64 = 1_000;

impl WindowedRatio {
    /// Finagle's: the share is counted in thousandths of a retry, over ten slots with the current one. `ratio` is 0, or
    /// from a millionth to 1,000, `ttl` from 10 ns to a minute, `min_per_second` from 0 to a million: what was paid in
    /// a minute can then be counted in 64 bits.
    pub fn finagle(ttl: Span, min_per_second: f64, ratio: f64, deposits: Deposit) -> Self {
        let (deposit, withdrawal) = if ratio > 0.0 { (SCALE, (SCALE as f64 / ratio) as i64) } else { (0, 1) };
        Self::new(TEN, ttl, min_per_second, (deposit, withdrawal), deposits)
    }

    /// tower's: up to a ratio of 1 a retry takes the whole number of deposits that is next below `1 / ratio`, so that
    /// 0.3 is a third and everything above a half is 1; over eleven slots with the current one. In the same ranges.
    pub fn tower(ttl: Span, min_per_second: f64, ratio: f64, deposits: Deposit) -> Self {
        let amounts = match ratio {
            0.0 => (0, 1),
            ..=1.0 => (1, (1.0 / ratio) as i64),
            _ => (SCALE, (SCALE as f64 / ratio) as i64),
        };
        Self::new(11, ttl, min_per_second, amounts, deposits)
    }

    fn new(slots: u8, ttl: Span, min_per_second: f64, (deposit, withdrawal): (i64, i64), deposits: Deposit) -> Self {
        // A retry that took nothing would be granted for ever.
        let withdrawal = withdrawal.max(1);
        let reserve = (min_per_second * ttl.as_s() * withdrawal as f64) as i64;
        Self { slots, slot: Span::from_ns(ttl.as_ns() / 10), deposit, withdrawal, reserve, deposits }
    }

    /// Pays in at `now`, which never goes back.
    #[inline]
    pub fn pay_in(&self, balance: &mut WindowBalance, now: Instant) {
        self.add(balance, now, self.deposit);
    }

    /// Whether a retry is granted at `now`, which never goes back.
    #[inline]
    pub fn grants(&self, balance: &mut WindowBalance, now: Instant) -> bool {
        self.sum(balance, now) + self.reserve >= self.withdrawal
    }

    /// A retry was granted.
    #[inline]
    pub fn withdraw(&self, balance: &mut WindowBalance, now: Instant) {
        self.add(balance, now, -self.withdrawal);
    }

    /// How many retries it would grant in a row at `now`.
    pub fn retries_left(&self, balance: &mut WindowBalance, now: Instant) -> i64 {
        ((self.sum(balance, now) + self.reserve) / self.withdrawal).max(0)
    }

    fn sum(&self, WindowBalance(slots): &mut WindowBalance, now: Instant) -> i64 {
        let [sum] = slots.sums(now, self.slot, self.slots);
        sum
    }

    fn add(&self, WindowBalance(slots): &mut WindowBalance, now: Instant, amount: i64) {
        slots.add([amount], now, self.slot, self.slots);
    }
}

/// What was paid in and withdrawn in the last slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowBalance(Slots<1>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TTL: Span = Span::from_s(10);

    fn at_ms(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    /// As many retries in a row as are granted.
    fn drain(rule: &WindowedRatio, balance: &mut WindowBalance, now: Instant) -> u64 {
        let mut granted = 0;
        while rule.grants(balance, now) {
            rule.withdraw(balance, now);
            granted += 1;
        }
        granted
    }

    /// The defaults of all three, idle before the server dies: 100 retries at once and not one more; all of them are
    /// forgotten after ten seconds, or eleven slots.
    #[test]
    fn the_reserve_may_go_at_once() {
        let finagle = WindowedRatio::finagle(TTL, 10.0, 0.2, Deposit::AtStart);
        let tower = WindowedRatio::tower(TTL, 10.0, 0.2, Deposit::OnSuccess);
        for (rule, back_ms) in [(finagle, 10_000), (tower, 11_000)] {
            let mut balance = WindowBalance::default();
            assert_eq!(drain(&rule, &mut balance, at_ms(500)), 100);
            assert_eq!(drain(&rule, &mut balance, at_ms(back_ms - 1)), 0);
            assert_eq!(drain(&rule, &mut balance, at_ms(back_ms)), 100);
        }
    }

    /// 1,000 requests a second to a dead server for 10 s: Finagle's clients deposit all the same, 0.2 x 10,000 + 100
    /// retries; Linkerd's have the reserve.
    #[test]
    fn an_outage_stops_the_deposits_of_successes() {
        let rule = WindowedRatio::finagle(TTL, 10.0, 0.2, Deposit::AtStart);
        let mut balance = WindowBalance::default();
        let mut retries = 0;
        for ms in 0..10_000 {
            rule.pay_in(&mut balance, at_ms(ms));
            retries += drain(&rule, &mut balance, at_ms(ms));
        }
        assert_eq!(retries, 2_100);
        let rule = WindowedRatio::tower(TTL, 10.0, 0.2, Deposit::OnSuccess);
        let mut balance = WindowBalance::default();
        assert_eq!((0..10_000).map(|ms| drain(&rule, &mut balance, at_ms(ms))).sum::<u64>(), 100);
    }

    /// What a retry takes for a deposit of 1 in tower, and of 1,000 in Finagle.
    #[test]
    fn tower_rounds_to_one_over_a_whole_number() {
        let tower = |ratio| WindowedRatio::tower(TTL, 10.0, ratio, Deposit::OnSuccess);
        let taken = [0.2, 0.3, 0.4, 0.5, 0.51, 0.7, 1.0].map(|ratio| tower(ratio).withdrawal);
        assert_eq!(taken, [5, 3, 2, 2, 1, 1, 1]);
        assert_eq!((tower(2.0).deposit, tower(2.0).withdrawal), (1_000, 500));
        assert_eq!((tower(0.0).deposit, tower(0.0).withdrawal, tower(0.0).reserve), (0, 1, 100));
        let finagle = |ratio| WindowedRatio::finagle(TTL, 10.0, ratio, Deposit::AtStart);
        assert_eq!([0.3, 0.7].map(|ratio| finagle(ratio).withdrawal), [3_333, 1_428]);
    }

    /// Ten idle slots are forgotten like a hundred.
    #[test]
    fn idle_time_is_forgotten() {
        let rule = WindowedRatio::finagle(TTL, 0.0, 0.5, Deposit::AtStart);
        for later_ms in [10_000, 1_000_000] {
            let mut balance = WindowBalance::default();
            (0..100).for_each(|_| rule.pay_in(&mut balance, at_ms(999)));
            assert_eq!(rule.retries_left(&mut balance, at_ms(9_999)), 50);
            assert_eq!(rule.retries_left(&mut balance, at_ms(later_ms)), 0);
            assert_eq!(rule.sum(&mut balance, at_ms(later_ms)), 0);
        }
    }

    /// The reserve is no refill, but slots are forgotten whole: what Finagle's granted at the end of one is back just
    /// over nine seconds later, tower's just over ten.
    #[test]
    fn the_reserve_can_go_twice_within_eleven_slots() {
        let finagle = WindowedRatio::finagle(TTL, 10.0, 0.2, Deposit::AtStart);
        let tower = WindowedRatio::tower(TTL, 10.0, 0.2, Deposit::OnSuccess);
        for (rule, again_ms) in [(finagle, 10_000), (tower, 11_000)] {
            let mut balance = WindowBalance::default();
            let granted = [999, again_ms].map(|ms| drain(&rule, &mut balance, at_ms(ms)));
            assert_eq!(granted, [100, 100]);
        }
    }

    /// The ends of the ranges that a budget may be given: sums and reserves stay within 64 bits.
    #[test]
    fn extremes_do_not_overflow() {
        for (ratio, min_per_second) in [(1e-6, 1e6), (1e-6, 0.0), (1_000.0, 1e6), (0.0, 1e6), (0.0, 0.0)] {
            for rule in [WindowedRatio::finagle, WindowedRatio::tower] {
                let rule = rule(Span::from_s(60), min_per_second, ratio, Deposit::AtStart);
                let mut balance = WindowBalance::default();
                let reserve = (min_per_second * 60.0) as i64;
                assert_eq!(rule.retries_left(&mut balance, at_ms(0)), reserve, "{ratio} {min_per_second}");
                (0..1_000).for_each(|_| rule.pay_in(&mut balance, at_ms(0)));
                assert!(rule.retries_left(&mut balance, at_ms(0)) <= reserve + (1_000.0 * ratio) as i64);
            }
        }
    }

    proptest! {
        /// Whatever was granted in any stretch as long as all slots but one is still counted at its end, and no more is
        /// granted than `reserve / withdrawal + deposit / withdrawal x deposits` of the slots that count then. Both are
        /// counted anew from all that has happened.
        #[test]
        fn no_stretch_gets_more_than_the_reserve_and_its_share(
            is_tower in any::<bool>(),
            ratio in prop::sample::select(vec![0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 2.5]),
            min_per_second in 0u32..3,
            happenings in prop::collection::vec((0u64..1_500, any::<bool>()), 0..400),
        ) {
            let constructor = if is_tower { WindowedRatio::tower } else { WindowedRatio::finagle };
            let rule = constructor(TTL, f64::from(min_per_second), ratio, Deposit::AtStart);
            let (mut balance, mut now_ms) = (WindowBalance::default(), 0);
            let (mut deposits, mut retries): (Vec<u64>, Vec<u64>) = (vec![], vec![]);
            for (gap_ms, asks) in happenings {
                // Bursts and pauses: every third gap or so is none.
                now_ms += gap_ms.saturating_sub(500);
                if !asks {
                    rule.pay_in(&mut balance, at_ms(now_ms));
                    deposits.push(now_ms);
                    continue;
                }
                if !rule.grants(&mut balance, at_ms(now_ms)) {
                    continue;
                }
                rule.withdraw(&mut balance, at_ms(now_ms));
                retries.push(now_ms);
                let stretch_ms = 1_000 * (u64::from(rule.slots) - 1);
                let granted = retries.iter().filter(|&&ms| ms + stretch_ms > now_ms).count() as i64;
                let first_slot = (now_ms / 1_000 + 1).saturating_sub(u64::from(rule.slots));
                let paid_in = deposits.iter().filter(|&&ms| ms / 1_000 >= first_slot).count() as i64;
                prop_assert!(granted * rule.withdrawal <= rule.reserve + rule.deposit * paid_in, "{granted} {paid_in}");
            }
        }
    }
}
