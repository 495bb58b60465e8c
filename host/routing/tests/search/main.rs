//! A whole search over fakes: what routing does whatever contract and partners do.

mod history;
mod outcome;
mod prices;
mod progressive;
mod receipts;
mod rollouts;
mod support;
