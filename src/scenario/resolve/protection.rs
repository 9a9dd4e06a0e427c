//! Breakers, throttles and hedges of calls, and the ejection of servers.

use crate::failure::{ErrorKind, ErrorSet};
use crate::plan::{Capacity, Guard, Hedge};
use crate::policy::{
    Backoff, Badness, Breaker, CapOrder, Counts, Ejection, Jitter, Over, Position, Schedule, Throttle, ThrottleRule,
    Trip,
};
use crate::scenario::counts::{Failures, HedgesInFlight, MinCalls, Probes, WindowCalls};
use crate::scenario::field::{Field, OrNone, Spanned};
use crate::scenario::resolve::Resolver;
use crate::scenario::resolve::capacity::narrow;
use crate::scenario::source::Place;
use crate::scenario::tables::{
    AdaptiveTable, AdmissionTable, BreakerTable, CallTable, CountTable, CountsChoice, EjectionTable, HedgeTable,
    PositionChoice, SharedByChoice, ThrottleChoice, TripChoice,
};
use crate::scenario::values::{AboveZeroShare, AtLeastOne, Duration, Share};
use crate::time::Span;

const NO_BREAKER: &str = "for no breaker write `breaker = \"none\"`";
const NO_THROTTLE: &str = "for no throttle write `throttle = \"none\"`";
const NO_HEDGE: &str = "for a copy at once, send it after `\"1ns\"`; for no hedge write `hedge = \"none\"`";
const NO_EJECTION: &str = "for no ejection write `ejection = \"none\"`";

/// The K of "Site Reliability Engineering" (2016), chapter 21, and the time that it looks back.
const ADAPTIVE_K: f64 = 2.0;
const ADAPTIVE_WINDOW: Span = Span::from_s(120);

/// Envoy's defaults of admission control.
const ADMISSION: ThrottleRule = ThrottleRule::Admission { success: 0.95, aggression: 1.0, max: 0.8 };
const ADMISSION_WINDOW: Span = Span::from_s(30);

/// Envoy's defaults of outlier detection.
const EJECTION_FAILURES: u32 = 5;
const EJECTED_FOR: Span = Span::from_s(30);
const EJECTED_SHARE: u64 = 100_000;

impl Resolver<'_> {
    /// The breaker of the call at `path`.
    pub(super) fn breaker(&mut self, path: &str, table: &CallTable) -> Option<Guard<Breaker>> {
        let given = table.breaker.spanned()?;
        let breaker = given.value.value()?;
        let owner = format!("`{path}.breaker`");
        self.require(&breaker.trip, &owner, "trip", "{ consecutive = 5 }", Some(&given.place));
        self.require(&breaker.open_for, &owner, "open_for", "\"5s\"", Some(&given.place));
        self.above_zero(&breaker.open_for, &owner, "open_for", NO_BREAKER);
        let trip = breaker.trip.get().and_then(|trip| self.trip(&format!("{path}.breaker.trip"), trip))?;
        let position = match breaker.position.get() {
            None | Some(PositionChoice::Inside) => Position::Inside,
            Some(PositionChoice::Outside) => Position::Outside,
        };
        let counts = match (breaker.counts.get(), position) {
            (Some(CountsChoice::Attempts), _) | (None, Position::Inside) => Counts::Attempts,
            (Some(CountsChoice::Calls), _) | (None, Position::Outside) => Counts::Calls,
        };
        let rule = Breaker {
            trip,
            failure_on: failures(&breaker.failure_on),
            open: self.open_times(path, breaker),
            half_open: match breaker.half_open.get() {
                None => 1,
                Some(limit) => limit.value().map_or(Breaker::NO_LIMIT, |&Probes(count)| narrow(count)),
            },
            counts,
            position,
        };
        Some(Guard { rule, by_instance: by_instance(&breaker.shared_by) })
    }

    /// How long a breaker is open.
    fn open_times(&mut self, path: &str, table: &BreakerTable) -> Schedule {
        let base = span(&table.open_for).unwrap_or(Span::ZERO);
        let factor = table.open_factor.get().map_or(1.0, |&AtLeastOne(factor)| factor);
        let cap = self.limit(&table.open_cap, &format!("`{path}.breaker.open_cap`"));
        if let Some(given) = table.open_cap.spanned().filter(|_| cap.is_some_and(|cap| Span::ZERO < cap && cap < base))
        {
            let message = format!("`{path}.breaker`: `open_cap` must not be below `open_for`");
            self.refuse(&given.place, message, "leave it out if the time does not grow");
        }
        let jitter = match table.open_jitter.get() {
            None => Jitter::None,
            Some(choice) => self.jitter(&format!("{path}.breaker.open_jitter"), choice),
        };
        let cap = cap.unwrap_or(Span::UNLIMITED);
        Schedule::new(Backoff::Exponential { base, factor }, cap, CapOrder::BeforeJitter, jitter)
    }

    fn trip(&mut self, path: &str, choice: &TripChoice) -> Option<Trip> {
        match choice {
            TripChoice::Consecutive(Spanned { value: Failures(count), .. }) => Some(Trip::Consecutive(narrow(*count))),
            TripChoice::Count(table) => self.count(path, &table.value, &table.place),
            TripChoice::Ratio(Spanned { value: table, place }) => {
                let owner = format!("`{path}.ratio`");
                self.require(&table.failures, &owner, "failures", "0.5", Some(place));
                let over = self.over(&owner, &table.window, &table.calls, &table.min_calls, place);
                let (&AboveZeroShare(share), (over, min_calls)) = (table.failures.get()?, over?);
                Some(Trip::Ratio { of: Badness::Failure, share: trip_share(share), over, min_calls })
            }
            TripChoice::Slow(Spanned { value: table, place }) => {
                let owner = format!("`{path}.slow`");
                self.require(&table.over, &owner, "over", "\"2s\"", Some(place));
                self.require(&table.ratio, &owner, "ratio", "0.5", Some(place));
                let over = self.over(&owner, &table.window, &table.calls, &table.min_calls, place);
                let (&Duration(limit), &AboveZeroShare(share)) = (table.over.get()?, table.ratio.get()?);
                let (over, min_calls) = over?;
                Some(Trip::Ratio { of: Badness::SlowerThan(limit), share: trip_share(share), over, min_calls })
            }
        }
    }

    fn count(&mut self, path: &str, table: &CountTable, place: &Place) -> Option<Trip> {
        let owner = format!("`{path}.count`");
        self.require(&table.failures, &owner, "failures", "6", Some(place));
        self.require(&table.window, &owner, "window", "\"1s\"", Some(place));
        self.above_zero(&table.window, &owner, "window", "for failures in a row write `{ consecutive = 6 }`");
        let (&Failures(failures), &Duration(window)) = (table.failures.get()?, table.window.get()?);
        Some(Trip::Count { failures: narrow(failures), window, sliding: table.sliding.get() != Some(&false) })
    }

    /// Of what a ratio is taken, and how many there must be.
    fn over(
        &mut self,
        owner: &str,
        window: &Field<Duration>,
        calls: &Field<WindowCalls>,
        min_calls: &Field<MinCalls>,
        place: &Place,
    ) -> Option<(Over, u32)> {
        self.above_zero(window, owner, "window", NO_BREAKER);
        if window.is_absent() && calls.is_absent() {
            let message = format!("{owner} has neither `window` nor `calls`");
            self.refuse(place, message, "add `window = \"10s\"`, or `calls = 100`");
        }
        self.require(min_calls, owner, "min_calls", "20", Some(place));
        let least = min_calls.get().map(|&MinCalls(count)| narrow(count))?;
        if let Some(&WindowCalls(calls)) = calls.get() {
            let calls = narrow(calls);
            return Some((Over::Calls(calls), least.min(calls)));
        }
        let &Duration(window) = window.get()?;
        Some((Over::Time(window), least))
    }

    /// The throttle of the call at `path`.
    pub(super) fn throttle(&mut self, path: &str, table: &CallTable) -> Option<Guard<Throttle>> {
        match table.throttle.get()? {
            ThrottleChoice::None => None,
            ThrottleChoice::Adaptive(table) => Some(self.adaptive(path, &table.value)),
            ThrottleChoice::Admission(table) => Some(self.admission(path, &table.value)),
        }
    }

    fn adaptive(&mut self, path: &str, table: &AdaptiveTable) -> Guard<Throttle> {
        self.above_zero(&table.window, &format!("`{path}.throttle.adaptive`"), "window", NO_THROTTLE);
        let k = table.k.get().map_or(ADAPTIVE_K, |&AtLeastOne(k)| k);
        let rule = Throttle {
            rule: ThrottleRule::Adaptive { k },
            failure_on: failures(&table.failure_on),
            window: span(&table.window).unwrap_or(ADAPTIVE_WINDOW),
        };
        Guard { rule, by_instance: by_instance(&table.shared_by) }
    }

    fn admission(&mut self, path: &str, table: &AdmissionTable) -> Guard<Throttle> {
        self.above_zero(&table.window, &format!("`{path}.throttle.admission`"), "window", NO_THROTTLE);
        let mut rule = ADMISSION;
        if let ThrottleRule::Admission { success, aggression, max } = &mut rule {
            *success = table.success.get().map_or(*success, |&AboveZeroShare(share)| share);
            *aggression = table.aggression.get().map_or(*aggression, |&AtLeastOne(factor)| factor);
            *max = table.max.get().map_or(*max, |&Share(share)| share);
        }
        let window = span(&table.window).unwrap_or(ADMISSION_WINDOW);
        let rule = Throttle { rule, failure_on: failures(&table.failure_on), window };
        Guard { rule, by_instance: by_instance(&table.shared_by) }
    }

    /// The hedge of the call at `path`.
    pub(super) fn hedge(&mut self, path: &str, table: &CallTable) -> Option<Hedge<Span>> {
        let Spanned { value, place } = table.hedge.spanned()?;
        let table: &HedgeTable = value.value()?;
        let owner = format!("`{path}.hedge`");
        self.require(&table.after, &owner, "after", "\"100ms\"", Some(place));
        self.above_zero(&table.after, &owner, "after", NO_HEDGE);
        let in_flight = table.in_flight.get().and_then(|limit| limit.value());
        Some(Hedge {
            after: span(&table.after)?,
            copies: table.copies.get().map_or(1, |&copies| narrow(copies)),
            in_flight: in_flight.map_or(Capacity::NO_LIMIT, |&HedgesInFlight(count)| narrow(count)),
            by_instance: by_instance(&table.shared_by),
            cancel_losers: table.cancel_losers.get() != Some(&false),
        })
    }

    /// The ejection of the service at `path`, which has so many servers.
    pub(super) fn ejection(
        &mut self,
        path: &str,
        field: &Field<OrNone<EjectionTable>>,
        servers: u32,
    ) -> Option<Ejection> {
        let table = field.get()?.value()?;
        let owner = format!("`{path}.ejection`");
        self.above_zero(&table.ejected_for, &owner, "ejected_for", NO_EJECTION);
        let ejected_for = span(&table.ejected_for).unwrap_or(EJECTED_FOR);
        let longest = span(&table.max_ejected_for).unwrap_or(ejected_for);
        if let Some(given) = table.max_ejected_for.spanned().filter(|_| longest < ejected_for) {
            let message = format!("{owner}: `max_ejected_for` must not be below `ejected_for`");
            self.refuse(&given.place, message, "leave it out if the time does not grow");
        }
        let share = table.max_share.get().map_or(EJECTED_SHARE, |&Share(share)| millionths(share));
        Some(Ejection {
            consecutive: table.consecutive.get().map_or(EJECTION_FAILURES, |&Failures(count)| narrow(count)),
            ejected_for,
            longest,
            most: Ejection::most_of(share, servers),
            failure_on: failures(&table.failure_on),
        })
    }
}

fn span(field: &Field<Duration>) -> Option<Span> {
    field.get().map(|&Duration(span)| span)
}

fn by_instance(field: &Field<SharedByChoice>) -> bool {
    !matches!(field.get(), Some(SharedByChoice::Group))
}

fn failures(field: &Field<Vec<Spanned<ErrorKind>>>) -> ErrorSet {
    field.get().map_or(ErrorSet::FAILURES, |kinds| kinds.iter().map(|kind| kind.value).collect())
}

/// A share that opens a breaker. However small, it is none that a breaker without a single failure has reached.
fn trip_share(share: f64) -> u64 {
    millionths(share).max(1)
}

/// A share as it is compared: what is written with up to six decimals is exact.
fn millionths(share: f64) -> u64 {
    (share * 1e6).round() as u64
}
