//! How breakers, hedges and ejections may move, followed through the notes of a run.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stormsim::dist::{Purpose, draw};
use stormsim::plan::{CallId, Plan, ServiceId};
use stormsim::policy::{Breaker, Counts, Position};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::copies::Copies;
use super::lineage::{Lineage, Possible};

/// An open breaker lets nothing through and does not open again before its time is over; no more hedges are under way
/// than may be, and no more servers ejected; and nothing goes to a server that is ejected while there is another.
pub fn are_followed(plan: &Plan, notes: &[(Instant, Note)], seed: u64) -> Result<(), TestCaseError> {
    let mut diagrams = Diagrams {
        plan,
        lineage: Lineage::new(plan, seed),
        copies: Copies::default(),
        open_until: BTreeMap::new(),
        last_ended: None,
        ejected: plan.services.iter().map(|it| vec![Ejected::default(); it.capacity.instances as usize]).collect(),
    };
    for &(at, note) in notes {
        diagrams.follow(at, note)?;
    }
    Ok(())
}

/// What the notes tell of a server.
#[derive(Clone, Copy, Default)]
struct Ejected {
    times: u64,
    until: Instant,
}

struct Diagrams<'a> {
    plan: &'a Plan,
    lineage: Lineage<'a>,
    copies: Copies,
    /// By call, and by the instance of its caller, or 0 for all: until when a breaker is open at least.
    open_until: BTreeMap<(CallId, usize), Instant>,
    /// The attempt that has ended last: if a breaker opens then, because of that.
    last_ended: Option<u64>,
    /// By service and server.
    ejected: Vec<Vec<Ejected>>,
}

impl Diagrams<'_> {
    fn follow(&mut self, at: Instant, note: Note) -> Result<(), TestCaseError> {
        self.lineage.enter(note);
        let ended = self.copies.enter(&self.lineage, note);
        match note {
            Note::Opened { call, instance } => self.opens(at, call, instance as usize)?,
            Note::Sent { call, hedge: 0, key, .. } => self.passes_breaker(at, call, key)?,
            Note::Sent { call, key, .. } => self.passes_limit(call, key)?,
            Note::Ejected { service, server } => self.ejects(at, service, server)?,
            Note::Placed { key, server } => {
                let service = self.plan.calls[self.lineage.of(key).id.index()].target;
                let servers = &self.ejected[service.index()];
                let is_free = servers[server as usize].until <= at || servers.iter().all(|it| it.until > at);
                prop_assert!(is_free, "{note:?}, which is ejected");
            }
            // The last of a call that counts may have been turned away.
            Note::TurnedAway { key, .. } => self.last_ended = Some(key),
            Note::Answer { .. } | Note::TimedOut { .. } => self.last_ended = ended.or(self.last_ended),
            _ => {}
        }
        Ok(())
    }

    fn breaker(&self, call: CallId) -> Option<&Breaker> {
        self.plan.calls[call.index()].breaker.as_deref().map(|guard| &guard.rule)
    }

    /// Times do not shrink from one opening to the next, and one draw makes of a longer nominal time no shorter one:
    /// what the first in a row would be is the least.
    fn opens(&mut self, at: Instant, call: CallId, instance: usize) -> Result<(), TestCaseError> {
        let breaker = self.breaker(call).expect("only breakers open");
        let Possible { call: call_key, attempt, .. } = self.lineage.of(self.last_ended.expect("something has ended"));
        let key = match breaker.counts {
            Counts::Attempts => attempt,
            Counts::Calls => call_key,
        };
        let until = at + breaker.open.wait(1, Span::ZERO, draw(key, Purpose::Open));
        let before = self.open_until.insert((call, instance), until);
        prop_assert!(before.is_none_or(|before| before <= at), "the breaker of {call:?} opens while it is open");
        Ok(())
    }

    /// What waits for a slot has been let through before.
    fn passes_breaker(&self, at: Instant, call: CallId, key: u64) -> Result<(), TestCaseError> {
        let settings = &self.plan.calls[call.index()];
        let Some(guard) = settings.breaker.as_deref() else { return Ok(()) };
        let Possible { instance, number, .. } = self.lineage.of(key);
        let is_asked = guard.rule.position == Position::Inside || number == 1;
        let instance = if guard.by_instance { instance } else { 0 };
        let until = self.open_until.get(&(call, instance)).filter(|_| is_asked && settings.pool.is_none());
        prop_assert!(until.is_none_or(|&until| until <= at), "{call:?} passes a breaker that is open");
        Ok(())
    }

    fn passes_limit(&self, call: CallId, key: u64) -> Result<(), TestCaseError> {
        let hedge = self.plan.calls[call.index()].hedge.expect("only hedged calls have hedges");
        let instance = self.lineage.of(key).instance;
        let is_counted =
            |it: &Possible| it.id == call && it.hedge > 0 && (!hedge.by_instance || it.instance == instance);
        let under_way = self.copies.under_way().map(|key| self.lineage.of(key)).filter(is_counted).count();
        prop_assert!(under_way <= hedge.in_flight as usize, "{under_way} hedges of {call:?} are under way");
        Ok(())
    }

    fn ejects(&mut self, at: Instant, service: ServiceId, server: u32) -> Result<(), TestCaseError> {
        let rule = self.plan.services[service.index()].capacity.ejection.expect("nothing else ejects");
        let servers = &mut self.ejected[service.index()];
        let this = &mut servers[server as usize];
        prop_assert!(this.until <= at, "server {server} of {service:?} is ejected already");
        this.times += 1;
        this.until = at + Span::from_ns(rule.longest.as_ns().min(rule.ejected_for.as_ns() * this.times));
        let ejected = servers.iter().filter(|it| it.until > at).count();
        prop_assert!(ejected <= rule.most as usize, "{ejected} servers of {service:?} are ejected");
        Ok(())
    }
}
