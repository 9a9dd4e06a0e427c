//! Whether clients get what they ask for after a fault, and from when on.
//!
//! Counts are taken over the client groups that have a path to the fault's targets. Seconds are closed when time has
//! gone past them, by comparing the recorder's totals: per request only its end is looked at, and only while a
//! recovery is looked for.

use std::collections::VecDeque;

use crate::metrics::outcome::{Aftermath, FaultTally, RequestFlow};
use crate::plan::{FaultId, GroupId, Origin, Plan, ServiceId, Target};
use crate::time::{Instant, Span};

const SECOND: Span = Span::from_s(1);

/// The meters of all faults.
#[derive(Debug)]
pub(super) struct Recoveries {
    meters: Vec<Meter>,
    /// How many of them look for a recovery.
    searching: usize,
}

/// What became of the requests of some groups, as counts that only grow.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    begun: u64,
    succeeded: u64,
    ended: u64,
}

/// The meter of one fault.
#[derive(Debug)]
struct Meter {
    /// By group: whether it has a path to what the fault strikes.
    groups: Vec<bool>,
    rule: Rule,
    windows: u64,
    /// The end of the last window, unless one is open.
    last_end: Option<Instant>,
    state: State,
    /// The end of the current second of the run, and the counts at its start.
    second_end: Instant,
    at_second: Counts,
    last_bad: Option<Instant>,
}

/// How far the meter has come since the last window.
#[derive(Debug)]
enum State {
    /// There was no window, or one is open.
    Idle,
    /// No second was good so far.
    Searching(Search),
    /// The first good second begins so long after the end of the window.
    Found(Span),
}

/// When clients get what they ask for.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// For so many seconds.
    hold: usize,
    share: f64,
}

impl Rule {
    fn hold_span(self) -> Span {
        Span::from_s(self.hold as u64)
    }

    /// Whether `part` is the share of `whole` that is asked for. A decimal share is no binary fraction, and 0.07 of 100
    /// would be more than 7: rounding does not decide.
    fn is_met(self, part: u64, whole: u64) -> bool {
        part as f64 >= self.share * whole as f64 * (1.0 - f64::EPSILON)
    }
}

/// The search for the first good second after a window.
#[derive(Debug)]
struct Search {
    /// The end of the window.
    from: Instant,
    /// The start of the current second, counted from there.
    second: Instant,
    /// The counts at that instant.
    at_second: Counts,
    /// Requests that have begun and ended in the current second.
    young_ended: u64,
    /// Requests that have begun since the end of the window: those that have ended, and that well.
    new_ended: u64,
    new_succeeded: u64,
    /// Whether enough of them had at the start of the current second.
    is_well_so_far: bool,
    /// The seconds that may be the first good one, or decide whether an earlier one is; fewer than the rule's.
    seconds: VecDeque<Second>,
    /// Their sums.
    begun: u64,
    succeeded: u64,
    /// Whether there was time for any second to be good.
    judged: bool,
}

/// What happened in a second.
#[derive(Clone, Copy, Debug)]
struct Second {
    start: Instant,
    begun: u64,
    succeeded: u64,
    /// Open at its start.
    open: u64,
    /// Begun in it, and open at its end.
    young_open: u64,
    /// Of those that had begun since the end of the window and ended before it, whether enough did so well.
    is_well_so_far: bool,
}

impl Recoveries {
    /// No window has begun.
    pub fn new(plan: &Plan) -> Self {
        let rule = Rule { hold: (plan.recovery.hold.as_ns() / SECOND.as_ns()) as usize, share: plan.recovery.share };
        let meter = |id: u32| Meter {
            groups: exposed_groups(plan, FaultId(id)),
            rule,
            windows: 0,
            last_end: None,
            state: State::Idle,
            second_end: Instant::ZERO + SECOND,
            at_second: Counts::default(),
            last_bad: None,
        };
        Self { meters: (0..plan.faults.len() as u32).map(meter).collect(), searching: 0 }
    }

    /// A window begins. What was measured since the one before it does not count.
    pub fn fault_began(&mut self, fault: FaultId) {
        let meter = &mut self.meters[fault.index()];
        meter.windows += 1;
        meter.last_end = None;
        meter.state = State::Idle;
        self.count_searches();
    }

    /// The window ends, before anything else that happens at this instant. Returns when its first second is over.
    pub fn fault_ended<'f>(
        &mut self,
        fault: FaultId,
        now: Instant,
        flows: impl Iterator<Item = &'f RequestFlow>,
    ) -> Instant {
        let meter = &mut self.meters[fault.index()];
        meter.last_end = Some(now);
        meter.state = State::Searching(Search::new(now, meter.counts(flows)));
        self.count_searches();
        now + SECOND
    }

    fn count_searches(&mut self) {
        self.searching = self.meters.iter().filter(|meter| matches!(meter.state, State::Searching(_))).count();
    }

    /// A request that began at `start` has ended, and that well or not.
    #[inline]
    pub fn request_ended(&mut self, group: GroupId, start: Instant, is_well: bool) {
        if self.searching > 0 {
            self.count_end(group, start, is_well);
        }
    }

    fn count_end(&mut self, group: GroupId, start: Instant, is_well: bool) {
        for meter in &mut self.meters {
            if let State::Searching(search) = &mut meter.state
                && meter.groups[group.index()]
            {
                search.young_ended += u64::from(start >= search.second);
                search.new_ended += u64::from(start >= search.from);
                search.new_succeeded += u64::from(start >= search.from && is_well);
            }
        }
    }

    /// When the next second is over; none without faults.
    pub fn border(&self) -> Option<Instant> {
        self.meters.iter().map(Meter::border).min()
    }

    /// Closes every second that is over by `now`. Nothing has happened since the last event before it.
    pub fn close<'f>(&mut self, now: Instant, flows: impl Iterator<Item = &'f RequestFlow> + Clone) {
        for meter in self.meters.iter_mut().filter(|meter| meter.border() <= now) {
            let counts = meter.counts(flows.clone());
            while meter.second_end <= now {
                meter.close_second(counts);
            }
            meter.search_until(now, counts);
        }
        self.count_searches();
    }

    /// What has come out by the `end` of the run. `drained`: nothing would come after it.
    pub fn finish<'f>(
        mut self,
        end: Instant,
        drained: bool,
        flows: impl Iterator<Item = &'f RequestFlow> + Clone,
    ) -> Vec<FaultTally> {
        self.close(end, flows.clone());
        if drained {
            for meter in &mut self.meters {
                let counts = meter.counts(flows.clone());
                meter.close_second(counts);
                // From the first second after the end on nothing arrives, and nothing is open.
                meter.search_until(end + meter.rule.hold_span() + SECOND, counts);
            }
        }
        self.meters.into_iter().map(|meter| meter.tally(end)).collect()
    }
}

impl Meter {
    fn counts<'f>(&self, flows: impl Iterator<Item = &'f RequestFlow>) -> Counts {
        let counted = flows.zip(&self.groups).filter(|(_, counts)| **counts);
        counted.fold(Counts::default(), |sum, (flow, _)| Counts {
            begun: sum.begun + flow.requests,
            succeeded: sum.succeeded + flow.succeeded,
            ended: sum.ended + flow.succeeded + flow.ended_badly(),
        })
    }

    /// When the next second is over.
    fn border(&self) -> Instant {
        match &self.state {
            State::Searching(search) => self.second_end.min(search.second + SECOND),
            State::Idle | State::Found(_) => self.second_end,
        }
    }

    /// The current second of the run is over.
    fn close_second(&mut self, counts: Counts) {
        let (begun, succeeded) = (counts.begun - self.at_second.begun, counts.succeeded - self.at_second.succeeded);
        if !self.rule.is_met(succeeded + 1, begun) {
            self.last_bad = Some(Instant::from_ns(self.second_end.as_ns() - SECOND.as_ns()));
        }
        self.at_second = counts;
        self.second_end = self.second_end + SECOND;
    }

    /// Looks for the first good second among those that can be judged by `now`.
    fn search_until(&mut self, now: Instant, counts: Counts) {
        let State::Searching(search) = &mut self.state else { return };
        while search.second + SECOND <= now {
            if let Some(good) = search.close_second(self.rule, counts) {
                self.state = State::Found(good);
                return;
            }
        }
    }

    fn tally(self, end: Instant) -> FaultTally {
        // A run that is cut off where virtual time ends has ended with its last event; windows may have ended since.
        let last_end = self.last_end.filter(|at| *at <= end);
        FaultTally {
            windows: self.windows,
            last_end,
            observed: last_end.map(|at| end.since(at)),
            aftermath: match self.state {
                State::Found(after) => Aftermath::Recovered(after),
                State::Searching(Search { judged: true, .. }) => Aftermath::Unrecovered,
                State::Searching(_) | State::Idle => Aftermath::Untold,
            },
            last_bad: self.last_bad,
        }
    }
}

impl Search {
    fn new(from: Instant, counts: Counts) -> Self {
        Self {
            from,
            second: from,
            at_second: counts,
            young_ended: 0,
            new_ended: 0,
            new_succeeded: 0,
            is_well_so_far: true,
            seconds: VecDeque::new(),
            begun: 0,
            succeeded: 0,
            judged: false,
        }
    }

    /// The current second is over. Returns when the second was that is known to be good now, if it is.
    fn close_second(&mut self, rule: Rule, counts: Counts) -> Option<Span> {
        let begun = counts.begun - self.at_second.begun;
        let last = Second {
            start: self.second,
            begun,
            succeeded: counts.succeeded - self.at_second.succeeded,
            open: self.at_second.begun - self.at_second.ended,
            young_open: begun - self.young_ended,
            is_well_so_far: self.is_well_so_far,
        };
        self.is_well_so_far = rule.is_met(self.new_succeeded, self.new_ended);
        self.seconds.push_back(last);
        self.begun += last.begun;
        self.succeeded += last.succeeded;
        (self.second, self.at_second, self.young_ended) = (self.second + SECOND, counts, 0);
        if self.seconds.len() < rule.hold {
            return None;
        }
        self.judged = true;
        let first = self.seconds.pop_front()?;
        let is_good = if self.begun == 0 {
            // That nobody asks any more is no proof that it works: those who asked last decide.
            first.open == 0 && first.is_well_so_far
        } else {
            first.succeeded > 0 && rule.is_met(self.succeeded, self.begun - last.young_open)
        };
        self.begun -= first.begun;
        self.succeeded -= first.succeeded;
        is_good.then(|| first.start.since(self.from))
    }
}

/// By group whether any of its requests may lead to what a fault strikes: a call, or a service. A fault on a group also
/// strikes the services that its requests lead to, and so all groups that meet it there.
fn exposed_groups(plan: &Plan, fault: FaultId) -> Vec<bool> {
    let mut groups = vec![false; plan.groups.len()];
    let mut services = vec![false; plan.services.len()];
    let mut ahead: Vec<Origin> = Vec::new();
    for target in &plan.faults[fault.index()].targets {
        ahead.push(match *target {
            Target::Service(service) => Origin::Service(service),
            Target::Call(call) => plan.calls[call.index()].origin,
            Target::Group(group) => Origin::Group(group),
        });
        if let Target::Group(group) = *target {
            ahead.extend(services_below(plan, group).map(Origin::Service));
        }
    }
    while let Some(origin) = ahead.pop() {
        match origin {
            Origin::Group(group) => groups[group.index()] = true,
            Origin::Service(service) if !services[service.index()] => {
                services[service.index()] = true;
                ahead.extend(plan.calls.iter().filter(|call| call.target == service).map(|call| call.origin));
            }
            Origin::Service(_) => {}
        }
    }
    groups
}

/// The services that the requests of a group may lead to.
fn services_below(plan: &Plan, group: GroupId) -> impl Iterator<Item = ServiceId> {
    let mut reached = vec![false; plan.services.len()];
    let mut ahead = vec![Origin::Group(group)];
    while let Some(origin) = ahead.pop() {
        for call in plan.calls.iter().filter(|call| call.origin == origin) {
            if !std::mem::replace(&mut reached[call.target.index()], true) {
                ahead.push(Origin::Service(call.target));
            }
        }
    }
    (0..).map(ServiceId).zip(reached).filter_map(|(service, is_reached)| is_reached.then_some(service))
}
