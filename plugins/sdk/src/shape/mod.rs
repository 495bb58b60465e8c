//! Shapes: typed declarations of JSON documents, and the reader that judges a document by them.
//!
//! A shape is declared with `#[derive(Shape)]`. From that one declaration come the reader in this
//! module, the JSON Schema ([`crate::schema`]), the field docs for partners ([`crate::docs`]) and the static
//! list of fields and bounds ([`Fields::FIELDS`]) that tests walk.
//!
//! The reader runs over the JSON text once. It builds no tree of values, borrows strings from the
//! text, and allocates nothing on the way to a sound value but the vectors that the value holds.
//! It never stops at a violation: what is broken is recorded and reading goes on.

mod desc;
mod leaf;
mod read;
mod text;
mod time;

pub use desc::{Bounds, FieldDesc, Kind, TextFormat, ValueDesc, Vocabulary, VocabularyDesc};
pub use leaf::{Amount, False, Inr, Nullable, RawJson, RawObject, RuledNullable};
pub use read::{
    At, Described, Fields, Member, ObjectShape, Shape, read_document, read_number_member, read_object,
    read_text_member, read_vocabulary,
};
pub use text::{HttpsUrl, LocaleTag, Phone, SemverText, Text, WebUrl};
pub use time::{Date, DateTime};
