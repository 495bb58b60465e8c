//! Whether everything that a store keeps is as it must be: one check of all parts, for the command line and for the gateway's
//! daily task. Which part compares what stands in docs/ledger.md, "What each check compares".
//!
//! Not here: the rules of the parts. Records and their columns are `domain::check`'s, the chains `domain::audit`'s and
//! `ledger`'s, names, feeds and evidence `store`'s.

mod orders;

use intent_gateway_domain::anchor::Anchor;
use intent_gateway_domain::approval::Approval;
use intent_gateway_domain::audit::{self, AuditSoundness};
use intent_gateway_domain::check::{CheckedPart, Tell, check_records, check_sealed_records};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::order::{Order, OrderedOption};
use intent_gateway_domain::signing_keys::Webhook;
use intent_gateway_domain::store::{Store as _, StoreError};
use intent_gateway_domain::vault::Vault;
use intent_gateway_domain::web_session::WebSession;
use intent_gateway_ledger::bookkeeping::{self, fault_code, fault_entry};
use intent_gateway_ledger::completion::test_reports::TestReport;
use intent_gateway_onboarding::events::{PartnerEvent, QueuedEvent};
use intent_gateway_onboarding::notices::Notice;
use intent_gateway_onboarding::records::{Account, Connection, Credentials, EmailCode, Manifests, Review};
use intent_gateway_onboarding::{check_documents, mail_context};
use intent_gateway_outbound::policy::idempotency::Attempt;
use intent_gateway_store::SqlStore;

/// Receipts that the daily task reads: the newest. All of them may be terabytes.
pub const RECEIPTS_A_DAY_MAX: u64 = 100_000;

/// What a check is made with.
#[derive(Clone, Copy)]
pub struct CheckOrder<'a> {
    /// Without it, nothing that is sealed and no link of a chain can be looked at.
    pub vault: Option<&'a Vault>,
    /// What was anchored of the audit log.
    pub audit: &'a [Anchor],
    /// What was anchored of the ledger.
    pub ledger: &'a [Anchor],
    /// How many of the newest receipts are read; all of them without a number.
    pub receipts: Option<u64>,
}

/// Whether all parts were looked at in whole, and are as they must be.
#[must_use]
pub fn is_sound(parts: &[CheckedPart]) -> bool {
    parts.iter().all(CheckedPart::is_sound)
}

/// Looks at everything that a store keeps. What is wrong is not an error, nor that a part cannot be read; it goes on with the next.
///
/// # Errors
/// [`StoreError`] when the store cannot be reached: then nothing is known of it.
pub async fn check_all(
    store: &SqlStore,
    order: CheckOrder<'_>,
    tell: Tell<'_>,
) -> Result<Vec<CheckedPart>, StoreError> {
    let CheckOrder { vault, audit, ledger, receipts } = order;
    let mut parts = Parts { store, done: Vec::new() };
    parts.add("file", check_file(store).await).await?;
    parts.add("audit_log", check_audit(store, audit).await).await?;
    parts.add("ledger", check_ledger(store, ledger).await).await?;
    parts.add("accounts", check_records::<Account>(store, tell).await).await?;
    parts.add("email_codes", check_records::<EmailCode>(store, tell).await).await?;
    parts.add("credentials", check_records::<Credentials>(store, tell).await).await?;
    parts.add("webhooks", check_sealed_records::<Webhook>(store, vault, tell).await).await?;
    parts.add("manifests", check_records::<Manifests>(store, tell).await).await?;
    parts.add("reviews", check_records::<Review>(store, tell).await).await?;
    parts.add("connections", check_records::<Connection>(store, tell).await).await?;
    parts.add_all("links", intent_gateway_linking::check(store, vault, tell).await).await?;
    parts.add("attempts", check_sealed_records::<Attempt>(store, vault, tell).await).await?;
    parts.add_all("documents", check_documents(store, vault, tell).await).await?;
    parts.add("orders", check_records::<Order>(store, tell).await).await?;
    parts.add("ordered_options", check_records::<OrderedOption>(store, tell).await).await?;
    parts.add("test_reports", check_records::<TestReport>(store, tell).await).await?;
    parts.add("approvals", check_sealed_records::<Approval>(store, vault, tell).await).await?;
    parts.add("web_sessions", check_sealed_records::<WebSession>(store, vault, tell).await).await?;
    parts.add("partner_events", check_records::<PartnerEvent>(store, tell).await).await?;
    parts.add("queued_events", check_records::<QueuedEvent>(store, tell).await).await?;
    parts.add("notices", check_records::<Notice>(store, tell).await).await?;
    parts.add_all("contracts", intent_gateway_catalogue::check(store, tell).await).await?;
    parts.add("references", store.check_references(tell).await).await?;
    parts.add("reported_orders", orders::check_reported(store, store, tell).await).await?;
    parts.add("counters", store.check_counters().await).await?;
    parts.add("mail", store.check_mail(vault, mail_context, tell).await).await?;
    parts.add("findings", store.check_findings(tell).await).await?;
    parts.add("receipts", store.check_receipts(receipts, tell).await).await?;
    parts.add("contract_faults", store.check_faults(vault, tell).await).await?;
    Ok(parts.done)
}

/// The parts so far.
struct Parts<'a> {
    store: &'a SqlStore,
    done: Vec<CheckedPart>,
}

impl Parts<'_> {
    /// Adds a part. One that could not be read is a problem where the store answers otherwise.
    async fn add(&mut self, name: &'static str, part: Result<CheckedPart, StoreError>) -> Result<(), StoreError> {
        self.add_all(name, part.map(|part| [part])).await
    }

    async fn add_all<const N: usize>(
        &mut self,
        name: &'static str,
        parts: Result<[CheckedPart; N], StoreError>,
    ) -> Result<(), StoreError> {
        match parts {
            Ok(parts) => self.done.extend(parts),
            Err(StoreError::Busy) => return Err(StoreError::Busy),
            Err(error) => {
                self.store.changes().await?;
                let mut part = CheckedPart::new(name);
                part.add("NOT_READ", "", format!("it cannot be read to its end: {}", chain(&error)));
                self.done.push(part);
            }
        }
        Ok(())
    }
}

async fn check_file(store: &SqlStore) -> Result<CheckedPart, StoreError> {
    let mut part = CheckedPart::new("file");
    part.seen = 1;
    if let Err(damaged) = store.check_file().await {
        part.add("FILE_DAMAGED", "", chain(&damaged));
    }
    Ok(part)
}

async fn check_audit(store: &SqlStore, anchors: &[Anchor]) -> Result<CheckedPart, StoreError> {
    let AuditSoundness { head, links, fault, .. } = audit::verify(store, anchors).await?;
    let mut part = CheckedPart::new("audit_log");
    (part.seen, part.unchecked) = (head.0, links.unchecked);
    if let Some(fault) = fault {
        part.add("NOT_AS_WRITTEN", format!("after entry {}", head.0), fault.to_string());
    }
    Ok(part)
}

async fn check_ledger(store: &SqlStore, anchors: &[Anchor]) -> Result<CheckedPart, StoreError> {
    let found = bookkeeping::verify(store, anchors, None).await?.found;
    let mut part = CheckedPart::new("ledger");
    (part.seen, part.unchecked) = (found.entries, found.links.unchecked);
    for fault in &found.faults {
        part.add(fault_code(fault), format!("entry {}", fault_entry(fault)), fault.to_string());
    }
    part.problems_unlisted += found.faults_unlisted;
    if !found.trial.is_zero() {
        part.add("NOT_BALANCED", "", "the accounts do not come to zero together");
    }
    Ok(part)
}
