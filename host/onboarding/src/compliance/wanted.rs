//! The checklist as the partner sees it: each item, where it stands, and what is wanted of the partner for it.
//!
//! What an item tells the reviewer to do stays with the reviewer.

use serde::{Deserialize, Serialize};

use super::checklist::{CheckState, ChecklistItem, PRIVACY_POLICY};
use super::document::DocumentKind;

/// One item of the checklist, for the partner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PartnerChecklistItem))]
pub struct WantedItem {
    /// Stable code.
    pub code: String,
    /// What must hold.
    pub text: String,
    /// `passed`, `failed`, `by_hand` while a person of the platform team looks into it, or `confirmed` by one.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "by_hand"))]
    pub state: CheckState,
    /// What the partner is to do, or may do; null where nothing is left.
    #[cfg_attr(feature = "schema", schema(required))]
    pub wanted: Option<String>,
    /// The kinds of documents that help to show it; any one of them does.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub documents: Vec<DocumentKind>,
    /// Whether one of them was uploaded.
    pub uploaded: bool,
}

impl WantedItem {
    /// An item as the partner sees it, who has uploaded documents of these kinds.
    #[must_use]
    pub(crate) fn of(item: &ChecklistItem, uploaded: &[DocumentKind]) -> Self {
        let documents = DocumentKind::showing(&item.code);
        let is_uploaded = documents.iter().any(|kind| uploaded.contains(kind));
        let wanted = match item.state {
            CheckState::Passed | CheckState::Confirmed => None,
            CheckState::Failed => Some(mend(item)),
            CheckState::ByHand if documents.is_empty() || is_uploaded => None,
            // The page itself is looked at; a copy of it is no evidence that it is published.
            CheckState::ByHand if item.code == PRIVACY_POLICY => None,
            CheckState::ByHand => Some("Upload a document that shows it, so that it can be confirmed.".to_owned()),
        };
        Self {
            code: item.code.clone(),
            text: item.text.clone(),
            state: item.state,
            wanted,
            documents: documents.to_vec(),
            uploaded: is_uploaded,
        }
    }
}

/// What the machine has seen, as something to do.
fn mend(item: &ChecklistItem) -> String {
    let seen = item.detail.trim_end_matches('.');
    match item.code.as_str() {
        PRIVACY_POLICY => format!("Publish it where the profile says: {seen}."),
        _ => format!("Correct the profile: {seen}."),
    }
}
