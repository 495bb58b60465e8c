//! Motor insurance and yoga classes over HTTP, beside car AC in one gateway: the same way of a search, other contracts.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, built, root};
use crate::scripted::{Behaviour, Scripted};

/// An intent with its samples.
struct Subject {
    intent: &'static str,
    package: &'static str,
    options_key: &'static str,
    option: &'static str,
    id: &'static str,
}

const INSURANCE: Subject = Subject {
    intent: "finance.buy_motor_insurance",
    package: "finance-buy-motor-insurance",
    options_key: "quotes",
    option: "quote.json",
    id: "/quote_id",
};
const YOGA: Subject = Subject {
    intent: "lifestyle.book_yoga_class",
    package: "lifestyle-book-yoga-class",
    options_key: "options",
    option: "option.json",
    id: "/yoga_studio/identity/id",
};

impl Subject {
    fn sample(&self, name: &str) -> Value {
        let path = root().join("plugins").join(self.package).join("samples").join(name);
        serde_json::from_slice(&std::fs::read(path).expect("the sample is there")).expect("the sample is JSON")
    }

    /// The sample's option with an identifier and changes.
    fn option(&self, id: &str, changes: &[(&str, Value)]) -> Value {
        let mut option = self.sample(self.option);
        for (pointer, value) in changes.iter().chain(&[(self.id, json!(id))]) {
            let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
            option.pointer_mut(parent).expect("the parent is there")[key] = value.clone();
        }
        option
    }

    /// A gateway with all contracts that ship, and a partner of this intent.
    async fn gateway(&self, options: Vec<Value>) -> (Gateway, Scripted) {
        let payload = json!({
            "result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", self.options_key: options,
        });
        let partner = Scripted::start(Behaviour::Payload(payload)).await;
        let entry = PartnerEntry { intents: vec![self.intent.to_owned()], ..partner.entry("scripted") };
        let contract = |subject: &Self| built(&format!("contracts/{}.wasm", subject.package));
        let gateway = Gateway::start(&GatewayOptions {
            partners: vec![entry],
            contracts: vec![ac_contract(), contract(&INSURANCE), contract(&YOGA)],
            ..GatewayOptions::default()
        });
        (gateway, partner)
    }

    async fn search(&self, gateway: &Gateway, request: &Value) -> Value {
        let answer = gateway.post(&format!("/api/v1/intents/{}/search", self.intent), request).await;
        assert_eq!(answer.status, 200, "{}\n{}", answer.body, gateway.log());
        answer.body
    }

    /// Identifiers, best first.
    fn ranked<'a>(&self, answer: &'a Value) -> Vec<&'a str> {
        let options = answer["options"].as_array().expect("a list");
        let id = |one: &'a Value| one["option"].pointer(self.id).and_then(Value::as_str).expect("an identifier");
        options.iter().map(id).collect()
    }
}

/// `(option_id, code, pointer)` of everything in a list of drops or findings, sorted.
fn told(list: &Value) -> Vec<[String; 3]> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut told: Vec<_> = list
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|one| {
            let single = std::slice::from_ref(&one["violation"]);
            let violations = one["violations"].as_array().map_or(single, Vec::as_slice);
            violations.iter().map(|found| [text(&one["option_id"]), text(&found["code"]), text(&found["pointer"])])
        })
        .collect();
    told.sort();
    told
}

fn row(id: &str, code: &str, pointer: &str) -> [String; 3] {
    [id, code, pointer].map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread")]
async fn motor_insurance_quotes_are_judged_ranked_and_compared() {
    let premium = "/premium_breakdown";
    let quote = INSURANCE.sample(INSURANCE.option);
    let money = |pointer: &str| quote.pointer(pointer).and_then(Value::as_i64).expect("an amount");
    let (own_damage, total) = (format!("{premium}/own_damage_premium_inr"), format!("{premium}/total_payable_inr"));
    let third_party = format!("{premium}/third_party_premium_inr");
    let (gateway, _partner) = INSURANCE
        .gateway(vec![
            INSURANCE.option("dear", &[]),
            INSURANCE.option(
                "cheap",
                &[(&own_damage, json!(money(&own_damage) - 500)), (&total, json!(money(&total) - 500))],
            ),
            INSURANCE.option(
                "illegal",
                &[(&third_party, json!(1)), (&total, json!(money(&total) - money(&third_party) + 1))],
            ),
            INSURANCE.option("pushy", &[("/platform_pick", json!(true))]),
            INSURANCE.option("odd", &[("/insurer/solvency_ratio", json!(0.9))]),
        ])
        .await;
    let answer = INSURANCE.search(&gateway, &INSURANCE.sample("request.json")).await;
    assert_eq!(INSURANCE.ranked(&answer), ["cheap", "dear"], "{answer}");
    assert_eq!(
        told(&answer["dropped"]),
        [
            row("illegal", "TP_BELOW_FLOOR", &third_party),
            row("odd", "OUT_OF_RANGE", "/insurer/solvency_ratio"),
            row("pushy", "FORBIDDEN_FIELD", "/platform_pick"),
        ]
    );
    let card = &answer["options"][0]["card"];
    assert_eq!(card["header"], quote["insurer"]["name"], "{card}");

    let mut request = INSURANCE.sample("request.json");
    request["vehicle"]["fuel_type"] = json!("electric");
    request["vehicle"]["registration_state"] = json!("ZZ");
    let refused = gateway.post("/api/v1/intents/finance.buy_motor_insurance/search", &request).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!("INVALID_REQUEST")));
    request["vehicle"]["registration_state"] = json!("KA");
    let refused = gateway.post("/api/v1/intents/finance.buy_motor_insurance/search", &request).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (422, &json!("EV_KW_MISSING")), "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_insurance_is_bought_by_the_vehicles_entry_too() {
    let (gateway, _partner) = INSURANCE.gateway(vec![INSURANCE.option("one", &[])]).await;
    let entry = "/api/v1/intents/auto.buy_new_insurance";
    let mut request = INSURANCE.sample("request.json");
    request["intent"] = json!("auto.buy_new_insurance");
    let answer = gateway.post(&format!("{entry}/search"), &request).await;
    assert_eq!(answer.status, 200, "{}\n{}", answer.body, gateway.log());
    assert_eq!(INSURANCE.ranked(&answer.body), ["one"], "{}", answer.body);
    assert_eq!(answer.body["intent"], INSURANCE.intent, "answers name the intent itself");

    // A call by reference goes the same way by either name.
    let call = json!({ "reference": answer.body["options"][0]["reference"], "arguments": {} });
    let by_entry = gateway.post(&format!("{entry}/tools/confirm_quote_and_kyc"), &call).await;
    let by_name = format!("/api/v1/intents/{}/tools/confirm_quote_and_kyc", INSURANCE.intent);
    let by_name = gateway.post(&by_name, &call).await;
    assert_eq!((by_entry.status, &by_entry.body["error"]["code"]), (400, &json!("INVALID_REQUEST")));
    assert_eq!(by_entry.body["error"]["violations"], by_name.body["error"]["violations"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn yoga_classes_are_judged_class_by_class() {
    let (gateway, _partner) = YOGA
        .gateway(vec![
            YOGA.option("far", &[("/yoga_studio/distance_from_user_km", json!(9.5))]),
            YOGA.option("near", &[("/yoga_studio/distance_from_user_km", json!(0.5))]),
            YOGA.option("unsafe", &[("/yoga_studio/trust/first_aid_kit_present", json!(false))]),
            YOGA.option("near", &[]),
            YOGA.option("drawn", &[("/yoga_studio/photos/ai_generated_photos", json!(true))]),
        ])
        .await;
    let answer = YOGA.search(&gateway, &YOGA.sample("request.json")).await;
    assert_eq!(YOGA.ranked(&answer), ["near", "far"], "{answer}");
    assert_eq!(
        told(&answer["dropped"]),
        [
            row("drawn", "FORBIDDEN_FIELD", "/yoga_studio/photos/ai_generated_photos"),
            row("near", "DUPLICATE_OPTION", "/yoga_studio/identity/id"),
            row("unsafe", "NO_FIRST_AID_KIT", "/yoga_studio/trust/first_aid_kit_present"),
        ]
    );
    assert_eq!(answer["widget"]["widget_type"], "yoga_class_options", "{answer}");

    let mut request = YOGA.sample("request.json");
    request["yoga_intent"]["min_instructor_skill"] = json!(6);
    let refused = gateway.post("/api/v1/intents/lifestyle.book_yoga_class/search", &request).await;
    let error = &refused.body["error"];
    assert_eq!((refused.status, &error["code"]), (400, &json!("INVALID_REQUEST")), "{}", refused.body);
    assert_eq!(error["violations"][0]["pointer"], "/yoga_intent/min_instructor_skill");
}

/// A page without what is not there in both: the sample of an option, which only the component brings.
fn without_samples(page: &str) -> String {
    let mut inside = false;
    let lines = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.filter(|line| !line.is_empty() && *line != "### Sample answer").map(|line| format!("{line}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_live_contract_is_that_of_its_component() {
    let (gateway, _partner) = YOGA.gateway(Vec::new()).await;
    for (intent, package) in [(INSURANCE.intent, INSURANCE.package), (YOGA.intent, YOGA.package)] {
        let page = |arguments: &[&str]| {
            let mut command = Command::new(built("debug/intent-gateway"));
            command.args(arguments).env("INTENT_GATEWAY_TOKEN", gateway.orchestrator_token());
            let output = command.output().expect("it runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        let live = page(&["contract", "docs", intent, "--gateway", &gateway.server.url]);
        let component = built(&format!("contracts/{package}.wasm"));
        let of_file = page(&["plugin", "docs", component.to_str().expect("UTF-8")]);
        assert!(live.starts_with("# ") && live.lines().count() > 100, "{live}");
        assert_eq!(without_samples(&live), without_samples(&of_file));
    }
}
