//! The targets under libFuzzer. `cargo xtask fuzz` builds and starts it; the target's name is in the environment.

#![no_main]

use std::sync::OnceLock;

use fuzz_targets::{Target, VARIABLE};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let name = std::env::var(VARIABLE).unwrap_or_default();
        let target = fuzz_targets::find(&name).unwrap_or_else(|| panic!("{VARIABLE} names no target: `{name}`"));
        CHOSEN.get_or_init(|| target);
    },
    |data: &[u8]| {
        if let Some(target) = CHOSEN.get() {
            (target.run)(data);
        }
    }
);
