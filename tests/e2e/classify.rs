//! From an utterance to an intent: the labelled utterances over HTTP, and that nothing worth hearing goes unheard.

use std::collections::BTreeSet;

use contract_sdk::lexicon::{AnyOf, Claim, Lexicon};
use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::limits::UTTERANCE_MAX_CHARS;
use intent_gateway_tests::labelled::{Tally, label, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, built};

/// Least share of right decisions in the half that the words were written from.
const TUNING_FLOOR: f64 = 0.95;
/// The same in the half that nobody has read: a little below what was measured when it was set.
const HELD_OUT_FLOOR: f64 = 0.95;

const LEXICONS: [(&str, Lexicon); 3] = [
    ("auto.book_ac_service", auto_book_ac_service::classification::LEXICON),
    ("finance.buy_motor_insurance", finance_buy_motor_insurance::classification::LEXICON),
    ("lifestyle.book_yoga_class", lifestyle_book_yoga_class::classification::LEXICON),
];

/// A gateway with the shipped contracts.
fn gateway() -> Gateway {
    Gateway::start(&GatewayOptions {
        contracts: vec![
            ac_contract(),
            built("contracts/finance-buy-motor-insurance.wasm"),
            built("contracts/lifestyle-book-yoga-class.wasm"),
        ],
        ..GatewayOptions::default()
    })
}

async fn classified(gateway: &Gateway, utterance: &str) -> Value {
    let answer = gateway.post("/api/v1/classify", &json!({ "utterance": utterance })).await;
    assert_eq!(answer.status, 200, "{utterance}: {}", answer.body);
    answer.body
}

fn also(answer: &Value) -> BTreeSet<String> {
    let also = answer["also"].as_array().expect("a list");
    also.iter().map(|intent| intent.as_str().expect("text").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn utterances_find_their_intents() {
    let gateway = gateway();
    for (half, floor) in [("tuning", TUNING_FLOOR), ("held-out", HELD_OUT_FLOOR)] {
        let mut tally = Tally::default();
        for asked in &read(half) {
            let answer = classified(&gateway, &asked.utterance).await;
            assert_eq!(answer["failed"], json!([]), "{}", gateway.log());
            let label = label(answer["decision"].as_str().expect("text"), answer["intent"].as_str());
            tally.add(asked, &label, &also(&answer));
        }
        println!("{}", tally.report(half));
        let accuracy = tally.accuracy.value();
        assert!(accuracy >= floor, "{half}: {accuracy} is below {floor}\n{}", tally.report(half));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_contracts_are_heard_in_one_utterance() {
    let gateway = gateway();
    let answer = classified(&gateway, "car AC service and insurence for my new bike").await;
    assert_eq!((&answer["decision"], &answer["intent"]), (&json!("intent"), &json!("auto.book_ac_service")));
    assert_eq!(answer["also"], json!(["finance.buy_motor_insurance"]));
    assert_eq!(answer["candidates"].as_array().map(Vec::len), Some(2));
    let evidence = answer["candidates"][1]["evidence"].as_array().expect("a list");
    assert!(evidence.contains(&json!("insurence")), "{evidence:?}");

    let answer = classified(&gateway, "renew my car insurance before it expires").await;
    assert_eq!((&answer["decision"], &answer["intent"]), (&json!("elsewhere"), &json!("auto.book_insurance_renewal")));
    assert_eq!((&answer["elsewhere"][0]["live"], &answer["also"]), (&json!(false), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_and_refusals_are_no_wishes() {
    let gateway = gateway();
    for utterance in ["how does a car AC work", "what does comprehensive insurance mean", "I don't want a yoga class"] {
        let answer = classified(&gateway, utterance).await;
        assert_eq!((&answer["decision"], &answer["candidates"]), (&json!("none"), &json!([])), "{utterance}");
    }
    for utterance in [
        "no car insurance questions, just fix the AC of my car",
        "What does comprehensive car insurance cover? Anyway, the AC of my car is not cooling.",
    ] {
        let answer = classified(&gateway, utterance).await;
        assert_eq!(answer["intent"], "auto.book_ac_service", "{utterance}");
        assert_eq!((&answer["also"], &answer["elsewhere"]), (&json!([]), &json!([])), "{utterance}");
    }
}

/// The longest utterance that the surface lets through, of words that are nearly the contracts' own, so that each is
/// compared letter by letter: no contract runs into its deadline over it.
#[tokio::test(flavor = "multi_thread")]
async fn the_longest_utterance_is_judged_in_time() {
    let gateway = gateway();
    let nearly = "yoga ac insurance servixe covex polixy claix batcx sessiox instructox compressox refrigeranx ";
    let utterance: String = nearly.chars().cycle().take(UTTERANCE_MAX_CHARS).collect();
    let answer = classified(&gateway, &utterance).await;
    assert_eq!(answer["failed"], json!([]), "{}", gateway.log());
    let too_long = gateway.post("/api/v1/classify", &json!({ "utterance": format!("{utterance}x") })).await;
    assert_eq!(too_long.status, 400);
}

/// A contract that would claim an utterance, or name its intent, is asked: its own cues wake it.
#[test]
fn what_a_contract_knows_also_wakes_it() {
    for (intent, lexicon) in LEXICONS {
        assert_eq!(lexicon.unheard(), [] as [&str; 0], "{intent}");
        let cues: Vec<String> = lexicon.cues.iter().map(ToString::to_string).collect();
        let index = CueIndex::build([cues.as_slice()]);
        let mut heard = 0;
        for asked in read("tuning") {
            let opinion = lexicon.classify(&asked.utterance);
            if opinion.score >= 0.5 || !opinion.elsewhere.is_empty() {
                heard += 1;
                assert_eq!(index.select_by_cues(&asked.utterance), [0], "{intent}: {}", asked.utterance);
            }
        }
        assert!(heard > 40, "{intent} has an opinion of {heard} utterances only");
    }
}

/// A lexicon that claims whatever holds one phrase. It lives as long as the test process.
fn lexicon_of(phrase: &str) -> Lexicon {
    let phrase: &'static str = Box::leak(phrase.to_owned().into_boxed_str());
    let any: AnyOf = Box::leak(Box::new([phrase]));
    let all: &'static [AnyOf] = Box::leak(Box::new([any]));
    let claims: &'static [Claim] = Box::leak(Box::new([Claim { name: "phrase", weight: 1.0, all }]));
    Lexicon { cues: any, claims, referrals: &[], pairs: &[] }
}

/// Words out of few letters, so that many are alike without being the same.
const WORD: &str = "[abä]{1,4}|[ab]{5,11}|b[ab]{7}ä|[ab]{22,26}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The host and the SDK have the same idea of a word and of a misspelling, though they share no code.
    #[test]
    fn host_and_contract_read_alike(word in WORD, said in prop::collection::vec(WORD, 1..6)) {
        let said = said.join(" ");
        let index = CueIndex::build([[word.clone()].as_slice()]);
        prop_assert_eq!(lexicon_of(&word).classify(&said).score > 0.5, !index.select_by_cues(&said).is_empty());
    }

    /// What a contract claims by a phrase, the phrase as its cue would have woken.
    #[test]
    fn a_claimed_phrase_is_a_cue_that_wakes(
        phrase in prop::collection::vec(WORD, 1..4),
        said in prop::collection::vec(WORD, 1..6),
    ) {
        let (phrase, said) = (phrase.join("-"), said.join(", "));
        let index = CueIndex::build([[phrase.clone()].as_slice()]);
        prop_assert!(lexicon_of(&phrase).classify(&said).score < 0.5 || index.select_by_cues(&said) == [0]);
    }
}
