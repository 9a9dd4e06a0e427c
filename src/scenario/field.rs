//! The building blocks of the typed tables: values with their places, keys that may be absent or wrong.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::source::Place;
use crate::scenario::values::NAME_PATTERN;

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub value: T,
}

/// A key of a table: absent, present but wrong (which has been reported), or good.
#[derive(Clone, Debug)]
pub struct Field<T> {
    key: Option<Place>,
    value: Option<Spanned<T>>,
}

impl<T> Default for Field<T> {
    fn default() -> Self {
        Self { key: None, value: None }
    }
}

impl<T> Field<T> {
    /// A key that is present; `value` is none if it is wrong.
    pub fn present(key: Place, value: Option<Spanned<T>>) -> Self {
        Self { key: Some(key), value }
    }

    /// Where the key is, if it is present.
    pub fn key(&self) -> Option<&Place> {
        self.key.as_ref()
    }

    /// Whether the key is absent. One that is present but wrong is not.
    pub fn is_absent(&self) -> bool {
        self.key.is_none()
    }

    /// Whether the key is present but wrong.
    pub fn is_wrong(&self) -> bool {
        self.key.is_some() && self.value.is_none()
    }

    /// The value with its place, if it is good.
    pub fn spanned(&self) -> Option<&Spanned<T>> {
        self.value.as_ref()
    }

    /// The value, if it is good.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref().map(|spanned| &spanned.value)
    }
}

/// A table whose keys are names that the user chose, in the order of the file.
#[derive(Clone, Debug)]
pub struct Named<T>(pub IndexMap<String, Field<T>>);

impl<T> Field<Named<T>> {
    /// The names with what they stand for; nothing if the table is absent or wrong.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (&str, &Field<T>)> {
        self.get().into_iter().flat_map(|named| named.0.iter().map(|(name, field)| (name.as_str(), field)))
    }

    /// The names.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.entries().map(|(name, _)| name)
    }

    /// The position of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.get()?.0.get_index_of(name)
    }
}

/// A value that can be switched off with a word: `"none"`, or for limits `"unlimited"`.
#[derive(Clone, Debug)]
pub enum Or<W, T> {
    /// The word.
    Word(W),
    /// The value.
    Value(T),
}

impl<W, T> Or<W, T> {
    /// The value, unless it is switched off.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Word(_) => None,
            Self::Value(value) => Some(value),
        }
    }
}

/// A word that switches something off.
pub trait Word {
    /// As it is written.
    const TEXT: &'static str;
    /// The only word there is.
    const WORD: Self;
}

/// `"none"`.
#[derive(Clone, Copy, Debug)]
pub struct NoneWord;

/// `"unlimited"`.
#[derive(Clone, Copy, Debug)]
pub struct UnlimitedWord;

/// `"ignore"`.
#[derive(Clone, Copy, Debug)]
pub struct IgnoreWord;

impl Word for NoneWord {
    const TEXT: &'static str = "none";
    const WORD: Self = Self;
}

impl Word for UnlimitedWord {
    const TEXT: &'static str = "unlimited";
    const WORD: Self = Self;
}

impl Word for IgnoreWord {
    const TEXT: &'static str = "ignore";
    const WORD: Self = Self;
}

/// Something, or `"none"`.
pub type OrNone<T> = Or<NoneWord, T>;

/// A number, or `"unlimited"`.
pub type OrUnlimited<T> = Or<UnlimitedWord, T>;

/// Something, or `"ignore"`.
pub type OrIgnore<T> = Or<IgnoreWord, T>;

/// Places are no part of the schema.
macro_rules! schema_of_the_value {
    ($wrapper:ident) => {
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    };
}

schema_of_the_value!(Spanned);
schema_of_the_value!(Field);

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Named_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": { "pattern": NAME_PATTERN },
            "additionalProperties": generator.subschema_for::<T>(),
        })
    }
}

impl<W: Word, T: JsonSchema> JsonSchema for Or<W, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_or_{}", T::schema_name(), W::TEXT).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "const": W::TEXT }] })
    }
}
