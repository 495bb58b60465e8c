//! The catalogue of contracts: which versions there are, which one serves each intent, and which one is to serve next. It is kept in
//! the store, so that every gateway that shares the store serves the same.
//!
//! The way of a version: it is examined where it was handed in (`changing`), and added to its intent's [`Entry`] together with its
//! component. Every gateway follows the entries (`following`), makes ready what it has not yet, and says so in a row of its own
//! ([`GatewayState`]). When all that live have it ready, whoever sees that first changes the entry, and all of them serve it. A
//! gateway that is alone has nobody to wait for.
//!
//! A rollout goes another way: its candidate is ready everywhere and serves a share (`rollout`: what an entry knows of it), and each
//! gateway tells what it has seen of it and judges what all have (`promotion`).
//!
//! What is wanted is in the entries, and only there; what this gateway has made of it is in its `view`. What ran before this gateway
//! knew a catalogue is taken over from its state folder (`takeover`).
//!
//! Not here: examining and running contracts ([`ContractRuntime`](intent_gateway_domain::ports::ContractRuntime)), which version may
//! follow which ([`succession`](intent_gateway_domain::succession)), and where files come from.

mod changing;
mod check;
mod component;
mod contracts;
mod entry;
mod failures;
mod following;
mod names;
mod promotion;
mod rollout;
mod service;
mod state;
mod takeover;
#[cfg(test)]
mod tests;
mod trust;
mod view;

pub use check::check;
pub use contracts::CataloguedContracts;
pub use entry::{Coming, Doing, Entry, EntryVersion, RetiredVersion};
pub use service::{Catalogue, CatalogueSetup};
pub use state::{GatewayState, Serving, Staged};
