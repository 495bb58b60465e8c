//! Builds contracts that are written in Rust: finds a compiler for WebAssembly, runs cargo, and encodes the module
//! that comes out as a component.
//!
//! Used by `intent-gateway plugin build` and by `cargo xtask`, so that both build the same bytes. Contracts in
//! other languages are built by the tools of those languages and never come here. Nothing here runs a contract.

mod command;
mod compiler;
mod component;
mod package;

pub use compiler::{Build, Compiler, TARGET};
pub use component::{encode, store};
pub use package::Package;

use std::path::PathBuf;
use std::process::ExitStatus;

/// A contract could not be built.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// A program is not there or may not be run.
    #[error("cannot start `{command}`")]
    Start {
        /// What was to be run.
        command: String,
        #[source]
        cause: std::io::Error,
    },
    /// A program ended with a failure.
    #[error("`{command}` failed ({status}){}", said(.stderr))]
    Failed {
        command: String,
        status: ExitStatus,
        /// What it printed to standard error, where that was not shown at once.
        stderr: String,
    },
    /// cargo ended with a failure, and has said on standard error why.
    #[error("the crate does not build ({0}); the messages above say where and why")]
    DoesNotBuild(ExitStatus),
    /// No compiler for WebAssembly is there and none could be installed.
    #[error(
        "no compiler for {TARGET} could be had: `rustup target add {TARGET}` failed and this is no Debian; install \
         the target for {rustc} and try again"
    )]
    NoCompiler {
        /// The compiler that lacks the target.
        rustc: String,
    },
    /// Debian's packages are installed and yet incomplete.
    #[error("Debian's packages {0} brought no library sources")]
    NoSources(String),
    /// The compiler says something that cannot be understood.
    #[error("rustc does not tell its host")]
    NoHost,
    /// There is no crate in the folder.
    #[error("there is no Cargo.toml in {}", .0.display())]
    NoCrate(PathBuf),
    /// cargo's description of the crate could not be read.
    #[error("cannot read what cargo says of {}", .folder.display())]
    Metadata {
        folder: PathBuf,
        #[source]
        cause: serde_json::Error,
    },
    /// The manifest describes no package, for example only a workspace.
    #[error("{} describes no package", .0.display())]
    NoPackage(PathBuf),
    /// The crate has no library.
    #[error("{0} has no library; a contract is one: give it a `src/lib.rs`")]
    NoModule(String),
    /// Its constant data and its stack do not fit the memory that an instance starts with. Bytes that are needed.
    #[error(
        "the contract needs {0} bytes of memory before it runs, for its constant data and 1 MiB of stack, and it has {given}; \
         make its `static`s and tables smaller, or fill them when they are needed",
        given = compiler::INITIAL_MEMORY_BYTES
    )]
    TooMuchData(u64),
    /// The module is not a contract, for example for want of `contract_sdk::export!`.
    #[error("{} does not make a component", .module.display())]
    Encode {
        module: PathBuf,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} {}", .path.display())]
    File {
        /// `read`, `write` or `create`.
        doing: &'static str,
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
}

/// What a failed program said, as the end of a message.
fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
