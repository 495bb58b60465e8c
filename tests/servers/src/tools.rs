//! Where the tools are that only tests need: Python environments made from lists of packages, and a folder with Node and
//! what runs on it.

use std::path::{Path, PathBuf};

use crate::ServerError;

/// The environment's folder, from the project's root. `cargo xtask` fills it.
pub const ENVIRONMENT: &str = "target/test-tools/venv";
/// What is installed into it, from the project's root.
pub const REQUIREMENTS: &str = "tests/tools/requirements.txt";
/// The environment of the Python MCP SDKs, apart from the other tools, whose dependencies may differ.
pub const MCP_ENVIRONMENT: &str = "target/test-tools/mcp";
/// What is installed into it, from the project's root.
pub const MCP_REQUIREMENTS: &str = "tests/conformance/requirements.txt";
/// The folder of MCP's conformance suite, the Node SDKs and the Node that they run on. `npm ci` fills it.
pub const MCP_NODE_PROJECT: &str = "tests/conformance";

/// The folder of the authorization server that account linking is tried on. `npm ci` fills it; it runs on the Node of
/// [`MCP_NODE_PROJECT`].
pub const LINKING_NODE_PROJECT: &str = "tests/e2e/linking/provider";

/// The folder of what drives a browser. `npm ci` fills it; it runs on the Node of [`MCP_NODE_PROJECT`].
pub const BROWSER_NODE_PROJECT: &str = "tests/browser";

/// The folder of what verifies events. `npm ci` fills it; it runs on the Node of [`MCP_NODE_PROJECT`], and in Python on
/// [`ENVIRONMENT`].
pub const WEBHOOK_NODE_PROJECT: &str = "tests/servers/webhooks";

/// A program of the environment, for example `python`.
///
/// # Errors
/// [`ServerError::NoTools`] when it is not installed.
pub fn program(name: &str) -> Result<PathBuf, ServerError> {
    installed(&format!("{ENVIRONMENT}/bin/{name}"))
}

/// The interpreter of the Python MCP SDKs.
///
/// # Errors
/// [`ServerError::NoTools`] when it is not installed.
pub fn mcp_python() -> Result<PathBuf, ServerError> {
    installed(&format!("{MCP_ENVIRONMENT}/bin/python"))
}

/// The Node that the conformance suite and the Node SDKs run on.
///
/// # Errors
/// [`ServerError::NoTools`] when it is not installed.
pub fn mcp_node() -> Result<PathBuf, ServerError> {
    installed(&format!("{MCP_NODE_PROJECT}/node_modules/node/bin/node"))
}

/// The program of the authorization server that account linking is tried on.
///
/// # Errors
/// [`ServerError::NoTools`] when what it needs is not installed.
pub fn linking_provider() -> Result<PathBuf, ServerError> {
    installed(&format!("{LINKING_NODE_PROJECT}/node_modules/oidc-provider/package.json"))?;
    installed(&format!("{LINKING_NODE_PROJECT}/server.mjs"))
}

/// A script that drives a browser, for example `walk.mjs`.
///
/// # Errors
/// [`ServerError::NoTools`] when what it needs is not installed.
pub fn browser_script(name: &str) -> Result<PathBuf, ServerError> {
    installed(&format!("{BROWSER_NODE_PROJECT}/node_modules/playwright-core/package.json"))?;
    installed(&format!("{BROWSER_NODE_PROJECT}/{name}"))
}

/// A receiver of events, `receiver.py` or `receiver.mjs`.
///
/// # Errors
/// [`ServerError::NoTools`] when what it needs is not installed.
pub fn webhook_receiver(name: &str) -> Result<PathBuf, ServerError> {
    installed(&format!("{WEBHOOK_NODE_PROJECT}/node_modules/standardwebhooks/package.json"))?;
    installed(&format!("{WEBHOOK_NODE_PROJECT}/{name}"))
}

fn installed(path: &str) -> Result<PathBuf, ServerError> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if program.exists() { Ok(program) } else { Err(ServerError::NoTools(program)) }
}
