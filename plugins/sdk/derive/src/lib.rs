//! Macros of `contract-sdk`: [`macro@Shape`] for objects, [`macro@Vocabulary`] for closed lists, [`macro@CardJson`] and
//! [`text!`] for cards, [`contract!`] for the contract as a whole.
//!
//! They only translate a declaration into tables and calls; whatever judges a value lives in
//! `contract-sdk`, where it can be read and tested without expanding a macro.

mod card;
mod contract;
mod shape;
mod text;
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

/// Writes a struct as the JSON of a card: each field under its name, in the order of declaration.
///
/// A field is a text, a number, a `bool`, an `Option` (`None` is `null`), a list, or a struct that derives this too. The
/// JSON is what `serde_json` gives for the same struct. `#[card(rename = "type")]` gives a field another key.
#[proc_macro_derive(CardJson, attributes(card))]
pub fn derive_card_json(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    card::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a text of words and values: what `format!` makes of the same, at a fraction of its cost in a guest.
///
/// ```text
/// text!("{} · {:.1} km", provider.name, provider.distance_km)
/// text!("{years}-year cover")
/// ```
///
/// `{}` takes texts, numbers and times; `{:.0}` to `{:.3}` round a number; `{name}` names a variable. Anything else is a
/// compile error: there `format!` does it.
#[proc_macro]
pub fn text(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as text::Text);
    text::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares a contract: a type, and where its parts are.
///
/// Written like `use`: a path that ends in the name of a part, or in `as` and the name of the part.
///
/// ```text
/// contract_sdk::contract! {
///     /// The contract of `food.order_tea`.
///     pub struct Tea;
///
///     use tables::{ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN};
///     use request::TeaRequest<'_> as Request;
///     use rules::{request_rules, item_rules};
///     ..
/// }
/// ```
///
/// A type that borrows from its document is written with `<'_>`. The parts are the items of `Intent`, under the same
/// names; what each is stands there.
///
/// | part | is | may be left out |
/// |---|---|---|
/// | `ABOUT`, `SEARCH`, `TOOLS`, `ERRORS`, `FORBIDDEN` | constants | no |
/// | `LIFETIMES`, `GO_LIVE`, `RULES` | constants | yes: there are none |
/// | `STATUSES`, `CHARGED` | constants | yes: `completed` |
/// | `AMOUNT_MAX_INR` | a constant | no |
/// | `LEXICON`, `RANKING`, `WIDGET` | constants | no |
/// | `Request`, `Item`, `ReportExtra`, `Scale`, `Card` | types | no |
/// | `request_rules`, `report_rules` | functions | yes: there is no rule |
/// | `item_rules`, `score`, `examples` | functions | no |
/// | `scale` | a function | yes: then `Scale` has a function `of` that takes the options and the past orders |
/// | `card` | a function | yes: then `Card` has a function `of` that takes the option |
///
/// All that is missing is told at once. What is named and does not fit is told at the name.
#[proc_macro]
pub fn contract(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as contract::Contract);
    contract::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The text of an attribute such as `#[card(rename = "text")]`, which knows nothing else; the last counts.
fn text_attribute(attrs: &[syn::Attribute], attribute: &str, member: &str) -> syn::Result<Option<String>> {
    let mut text = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(attribute)) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident(member) {
                text = Some(meta.value()?.parse::<syn::LitStr>()?.value());
                Ok(())
            } else {
                Err(meta.error(format!("only `{member}` is known here")))
            }
        })?;
    }
    Ok(text)
}
