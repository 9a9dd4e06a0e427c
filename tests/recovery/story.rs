//! What happens to requests, told to a recorder without an engine.

use std::ops::Range;
use std::path::Path;

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::{End, FaultTally, Recorder, RequestEnd, RunEnd};
use stormsim::plan::{FaultId, GroupId, Plan, Recovery};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::time::{Instant, Span};

use crate::reference::aftermath::Life;

/// The instant so many milliseconds after the start.
pub fn ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// The requests of one group that calls one service.
#[derive(Debug, Default)]
pub struct Story {
    pub requests: Vec<Life>,
}

/// In the order in which things happen at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    WindowEnds,
    WindowBegins,
    /// Requests by number. What ends at the instant at which it began has begun before.
    Request(usize, Step),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Begins,
    Ends,
}

impl Story {
    /// `begun` requests begin 10 ms after the start of a second and end 10 ms later; the first of them succeed.
    pub fn each_second(mut self, second: u64, begun: u64, succeeded: u64) -> Self {
        let at = |ms_after| ms(second * 1_000 + ms_after);
        self.requests.extend((0..begun).map(|number| (at(10), Some((at(20), number < succeeded)))));
        self
    }

    /// A request succeeds; both in ms.
    pub fn succeeds(mut self, began: u64, ended: u64) -> Self {
        self.requests.push((ms(began), Some((ms(ended), true))));
        self
    }

    /// A request fails.
    pub fn fails(mut self, began: u64, ended: u64) -> Self {
        self.requests.push((ms(began), Some((ms(ended), false))));
        self
    }

    /// A request begins and does not end.
    pub fn open(mut self, began: u64) -> Self {
        self.requests.push((ms(began), None));
        self
    }

    /// What a recorder makes of it, with a fault in these windows, in ms; of what comes before the end.
    pub fn tally(&self, rule: Recovery, windows_ms: &[(u64, u64)], end: Instant, ended: End) -> FaultTally {
        let windows: Vec<_> = windows_ms.iter().map(|&(from, until)| ms(from)..ms(until)).collect();
        self.tally_of(rule, &windows, end, ended)
    }

    /// The same to the nanosecond.
    pub fn tally_of(&self, rule: Recovery, windows: &[Range<Instant>], end: Instant, ended: End) -> FaultTally {
        let plan = Plan { recovery: rule, horizon: (ended == End::Horizon).then_some(end), ..one_fault() };
        let mut recorder = Recorder::new(&plan);
        for (at, event) in self.events(windows) {
            // A horizon is not reached; what happens last in a run that drains is part of it.
            if at > end || at == end && ended != End::Drained {
                break;
            }
            match event {
                Event::WindowBegins => recorder.fault_began(FaultId(0)),
                Event::WindowEnds => recorder.fault_ended(FaultId(0), at),
                Event::Request(number, step) => {
                    recorder.advance(at);
                    self.tell(&mut recorder, number, step, at);
                }
            }
        }
        let run = RunEnd { replica: 0, end, ended, events: 0 };
        recorder.finish(run, &[]).faults.remove(0)
    }

    fn events(&self, windows: &[Range<Instant>]) -> Vec<(Instant, Event)> {
        let mut events: Vec<_> = windows
            .iter()
            .flat_map(|window| [(window.start, Event::WindowBegins), (window.end, Event::WindowEnds)])
            .collect();
        for (number, &(began, ended)) in self.requests.iter().enumerate() {
            events.push((began, Event::Request(number, Step::Begins)));
            events.extend(ended.map(|(at, _)| (at, Event::Request(number, Step::Ends))));
        }
        events.sort_unstable();
        events
    }

    fn tell(&self, recorder: &mut Recorder<'_>, number: usize, step: Step, at: Instant) {
        let (start, end) = self.requests[number];
        match step {
            Step::Begins => recorder.request_began(GroupId(0), at),
            Step::Ends => {
                let well = end.is_some_and(|(_, well)| well);
                let result = if well { Ok(false) } else { Err((ErrorKind::Refused, StopReason::NotRetryable)) };
                recorder.request_ended(GroupId(0), RequestEnd { start, attempts: 1, result, in_doubt: false }, at);
            }
        }
    }
}

/// A plan with one group, one service and one fault. Its windows are told by hand.
fn one_fault() -> Plan {
    let text = r#"
        version = 1
        name = "story"
        clients.web = { arrivals = { burst = {} }, calls.db = {} }
        services.db = {}
        faults.outage = { on = ["db"], until = "1s", effect = "refuse" }
    "#;
    let scenario = Scenario::parse("story", text, Path::new(""), &Overrides::default()).unwrap();
    scenario.variants()[0].1.clone()
}
