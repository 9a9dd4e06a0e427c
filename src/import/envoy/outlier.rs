//! Outlier detection of Envoy, and of Istio, which passes it on: hosts that fail in a row are left alone for a while.

use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft};
use crate::import::section::{Field, Section};
use crate::import::values::{count, duration, errors, seconds, share};
use crate::scenario::source::Place;
use crate::time::Span;

/// What a scenario takes over of outlier detection.
pub struct Outliers<'t> {
    /// So many failures of a kind in a row eject a host: those kinds that count, with what says so if the file does.
    pub counters: Vec<(Counted, i64, Option<Field<'t>>)>,
    /// Whether failures to get an answer are counted apart, and by nothing else.
    pub splits: bool,
    /// For how long, the first time.
    pub base: Option<(Span, Field<'t>)>,
    /// For how long at most.
    pub most: Option<(Span, Field<'t>)>,
    /// Of so many hosts in a hundred.
    pub percent: Option<(i64, Field<'t>)>,
    /// Where it is.
    pub place: Place,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Statuses from 500 on.
    ServerErrors,
    /// 502, 503 and 504.
    GatewayErrors,
    /// That there is no answer.
    LocalOrigin,
}

impl Counted {
    /// Whether it counts an error; where failures to get an answer are not counted apart they are statuses, too.
    fn counts(self, kind: ErrorKind, splits: bool) -> bool {
        let is_local = matches!(kind, ErrorKind::Refused | ErrorKind::Reset | ErrorKind::Timeout);
        let is_gateway = matches!(kind, ErrorKind::Unavailable | ErrorKind::Overloaded | ErrorKind::Deadline);
        match self {
            Self::LocalOrigin => is_local,
            _ if is_local => !splits,
            Self::GatewayErrors => is_gateway,
            Self::ServerErrors => !matches!(kind, ErrorKind::Invalid | ErrorKind::RateLimited),
        }
    }
}

impl Outliers<'_> {
    /// Failures in a row, where the file says nothing.
    pub const CONSECUTIVE: i64 = 5;
    const BASE: Span = Span::from_ms(30_000);
    const MOST: Span = Span::from_ms(300_000);

    /// Puts it into a service.
    pub fn put(mut self, service: &mut Block, draft: &mut Draft) {
        // The one that comes first.
        self.counters.sort_by_key(|(_, count, _)| *count);
        let Some(((_, count, field), others)) = self.counters.split_first() else {
            service.left_out.push("outlier detection: no counter ejects anything".to_owned());
            return;
        };
        // More than a scenario can say is more than ever comes.
        let count = (*count).min(i64::from(i32::MAX));
        match field {
            Some(field) => service.read("ejection.consecutive", count, field),
            None => service.default("ejection.consecutive", count, "Envoy"),
        }
        for field in others.iter().filter_map(|(.., field)| field.as_ref()) {
            draft.leave_out(service, field, "a scenario counts failures of all kinds together");
        }
        if !others.is_empty() {
            let message = format!("failures of several kinds are counted apart; the scenario counts all up to {count}");
            draft.surprise(&self.place, message, "it may eject a server sooner");
        }
        self.times(service);
        let share = match &self.percent {
            Some((percent, field)) => {
                service.read("ejection.max_share", share(*percent as f64), field);
                *percent
            }
            None => {
                service.default("ejection.max_share", 0.1, "Envoy: 10 %");
                10
            }
        };
        self.failures(service);
        let enough = if share == 0 { None } else { Some((100 + share - 1) / share) };
        let has_instances = service.settings.iter().any(|setting| setting.path == "instances");
        match enough {
            None => draft.surprise(&self.place, "no host is ever ejected: the percentage is 0", "10 is Envoy's own"),
            Some(enough) if enough > 1 && !has_instances => draft.surprise(
                &self.place,
                format!("of fewer than {enough} servers none is ejected: {share} % of them are less than one"),
                "say how many `instances` the service has",
            ),
            Some(_) => {}
        }
    }

    /// What is a failure: whatever one of the counters counts.
    fn failures(&self, service: &mut Block) {
        let has = |wanted| self.counters.iter().any(|(counted, ..)| *counted == wanted);
        let counts = |kind: &ErrorKind| self.counters.iter().any(|(counted, ..)| counted.counts(*kind, self.splits));
        let answers = if has(Counted::ServerErrors) {
            Some("statuses from 500 on")
        } else {
            has(Counted::GatewayErrors).then_some("502, 503 and 504")
        };
        let none = (!self.splits || has(Counted::LocalOrigin)).then_some("no answer");
        let why: Vec<&str> = answers.into_iter().chain(none).collect();
        let failures = ErrorKind::ALL.iter().copied().filter(counts);
        service.default("ejection.failure_on", errors(failures), format!("Envoy: {}", why.join(", and ")));
    }

    fn times(&self, service: &mut Block) {
        match &self.base {
            Some((span, field)) => service.read("ejection.ejected_for", duration(*span), field),
            None => {
                service.default("ejection.ejected_for", duration(Self::BASE), "Envoy; the nth time n times as long")
            }
        }
        let base = self.base.as_ref().map_or(Self::BASE, |(span, _)| *span);
        match &self.most {
            Some((span, field)) => service.read("ejection.max_ejected_for", duration((*span).max(base)), field),
            None => service.default("ejection.max_ejected_for", duration(base.max(Self::MOST)), "Envoy"),
        }
    }
}

/// Reads `outlier_detection` of a cluster.
pub fn read(mut section: Section<'_>, service: &mut Block, draft: &mut Draft) {
    let mut counters = Vec::new();
    let splits = section.field("split_external_local_origin_errors");
    let splits = splits.is_some_and(|field| draft.truth(&field) == Some(true));
    let local = splits.then_some(100);
    for (counted, key, enforcing, default) in [
        (Counted::ServerErrors, "consecutive_5xx", "enforcing_consecutive_5xx", Some(100)),
        (Counted::GatewayErrors, "consecutive_gateway_failure", "enforcing_consecutive_gateway_failure", Some(0)),
        (Counted::LocalOrigin, "consecutive_local_origin_failure", "enforcing_consecutive_local_origin_failure", local),
    ] {
        let field = section.field(key);
        let amount = field.as_ref().map(|field| draft.parsed(field, count).unwrap_or_default());
        let enforced = section.field(enforcing);
        let percent = enforced.as_ref().and_then(|field| draft.parsed(field, count));
        if let (Some(1..=99), Some(field)) = (percent, &enforced) {
            draft.leave_out(service, field, "a scenario ejects always or never");
        }
        let is_on = default.is_some() && percent.or(default) > Some(0);
        match (is_on, amount, field) {
            // Nothing ever comes to 0.
            (true, Some(0), _) => {}
            (true, Some(amount), field) => counters.push((counted, amount, field)),
            (true, None, _) => counters.push((counted, Outliers::CONSECUTIVE, None)),
            (false, Some(_), Some(field)) if default.is_none() => {
                let why = "without `split_external_local_origin_errors` they are counted with the others";
                draft.leave_out(service, &field, why);
            }
            (false, Some(_), Some(field)) => {
                draft.leave_out(service, &field, &format!("it ejects nobody: `{enforcing}` is 0"));
            }
            (false, ..) => {}
        }
    }
    let outliers = Outliers {
        counters,
        splits,
        base: time(&mut section, "base_ejection_time", draft),
        most: time(&mut section, "max_ejection_time", draft),
        percent: percent(&mut section, "max_ejection_percent", draft),
        place: section.place.clone(),
    };
    outliers.put(service, draft);
    success_rate(&mut section, service, draft);
    rest(&mut section, service, draft);
    draft.unknown(Some(service), &section);
}

/// A time above zero.
fn time<'t>(section: &mut Section<'t>, key: &str, draft: &mut Draft) -> Option<(Span, Field<'t>)> {
    let field = section.field(key)?;
    Some((draft.above_zero(&field, seconds)?, field))
}

/// A whole number of percent.
pub fn percent<'t>(section: &mut Section<'t>, key: &str, draft: &mut Draft) -> Option<(i64, Field<'t>)> {
    let field = section.field(key)?;
    let within = |text: &str| {
        let percent = text.parse().ok().filter(|percent| (0..=100).contains(percent));
        percent.ok_or_else(|| "a whole number from 0 to 100".to_owned())
    };
    Some((draft.parsed(&field, within)?, field))
}

/// Ejection of hosts that fail more often than the others, which Envoy does unless it is told not to.
fn success_rate(section: &mut Section<'_>, service: &mut Block, draft: &mut Draft) {
    const WHY: &str = "a scenario ejects servers that fail in a row, not those that fail more than others";
    let enforcing = section.field("enforcing_success_rate");
    let is_off = enforcing.as_ref().is_some_and(|field| draft.parsed(field, count) == Some(0));
    if !is_off {
        service.left_out.push(format!("{}: success rates ({WHY})", section.path));
        draft.surprise(
            &section.place,
            "hosts whose success rate is far below that of the others are ejected, too: not in the scenario",
            "it takes 5 hosts with 100 requests each in an interval; `enforcing_success_rate: 0` turns it off",
        );
    }
    let keys = ["failure_percentage_threshold", "enforcing_failure_percentage", "enforcing_local_origin_success_rate"];
    draft.leave_out_all(service, section, &keys, WHY);
    section.skip(&[
        "success_rate_minimum_hosts",
        "success_rate_request_volume",
        "success_rate_stdev_factor",
        "failure_percentage_minimum_hosts",
        "failure_percentage_request_volume",
        "enforcing_failure_percentage_local_origin",
    ]);
}

fn rest(section: &mut Section<'_>, service: &mut Block, draft: &mut Draft) {
    let why = "failures in a row eject at once, and a server comes back when its time is over";
    draft.leave_out_all(service, section, &["interval"], why);
    let why = "the time for which a server is ejected is not drawn";
    draft.leave_out_all(service, section, &["max_ejection_time_jitter"], why);
    let why = "a scenario keeps to the largest share";
    draft.leave_out_all(service, section, &["always_eject_one_host"], why);
    let why = "a scenario has no health checks beside the requests";
    draft.leave_out_all(service, section, &["successful_active_health_check_uneject_host"], why);
    section.skip(&["monitors", "detect_degraded_hosts"]);
}
