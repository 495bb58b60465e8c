//! The component that a command is about: its bytes, the engine that runs it, and the runtime to wait on it.

use std::path::{Path, PathBuf};

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::sections::{self, SIGNATURES_SECTION};
use intent_gateway_sandbox::{Compiler, Engine, EngineError, LoadError, LoadedContract, SandboxConfig};
use tokio::runtime::{Builder, Runtime};

use crate::bench::BenchError;

/// Instances that may run at a time; the kit calls one after the other.
const INSTANCES: u32 = 2;

/// A component could not be taken up.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// The file could not be read.
    #[error("cannot read {}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The sandbox did not start.
    #[error("the sandbox did not start")]
    Engine(#[from] EngineError),
    /// The async runtime did not start.
    #[error("the async runtime did not start")]
    Runtime(#[source] std::io::Error),
}

/// A component in a file, whether it is a contract or not.
#[derive(Debug)]
pub struct Subject {
    /// Where it was read from.
    pub path: PathBuf,
    /// The component.
    pub bytes: Vec<u8>,
    engine: Engine,
    runtime: Runtime,
}

impl Subject {
    /// Reads a component and starts a sandbox with the limits that a gateway has unless it is told otherwise, which has it
    /// compiled by `compiler`.
    ///
    /// # Errors
    /// [`SubjectError`] when the file cannot be read or the sandbox does not start.
    pub fn open(path: &Path, compiler: Compiler) -> Result<Self, SubjectError> {
        let bytes = std::fs::read(path).map_err(|cause| SubjectError::Unreadable { path: path.to_owned(), cause })?;
        let config = SandboxConfig { max_concurrent_instances: INSTANCES, ..SandboxConfig::default() };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(SubjectError::Runtime)?;
        Ok(Self { path: path.to_owned(), bytes, engine: Engine::with_compiler(&config, compiler)?, runtime })
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &SandboxConfig {
        self.engine.config()
    }

    /// Name of the content.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.content())
    }

    /// The component without its signatures, which are no part of what the digest names.
    fn content(&self) -> Vec<u8> {
        sections::take_out(&self.bytes, SIGNATURES_SECTION).0
    }

    /// Compiles and examines it, its examples excepted.
    ///
    /// # Errors
    /// [`LoadError`] when it is not a contract.
    pub fn load(&self) -> Result<LoadedContract, LoadError> {
        self.wait(LoadedContract::compile(&self.engine, &self.content()))
    }

    /// The same for counting: the engine, which tells what calls have used, and the contract.
    ///
    /// # Errors
    /// [`BenchError`] when the sandbox does not start once more, or it is not a contract.
    pub(crate) fn load_counting(&self) -> Result<(Engine, LoadedContract), BenchError> {
        let engine = Engine::counting_fuel(self.limits())?;
        let contract = self.wait(LoadedContract::compile(&engine, &self.content()))?;
        // What its examination has used is nobody's call.
        engine.take_fuel();
        Ok((engine, contract))
    }

    /// Waits for something that the contract does.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}
