//! The manifest: the latest and the one in force, where its review stands, and an editor that shows problems at their lines.

use askama::Template;
use axum::response::Response;
use http::{Method, StatusCode};
use intent_gateway_api::account::OverviewBody;
use intent_gateway_api::manifest::{ManifestsBody, SubmittedBody};
use intent_gateway_domain::contract::Violation;
use serde::Serialize;
use serde_json::{Value, json};

use super::PLACE;
use super::lines::find_line;
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::notices::with_notice;
use crate::partner::{own, take, take_refusal};
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Business, Sent, Visitor};

const ADDRESS: &str = "/dashboard/go-live/manifest";

/// Members of a manifest and of its entries that the gateway could not read, as it keeps them.
const UNREAD: &str = "unread";

/// Something wrong with the text in the editor.
struct Found {
    line: Option<usize>,
    violation: Violation,
}

impl Found {
    fn of(text: &str, violations: &[Violation]) -> Vec<Self> {
        let found = violations.iter();
        found.map(|one| Self { line: find_line(text, &one.pointer), violation: one.clone() }).collect()
    }
}

#[derive(Template)]
#[template(path = "partner/manifest.html")]
struct ManifestPage {
    frame: Frame,
    account_id: String,
    manifests: Option<ManifestsBody>,
    /// In the editor.
    text: String,
    /// What the reviewer is told of the latest; its lines are those of the text where that is the latest.
    warnings: Vec<Found>,
    problem: Option<Problem>,
    /// Why it was refused.
    found: Vec<Found>,
}

impl ManifestPage {
    /// The answer in one line.
    fn lead(&self) -> &'static str {
        match self.manifests.as_ref().map(|manifests| manifests.latest.status.as_str()) {
            None => "No manifest was submitted yet.",
            Some("draft") => "Your manifest is a draft. Nobody looks at it until you submit it for review.",
            Some("pending_review") => "Your manifest waits for the platform team.",
            Some("approved") => "Your manifest is approved and in force.",
            Some("rejected") => "Your manifest was sent back. Mend what the notes say and submit it again.",
            Some(_) => "Your manifest was submitted.",
        }
    }

    /// Whether it can be kept without a review. Once one was sent for review, so is each one after it.
    fn takes_draft(&self) -> bool {
        self.manifests.as_ref().is_none_or(|manifests| manifests.latest.status.as_str() == "draft")
    }
}

/// Where a manifest stands.
fn status_chip(status: &str) -> Chip {
    match status {
        "approved" => Chip::new(Tone::Good, "approved"),
        "pending_review" => Chip::new(Tone::Moving, "waits for review"),
        "rejected" => Chip::new(Tone::Bad, "sent back"),
        status => Chip::new(Tone::Idle, status),
    }
}

/// A kept manifest as it can be submitted again: what could not be read stands where it came from.
fn write_manifest(manifest: &impl Serialize) -> String {
    let mut value = serde_json::to_value(manifest).unwrap_or_default();
    let had_unread = restore_unread(&mut value);
    let entries = value.get_mut("intents").and_then(Value::as_array_mut);
    let had_unread = entries.into_iter().flatten().fold(had_unread, |had, entry| restore_unread(entry) || had);
    // Members stand in their own order where they can, and in that of the alphabet where some had to move.
    let text = if had_unread { serde_json::to_string_pretty(&value) } else { serde_json::to_string_pretty(manifest) };
    text.unwrap_or_default()
}

/// Puts what could not be read back among the members; tells whether there was any.
fn restore_unread(value: &mut Value) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    let Some(Value::Object(unread)) = members.remove(UNREAD) else { return false };
    members.extend(unread);
    true
}

/// The document in the editor before any manifest was sent.
fn begin_manifest(business_name: &str) -> String {
    let name = json!(business_name);
    format!(
        r#"{{
  "businessName": {name},
  "intents": [
    {{
      "intent": "auto.book_ac_service",
      "domain": "auto",
      "intent_version": "v1.0.0",
      "description": "One sentence for the reviewer.",
      "pricing": {{"min": 500, "max": 15000, "currency": "INR"}},
      "service_area": ["Bengaluru", "560001"],
      "ttbs_signals": {{"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": 0.5}},
      "availability": "Mon-Sat 09:00-21:00"
    }}
  ]
}}"#
    )
}

/// The document with `submitForReview` as the button says. A text that is no JSON object stays as it is, and the API says what is wrong.
fn with_wish(text: &str, for_review: bool) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut members)) => {
            members.insert("submitForReview".to_owned(), for_review.into());
            Value::Object(members).to_string()
        }
        _ => text.to_owned(),
    }
}

pub(super) async fn show_manifest(Business(visitor): Business) -> Result<Response, Failed> {
    manifest_page(&visitor, None).await
}

pub(super) async fn submit_manifest(Sent(Business(visitor), fields): Sent<Business>) -> Result<Response, Failed> {
    let text = fields.text("manifest");
    let for_review = fields.text("act") != "draft";
    let (address, document) = (own(&visitor, "manifest"), with_wish(text, for_review));
    let submitted =
        visitor.api.send_text::<SubmittedBody>(Method::POST, &address, Some(document.into())).await.and_then(take);
    match submitted {
        Ok(submitted) => {
            let notice = if submitted.review.is_some() { "submitted" } else { "saved" };
            Ok(lead_to(&with_notice(ADDRESS, notice)))
        }
        Err(error) => manifest_page(&visitor, Some((text.to_owned(), take_refusal(error)?))).await,
    }
}

/// The page with the latest manifest, or with what was typed and why it was refused.
async fn manifest_page(visitor: &Visitor, refused: Option<(String, Problem)>) -> Result<Response, Failed> {
    let account = visitor.api.get::<OverviewBody>(&own(visitor, "accounts")).await?;
    let OverviewBody { account_id, business_name, manifest: manifests, .. } = account;
    let latest = manifests.as_ref().map(|manifests| &manifests.latest);
    let kept = latest.map_or_else(|| begin_manifest(&business_name), |latest| write_manifest(&latest.manifest));
    let mut warnings = latest.map(|latest| Found::of(&kept, &latest.warnings)).unwrap_or_default();
    let (text, problem, found) = match refused {
        None => (kept, None, Vec::new()),
        Some((text, problem)) => {
            warnings.iter_mut().for_each(|warning| warning.line = None);
            let found = Found::of(&text, &problem.violations);
            (text, Some(problem), found)
        }
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(PLACE, "Manifest").json(own(visitor, "manifest"));
    Ok(show_with(status, &ManifestPage { frame, account_id, manifests, text, warnings, problem, found }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_where_it_came_from() {
        let kept = json!({"businessName": "A", "unread": {"x": 1}, "intents": [{"intent": "auto.fix", "unread": {"y": 2}}, {"intent": "auto.wash"}]});
        let written: Value = serde_json::from_str(&write_manifest(&kept)).expect("JSON");
        assert_eq!(
            written,
            json!({"businessName": "A", "x": 1, "intents": [{"intent": "auto.fix", "y": 2}, {"intent": "auto.wash"}]})
        );
    }

    #[test]
    fn the_beginning_is_a_document_whatever_the_name() {
        let begun: Value = serde_json::from_str(&begin_manifest("A \"b\" \\ {0}")).expect("JSON");
        assert_eq!(begun["businessName"], "A \"b\" \\ {0}");
    }

    #[test]
    fn the_button_says_whether_it_is_reviewed() {
        let sent = |text: &str, for_review| serde_json::from_str::<Value>(&with_wish(text, for_review)).ok();
        assert_eq!(sent(r#"{"a": 1}"#, true), Some(json!({"a": 1, "submitForReview": true})));
        assert_eq!(sent(r#"{"submitForReview": true}"#, false), Some(json!({"submitForReview": false})));
        assert_eq!(sent("[]", true), Some(json!([])));
        assert_eq!(with_wish("{", true), "{");
    }
}
