//! The contract that a request is pinned to, and that answers for all that comes of it: an outcome is shown, counted and
//! explained by the version that it was judged under, whatever has been activated meanwhile.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::ports::Contract;

/// One version of a contract, in an outcome.
#[derive(Clone)]
pub struct PinnedContract(pub Arc<dyn Contract>);

impl Deref for PinnedContract {
    type Target = dyn Contract;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for PinnedContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptor = self.descriptor();
        write!(f, "{} {} ({})", descriptor.intent, descriptor.version, self.digest())
    }
}

/// Two are the same when they are the same component.
impl PartialEq for PinnedContract {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for PinnedContract {}

/// Why a request came to nothing, with the contract that it was judged under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedFailure<E> {
    /// None where there is no contract of the intent.
    pub contract: Option<PinnedContract>,
    /// What went wrong.
    pub error: E,
}

impl<E> PinnedFailure<E> {
    /// A request for an intent that nobody knows.
    pub(crate) fn without_contract(error: E) -> Self {
        Self { contract: None, error }
    }

    /// What the contract declares: its error table explains the error's codes.
    pub fn descriptor(&self) -> Option<&Descriptor> {
        self.contract.as_ref().map(|contract| contract.descriptor())
    }
}

impl<E: fmt::Display> fmt::Display for PinnedFailure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: Error> Error for PinnedFailure<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
