//! End-to-end tests, hostile guests and benches of the project. There is nothing to import: see `e2e/`,
//! `guests/` and `benches/`.
