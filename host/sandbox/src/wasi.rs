//! WASI 0.2 for contracts in languages whose runtime asks for it: everything is linked, nothing is granted.
//!
//! No directories, environment or arguments, nothing to read; of what is written to standard error the end is kept for
//! the case that the guest traps (see `stderr`). Sockets are refused before a component is instantiated (see `abi`).
//! Clocks stand still and randomness comes from a fixed seed, so that a call
//! replays bit for bit. A contract without WASI never builds any of this.

use std::time::Duration;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::random::Deterministic;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView};

use crate::stderr::Stderr;

/// The time that every guest reads, 2026-01-01T00:00:00Z in seconds since the Unix epoch. The time that
/// matters for a request is an argument of the call.
const FROZEN_AT_S: u64 = 1_767_225_600;
/// The seed of both random interfaces. The bytes repeat; a contract has no use for more.
const RANDOM_SEED: [u8; 32] = *b"intent-gateway contract sandbox.";
/// Random bytes that one host call may return.
const RANDOM_MAX_BYTES: u64 = 64 * 1024;
/// Resources (streams, pollables) that one instance may hold.
const RESOURCES_MAX: usize = 1_000;

struct FrozenClock;

impl HostWallClock for FrozenClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(FROZEN_AT_S)
    }
}

impl HostMonotonicClock for FrozenClock {
    fn resolution(&self) -> u64 {
        1_000_000_000
    }

    fn now(&self) -> u64 {
        0
    }
}

/// WASI state of one instance.
pub(crate) struct Wasi {
    context: WasiCtx,
    resources: ResourceTable,
    stderr: Stderr,
}

impl Wasi {
    /// A state that grants nothing.
    pub(crate) fn closed() -> Self {
        let stderr = Stderr::default();
        let context = WasiCtx::builder()
            .stderr(stderr.clone())
            .wall_clock(FrozenClock)
            .monotonic_clock(FrozenClock)
            .secure_random(Deterministic::new(RANDOM_SEED.to_vec()))
            .insecure_random(Deterministic::new(RANDOM_SEED.to_vec()))
            .insecure_random_seed(u128::from_le_bytes(*b"intent-gateway\0\0"))
            .max_random_size(RANDOM_MAX_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut resources = ResourceTable::new();
        resources.set_max_capacity(RESOURCES_MAX);
        Self { context, resources, stderr }
    }

    /// The end of what the guest wrote to standard error.
    pub(crate) fn stderr_bytes(&self) -> Vec<u8> {
        self.stderr.bytes()
    }

    pub(crate) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.resources }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use intent_gateway_domain::error::ContractFault;
    use wasmtime::Store;
    use wasmtime::component::Component;

    use crate::abi::Exports;
    use crate::component::ContractComponent;
    use crate::config::SandboxConfig;
    use crate::engine::{Engine, Lane};
    use crate::instance::{self, Guest};

    fn engine() -> Engine {
        let config = SandboxConfig { max_concurrent_instances: 2, deadline_ms: 20, ..SandboxConfig::default() };
        Engine::new(&config).expect("the engine starts")
    }

    fn component(engine: &Engine, text: &str) -> Component {
        let bytes = wat::parse_str(text).expect("the text is a component");
        Component::from_binary(engine.wasmtime(), &bytes).expect("it compiles")
    }

    /// Passes on what functions of WASI answer.
    const READER: &str = r#"(component
        (import "wasi:random/random@0.2.0" (instance $random (export "get-random-u64" (func (result u64)))))
        (import "wasi:random/insecure@0.2.0" (instance $insecure
            (export "get-insecure-random-u64" (func (result u64)))))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))
        (core func $r (canon lower (func $random "get-random-u64")))
        (core func $i (canon lower (func $insecure "get-insecure-random-u64")))
        (core func $c (canon lower (func $clock "now")))
        (core module $m
            (import "" "r" (func $r (result i64))) (import "" "i" (func $i (result i64)))
            (import "" "c" (func $c (result i64)))
            (export "r" (func $r)) (export "i" (func $i)) (export "c" (func $c)))
        (core instance $m (instantiate $m
            (with "" (instance (export "r" (func $r)) (export "i" (func $i)) (export "c" (func $c))))))
        (func (export "secure") (result u64) (canon lift (core func $m "r")))
        (func (export "insecure") (result u64) (canon lift (core func $m "i")))
        (func (export "now") (result u64) (canon lift (core func $m "c"))))"#;

    async fn read(engine: &Engine, component: &Component) -> [u64; 3] {
        let reservation = engine.memory().contract(0).try_reserve().expect("there is room");
        let mut store: Store<Guest> = instance::store(engine, &reservation, true, Duration::from_secs(1));
        let instance =
            engine.linker(true).instantiate_async(&mut store, component).await.expect("everything is linked");
        let mut values = [0; 3];
        for (value, name) in values.iter_mut().zip(["secure", "insecure", "now"]) {
            let function = instance.get_typed_func::<(), (u64,)>(&mut store, name).expect("it is exported");
            (*value,) = function.call_async(&mut store, ()).await.expect("it answers");
        }
        values
    }

    #[tokio::test]
    async fn clocks_stand_still_and_randomness_repeats() {
        let engine = engine();
        let component = component(&engine, READER);
        let first = read(&engine, &component).await;
        assert_eq!(first, read(&engine, &component).await);
        assert_eq!(first[2], 0);
        assert_ne!(first[0], 0);
    }

    /// Sleeps for an hour through `wasi:io/poll`.
    const SLEEPER: &str = r#"(component
        (import "wasi:io/poll@0.2.0" (instance $poll
            (export "pollable" (type $pollable (sub resource)))
            (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
        (alias export $poll "pollable" (type $pollable))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
            (alias outer 1 $pollable (type $outer))
            (export "pollable" (type $p (eq $outer)))
            (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
        (core func $block (canon lower (func $poll "[method]pollable.block")))
        (core func $subscribe (canon lower (func $clock "subscribe-duration")))
        (core module $m
            (import "" "block" (func $block (param i32)))
            (import "" "subscribe" (func $subscribe (param i64) (result i32)))
            (func (export "sleep") (call $block (call $subscribe (i64.const 3600000000000)))))
        (core instance $i (instantiate $m
            (with "" (instance (export "block" (func $block)) (export "subscribe" (func $subscribe))))))
        (func (export "sleep") (canon lift (core func $i "sleep"))))"#;

    #[tokio::test]
    async fn a_guest_that_waits_is_stopped_by_the_clock() {
        let engine = engine();
        let compiled = component(&engine, SLEEPER);
        let sleep = compiled.get_export_index(None, "sleep").expect("it is exported");
        let component =
            ContractComponent::check_prepared(&engine, &compiled, true, Exports::all(&sleep)).expect("it links");
        let outcome = component.call::<(), ()>(Lane::Serving, &sleep, ()).await;
        assert_eq!(outcome, Err(ContractFault::DeadlineExceeded(20)));
    }
}
