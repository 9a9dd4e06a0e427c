//! The macros in which the format is declared. From one list of keys come the typed table, its reader, its
//! [`Shape`](crate::scenario::shape::Shape) for overrides, and its JSON schema.

/// A table: a struct with one public [`Field`](crate::scenario::field::Field) for each key, which may be absent.
macro_rules! table {
    (
        $(#[$table_doc:meta])*
        $table:ident is $noun:literal, exclusive $exclusive:expr;
        $($(#[doc = $key_doc:literal])+ $key:ident: $kind:ty,)+
    ) => {
        $(#[$table_doc])*
        #[derive(Clone, Debug, Default, ::schemars::JsonSchema)]
        #[schemars(default, deny_unknown_fields, title = $noun)]
        pub struct $table {
            $($(#[doc = $key_doc])+ pub $key: $crate::scenario::field::Field<$kind>,)+
        }

        impl $table {
            /// Its keys.
            pub(crate) const TABLE: $crate::scenario::shape::TableShape = $crate::scenario::shape::TableShape {
                noun: $noun,
                keys: &[$($crate::scenario::shape::KeyShape {
                    name: stringify!($key),
                    shape: <$kind as $crate::scenario::reader::Read>::SHAPE,
                    doc: concat!($($key_doc),+),
                },)+],
                exclusive: $exclusive,
            };
        }

        impl $crate::scenario::reader::Read for $table {
            const SHAPE: $crate::scenario::shape::Shape = $crate::scenario::shape::Shape::Table(&Self::TABLE);

            fn read(
                node: &$crate::scenario::document::Node,
                reader: &mut $crate::scenario::reader::Reader,
            ) -> Option<Self> {
                let $crate::scenario::document::Value::Table(table) = &node.value else {
                    let fits = [$($crate::scenario::reader::fits::<$kind>(node),)+];
                    return reader.no_table(node, &Self::TABLE, &fits);
                };
                let mut read = Self::default();
                for (key, entry) in table {
                    match key.as_str() {
                        $(stringify!($key) => read.$key = reader.under(key, |reader| {
                            reader.field(entry, Some(concat!($($key_doc),+)))
                        }),)+
                        _ => {
                            let meant = reader.unknown_key(key, &entry.key, &Self::TABLE);
                            // What was meant is there, though wrong: nobody needs to hear that it is missing.
                            $(if meant == Some(stringify!($key)) && read.$key.is_absent() {
                                read.$key = $crate::scenario::field::Field::present(entry.key.clone(), None);
                            })+
                        }
                    }
                }
                reader.exclusive(table, &Self::TABLE);
                Some(read)
            }
        }
    };
}

/// A choice: an enum, externally tagged; a variant without a type is a bare string.
macro_rules! choice {
    (
        $(#[$choice_doc:meta])*
        $choice:ident is $noun:literal;
        $($(#[$tag_doc:meta])* $tag:literal => $variant:ident $(($kind:ty))?,)+
    ) => {
        $(#[$choice_doc])*
        #[derive(Clone, Debug, ::schemars::JsonSchema)]
        #[schemars(title = $noun)]
        pub enum $choice {
            $($(#[$tag_doc])* #[schemars(rename = $tag)] $variant $(($crate::scenario::field::Spanned<$kind>))?,)+
        }

        impl $choice {
            const CHOICE: $crate::scenario::shape::ChoiceShape = $crate::scenario::shape::ChoiceShape {
                noun: $noun,
                tags: &[$(($tag, choice!(@shape $($kind)?)),)+],
            };
        }

        impl $crate::scenario::reader::Read for $choice {
            const SHAPE: $crate::scenario::shape::Shape = $crate::scenario::shape::Shape::Choice(&Self::CHOICE);

            fn read(
                node: &$crate::scenario::document::Node,
                reader: &mut $crate::scenario::reader::Reader,
            ) -> Option<Self> {
                let (tag, payload) = reader.tag(node, &Self::CHOICE)?;
                match (tag, payload) {
                    $(choice!(@pattern $tag, payload $(, $kind)?) => choice!(@read $variant, reader, tag, payload $(, $kind)?),)+
                    _ => reader.refuse_tag(node, tag, &Self::CHOICE),
                }
            }
        }
    };
    (@shape) => { None };
    (@shape $kind:ty) => { Some(<$kind as $crate::scenario::reader::Read>::SHAPE) };
    (@pattern $tag:literal, $payload:ident) => { ($tag, None) };
    (@pattern $tag:literal, $payload:ident, $kind:ty) => { ($tag, Some($payload)) };
    (@read $variant:ident, $reader:ident, $name:ident, $payload:ident) => { Some(Self::$variant) };
    (@read $variant:ident, $reader:ident, $name:ident, $payload:ident, $kind:ty) => {
        $reader.under($name, |reader| reader.spanned::<$kind>($payload)).map(Self::$variant)
    };
}

pub(crate) use {choice, table};
