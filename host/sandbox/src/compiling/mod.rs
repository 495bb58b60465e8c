//! From a component to machine code, within bounds: a component is small, and compiling it need not be.
//!
//! First [`bounds`] counts what decides the cost, in one pass over the bytes. What passes is compiled in a [`process`] of
//! its own, whose time, memory and output are bounded; the other side of it is [`child`]. Who waits for whom, [`queue`]
//! says. In tests and benches, which compile what they trust and have no program of their own to start, it is done in this
//! process: the [`Compiler`] is chosen by whoever puts the parts together.
//!
//! Not here: the cache, which makes most of this needless ([`crate::cache`]).

pub(crate) mod bounds;
pub(crate) mod child;
mod code;
mod process;
pub(crate) mod queue;

use bytes::Bytes;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;

use crate::engine::Engine;
use crate::failure::LoadError;
pub(crate) use code::{CodeFile, CompiledCode};
use process::Program;

/// First bytes of a WebAssembly binary.
const WASM_MAGIC: &[u8] = b"\0asm";
/// The next four: version 13, layer 1 (component). A core module has version 1, layer 0.
const COMPONENT_LAYER: &[u8] = &[0x0d, 0, 1, 0];
/// First bytes of the ELF images that wasmtime compiles to.
const ELF_MAGIC: &[u8] = b"\x7fELF";

/// Where components are compiled.
#[derive(Clone, Debug)]
pub struct Compiler(Kind);

#[derive(Clone, Debug)]
enum Kind {
    InThisProcess,
    InItsOwn(Program),
}

impl Compiler {
    /// In this process: for tests and benches, which know what they compile. Nothing bounds its memory, and it cannot be
    /// stopped.
    #[must_use]
    pub fn in_this_process() -> Self {
        Self(Kind::InThisProcess)
    }

    /// In a process of its own for each component: this very program, started with `command`, which is to call
    /// [`compile_contract`](crate::compile_contract) with the arguments that follow it.
    #[must_use]
    pub fn of_this_program(command: &str) -> Self {
        Self(Kind::InItsOwn(Program::this(command)))
    }
}

/// Looks at the first bytes: only a component is ever compiled, and nothing compiled elsewhere ever runs.
fn recognise(bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.len() > CONTRACT_MAX_BYTES {
        return Err(LoadError::TooLarge { bytes: bytes.len(), max: CONTRACT_MAX_BYTES });
    }
    if bytes.starts_with(ELF_MAGIC) || wasmtime::Engine::detect_precompiled(bytes).is_some() {
        return Err(LoadError::CompiledInput);
    }
    match bytes.strip_prefix(WASM_MAGIC) {
        None => Err(LoadError::NotAComponent("it does not start as a WebAssembly binary does")),
        Some(rest) if rest.starts_with(COMPONENT_LAYER) => Ok(()),
        Some(_) => Err(LoadError::NotAComponent("it is a core module; encode it as a component")),
    }
}

/// Compiles a component. Takes from milliseconds to many seconds of one core; dropped, it stops, unless it is done in this
/// process.
///
/// # Errors
/// [`LoadError`] when it is none, breaks a bound or does not validate.
pub(crate) async fn compile(engine: &Engine, bytes: Bytes) -> Result<CompiledCode, LoadError> {
    let config = engine.config();
    let (component, memory_max_bytes) = (bytes.clone(), config.memory_max_bytes);
    // Some hundred milliseconds for the largest: too long for a serving thread.
    let counted = tokio::task::spawn_blocking(move || {
        recognise(&component)?;
        bounds::check(&component, memory_max_bytes)
    });
    counted.await.map_err(|error| LoadError::Broken(error.into()))??;
    match &engine.compiler().0 {
        Kind::InItsOwn(program) => program.compile(config, bytes).await,
        Kind::InThisProcess => {
            let engine = engine.wasmtime().clone();
            let compiled = tokio::task::spawn_blocking(move || engine.precompile_component(&bytes)).await;
            let code = compiled.map_err(|error| LoadError::Broken(error.into()))?;
            code.map(|code| CompiledCode::of_own_compiler(code.into()))
                .map_err(|error| LoadError::Compile(error.into()))
        }
    }
}
