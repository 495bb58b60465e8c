//! What the end-to-end tests and the benches share. The tests themselves: see `e2e/`, `guests/` and `benches/`.

pub mod cpu;
pub mod labelled;
pub mod profile;
