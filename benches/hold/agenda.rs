//! The hold model on the agenda.

use stormsim::sim::agenda::{Agenda, Event, Sequence};
use stormsim::time::{Instant, Span};

use crate::hold::Delays;

/// An agenda in the steady state of the hold model.
pub struct AgendaHold {
    agenda: Agenda,
    delays: Delays,
}

impl AgendaHold {
    /// With so many events pending, which lie as they do in the steady state.
    pub fn new(pending: u32) -> Self {
        let mut model = Self { agenda: Agenda::new(Instant::LIMIT, &[]), delays: Delays::new() };
        for index in 0..pending {
            model.agenda.schedule(Span::from_ns(model.delays.next()), Event::new(0, index));
        }
        for _ in 0..pending {
            model.hold();
        }
        model
    }

    /// One hold operation.
    pub fn hold(&mut self) -> Sequence {
        let (event, sequence) = self.agenda.pop(|_, _| true).expect("as many are pending as ever");
        self.agenda.schedule(Span::from_ns(self.delays.next()), event);
        sequence
    }
}
