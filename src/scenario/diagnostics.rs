//! What is wrong with a scenario: every error with its place, and how to put it right.

use std::fmt;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::scenario::source::{Place, Sources};

/// The width for which plain messages are laid out where no terminal says otherwise, in columns.
const PLAIN_WIDTH: usize = 120;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
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
        Self { place: None, message: message.into(), label: None, context: None, notes: Vec::new(), hint: None }
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

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.message
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

    /// All errors with their source lines, as text of at most about `width` columns.
    pub fn render(&self, colour: bool, width: usize) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.term_width(width).decor_style(DecorStyle::Ascii);
        let texts: Vec<String> = self.list.iter().map(|one| renderer.render(&[self.group(one)])).collect();
        texts.join("\n\n")
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> Group<'a> {
        let mut group = Group::with_title(Level::ERROR.primary_title(&*diagnostic.message));
        let found = diagnostic.place.as_ref().and_then(|place| self.sources.find(place));
        if let Some((source, range)) = found {
            let annotation = AnnotationKind::Primary.span(range).label(diagnostic.label.as_deref());
            let mut snippet = Snippet::source(&source.text).path(&source.name).annotation(annotation);
            if let Some((place, label)) = diagnostic.context.as_deref()
                && let Some((other, range)) = self.sources.find(place)
                && std::ptr::eq(source, other)
            {
                snippet = snippet.annotation(AnnotationKind::Context.span(range).label(label));
            }
            group = group.element(snippet);
        }
        let notes = diagnostic.notes.iter().map(|note| Level::NOTE.message(note));
        let hint = diagnostic.hint.iter().map(|hint| Level::HELP.message(&**hint));
        group.elements(notes.chain(hint))
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false, PLAIN_WIDTH))
    }
}

impl std::error::Error for Diagnostics {}
