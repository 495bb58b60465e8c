//! One instance for one call: its store, the limits that are set before anything runs, and what a failure
//! of it means.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::faults::Told;
use wasmtime::component::{Linker, WasmStr};
use wasmtime::{PoolConcurrencyLimitError, ResourceLimiter, Store, StoreContextMut, Trap, UpdateDeadline};
use wasmtime_wasi::{WasiCtxView, WasiView};

use crate::abi;
use crate::budget::{InstanceMemory, Reservation, UsedUp};
use crate::engine::{EPOCH_PERIOD, Engine, MEMORIES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX};
use crate::wasi::Wasi;

/// Epoch ticks that a call runs before it lets other tasks of its thread run.
const TICKS_PER_SLICE: u64 = 5;
/// What an element of a table takes, bytes.
pub(crate) const TABLE_ELEMENT_BYTES: usize = size_of::<usize>();
/// Characters of a fault's text that callers see.
const FAULT_TEXT_MAX_CHARS: usize = 200;
/// What wasmtime puts before the kind of a trap.
const TRAP_PREFIX: &str = "wasm trap: ";
/// What wasmtime says when lifting a result would exceed the budget set with `set_hostcall_fuel`. The error's
/// type is private, so its text is all there is; `tests/hostile.rs` notices if it changes, and until then such a
/// result is reported as invalid output instead.
const OUTPUT_BUDGET_EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";

/// What a store holds for its guest.
pub(crate) struct Guest {
    caps: Caps,
    wasi: Option<Box<Wasi>>,
    /// What it said of a fault, once.
    told: Option<Box<Told>>,
}

impl Guest {
    /// What it said before it trapped: by `faults`, or on standard error, where a language's runtime writes it.
    fn told(&self) -> Option<Box<Told>> {
        self.told.clone().or_else(|| {
            let written = self.wasi.as_ref()?.stderr_bytes();
            let told = Told::new(&String::from_utf8_lossy(&written), None);
            (!told.message.is_empty()).then(|| Box::new(told))
        })
    }
}

/// Links the interface `faults`. Its one function records what a guest says, the first time; a text larger than what
/// a guest may return at all fails the call like such a return.
pub(crate) fn link_faults(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.instance(&abi::faults_name())?.func_wrap(
        "report",
        |mut store: StoreContextMut<'_, Guest>, (message, place): (WasmStr, Option<WasmStr>)| -> wasmtime::Result<()> {
            if store.data().told.is_none() {
                let told = {
                    let message = message.to_str(&store)?;
                    let place = place.as_ref().map(|place| place.to_str(&store)).transpose()?;
                    Told::new(&message, place.as_deref())
                };
                store.data_mut().told = Some(Box::new(told));
            }
            Ok(())
        },
    )
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        // Built on first use at the latest, so that the accessor cannot fail.
        self.wasi.get_or_insert_with(|| Box::new(Wasi::closed())).view()
    }
}

/// Grants memory up to the instance's cap, which is one for all its memories and tables together, and remembers a refusal,
/// so that the trap that follows is reported for what it is. What is within the cap and goes beyond the sum for all instances
/// ends the call: to the contract, how busy the gateway is must not show.
struct Caps {
    memory: Arc<InstanceMemory>,
    memory_max_bytes: usize,
    refused: bool,
    /// What was granted last, bytes.
    granted: usize,
}

impl Caps {
    fn grant(&mut self, more: usize, is_within: bool) -> wasmtime::Result<bool> {
        self.granted = 0;
        if !is_within || self.memory.used_bytes().saturating_add(more) > self.memory_max_bytes {
            self.refused = true;
            return Ok(false);
        }
        self.memory.take(more)?;
        self.granted = more;
        Ok(true)
    }

    /// What was granted last could not be had.
    fn ungrant(&mut self) {
        self.memory.untake(std::mem::take(&mut self.granted));
    }
}

impl ResourceLimiter for Caps {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grant(desired.saturating_sub(current), desired <= maximum.unwrap_or(usize::MAX))
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.ungrant();
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current).saturating_mul(TABLE_ELEMENT_BYTES);
        self.grant(more, desired <= TABLE_ELEMENTS_MAX.min(maximum.unwrap_or(usize::MAX)))
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.ungrant();
        Ok(())
    }

    fn tables(&self) -> usize {
        usize::try_from(TABLES_MAX).unwrap_or(usize::MAX)
    }

    fn memories(&self) -> usize {
        usize::try_from(MEMORIES_MAX).unwrap_or(usize::MAX)
    }
}

/// A store with every limit set. What is put aside for its memory must outlive it.
pub(crate) fn store(engine: &Engine, memory: &Reservation, with_wasi: bool, deadline: Duration) -> Store<Guest> {
    let config = engine.config();
    let memory_max_bytes = config.memory_max_bytes;
    let guest = Guest {
        caps: Caps { memory: Arc::clone(&memory.0), memory_max_bytes, refused: false, granted: 0 },
        wasi: with_wasi.then(|| Box::new(Wasi::closed())),
        told: None,
    };
    let mut store = Store::new(engine.wasmtime(), guest);
    store.limiter(|guest| &mut guest.caps);
    engine.fill(&mut store);
    store.set_hostcall_fuel(config.output_max_bytes);
    // The guest is granted its time slice by slice, and lets other tasks of the thread run in between. Slices
    // are charged, not the clock: a machine that is too busy to run the guest at all costs it one slice at most,
    // where a deadline by the clock would blame the contract for it.
    let mut left = ticks_in(deadline);
    let mut slice = left.min(TICKS_PER_SLICE);
    store.set_epoch_deadline(slice);
    store.epoch_deadline_callback(move |_| {
        left -= slice;
        slice = left.min(TICKS_PER_SLICE);
        Ok(match slice {
            0 => UpdateDeadline::Interrupt,
            ticks => UpdateDeadline::YieldCustom(ticks, Box::pin(tokio::task::yield_now())),
        })
    });
    store
}

/// Epoch ticks in a deadline, at least one.
fn ticks_in(deadline: Duration) -> u64 {
    let ticks = deadline.as_nanos().div_ceil(EPOCH_PERIOD.as_nanos());
    u64::try_from(ticks).unwrap_or(u64::MAX).max(1)
}

/// What a failed call means, by the error's type. Callers get the kind of the failure; the rest goes to the log.
pub(crate) fn fault(error: &wasmtime::Error, store: &Store<Guest>, deadline: Duration) -> ContractFault {
    let Caps { memory_max_bytes, refused, .. } = store.data().caps;
    tracing::debug!(error = format!("{error:#}"), "a contract call failed");
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => {
            return ContractFault::DeadlineExceeded(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX));
        }
        Some(_) if refused => return ContractFault::OutOfMemory(memory_max_bytes),
        Some(trap) => {
            let text = trap.to_string();
            // That it is a trap, the fault's own text says.
            let cause = shorten(text.strip_prefix(TRAP_PREFIX).unwrap_or(&text));
            return ContractFault::Trap { cause, told: store.data().told() };
        }
        None => {}
    }
    if error.is::<UsedUp>() || error.is::<PoolConcurrencyLimitError>() {
        return ContractFault::Busy(0);
    }
    if error.is::<wasmtime_wasi::I32Exit>() {
        return ContractFault::Trap { cause: "it asked to exit".to_owned(), told: store.data().told() };
    }
    if refused {
        return ContractFault::OutOfMemory(memory_max_bytes);
    }
    let text = error.root_cause().to_string();
    if text.contains(OUTPUT_BUDGET_EXHAUSTED) {
        return ContractFault::OutputTooLarge(store.hostcall_fuel());
    }
    ContractFault::InvalidOutput(shorten(&text))
}

/// The first line, cut to a bounded length.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(FAULT_TEXT_MAX_CHARS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::error::ContractFault;
    use wasmtime::component::Component;

    use crate::abi::Exports;
    use crate::component::ContractComponent;
    use crate::config::SandboxConfig;
    use crate::engine::{Engine, Lane};

    /// What a component without arguments and results comes to.
    async fn run(text: &str, with_wasi: bool) -> Result<(), ContractFault> {
        run_on(&Engine::new(&small()).expect("the engine starts"), text, with_wasi).await
    }

    fn small() -> SandboxConfig {
        SandboxConfig { max_concurrent_instances: 2, ..SandboxConfig::default() }
    }

    async fn run_on(engine: &Engine, text: &str, with_wasi: bool) -> Result<(), ContractFault> {
        let bytes = wat::parse_str(text).expect("the text is a component");
        let compiled = Component::from_binary(engine.wasmtime(), &bytes).expect("it compiles");
        let run = compiled.get_export_index(None, "run").expect("it is exported");
        let component =
            ContractComponent::check_prepared(engine, &compiled, with_wasi, Exports::all(&run)).expect("it links");
        component.call::<(), ()>(Lane::Serving, &run, ()).await
    }

    #[tokio::test]
    async fn a_component_that_imports_nothing_runs_and_traps_without_a_word() {
        let component = |body: &str| {
            format!(
                r#"(component
                (core module $m (func (export "run") {body}))
                (core instance $i (instantiate $m))
                (func (export "run") (canon lift (core func $i "run"))))"#
            )
        };
        assert_eq!(run(&component(""), false).await, Ok(()));
        let fault = run(&component("unreachable"), false).await.expect_err("it traps");
        assert!(matches!(fault, ContractFault::Trap { told: None, .. }), "{fault:?}");
        assert_eq!(fault.to_string(), "the contract trapped: wasm `unreachable` instruction executed");
    }

    #[tokio::test]
    async fn fuel_is_what_runs_and_the_same_each_time() {
        let counting = |rounds: u32| {
            format!(
                r#"(component
                (core module $m (func (export "run") (local $left i32)
                    (local.set $left (i32.const {rounds}))
                    (loop $again (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))))
                (core instance $i (instantiate $m))
                (func (export "run") (canon lift (core func $i "run"))))"#
            )
        };
        let engine = Engine::counting_fuel(&small()).expect("the engine starts");
        let mut fuel = Vec::new();
        for rounds in [100, 100, 300] {
            run_on(&engine, &counting(rounds), false).await.expect("it runs");
            fuel.push(engine.take_fuel());
        }
        let [first, again, more] = fuel[..] else { panic!("three calls") };
        assert_eq!(first, again);
        // A round is five instructions or so.
        let round = (more - first) / 200;
        assert!((3..=7).contains(&round) && (more - first) % 200 == 0, "{fuel:?}");
        assert_eq!(engine.take_fuel(), 0, "it was taken");

        let engine = Engine::new(&small()).expect("the engine starts");
        run_on(&engine, &counting(100), false).await.expect("it runs");
        assert_eq!(engine.take_fuel(), 0, "engines that serve count none");
    }

    #[tokio::test]
    async fn a_report_is_linked_with_and_without_wasi() {
        let text = r#"(component
            (import "intent-gateway:contract/faults@1.0.0" (instance $faults
                (export "report" (func (param "message" string) (param "place" (option string))))))
            (core module $mem (memory (export "memory") 1) (data (i32.const 0) "no tea"))
            (core instance $memory (instantiate $mem))
            (core func $report (canon lower (func $faults "report") (memory $memory "memory")))
            (core module $m
                (import "" "report" (func $report (param i32 i32 i32 i32 i32)))
                (func (export "run")
                    (call $report (i32.const 0) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
                    unreachable))
            (core instance $i (instantiate $m (with "" (instance (export "report" (func $report))))))
            (func (export "run") (canon lift (core func $i "run"))))"#;
        for with_wasi in [false, true] {
            let fault = run(text, with_wasi).await.expect_err("it traps");
            let told = fault.told().expect("it said something");
            assert_eq!((told.message.as_str(), &told.place), ("no tea", &None));
        }
    }

    /// Writes to standard error as the runtimes of other languages do, and traps.
    const WRITER: &str = r#"(component
        (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
        (alias export $error "error" (type $error-type))
        (import "wasi:io/streams@0.2.0" (instance $streams
            (alias outer 1 $error-type (type $outer-error))
            (export "error" (type $e (eq $outer-error)))
            (export "output-stream" (type $out (sub resource)))
            (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
            (export "stream-error" (type $stream-error (eq $failure)))
            (export "[method]output-stream.blocking-write-and-flush"
                (func (param "self" (borrow $out)) (param "contents" (list u8))
                    (result (result (error $stream-error)))))))
        (alias export $streams "output-stream" (type $out-type))
        (import "wasi:cli/stderr@0.2.0" (instance $stderr
            (alias outer 1 $out-type (type $outer-out))
            (export "output-stream" (type $out (eq $outer-out)))
            (export "get-stderr" (func (result (own $out))))))
        (core module $mem (memory (export "memory") 1)
            (data (i32.const 0) "TypeError: no tea\n    at brew (tea.js:3:5)\n"))
        (core instance $memory (instantiate $mem))
        (core func $get (canon lower (func $stderr "get-stderr")))
        (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
            (memory $memory "memory")))
        (core module $m
            (import "" "get" (func $get (result i32)))
            (import "" "write" (func $write (param i32 i32 i32 i32)))
            (func (export "run")
                (call $write (call $get) (i32.const 0) (i32.const 43) (i32.const 1024))
                unreachable))
        (core instance $i (instantiate $m
            (with "" (instance (export "get" (func $get)) (export "write" (func $write))))))
        (func (export "run") (canon lift (core func $i "run"))))"#;

    #[tokio::test]
    async fn what_is_written_to_standard_error_is_told_with_a_trap() {
        let fault = run(WRITER, true).await.expect_err("it traps");
        let told = fault.told().expect("it said something");
        assert_eq!((told.message.as_str(), &told.place), ("TypeError: no tea\n    at brew (tea.js:3:5)", &None));
    }
}
