//! What parts of the gateway cost, counted in instructions (docs/benchmarks.md, "Instructions and allocations").
//!
//! Times differ from machine to machine and from run to run, so that a small change does not show in them. Instructions that
//! valgrind counts are the same each time. The bench `host` counts those of the host's own code over fakes; `cargo xtask
//! instructions` runs it, adds the fuel of the contracts that ship, and compares with `counts.json`.
//!
//! Not here: times (the benches of `tests`), and whatever needs the sandbox, the server or the store.
