//! How long a test goes on that could go on for ever: kills, loads, faults.
//!
//! Each has two forms, which assert the same. The short one is part of every run; the long one runs under
//! `cargo xtask test --soak`, which sets [`VARIABLE`].

/// Set to anything for the long forms.
pub const VARIABLE: &str = "INTENT_GATEWAY_TEST_SOAK";

/// What a test takes for its size: one for every run, one for a soak.
#[must_use]
pub fn choose<T>(short: T, long: T) -> T {
    if is_wanted() { long } else { short }
}

/// Whether the long forms are wanted.
#[must_use]
pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}
