//! From a request to ranked options, and from an option to the calls that follow it: which contract, which partners, what
//! is sent, what is scanned, judged, shown and kept.
//!
//! Not here: how a partner is called and when it is left alone (`outbound`), what happens when an order closes (`ledger`),
//! HTTP.

pub mod calling;
pub mod faults;
pub mod following;
pub mod golive;
pub mod orders;
mod partner_error;
pub mod payload;
pub mod pinned;
pub mod reference;
pub mod replay;
pub mod scan;
pub mod search;
pub mod selection;
pub mod trial;
pub mod user_data;
