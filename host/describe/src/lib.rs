//! A contract in words, for people: the page that its partners read, and how a comparison of two versions came out.
//!
//! Not here: what is described. A descriptor comes from the component, a report from `compare`.

pub mod comparison;
pub mod partner_page;
pub mod text;
