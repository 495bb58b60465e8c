//! Faults of contracts in memory.

use std::sync::Mutex;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::faults::{FaultQuery, KeptFault};
use intent_gateway_domain::ports::{Faults, SealedFault};
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::vault::Sealed;

/// Faults as they were handed in, with their sealed inputs.
#[derive(Default)]
pub struct MemoryFaults(Mutex<Vec<SealedFault>>);

impl MemoryFaults {
    /// Keeps a fault under its number.
    ///
    /// # Panics
    /// When one with a number as high is there already, or the fault tells otherwise whether its input is kept.
    pub fn keep(&self, fault: KeptFault, input: Option<Sealed>) {
        assert_eq!(fault.has_input, input.is_some(), "a fault tells whether its input is kept");
        let mut kept = self.0.lock().expect("no test panics in it");
        assert!(kept.last().is_none_or(|(last, _)| last.number < fault.number), "numbers grow");
        kept.push((fault, input));
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    std::future::ready(Ok(value)).boxed()
}

impl Faults for MemoryFaults {
    fn faults<'a>(&'a self, query: FaultQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFault>, StoreError>> {
        let FaultQuery { intent, before, limit } = query;
        let kept = self.0.lock().expect("no test panics in it");
        let asked = |fault: &&KeptFault| fault.intent == *intent && before.is_none_or(|before| fault.number < before);
        ready(kept.iter().rev().map(|(fault, _)| fault).filter(asked).take(limit as usize).cloned().collect())
    }

    fn fault(&self, number: u64) -> BoxFuture<'_, Result<Option<SealedFault>, StoreError>> {
        let kept = self.0.lock().expect("no test panics in it");
        ready(kept.iter().find(|(fault, _)| fault.number == number).cloned())
    }

    fn forget_faults(&self, _: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        panic!("no test expects that anything is forgotten here")
    }
}
