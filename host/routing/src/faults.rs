//! Faults of contracts, for the platform team: which there were, and the call that led to one.
//!
//! A call holds what a user asked for and what partners answered. Whoever opens one is in the audit log before a byte of
//! it is handed over.
//!
//! Not here: taking faults down (the sandbox notes them, the store keeps them).

use std::sync::Arc;

use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::faults::{FaultQuery, Input, KeptFault, open_input};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Faults;
use intent_gateway_domain::store::{Change, Store, StoreError};
use intent_gateway_domain::vault::{OpenError, Vault};
use serde_json::json;

/// The action of whoever opened a call, in the audit log. Its subject is the intent.
const FAULT_READ: &str = "contract.fault_read";

/// A fault cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its input cannot be opened.
    #[error("the input of a fault cannot be opened")]
    Sealed(#[from] OpenError),
}

/// The faults that are kept.
pub struct FaultDesk {
    /// Where they are.
    pub faults: Arc<dyn Faults>,
    /// Where the audit log is.
    pub store: Arc<dyn Store>,
    /// What opens their inputs.
    pub vault: Vault,
    pub clock: Arc<dyn Clock>,
}

impl FaultDesk {
    /// Faults of an intent, newest first.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    pub async fn list(&self, query: FaultQuery<'_>) -> Result<Vec<KeptFault>, StoreError> {
        self.faults.faults(query).await
    }

    /// A fault of an intent with its input, where that is kept; none where there is no such fault.
    ///
    /// # Errors
    /// [`FaultError`] when the store fails, or the input cannot be opened.
    pub async fn open(
        &self,
        intent: &IntentId,
        number: u64,
        actor: &Actor,
    ) -> Result<Option<(KeptFault, Option<Input>)>, FaultError> {
        let found = self.faults.fault(number).await?.filter(|(fault, _)| fault.intent == *intent);
        let Some((fault, sealed)) = found else { return Ok(None) };
        let Some(sealed) = sealed else { return Ok(Some((fault, None))) };
        let input = open_input(&self.vault, &fault, &sealed)?;
        let entry = AuditDraft {
            at_ms: self.clock.now(),
            actor: actor.clone(),
            action: FAULT_READ.to_owned(),
            subject: intent.to_string(),
            detail: json!({"fault": number, "version": fault.version.to_string(), "digest": fault.contract.to_string()}),
        };
        self.store.commit(Change { audit: vec![entry], ..Change::default() }).await?;
        Ok(Some((fault, Some(input))))
    }
}
