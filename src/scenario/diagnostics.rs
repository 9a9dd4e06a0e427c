//! What is wrong with a scenario: every error with its place, and how to put it right.

use std::fmt;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::experiment::Position;
use crate::scenario::source::{Place, Source, Sources};
use crate::wrap;

/// The width for which plain messages are laid out where no terminal says otherwise, in columns.
const PLAIN_WIDTH: usize = 120;

/// The most errors that are shown. Nobody reads more before mending what is there, and drawing them takes time.
const SHOWN_MAX: usize = 100;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// It must be put right.
    Error,
    /// It should be.
    Warning,
}

impl Severity {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One error, or warning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The rule of the linter that it breaks, and how bad that is; none for what makes a file no scenario.
    rule: Option<Box<(&'static str, Severity)>>,
    place: Option<Place>,
    message: Box<str>,
    label: Option<Box<str>>,
    context: Option<Box<(Place, String)>>,
    notes: Vec<String>,
    hint: Option<Box<str>>,
}

impl Diagnostic {
    /// An error with this message: lower case, names in back-ticks.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            rule: None,
            place: None,
            message: message.into(),
            label: None,
            context: None,
            notes: Vec::new(),
            hint: None,
        }
    }

    /// It breaks a rule, which is as bad as this.
    #[must_use]
    pub fn breaks(mut self, rule: &'static str, severity: Severity) -> Self {
        self.rule = Some(Box::new((rule, severity)));
        self
    }

    /// It is about this place.
    #[must_use]
    pub fn at(mut self, place: &Place) -> Self {
        self.place = Some(place.clone());
        self
    }

    /// What stands beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<Box<str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Another place that matters, with what to say of it; shown where it is in the same text.
    #[must_use]
    pub fn context(mut self, place: &Place, label: impl Into<String>) -> Self {
        self.context = Some(Box::new((place.clone(), label.into())));
        self
    }

    /// What else one should know.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The way out, where one is known.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = self.hint.or(hint.map(Into::into));
        self
    }

    /// The way out where no better one is known.
    #[must_use]
    pub fn hint_else(self, hint: impl FnOnce() -> String) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint()) }
    }

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The message and what else is said of it, without the place.
    pub fn in_a_line(&self) -> String {
        let label = self.label.as_deref().map(|label| format!(": {label}"));
        let more = self.notes.iter().map(String::as_str).chain(self.hint.as_deref());
        let more: String = more.map(|more| format!("; {more}")).collect();
        format!("{}{}{more}", self.message, label.unwrap_or_default())
    }

    /// By place, and then by what is said there: equal errors come together.
    fn order(&self) -> (Option<(usize, usize)>, &str, &[String]) {
        (self.place.as_ref().map(|place| (place.start, place.end)), &self.message, &self.notes)
    }

    /// Where it is.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }
}

/// All errors of a scenario, at least one. As text they show the source lines.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    sources: Sources,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Puts errors in the order of their places, each once.
    pub(crate) fn new(sources: Sources, mut list: Vec<Diagnostic>) -> Self {
        list.sort_by(|a, b| a.order().cmp(&b.order()));
        list.dedup();
        Self { sources, list }
    }

    /// The errors in the order of their places; those without one come first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The line of an error in its own text, from 1; none for an error that is about no line.
    pub fn line(&self, diagnostic: &Diagnostic) -> Option<usize> {
        self.sources.line(diagnostic.place()?)
    }

    /// Where in the scenario file an error is; none for one that is about no line, or about a flag.
    pub fn position_in_file(&self, diagnostic: &Diagnostic) -> Option<Position> {
        let place = diagnostic.place()?;
        let (source, _) = self.sources.find(place)?;
        let is_file = self.sources.file().is_some_and(|file| std::ptr::eq(file, source));
        self.sources.position(place).filter(|_| is_file)
    }

    /// The first hundred errors with their source lines, and how many more there are, as text of at most about `width`
    /// columns. Each names its file.
    pub fn render(&self, colour: bool, width: usize) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.term_width(width).decor_style(DecorStyle::Ascii);
        let shown = self.list.iter().take(SHOWN_MAX).map(|one| renderer.render(&[self.group(one, width)]));
        let more = self.list.len().saturating_sub(SHOWN_MAX);
        let rest = (more > 0).then(|| {
            let is_error = |one: &Diagnostic| one.rule.is_none();
            let what = match self.list[SHOWN_MAX..].iter().all(is_error) {
                true if more == 1 => " error",
                true => " errors",
                false => "",
            };
            let title = Level::NOTE.primary_title(format!("and {} more{what}", grouped(more)));
            renderer.render(&[Group::with_title(title).elements(self.sources.file().map(origin))])
        });
        shown.chain(rest).collect::<Vec<_>>().join("\n\n")
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic, width: usize) -> Group<'a> {
        let rule = diagnostic.rule.as_deref();
        let severity = rule.map_or(Severity::Error, |(_, severity)| *severity);
        let level = match severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        // `severity[rule]: `
        let head = severity.name().len() + rule.map_or(0, |(rule, _)| rule.len() + 2) + 2;
        let title = level.primary_title(broken(&diagnostic.message, width, head));
        let title = match rule {
            Some((rule, _)) => title.id(*rule),
            None => title,
        };
        let mut group = Group::with_title(title);
        let file = self.sources.file();
        let found = diagnostic.place.as_ref().and_then(|place| self.sources.find(place));
        // Of several files with the same flag only some may be wrong.
        let flag_of = match (&found, file) {
            (Some((source, _)), Some(file)) if !std::ptr::eq(*source, file) => {
                Some(Level::NOTE.message(format!("applied to `{}`", file.name)))
            }
            _ => None,
        };
        group = match found.clone() {
            Some((source, range)) => group.element(self.snippet(diagnostic, source, range)),
            None => group.elements(file.map(origin)),
        };
        // Behind the number of the line, ` = note: `.
        let digits = found.as_ref().map_or(0, |(source, range)| source.lines(range).0.max(1).ilog10() as usize + 1);
        let told = |text: &str| broken(text, width, digits + 9);
        let notes = diagnostic.notes.iter().map(|note| Level::NOTE.message(told(note)));
        let hint = diagnostic.hint.iter().map(|hint| Level::HELP.message(told(hint)));
        group.elements(flag_of.into_iter().chain(notes).chain(hint))
    }

    /// The lines that an error is about, and no others: drawing takes as long as the text that it is given.
    fn snippet<'a>(
        &'a self,
        diagnostic: &'a Diagnostic,
        source: &'a Source,
        range: Range<usize>,
    ) -> Snippet<'a, Annotation<'a>> {
        let context = diagnostic.context.as_deref().and_then(|(place, label)| {
            let (other, range) = self.sources.find(place)?;
            std::ptr::eq(source, other).then_some((range, label))
        });
        let (start, end) = context
            .as_ref()
            .map_or((range.start, range.end), |(other, _)| (range.start.min(other.start), range.end.max(other.end)));
        let (first_line, excerpt) = source.lines(&(start..end));
        let within = |range: Range<usize>| range.start - excerpt.start..range.end - excerpt.start;
        let primary = AnnotationKind::Primary.span(within(range)).label(diagnostic.label.as_deref());
        let context = context.map(|(range, label)| AnnotationKind::Context.span(within(range)).label(label));
        let snippet = Snippet::source(&source.text[excerpt.clone()]).line_start(first_line).path(&source.name);
        snippet.annotation(primary).annotations(context)
    }
}

/// A text in lines that fit into `width` columns behind `taken` of them.
fn broken(text: &str, width: usize, taken: usize) -> String {
    let lines = wrap::words(wrap::sentence(text), ["", ""], width.saturating_sub(taken));
    lines.trim_end().to_owned()
}

fn origin(source: &Source) -> Origin<'_> {
    Origin::path(&source.name)
}

/// A number with its thousands grouped.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false, PLAIN_WIDTH))
    }
}

impl std::error::Error for Diagnostics {}
