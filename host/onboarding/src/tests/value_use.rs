use futures_executor::block_on;
use serde_json::json;
use serde_json::value::RawValue;

use super::world::{INTENT, START, World, actor, manifest};
use crate::value_use::find_value_use;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Journal as _;
use intent_gateway_domain::receipt::{Receipt, ReceiptCandidate, ReceiptPayload};
use intent_gateway_domain::succession::RemovedValue;
use intent_gateway_testing::journal::MemoryJournal;

fn removed(value: &str) -> RemovedValue {
    RemovedValue { vocabulary: "kind".to_owned(), value: value.to_owned() }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("JSON")
}

/// A ranking in which a partner gave one option.
fn ranking(id: &str, intent: &str, arguments: &str, partner: &str, option: &str) -> Receipt {
    Receipt {
        id: id.to_owned(),
        at_ms: START.plus_ms(id.len() as u64),
        request_id: id.to_owned(),
        intent: IntentId::parse(intent).expect("sound"),
        version: semver::Version::new(1, 0, 0),
        contract: Digest::of(b"contract"),
        arguments: raw(arguments),
        payloads: vec![ReceiptPayload {
            partner: PartnerId::parse(partner).expect("sound"),
            declared: Axes::UNDECLARED,
            candidates: vec![
                ReceiptCandidate { number: 0, json: raw(option) },
                ReceiptCandidate { number: 1, json: raw(option) },
            ],
        }],
        history: Vec::new(),
        ranked: Vec::new(),
        dropped: Vec::new(),
        bookable_until_ms: None,
        outcome: Digest::of(b"outcome"),
    }
}

#[test]
fn a_removed_value_is_told_with_who_uses_it() {
    let (world, journal) = (World::new(), MemoryJournal::default());
    let account = world.account();
    let mut body = manifest(true);
    body["intents"][0]["api_mapping"] = json!({ "search": { "values": { "topup": "KIND-A" } } });
    block_on(world.onboarding.submissions.submit(&account, &body, &actor("partner"))).expect("accepted");
    let look = || {
        let (intent, values) = (IntentId::parse(INTENT).expect("sound"), [removed("topup"), removed("unused")]);
        block_on(find_value_use(&*world.store, &journal, &intent, &values)).expect("the store works")
    };
    let before = look();
    assert_eq!((before.manifests_read, before.rankings_read, before.rankings_since), (0, 0, None), "not approved yet");
    world.approve(&account);

    journal.keep(ranking("r", INTENT, r#"{"issue":{"kind":"topup"}}"#, "ptr_1", r#"{"kind":["topup"]}"#), None);
    journal.keep(ranking("rr", INTENT, r#"{"text":"a topup please"}"#, "ptr_1", r#"{"kind":"topup"}"#), None);
    journal.keep(ranking("rrr", "test.find_others", r#"{"kind":"topup"}"#, "ptr_1", r#"{"kind":"topup"}"#), None);
    let found = look();
    assert_eq!((found.manifests_read, found.rankings_read), (1, 2), "those of the intent alone");
    assert_eq!(found.rankings_since, Some(START.plus_ms(1)));
    let [topup, unused] = &found.values[..] else { panic!("{found:?}") };
    assert_eq!((&topup.removed, &topup.manifests[..], topup.requests), (&removed("topup"), &[account][..], 1));
    let partners: Vec<_> = topup.partners.iter().map(|(partner, count)| (partner.as_str(), *count)).collect();
    assert_eq!(partners, [("ptr_1", 2)], "once a ranking, however many options name it");
    assert_eq!((unused.manifests.len(), unused.requests, unused.partners.len()), (0, 0, 0));
}
