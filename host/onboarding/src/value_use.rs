//! Who uses the values that a new version of a contract takes out of vocabularies: approved manifests, and recent traffic.
//!
//! A vocabulary does not say where its values stand, so a value counts as used where a text of a manifest, a request or an
//! option is that value. That may tell of more than there is, never of less among what was looked at.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::OnboardingError;
use crate::records::Manifests;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Evidence;
use intent_gateway_domain::receipt::{KeptReceipt, Receipt};
use intent_gateway_domain::store::{Store, all};
use intent_gateway_domain::succession::RemovedValue;

/// Rankings of the intent that are read, the latest.
const RANKINGS_READ_MAX: u32 = 200;
/// Partners that are named for one value; the others are only counted.
pub const PARTNERS_NAMED_MAX: usize = 50;

/// Who uses which value, and what was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueUse {
    /// In the order in which they were asked for.
    pub values: Vec<UsedValue>,
    /// Approved manifests that list the intent.
    pub manifests_read: u32,
    /// The intent's latest rankings.
    pub rankings_read: u32,
    /// When the oldest of these was made.
    pub rankings_since: Option<Timestamp>,
}

impl ValueUse {
    /// The values, while nothing was looked at.
    #[must_use]
    pub fn unread(removed: &[RemovedValue]) -> Self {
        let unused = |removed: &RemovedValue| UsedValue {
            removed: removed.clone(),
            manifests: Vec::new(),
            requests: 0,
            partners: BTreeMap::new(),
        };
        let values = removed.iter().map(unused).collect();
        Self { values, manifests_read: 0, rankings_read: 0, rankings_since: None }
    }
}

/// Who uses one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedValue {
    pub removed: RemovedValue,
    /// The partners whose approved manifest names it, in what it says of the intent.
    pub manifests: Vec<PartnerId>,
    /// Rankings whose request names it.
    pub requests: u32,
    /// In how many rankings each partner's options name it.
    pub partners: BTreeMap<PartnerId, u32>,
}

/// Looks who uses values of an intent's vocabularies.
///
/// # Errors
/// [`OnboardingError::Store`].
pub async fn find_value_use(
    store: &dyn Store,
    evidence: &dyn Evidence,
    intent: &IntentId,
    removed: &[RemovedValue],
) -> Result<ValueUse, OnboardingError> {
    let mut count = Count::of(removed);
    for kept in all::<Manifests>(store, None).await? {
        let Manifests { account, approved, .. } = kept.value;
        let Some(approved) = approved else { continue };
        let Some(entry) = approved.manifest.entry(intent.as_str()) else { continue };
        // An entry was JSON when it came.
        let entry = serde_json::to_value(entry).unwrap_or_default();
        count.add_manifest(&account, &entry);
    }
    for id in evidence.recent_receipts(intent, RANKINGS_READ_MAX).await? {
        // Forgotten since it was listed, or erased: it is not among what was read.
        let Some(receipt) = evidence.receipt(&id).await?.and_then(KeptReceipt::whole) else { continue };
        count.add_ranking(&receipt);
    }
    Ok(count.found)
}

struct Count<'a> {
    /// Where each text is among the values; one text may be of several vocabularies.
    places: HashMap<&'a str, Vec<usize>>,
    found: ValueUse,
}

impl<'a> Count<'a> {
    fn of(removed: &'a [RemovedValue]) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, removed) in removed.iter().enumerate() {
            places.entry(&removed.value).or_default().push(place);
        }
        Self { places, found: ValueUse::unread(removed) }
    }

    fn add_manifest(&mut self, account: &PartnerId, entry: &Value) {
        self.found.manifests_read += 1;
        for place in self.named_in(entry) {
            self.found.values[place].manifests.push(account.clone());
        }
    }

    fn add_ranking(&mut self, receipt: &Receipt) {
        self.found.rankings_read += 1;
        let oldest = self.found.rankings_since.map_or(receipt.at_ms, |oldest| oldest.min(receipt.at_ms));
        self.found.rankings_since = Some(oldest);
        for place in self.named_in_text(receipt.arguments.get()) {
            self.found.values[place].requests += 1;
        }
        for payload in &receipt.payloads {
            let named = payload.candidates.iter().flat_map(|option| self.named_in_text(option.json.get()));
            for place in named.collect::<BTreeSet<_>>() {
                *self.found.values[place].partners.entry(payload.partner.clone()).or_default() += 1;
            }
        }
    }

    fn named_in_text(&self, json: &str) -> BTreeSet<usize> {
        serde_json::from_str(json).map(|value| self.named_in(&value)).unwrap_or_default()
    }

    /// The values that are a text of a document: a member's name or its value. A mapping names values by its members.
    fn named_in(&self, document: &Value) -> BTreeSet<usize> {
        let (mut named, mut left) = (BTreeSet::new(), vec![document]);
        let mut add = |text: &str| named.extend(self.places.get(text).into_iter().flatten());
        while let Some(value) = left.pop() {
            match value {
                Value::String(text) => add(text),
                Value::Array(items) => left.extend(items),
                Value::Object(members) => {
                    members.keys().for_each(|name| add(name));
                    left.extend(members.values());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        named
    }
}
