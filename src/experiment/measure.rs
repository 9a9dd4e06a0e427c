//! Figures by their path, and claims about them, as they are written on the command line.

use std::fmt;

use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::experiment::statistics::share_interval;
use crate::experiment::{Scope, Stat, Statistic};
use crate::metrics::catalogue::{Column, SHARES, ScopeKind, Unit, columns};
use crate::plan::{Labels, Plan};
use crate::scenario::{Scenario, duration, suggest};

/// A figure over the replicas: a metric of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// What it is about.
    pub scope: Scope,
    /// The path of that, with a dot at its end; empty for the scenario.
    path: String,
    /// The metric's name.
    pub metric: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which figure over the replicas.
    pub statistic: Statistic,
}

/// Where the values of a measure are found in the outcomes of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located {
    pub kind: ScopeKind,
    /// The number of the thing among those of its kind.
    pub thing: usize,
    /// The position of the metric in the catalogue.
    pub metric: usize,
}

/// Why a text names no figure.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeasureError {
    /// It is no path to a metric.
    #[error(
        "`{0}` names no figure; write a metric, such as `success_ratio`, or that of one thing: `services.NAME.METRIC`, \
         `faults.NAME.METRIC`, `clients.NAME.METRIC`, `clients.NAME.calls.LABEL.METRIC`"
    )]
    NotAPath(String),
    /// Nothing of that kind has that name.
    #[error("`{text}`: there is no {kind} `{name}`{hint}")]
    NoThing {
        /// All of it.
        text: String,
        /// The kind of thing.
        kind: ScopeKind,
        /// The name.
        name: String,
        /// What there is, after a semicolon.
        hint: String,
    },
    /// Things of that kind have no such metric.
    #[error("`{text}`: there is no metric `{metric}`{of}{hint}")]
    NoMetric {
        /// All of it.
        text: String,
        /// The metric.
        metric: String,
        /// Of what, with a blank before it.
        of: String,
        /// What was probably meant, after a semicolon.
        hint: String,
    },
    /// The scenario as a whole does not have it, and several things do.
    #[error("`{metric}` is a metric of single things; say of which: {choices}")]
    Ambiguous {
        /// The metric.
        metric: String,
        /// The paths that it might be.
        choices: String,
    },
    /// The scenario has nothing that has it.
    #[error("`{metric}` is a metric of {kind}s, and the scenario has none; see docs/metrics.md for those that it has")]
    NothingHasIt {
        /// The metric.
        metric: String,
        /// The kind of thing.
        kind: ScopeKind,
    },
}

impl Measure {
    /// Reads `[PATH.]METRIC[.STATISTIC]`, such as `success_ratio`, `services.db.amplification` or `retry_peak.p99`. What
    /// the scenario as a whole does not have is that of the one thing which has it, if it is one.
    ///
    /// # Errors
    ///
    /// When the scenario has no such figure, or several.
    pub fn parse(text: &str, scenario: &Scenario) -> Result<Self, MeasureError> {
        let labels = &scenario.variants()[0].1.labels;
        let mut segments: Vec<&str> = text.trim().split('.').collect();
        let last = *segments.last().expect("splitting gives at least one");
        let statistic = Statistic::ALL.into_iter().find(|statistic| statistic.name() == last);
        if statistic.is_some() {
            segments.pop();
        }
        let statistic = statistic.unwrap_or(Statistic::Mean);
        let (metric, place) = segments.split_last().ok_or_else(|| MeasureError::NotAPath(text.to_owned()))?;
        let (kind, name) = match *place {
            [] => return Self::bare(text, metric, statistic, labels),
            ["services", name] => (ScopeKind::Service, name.to_owned()),
            ["faults", name] => (ScopeKind::Fault, name.to_owned()),
            ["clients", name] => (ScopeKind::Client, name.to_owned()),
            ["clients" | "services", caller, "calls", label] => (ScopeKind::Call, format!("{caller}->{label}")),
            _ => return Err(MeasureError::NotAPath(text.to_owned())),
        };
        let known = names(kind, labels);
        if !known.contains(&name) {
            let hint = suggest::hint(&name, &format!("{kind}s"), known.iter().map(String::as_str));
            let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
            return Err(MeasureError::NoThing { text: text.to_owned(), kind, name, hint });
        }
        match column(kind, metric) {
            Some(column) => Ok(Self::of(Scope { kind, name }, column, statistic, labels)),
            None => Err(no_metric(text, metric, Some(kind))),
        }
    }

    /// A metric without a path.
    fn bare(text: &str, metric: &str, statistic: Statistic, labels: &Labels) -> Result<Self, MeasureError> {
        let whole = Scope { kind: ScopeKind::Scenario, name: String::new() };
        if let Some(column) = column(ScopeKind::Scenario, metric) {
            return Ok(Self::of(whole, column, statistic, labels));
        }
        let kinds = ScopeKind::ALL.into_iter().filter_map(|kind| Some((kind, column(kind, metric)?)));
        let kinds: Vec<(ScopeKind, Column)> = kinds.collect();
        let Some(&(kind, _)) = kinds.first() else { return Err(no_metric(text, metric, None)) };
        let all = kinds.iter().flat_map(|&(kind, column)| {
            let measure = move |name: &String| Self::of(Scope { kind, name: name.clone() }, column, statistic, labels);
            names(kind, labels).iter().map(measure)
        });
        let all: Vec<Self> = all.collect();
        match &all[..] {
            [only] => Ok(only.clone()),
            [] => Err(MeasureError::NothingHasIt { metric: metric.to_owned(), kind }),
            several => {
                let choices: Vec<String> = several.iter().map(|measure| format!("`{measure}`")).collect();
                Err(MeasureError::Ambiguous { metric: metric.to_owned(), choices: choices.join(", ") })
            }
        }
    }

    fn of(scope: Scope, column: Column, statistic: Statistic, labels: &Labels) -> Self {
        let path = path(&scope, labels);
        Self { scope, path, metric: column.name, unit: column.unit, statistic }
    }

    /// The mean of every metric of these kinds of things, in the order in which reports list them.
    pub fn all(kinds: &[ScopeKind], scenario: &Scenario) -> Vec<Self> {
        let labels = &scenario.variants()[0].1.labels;
        let whole = [String::new()];
        let of_kind = |kind: ScopeKind| {
            let names = if kind == ScopeKind::Scenario { &whole[..] } else { names(kind, labels) };
            let scopes = names.iter().map(move |name| Scope { kind, name: name.clone() });
            let measures = |scope: Scope| {
                let of_scope = move |column| Self::of(scope.clone(), column, Statistic::Mean, labels);
                columns(kind).into_iter().map(of_scope).collect::<Vec<_>>()
            };
            scopes.flat_map(measures).collect::<Vec<_>>()
        };
        kinds.iter().copied().flat_map(of_kind).collect()
    }

    /// Of its values in each replica.
    pub fn stat(&self, values: impl IntoIterator<Item = Option<f64>>) -> Stat {
        Stat::over(self.unit, values)
    }

    /// The 95 % interval of a mean; none of another statistic, and of a single value. Of a share of the replicas it is
    /// the exact one: all of a few may agree.
    pub fn interval(&self, stat: &Stat) -> Option<[f64; 2]> {
        if self.statistic != Statistic::Mean {
            return None;
        }
        interval(self.metric, stat)
    }

    /// Where it is in the outcomes of a plan; none if what it is about is not there.
    pub(super) fn locate(&self, plan: &Plan) -> Option<Located> {
        let kind = self.scope.kind;
        let thing = match kind {
            ScopeKind::Scenario => 0,
            _ => names(kind, &plan.labels).iter().position(|name| *name == self.scope.name)?,
        };
        let metric = columns(kind).iter().position(|column| column.name == self.metric)?;
        Some(Located { kind, thing, metric })
    }
}

/// The 95 % interval of the mean of a metric.
pub(super) fn interval(metric: &str, stat: &Stat) -> Option<[f64; 2]> {
    match stat.mean.filter(|_| metric == "recovered" && stat.n > 1) {
        Some(share) => Some(share_interval((share * f64::from(stat.n)).round() as u32, stat.n)),
        None => stat.ci95,
    }
}

/// As it is written.
impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// As it is written.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        f.write_str(self.metric)?;
        match self.statistic {
            Statistic::Mean => Ok(()),
            statistic => write!(f, ".{}", statistic.name()),
        }
    }
}

/// Where the format has a thing, with a dot at its end.
fn path(Scope { kind, name }: &Scope, labels: &Labels) -> String {
    match (kind, name.split_once("->")) {
        (ScopeKind::Scenario, _) => String::new(),
        (ScopeKind::Call, Some((caller, label))) => {
            // Clients and services share one namespace.
            let of = if labels.groups.iter().any(|group| group == caller) { "clients" } else { "services" };
            format!("{of}.{caller}.calls.{label}.")
        }
        (kind, _) => format!("{kind}s.{name}."),
    }
}

fn names(kind: ScopeKind, labels: &Labels) -> &[String] {
    match kind {
        ScopeKind::Scenario => &[],
        ScopeKind::Client => &labels.groups,
        ScopeKind::Call => &labels.calls,
        ScopeKind::Service => &labels.services,
        ScopeKind::Fault => &labels.faults,
    }
}

fn column(kind: ScopeKind, metric: &str) -> Option<Column> {
    columns(kind).into_iter().find(|column| column.name == metric)
}

/// There is no such metric, of things of this kind or of any.
fn no_metric(text: &str, metric: &str, kind: Option<ScopeKind>) -> MeasureError {
    let kinds: Vec<ScopeKind> = kind.map_or_else(|| ScopeKind::ALL.to_vec(), |kind| vec![kind]);
    let known = kinds.into_iter().flat_map(columns).map(|column| column.name);
    let hint = suggest::nearest(metric, known).map(|name| format!("did you mean `{name}`?"));
    MeasureError::NoMetric {
        text: text.to_owned(),
        metric: metric.to_owned(),
        of: kind.map_or_else(String::new, |kind| format!(" of a {kind}")),
        hint: format!("; {}", hint.unwrap_or_else(|| "docs/metrics.md lists all of them".to_owned())),
    }
}

/// How a figure is held against a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// As it is written.
impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.sign())
    }
}

impl Op {
    /// As it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// A figure and a bound that it is said to keep to, such as `recovered < 0.5`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The figure.
    pub measure: Measure,
    /// On which side of the bound.
    pub op: Op,
    /// The bound, in the unit of the metric.
    pub bound: f64,
}

/// Why a text is no claim.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClaimError {
    /// No sign, or not one of the four.
    #[error(
        "`{0}` is no condition; write a figure, one of `<`, `<=`, `>`, `>=`, and a bound, such as `recovered < 0.5`"
    )]
    NoSign(String),
    /// What is on the left is no figure.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A share is never above 1.
    #[error("`{metric}` is a share from 0 to 1, not {bound}; for {bound} % write `{bound}%`")]
    NoShare {
        /// The metric.
        metric: &'static str,
        /// The bound.
        bound: String,
    },
    /// What is on the right is no bound for that figure.
    #[error("`{bound}` is no bound for `{metric}`; write {expected}")]
    Bound {
        /// What is there.
        bound: String,
        /// The metric.
        metric: &'static str,
        /// What goes there.
        expected: &'static str,
    },
}

impl Claim {
    /// Reads `FIGURE < BOUND`. The bound may be in percent, or a time for a metric that is one.
    ///
    /// # Errors
    ///
    /// When it is none, or about a figure that the scenario does not have.
    pub fn parse(text: &str, scenario: &Scenario) -> Result<Self, ClaimError> {
        let no_sign = || ClaimError::NoSign(text.to_owned());
        let at = text.find(['<', '>', '=']).ok_or_else(no_sign)?;
        let (figure, rest) = text.split_at(at);
        let ops = [Op::AtMost, Op::AtLeast, Op::Below, Op::Above];
        let op = ops.into_iter().find(|op| rest.starts_with(op.sign())).ok_or_else(no_sign)?;
        let bound = rest[op.sign().len()..].trim();
        if figure.trim().is_empty() || bound.is_empty() || bound.contains(['<', '>', '=']) {
            return Err(no_sign());
        }
        let measure = Measure::parse(figure, scenario)?;
        let bound = number(bound, &measure).ok_or_else(|| ClaimError::Bound {
            bound: bound.to_owned(),
            metric: measure.metric,
            expected: match measure.unit {
                Unit::Seconds => "seconds, or a time such as `500ms`",
                Unit::Milliseconds => "milliseconds, or a time such as `2s`",
                Unit::Ratio => "a number, or a share such as `50%`",
                Unit::Count | Unit::PerSecond => "a number",
            },
        })?;
        if bound > 1.0 && SHARES.contains(&measure.metric) {
            return Err(ClaimError::NoShare { metric: measure.metric, bound: bound.to_string() });
        }
        Ok(Self { measure, op, bound })
    }

    /// Whether a figure keeps to it.
    pub fn holds(&self, figure: f64) -> bool {
        match self.op {
            Op::Below => figure < self.bound,
            Op::AtMost => figure <= self.bound,
            Op::Above => figure > self.bound,
            Op::AtLeast => figure >= self.bound,
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.measure, self.op.sign(), self.bound)
    }
}

/// By an exponent and not by a division, so that 99.9 % are 0.999.
fn percent(text: &str) -> Option<f64> {
    format!("{}e-2", text.strip_suffix('%')?.trim()).parse().ok()
}

/// A bound in the unit of the metric.
fn number(text: &str, measure: &Measure) -> Option<f64> {
    let plain = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    match (plain(text), measure.unit) {
        (Some(number), _) => Some(number),
        (None, Unit::Ratio) => percent(text),
        // Its mean is a share of the replicas.
        (None, Unit::Count) if measure.metric == "recovered" => percent(text),
        (None, Unit::Seconds) => duration::parse(text).ok().map(|span| span.as_s()),
        (None, Unit::Milliseconds) => duration::parse(text).ok().map(|span| span.as_ms()),
        (None, Unit::Count | Unit::PerSecond) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::Overrides;

    fn scenario(faults: &str) -> Scenario {
        let text = format!(
            r#"
            version = 1
            name = "measures"
            clients.web = {{ arrivals = {{ burst = {{ at = "0s" }} }}, calls.api = {{}} }}
            services.api = {{ calls.db = {{}} }}
            services.db = {{}}
            {faults}
            "#
        );
        Scenario::parse("measures", &text, Path::new(""), &Overrides::default()).unwrap()
    }

    fn one_fault() -> Scenario {
        scenario(r#"faults.outage = { on = ["db"], effect = "refuse", until = "1s" }"#)
    }

    #[test]
    fn figures_are_found_by_path_and_shown_by_it() {
        let scenario = one_fault();
        let paths = [
            "success_ratio",
            "retry_peak.p99",
            "services.db.amplification",
            "clients.web.success_ratio.min",
            "clients.web.calls.api.attempts",
            "services.api.calls.db.attempts.max",
            "faults.outage.recovered",
        ];
        for path in paths {
            let measure = Measure::parse(path, &scenario).unwrap();
            assert_eq!(measure.to_string(), path);
            assert!(measure.locate(&scenario.variants()[0].1).is_some(), "{path}");
        }
        assert_eq!(Measure::parse("recovered", &scenario).unwrap().to_string(), "faults.outage.recovered");
        assert_eq!(Measure::parse("services.db.amplification", &scenario).unwrap().scope.name, "db");
    }

    #[test]
    fn what_is_no_figure_is_refused_with_those_that_there_are() {
        let scenario = one_fault();
        let error = |text: &str| Measure::parse(text, &scenario).unwrap_err().to_string();
        assert_eq!(
            error("succes_ratio"),
            "`succes_ratio`: there is no metric `succes_ratio`; did you mean `success_ratio`?"
        );
        assert_eq!(
            error("services.bd.amplification"),
            "`services.bd.amplification`: there is no service `bd`; did you mean `db`?"
        );
        assert_eq!(
            error("faults.outage.amplification"),
            "`faults.outage.amplification`: there is no metric `amplification` of a fault; docs/metrics.md lists all of \
             them"
        );
        assert_eq!(
            error("utilisation"),
            "`utilisation` is a metric of single things; say of which: `services.api.utilisation`, \
             `services.db.utilisation`"
        );
        assert!(error("db.amplification").starts_with("`db.amplification` names no figure; write a metric"));
        assert!(error("max").starts_with("`max` names no figure"));
        let none = Measure::parse("recovered", &self::scenario("")).unwrap_err().to_string();
        assert!(none.starts_with("`recovered` is a metric of faults, and the scenario has none"), "{none}");
    }

    #[test]
    fn claims_have_a_sign_and_a_bound_in_the_unit_of_the_metric() {
        let scenario = one_fault();
        let claim = |text: &str| Claim::parse(text, &scenario);
        let read = |text: &str| claim(text).map(|claim| (claim.op, claim.bound)).unwrap();
        assert_eq!(read("recovered < 0.5"), (Op::Below, 0.5));
        assert_eq!(read("success_ratio<=50%"), (Op::AtMost, 0.5));
        assert_eq!(read("last_retry_s > 500ms"), (Op::Above, 0.5));
        assert_eq!(read("latency_p99_ms.max >= 2s"), (Op::AtLeast, 2_000.0));
        assert_eq!(read("recovered < 50%"), (Op::Below, 0.5));
        assert!(matches!(claim("success_ratio < 99"), Err(ClaimError::NoShare { .. })));
        let below = claim("recovered < 0.5").unwrap();
        assert_eq!((below.holds(0.5), below.holds(0.49)), (false, true));
        assert_eq!(below.to_string(), "faults.outage.recovered < 0.5");
        for wrong in ["recovered", "recovered = 1", "recovered <", "< 1", "recovered < 1 > 0", "recovered => 1"] {
            assert_eq!(claim(wrong), Err(ClaimError::NoSign(wrong.to_owned())), "{wrong}");
        }
        let wrong = claim("attempts < 5s").unwrap_err().to_string();
        assert_eq!(wrong, "`5s` is no bound for `attempts`; write a number");
        assert!(matches!(claim("recoverd < 1"), Err(ClaimError::Measure(_))));
    }
}
