//! The agenda against a binary heap on random schedules, and the cases that are easy to get wrong.

mod oracle;
mod random;

use std::cell::RefCell;

use stormsim::plan::TimeoutId;
use stormsim::sim::agenda::{Agenda, Event};
use stormsim::time::{Instant, Span};

const NORMAL: u8 = 0;
const FAULT: u8 = 1;
const TIMER: u8 = 2;

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

/// The head of the wheel is at 10 when the timer of 5 expires and schedules something for 6. Had the look at the head
/// moved the wheel on to 10, there would be no place for 6.
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

/// Faults, then what was scheduled in its order, zero delays last, then timers, at one instant; the order of the calls
/// argues against all of that.
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

/// A million entries at one instant, from all sides: scheduled ahead of it and from a window that begins before it,
/// timers and faults added while it lasts. In a quadratic agenda each of the additions would move up to 16 MB: 100 s
/// and more instead of a fraction of one.
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

/// `until` itself and later are left out, the last nanosecond before is not; and that is told only when it has
/// happened.
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

/// One ring of timers on an agenda that also has normal events, and a record of which timers `pop` asks about: that is
/// how compaction is seen from outside.
struct Watched {
    agenda: Agenda,
    dead: Vec<bool>,
    asked: RefCell<Vec<u32>>,
}

impl Watched {
    fn new(timers: u32) -> Self {
        let mut agenda = Agenda::new(Instant::LIMIT, &[Span::from_s(1)]);
        for index in 0..timers {
            agenda.arm(TimeoutId(0), Event::new(TIMER, index));
        }
        Self { agenda, dead: vec![false; timers as usize], asked: RefCell::default() }
    }

    fn arm_another(&mut self) {
        self.agenda.arm(TimeoutId(0), Event::new(TIMER, self.dead.len() as u32));
        self.dead.push(false);
    }

    fn kill(&mut self, timers: impl IntoIterator<Item = u32>) {
        for index in timers {
            self.dead[index as usize] = true;
        }
    }

    /// Pops; the event's index, and the timers that were asked about.
    fn pop(&mut self) -> (Option<u32>, Vec<u32>) {
        let popped = self.agenda.pop(|event, _| {
            self.asked.borrow_mut().push(event.index());
            !self.dead[event.index() as usize]
        });
        (popped.map(|(event, _)| event.index()), self.asked.take())
    }

    /// Pops a normal event before any timer expires: all questions are due to compaction.
    fn asked_by_compaction(&mut self) -> Vec<u32> {
        self.agenda.schedule(Span::from_ns(1), normal(0));
        self.pop().1
    }
}

/// A ring is compacted when it has 1,024 entries, and next when it has twice as many as lived then, not before; the
/// living keep their order and nobody asks about the dead again.
#[test]
fn compaction_keeps_the_order() {
    let mut watched = Watched::new(1023);
    watched.kill(0..400);
    assert!(watched.asked_by_compaction().is_empty());
    watched.arm_another();
    assert_eq!(watched.asked_by_compaction(), Vec::from_iter(0..1024));

    // 624 live, so that the ring is looked through again at 1,248.
    (0..623).for_each(|_| watched.arm_another());
    watched.kill((400..1600).step_by(2));
    assert!(watched.asked_by_compaction().is_empty());
    watched.arm_another();
    assert_eq!(watched.asked_by_compaction(), Vec::from_iter(400..1648));

    for living in (401..1600).step_by(2).chain(1600..1648) {
        assert_eq!(watched.pop(), (Some(living), vec![living]));
    }
    assert_eq!(watched.pop(), (None, Vec::new()));
}

/// With 300 distinct delays, armed from the longest to the shortest in several rounds, timers expire by time and, where
/// two rounds meet, by their sequence.
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
