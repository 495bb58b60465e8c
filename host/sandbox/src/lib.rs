//! Runs intent contracts as sandboxed WebAssembly components. The only crate that uses wasmtime.
//!
//! The way of a component: `loading` compiles it (`compiling`, in a process of its own) or takes it from `cache`, checks the interface
//! (`abi`), the descriptor (`descriptor`, `golive`) and the contract's own `examples`; `sandbox` holds it, and publishes in a
//! `registry` what the catalogue says. Components come by uploads, and out of the watched folder (`watch`). The way of a call: a
//! `registry::Version` counts it, `contract` speaks the domain's types, `component` makes a fresh `instance` under the limits of
//! `engine`, `checks` looks at what came back.
//!
//! Invariants:
//! - No instance serves two calls. Limits and deadline are set before anything of the guest runs.
//! - What all instances together take of memory is bounded (`budget`), and no contract takes the share of another.
//! - Code is in memory as far as it runs, and fetched before a call's deadline begins where it has not run for long (`pages`).
//! - Compiled code runs only if this installation compiled it (`cache`).
//! - A version is never changed, and a snapshot never edited: readers pin what they read.
//! - What is to serve is decided elsewhere ([`ContractRuntime`](intent_gateway_domain::ports::ContractRuntime)).
//! - Nothing here judges a request or an option; that is the contract's business.

mod abi;
mod bindings;
mod budget;
mod cache;
mod checks;
mod compiling;
mod component;
mod config;
mod contract;
mod convert;
mod descriptor;
mod engine;
mod examples;
mod failure;
mod files;
mod golive;
mod instance;
mod left;
mod loading;
mod pages;
mod progress;
mod registry;
mod sandbox;
mod state_dir;
mod stderr;
mod swap;
mod wasi;
mod watch;
mod way;
mod workers;

pub use abi::contract_interface;
pub use cache::CompiledCache;
pub use compiling::Compiler;
pub use compiling::child::{CompileLimits, compile_contract};
pub use config::{InvalidConfig, SandboxConfig};
pub use contract::LoadedContract;
pub use engine::{Engine, EngineError, engine_version};
pub use examples::{Example, ExampleCall};
pub use failure::{CompileBound, LoadError};
pub use left::{has_kept_contracts, put_left_contracts_aside, read_left_contracts};
pub use progress::{Compiling, StartProgress};
pub use sandbox::{Sandbox, StartError};
pub use state_dir::StateError;
pub use watch::{CannotWatch, ContractFolder};
pub use workers::WorkerThreads;
