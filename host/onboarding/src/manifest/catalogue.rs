//! What a manifest is compared with: the live contracts, as far as a manifest names anything of theirs.
//!
//! A value of its own rather than a view of the registry, so that a manifest is checked in the same way by a
//! gateway and by a command line that has only a gateway's answer to go by.

use std::collections::BTreeMap;

use semver::Version;

use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::endpoint::IntentShape;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contracts;

/// The live contract of one intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveIntent {
    pub intent: IntentId,
    /// Its other names. An entry under one of them is an entry of the intent.
    pub aliases: Vec<IntentId>,
    /// Version of the live contract.
    pub version: Version,
    /// Widgets that a manifest may name: the one in use, and the planned one where the contract names one.
    pub widget_types: Vec<String>,
    /// What a mapping of an API is compared with; absent where it is not known.
    pub shape: Option<IntentShape>,
}

impl From<&Descriptor> for LiveIntent {
    fn from(descriptor: &Descriptor) -> Self {
        let widget = &descriptor.widget;
        Self {
            intent: descriptor.intent.clone(),
            aliases: descriptor.aliases.clone(),
            version: descriptor.version.clone(),
            widget_types: std::iter::once(&widget.widget_type).chain(&widget.preferred).cloned().collect(),
            shape: Some(IntentShape::from(descriptor)),
        }
    }
}

/// All intents that a manifest may list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    live: BTreeMap<IntentId, LiveIntent>,
    /// The intents of aliases.
    aliases: BTreeMap<IntentId, IntentId>,
}

impl Catalogue {
    /// The live contracts of one snapshot.
    #[must_use]
    pub fn of(contracts: &dyn Contracts) -> Self {
        contracts.all().iter().map(|contract| LiveIntent::from(contract.descriptor())).collect()
    }

    /// The live contract of an intent, by its exact identifier or an alias.
    #[must_use]
    pub fn live(&self, intent: &str) -> Option<&LiveIntent> {
        self.live.get(intent).or_else(|| self.live.get(self.aliases.get(intent)?))
    }

    /// The one intent that somebody may have meant: the same but for case, hyphens and plural forms.
    #[must_use]
    pub fn resolve(&self, written: &str) -> Option<&IntentId> {
        let folded = fold(written);
        let mut alike = self.live.keys().filter(|intent| fold(intent.as_str()) == folded);
        alike.next().filter(|_| alike.next().is_none())
    }
}

impl FromIterator<LiveIntent> for Catalogue {
    fn from_iter<T: IntoIterator<Item = LiveIntent>>(live: T) -> Self {
        let live: BTreeMap<_, _> = live.into_iter().map(|live| (live.intent.clone(), live)).collect();
        let of_intent = |live: &LiveIntent| {
            let intent = live.intent.clone();
            live.aliases.clone().into_iter().map(move |alias| (alias, intent.clone()))
        };
        Self { aliases: live.values().flat_map(of_intent).collect(), live }
    }
}

/// An identifier without case, hyphens and the `s` of plurals.
fn fold(intent: &str) -> String {
    let lower = intent.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    let domain_and_name = lower.split('.').map(|part| {
        let words: Vec<&str> = part.split('_').map(singular).collect();
        words.join("_")
    });
    domain_and_name.collect::<Vec<_>>().join(".")
}

fn singular(word: &str) -> &str {
    // No grammar: what counts is that singular and plural come to the same, as `services` and `service` at `servic`.
    word.trim_end_matches(['e', 's'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(intents: &[&str]) -> Catalogue {
        let live = |intent: &&str| LiveIntent {
            intent: IntentId::parse(intent).expect("well formed"),
            aliases: Vec::new(),
            version: Version::new(1, 0, 0),
            widget_types: Vec::new(),
            shape: None,
        };
        intents.iter().map(live).collect()
    }

    #[test]
    fn a_near_miss_is_understood() {
        let catalogue = catalogue(&["auto.book_ac_service", "lifestyle.book_yoga_class", "food.order_delivery"]);
        for (written, meant) in [
            ("auto.book_ac_services", Some("auto.book_ac_service")),
            ("autos.book_ac_service", Some("auto.book_ac_service")),
            ("Auto.Book-AC-Service", Some("auto.book_ac_service")),
            ("lifestyle.book_yoga_classes", Some("lifestyle.book_yoga_class")),
            ("lifestyle.book_yoga", None),
            ("", None),
            ("travel.book_hotels", None),
        ] {
            assert_eq!(catalogue.resolve(written).map(IntentId::as_str), meant, "{written}");
        }
    }

    #[test]
    fn two_that_may_be_meant_are_none() {
        assert_eq!(catalogue(&["auto.wash_car", "auto.wash_cars"]).resolve("auto.wash_CARS"), None);
    }

    #[test]
    fn both_widgets_of_a_contract_are_its_own() {
        let mut descriptor = intent_gateway_testing::contract::descriptor("1.2.3");
        descriptor.widget.preferred = Some("ThingWidget".to_owned());
        let live = LiveIntent::from(&descriptor);
        assert_eq!(live.widget_types, ["generic_listings", "ThingWidget"]);
        assert_eq!(live.version.to_string(), "1.2.3");
    }
}
