//! The agenda against a binary heap on random schedules, and the cases that are easy to get wrong.

mod oracle;

use oracle::Oracle;
use proptest::prelude::*;
use stormsim::plan::TimeoutId;
use stormsim::sim::agenda::{Agenda, Event, Sequence};
use stormsim::time::{Instant, Span};

const NORMAL: u8 = 0;
const FAULT: u8 = 1;
const TIMER: u8 = 2;

/// Timers belong to this many frames; each has at most one that lives, as in the engine.
const FRAMES: u32 = 300;

/// When something is to happen, seen from the present.
#[derive(Clone, Copy, Debug)]
enum When {
    /// After so many ns.
    After(u64),
    /// At the next multiple of 2^n ns: where many meet, and where the digits of the wheel carry.
    Multiple(u32),
}

#[derive(Clone, Debug)]
enum Act {
    Schedule(When),
    ScheduleAt(When),
    Fault(When),
    /// With one of the delays, modulo their number.
    Arm {
        timeout: u32,
        frame: u32,
    },
    ArmAt {
        when: When,
        frame: u32,
    },
    Disarm {
        frame: u32,
    },
    /// So many normal events, spread pseudo-randomly over the next 2^bits ns.
    Burst {
        count: u32,
        bits: u32,
    },
    /// Arms every frame with this delay, so that rings get long and what the frames had before dies.
    ArmAll {
        timeout: u32,
    },
    Pop(u32),
}

fn when() -> impl Strategy<Value = When> {
    let any_scale = (0..=52_u32, any::<u64>()).prop_map(|(bits, ns)| When::After(ns & ((1 << bits) - 1)));
    prop_oneof![
        2 => Just(When::After(0)),
        3 => (1..8_u64).prop_map(When::After),
        3 => (1..200_u64).prop_map(When::After),
        3 => (0..30_u32).prop_map(When::Multiple),
        3 => any_scale,
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => when().prop_map(Act::Schedule),
        2 => when().prop_map(Act::ScheduleAt),
        2 => when().prop_map(Act::Fault),
        6 => (0..8_u32, 0..FRAMES).prop_map(|(timeout, frame)| Act::Arm { timeout, frame }),
        4 => (when(), 0..FRAMES).prop_map(|(when, frame)| Act::ArmAt { when, frame }),
        2 => (0..FRAMES).prop_map(|frame| Act::Disarm { frame }),
        2 => (1..600_u32, 0..40_u32).prop_map(|(count, bits)| Act::Burst { count, bits }),
        1 => (0..8_u32).prop_map(|timeout| Act::ArmAll { timeout }),
        4 => (1..4_u32).prop_map(Act::Pop),
        2 => (1..800_u32).prop_map(Act::Pop),
    ]
}

fn until() -> impl Strategy<Value = Instant> {
    prop_oneof![
        3 => Just(Instant::LIMIT),
        1 => (0..52_u32, any::<u64>()).prop_map(|(bits, ns)| Instant::from_ns(ns & ((1 << bits) - 1))),
    ]
}

fn timeouts() -> impl Strategy<Value = Vec<Span>> {
    let one = prop_oneof![
        (0..300_u64).prop_map(Span::from_ns),
        (0..52_u32).prop_map(|bits| Span::from_ns(1 << bits)),
        Just(Span::UNLIMITED)
    ];
    prop::collection::vec(one, 1..9)
}

/// The agenda and the oracle, driven with the same acts.
struct Both {
    agenda: Agenda,
    oracle: Oracle,
    timeouts: u32,
    /// For each frame the timer that lives, and its ring if it is in one.
    armed: Vec<(Sequence, Option<TimeoutId>)>,
    /// Gives normal events and faults an index of their own.
    made: u32,
    random: u64,
}

impl Both {
    fn new(until: Instant, timeouts: &[Span]) -> Self {
        Self {
            agenda: Agenda::new(until, timeouts),
            oracle: Oracle::new(until, timeouts),
            timeouts: timeouts.len() as u32,
            armed: vec![(Sequence::NONE, None); FRAMES as usize],
            made: 0,
            random: 1,
        }
    }

    fn event(&mut self, kind: u8) -> Event {
        self.made += 1;
        Event::new(kind, self.made)
    }

    fn at(&self, when: When) -> Instant {
        match when {
            When::After(ns) => self.agenda.now() + Span::from_ns(ns),
            When::Multiple(bits) => Instant::from_ns(((self.agenda.now().as_ns() >> bits) + 1) << bits),
        }
    }

    fn schedule_at(&mut self, at: Instant) {
        let event = self.event(NORMAL);
        assert_eq!(self.agenda.schedule_at(at, event).number(), self.oracle.schedule_at(at, event));
    }

    fn arm(&mut self, timeout: u32, frame: u32) {
        self.disarm(frame);
        let (timeout, event) = (TimeoutId(timeout % self.timeouts), Event::new(TIMER, frame));
        let sequence = self.agenda.arm(timeout, event);
        assert_eq!(sequence.number(), self.oracle.arm(timeout, event));
        self.armed[frame as usize] = (sequence, Some(timeout));
    }

    fn disarm(&mut self, frame: u32) {
        if let (_, Some(timeout)) = std::mem::replace(&mut self.armed[frame as usize], (Sequence::NONE, None)) {
            self.agenda.disarm(timeout);
        }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Schedule(when) => {
                let (after, event) = (self.at(when).since(self.agenda.now()), self.event(NORMAL));
                assert_eq!(self.agenda.schedule(after, event).number(), self.oracle.schedule(after, event));
            }
            Act::ScheduleAt(when) => self.schedule_at(self.at(when)),
            Act::Fault(when) => {
                let (at, event) = (self.at(when), self.event(FAULT));
                assert_eq!(self.agenda.schedule_fault(at, event).number(), self.oracle.schedule_fault(at, event));
            }
            Act::Arm { timeout, frame } => self.arm(timeout, frame),
            Act::ArmAt { when, frame } => {
                self.disarm(frame);
                let (at, event) = (self.at(when), Event::new(TIMER, frame));
                let sequence = self.agenda.arm_at(at, event);
                assert_eq!(sequence.number(), self.oracle.arm_at(at, event));
                self.armed[frame as usize] = (sequence, None);
            }
            Act::Disarm { frame } => self.disarm(frame),
            Act::Burst { count, bits } => {
                for _ in 0..count {
                    self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let after = (self.random >> 24) & ((1 << bits) - 1);
                    self.schedule_at(self.at(When::After(after)));
                }
            }
            Act::ArmAll { timeout } => (0..FRAMES).for_each(|frame| self.arm(timeout, frame)),
            Act::Pop(count) => {
                for _ in 0..count {
                    self.pop();
                }
            }
        }
    }

    /// Pops both; whether there was something.
    fn pop(&mut self) -> bool {
        let armed = &self.armed;
        let popped = self.agenda.pop(|event, sequence| armed[event.index() as usize].0 == sequence);
        let expected = self.oracle.pop(|event, sequence| armed[event.index() as usize].0.number() == sequence);
        assert_eq!(popped.map(|(event, sequence)| (event, sequence.number())), expected);
        assert_eq!(self.agenda.now(), self.oracle.now);
        if let Some((event, _)) = popped
            && event.kind() == TIMER
        {
            self.armed[event.index() as usize] = (Sequence::NONE, None);
        }
        popped.is_some()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is scheduled, armed and disarmed, both agendas agree on every event, its sequence, the clock, and whether
    /// anything was left out. The heap knows nothing but the order, so all the cleverness of the other has to cancel out.
    #[test]
    fn agrees_with_a_binary_heap(
        until in until(),
        timeouts in timeouts(),
        acts in prop::collection::vec(act(), 1..80),
    ) {
        let mut both = Both::new(until, &timeouts);
        for act in &acts {
            both.act(act);
        }
        while both.pop() {}
        // Once more on an agenda that has run dry.
        for act in &acts {
            both.act(act);
        }
        while both.pop() {}
        prop_assert_eq!(both.agenda.dropped(), both.oracle.dropped);
    }
}

fn normal(index: u32) -> Event {
    Event::new(NORMAL, index)
}

fn ns(ns: u64) -> Instant {
    Instant::from_ns(ns)
}

/// Pops to the end, every timer alive: instant in ns and index of each event.
fn rest(agenda: &mut Agenda) -> Vec<(u64, u32)> {
    let mut popped = Vec::new();
    while let Some((event, _)) = agenda.pop(|_, _| true) {
        popped.push((agenda.now().as_ns(), event.index()));
    }
    popped
}

/// The head of the wheel is at 10 when the timer of 5 expires and schedules something for 6. Had the look at the head moved the wheel
/// on to 10, there would be no place for 6.
#[test]
fn looking_at_the_head_does_not_move_the_clock() {
    let mut agenda = Agenda::new(Instant::LIMIT, &[Span::from_ns(5)]);
    agenda.schedule(Span::from_ns(10), normal(10));
    agenda.arm(TimeoutId(0), Event::new(TIMER, 5));
    let (event, _) = agenda.pop(|_, _| true).expect("a timer is armed");
    assert_eq!((agenda.now(), event.index()), (ns(5), 5));
    agenda.schedule(Span::from_ns(1), normal(6));
    assert_eq!(rest(&mut agenda), [(6, 6), (10, 10)]);
}

/// The same at each scale of the wheel, with a dead timer beyond the head: it is passed over, so it must not have
/// opened the way past the timer that expires.
#[test]
fn a_dead_timer_does_not_move_the_clock_either() {
    for bits in 3..52 {
        let scale = 1 << bits;
        let mut agenda = Agenda::new(Instant::LIMIT, &[Span::from_ns(scale / 2), Span::from_ns(scale + 1)]);
        agenda.arm(TimeoutId(1), Event::new(TIMER, 9));
        assert_eq!(agenda.pop(|_, _| false), None);
        assert_eq!(agenda.now(), Instant::ZERO);
        agenda.arm(TimeoutId(0), Event::new(TIMER, 0));
        agenda.schedule(Span::from_ns(scale), normal(2));
        agenda.schedule(Span::from_ns(scale / 2 - 1), normal(1));
        let popped = std::iter::from_fn(|| agenda.pop(|event, _| event.index() != 9)).map(|(event, _)| event.index());
        assert_eq!(Vec::from_iter(popped), [1, 0, 2]);
    }
}

/// Faults, then what was scheduled in its order, zero delays last, then timers, at one instant; the order of the calls argues against
/// all of that.
#[test]
fn classes_at_one_instant() {
    let mut agenda = Agenda::new(Instant::LIMIT, &[Span::from_ns(7)]);
    agenda.arm_at(ns(7), Event::new(TIMER, 6));
    agenda.arm(TimeoutId(0), Event::new(TIMER, 7));
    agenda.schedule_at(ns(7), normal(1));
    agenda.schedule(Span::from_ns(7), normal(2));
    agenda.schedule_fault(ns(7), Event::new(FAULT, 0));
    for expected in [0, 1] {
        let (event, _) = agenda.pop(|_, _| true).expect("five are left");
        assert_eq!((agenda.now(), event.index()), (ns(7), expected));
    }
    agenda.arm_at(ns(7), Event::new(TIMER, 8));
    agenda.schedule(Span::ZERO, normal(4));
    agenda.schedule_at(ns(7), normal(5));
    agenda.schedule_fault(ns(7), Event::new(FAULT, 3));
    assert_eq!(rest(&mut agenda), [(7, 3), (7, 2), (7, 4), (7, 5), (7, 6), (7, 7), (7, 8)]);
}

/// A million entries at one instant, from all sides: scheduled ahead of it and from a window that begins before it, timers and faults added
/// while it lasts. In a quadratic agenda each of the additions would move up to 16 MB: 100 s and more instead of a fraction of one.
#[test]
fn a_million_entries_at_one_instant() {
    const MANY: u32 = 1_000_000;
    let mut agenda = Agenda::new(Instant::LIMIT, &[]);
    let instant = ns(1 << 40);
    agenda.schedule_at(ns((1 << 40) - 1), normal(0));
    for index in 0..MANY / 2 {
        agenda.schedule_at(instant, normal(index));
    }
    agenda.pop(|_, _| true).expect("the one before");
    for index in MANY / 2..MANY {
        agenda.schedule_at(instant, normal(index));
    }
    let mut expected = (0..MANY).chain(0..MANY).map(normal);
    let mut pop = |agenda: &mut Agenda| {
        assert_eq!(agenda.pop(|_, _| true).map(|(event, _)| event), expected.next());
    };
    for index in 0..MANY {
        pop(&mut agenda);
        agenda.arm_at(instant, normal(index));
    }
    for _ in 0..MANY {
        pop(&mut agenda);
    }
    assert_eq!(agenda.now(), instant);
    for index in 0..MANY {
        agenda.schedule_fault(instant, Event::new(FAULT, index));
        agenda.schedule(Span::ZERO, normal(index));
    }
    let order = rest(&mut agenda).into_iter().map(|(_, index)| index);
    assert!(order.eq((0..MANY).chain(0..MANY)));
}

/// A window that was opened for few entries takes a million more: none may move all the others.
#[test]
fn a_million_entries_into_an_open_window() {
    const MANY: u32 = 1_000_000;
    let mut agenda = Agenda::new(Instant::LIMIT, &[]);
    agenda.schedule_at(ns(1 << 45), normal(0));
    agenda.schedule_at(ns((1 << 45) + (1 << 30) - 1), normal(MANY));
    agenda.pop(|_, _| true).expect("two are scheduled");
    for index in (1..MANY).rev() {
        agenda.schedule(Span::from_ns(u64::from(index)), normal(index));
    }
    let order = rest(&mut agenda).into_iter().map(|(_, index)| index);
    assert!(order.eq(1..=MANY));
}

/// `until` itself and later are left out, the last nanosecond before is not; and that is told only when it has happened.
#[test]
fn nothing_happens_at_the_end_or_later() {
    let mut agenda = Agenda::new(ns(100), &[Span::from_ns(99), Span::from_ns(100), Span::UNLIMITED]);
    agenda.schedule(Span::from_ns(99), normal(1));
    agenda.arm(TimeoutId(0), Event::new(TIMER, 2));
    assert!(!agenda.dropped());
    agenda.schedule(Span::from_ns(100), normal(3));
    assert!(agenda.dropped());
    agenda.schedule_at(ns(101), normal(4));
    agenda.schedule_fault(ns(100), Event::new(FAULT, 5));
    agenda.arm(TimeoutId(1), Event::new(TIMER, 6));
    agenda.arm(TimeoutId(2), Event::new(TIMER, 7));
    agenda.arm_at(ns(100), Event::new(TIMER, 8));
    assert_eq!(rest(&mut agenda), [(99, 1), (99, 2)]);
}

/// No agenda goes on beyond what an entry can hold.
#[test]
fn the_end_is_at_most_the_limit() {
    let mut agenda = Agenda::new(Instant::LIMIT + Span::LIMIT, &[]);
    agenda.schedule(Span::LIMIT - Span::from_ns(1), normal(0));
    assert!(!agenda.dropped());
    agenda.schedule(Span::LIMIT, normal(1));
    assert!(agenda.dropped());
    assert_eq!(rest(&mut agenda), [((1 << 52) - 1, 0)]);
}

/// Of 1,000 timers in a ring every third lives; more than half are disarmed, so the next pop compacts. That it does is seen
/// from outside: it asks about every timer and not only about the first. Then the living expire in their order, and nobody asks about the dead again.
#[test]
fn compaction_keeps_the_order() {
    use std::cell::RefCell;

    let mut agenda = Agenda::new(Instant::LIMIT, &[Span::from_ns(50), Span::from_s(1)]);
    for index in 0..1000 {
        agenda.arm(TimeoutId(1), Event::new(TIMER, index));
        if index % 3 != 0 {
            agenda.disarm(TimeoutId(1));
        }
    }
    agenda.schedule(Span::from_ns(1), normal(0));
    let asked = RefCell::new(Vec::new());
    let alive = |event: Event, _: Sequence| {
        asked.borrow_mut().push(event.index());
        event.index() % 3 == 0
    };
    assert_eq!(agenda.pop(alive).map(|(event, _)| event), Some(normal(0)));
    assert_eq!(asked.take(), Vec::from_iter(0..1000));

    let living = Vec::from_iter((0..1000).step_by(3));
    let expired = std::iter::from_fn(|| agenda.pop(alive)).map(|(event, _)| event.index());
    assert_eq!(Vec::from_iter(expired), living);
    assert_eq!(asked.take(), living);
}

/// With 300 distinct delays, armed from the longest to the shortest in several rounds, timers expire by time and, where two
/// rounds meet, by their sequence.
#[test]
fn the_earliest_of_many_rings_is_found() {
    let timeouts = Vec::from_iter((1..=300).map(Span::from_ns));
    let mut agenda = Agenda::new(Instant::LIMIT, &timeouts);
    let mut expected = Vec::new();
    for round in 0..5 {
        for timeout in (0..300).rev() {
            let sequence = agenda.arm(TimeoutId(timeout), Event::new(TIMER, timeout));
            expected.push((u64::from(round * 50 + timeout + 1), sequence, timeout));
        }
        // Moves the clock on by 50 and passes over what expires before: timers of that very instant come after it.
        expected.retain(|&(at, ..)| at >= u64::from(round * 50 + 50));
        agenda.schedule(Span::from_ns(50), normal(0));
        let popped = agenda.pop(|_, _| false);
        assert_eq!((popped.map(|(event, _)| event), agenda.now().as_ns()), (Some(normal(0)), round as u64 * 50 + 50));
    }
    expected.sort_unstable();
    let expected = expected.into_iter().map(|(at, _, timeout)| (at, timeout));
    assert!(rest(&mut agenda).into_iter().eq(expected));
}
