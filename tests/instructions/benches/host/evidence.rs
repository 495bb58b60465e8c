//! How a receipt becomes the rows that the store keeps: the store's own files, for the crate itself brings its engines.

#[path = "../../../../host/store/src/evidence/body.rs"]
mod body;
#[path = "../../../../host/store/src/evidence/keepable.rs"]
mod keepable;
#[path = "../../../../host/store/src/evidence/receipt.rs"]
mod receipt;

use keepable::{keepable_name, time};
pub(crate) use receipt::{PackedRows, rows};
