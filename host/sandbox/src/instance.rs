//! One instance for one call: its store, the limits that are set before anything runs, and what a failure
//! of it means.

use std::time::Duration;

use intent_gateway_domain::error::ContractFault;
use wasmtime::{PoolConcurrencyLimitError, ResourceLimiter, Store, Trap, UpdateDeadline};
use wasmtime_wasi::{WasiCtxView, WasiView};

use crate::engine::{EPOCH_PERIOD, Engine, MEMORIES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX};
use crate::wasi::Wasi;

/// Epoch ticks that a call runs before it lets other tasks of its thread run.
const TICKS_PER_SLICE: u64 = 5;
/// Characters of a fault's text that callers see.
const FAULT_TEXT_MAX_CHARS: usize = 200;
/// What wasmtime says when lifting a result would exceed the budget set with `set_hostcall_fuel`. The error's
/// type is private, so its text is all there is; `tests/hostile.rs` notices if it changes, and until then such a
/// result is reported as invalid output instead.
const OUTPUT_BUDGET_EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";

/// What a store holds for its guest.
pub(crate) struct Guest {
    caps: Caps,
    wasi: Option<Box<Wasi>>,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        // Built on first use at the latest, so that the accessor cannot fail.
        self.wasi.get_or_insert_with(|| Box::new(Wasi::closed())).view()
    }
}

/// Grants memory up to the cap and remembers a refusal, so that the trap that follows is reported for what it is.
#[derive(Clone, Copy)]
struct Caps {
    memory_max_bytes: usize,
    refused: bool,
}

impl Caps {
    fn grant(&mut self, wanted: usize, cap: usize) -> bool {
        let granted = wanted <= cap;
        self.refused |= !granted;
        granted
    }
}

impl ResourceLimiter for Caps {
    fn memory_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let cap = self.memory_max_bytes.min(maximum.unwrap_or(usize::MAX));
        Ok(self.grant(desired, cap))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grant(desired, TABLE_ELEMENTS_MAX.min(maximum.unwrap_or(usize::MAX))))
    }

    fn tables(&self) -> usize {
        usize::try_from(TABLES_MAX).unwrap_or(usize::MAX)
    }

    fn memories(&self) -> usize {
        usize::try_from(MEMORIES_MAX).unwrap_or(usize::MAX)
    }
}

/// A store with every limit set.
pub(crate) fn store(engine: &Engine, with_wasi: bool, deadline: Duration) -> Store<Guest> {
    let config = engine.config();
    let guest = Guest {
        caps: Caps { memory_max_bytes: config.memory_max_bytes, refused: false },
        wasi: with_wasi.then(|| Box::new(Wasi::closed())),
    };
    let mut store = Store::new(engine.wasmtime(), guest);
    store.limiter(|guest| &mut guest.caps);
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
    let Caps { memory_max_bytes, refused } = store.data().caps;
    tracing::debug!(error = format!("{error:#}"), "a contract call failed");
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => {
            return ContractFault::DeadlineExceeded(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX));
        }
        Some(_) if refused => return ContractFault::OutOfMemory(memory_max_bytes),
        Some(trap) => return ContractFault::Trap(shorten(&trap.to_string())),
        None => {}
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return ContractFault::Busy(0);
    }
    if error.is::<wasmtime_wasi::I32Exit>() {
        return ContractFault::Trap("it asked to exit".to_owned());
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
