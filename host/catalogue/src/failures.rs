//! The latest failures of this gateway, for the platform team.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use intent_gateway_domain::versions::LoadFailure;

/// Failures kept; the oldest go first.
const FAILURES_KEPT: usize = 100;

/// A bounded list of failures.
#[derive(Default)]
pub(crate) struct FailureList {
    failures: Mutex<VecDeque<LoadFailure>>,
}

impl FailureList {
    /// Notes a failure and logs it.
    pub(crate) fn note(&self, failure: LoadFailure) {
        tracing::error!(
            code = failure.code,
            origin = ?failure.origin,
            digest = failure.digest.map(|digest| digest.to_string()),
            intent = failure.intent,
            version = failure.version,
            "a contract failed: {}",
            failure.message
        );
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() == FAILURES_KEPT {
            failures.pop_back();
        }
        failures.push_front(failure);
    }

    /// The failures, newest first.
    pub(crate) fn latest(&self) -> Vec<LoadFailure> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
