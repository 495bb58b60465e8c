//! Derive macros of `contract-sdk`: [`macro@Shape`] for objects and [`macro@Vocabulary`] for closed lists.
//!
//! Both only translate a declaration into tables and calls; whatever judges a value lives in
//! `contract-sdk`, where it can be read and tested without expanding a macro.

mod shape;
mod vocabulary;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Declares a JSON object: one field of the struct per member, bounds beside it.
///
/// The doc comment of a field is its description for partners. `Option<T>` may be absent,
/// `Nullable<T>` must be there but may be `null`, anything else must be there with a value.
///
/// | `#[shape(...)]` | applies to | meaning |
/// |---|---|---|
/// | `rename = "type"` | any | the member's name, where it differs from the field's |
/// | `min = 0`, `max = 30` | numbers | inclusive bounds |
/// | `one_of = [0, 3, 5]` | integers | the only values allowed |
/// | `equals = "INR"` | strings | the only value allowed |
/// | `len = 4`, `min_len = 80`, `max_len = 500` | strings | length in Unicode characters |
/// | `items = 7`, `min_items = 1`, `max_items = 50` | arrays | number of entries |
///
/// Bounds on the field of an array other than its number of entries apply to each entry.
#[proc_macro_derive(Shape, attributes(shape))]
pub fn derive_shape(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    shape::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares a controlled vocabulary: a unit enum whose values are its variants in snake_case.
///
/// `#[value("r134a")]` on a variant gives it another value; `#[vocabulary(name = "scope_code")]` on
/// the enum gives the vocabulary another name than the enum's in snake_case.
#[proc_macro_derive(Vocabulary, attributes(value, vocabulary))]
pub fn derive_vocabulary(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    vocabulary::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
