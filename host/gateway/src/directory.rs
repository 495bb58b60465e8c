//! The partners of the configuration file, behind the port that a store will implement later.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use intent_gateway_core::contract::Need;
use intent_gateway_core::limits::FAN_OUT_MAX;
use intent_gateway_core::partner::Partner;
use intent_gateway_core::ports::{LeftOut, PartnerDirectory, Selection};

/// A service area of the whole country (spec 1, Manifest).
const WHOLE_COUNTRY: &str = "IN_ALL";

/// Partners that do not change while the process runs.
pub(crate) struct StaticDirectory {
    /// Sorted by identifier.
    partners: Vec<Arc<Partner>>,
    by_intent: HashMap<String, Vec<Listed>>,
    /// Where the next fan-out begins, so that beyond the bound nobody is left out each time.
    turn: AtomicUsize,
}

/// A partner under one intent.
struct Listed {
    partner: Arc<Partner>,
    whole_country: bool,
    /// City names and postal codes as [`normalised`] spells them.
    places: HashSet<String>,
}

impl StaticDirectory {
    pub(crate) fn new(partners: impl IntoIterator<Item = Partner>) -> Self {
        let mut partners: Vec<Arc<Partner>> = partners.into_iter().map(Arc::new).collect();
        partners.sort_by(|a, b| a.id.cmp(&b.id));
        let mut by_intent: HashMap<String, Vec<Listed>> = HashMap::new();
        for partner in &partners {
            for listing in &partner.listings {
                let listed = Listed {
                    partner: partner.clone(),
                    whole_country: listing.service_area.iter().any(|place| place == WHOLE_COUNTRY),
                    places: listing.service_area.iter().map(|place| normalised(place)).collect(),
                };
                by_intent.entry(listing.intent.as_str().to_owned()).or_default().push(listed);
            }
        }
        Self { partners, by_intent, turn: AtomicUsize::new(0) }
    }
}

fn normalised(place: &str) -> String {
    place.trim().to_lowercase()
}

impl PartnerDirectory for StaticDirectory {
    fn select(&self, intent: &str, need: &Need) -> Selection {
        let listed = self.by_intent.get(intent).map(Vec::as_slice).unwrap_or_default();
        let wanted: Vec<String> =
            [&need.city, &need.postal_code].into_iter().flatten().map(|place| normalised(place)).collect();
        let mut selection = Selection::default();
        for Listed { partner, whole_country, places } in listed {
            // A need without a place leaves nobody out.
            let serves = *whole_country || wanted.is_empty() || wanted.iter().any(|place| places.contains(place));
            if serves {
                selection.chosen.push(partner.clone());
            } else {
                selection.left_out.push((partner.clone(), LeftOut::OutsideServiceArea));
            }
        }
        if selection.chosen.len() > FAN_OUT_MAX {
            let turn = self.turn.fetch_add(FAN_OUT_MAX, Ordering::Relaxed) % selection.chosen.len();
            selection.chosen.rotate_left(turn);
            let beyond = selection.chosen.split_off(FAN_OUT_MAX);
            selection.left_out.extend(beyond.into_iter().map(|partner| (partner, LeftOut::FanOutLimit)));
        }
        selection
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.partners.clone()
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_core::contract::Axes;
    use intent_gateway_core::id::{IntentId, PartnerId};
    use intent_gateway_core::partner::Listing;

    use super::*;

    fn partner(id: &str, intent: &str, area: &[&str]) -> Partner {
        Partner {
            id: PartnerId::parse(id).expect("well formed"),
            name: id.to_owned(),
            url: "https://partner.example/mcp".to_owned(),
            listings: vec![Listing {
                intent: IntentId::parse(intent).expect("well formed"),
                service_area: area.iter().map(ToString::to_string).collect(),
                declared: Axes::UNDECLARED,
            }],
            token: None,
        }
    }

    fn need(city: Option<&str>, postal_code: Option<&str>) -> Need {
        Need { city: city.map(str::to_owned), postal_code: postal_code.map(str::to_owned), ..Need::default() }
    }

    fn chosen(directory: &StaticDirectory, need: &Need) -> Vec<String> {
        let selection = directory.select("auto.fix", need);
        selection.chosen.iter().map(|partner| partner.id.to_string()).collect()
    }

    #[test]
    fn selects_by_intent_city_and_postal_code() {
        let directory = StaticDirectory::new([
            partner("by-code", "auto.fix", &["560001"]),
            partner("by-city", "auto.fix", &[" Bengaluru"]),
            partner("country", "auto.fix", &["IN_ALL"]),
            partner("other", "auto.wash", &["IN_ALL"]),
        ]);
        assert_eq!(chosen(&directory, &need(Some("bengaluru "), None)), ["by-city", "country"]);
        assert_eq!(chosen(&directory, &need(None, Some("560001"))), ["by-code", "country"]);
        assert_eq!(chosen(&directory, &need(Some("BENGALURU"), Some("560001"))), ["by-city", "by-code", "country"]);
        assert_eq!(chosen(&directory, &need(Some("Mysuru"), None)), ["country"]);
        assert_eq!(chosen(&directory, &need(None, None)), ["by-city", "by-code", "country"]);
        let left_out = directory.select("auto.fix", &need(Some("Mysuru"), None)).left_out;
        let left_out: Vec<_> = left_out.iter().map(|(partner, why)| (partner.id.as_str(), *why)).collect();
        assert_eq!(left_out, [("by-city", LeftOut::OutsideServiceArea), ("by-code", LeftOut::OutsideServiceArea)]);
        assert!(directory.select("auto.none", &need(None, None)).chosen.is_empty());
        assert_eq!(directory.all().len(), 4);
    }

    #[test]
    fn beyond_the_fan_out_bound_everybody_gets_a_turn() {
        let partners = (0..FAN_OUT_MAX + 1).map(|n| partner(&format!("p{n:03}"), "auto.fix", &["IN_ALL"]));
        let directory = StaticDirectory::new(partners);
        let mut called = HashSet::new();
        for _ in 0..2 {
            let selection = directory.select("auto.fix", &need(None, None));
            assert_eq!((selection.chosen.len(), selection.left_out.len()), (FAN_OUT_MAX, 1));
            assert_eq!(selection.left_out[0].1, LeftOut::FanOutLimit);
            called.extend(selection.chosen.iter().map(|partner| partner.id.clone()));
        }
        assert_eq!(called.len(), FAN_OUT_MAX + 1);
    }
}
