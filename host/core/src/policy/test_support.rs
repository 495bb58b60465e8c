//! What the tests of the policies share.

use crate::contract::{Backoff, Descriptor, ErrorRetry, PlatformError, RetryPolicy, Tool, ToolRole};
use crate::error::CallFailure;

/// A valid descriptor with an empty error table.
pub(super) fn descriptor() -> Descriptor {
    crate::contract::test_support::descriptor("1.0.0")
}

/// A tool that is tried again so often after a 429 and after a 5xx.
pub(super) fn tool(name: &str, role: ToolRole, on_rate_limited: u32, on_server_error: u32) -> Tool {
    let mut tool = descriptor().tools.remove(0);
    tool.name = name.to_owned();
    tool.role = role;
    tool.retry = RetryPolicy { on_rate_limited, on_server_error };
    tool
}

/// A row of an error table; a retry is how often, first wait in milliseconds, growth.
pub(super) fn row(code: &str, http_status: u16, retry: Option<(u32, u32, Backoff)>) -> PlatformError {
    let retry = retry.map(|(times, wait_ms, backoff)| ErrorRetry { times, wait_ms, backoff });
    PlatformError { code: code.to_owned(), http_status, meaning: "Test.".to_owned(), retry }
}

/// A partner's error under a code.
pub(super) fn platform(code: &str) -> CallFailure {
    CallFailure::Platform { code: code.to_owned(), message: "no".to_owned(), field: None }
}
