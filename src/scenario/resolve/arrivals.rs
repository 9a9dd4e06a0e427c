//! When the requests of a client group begin.

use std::ops::Range;

use crate::dist::Dist;
use crate::plan::{Arrivals, Piece, Profile};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Spanned};
use crate::scenario::resolve::columns::Column;
use crate::scenario::resolve::{Resolver, instant, is_open};
use crate::scenario::source::Place;
use crate::scenario::tables::{
    ArrivalsChoice, ClientTable, ClosedTable, DistSetting, PeriodicTable, PointTable, TraceTable,
};
use crate::scenario::values::{Duration, Rate, RateOrZero, Text, Whole};
use crate::time::{Instant, Span};

/// The column of a trace.
const TRACE: Column =
    Column { header: "time_s", noun: "arrivals", len_max: 10_000_000, bytes_max: 256 << 20, ascending: true };

/// Arrivals by which a group that has none, or wrong ones, is represented. It has been reported.
const WRONG: Arrivals = Arrivals::Burst { at: Instant::ZERO };

impl Resolver<'_> {
    /// The window in which the requests of a group begin.
    pub(super) fn arrival_window(&mut self, group: &str, table: &ClientTable) -> Range<Instant> {
        let from = instant(table.from.get().copied());
        let given = table.until.spanned().and_then(|until| Some((until.value.value()?, &until.place)));
        let Some((&Duration(until), place)) = given else { return from..Instant::LIMIT };
        let until = Instant::ZERO + until;
        // A wrong `from` has been reported: what it was meant to be is not known.
        if until <= from && !table.from.is_wrong() {
            let message = format!("`clients.{group}` ends before it begins: `until` must be later than `from`");
            self.refuse(place, message, "both are times of the run");
        }
        from..until
    }

    /// The arrivals of a group whose requests begin in this window.
    pub(super) fn arrivals(&mut self, group: &str, table: &ClientTable, window: &Range<Instant>) -> Arrivals {
        let Some(given) = table.arrivals.spanned() else { return WRONG };
        let path = format!("clients.{group}.arrivals");
        let arrivals = match &given.value {
            ArrivalsChoice::Burst(burst) => self.burst(&path, &burst.value.at, window),
            ArrivalsChoice::Constant(constant) => {
                let rate = self.rate(&constant.value.rate, &format!("`{path}.constant`"), &constant.place);
                Arrivals::Constant { rate }
            }
            ArrivalsChoice::Poisson(poisson) => {
                let rate = self.rate(&poisson.value.rate, &format!("`{path}.poisson`"), &poisson.place);
                Arrivals::Poisson(Profile::new(vec![Piece { from: window.start, rate, slope: 0.0 }]))
            }
            ArrivalsChoice::Closed(closed) => self.closed(&path, &closed.value, &closed.place),
            ArrivalsChoice::Periodic(periodic) => self.periodic(&path, &periodic.value, &periodic.place),
            ArrivalsChoice::Profile(points) => self.profile(&path, points),
            ArrivalsChoice::Trace(trace) => self.trace(&path, &trace.value, &trace.place),
        };
        if is_endless(&arrivals) && is_open(&table.until) && is_open(&self.tables.horizon) {
            let closed = if matches!(arrivals, Arrivals::Closed { .. }) { ", or limit its `requests`" } else { "" };
            let message = format!("`clients.{group}` has arrivals without end, and nothing stops the run");
            let hint = format!("set an `until` for the group, or a `horizon` for the run{closed}");
            self.refuse(&given.place, message, hint);
        }
        arrivals
    }

    fn burst(&mut self, path: &str, at: &Field<Duration>, window: &Range<Instant>) -> Arrivals {
        let Some(given) = at.spanned() else { return Arrivals::Burst { at: window.start } };
        let at = instant(Some(given.value));
        // An empty window has been reported.
        if !window.is_empty() && !window.contains(&at) {
            let message = format!("`{path}.burst.at` is outside of the group's window");
            self.refuse(&given.place, message, "requests begin at `from` or later, and before `until`");
        }
        Arrivals::Burst { at }
    }

    fn rate(&mut self, rate: &Field<Rate>, owner: &str, place: &Place) -> f64 {
        self.require(rate, owner, "rate", "100", Some(place));
        rate.get().map_or(1.0, |&Rate(rate)| rate)
    }

    fn closed(&mut self, path: &str, table: &ClosedTable, place: &Place) -> Arrivals {
        let path = format!("{path}.closed");
        self.require(&table.think, &format!("`{path}`"), "think", "\"1s\"", Some(place));
        let think = self.dist_or_zero(&table.think, &format!("{path}.think"));
        let requests = match table.requests.get() {
            Some(limit) => limit.value().map_or(u64::MAX, |&Whole(requests)| requests),
            None if table.requests.is_absent() => u64::MAX,
            // Wrong, and reported: some limit was meant.
            None => 1,
        };
        Arrivals::Closed { think, requests }
    }

    fn periodic(&mut self, path: &str, table: &PeriodicTable, place: &Place) -> Arrivals {
        let path = format!("{path}.periodic");
        let owner = format!("`{path}`");
        self.require(&table.every, &owner, "every", "\"60s\"", Some(place));
        self.above_zero(&table.every, &owner, "every", "for all requests at once write a `burst`");
        let every = table.every.get().map_or(Span::ZERO, |&Duration(every)| every);
        Arrivals::Periodic { every, offset: self.dist_or_zero(&table.offset, &format!("{path}.offset")) }
    }

    fn dist_or_zero(&mut self, setting: &Field<DistSetting>, path: &str) -> Dist {
        setting.get().map_or(Dist::ZERO, |setting| self.dist(setting, path))
    }

    fn profile(&mut self, path: &str, points: &Spanned<Vec<Spanned<PointTable>>>) -> Arrivals {
        let path = format!("`{path}.profile`");
        let mut pieces: Vec<Piece> = Vec::new();
        for (number, point) in points.value.iter().enumerate() {
            let PointTable { at, rate, ramp } = &point.value;
            self.require(at, &format!("a point of {path}"), "at", "\"30s\"", Some(&point.place));
            self.require(rate, &format!("a point of {path}"), "rate", "100", Some(&point.place));
            let ramp = ramp.spanned().filter(|ramp| ramp.value);
            if let (0, Some(ramp)) = (number, ramp) {
                let message = format!("the first point of {path} cannot be a ramp");
                self.refuse(&ramp.place, message, "a ramp begins at the point before it: add that one");
            }
            let (Some(at), Some(&RateOrZero(rate))) = (at.spanned(), rate.get()) else { continue };
            let from = instant(Some(at.value));
            if let Some(before) = pieces.last_mut() {
                if from <= before.from {
                    let message = format!("the points of {path} are not in order");
                    self.refuse(&at.place, message, "each `at` must be later than the one before");
                } else if ramp.is_some() {
                    before.slope = (rate - before.rate) / from.since(before.from).as_s();
                }
            }
            pieces.push(Piece { from, rate, slope: 0.0 });
        }
        let are_good = pieces.len() == points.value.len();
        if are_good && pieces.iter().all(|piece| piece.rate == 0.0) {
            let error = Diagnostic::new(format!("{path} has no rate above 0: no request would ever begin"));
            self.errors.push(error.at(&points.place).hint("add a point such as `{ at = \"0s\", rate = 100 }`"));
        }
        if pieces.is_empty() { WRONG } else { Arrivals::Poisson(Profile::new(pieces)) }
    }

    fn trace(&mut self, path: &str, table: &TraceTable, place: &Place) -> Arrivals {
        let path = format!("`{path}.trace`");
        self.require(&table.file, &path, "file", "\"arrivals.csv\"", Some(place));
        let Some(file) = table.file.spanned() else { return WRONG };
        let Text(name) = &file.value;
        match TRACE.read(&self.folder.join(name)) {
            Ok(times) => Arrivals::Trace(times.into_iter().map(|time| Instant::ZERO + time).collect()),
            Err(why) => {
                self.refuse(&file.place, format!("{path}: {why}"), TRACE.expected());
                WRONG
            }
        }
    }
}

/// Whether requests would begin for ever, if the group's window had no end.
fn is_endless(arrivals: &Arrivals) -> bool {
    match arrivals {
        Arrivals::Burst { .. } | Arrivals::Trace(_) => false,
        Arrivals::Constant { .. } | Arrivals::Periodic { .. } => true,
        Arrivals::Poisson(profile) => profile.pieces().last().is_some_and(|piece| piece.rate > 0.0),
        Arrivals::Closed { requests, .. } => *requests == u64::MAX,
    }
}
