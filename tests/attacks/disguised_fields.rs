//! Forbidden fields in disguise: written in another case or with other separators, with letters that look alike, with characters
//! that nobody sees, or as JSON within a text.

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::Scripted;
use crate::search::honest_slots;

/// Names that stand for `ad_bid`, whatever they look like.
const DISGUISED: [&str; 12] = [
    "AD_BID",
    "adBid",
    "ad-bid",
    "ad.bid",
    "ad bid",
    // Cyrillic а, full width, a Greek capital.
    "\u{430}d_bid",
    "\u{ff41}\u{ff44}\u{ff3f}\u{ff42}\u{ff49}\u{ff44}",
    "\u{391}D_BID",
    // No width, a soft hyphen, NUL, an accent.
    "ad\u{200b}_bid",
    "ad_\u{ad}bid",
    "ad_bid\u{0}",
    "a\u{301}d_bid",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_field_is_one_in_every_disguise() {
    let slot = honest_slots().await.swap_remove(0);
    let with = |id: &str, name: &str, value: Value| {
        let mut slot = slot.clone();
        slot["slot_id"] = id.into();
        slot["provider"][name] = value;
        slot
    };
    let packed = json!({"ad_bid": 5}).to_string();
    let packed_twice = json!([{"more": packed}]).to_string();
    let mut attacks: Vec<Value> = DISGUISED
        .iter()
        .zip(0..)
        .map(|(name, place): (_, usize)| with(&format!("attack-{place}"), name, json!(1)))
        .collect();
    attacks.push(with("attack-packed", "meta", json!(packed)));
    attacks.push(with("attack-packed-twice", "meta", json!(packed_twice)));
    attacks.push(with("attack-quoted", "meta", json!(json!(packed).to_string())));
    // Two partners, since no answer may hold so many options; names that are others, and texts that are no JSON.
    let honest = [
        with("fine-1", "ad_bids", json!(1)),
        with("fine-2", "load_bidirectional", json!(1)),
        with("fine-3", "note", json!("{ad_bid: 5}")),
        with("fine-4", "विज्ञापन", json!("ad_bid")),
    ];
    let hostile = Scripted::with_slots(json!(attacks)).await;
    let fair = Scripted::with_slots(json!(honest)).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![hostile.entry("hostile"), fair.entry("fair")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let answer = gateway.found(&request()).await;
    let options = answer["options"].as_array().expect("a list");
    let shown: Vec<_> = options.iter().filter_map(|option| option["option"]["slot_id"].as_str()).collect();
    assert!(shown.iter().all(|id| id.starts_with("fine-")) && shown.len() == honest.len(), "{shown:?}");
    let dropped = answer["dropped"].as_array().expect("a list");
    assert_eq!(dropped.len(), attacks.len(), "{dropped:?}");
    for one in dropped {
        let told = (&one["strike"], &one["violations"][0]["code"]);
        assert_eq!(told, (&json!(true), &json!("FORBIDDEN_FIELD")), "{one}");
    }
}
