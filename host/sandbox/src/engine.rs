//! The wasmtime engine as contracts need it: its settings, its instance pool, the epoch ticker and the
//! bound on concurrent calls. One engine serves all contracts of a gateway.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use wasmtime::component::Linker;
use wasmtime::{Config, Enabled, OptLevel, PoolingAllocationConfig, Store};

use crate::budget::{ContractMemory, MemoryBudget, Reservation};
use crate::compiling::Compiler;
use crate::config::{InvalidConfig, SandboxConfig};
use crate::instance::{self, Guest};
use crate::swap;

/// Period of the epoch, the grain of deadlines and of yielding.
pub(crate) const EPOCH_PERIOD: Duration = Duration::from_millis(1);
/// Instances beyond those that serve, so that loading a version never waits for traffic nor takes from it.
const INSTANCES_FOR_LOADING: u16 = 4;
/// Instances that serve nobody, beside those of requests.
pub(crate) const INSTANCES_BESIDE_SERVING: u16 = 4;
/// Deadline of a call while a version is loaded: the first calls of a large guest fault its pages in.
const LOADING_DEADLINE: Duration = Duration::from_secs(2);
/// How long such a call waits for an instance, milliseconds. Versions are loaded one by one, so it hardly waits.
const LOADING_WAIT_MS: u64 = 10_000;
/// Elements of one table. Script engines compiled to WebAssembly have large ones.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 10_000;
/// Core instances of one component; componentised script engines bring several dozen adapters.
const CORE_INSTANCES_MAX: u32 = 64;
/// Linear memories of one component.
pub(crate) const MEMORIES_MAX: u32 = 4;
/// Tables of one component.
pub(crate) const TABLES_MAX: u32 = 4;
/// Host-side metadata of one instance, bytes.
const INSTANCE_METADATA_MAX_BYTES: usize = 1024 * 1024;
/// Memory that stays resident in a free slot where the kernel can tell which pages were touched, bytes.
const KEEP_RESIDENT_BYTES: usize = 512 * 1024;

/// Fuel of a call where it is counted: what ends a call is its deadline.
const FUEL_MAX: u64 = u64::MAX;

/// The release of wasmtime that runs contracts.
#[must_use]
pub fn engine_version() -> &'static str {
    wasmtime_environ::VERSION
}

/// The engine could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A setting is out of range.
    #[error("the sandbox settings are not valid")]
    Config(#[from] InvalidConfig),
    /// wasmtime refused to start, as a rule for want of address space.
    #[error("the WebAssembly engine did not start")]
    Wasmtime(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The thread that drives deadlines could not be started.
    #[error("the epoch thread did not start")]
    Ticker(#[source] std::io::Error),
}

/// For whom an instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A request of a user.
    Serving,
    /// The examination of a version that is being loaded.
    Loading,
    /// Work that serves nobody, such as a comparison of versions. It runs on threads that give way to all others.
    BesideServing,
}

/// Runs components. Cheap to clone; the epoch ticker stops with the last clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<EngineState>,
}

struct EngineState {
    wasmtime: wasmtime::Engine,
    /// For components that ask for nothing but `faults`, if that.
    bare: Linker<Guest>,
    /// For components that ask for WASI.
    wasi: Linker<Guest>,
    config: SandboxConfig,
    compiler: Compiler,
    serving: Semaphore,
    loading: Semaphore,
    beside_serving: Semaphore,
    waiting: AtomicU32,
    memory: Arc<MemoryBudget>,
    compatibility: Digest,
    asks_kernel: bool,
    /// What calls have used, where that is counted.
    fuel: Option<AtomicU64>,
    _ticker: Ticker,
}

impl Engine {
    /// Starts an engine with these limits that compiles in this process, for tests and benches.
    ///
    /// # Errors
    /// As [`Engine::with_compiler`].
    pub fn new(config: &SandboxConfig) -> Result<Self, EngineError> {
        Self::with_compiler(config, Compiler::in_this_process())
    }

    /// Starts an engine with these limits.
    ///
    /// # Errors
    /// [`EngineError`] when a setting is out of range or the machine cannot give what the pool reserves.
    pub fn with_compiler(config: &SandboxConfig, compiler: Compiler) -> Result<Self, EngineError> {
        Self::start(config, compiler, None)
    }

    /// Starts an engine that counts the fuel of calls, about one unit for each WebAssembly instruction that runs: the same for
    /// the same call on every machine. Its code is slower than that of other engines, so nobody is served by it. It compiles
    /// in this process: for authors' tools, which have compiled the same component before within bounds.
    ///
    /// # Errors
    /// As [`Engine::with_compiler`].
    pub fn counting_fuel(config: &SandboxConfig) -> Result<Self, EngineError> {
        Self::start(config, Compiler::in_this_process(), Some(AtomicU64::new(0)))
    }

    fn start(config: &SandboxConfig, compiler: Compiler, fuel: Option<AtomicU64>) -> Result<Self, EngineError> {
        config.validate()?;
        let mut settings = code_settings();
        settings.consume_fuel(fuel.is_some());
        let asks_kernel = asks_kernel();
        settings.allocation_strategy(pool(config, asks_kernel));
        let wasmtime = wasmtime::Engine::new(&settings).map_err(|e| EngineError::Wasmtime(e.into()))?;
        let mut bare = Linker::new(&wasmtime);
        instance::link_faults(&mut bare).map_err(|e| EngineError::Wasmtime(e.into()))?;
        let mut wasi = bare.clone();
        wasmtime_wasi::p2::add_to_linker_async(&mut wasi).map_err(|e| EngineError::Wasmtime(e.into()))?;
        let permits = usize::try_from(config.max_concurrent_instances).unwrap_or(Semaphore::MAX_PERMITS);
        Ok(Self {
            shared: Arc::new(EngineState {
                compatibility: compatibility(&wasmtime),
                _ticker: Ticker::start(&wasmtime).map_err(EngineError::Ticker)?,
                wasmtime,
                bare,
                wasi,
                config: config.clone(),
                compiler,
                serving: Semaphore::new(permits),
                loading: Semaphore::new(INSTANCES_FOR_LOADING.into()),
                beside_serving: Semaphore::new(INSTANCES_BESIDE_SERVING.into()),
                waiting: AtomicU32::new(0),
                memory: MemoryBudget::new(config.instances_memory_max_bytes),
                asks_kernel,
                fuel,
            }),
        })
    }

    /// The limits it was started with.
    #[must_use]
    pub fn config(&self) -> &SandboxConfig {
        &self.shared.config
    }

    /// The fuel that calls have used since this was last asked; 0 where it is not counted.
    pub fn take_fuel(&self) -> u64 {
        self.shared.fuel.as_ref().map_or(0, |fuel| fuel.swap(0, Ordering::Relaxed))
    }

    /// Gives a store all the fuel that there is, where it is counted.
    pub(crate) fn fill(&self, store: &mut Store<Guest>) {
        if self.shared.fuel.is_some() {
            // It fails on engines that do not count alone.
            let _ = store.set_fuel(FUEL_MAX);
        }
    }

    /// Counts what a store has used of it.
    pub(crate) fn note_fuel(&self, store: &Store<Guest>) {
        if let Some(fuel) = &self.shared.fuel {
            let left = store.get_fuel().unwrap_or(FUEL_MAX);
            fuel.fetch_add(FUEL_MAX.saturating_sub(left), Ordering::Relaxed);
        }
    }

    /// Whether it would be wrong once there is swap.
    pub(crate) fn asks_kernel(&self) -> bool {
        self.shared.asks_kernel
    }

    /// Where it has components compiled.
    pub(crate) fn compiler(&self) -> &Compiler {
        &self.shared.compiler
    }

    /// Names everything that decides whether compiled code of one engine may run in another: version,
    /// settings, target and CPU features.
    #[must_use]
    pub(crate) fn compatibility(&self) -> Digest {
        self.shared.compatibility
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.shared.wasmtime
    }

    pub(crate) fn linker(&self, with_wasi: bool) -> &Linker<Guest> {
        if with_wasi { &self.shared.wasi } else { &self.shared.bare }
    }

    /// How long a call may take.
    pub(crate) fn deadline(&self, lane: Lane) -> Duration {
        match lane {
            Lane::Serving => self.shared.config.deadline(),
            Lane::Loading | Lane::BesideServing => LOADING_DEADLINE,
        }
    }

    /// The memory of all instances.
    pub(crate) fn memory(&self) -> &Arc<MemoryBudget> {
        &self.shared.memory
    }

    /// Waits for the right to run one instance of a contract, and for its memory, for a bounded time and in a bounded queue.
    pub(crate) async fn admit(&self, lane: Lane, memory: &Arc<ContractMemory>) -> Result<Admission<'_>, ContractFault> {
        let shared = &*self.shared;
        let (instances, wait_ms) = match lane {
            Lane::Serving => (&shared.serving, shared.config.wait_max_ms),
            Lane::Loading => (&shared.loading, LOADING_WAIT_MS),
            Lane::BesideServing => (&shared.beside_serving, LOADING_WAIT_MS),
        };
        // The memory first: who waits for the share of his contract must not keep those of others from running.
        let reserved = memory.try_reserve().ok();
        let permit = reserved.as_ref().and_then(|_| instances.try_acquire().ok());
        if let (Some(reservation), Some(permit)) = (reserved, permit) {
            return Ok(Admission { _permit: permit, reservation });
        }
        let busy = ContractFault::Busy(wait_ms);
        let _place = QueuePlace::take(&shared.waiting, shared.config.max_waiting_calls).ok_or_else(|| busy.clone())?;
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        let reserving = tokio::time::timeout_at(deadline, memory.reserve());
        let reservation = reserving.await.map_err(|_| busy.clone())?;
        // The semaphore is never closed, so the inner error does not occur.
        let permit =
            tokio::time::timeout_at(deadline, instances.acquire()).await.ok().and_then(Result::ok).ok_or(busy)?;
        Ok(Admission { _permit: permit, reservation })
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// The right to run one instance, and the memory that is put aside for it. It must outlive the instance.
pub(crate) struct Admission<'a> {
    // Given back in this order.
    pub(crate) reservation: Reservation,
    _permit: SemaphorePermit<'a>,
}

/// A place in the queue for an instance, given back on drop.
struct QueuePlace<'a>(&'a AtomicU32);

impl<'a> QueuePlace<'a> {
    fn take(waiting: &'a AtomicU32, most: u32) -> Option<Self> {
        let place = Self(waiting);
        // Taken first and given back on refusal (by the drop), so that two at once cannot both be the last.
        (waiting.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An engine that compiles what the engine of a gateway of the same release runs, and runs nothing itself.
pub(crate) fn for_compiling() -> wasmtime::Result<wasmtime::Engine> {
    // Without the pool, which reserves more address space than a compiling process may have.
    wasmtime::Engine::new(&code_settings())
}

/// What decides how code is compiled: the same wherever it is done.
fn code_settings() -> Config {
    let mut config = Config::new();
    config
        // Fast code, checked by the memory map rather than by branches.
        .cranelift_opt_level(OptLevel::Speed)
        .signals_based_traps(true)
        .memory_init_cow(true)
        // Compiling one version keeps one thread busy, never all of them.
        .parallel_compilation(false)
        .epoch_interruption(true)
        // The same bits on every machine and every replay.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .wasm_relaxed_simd(false)
        .shared_memory(false)
        .concurrency_support(false)
        // A trap's kind is all that is reported. Without what backtraces need, traps are cheap and compiled code is
        // a third smaller, which is what loading it costs.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false)
        .debug_symbols(false);
    config
}

/// Whether the kernel is asked which pages a call has written, and not wrongly: see [`swap`].
fn asks_kernel() -> bool {
    if !PoolingAllocationConfig::is_pagemap_scan_available() {
        return false;
    }
    let has_swap = swap::may_be_used();
    if has_swap {
        tracing::warn!(
            "this machine has swap: calls of contracts take longer, for all of their memory is given back after each"
        );
    }
    !has_swap
}

fn pool(limits: &SandboxConfig, asks_kernel: bool) -> PoolingAllocationConfig {
    let total =
        limits.max_concurrent_instances + u32::from(INSTANCES_FOR_LOADING) + u32::from(INSTANCES_BESIDE_SERVING);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(total)
        .total_core_instances(total * CORE_INSTANCES_MAX)
        .total_memories(total * MEMORIES_MAX)
        .total_tables(total * TABLES_MAX)
        .total_stacks(total)
        .max_core_instances_per_component(CORE_INSTANCES_MAX)
        .max_memories_per_component(MEMORIES_MAX)
        .max_tables_per_component(TABLES_MAX)
        .max_memories_per_module(MEMORIES_MAX)
        .max_tables_per_module(TABLES_MAX)
        .max_memory_size(limits.memory_max_bytes)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_component_instance_size(INSTANCE_METADATA_MAX_BYTES)
        .max_core_instance_size(INSTANCE_METADATA_MAX_BYTES);
    // Keeping pages resident pays only where the kernel (6.7 and later) reports the touched ones; elsewhere
    // the whole range would be copied back after each call.
    if asks_kernel {
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
            .table_keep_resident(KEEP_RESIDENT_BYTES);
    } else {
        pool.pagemap_scan(Enabled::No).linear_memory_keep_resident(0).table_keep_resident(0);
    }
    pool
}

/// Feeds wasmtime's compatibility value, which only implements `Hash`, into a digest.
fn compatibility(engine: &wasmtime::Engine) -> Digest {
    struct Collect(Vec<u8>);
    impl Hasher for Collect {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut collect = Collect(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut collect);
    Digest::of(&collect.0)
}

/// The thread that advances the epoch.
struct Ticker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(engine: &wasmtime::Engine) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let engine = engine.clone();
        let thread = std::thread::Builder::new().name("contract-epoch".to_owned()).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::park_timeout(EPOCH_PERIOD);
                engine.increment_epoch();
            }
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot have panicked: its loop calls nothing that does.
            let _ = thread.join();
        }
    }
}
