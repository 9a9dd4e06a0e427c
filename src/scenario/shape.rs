//! What the format looks like, as data: which keys a table has, and which of them exclude each other.
//!
//! The typed tables state it (see [`declare`](crate::scenario::declare)); overrides walk along it.

/// What may stand at a place of the format.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A single value, or a list.
    Value,
    /// A duration: a single value too, but one that is known by its looks.
    Duration,
    /// A table with these keys.
    Table(&'static TableShape),
    /// A table whose keys are names that the user chooses.
    Named(&'static Shape),
    /// One of several things, each with its tag.
    Choice(&'static ChoiceShape),
}

/// The keys of a table.
#[derive(Debug)]
pub struct TableShape {
    /// What the table describes, with its article: "a service".
    pub noun: &'static str,
    /// Its keys.
    pub keys: &'static [KeyShape],
    /// Pairs of keys of which a table has at most one.
    pub exclusive: &'static [(&'static str, &'static str)],
}

/// A key of a table.
#[derive(Debug)]
pub struct KeyShape {
    /// Its name.
    pub name: &'static str,
    /// What stands under it.
    pub shape: Shape,
    /// Its doc comment, see [`Notes`](crate::scenario::schema::Notes).
    pub doc: &'static str,
}

/// The tags of a choice.
#[derive(Debug)]
pub struct ChoiceShape {
    /// What is chosen, with its article: "a backoff".
    pub noun: &'static str,
    /// The tags, with what each takes; none for a bare string.
    pub tags: &'static [(&'static str, Option<Shape>)],
}

impl TableShape {
    /// What stands under a key.
    pub fn find(&self, key: &str) -> Option<Shape> {
        self.keys.iter().find(|one| one.name == key).map(|one| one.shape)
    }

    /// The keys that may not stand beside this one.
    pub fn twins<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'static str> + 'a {
        self.exclusive.iter().filter_map(move |&(one, other)| match key {
            _ if key == one => Some(other),
            _ if key == other => Some(one),
            _ => None,
        })
    }

    /// Every key that can be set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

impl ChoiceShape {
    /// What a tag takes; the inner none for a bare string.
    pub fn find(&self, tag: &str) -> Option<Option<Shape>> {
        self.tags.iter().find(|(name, _)| *name == tag).map(|&(_, shape)| shape)
    }

    /// Every tag that can be chosen.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tags.iter().map(|&(name, _)| name)
    }

    /// The tag that takes a duration and nothing else, if there is one.
    pub fn tag_of_duration(&self) -> Option<&'static str> {
        self.tags.iter().find(|(_, shape)| matches!(shape, Some(Shape::Duration))).map(|&(tag, _)| tag)
    }
}
