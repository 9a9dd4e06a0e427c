//! Random schedules: the agenda has to agree with the oracle on all of them.

use proptest::prelude::*;
use stormsim::plan::TimeoutId;
use stormsim::sim::agenda::{Agenda, Event, Sequence};
use stormsim::time::{Instant, Span};

use crate::oracle::Oracle;
use crate::{FAULT, NORMAL, TIMER};

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
        times: u32,
    },
    Pop(u32),
    /// Asks whether anything is left at this instant.
    Look,
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
        1 => (0..8_u32, 1..9_u32).prop_map(|(timeout, times)| Act::ArmAll { timeout, times }),
        4 => (1..4_u32).prop_map(Act::Pop),
        2 => (1..800_u32).prop_map(Act::Pop),
        3 => Just(Act::Look),
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
    /// For each frame the timer that lives.
    armed: Vec<Sequence>,
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
            armed: vec![Sequence::NONE; FRAMES as usize],
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
        self.armed[frame as usize] = sequence;
    }

    fn disarm(&mut self, frame: u32) {
        self.armed[frame as usize] = Sequence::NONE;
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
                self.armed[frame as usize] = sequence;
            }
            Act::Disarm { frame } => self.disarm(frame),
            Act::Burst { count, bits } => {
                for _ in 0..count {
                    self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let after = (self.random >> 24) & ((1 << bits) - 1);
                    self.schedule_at(self.at(When::After(after)));
                }
            }
            Act::ArmAll { timeout, times } => (0..times * FRAMES).for_each(|n| self.arm(timeout, n % FRAMES)),
            Act::Pop(count) => {
                for _ in 0..count {
                    self.pop();
                }
            }
            Act::Look => self.look(),
        }
    }

    fn look(&mut self) {
        let armed = &self.armed;
        let is_due = self.agenda.is_anything_due(|event, sequence| armed[event.index() as usize] == sequence);
        let expected =
            self.oracle.is_anything_due(|event, sequence| armed[event.index() as usize].number() == sequence);
        assert_eq!(is_due, expected);
    }

    /// Pops both; whether there was something.
    fn pop(&mut self) -> bool {
        let armed = &self.armed;
        let popped = self.agenda.pop(|event, sequence| armed[event.index() as usize] == sequence);
        let expected = self.oracle.pop(|event, sequence| armed[event.index() as usize].number() == sequence);
        assert_eq!(popped.map(|(event, sequence)| (event, sequence.number())), expected);
        assert_eq!(self.agenda.now(), self.oracle.now);
        if let Some((event, _)) = popped
            && event.kind() == TIMER
        {
            self.armed[event.index() as usize] = Sequence::NONE;
        }
        popped.is_some()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        max_shrink_iters: 5000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever is scheduled, armed and disarmed, both agendas agree on every event, its sequence, the clock, and
    /// whether anything was left out. The heap knows nothing but the order, so all the cleverness of the other has to
    /// cancel out.
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
