//! What becomes of hedged attempts, of what the rules treat in a way of its own.

use stormsim::plan::{Cancel, Hedge, InProgressRule, Keys};
use stormsim::time::{Instant, Span};

use crate::reference::record::{Attempt, AttemptEnd, Caller, Known, LeftOut, Work};

use super::cancelling::is_cancelled;
use super::{Cases, after};

impl Cases<'_> {
    pub(super) fn copies_sent(&self) -> Vec<(&'static str, bool)> {
        let hedge = |shows: &dyn Fn(&Attempt) -> bool| self.attempt(|it| it.hedge > 0 && shows(it));
        let left_out = |why: LeftOut, by_instance: bool| {
            self.record.left_out.iter().any(|&(_, call, left_out)| {
                let hedge = self.plan.calls[call.index()].hedge;
                left_out == why && hedge.is_some_and(|hedge| hedge.by_instance == by_instance)
            })
        };
        let makes_calls = |it: &Attempt| self.work_of(it).is_some_and(|work| !work.steps.is_empty());
        let is_due_at = |it: &Attempt, at: Instant| {
            let next = |hedge: Hedge, sent: Instant| {
                (0..=it.due).fold(sent, |due, _| due + hedge.after.after) == at && it.due < hedge.copies
            };
            self.settings(it).hedge.zip(it.sent).is_some_and(|(hedge, sent)| next(hedge, sent))
        };
        let is_over_as = |it: &Attempt, shows: &dyn Fn(Option<AttemptEnd>) -> bool| {
            it.hedge == 0 && shows(it.end()) && it.over.is_some_and(|over| is_due_at(it, over))
        };
        vec![
            ("a hedge", hedge(&|_| true)),
            (
                "a hedge beside a hedge",
                hedge(&|it| {
                    it.hedge > 1 && self.attempt(|other| other.first == it.first && other.hedge == it.hedge - 1)
                }),
            ),
            (
                "a hedge after one that was left out",
                hedge(&|it| {
                    let siblings = self.record.attempts.iter().filter(|other| other.first == it.first);
                    (siblings.filter(|other| (1..it.hedge).contains(&other.hedge)).count() as u32) < it.hedge - 1
                }),
            ),
            ("a hedge that takes a slot", hedge(&|it| self.settings(it).pool.is_some())),
            ("left out, as an instance has enough under way", left_out(LeftOut::InFlight, true)),
            ("left out, as enough are under way", left_out(LeftOut::InFlight, false)),
            ("left out for lack of a slot", left_out(LeftOut::NoSlot, true) || left_out(LeftOut::NoSlot, false)),
            ("a hedge of a retry", hedge(&|it| it.number > 1)),
            ("a hedge of work", hedge(&|it| matches!(self.record.calls[it.call].caller, Caller::Work(_)))),
            ("a hedge that makes calls", hedge(&makes_calls)),
            (
                "a hedge of what had waited for a slot",
                hedge(&|it| {
                    let first = &self.record.attempts[it.first];
                    first.sent > Some(first.started)
                }),
            ),
            ("a hedge that is told a deadline", hedge(&|it| it.deadline_told.is_some())),
            (
                "a hedge that goes elsewhere",
                hedge(&|it| {
                    self.settings(it).avoid_previous
                        && it.avoids.is_some()
                        && it.picked.is_some()
                        && it.picked != it.avoids
                }),
            ),
            ("a hedge at the same server", hedge(&|it| it.avoids.is_some() && it.picked == it.avoids)),
            (
                "a hedge that would be due as the answer comes",
                self.attempt(|it| is_over_as(it, &|end| matches!(end, Some(AttemptEnd::Answered(_))))),
            ),
            (
                "a hedge that would be due as the attempt is given up",
                self.attempt(|it| is_over_as(it, &|end| end == Some(AttemptEnd::GivenUp))),
            ),
        ]
    }

    pub(super) fn ends_of_copies(&self) -> Vec<(&'static str, bool)> {
        let over = |it: &Attempt| self.record.attempts[it.first].over;
        let has_copies = |it: &Attempt| self.attempt(|other| other.first == it.first && other.hedge > 0);
        let any = |shows: &dyn Fn(&Attempt) -> bool| self.attempt(|it| has_copies(it) && shows(it));
        let others = |it: &Attempt, shows: &dyn Fn(&Attempt) -> bool| {
            self.attempt(|other| other.first == it.first && other.hedge != it.hedge && shows(other))
        };
        let wins = |it: &Attempt| it.end() == Some(AttemptEnd::Answered(Ok(())));
        let answered_badly = |it: &Attempt| matches!(it.end(), Some(AttemptEnd::Answered(Err(_))));
        let given_up = |it: &Attempt| it.end() == Some(AttemptEnd::GivenUp);
        let ended = |it: &Attempt| it.ended.map(|(at, _)| at);
        let fails_alone = |it: &Attempt| ended(it).is_some() && (over(it).is_none() || ended(it) < over(it));
        let all_at = |it: &Attempt, at: Option<Instant>| {
            given_up(it) && ended(it) == at && others(it, &|other| given_up(other) && ended(other) == at)
        };
        let at_connect_timeout = |it: &Attempt| {
            let connects_until = it.sent.and_then(|sent| after(sent, self.settings(it).connect_timeout));
            given_up(it) && ended(it) == connects_until
        };
        let ends_attempt = |it: &Attempt| ended(it) == over(it) && self.record.calls[it.call].abandoned.is_none();
        vec![
            ("the first copy wins", any(&|it| it.hedge == 0 && wins(it))),
            ("a hedge wins", any(&|it| it.hedge > 0 && wins(it))),
            (
                "a hedge wins after the first copy has failed",
                any(&|it| it.hedge > 0 && wins(it) && others(it, &|other| other.hedge == 0 && answered_badly(other))),
            ),
            ("a hedge of a call of copies wins", any(&|it| it.hedge > 0 && wins(it) && self.settings(it).copies > 1)),
            (
                "the first copy fails while another goes on",
                any(&|it| it.hedge == 0 && answered_badly(it) && fails_alone(it)),
            ),
            ("a hedge fails while another goes on", any(&|it| it.hedge > 0 && answered_badly(it) && fails_alone(it))),
            (
                "a hedge is due after the first copy has failed",
                any(&|it| {
                    it.hedge > 0
                        && it.sent > ended(&self.record.attempts[it.first])
                        && ended(&self.record.attempts[it.first]).is_some()
                }),
            ),
            ("all copies fail", any(&|it| answered_badly(it) && ends_attempt(it))),
            (
                "tried again after all copies have failed",
                any(&|it| answered_badly(it) && ends_attempt(it) && self.record.calls[it.call].started > it.number),
            ),
            (
                "fails before a hedge is due",
                self.attempt(|it| {
                    let hedge = self.settings(it).hedge;
                    it.hedge == 0
                        && hedge.is_some_and(|hedge| it.due < hedge.copies)
                        && answered_badly(it)
                        && ends_attempt(it)
                }),
            ),
            ("all copies given up at the timeout", any(&|it| all_at(it, self.timeout(it)))),
            ("all copies given up at the deadline", any(&|it| all_at(it, self.limit(it)))),
            (
                "the first copy does not connect, and the attempt goes on",
                any(&|it| it.hedge == 0 && at_connect_timeout(it) && fails_alone(it)),
            ),
            (
                "a hedge does not connect, and the attempt goes on",
                any(&|it| it.hedge > 0 && at_connect_timeout(it) && fails_alone(it)),
            ),
            (
                "a hedge does not connect, and was the last copy",
                any(&|it| it.hedge > 0 && at_connect_timeout(it) && ends_attempt(it)),
            ),
            (
                "a hedge meets a black hole, and does not connect",
                any(&|it| it.hedge > 0 && it.swallowed.is_some() && at_connect_timeout(it)),
            ),
            (
                "a hedge that does not connect before the timeout",
                any(&|it| it.hedge > 0 && it.lost.is_some() && given_up(it) && !at_connect_timeout(it)),
            ),
            ("a lost copy that another outruns", any(&|it| it.lost.is_some() && it.end() == Some(AttemptEnd::Outrun))),
            (
                "a call that is abandoned with its hedges",
                any(&|it| it.end() == Some(AttemptEnd::Abandoned) && others(it, &|other| other.end() == it.end())),
            ),
            ("a hedge under way at the end", any(&|it| it.hedge > 0 && it.ended.is_none())),
        ]
    }

    pub(super) fn losers(&self) -> Vec<(&'static str, bool)> {
        let loses = |told: bool, shows: &dyn Fn(&Attempt, Instant) -> bool| {
            self.attempt(|it| match it.ended {
                Some((at, AttemptEnd::Outrun)) => {
                    self.settings(it).hedge.is_some_and(|hedge| hedge.cancel_losers == told) && shows(it, at)
                }
                _ => false,
            })
        };
        let cancel = |it: &Attempt| self.plan.services[self.settings(it).target.index()].capacity.cancel;
        let work = |it: &Attempt, shows: &dyn Fn(&Work) -> bool| self.work_of(it).is_some_and(shows);
        let ended_at = |it: &Work| it.ended.map(|(moment, _)| moment.at);
        let is_cancelled_at = |it: &Work, at: Instant| is_cancelled(it) && ended_at(it) == Some(at);
        let goes_on = |it: &Attempt, at: Instant| {
            work(it, &|work| !is_cancelled(work) && work.arrived.at < at && ended_at(work) > Some(at))
        };
        let gives_slot_on = |it: &Attempt, at: Instant| {
            self.attempt(|other| other.id == it.id && other.sent == Some(at) && other.started < at && other.hedge == 0)
        };
        vec![
            (
                "a loser that is cancelled in a queue",
                loses(true, &|it, at| {
                    work(it, &|work| is_cancelled_at(work, at) && work.began.is_none() && work.queued.is_some())
                }),
            ),
            (
                "a loser that is cancelled at work",
                loses(true, &|it, at| work(it, &|work| is_cancelled_at(work, at) && work.began.is_some())),
            ),
            (
                "a loser that goes on, as its service ignores it",
                loses(true, &|it, at| cancel(it) == Cancel::Ignore && goes_on(it, at)),
            ),
            (
                "a loser that goes on, as nobody is told",
                loses(false, &|it, at| cancel(it) == Cancel::Running && goes_on(it, at)),
            ),
            (
                "a loser that is cancelled as it arrives",
                loses(true, &|it, at| {
                    work(it, &|work| is_cancelled(work) && work.server.is_none() && work.arrived.at > at)
                }),
            ),
            (
                "a loser that is let in as it arrives, as nobody is told",
                loses(false, &|it, at| {
                    cancel(it) != Cancel::Ignore && work(it, &|work| work.server.is_some() && work.arrived.at > at)
                }),
            ),
            ("an answer to a loser", loses(false, &|it, _| it.answered_late.is_some())),
            ("a loser that gives its slot on", loses(true, &gives_slot_on) || loses(false, &gives_slot_on)),
            ("a loser that is a hedge", loses(true, &|it, _| it.hedge > 0)),
            ("a loser that is the first copy", loses(true, &|it, _| it.hedge == 0)),
        ]
    }

    pub(super) fn hedged_operations(&self) -> Vec<(&'static str, bool)> {
        let is_sibling = |it: &Work, other: &Work| self.attempt_of(it).first == self.attempt_of(other).first;
        let known = |shows: &dyn Fn(&Work, Known) -> bool| {
            self.work(|it| it.recognised.is_some_and(|(_, known)| self.attempt_of(it).hedge > 0 && shows(it, known)))
        };
        let being_done = |rule: InProgressRule| {
            known(&|it, known| match known {
                Known::BeingDone(by) => {
                    let is_rule = self.store(it).is_some_and(|store| store.in_progress == rule);
                    is_rule && is_sibling(it, &self.record.works[by])
                }
                _ => false,
            })
        };
        vec![
            ("a hedge that waits for what its sibling does", being_done(InProgressRule::Wait)),
            ("a hedge that is refused, as its sibling does it", being_done(InProgressRule::Refuse)),
            (
                "a hedge that gets the result of its sibling",
                known(&|it, known| match known {
                    Known::Done(by) => is_sibling(it, &self.record.works[by]),
                    _ => false,
                }),
            ),
            (
                "a hedge that does what a sibling was cancelled in",
                known(&|it, known| match known {
                    Known::BeingDone(by) => {
                        it.resumed.is_some()
                            && is_cancelled(&self.record.works[by])
                            && is_sibling(it, &self.record.works[by])
                    }
                    _ => false,
                }),
            ),
            (
                "a hedge with a key of its own",
                self.work(|it| {
                    let per_attempt = self.request(|request| {
                        self.group(request).operations.keys == Keys::PerAttempt
                            && self.is_beneath(self.attempt_of(it), request)
                    });
                    self.attempt_of(it).hedge > 0 && it.does.is_some() && per_attempt
                }),
            ),
            (
                "written twice by siblings",
                self.work(|it| {
                    let twice = |other: &Work| is_sibling(it, other) && other.executed.is_some();
                    it.executed.is_some()
                        && self.attempt_of(it).hedge > 0
                        && self.work(|other| {
                            twice(other) && self.attempt_of(other).hedge == 0 && other.service_time > Span::ZERO
                        })
                }),
            ),
        ]
    }
}
