//! Where the tools are that only tests need: a Python environment made from `tests/tools/requirements.txt`.

use std::path::{Path, PathBuf};

use crate::ServerError;

/// The environment's folder, from the project's root. `cargo xtask` fills it.
pub const ENVIRONMENT: &str = "target/test-tools/venv";
/// What is installed into it, from the project's root.
pub const REQUIREMENTS: &str = "tests/tools/requirements.txt";

/// A program of the environment, for example `python`.
///
/// # Errors
/// [`ServerError::NoTools`] when it is not installed.
pub fn program(name: &str) -> Result<PathBuf, ServerError> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ENVIRONMENT).join("bin").join(name);
    if program.exists() { Ok(program) } else { Err(ServerError::NoTools(program)) }
}
