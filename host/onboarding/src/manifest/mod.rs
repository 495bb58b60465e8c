//! A partner's manifest: which intents it lists, at what prices, where, and how it rates itself (spec 1, Manifest).
//!
//! | question | place |
//! |---|---|
//! | what refuses a submission | [`submit`], `entry` |
//! | what only warns and goes to the reviewer | `reviewed` |
//! | the YAML authoring form | [`from_authoring`] |
//! | the manifest of a business that is reached by phone | [`generate_by_phone`] |
//! | draft, pending_review, approved, rejected | [`Status`], [`next_on_submit`] |
//!
//! A submission is refused only for what the specification has checked at submit, for an intent listed twice and for a
//! version above the live one. Everything else that is wrong comes back as a warning; the value is kept as it came,
//! for the reviewer.
//!
//! Not here: IO, and who may submit. What an API mapping says is judged by [`endpoint`](intent_gateway_domain::endpoint).

mod authoring;
mod catalogue;
mod entry;
mod phone;
mod reviewed;
mod status;
mod submission;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

pub(crate) use authoring::MANIFEST_VERSION;
pub use authoring::from_authoring;
pub use catalogue::{Catalogue, LiveIntent};
pub use phone::{PHONE_LIMITS, PhoneManifest, generate_by_phone};
pub(crate) use status::next_on_submit;
pub use status::{Decision, Status};
pub use submission::{Terms, completion_callback, submit};

use intent_gateway_domain::contract::{Axes, Violation};
use intent_gateway_domain::id::IntentId;

/// Entries of one manifest (spec 1, Limits).
pub const INTENTS_MAX: usize = 50;
/// Characters of a display name.
pub(crate) const BUSINESS_NAME_MAX_CHARS: usize = 200;
/// Entries of one service area.
pub(crate) const SERVICE_AREA_MAX: usize = 1_000;
/// Characters of a city name or postal code.
pub(crate) const PLACE_MAX_CHARS: usize = 100;
/// Characters of an entry's description (spec 1, Limits).
pub const DESCRIPTION_MAX_CHARS: usize = 200;
/// Characters of a widget's name.
pub(crate) const WIDGET_TYPE_MAX_CHARS: usize = 100;
/// Characters of an address.
pub(crate) const URL_MAX_CHARS: usize = 2_048;
/// Characters of a version.
pub(crate) const VERSION_MAX_CHARS: usize = 64;

/// A manifest as it is kept: the JSON that was submitted, read and sorted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Display name shown in chat.
    #[serde(rename = "businessName")]
    pub business_name: String,
    /// What the partner lists, one entry for each intent.
    pub intents: Vec<Entry>,
    /// Members that mean nothing, as they came.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub unread: Map<String, Value>,
}

impl Manifest {
    /// The entry of an intent.
    #[must_use]
    pub fn entry(&self, intent: &str) -> Option<&Entry> {
        self.intents.iter().find(|entry| entry.intent.as_str() == intent)
    }
}

/// What a partner says of one intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The intent; it was live when the manifest was submitted.
    pub intent: IntentId,
    /// Namespace of the intent.
    pub domain: String,
    /// Typical floor and ceiling of one completed order.
    pub pricing: Pricing,
    /// City names, six-digit postal codes, or [`WHOLE_COUNTRY`]; never empty.
    pub service_area: Vec<String>,
    /// A short text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The partner's own rating. An axis that was absent or unreadable is 0.5.
    pub ttbs_signals: Axes,
    /// Hours of operation; absent or empty means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<String>,
    /// The completion address that the partner names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_callback: Option<String>,
    /// The widget that the partner names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widget_type: Option<String>,
    /// The version of the contract that the partner serves, a semver without a leading `v`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_version: Option<String>,
    /// How a REST or GraphQL API answers the intent's tools (path B), as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_mapping: Option<Value>,
    /// What could not be read, and members that mean nothing, as they came.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub unread: Map<String, Value>,
}

/// Floor and ceiling of one completed order; 0 <= min <= max.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pricing {
    /// Floor, in the currency's main unit.
    pub min: Number,
    /// Ceiling, in the currency's main unit.
    pub max: Number,
    /// Of both.
    pub currency: Currency,
}

/// The currencies of prices; INR in v1 (spec 1, Versioning).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Currency {
    /// Indian rupee.
    #[default]
    #[serde(rename = "INR")]
    Inr,
}

/// Something that a reviewer must look at although no rule is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = FlagBody))]
pub struct Flag {
    /// What kind of thing.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "VERIFY_WHOLE_COUNTRY"))]
    pub code: FlagCode,
    /// The intent concerned.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub intent: IntentId,
    /// One sentence for a person.
    pub message: String,
}

/// The kinds of [`Flag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FlagCode {
    /// The service area claims the whole country.
    VerifyWholeCountry,
    /// The declared signals are too good throughout.
    InflatedSignals,
}

impl FlagCode {
    /// As it is named on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::VerifyWholeCountry => "VERIFY_WHOLE_COUNTRY",
            Self::InflatedSignals => "INFLATED_SIGNALS",
        }
    }
}

/// A submission that passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// What is kept.
    pub manifest: Manifest,
    /// Whether the partner asks for review; absent means no.
    pub submit_for_review: bool,
    /// What is wrong without refusing the submission; pointers into the body.
    pub warnings: Vec<Violation>,
    /// What the reviewer has to look at.
    pub flags: Vec<Flag>,
}
