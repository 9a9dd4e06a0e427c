//! Settings that vary: `PATH=v1,v2`, and ranges of numbers.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::scenario::duration;

/// The most cells of a grid.
pub const CELLS_MAX: usize = 1_000_000;

/// A setting that varies, and its values in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The path of the setting, such as `services.db.workers`.
    pub path: String,
    /// How its values are drawn.
    pub scale: Scale,
    /// The values as they would follow `--set PATH=`; at least one.
    pub values: Vec<String>,
    /// Whether they were given by the ends of a range.
    #[serde(skip)]
    pub is_range: bool,
}

/// How the values of an axis lie beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// By their differences.
    Linear,
    /// By their ratios; all are above 0.
    Log,
}

/// What the figures of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Numbers.
    Number,
    /// Times, in seconds.
    Seconds,
}

/// Why a text is no axis, or axes are no grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AxisError {
    /// There is no path, or no value.
    #[error("`{0}` varies nothing; write `PATH=v1,v2`, such as `services.db.workers=1,2,4`")]
    NotAnAxis(String),
    /// Two commas, or one at an end.
    #[error("`{0}` has an empty value; write one value between two commas")]
    EmptyValue(String),
    /// A bracket or a quote that is open at the end.
    #[error("`{0}` does not close what it opens; quote the strings in it, and close every bracket")]
    Open(String),
    /// A range without a number of values, or with one that is no number.
    #[error("`{0}`: a range says how many values it has, at least 2; write `FROM..TO/COUNT`, such as `10..100/10`")]
    Count(String),
    /// An end of a range is no number.
    #[error("`{0}`: the ends of a range are both numbers, or both times; write `10..100/10`, or `100ms..2s/5`")]
    Ends(String),
    /// It leads nowhere.
    #[error("`{0}`: the ends of the range are the same, so that it has one value; write that value alone")]
    Flat(String),
    /// Logarithms are of numbers above zero.
    #[error("`{0}`: both ends of a logarithmic range are above 0; for one from 0 on write its values")]
    NotPositive(String),
    /// The same value twice.
    #[error("`{0}` has the value `{1}` twice; write it once")]
    SameValue(String, String),
    /// The same setting twice.
    #[error("`{0}` varies twice; put all of its values into one")]
    Twice(String),
    /// No `FROM..TO`.
    #[error("`{0}` is no range; write `PATH=FROM..TO`, such as `clients.web.arrivals.poisson.rate=10..100`")]
    NotARange(String),
    /// More than [`CELLS_MAX`].
    #[error("the grid has {0} cells; the limit is {CELLS_MAX}: give the axes fewer values")]
    TooLarge(String),
}

impl Axis {
    /// Reads `PATH=VALUES`: values separated by commas, each as TOML or a bare string; or `FROM..TO/COUNT` for so many
    /// evenly spaced ones, both ends included, or `log:FROM..TO/COUNT` for so many that grow by the same factor. The
    /// ends may be times in the same unit.
    ///
    /// # Errors
    ///
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Self, AxisError> {
        let not_an_axis = || AxisError::NotAnAxis(text.to_owned());
        let (path, values) = text.split_once('=').ok_or_else(not_an_axis)?;
        let (path, values) = (path.trim(), values.trim());
        if path.is_empty() || values.is_empty() {
            return Err(not_an_axis());
        }
        let (is_log, range) = match values.strip_prefix("log:") {
            Some(range) => (true, range),
            None => (false, values),
        };
        // A path of a file may begin with two points.
        let is_end = |end: &str| end.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
        let ends = range.split_once("..").filter(|(from, to)| is_log || is_end(from) || is_end(to));
        let spaced = ends.map(|(from, to)| spaced(text, from.trim(), to.trim(), is_log)).transpose()?;
        let is_range = spaced.is_some();
        let values = match spaced {
            Some(values) => values,
            None if is_log => return Err(AxisError::Count(text.to_owned())),
            None => split(text, values)?,
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(value.as_str())) {
            return Err(AxisError::SameValue(text.to_owned(), twice.clone()));
        }
        let scale = if is_log { Scale::Log } else { Scale::Linear };
        Ok(Self { path: path.to_owned(), scale, values, is_range })
    }

    /// The same with whole numbers, each once, if it is a range of numbers between two of them and has others.
    pub fn rounded(&self) -> Option<Self> {
        let (Quantity::Number, figures) = self.figures().filter(|_| self.is_range)? else { return None };
        let is_whole = |figure: Option<&f64>| figure.is_some_and(|figure| figure.fract() == 0.0);
        if !is_whole(figures.first()) || !is_whole(figures.last()) || figures.iter().all(|it| it.fract() == 0.0) {
            return None;
        }
        let mut values: Vec<String> = figures.iter().map(|figure| figure.round().to_string()).collect();
        values.dedup();
        Some(Self { values, ..self.clone() })
    }

    /// Its values as figures; none unless all of them are numbers, or all are times.
    pub fn figures(&self) -> Option<(Quantity, Vec<f64>)> {
        let numbers = || self.values.iter().map(|value| number(value)).collect::<Option<Vec<_>>>();
        let time = |value: &String| duration::parse(value.trim_matches('"')).ok().map(|span| span.as_s());
        let times = || self.values.iter().map(time).collect::<Option<Vec<_>>>();
        let numbers = numbers().map(|figures| (Quantity::Number, figures));
        numbers.or_else(|| times().map(|figures| (Quantity::Seconds, figures)))
    }

    /// The last part of its path.
    pub fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

fn number(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// The values between two ends.
fn spaced(text: &str, from: &str, to: &str, is_log: bool) -> Result<Vec<String>, AxisError> {
    let wrong_count = || AxisError::Count(text.to_owned());
    let (to, count) = to.split_once('/').ok_or_else(wrong_count)?;
    let count: usize = count.trim().parse().map_err(|_| wrong_count())?;
    if count < 2 {
        return Err(wrong_count());
    }
    if count > CELLS_MAX {
        return Err(AxisError::TooLarge(count.to_string()));
    }
    let range = Range::parse(text, from, to, is_log)?;
    let at = |position: usize| range.written(range.at(position as f64 / (count - 1) as f64));
    Ok((0..count).map(at).collect())
}

/// Figures from one end to the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// One end, in the unit.
    pub from: f64,
    /// The other.
    pub to: f64,
    /// The unit of a time; empty for numbers.
    pub unit: String,
    /// How the figures lie between them.
    pub scale: Scale,
}

impl Range {
    /// Reads `PATH=FROM..TO` or `PATH=log:FROM..TO`; gives the path, too.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn of_path(text: &str) -> Result<(String, Self), AxisError> {
        let not_a_range = || AxisError::NotARange(text.to_owned());
        let (path, ends) = text.split_once('=').ok_or_else(not_a_range)?;
        let ends = ends.trim();
        let (is_log, ends) = ends.strip_prefix("log:").map_or((false, ends), |ends| (true, ends));
        let (from, to) = ends.split_once("..").ok_or_else(not_a_range)?;
        if path.trim().is_empty() || to.contains('/') {
            return Err(not_a_range());
        }
        Ok((path.trim().to_owned(), Self::parse(text, from, to, is_log)?))
    }

    /// Of its ends, as they stand in `text`.
    fn parse(text: &str, from: &str, to: &str, is_log: bool) -> Result<Self, AxisError> {
        let ends = measure(from.trim()).zip(measure(to.trim()));
        let (from, to, unit) = ends.and_then(alike).ok_or_else(|| AxisError::Ends(text.to_owned()))?;
        if from == to {
            return Err(AxisError::Flat(text.to_owned()));
        }
        if is_log && !(from > 0.0 && to > 0.0) {
            return Err(AxisError::NotPositive(text.to_owned()));
        }
        let scale = if is_log { Scale::Log } else { Scale::Linear };
        Ok(Self { from, to, unit: unit.to_owned(), scale })
    }

    /// What is this share of the way from one end to the other.
    pub fn at(&self, share: f64) -> f64 {
        match self.scale {
            _ if share <= 0.0 => self.from,
            _ if share >= 1.0 => self.to,
            Scale::Linear => self.from + (self.to - self.from) * share,
            Scale::Log => self.from * libm::pow(self.to / self.from, share),
        }
    }

    /// A figure as it would follow `--set PATH=`: to twelve significant digits, so that 0.1 times 3 is 0.3, of a
    /// logarithmic range to five, and a time in whole nanoseconds.
    pub fn written(&self, figure: f64) -> String {
        let is_end = figure == self.from || figure == self.to;
        let digits = if self.scale == Scale::Log && !is_end { 4 } else { 11 };
        let figure: f64 = format!("{figure:.digits$e}").parse().unwrap_or(figure);
        let Some(unit_ns) = duration::nanoseconds(&self.unit) else { return figure.to_string() };
        let is_whole = (figure * unit_ns as f64).fract() == 0.0;
        let (figure, unit) = if is_whole { (figure, &*self.unit) } else { to_nanosecond(figure, unit_ns) };
        format!("{figure}{unit}")
    }
}

/// Two ends in one unit, the smaller of the two; none if only one is a time.
fn alike<'u>(((from, unit), (to, other)): ((f64, &'u str), (f64, &'u str))) -> Option<(f64, f64, &'u str)> {
    if unit == other {
        return Some((from, to, unit));
    }
    let [one, two] = [duration::nanoseconds(unit)?, duration::nanoseconds(other)?];
    let smaller = one.min(two);
    let scaled = |figure: f64, ns: u64| figure * (ns / smaller) as f64;
    Some((scaled(from, one), scaled(to, two), if one < two { unit } else { other }))
}

/// A time of so many units of so many nanoseconds, to the nearest one of these, in a unit in which it is a decimal number.
fn to_nanosecond(figure: f64, unit_ns: u64) -> (f64, &'static str) {
    let ns = (figure * unit_ns as f64).round();
    let (scale, unit) = if unit_ns >= 1_000_000_000 { (1e9, "s") } else { (1e6, "ms") };
    (ns / scale, unit)
}

/// A number and its unit, which may be none.
fn measure(text: &str) -> Option<(f64, &str)> {
    if let Some(number) = number(text) {
        return Some((number, ""));
    }
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (figure, unit) = text.split_at(end);
    let figure = number(figure).filter(|_| duration::nanoseconds(unit).is_some())?;
    Some((figure, unit))
}

/// Splits at the commas that are in no bracket and in no quotes.
fn split(text: &str, values: &str) -> Result<Vec<String>, AxisError> {
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    let mut parts = Vec::new();
    for (at, c) in values.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&values[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 || quote.is_some() {
        return Err(AxisError::Open(text.to_owned()));
    }
    parts.push(&values[start..]);
    let parts: Vec<String> = parts.into_iter().map(|part| part.trim().to_owned()).collect();
    if parts.iter().any(String::is_empty) {
        return Err(AxisError::EmptyValue(text.to_owned()));
    }
    Ok(parts)
}

/// One combination of the values of several axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The paths with their values, in the order of the axes.
    pub settings: Vec<(String, String)>,
}

impl Cell {
    /// One setting alone.
    pub fn of(path: &str, value: &str) -> Self {
        Self { settings: vec![(path.to_owned(), value.to_owned())] }
    }

    /// As `PATH=VALUE`.
    pub fn overrides(&self) -> Vec<String> {
        self.settings.iter().map(|(path, value)| format!("{path}={value}")).collect()
    }
}

/// The last parts of the paths with the values: `jitter=full, cap=30s`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<&str> = self.settings.iter().map(|(path, _)| path.as_str()).collect();
        for (i, (path, value)) in self.settings.iter().enumerate() {
            write!(f, "{}{}={}", if i > 0 { ", " } else { "" }, told_apart(path, &paths), value.trim_matches('"'))?;
        }
        Ok(())
    }
}

/// As much of the end of a path as tells it from the others: `max_retries`, or `a.max_retries` beside `b.max_retries`.
fn told_apart<'p>(path: &'p str, all: &[&str]) -> &'p str {
    let starts = path.rmatch_indices('.').map(|(at, _)| at + 1).chain([0]);
    let is_alone = |start: &usize| {
        let end = &path[*start..];
        all.iter().filter(|other| **other == end || other.ends_with(&format!(".{end}"))).count() <= 1
    };
    let start = starts.into_iter().find(is_alone).unwrap_or(0);
    &path[start..]
}

/// Whether axes make a grid, and of how many cells.
///
/// # Errors
///
/// When a path varies twice, or when there are more than [`CELLS_MAX`].
pub fn check(axes: &[Axis]) -> Result<usize, AxisError> {
    for (i, axis) in axes.iter().enumerate() {
        if axes[..i].iter().any(|other| other.path == axis.path) {
            return Err(AxisError::Twice(axis.path.clone()));
        }
    }
    // A product of more than a few long axes exceeds any integer.
    let count = axes.iter().map(|axis| axis.values.len() as f64).product::<f64>();
    if count > CELLS_MAX as f64 { Err(AxisError::TooLarge(count.to_string())) } else { Ok(count as usize) }
}

/// One cell of the grid that axes make, by its position from 0: the values of the last axis are next to each other.
/// Without an axis there is one cell, which sets nothing.
pub fn cell(axes: &[Axis], position: usize) -> Cell {
    let mut rest = position;
    let mut settings: Vec<(String, String)> = axes
        .iter()
        .rev()
        .map(|Axis { path, values, .. }| {
            let value = values[rest % values.len()].clone();
            rest /= values.len();
            (path.clone(), value)
        })
        .collect();
    settings.reverse();
    Cell { settings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Axis::parse(text).unwrap().values
    }

    #[test]
    fn values_are_split_at_commas_outside_of_brackets_and_quotes() {
        assert_eq!(values("a.b=1, 2,4"), ["1", "2", "4"]);
        let tables = r#"retries.r.jitter="full",{ spread = 0.2 },{ add = { uniform = { min = "0s", max = "1s" } } }"#;
        assert_eq!(
            values(tables),
            ["\"full\"", "{ spread = 0.2 }", "{ add = { uniform = { min = \"0s\", max = \"1s\" } } }"]
        );
        assert_eq!(values(r#"x="a,b",c"#), [r#""a,b""#, "c"]);
        assert_eq!(values("x=../a.csv,../b.csv"), ["../a.csv", "../b.csv"]);
        assert_eq!(Axis::parse("retries.r.cap = 30s").unwrap().path, "retries.r.cap");
    }

    /// Ten values from 10 to 100 are ten apart; seven from 1 to 1,000 on a logarithmic scale are half a power of ten
    /// apart.
    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(values("r=10..100/10"), ["10", "20", "30", "40", "50", "60", "70", "80", "90", "100"]);
        let log = values("r=log:1..1000/7");
        assert_eq!([&log[0], &log[2], &log[4], &log[6]], ["1", "10", "100", "1000"]);
        assert_eq!(log[1], "3.1623", "five digits");
        assert_eq!(values("r=0.1..0.3/3"), ["0.1", "0.2", "0.3"]);
        assert_eq!(values("r=3..1/3"), ["3", "2", "1"]);
        assert_eq!(values("r=-1..1/3"), ["-1", "0", "1"]);
        assert_eq!(values("r=1e3..1e5/2"), ["1000", "100000"]);
    }

    /// A third of a second is no whole number of nanoseconds, and a third of a minute no decimal number of minutes.
    #[test]
    fn times_are_whole_nanoseconds() {
        assert_eq!(values("t=1s..3s/3"), ["1s", "2s", "3s"]);
        assert_eq!(values("t=1s..2s/4"), ["1s", "1.333333333s", "1.666666667s", "2s"]);
        assert_eq!(values("t=0m..1m/4"), ["0m", "20s", "40s", "1m"]);
        assert_eq!(values("t=100ms..2s/3"), ["100ms", "1050ms", "2000ms"]);
        assert_eq!(values("t=0ms..1ms/4"), ["0ms", "0.333333ms", "0.666667ms", "1ms"]);
        for value in values("t=log:1us..1000000us/50").into_iter().chain(values("t=0.1h..1h/50")) {
            assert!(duration::parse(&value).is_ok(), "{value}");
        }
    }

    #[test]
    fn ranges_between_whole_numbers_can_be_rounded() {
        let rounded = |text: &str| Axis::parse(text).unwrap().rounded().map(|axis| axis.values.join(" "));
        assert_eq!(rounded("n=log:1..1000/7").unwrap(), "1 3 10 32 100 316 1000");
        assert_eq!(rounded("n=1..3/9").unwrap(), "1 2 3");
        assert_eq!(rounded("n=1..3/3"), None, "they are whole");
        assert_eq!(rounded("n=0.5..3/3"), None, "an end is not");
        assert_eq!(rounded("n=1,1.5,2"), None, "somebody wrote it");
        assert_eq!(rounded("n=1s..2s/3"), None, "times are no numbers");
    }

    #[test]
    fn figures_are_numbers_or_seconds() {
        let figures = |text: &str| Axis::parse(text).unwrap().figures();
        assert_eq!(figures("a=1,2,4"), Some((Quantity::Number, vec![1.0, 2.0, 4.0])));
        assert_eq!(figures("a=\"500ms\",2s"), Some((Quantity::Seconds, vec![0.5, 2.0])));
        assert_eq!(figures("a=full,none"), None);
        assert_eq!(figures("a=1,2s"), None);
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        let error = |text: &str| Axis::parse(text).unwrap_err();
        let text = |text: &str| text.to_owned();
        assert_eq!(error("workers"), AxisError::NotAnAxis(text("workers")));
        assert_eq!(error("=1"), AxisError::NotAnAxis(text("=1")));
        assert_eq!(error("a="), AxisError::NotAnAxis(text("a=")));
        assert_eq!(error("a=1,,2"), AxisError::EmptyValue(text("a=1,,2")));
        assert_eq!(error("a={ x = 1"), AxisError::Open(text("a={ x = 1")));
        assert_eq!(error("a=1..5"), AxisError::Count(text("a=1..5")));
        assert_eq!(error("a=1..5/1"), AxisError::Count(text("a=1..5/1")));
        assert_eq!(error("a=log:5"), AxisError::Count(text("a=log:5")));
        assert_eq!(error("a=1s..5/3"), AxisError::Ends(text("a=1s..5/3")));
        assert_eq!(error("a=1,2,1"), AxisError::SameValue(text("a=1,2,1"), text("1")));
        assert_eq!(error("a=1..y/3"), AxisError::Ends(text("a=1..y/3")));
        assert_eq!(error("a=5..5/3"), AxisError::Flat(text("a=5..5/3")));
        assert_eq!(error("a=log:0..5/3"), AxisError::NotPositive(text("a=log:0..5/3")));
        assert_eq!(error("a=1x..5x/3"), AxisError::Ends(text("a=1x..5x/3")));
        assert_eq!(error("a=1..5/2000000"), AxisError::TooLarge(text("2000000")));
    }

    #[test]
    fn a_range_has_two_ends_and_no_count() {
        let (path, range) = Range::of_path("clients.web.rate = log:10..1000").unwrap();
        assert_eq!((path.as_str(), range.at(0.0), range.at(1.0)), ("clients.web.rate", 10.0, 1_000.0));
        assert_eq!(range.written(range.at(0.5)), "100");
        let refused = |text: &str| Range::of_path(text).unwrap_err();
        assert_eq!(refused("a=1..5/3"), AxisError::NotARange("a=1..5/3".to_owned()));
        assert_eq!(refused("a=1,5"), AxisError::NotARange("a=1,5".to_owned()));
        assert_eq!(refused("a=5..5"), AxisError::Flat("a=5..5".to_owned()));
    }

    #[test]
    fn a_grid_has_every_combination_in_order() {
        let axes = ["a.x=1,2", "b.y=\"p\",q,r"].map(|text| Axis::parse(text).unwrap());
        let cells: Vec<Cell> = (0..check(&axes).unwrap()).map(|position| cell(&axes, position)).collect();
        let names: Vec<String> = cells.iter().map(Cell::to_string).collect();
        assert_eq!(names, ["x=1, y=p", "x=1, y=q", "x=1, y=r", "x=2, y=p", "x=2, y=q", "x=2, y=r"]);
        let alike = ["services.a.workers=1,2", "services.b.workers=1,2"].map(|text| Axis::parse(text).unwrap());
        assert_eq!(cell(&alike, 1).to_string(), "a.workers=1, b.workers=2");
        assert_eq!(cells[3].overrides(), ["a.x=2", "b.y=\"p\""]);
        assert_eq!((check(&[]), cell(&[], 0)), (Ok(1), Cell::default()));
        let twice = [axes[0].clone(), axes[0].clone()];
        assert_eq!(check(&twice), Err(AxisError::Twice("a.x".to_owned())));
        let long = |path: &str| Axis::parse(&format!("{path}=1..2/2000")).unwrap();
        assert_eq!(check(&[long("a"), long("b")]), Err(AxisError::TooLarge("4000000".to_owned())));
    }
}
