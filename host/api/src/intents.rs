//! The live intents, and what their contracts declare.

use std::borrow::Cow;

use intent_gateway_domain::contract::{self, Axes, Descriptor};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The contract version that served a call.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ContractVersion {
    /// Semantic version.
    #[schema(value_type = String, example = "1.0.0")]
    pub version: Version,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
}

impl ContractVersion {
    /// The version of a contract.
    #[must_use]
    pub fn of(contract: &dyn Contract) -> Self {
        Self { version: contract.descriptor().version.clone(), digest: contract.digest() }
    }
}

/// The widget that shows the options.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WidgetChoice<'a> {
    /// Widget type to render today.
    pub widget_type: Cow<'a, str>,
    /// The planned widget, to be used as soon as it exists.
    #[schema(required)]
    pub preferred: Option<Cow<'a, str>>,
}

impl<'a> From<&'a contract::Widget> for WidgetChoice<'a> {
    fn from(widget: &'a contract::Widget) -> Self {
        let preferred = widget.preferred.as_deref().map(Cow::Borrowed);
        Self { widget_type: Cow::Borrowed(&widget.widget_type), preferred }
    }
}

/// The live intents.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentList {
    /// Sorted by intent.
    pub intents: Vec<IntentSummary>,
}

/// One live intent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentSummary {
    /// `<domain>.<name>`.
    #[schema(value_type = String, example = "auto.book_ac_service")]
    pub intent: IntentId,
    /// Other names of the intent: a request or a manifest that uses one means it. Answers and records name the intent.
    #[serde(default)]
    #[schema(value_type = Vec<String>, required)]
    pub aliases: Vec<IntentId>,
    /// Semantic version of the live contract.
    #[schema(value_type = String)]
    pub version: Version,
    /// SHA-256 of its component.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// Namespace of the intent.
    pub domain: String,
    /// Primary agent.
    pub agent: String,
    /// A few words.
    pub title: String,
    /// One or two sentences: what the user gets.
    pub summary: String,
    /// Domain weights; they sum to 1.
    pub weights: Axes,
    /// What to show the cards with.
    pub widget: WidgetChoice<'static>,
    /// Intents that are proposed together with this one.
    pub pairs: Vec<String>,
    /// Most options that one partner may offer.
    pub max_options: u32,
    /// JSON Schema (2020-12) of a search's body; null when the contract names no such tool.
    #[schema(value_type = Option<Object>, required)]
    pub request_schema: Option<Box<RawValue>>,
}

impl From<&dyn Contract> for IntentSummary {
    fn from(contract: &dyn Contract) -> Self {
        let descriptor = contract.descriptor();
        let contract::Widget { widget_type, preferred, slots: _ } = descriptor.widget.clone();
        let search = descriptor.tool(&descriptor.search.tool);
        Self {
            intent: descriptor.intent.clone(),
            aliases: descriptor.aliases.clone(),
            version: descriptor.version.clone(),
            digest: contract.digest(),
            domain: descriptor.domain.clone(),
            agent: descriptor.agent.clone(),
            title: descriptor.title.clone(),
            summary: descriptor.summary.clone(),
            weights: descriptor.ranking.weights,
            widget: WidgetChoice { widget_type: Cow::Owned(widget_type), preferred: preferred.map(Cow::Owned) },
            pairs: descriptor.pairs.clone(),
            max_options: descriptor.search.max_options,
            request_schema: search.map(|tool| tool.request_schema.clone()),
        }
    }
}

/// One intent in full.
#[derive(Serialize, ToSchema)]
pub struct IntentDetail<'a> {
    /// SHA-256 of the live component.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// A search's body that the contract gives as an example; null where it gives none. Times in it may be over.
    #[schema(value_type = Option<Object>, required)]
    pub sample_request: Option<&'a RawValue>,
    /// Everything that the contract declares.
    #[serde(flatten)]
    #[schema(value_type = Descriptor)]
    pub descriptor: &'a Descriptor,
}

impl<'a> IntentDetail<'a> {
    /// The intent of a contract, with a sample of its own, which is JSON text.
    #[must_use]
    pub fn new(contract: &'a dyn Contract, sample: Option<&'a str>) -> Self {
        // A text that is not JSON would be the contract's mistake, and is not a reason to hide what else it declares.
        let sample_request = sample.and_then(|sample| serde_json::from_str(sample).ok());
        Self { digest: contract.digest(), sample_request, descriptor: contract.descriptor() }
    }
}
