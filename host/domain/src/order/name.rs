//! Names by which orders are found ([`Store::named`](crate::store::Store::named)).

use super::OrderedFrom;
use crate::digest::Digest;
use crate::id::{IntentId, PartnerId};
use crate::vault::Mark;

/// Of everything that an asker has ordered.
#[must_use]
pub fn of_asker(asker: &Mark) -> String {
    format!("asker/{}", asker.as_str())
}

/// Of everything that an orchestrator has ordered.
#[must_use]
pub fn of_orchestrator(orchestrator: &Mark) -> String {
    format!("orchestrator/{}", orchestrator.as_str())
}

/// Of everything that was ordered at a partner.
#[must_use]
pub fn of_partner(partner: &PartnerId) -> String {
    format!("partner/{partner}")
}

/// Of what was ordered at a partner and not reported in time, whatever has become of it since.
#[must_use]
pub fn of_overdue(partner: &PartnerId) -> String {
    format!("overdue/{partner}")
}

/// Of what an asker has ordered of one option.
#[must_use]
pub fn of_option(asker: &Mark, partner: &PartnerId, from: &OrderedFrom) -> String {
    let OrderedFrom { option_id, request_id, .. } = from;
    digest("option", &[asker.as_str(), partner.as_str(), request_id, option_id])
}

/// Of what a partner calls so.
#[must_use]
pub fn of_identifier(partner: &PartnerId, intent: &IntentId, identifier: &str) -> String {
    digest("identifier", &[partner.as_str(), intent.as_str(), identifier])
}

/// Of what was ordered at a partner under a request, or of what was found under it.
#[must_use]
pub fn of_request(partner: &PartnerId, intent: &IntentId, request_id: &str) -> String {
    digest("request", &[partner.as_str(), intent.as_str(), request_id])
}

/// Of everything that anybody knows by this text: what a partner calls it, a request of it, a receipt of it.
#[must_use]
pub fn of_anything(text: &str) -> String {
    digest("known-as", &[text])
}

/// Of what an asker has ordered of an intent and a report has closed.
#[must_use]
pub fn of_past(asker: &Mark, intent: &IntentId) -> String {
    digest("past", &[asker.as_str(), intent.as_str()])
}

/// Names are bounded; what partners and callers write is not.
fn digest(kind: &str, parts: &[&str]) -> String {
    let parts = serde_json::to_string(parts).expect("texts always serialise");
    format!("{kind}/{}", Digest::of(parts.as_bytes()))
}
