//! Tests of taking reports: the order of the steps, what is judged by whom, and that a refusal leaves nothing behind.

mod booked;
mod orders;
mod refused;
mod world;
