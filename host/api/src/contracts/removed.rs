//! Values of vocabularies that a version takes out, and who uses them.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_onboarding::{PARTNERS_NAMED_MAX, UsedValue, ValueUse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The values of vocabularies that a version takes out, and who uses them.
///
/// A value counts as used where a text is that value, for a vocabulary does not say where its values stand.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RemovedValues {
    /// Sorted by vocabulary and value.
    pub values: Vec<RemovedValue>,
    /// How many approved manifests list the intent; all of them were read.
    pub manifests_read: u32,
    /// How many rankings of the intent were read: the latest, at most 200.
    pub rankings_read: u32,
    /// When the oldest of them was made, milliseconds since the epoch; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, required = false, nullable = false)]
    pub rankings_since_ms: Option<Timestamp>,
}

/// A value that goes, and who uses it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RemovedValue {
    /// Name of the vocabulary.
    pub vocabulary: String,
    /// What goes.
    pub value: String,
    /// The partners whose approved manifest names it, at most 50.
    pub manifests: Vec<String>,
    /// How many rankings' requests name it.
    pub requests: u32,
    /// The partners whose options name it, at most 50, those with the most rankings first.
    pub partners: Vec<ValuePartner>,
    /// How many partners are not named here.
    pub more: u32,
}

/// A partner whose options name a value.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ValuePartner {
    /// The partner.
    pub partner: String,
    /// In how many rankings.
    pub rankings: u32,
}

impl RemovedValue {
    /// Who uses it, in words, for a person.
    #[must_use]
    pub fn describe(&self, rankings_read: u32) -> String {
        let list = |names: Vec<String>| if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
        let partners = self.partners.iter().map(|used| format!("{} ({})", used.partner, used.rankings)).collect();
        let more = if self.more > 0 { format!(" {} more partners are not named.", self.more) } else { String::new() };
        format!(
            "`{}` goes. Approved manifests that name it: {}. Of the latest {rankings_read} rankings, {} asked for it. \
             Partners that offered it, with the number of rankings: {}.{more}",
            self.value,
            list(self.manifests.clone()),
            self.requests,
            list(partners)
        )
    }
}

impl From<ValueUse> for RemovedValues {
    fn from(found: ValueUse) -> Self {
        let ValueUse { values, manifests_read, rankings_read, rankings_since } = found;
        let values = values.into_iter().map(RemovedValue::from).collect();
        Self { values, manifests_read, rankings_read, rankings_since_ms: rankings_since }
    }
}

impl From<UsedValue> for RemovedValue {
    fn from(used: UsedValue) -> Self {
        let UsedValue { removed, manifests, requests, partners } = used;
        let all = manifests.len() + partners.len();
        let mut partners: Vec<_> = partners
            .into_iter()
            .map(|(partner, rankings)| ValuePartner { partner: partner.to_string(), rankings })
            .collect();
        // Stable: partners with as many rankings stay in the order of their identifiers.
        partners.sort_by_key(|used| std::cmp::Reverse(used.rankings));
        partners.truncate(PARTNERS_NAMED_MAX);
        let manifests: Vec<_> = manifests.iter().take(PARTNERS_NAMED_MAX).map(ToString::to_string).collect();
        let more = u32::try_from(all - manifests.len() - partners.len()).unwrap_or(u32::MAX);
        let intent_gateway_domain::succession::RemovedValue { vocabulary, value } = removed;
        Self { vocabulary, value, manifests, requests, partners, more }
    }
}
