//! Cards: how an option is shown, written as JSON.
//!
//! A card is a struct with one field per slot of the widget. `#[derive(CardJson)]` writes it, and [`text!`](crate::text)
//! makes its texts: it takes what `format!` takes and gives the same text.
//!
//! ```
//! use contract_sdk::shape::{DateTime, Inr};
//! use contract_sdk::common::Price;
//! use contract_sdk::{CardJson, text};
//!
//! #[derive(CardJson)]
//! struct Card<'i> {
//!     header: &'i str,
//!     subline: String,
//!     price: Price,
//!     badge: Option<&'static str>,
//! }
//!
//! let start = DateTime::parse("2026-05-04T10:00:00+05:30").unwrap();
//! let card = Card {
//!     header: "Cool Cars",
//!     subline: text!("{start} · {:.1} km", 2.46),
//!     price: Inr(900).into(),
//!     badge: None,
//! };
//! assert_eq!(
//!     card.to_json(),
//!     r#"{"header":"Cool Cars","subline":"Mon 4 May, 10:00 · 2.5 km","price":{"amount_inr":900,"currency":"INR"},"badge":null}"#
//! );
//! ```
//!
//! Every search writes a card for each option, so neither goes through `core::fmt` or serde: together they took a
//! quarter of `evaluate`. Both give the bytes that `format!` and `serde_json` give (property tests compare them), and
//! ask these two where a number is out of the usual.

mod json;
mod piece;

pub use json::CardJson;
pub(crate) use piece::push_digits;
pub use piece::{Decimals, Piece};
