//! What a partner writes misleads who reads it: characters on a card that turn what is read, or that nobody sees.

use serde_json::json;

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::Scripted;
use crate::search::honest_slots;

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_plain_text() {
    let mut slot = honest_slots().await.swap_remove(0);
    slot["provider"]["name"] = "Cool\u{202e}Breeze\u{2066}\u{200f}\r\n<b>Café</b> योग 👩‍👩‍👧\u{e0041}".into();
    let partner = Scripted::with_slots(json!([slot])).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let answer = gateway.found(&request()).await;
    let option = &answer["options"][0];
    assert_eq!(option["card"]["header"], "CoolBreeze  <b>Café</b> योग 👩‍👩‍👧", "{answer}");
    assert_eq!(
        option["option"]["provider"]["name"], slot["provider"]["name"],
        "the option stays as the partner wrote it"
    );
    assert!(option["card"]["price"].is_object(), "the rest of the card stays");
}
